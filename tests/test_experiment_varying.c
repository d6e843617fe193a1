/* Rounds with different numbers of arms: the agent is asked for what there is, K or all of them, and regret
 * is measured among these. The environment is one of the test's own, put in the place of h2. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "experiment/plan_problem.h"
#include "experiment/work.h"
#include "temporary.h"
#include "test_parts.h"

enum { ROUNDS = 12, MOST = 7, SLATE = 3, DIM = 2 };

static void fine(sa_status status) {
    if (status != SA_OK) fail_msg("%s", sa_last_error());
}

static size_t arms_of(uint64_t round) { return 1 + (size_t)(round * 5 % MOST); }
static double score_of(uint64_t round, size_t arm) { return 0.1 * (double)((arm * 3 + round) % 7) + 0.05; }

static sa_status varying_draw(const sa_environment *environment, uint64_t run, uint64_t round,
                              sa_round *out) {
    (void)run;
    out->arms = arms_of(round);
    assert_true(out->arms <= environment->arms);
    for (size_t i = 0; i < out->arms; i++) {
        assert_true(out->stop[i] == 1); /* unless the environment says otherwise */
        out->contexts[i * DIM] = 1;
        out->contexts[i * DIM + 1] = out->expected[i] = score_of(round, i);
        out->noise[i] = 0;
    }
    return SA_OK;
}

static sa_environment_class varying;

static sa_experiment *experiment_with(const char *algorithm, const char *oracle) {
    sa_experiment *experiment = sa_experiment_new();
    const char *const pairs[][2] = {
        {"environment", "h2"}, {"arms", "7"},           {"slate", "3"},  {"dim", "2"},
        {"rounds", "12"},      {"runs", "2"},           {"hidden", "4"}, {"train-steps", "5"},
        {"oracle", oracle},    {"algorithm", algorithm}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        fine(sa_experiment_set(experiment, pairs[i][0], pairs[i][1]));
    test_experiment_share(experiment);
    return experiment;
}

/* The plan of the experiment is made with h2, and then gets the environment that varies. */
static void put_varying(sa_experiment *experiment) {
    fine(sa_experiment_check(experiment));
    sa_environment *environment = experiment->work->plans[0]->environment;
    varying = *environment->kind;
    varying.draw = varying_draw;
    environment->kind = &varying;
    environment->varies = true;
}

/* The sum of the K largest scores, or of all. */
static double best_sum(uint64_t round) {
    double sum = 0;
    bool taken[MOST] = {0};
    for (size_t k = 0; k < SLATE && k < arms_of(round); k++) {
        size_t best = MOST;
        for (size_t i = 0; i < arms_of(round); i++)
            if (!taken[i] && (best == MOST || score_of(round, i) > score_of(round, best))) best = i;
        taken[best] = true;
        sum += score_of(round, best);
    }
    return sum;
}

static void slates_are_k_or_all(void **state) {
    (void)state;
    static const char *const oracles[] = {"top-k", "assignment"};
    for (int i = 0; i < 2; i++) {
        sa_experiment *experiment = experiment_with("best,random,cn-ucb,comblin-ts", oracles[i]);
        put_varying(experiment);
        fine(sa_experiment_run(experiment, NULL, NULL));
        for (size_t agent = 0; agent < 4; agent++) {
            sa_agent_result result;
            fine(sa_experiment_result(experiment, agent, &result));
            double best = 0;
            for (size_t round = 0; round < ROUNDS; round++) {
                best += best_sum(round);
                assert_true(fabs(result.expected_regret[round] + result.reward[round] - best) < 1e-12);
                if (agent == 0) assert_true(fabs(result.expected_regret[round]) < 1e-12);
            }
        }
        sa_experiment_destroy(experiment);
    }
}

/* Discounts of three positions, of which a round with two arms has the first two. */
static void discounts_of_the_first_positions(void **state) {
    (void)state;
    const char *folder = temporary_folder();
    double discounts[SLATE] = {0.5, 1, 0.25}, best = 0;
    fine(sa_npy_write(inside(folder, "psi.npy"), SA_FLOAT64, 1, (size_t[]){SLATE}, discounts));
    sa_experiment *experiment = experiment_with("best", "cascade");
    fine(sa_experiment_set(experiment, "discounts", inside(folder, "psi.npy")));
    fine(sa_experiment_set(experiment, "reward", "sum"));
    put_varying(experiment);
    fine(sa_experiment_run(experiment, NULL, NULL));
    sa_agent_result result;
    fine(sa_experiment_result(experiment, 0, &result));
    for (size_t round = 0; round < ROUNDS; round++) {
        double most = 0; /* over all slates in order */
        for (size_t a = 0; a < arms_of(round); a++)
            for (size_t b = 0; b < arms_of(round); b++)
                for (size_t c = 0; c < arms_of(round); c++) {
                    size_t slate[SLATE] = {a, b, c}, length = arms_of(round) < SLATE ? arms_of(round) : SLATE;
                    bool twice = (length > 1 && a == b) || (length > 2 && (a == c || b == c));
                    double sum = 0;
                    for (size_t k = 0; k < length; k++) sum += discounts[k] * score_of(round, slate[k]);
                    if (!twice && sum > most) most = sum;
                }
        best += most;
        assert_true(fabs(result.reward[round] - best) < 1e-12);
        assert_true(fabs(result.expected_regret[round]) < 1e-12);
    }
    sa_experiment_destroy(experiment);
    fine(sa_path_remove(folder));
}

/* Users of rounds with fewer arms than positions look at the first positions. */
static void users_look_at_what_there_is(void **state) {
    (void)state;
    static const char *const models[][3] = {{"position", "examination", "0.5,1,0.25"},
                                            {"cascade", "discounts", "0.5,1,0.25"}};
    for (int m = 0; m < 2; m++) {
        sa_experiment *experiment = experiment_with("best,random,comblin-ucb", "top-k");
        fine(sa_experiment_set(experiment, "clicks", models[m][0]));
        fine(sa_experiment_set(experiment, models[m][1], models[m][2]));
        put_varying(experiment);
        fine(sa_experiment_run(experiment, NULL, NULL));
        sa_agent_result best, other;
        fine(sa_experiment_result(experiment, 0, &best));
        for (size_t agent = 1; agent < 3; agent++) {
            fine(sa_experiment_result(experiment, agent, &other));
            for (size_t i = 0; i < 2 * ROUNDS; i++) {
                double before = i % ROUNDS ? other.expected_regret[i - 1] : 0;
                assert_true(best.expected_regret[i] == 0 && other.expected_regret[i] >= before);
                assert_true(best.reward[i] == other.realised_regret[i] + other.reward[i]);
                assert_true(other.clicks[i] <= (double)(i % ROUNDS + 1) * SLATE);
            }
        }
        sa_experiment_destroy(experiment);
    }
}

static void data_about_arms_need_fixed_arms(void **state) {
    (void)state;
    sa_experiment *experiment = experiment_with("best", "top-k");
    put_varying(experiment);
    assert_int_equal(sa_plan_check_structure(experiment->work->plans[0], &sa_oracle_top_k), SA_OK);
    assert_int_equal(sa_plan_check_structure(experiment->work->plans[0], &sa_oracle_knapsack), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "--oracle knapsack needs data about each arm"));
    sa_experiment_destroy(experiment);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slates_are_k_or_all),
        cmocka_unit_test(discounts_of_the_first_positions),
        cmocka_unit_test(users_look_at_what_there_is),
        cmocka_unit_test(data_about_arms_need_fixed_arms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
