/* Options and settings of earlier versions: each name is taken at the value that it had, and at another value
 * gets a sentence that names it. The values are those of the tables of commit 70571ba, written here again. */
#include "agent/older_options.h"
#include "options/gone.h"
#include "options/presets.h"
#include "test_file_scratch.h"

/* paper and section5, icml23, tuned; NULL: as paper. */
static const char *const HAD[][4] = {
    {"shared-scores", "false", NULL, NULL},
    {"epoch-hidden-growth", "1.2", NULL, "1"},
    {"error-decay", "0", NULL, NULL},
    {"train-sample", "0", NULL, NULL},
    {"offset", "0", NULL, NULL},
    {"unit-rows", "true", NULL, NULL},
    {"exact-form", "auto", NULL, NULL},
    {"epoch-replay-steps", "1000", NULL, NULL},
    {"rate-constant", "1", NULL, NULL},
    {"history-new", "false", NULL, NULL},
    {"cube-low", "-1", NULL, NULL},
    {"cube-high", "1", NULL, NULL},
    {"cc-cubes", "0", NULL, NULL},
    {"cc-alpha", "1", NULL, NULL},
    {"cc-exponent", "0", NULL, NULL},
    {"acc-axes", "0", NULL, NULL},
    {"acc-rho", "0", NULL, NULL},
    {"acc-v1", "0", NULL, NULL},
    {"acc-v2", "0", NULL, NULL},
    {"acc-diameter", "1", NULL, "0"},
    {"c-1", "1", NULL, NULL},
    {"c-gamma-1", "1", NULL, NULL},
    {"c-gamma-2", "1", NULL, NULL},
    {"c-gamma-3", "1", NULL, NULL},
    {"c-3", "1", NULL, NULL},
    {"c-4", "1", NULL, NULL},
    {"c-epsilon-1", "1", NULL, NULL},
    {"c-epsilon-2", "1", NULL, NULL},
    {"c-epsilon-3", "1", NULL, NULL},
    {"c-epsilon-4", "1", NULL, NULL},
    {"c-bar-2", "1", NULL, NULL},
    {"c-bar-3", "1", NULL, NULL},
    {"c-width", "1", NULL, NULL},
    {"bypass", "false", NULL, NULL},
    {"horizon", "0", NULL, NULL},
    {"cell-factor", "1", NULL, NULL},
    {"centre", "false", NULL, "true"},
    {"scale", "false", NULL, "true"},
    {"scale-to", "1", NULL, "0.04"},
};
enum { COUNT = sizeof HAD / sizeof *HAD };

static const char *had(size_t i, int preset) {
    const char *own = preset == SA_PRESET_TUNED ? HAD[i][3] : preset == SA_PRESET_ICML23 ? HAD[i][2] : NULL;
    return own ? own : HAD[i][1];
}

static sa_status load(const char *name, const char *value, const sa_options *options) {
    sa_older_options older = {0};
    SA_TRY(sa_older_options_take(&older, name, value));
    sa_options *copy = sa_options_copy(options);
    sa_status status = sa_older_options_finish(&older, copy);
    sa_options_destroy(copy);
    return status;
}

static void refused(sa_status status, sa_status wanted, const char *name) {
    if (status != wanted || !strstr(sa_last_error(), name))
        fail_msg("%s: %s, %s", name, sa_status_name(status), sa_last_error());
}

static void each_is_taken_at_its_value_alone(void **state) {
    (void)state;
    size_t names = 0;
    while (sa_gone_name(names)) names++;
    assert_int_equal(names, COUNT);
    for (int preset = 0; preset < sa_preset_count; preset++) {
        sa_options *options = sa_options_new(sa_preset_name(preset));
        for (size_t i = 0; i < COUNT; i++) {
            const char *name = HAD[i][0], *value = had(i, preset);
            sa_option_info info;
            assert_false(sa_option_find(name, &info)); /* it is no option */
            assert_non_null(sa_gone_value(name, preset));
            assert_string_equal(sa_gone_value(name, preset), value);
            assert_ok(sa_gone_check(name, value, preset));
            refused(sa_gone_check(name, "17", preset), SA_INVALID, name);
            refused(sa_gone_check(name, "", preset), SA_INVALID, name);
            assert_ok(load(name, value, options));
            refused(load(name, "17", options), SA_FORMAT, name);
            if (i < 2) assert_ok(sa_options_set(options, name, value)); /* users had it */
            refused(sa_options_set(options, name, "17"), SA_INVALID, name);
            assert_false(sa_options_given(options, name));
        }
        sa_options_destroy(options);
    }
}

/* cc-mab's and acc-ucb's own, and neural-linear's in tuned. */
static void what_follows_from_others_is_compared(void **state) {
    (void)state;
    sa_options *options = sa_options_new("tuned");
    assert_ok(sa_options_set(options, "algorithm", "neural-linear"));
    assert_ok(load("bypass", "true", options));
    refused(load("bypass", "false", options), SA_FORMAT, "bypass");
    assert_ok(sa_options_set(options, "algorithm", "acc-ucb"));
    assert_ok(sa_options_set(options, "gamma", "0.3"));
    assert_ok(load("cell-factor", "0.3", options));
    refused(load("cell-factor", "1", options), SA_FORMAT, "cell-factor");
    sa_older_options older = {0};
    assert_ok(sa_older_options_take(&older, "horizon", "777"));
    assert_ok(sa_older_options_finish(&older, options));
    assert_int_equal(options->rounds, 777);
    refused(load("horizon", "-3", options), SA_INVALID, "rounds");
    refused(load("colour", "blue", options), SA_FORMAT, "colour");
    sa_options_destroy(options);
}

/* 0.1.0 had a rate-rule: theory with a constant C in `rate`. */
static void rates_by_theory_had_a_constant(void **state) {
    (void)state;
    sa_options *options = sa_options_new("paper");
    assert_ok(sa_options_set(options, "rate", "1"));
    sa_older_options older = {0};
    assert_ok(sa_older_options_take(&older, "rate-rule", "theory"));
    assert_ok(sa_older_options_finish(&older, options));
    assert_true(options->rate == SA_BY_THEORY);
    assert_ok(sa_options_set(options, "rate", "2"));
    refused(load("rate-rule", "theory", options), SA_FORMAT, "rate by theory");
    assert_ok(load("rate-rule", "constant", options));
    sa_options_destroy(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_taken_at_its_value_alone),
        cmocka_unit_test(what_follows_from_others_is_compared),
        cmocka_unit_test(rates_by_theory_had_a_constant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
