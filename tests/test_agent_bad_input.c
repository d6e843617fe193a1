/* Wrong input gets a status and a sentence and changes nothing: afterwards the agent goes on, bit for bit, as
 * a twin that never saw it. */
#include "test_agent_rig.h"

#include <float.h>

#include "base/npy.h"
#include "options/options.h"
#include "test_parts.h"

enum { ARMS = 6, SLATE = 2 };

/* An agent, and a twin; decisions 0 to 3 are answered, 4 in part, 5 not at all. */
typedef struct twins {
    sa_agent *agent, *twin;
} twins;

static sa_agent *bring(const char *text) {
    sa_agent *agent = rig_create(text);
    sa_decision *decision = NULL;
    for (uint64_t id = 0; id < 6; id++) {
        rig_select(agent, id, ARMS, SLATE, &decision);
        if (id < 4) rig_answer(agent, id, SLATE);
        if (id == 4) assert_ok(rig_try_answer(agent, id, SLATE, (bool[]){true, false}));
    }
    sa_decision_destroy(decision);
    return agent;
}

static twins begin(const char *text) { return (twins){bring(text), bring(text)}; }

/* First the feedback that waits, which may use what was kept of the select; then 20 rounds. */
static void end(twins pair) {
    rig_assert_same_counts(pair.agent, pair.twin);
    rig_answer(pair.agent, 5, SLATE);
    rig_answer(pair.twin, 5, SLATE);
    rig_go_on_alike(pair.agent, pair.twin, 6, 20);
    sa_agent_destroy(pair.agent);
    sa_agent_destroy(pair.twin);
}

static const char *const kinds[] = {
    "hidden=44",
    "",
    "hidden=44 precision=double normalize=standard",
    "hidden=44 count-pending=true widths=all",
    "algorithm=cn-ts hidden=60",
    "algorithm=comblin-ucb",
    "algorithm=comblin-ts count-pending=true",
    "algorithm=c2ucb normalize=standard",
    "algorithm=comblin-ucb linear-form=published",
    "algorithm=comblin-ts linear-form=published",
    "algorithm=cc-mab rounds=200",
    "algorithm=acc-ucb normalize=standard",
    "preset=paper algorithm=acc-ucb rounds=500",
    "algorithm=greedy normalize=unit",
    "algorithm=random",
    "algorithm=best",
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- requests ---- */

static void refuse(sa_agent *agent, const sa_request *request, const char *words) {
    sa_decision *decision = NULL;
    assert_fails(sa_agent_select(agent, request, &decision), SA_INVALID, words);
    assert_null(decision);
}

static void bad_contexts(sa_agent *agent) {
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    double contexts[ARMS * RIG_DIM];
    float narrow[ARMS * RIG_DIM];
    sa_request *request = sa_request_new();
    sa_request_slate(request, SLATE);
    sa_request_expected(request, rig_expected(0));
    for (size_t b = 0; b < 3; b++)
        for (size_t at = 0; at < ARMS * RIG_DIM; at += 7) {
            char words[64];
            snprintf(words, sizeof words, "the context of arm %zu has %g as feature %zu", at / RIG_DIM,
                     bad[b], at % RIG_DIM);
            memcpy(contexts, rig_contexts(77), sizeof contexts);
            contexts[at] = bad[b];
            for (size_t i = 0; i < ARMS * RIG_DIM; i++) narrow[i] = (float)contexts[i];
            sa_request_contexts(request, contexts, ARMS);
            refuse(agent, request, words);
            sa_request_contexts_float(request, narrow, ARMS);
            refuse(agent, request, words);
        }
    if (sa_agent_options(agent)->precision == SA_PRECISION_SINGLE) {
        memcpy(contexts, rig_contexts(77), sizeof contexts);
        contexts[8] = 1e300;
        sa_request_contexts(request, contexts, ARMS);
        refuse(agent, request,
               "the context of arm 1 has 1e+300 as feature 3, too large for --precision single");
    }
    sa_request_destroy(request);
}

static void bad_requests(sa_agent *agent) {
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    bool excluded[ARMS] = {true, true, true, true, true, false};
    sa_request_expected(request, rig_expected(0));
    refuse(agent, NULL, "the request is NULL");
    refuse(agent, request, "the request has no contexts");
    sa_request_slate(request, SLATE);
    refuse(agent, request, "the request has no contexts");
    sa_request_contexts(request, NULL, ARMS);
    refuse(agent, request, "the request has no contexts");
    sa_request_contexts(request, rig_contexts(1), 0);
    refuse(agent, request, "the request has no arms");
    sa_request_contexts(request, rig_contexts(1), ARMS);
    sa_request_slate(request, 0);
    refuse(agent, request, "a slate of 0 arms");
    sa_request_slate(request, ARMS + 1);
    refuse(agent, request, "a slate of 7 out of 6 arms");
    sa_request_slate(request, SIZE_MAX);
    refuse(agent, request, "out of 6 arms");
    sa_request_exclude(request, excluded);
    sa_request_slate(request, SLATE);
    refuse(agent, request, "a slate of 2 out of 1 arms that can be chosen");
    excluded[5] = true;
    sa_request_slate(request, 1);
    refuse(agent, request, "a slate of 1 out of 0 arms that can be chosen");
    assert_fails(sa_agent_select(NULL, request, &decision), SA_INVALID, "sa_agent_select needs an agent");
    assert_fails(sa_agent_select(agent, request, NULL), SA_INVALID, "sa_agent_select needs an agent");
    sa_request_destroy(request);
}

static void bad_requests_change_nothing(void **state) {
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        twins pair = begin(kinds[k]);
        bad_contexts(pair.agent);
        bad_requests(pair.agent);
        end(pair);
    }
}

static void the_best_needs_expected_scores(void **state) {
    (void)state;
    twins pair = begin("algorithm=best");
    sa_request *request = sa_request_new();
    double expected[ARMS] = {1, 2, NAN};
    sa_request_contexts(request, rig_contexts(1), ARMS);
    sa_request_slate(request, SLATE);
    refuse(pair.agent, request, "the algorithm best needs the expected scores");
    sa_request_expected(request, expected);
    refuse(pair.agent, request, "the expected score of arm 2 is nan");
    expected[2] = -INFINITY;
    refuse(pair.agent, request, "the expected score of arm 2 is -inf");
    sa_request_destroy(request);
    end(pair);
}

/* Features that are finite, but too large for what is computed from them: refused, or taken and done with.
 * Never does a width become NaN, or stay 0 ever after. */
static void too_large_features(const char *text, double size) {
    sa_agent *agent = bring(text), *twin = bring(text);
    sa_decision *decision = NULL, *other = NULL;
    sa_request *request = sa_request_new();
    double contexts[ARMS * RIG_DIM];
    memcpy(contexts, rig_contexts(1), sizeof contexts);
    for (size_t i = 0; i < 2 * RIG_DIM; i++) contexts[i] *= size;
    sa_request_contexts(request, contexts, ARMS);
    sa_request_slate(request, SLATE);
    sa_status status = sa_agent_select(agent, request, &decision);
    sa_request_destroy(request);
    if (status == SA_OK) {
        for (size_t i = 0; i < ARMS; i++) {
            assert_true(isfinite(sa_decision_all_estimates(decision)[i]) &&
                        isfinite(sa_decision_all_scores(decision)[i]));
            if (!strstr(text, "greedy")) assert_true(sa_decision_all_widths(decision)[i] >= 0);
        }
        rig_answer(agent, sa_decision_id(decision), SLATE);
        for (uint64_t id = 0; id < 5; id++) {
            if (rig_try_select(agent, 30 + id, ARMS, SLATE, &decision) != SA_OK)
                fail_msg("%s, %g: %s", text, size, sa_last_error());
            rig_select(twin, 30 + id, ARMS, SLATE, &other);
            for (size_t i = 0; i < ARMS && !strstr(text, "greedy"); i++)
                if (!(sa_decision_all_widths(decision)[i] >= 0.001 * sa_decision_all_widths(other)[i]))
                    fail_msg("%s, %g: width %g, was %g", text, size, sa_decision_all_widths(decision)[i],
                             sa_decision_all_widths(other)[i]);
            rig_answer(agent, sa_decision_id(decision), SLATE);
        }
        sa_agent_destroy(agent);
        sa_agent_destroy(twin);
    } else {
        assert_int_equal(status, SA_INVALID);
        assert_non_null(strstr(sa_last_error(), "arm"));
        end((twins){agent, twin});
    }
    sa_decision_destroy(decision);
    sa_decision_destroy(other);
}

static void too_large_features_are_refused_or_survived(void **state) {
    (void)state;
    static const char *const texts[] = {"hidden=44 train=manual",
                                        "train=manual",
                                        "hidden=44 precision=double train=manual widths=all",
                                        "precision=double train=manual",
                                        "preset=icml23 hidden=44 precision=double train=manual widths=all",
                                        "hidden=44 depth=3 train=manual widths=all",
                                        "algorithm=greedy",
                                        "hidden=44 normalize=unit train=manual"};
    static const double sizes[] = {1e5,   1e10,  1e18,  1e20,  1e30,  1e37, 1e38,
                                   1e100, 1e153, 1e160, 1e200, 1e300, 1e308};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) too_large_features(texts[t], sizes[s]);
}

/* ---- feedback ---- */

static void bad_feedback(sa_agent *agent) {
    const double good[SLATE] = {1, 1};
    assert_fails(sa_agent_update(agent, 5, (double[]){1, NAN}, NULL, SLATE), SA_INVALID,
                 "of decision 5 is nan");
    assert_fails(sa_agent_update(agent, 5, (double[]){INFINITY, 1}, NULL, SLATE), SA_INVALID,
                 "of decision 5 is inf");
    assert_fails(sa_agent_update(agent, 5, (double[]){-INFINITY, 1}, NULL, SLATE), SA_INVALID,
                 "of decision 5 is -inf");
    assert_fails(sa_agent_update(agent, 5, (double[]){1, NAN}, (bool[]){false, true}, SLATE), SA_INVALID,
                 "is nan");
    assert_says(sa_agent_update(agent, 5, good, NULL, 1), SA_INVALID,
                "feedback for decision 5 has 1 scores, its slate has 2");
    assert_says(sa_agent_update(agent, 5, good, NULL, 3), SA_INVALID,
                "feedback for decision 5 has 3 scores, its slate has 2");
    assert_fails(sa_agent_update(agent, 5, good, NULL, 0), SA_INVALID, "has 0 scores");
    assert_fails(sa_agent_update(agent, 5, NULL, NULL, SLATE), SA_INVALID,
                 "sa_agent_update needs an agent and scores");
    assert_fails(sa_agent_update(NULL, 5, good, NULL, SLATE), SA_INVALID,
                 "sa_agent_update needs an agent and scores");
    assert_fails(sa_agent_update(agent, 6, good, NULL, SLATE), SA_UNKNOWN_DECISION,
                 "decision 6 was never made");
    assert_fails(sa_agent_update(agent, UINT64_MAX, good, NULL, SLATE), SA_UNKNOWN_DECISION,
                 "was never made");
    assert_fails(sa_agent_update(agent, 4, good, NULL, SLATE), SA_ALREADY_ANSWERED,
                 "of decision 4 was answered before");
    assert_fails(sa_agent_update(agent, 0, good, NULL, SLATE), SA_ALREADY_ANSWERED,
                 "of decision 0 was answered before");
}

static void bad_feedback_changes_nothing(void **state) {
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        twins pair = begin(kinds[k]);
        bad_feedback(pair.agent);
        end(pair);
    }
}

static void null_is_refused(void **state) {
    (void)state;
    sa_agent *agent = NULL;
    sa_options *options = rig_options("");
    assert_fails(sa_agent_create(NULL, &agent), SA_INVALID, "sa_agent_create needs options");
    assert_fails(sa_agent_create(options, NULL), SA_INVALID, "sa_agent_create needs options");
    assert_fails(sa_agent_train(NULL), SA_INVALID, "sa_agent_train needs an agent");
    assert_fails(sa_agent_save(NULL, scratch("a.npz")), SA_INVALID,
                 "sa_agent_save needs an agent and a path");
    assert_fails(sa_agent_load(NULL, &agent), SA_INVALID, "sa_agent_load needs a path");
    assert_fails(sa_agent_load(scratch("a.npz"), NULL), SA_INVALID, "sa_agent_load needs a path");
    assert_ok(sa_agent_create(options, &agent));
    assert_fails(sa_agent_save(agent, NULL), SA_INVALID, "sa_agent_save needs an agent and a path");
    sa_options_destroy(options);
    sa_agent_destroy(agent);
}

/* ---- options ---- */

static void bad_options_are_refused(void **state) {
    (void)state;
    static const char *const bad[][3] = {
        {"regularization", "0", "--regularization 0 must be above 0"},
        {"lambda", "-1", "--lambda -1 must be above 0"},
        {"gamma", "-1", "--gamma -1 is less than 0"},
        {"gamma", "nan", "--gamma nan is not a finite number"},
        {"nu", "inf", "--nu inf is not a finite number"},
        {"depth", "1", "--depth 1 is less than 2"},
        {"hidden", "0", "--hidden 0 is less than 1"},
        {"dim", "0", "--dim 0 is less than 1"},
        {"pending-limit", "0", "--pending-limit 0 is less than 1"},
        {"train-every", "0", "--train-every 0 is less than 1"},
        {"rate", "0", "--rate 0 must be above 0"},
        {"precision", "half", "--precision half is not one of single, double"},
        {"confidence", "vague", "--confidence vague is not"},
        {"hiden", "4", "did you mean --hidden?"},
    };
    sa_options *options = rig_options("");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(sa_options_set_any(options, bad[i][0], bad[i][1]), SA_INVALID, bad[i][2]);
    sa_agent *agent = NULL, *twin = rig_create("");
    assert_ok(sa_agent_create(options, &agent)); /* none of them was taken */
    rig_go_on_alike(agent, twin, 0, 8);
    sa_options_destroy(options);
    sa_agent_destroy(agent);
    sa_agent_destroy(twin);
}

static void expect_no_agent(const char *text, sa_status expected, const char *words) {
    sa_agent *agent = (sa_agent *)1;
    assert_fails(rig_try_create(text, &agent), expected, words);
    assert_ptr_equal(agent, (sa_agent *)1);
}

static void agents_that_cannot_be(void **state) {
    (void)state;
    expect_no_agent("algorithm=nobody", SA_INVALID, "--algorithm nobody is not one of cn-ucb, ");
    expect_no_agent("algorithm=cn-ucb,cn-ts", SA_INVALID, "--algorithm cn-ucb,cn-ts is not one of");
    expect_no_agent("hidden=7 init=symmetric", SA_INVALID,
                    "--hidden 7 is odd, but the first weights of --preset paper need an even number");
}

/* ---- first weights ---- */

static void write_weights(size_t rows, size_t columns, double odd_one, bool second) {
    double w1[100], w2[20];
    for (size_t i = 0; i < 100; i++) w1[i] = rig_number(3, i);
    for (size_t i = 0; i < 20; i++) w2[i] = rig_number(4, i);
    w1[4] = odd_one;
    sa_npz_writer *writer;
    assert_ok(sa_npz_begin(&writer));
    assert_ok(sa_npz_add(writer, "W1", SA_FLOAT64, 2, (size_t[]){rows, columns}, w1));
    if (second) assert_ok(sa_npz_add(writer, "W2", SA_FLOAT64, 2, (size_t[]){1, rows}, w2));
    assert_ok(sa_npz_finish(writer, scratch("weights.npz")));
}

static void bad_first_weights(void **state) {
    (void)state;
    char text[600];
    snprintf(text, sizeof text, "preset=icml23 init-weights=%s", scratch("weights.npz"));
    expect_no_agent(text, SA_FILE, "weights.npz cannot be opened: No such file");
    assert_non_null(strstr(sa_last_error(), "--init-weights"));
    write_weights(6, RIG_DIM, 1, true);
    sa_agent_destroy(rig_create(text));
    write_weights(RIG_DIM, 6, 1, true);
    expect_no_agent(text, SA_INVALID, "weights.npz: W1 must have the shape (6, 5)");
    write_weights(6, RIG_DIM + 1, 1, true);
    expect_no_agent(text, SA_INVALID, "weights.npz: W1 must have the shape (6, 5)");
    write_weights(6, RIG_DIM, NAN, true);
    expect_no_agent(text, SA_INVALID, "W1 has an element that is not finite, number 4");
    write_weights(6, RIG_DIM, INFINITY, true);
    expect_no_agent(text, SA_INVALID, "W1 has an element that is not finite, number 4");
    write_weights(6, RIG_DIM, 1e39, true); /* finite, but not in single precision */
    expect_no_agent(text, SA_INVALID, "W1 has an element that is not finite, number 4");
    write_weights(6, RIG_DIM, 1, false);
    expect_no_agent(text, SA_FORMAT, "has no array W2");
    assert_ok(sa_file_write(scratch("weights.npz"), "text", 4));
    expect_no_agent(text, SA_FORMAT, "weights.npz is no npz file");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_requests_change_nothing),
        cmocka_unit_test(the_best_needs_expected_scores),
        cmocka_unit_test(too_large_features_are_refused_or_survived),
        cmocka_unit_test(bad_feedback_changes_nothing),
        cmocka_unit_test(null_is_refused),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(agents_that_cannot_be),
        cmocka_unit_test(bad_first_weights),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
