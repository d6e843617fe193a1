/* What a linear algorithm asks for where nothing was set by hand, in options, agents and experiments; and
 * that the spec.yaml of such a run repeats it. */
#include "test_agent_rig.h"
#include "test_parts.h"
#include <superarm/superarm.h>

static const char *const names[] = {"linear-form", "gamma", "nu", "normalize", "confidence", "ts-deviation"};
enum { NAMES = 6 };

static sa_options *options_for(const char *preset, const char *algorithm) {
    sa_options *options = sa_options_new(preset);
    assert_non_null(options);
    assert_ok(sa_options_set_any(options, "algorithm", algorithm));
    assert_ok(sa_options_set_any(options, "dim", "3"));
    return options;
}

static void assert_same(const sa_options *one, const sa_options *other, const char *name) {
    char a[64], b[64];
    assert_ok(test_options_get(one, name, a, sizeof a));
    assert_ok(test_options_get(other, name, b, sizeof b));
    if (strcmp(a, b)) fail_msg("--%s is %s and %s", name, a, b);
}

static void assert_value(const sa_options *options, const char *name, const char *expected) {
    char value[64];
    assert_ok(test_options_get(options, name, value, sizeof value));
    if (strcmp(value, expected)) fail_msg("--%s is %s, not %s", name, value, expected);
}

/* Every option but those named stays as it was. */
static void assert_rest_untouched(const sa_options *before, const sa_options *after, size_t but) {
    sa_option_info info;
    for (size_t i = 0; sa_option_at(i, &info); i++) {
        bool named = false;
        for (size_t k = 0; k < but; k++) named = named || !strcmp(info.name, names[k]);
        if (!named) assert_same(before, after, info.name);
        assert_int_equal(sa_options_given(before, info.name), sa_options_given(after, info.name));
    }
}

/* By the call itself (by_agent 0), and by an agent on its own copy. */
static sa_options *defaults_of(const sa_options *options, int by_agent) {
    if (!by_agent) {
        sa_options *copy = sa_options_copy(options);
        assert_ok(sa_algorithm_defaults(copy));
        return copy;
    }
    sa_agent *agent = NULL;
    assert_ok(sa_agent_create(options, &agent));
    sa_options *copy = sa_options_copy(sa_agent_options(agent));
    sa_agent_destroy(agent);
    return copy;
}

/* What theory is about, and the form that the papers define, explores as in them, also in tuned. */
static void defined_linear_agents_explore_as_in_their_papers(void **state) {
    (void)state;
    static const char *const linear[] = {"comblin-ucb", "comblin-ts", "c2ucb"};
    sa_options *paper = sa_options_new("paper"), *tuned = sa_options_new("tuned");
    char one[64], other[64];
    assert_ok(test_options_get(paper, "nu", one, sizeof one));
    assert_ok(test_options_get(tuned, "nu", other, sizeof other));
    assert_true(strcmp(one, other)); /* else there is nothing to see */
    for (size_t i = 0; i < 3; i++)
        for (int by_agent = 0; by_agent < 2; by_agent++) {
            sa_options *options = options_for("tuned", linear[i]);
            if (i < 2) assert_ok(sa_options_set_any(options, "linear-form", "defined"));
            sa_options *after = defaults_of(options, by_agent);
            for (size_t k = 0; k < NAMES; k++)
                if (sa_option_is_read(after, names[k])) assert_same(after, paper, names[k]);
            if (!by_agent) assert_rest_untouched(options, after, 5);
            sa_options_destroy(after);
            assert_ok(sa_options_set_any(options, "nu", "0.3"));
            after = defaults_of(options, by_agent);
            assert_value(after, "nu", "0.3");
            assert_same(after, paper, "normalize");
            sa_options_destroy(after);
            assert_ok(sa_options_set_any(options, "gamma", "0.2"));
            assert_ok(sa_options_set_any(options, "normalize", "unit"));
            after = defaults_of(options, by_agent);
            assert_value(after, "nu", "0.3");
            assert_value(after, "gamma", "0.2");
            assert_value(after, "normalize", "unit");
            sa_options_destroy(after);
            sa_options_destroy(options);
        }
    sa_options_destroy(paper);
    sa_options_destroy(tuned);
}

static void tuned_fits_linear_agents(void **state) {
    (void)state;
    static const char *const linear[] = {"comblin-ucb", "comblin-ts"};
    for (size_t i = 0; i < 2; i++)
        for (int by_agent = 0; by_agent < 2; by_agent++) {
            sa_options *options = options_for("tuned", linear[i]), *after = defaults_of(options, by_agent);
            assert_value(after, "linear-form", "fitted");
            assert_value(after, "normalize", "standard");
            assert_value(after, i ? "nu" : "gamma", i ? "0.1" : "1");
            if (!by_agent) assert_rest_untouched(options, after, NAMES);
            sa_options_destroy(after);
            assert_ok(sa_options_set_any(options, i ? "nu" : "gamma", "theory"));
            after = defaults_of(options, by_agent);
            assert_value(after, "linear-form", "defined");
            sa_options_destroy(after);
            assert_ok(sa_options_set_any(options, "linear-form", "fitted"));
            assert_int_equal(sa_algorithm_defaults(options), SA_INVALID);
            assert_non_null(strstr(sa_last_error(), "--linear-form fitted does not go with"));
            sa_options_destroy(options);
        }
}

static void others_are_left_alone(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"tuned", "cn-ucb"},     {"tuned", "cn-ts"},       {"tuned", "greedy"},   {"tuned", "random"},
        {"paper", "comblin-ts"}, {"icml23", "comblin-ts"}, {"tuned", "nonsense"}, {"paper", "comblin-ucb"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sa_options *options = options_for(cases[i][0], cases[i][1]), *after = defaults_of(options, 0);
        assert_rest_untouched(options, after, 0);
        sa_options_destroy(after);
        sa_options_destroy(options);
    }
}

/* As the published code runs: the variance is taken for the deviation, in any preset, unless set by hand. */
static void published_form_brings_its_deviation(void **state) {
    (void)state;
    static const char *const presets[] = {"paper", "icml23", "tuned"};
    for (size_t i = 0; i < 3; i++)
        for (int by_agent = 0; by_agent < 2; by_agent++) {
            sa_options *options = options_for(presets[i], "comblin-ts");
            assert_ok(sa_options_set_any(options, "linear-form", "published"));
            sa_options *after = defaults_of(options, by_agent);
            assert_value(after, "ts-deviation", "variance");
            sa_options_destroy(after);
            assert_ok(sa_options_set_any(options, "ts-deviation", "sigma"));
            after = defaults_of(options, by_agent);
            assert_value(after, "ts-deviation", "sigma");
            sa_options_destroy(after);
            sa_options_destroy(options);
            options = options_for(presets[i], "cn-ts"); /* a network knows nothing of it */
            assert_ok(sa_options_set_any(options, "linear-form", "published"));
            after = defaults_of(options, by_agent);
            assert_value(after, "ts-deviation", i == 1 ? "variance" : "sigma");
            sa_options_destroy(after);
            sa_options_destroy(options);
        }
}

/* ---- experiments ---- */

static void set_small(sa_experiment *experiment) {
    static const char *const small[][2] = {{"environment", "h2"}, {"rounds", "25"}, {"runs", "2"},
                                           {"arms", "8"},         {"slate", "3"},   {"dim", "4"},
                                           {"hidden", "4"},       {"threads", "1"}, {"train-steps", "3"}};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        assert_ok(sa_experiment_set(experiment, small[i][0], small[i][1]));
}

static void run_into(sa_experiment *experiment, const char *name) {
    assert_ok(sa_experiment_set(experiment, "out", scratch(name)));
    assert_ok(sa_experiment_run(experiment, NULL, NULL));
}

static void assert_same_files(const char *name) {
    char one[64], other[64], *a, *b;
    size_t size, other_size;
    snprintf(one, sizeof one, "first/%s", name);
    snprintf(other, sizeof other, "again/%s", name);
    assert_ok(sa_file_read(scratch(one), &a, &size));
    assert_ok(sa_file_read(scratch(other), &b, &other_size));
    if (size != other_size || memcmp(a, b, size)) fail_msg("%s differs", name);
    sa_free(a);
    sa_free(b);
}

static const char *const labels[] = {"comblin-ucb", "comblin-ts", "c2ucb", "cn-ts",
                                     "mine",        "theirs",     "paper"};

static void written_specs_repeat_the_run(void **state) {
    (void)state;
    for (int by_hand = 0; by_hand < 2; by_hand++) {
        sa_experiment *experiment = sa_experiment_new(), *again = sa_experiment_new();
        set_small(experiment);
        assert_ok(sa_experiment_set(experiment, "algorithm", "comblin-ucb,comblin-ts,c2ucb,cn-ts"));
        assert_ok(sa_experiment_agent(experiment, "mine:algorithm=comblin-ts,nu=0.05,normalize=none"));
        assert_ok(sa_experiment_agent(experiment, "theirs:algorithm=comblin-ts,linear-form=published"));
        assert_ok(sa_experiment_agent(experiment, "paper:algorithm=comblin-ts,preset=paper"));
        if (by_hand)
            assert_ok(sa_experiment_set(experiment, "nu", "0.05")); /* what the preset has, but given */
        run_into(experiment, "first");
        assert_ok(sa_experiment_read(again, scratch("first/spec.yaml")));
        run_into(again, "again");
        assert_same_files("spec.yaml");
        for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
            static const char *const files[] = {"expected_regret.npy", "realised_regret.npy"};
            sa_agent_result one, other;
            for (size_t k = 0; k < 2; k++) {
                char name[100];
                snprintf(name, sizeof name, "%s/%s", labels[i], files[k]);
                assert_same_files(name);
            }
            assert_ok(sa_experiment_result(experiment, i, &one));
            assert_ok(sa_experiment_result(again, i, &other));
            assert_string_equal(one.label, labels[i]);
            assert_string_equal(other.label, labels[i]);
            assert_memory_equal(one.reward, other.reward, 2 * 25 * sizeof(double));
        }
        /* the tuned preset fits what the paper's takes as given */
        sa_agent_result tuned, mine, paper;
        assert_ok(sa_experiment_result(experiment, 1, &tuned));
        assert_ok(sa_experiment_result(experiment, 4, &mine));
        assert_ok(sa_experiment_result(experiment, 6, &paper));
        assert_memory_not_equal(tuned.reward, paper.reward, 2 * 25 * sizeof(double));
        assert_memory_not_equal(tuned.reward, mine.reward, 2 * 25 * sizeof(double));
        sa_experiment_destroy(experiment);
        sa_experiment_destroy(again);
        assert_ok(sa_path_remove(scratch("first")));
        assert_ok(sa_path_remove(scratch("again")));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tuned_fits_linear_agents),
        cmocka_unit_test(defined_linear_agents_explore_as_in_their_papers),
        cmocka_unit_test(others_are_left_alone),
        cmocka_unit_test(published_form_brings_its_deviation),
        cmocka_unit_test(written_specs_repeat_the_run),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
