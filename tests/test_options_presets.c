/* The presets, value by value, and what setting one changes. */
#include "test_file_scratch.h"

#include "options/options.h"

static const struct {
    const char *name, *paper, *icml23, *tuned; /* NULL: free choice */
} expected[] = {
    /* the environment: the same in all */
    {"arms", "20", "20", "20"},
    {"slate", "4", "4", "4"},
    {"dim", "80", "80", "80"},
    {"rounds", "2000", "2000", "2000"},
    {"noise", "0.01", "0.01", "0.01"},
    {"runs", "20", "20", "20"},
    {"seed", "1", "1", "1"},
    {"precision", "single", "single", "single"},
    /* network */
    {"depth", "2", "2", NULL},
    {"hidden", "100", "100", NULL},
    {"output-scale", "root-m", "one", NULL},
    {"bias", "none", "none", NULL},
    {"init", "symmetric", "uniform", NULL},
    /* training */
    {"train-window", "0", "101", NULL},
    {"train-every", "10", "10", NULL},
    {"train-steps", "100", "100", NULL},
    {"train-batch", "0", "0", NULL},
    {"optimizer", "gd", "gd", NULL},
    {"rate", "theory", "0.01", "0.01"},
    {"train-from", "present", "present", NULL},
    {"doubled-input", "true", NULL, NULL},
    {"rate-decay", "none", "none", NULL},
    {"regularize", "true", "false", NULL},
    {"score-deviation", "0", "0", NULL},
    /* exploration */
    {"regularization", "1", "1", NULL},
    {"gamma", "1", "1", NULL},
    {"nu", "1", "1", NULL},
    {"ts-samples", "10", "10", NULL},
    {"ts-deviation", "sigma", "variance", "sigma"},
    {"confidence", "exact", "exact", NULL},
    /* the rest */
    {"show-regret", "expected", "realised", "expected"},
    {"h3-frequency", "3.14159265358979", "3.14", "3.14159265358979"},
    {"preset", "paper", "icml23", "tuned"},
};

enum { EXPECTED = sizeof expected / sizeof expected[0] };

static void value_is(const sa_options *options, const char *name, const char *value) {
    char text[64];
    const sa_option_row *row = sa_option_row_find(name); /* settings too */
    assert_non_null(row);
    assert_ok(sa_option_print(row, sa_option_field(options, row), text, sizeof text));
    if (!strcmp(name, "h3-frequency")) text[strlen(value) < strlen(text) ? strlen(value) : strlen(text)] = 0;
    if (strcmp(text, value)) fail_msg("%s is %s, not %s", name, text, value);
}

static void expect_preset(const sa_options *options, int preset) {
    for (size_t i = 0; i < EXPECTED; i++) {
        const char *value = preset == 0   ? expected[i].paper
                            : preset == 1 ? expected[i].icml23
                                          : expected[i].tuned;
        if (value) value_is(options, expected[i].name, value);
    }
}

static void every_value_is_that_of_the_design(void **state) {
    (void)state;
    const char *const names[] = {"paper", "icml23", "tuned", NULL}; /* NULL is tuned too */
    for (int i = 0; i < 4; i++) {
        sa_options *options = sa_options_new(names[i]);
        assert_non_null(options);
        expect_preset(options, i);
        sa_options_destroy(options);
    }
    sa_options_destroy(NULL);
}

static void an_unknown_preset_is_refused(void **state) {
    (void)state;
    assert_null(sa_options_new("papyrus"));
    assert_string_equal(sa_last_error(), "--preset papyrus is not one of paper, icml23, tuned, section5");
    sa_options *options = sa_options_new("icml23");
    assert_int_equal(sa_options_set(options, "preset", "papyrus"), SA_INVALID);
    assert_int_equal(sa_options_set(options, "preset", "paper-99"), SA_INVALID);
    value_is(options, "preset", "icml23"); /* a refusal changes nothing */
    sa_options_destroy(options);
}

static void a_preset_changes_what_was_not_given(void **state) {
    (void)state;
    sa_options *options = sa_options_new("tuned");
    assert_ok(sa_options_set(options, "gamma", "0.7"));
    assert_ok(sa_options_set(options, "out", "results"));
    assert_false(sa_options_given(options, "preset"));
    assert_ok(sa_options_set(options, "preset", "icml23"));
    value_is(options, "gamma", "0.7");
    value_is(options, "out", "results");
    value_is(options, "train-window", "101");
    value_is(options, "h3-frequency", "3.14");
    assert_true(sa_options_given(options, "preset"));
    assert_true(sa_options_given(options, "gamma"));
    assert_false(sa_options_given(options, "train-window"));
    assert_ok(sa_options_set(options, "preset", "paper"));
    value_is(options, "gamma", "0.7");
    value_is(options, "train-window", "0");
    value_is(options, "init", "symmetric");
    assert_fails(sa_options_set(options, "preset", "x"), SA_INVALID, "--preset x is not one of");
    value_is(options, "preset", "paper");
    sa_options_destroy(options);
}

static void a_copy_is_independent(void **state) {
    (void)state;
    sa_options *options = sa_options_new("paper");
    assert_ok(sa_options_set(options, "out", "first"));
    sa_options *copy = sa_options_copy(options);
    assert_non_null(copy);
    assert_ok(sa_options_set(options, "out", "second"));
    assert_ok(sa_options_set(options, "depth", "3"));
    value_is(copy, "out", "first");
    value_is(copy, "depth", "2");
    assert_true(sa_options_given(copy, "out"));
    assert_false(sa_options_given(copy, "depth"));
    sa_options_destroy(options);
    value_is(copy, "out", "first");
    sa_options_destroy(copy);
    assert_null(sa_options_copy(NULL));
}

static void every_preset_is_a_valid_agent(void **state) {
    (void)state;
    const char *const names[] = {"paper", "icml23", "tuned"};
    for (int i = 0; i < 3; i++) {
        sa_options *options = sa_options_new(names[i]);
        assert_ok(sa_options_check_agent(options));
        /* every value may be set by hand to what it is */
        for (size_t k = 0; k < sa_option_count(); k++) {
            sa_option_info info;
            char text[64];
            assert_true(sa_option_at(k, &info));
            assert_ok(sa_options_get(options, info.name, text, sizeof text));
            assert_ok(sa_options_set(options, info.name, text));
        }
        expect_preset(options, i);
        sa_options_destroy(options);
    }
}

static void symmetric_weights_need_an_even_width(void **state) {
    (void)state;
    sa_options *options = sa_options_new("paper");
    assert_ok(sa_options_set(options, "hidden", "7"));
    assert_says(sa_options_check_agent(options), SA_INVALID,
                "--hidden 7 is odd, but the first weights of --preset paper need an even number");
    assert_ok(sa_options_set(options, "init-weights", "w.npz"));
    assert_ok(sa_options_check_agent(options)); /* given weights are used as they are */
    assert_ok(sa_options_set(options, "init-weights", ""));
    assert_ok(sa_options_set_any(options, "init", "uniform"));
    assert_ok(sa_options_check_agent(options));
    sa_options_destroy(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_is_that_of_the_design),
        cmocka_unit_test(an_unknown_preset_is_refused),
        cmocka_unit_test(a_preset_changes_what_was_not_given),
        cmocka_unit_test(a_copy_is_independent),
        cmocka_unit_test(every_preset_is_a_valid_agent),
        cmocka_unit_test(symmetric_weights_need_an_even_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
