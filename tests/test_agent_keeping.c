/* --keep-rows: what an agent keeps to train with is bounded. Where old feedback is forgotten anyhow, the
 * agent is bit for bit the one that keeps all; else what is kept is a fair sample of all feedback, the same
 * one whether the agent was saved and loaded in between or not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "superarm/superarm.h"
#include "temporary.h"

enum { DIM = 3, ARMS = 4, SLATE = 2, KEEP = 1000 };

static sa_agent *make(const char *const (*given)[2], const char *keep) {
    sa_agent *agent = NULL;
    sa_options *options = sa_options_new(NULL);
    const char *const shared[][2] = {
        {"dim", "3"}, {"slate", "2"}, {"seed", "3"}, {"pending-limit", "50"}, {"keep-rows", keep}};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(sa_options_set(options, shared[i][0], shared[i][1]), SA_OK);
    for (size_t i = 0; given[i][0]; i++)
        assert_int_equal(sa_options_set(options, given[i][0], given[i][1]), SA_OK);
    if (sa_agent_create(options, &agent) != SA_OK) fail_msg("%s", sa_last_error());
    sa_options_destroy(options);
    return agent;
}

static void fill(double contexts[ARMS * DIM], unsigned number) {
    unsigned state = number * 2654435761u + 1;
    for (size_t i = 0; i < ARMS * DIM; i++) {
        state = state * 1664525u + 1013904223u;
        contexts[i] = (double)state / 4294967296.0 - 0.5;
    }
}

/* The score tells the decision: its number over a million. */
static void learn(sa_agent *agent, unsigned from, unsigned end) {
    sa_request *request = sa_request_new();
    for (unsigned i = from; i < end; i++) {
        double contexts[ARMS * DIM], scores[SLATE] = {i * 1e-6, i * 1e-6};
        size_t arms[SLATE] = {i % ARMS, (i + 1) % ARMS};
        bool observed[SLATE] = {true, true};
        fill(contexts, i);
        sa_request_contexts(request, contexts, ARMS);
        sa_request_slate(request, SLATE);
        if (sa_agent_learn(agent, request, arms, scores, observed, SLATE) != SA_OK)
            fail_msg("%s", sa_last_error());
    }
    sa_request_destroy(request);
}

static size_t kept_scores(sa_agent *agent, const char *folder, double *scores, size_t most) {
    sa_npz *archive = NULL;
    sa_array array = {0};
    const char *path = inside(folder, "kept.npz");
    assert_int_equal(sa_agent_save(agent, path), SA_OK);
    assert_int_equal(sa_npz_open(path, &archive), SA_OK);
    assert_int_equal(sa_npz_get_exactly(archive, "history_scores", SA_FLOAT64, 0, NULL, &array), SA_OK);
    size_t count = sa_array_count(&array);
    assert_true(count <= most);
    memcpy(scores, array.data, count * sizeof *scores);
    sa_array_clear(&array);
    sa_npz_close(archive);
    return count;
}

static void compare(sa_agent *one, sa_agent *other) {
    sa_request *request = sa_request_new();
    sa_decision *a = NULL, *b = NULL;
    for (unsigned i = 0; i < 5; i++) {
        double contexts[ARMS * DIM];
        fill(contexts, 900000 + i);
        sa_request_contexts(request, contexts, ARMS);
        sa_request_slate(request, SLATE);
        assert_int_equal(sa_agent_select(one, request, &a), SA_OK);
        assert_int_equal(sa_agent_select(other, request, &b), SA_OK);
        assert_memory_equal(sa_decision_arms(a), sa_decision_arms(b), SLATE * sizeof(size_t));
        assert_memory_equal(sa_decision_estimates(a), sa_decision_estimates(b), SLATE * sizeof(double));
        assert_memory_equal(sa_decision_widths(a), sa_decision_widths(b), SLATE * sizeof(double));
    }
    sa_decision_destroy(a);
    sa_decision_destroy(b);
    sa_request_destroy(request);
}

static const char *const NETWORK[][2] = {
    {"algorithm", "cn-ucb"},  {"hidden", "4"},       {"train-every", "50"}, {"train-steps", "5"},
    {"confidence", "sketch"}, {"sketch-size", "16"}, {NULL, NULL}};

static void a_fair_sample_is_kept(void **state) {
    (void)state;
    enum { ALL = 6000, PARTS = 4 };
    static double scores[3 * KEEP];
    const char *folder = temporary_folder();
    sa_agent *agent = make(NETWORK, "1000");
    sa_agent_counts early, late;
    learn(agent, 0, ALL / 2);
    sa_agent_count(agent, &early);
    learn(agent, ALL / 2, ALL);
    sa_agent_count(agent, &late);
    assert_int_equal(late.observations, SLATE * ALL);
    assert_int_equal(late.answered, ALL);
    assert_true(late.bytes <= early.bytes + 65536);
    size_t kept = kept_scores(agent, folder, scores, 3 * KEEP), sample = kept / SLATE, parts[PARTS] = {0};
    assert_true(kept >= KEEP * 13 / 16 && kept <= KEEP + 2 * SLATE * 64);
    for (size_t i = 0; i < kept; i += SLATE) {
        assert_true(scores[i] == scores[i + 1]); /* decisions stay whole, and in order */
        assert_true(i == 0 || scores[i] > scores[i - SLATE]);
        parts[(size_t)(scores[i] * 1e6 * PARTS / ALL)]++;
    }
    /* Each quarter has a quarter of them: binomial, but for at most 113 latest ones that are not drawn for
     * yet. 6 deviations: a correct program fails with probability 1e-8, and with this seed not. */
    double expected = (double)sample / PARTS, deviation = sqrt(expected * (1 - 1.0 / PARTS));
    for (size_t i = 0; i < PARTS; i++)
        if (fabs((double)parts[i] - expected) > 6 * deviation + (i == PARTS - 1 ? 113 : 113.0 / PARTS))
            fail_msg("part %zu has %zu decisions of %zu", i, parts[i], sample);
    sa_agent_destroy(agent);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

static void a_saved_agent_goes_on_with_the_same_sample(void **state) {
    (void)state;
    const char *folder = temporary_folder(), *one = inside(folder, "one.npz"),
               *two = inside(folder, "two.npz");
    sa_agent *whole = make(NETWORK, "1000"), *again = NULL;
    learn(whole, 0, 1700);
    assert_int_equal(sa_agent_save(whole, two), SA_OK);
    if (sa_agent_load(two, &again) != SA_OK) fail_msg("%s", sa_last_error());
    learn(whole, 1700, 2500);
    learn(again, 1700, 2500);
    assert_int_equal(sa_agent_save(whole, one), SA_OK);
    assert_int_equal(sa_agent_save(again, two), SA_OK);
    assert_same_file(one, two);
    sa_agent_destroy(whole);
    sa_agent_destroy(again);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

static void a_window_drops_its_rows_for_good(void **state) {
    (void)state;
    static const char *const recent[][2] = {{"algorithm", "cn-ucb"}, {"hidden", "4"},   {"train-every", "50"},
                                            {"train-steps", "5"},    {"window", "100"}, {NULL, NULL}};
    static const char *const fading[][2] = {{"algorithm", "cn-ucb"}, {"hidden", "4"},
                                            {"train-every", "50"},   {"train-steps", "5"},
                                            {"discount", "0.97"},    {NULL, NULL}};
    static double scores[8000];
    const char *folder = temporary_folder();
    for (int i = 0; i < 2; i++) {
        sa_agent *all = make(i ? fading : recent, "0"), *bounded = make(i ? fading : recent, "1000");
        learn(all, 0, 2500);
        learn(bounded, 0, 2500);
        compare(all, bounded);
        size_t kept = kept_scores(bounded, folder, scores, 8000);
        assert_true(kept >= 200 && kept <= 2000);
        assert_true(fabs(scores[kept - 1] - 2499e-6) < 1e-12);
        sa_agent_destroy(all);
        sa_agent_destroy(bounded);
    }
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

/* As its paper has it, it is never fitted again: it has taken all feedback in. */
static void a_linear_agent_has_all_feedback(void **state) {
    (void)state;
    static const char *const linear[][2] = {{"preset", "paper"}, {"algorithm", "comblin-ucb"}, {NULL, NULL}};
    static double scores[8000];
    const char *folder = temporary_folder();
    sa_agent *all = make(linear, "0"), *bounded = make(linear, "1000");
    learn(all, 0, 3000);
    learn(bounded, 0, 3000);
    compare(all, bounded);
    assert_true(kept_scores(bounded, folder, scores, 8000) <= KEEP + 2 * SLATE * 64);
    sa_agent_destroy(all);
    sa_agent_destroy(bounded);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

static void too_few_are_refused(void **state) {
    (void)state;
    sa_agent *agent = NULL;
    sa_options *options = sa_options_new(NULL);
    assert_int_equal(sa_options_set(options, "keep-rows", "10"), SA_OK);
    assert_int_equal(sa_agent_create(options, &agent), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "--keep-rows 10 is less than 1000"));
    sa_options_destroy(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fair_sample_is_kept), cmocka_unit_test(a_saved_agent_goes_on_with_the_same_sample),
        cmocka_unit_test(a_window_drops_its_rows_for_good), cmocka_unit_test(a_linear_agent_has_all_feedback),
        cmocka_unit_test(too_few_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
