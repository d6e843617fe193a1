/* Options that meet: forgetting with a regression that fits lambda, a lambda that changes in a diagonal Z,
 * epochs that count all feedback as they begin, totals that are rebuilt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "temporary.h"
#include "test_parts.h"
#include <superarm/superarm.h>

enum { ARMS = 6, SLATE = 3, DIM = 4 };

typedef struct pair {
    const char *name, *value;
} pair;

static sa_status create(const pair *pairs, sa_agent **agent) {
    sa_options *options = sa_options_new("tuned");
    assert_int_equal(sa_options_set(options, "dim", "4"), SA_OK);
    for (; pairs->name; pairs++)
        assert_int_equal(sa_options_set_any(options, pairs->name, pairs->value), SA_OK);
    sa_status status = sa_agent_create(options, agent);
    sa_options_destroy(options);
    return status;
}

static double number(void) {
    static uint32_t state = 7;
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / (1 << 24) - 0.5;
}

/* The last feature is the same everywhere: standardised it is 0, and so is its gradient. */
static void play(sa_agent *agent, int rounds, bool totals) {
    double contexts[ARMS * DIM], scores[SLATE];
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < ARMS * DIM; i++) contexts[i] = i % DIM == DIM - 1 ? 2 : number();
        sa_request_contexts(request, contexts, ARMS);
        sa_request_slate(request, SLATE);
        assert_int_equal(sa_agent_select(agent, request, &decision), SA_OK);
        double total = 0;
        for (int k = 0; k < SLATE; k++)
            total += scores[k] = contexts[sa_decision_arms(decision)[k] * DIM] + 0.1 * number();
        assert_int_equal(sa_agent_update(agent, sa_decision_id(decision), totals ? &total : scores, NULL,
                                         totals ? 1 : SLATE),
                         SA_OK);
    }
    sa_decision_destroy(decision);
    sa_request_destroy(request);
}

static sa_agent_counts counts_after(const pair *pairs, int rounds, bool totals) {
    sa_agent *agent = NULL;
    sa_agent_counts counts;
    assert_int_equal(create(pairs, &agent), SA_OK);
    play(agent, rounds, totals);
    sa_agent_count(agent, &counts);
    sa_agent_destroy(agent);
    return counts;
}

/* Z holds what is in the window, and a little more, however long it goes on. */
static void a_fitted_regression_forgets(void **state) {
    (void)state;
    const pair window[] = {{"algorithm", "comblin-ucb"}, {"window", "10"}, {0}};
    sa_agent_counts some = counts_after(window, 60, false), more = counts_after(window, 200, false);
    assert_true(more.trainings > some.trainings + 10);
    assert_true(more.counted <= 10 * SLATE + 12 * SLATE);
}

/* Trainings come by observations, in the same unit for totals: fewer and fewer. */
static void totals_train_no_oftener(void **state) {
    (void)state;
    const pair single[] = {{"algorithm", "comblin-ucb"}, {"train-every", "1"}, {0}};
    const pair total[] = {{"algorithm", "comblin-ucb"}, {"train-every", "1"}, {"feedback", "total"}, {0}};
    sa_agent_counts one = counts_after(single, 150, false), other = counts_after(total, 150, true);
    assert_true(other.trainings <= one.trainings + 2);
    assert_true(one.trainings < 100);
}

static void a_diagonal_with_another_lambda_is_saved(void **state) {
    (void)state;
    const char *folder = temporary_folder(), *path = inside(folder, "agent.npz");
    const pair pairs[] = {{"algorithm", "cn-ucb"}, {"confidence", "diagonal"}, {"hidden", "6"}, {0}};
    for (int rounds = 20; rounds < 120; rounds += 10) {
        sa_agent *agent = NULL, *again = NULL;
        assert_int_equal(create(pairs, &agent), SA_OK);
        play(agent, rounds, false);
        assert_int_equal(sa_agent_save(agent, path), SA_OK);
        if (sa_agent_load(path, &again) != SA_OK) fail_msg("%d rounds: %s", rounds, sa_last_error());
        sa_agent_destroy(agent);
        sa_agent_destroy(again);
    }
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

static void epochs_do_not_rebuild(void **state) {
    (void)state;
    const pair pairs[] = {{"algorithm", "cn-ucb-d"}, {"rebuild", "true"}, {0}};
    sa_agent *agent = NULL;
    assert_int_equal(create(pairs, &agent), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "--rebuild does not go with --algorithm cn-ucb-d"));
}

/* One gradient a decision: fewer than parameters, though there are more arms. */
static void rebuilt_totals_stay_on_their_side(void **state) {
    (void)state;
    const pair pairs[] = {
        {"algorithm", "cn-ucb"}, {"hidden", "60"},      {"confidence", "exact"}, {"rebuild", "true"},
        {"feedback", "total"},   {"train-every", "20"}, {"train-steps", "5"},    {0}};
    sa_agent_counts counts = counts_after(pairs, 150, true);
    assert_int_equal(counts.counted, 150);
    assert_false(counts.widths_from_primal);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fitted_regression_forgets),
        cmocka_unit_test(totals_train_no_oftener),
        cmocka_unit_test(a_diagonal_with_another_lambda_is_saved),
        cmocka_unit_test(epochs_do_not_rebuild),
        cmocka_unit_test(rebuilt_totals_stay_on_their_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
