/* Position feedback: an arm has a score in each place, from inputs [x, e_k], and the slate is the best
 * assignment. Against the same written out for N K inputs of d + K numbers. */
#include "test_feedback_reference.h"

/* The best of all assignments of arms to places, by trying each. */
static void best_assignment(const double *score, size_t places, size_t slate[PLACES]) {
    double best = -INFINITY;
    for (size_t a = 0; a < ARMS; a++)
        for (size_t b = 0; b < ARMS; b++)
            for (size_t c = 0; c < (places > 2 ? ARMS : 1); c++) {
                if (a == b || (places > 2 && (a == c || b == c))) continue;
                double sum =
                    score[a * places] + score[b * places + 1] + (places > 2 ? score[c * places + 2] : 0);
                if (sum <= best) continue;
                best = sum;
                memcpy(slate, (size_t[]){a, b, c}, places * sizeof *slate);
            }
}

/* Checks means and widths of all arms in all places, and the slate; what was chosen goes to `chosen`. */
static void check_decision(const witness *w, const sa_decision *decision, const double *contexts,
                           double gamma, double tolerance, observation *chosen) {
    size_t places = sa_decision_positions(decision), slate[PLACES];
    double score[ARMS * PLACES] = {0};
    assert_int_equal(sa_decision_slate(decision), places);
    assert_int_equal(sa_decision_candidates(decision), ARMS);
    for (size_t i = 0; i < ARMS; i++)
        for (size_t k = 0; k < places; k++) {
            double x[WIDEST];
            witness_input(w, contexts + i * RIG_DIM, k, x);
            double mean = witness_score(w, w->theta, x), width = witness_width(w, x);
            near("mean", sa_decision_all_estimates(decision)[i * places + k], mean, tolerance);
            near("width", sa_decision_all_widths(decision)[i * places + k], width, tolerance);
            score[i * places + k] = sa_decision_all_scores(decision)[i * places + k];
            if (gamma >= 0) near("score", score[i * places + k], mean + gamma * width, tolerance);
        }
    best_assignment(score, places, slate);
    double reward = 0,
           best = 0; /* slates may differ on a tie: scores x'theta + theta_k do not mind the order */
    for (size_t k = 0; k < places; k++) best += score[slate[k] * places + k];
    for (size_t k = 0; k < places; k++) {
        size_t arm = sa_decision_arms(decision)[k];
        reward += score[arm * places + k];
        assert_true(sa_decision_estimates(decision)[k] ==
                    sa_decision_all_estimates(decision)[arm * places + k]);
        assert_true(sa_decision_widths(decision)[k] == sa_decision_all_widths(decision)[arm * places + k]);
        assert_true(sa_decision_scores(decision)[k] == score[arm * places + k]);
        witness_input(w, contexts + arm * RIG_DIM, k, chosen[k].x);
        chosen[k].psi = 1;
    }
    near("reward", reward, best, 1e-12);
}

/* Answers come a round late and in part; every other request asks for two places of the three. */
static void check_network(const char *form) {
    enum { ROUNDS = 12 };
    static witness w;
    static observation chosen[ROUNDS][PLACES];
    static double gradient[ROUNDS][PLACES][MOST];
    char text[400];
    snprintf(text, sizeof text,
             PLAIN "feedback=position regularization=0.5 gamma=0.7 train-every=1 train-steps=1 %s", form);
    sa_agent *agent = rig_create(text);
    sa_decision *decision = NULL;
    w = witness_of(WIDEST, false, 0.5);
    witness_read(&w, agent);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        size_t places = round % 3 == 2 ? 2 : PLACES;
        rig_select(agent, round, ARMS, places, &decision);
        check_decision(&w, decision, rig_contexts(round), 0.7, 1e-9, chosen[round]);
        for (size_t k = 0; k < places; k++) witness_gradient(&w, chosen[round][k].x, gradient[round][k]);
        if (round == 0) continue;
        uint64_t id = round - 1;
        bool observed[PLACES] = {id % 2 == 0, true, id % 2 == 1};
        size_t answered = id % 3 == 2 ? 2 : PLACES;
        assert_ok(rig_try_answer(agent, id, answered, observed));
        for (size_t k = 0; k < answered; k++) {
            if (!observed[k]) continue;
            witness_count(&w, gradient[id][k], 1);
            chosen[id][k].y = rig_number(id, 2000000 + k);
            w.seen[w.count++] = chosen[id][k];
        }
        assert_true(rig_counts(agent).observations == w.count && rig_counts(agent).counted == w.count);
        witness_step(&w, 0.01);
        witness trained = w;
        witness_read(&trained, agent);
        for (size_t i = 0; i < w.parameters; i++) near("weight", trained.theta[i], w.theta[i], 1e-9);
        memcpy(w.theta, trained.theta, sizeof w.theta); /* differences do not add up */
    }
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

static void networks_see_features_and_place(void **state) {
    (void)state;
    check_network("");
}

/* x'theta_x + theta_k, by ridge regression on d + K inputs; `nu` more than 0: under sampled parameters. */
static void check_linear(const char *form, double gamma, double nu) {
    static witness w;
    observation chosen[PLACES];
    char text[400];
    snprintf(text, sizeof text,
             "preset=paper feedback=position slate=3 regularization=0.5 seed=3 first-run=2 %s", form);
    sa_agent *agent = rig_create(text);
    sa_decision *decision = NULL;
    w = witness_of(WIDEST, true, 0.5);
    for (uint64_t round = 0; round < 30; round++) {
        size_t places = round % 4 == 1 ? 2 : PLACES;
        rig_select(agent, round, ARMS, places, &decision);
        check_decision(&w, decision, rig_contexts(round), gamma, 1e-11, chosen);
        if (nu >
            /* differences between places are those of theta~, the same for each arm, and not those of
             * theta */
            0) {
            const double *score = sa_decision_all_scores(decision),
                         *mean = sa_decision_all_estimates(decision);
            for (size_t i = 1; i < ARMS; i++) {
                near("place", score[i * places + 1] - score[i * places], score[1] - score[0], 1e-12);
                assert_true(fabs(score[i * places] - mean[i * places]) > 1e-6);
            }
        }
        rig_answer(agent, round, places);
        for (size_t k = 0; k < places; k++) {
            chosen[k].y = rig_number(round, 2000000 + k);
            witness_count(&w, chosen[k].x, 1);
            w.seen[w.count++] = chosen[k];
        }
        witness_regress(&w);
    }
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

static void linear_models_see_features_and_place(void **state) {
    (void)state;
    check_linear("algorithm=comblin-ucb gamma=0.4", 0.4, 0);
    check_linear("algorithm=comblin-ucb gamma=0.4", 0.4, 0);
    check_linear("algorithm=comblin-ts nu=0.6", -1, 0.6);
    check_linear("algorithm=c2ucb sub-gaussian=0.1", -1, 0);
}

/* Discounts nobody knows: the same inputs, oracle and numbers as with position feedback, but only what was
 * looked at counts. */
static void cascades_with_unknown_discounts_are_positions(void **state) {
    (void)state;
    sa_agent *cascade = rig_create(PLAIN "feedback=cascade cascade-form=unknown train-every=1");
    sa_agent *position = rig_create(PLAIN "feedback=position train-every=1");
    sa_decision *one = NULL, *other = NULL;
    for (uint64_t round = 0; round < 10; round++) {
        rig_select(cascade, round, ARMS, PLACES, &one);
        rig_select(position, round, ARMS, PLACES, &other);
        assert_int_equal(sa_decision_positions(one), PLACES);
        rig_assert_same_decision(one, other);
        double scores[PLACES] = {0, round % 2 ? 1 : 0, round % 2 ? NAN : 0.5};
        assert_ok(sa_agent_update(cascade, round, scores, NULL, PLACES));
        assert_ok(sa_agent_update(position, round, scores, (bool[]){true, true, round % 2 == 0}, PLACES));
    }
    assert_true(rig_counts(cascade).observations == 25);
    sa_decision_destroy(one);
    sa_decision_destroy(other);
    sa_agent_destroy(cascade);
    sa_agent_destroy(position);
}

/* Features are standardised as ever; the one-hot place is left alone. Before any feedback lambda width^2 is
 * |x|^2 + 1. */
static void places_are_not_normalised(void **state) {
    (void)state;
    static const char *const forms[] = {"standard", "unit"};
    for (int unit = 0; unit < 2; unit++) {
        char text[200];
        snprintf(text, sizeof text,
                 "algorithm=comblin-ucb linear-form=defined feedback=position slate=3 normalize=%s",
                 forms[unit]);
        sa_agent *agent = rig_create(text);
        sa_decision *decision = NULL;
        rig_select(agent, 1, ARMS, PLACES, &decision);
        const double *x = rig_contexts(1);
        for (size_t i = 0; i < ARMS; i++) {
            double length = 1; /* of the features, with --normalize unit */
            for (size_t j = 0; !unit && j < RIG_DIM; j++) {
                double mean = 0, square = 0;
                for (size_t a = 0; a < ARMS; a++) mean += x[a * RIG_DIM + j] / ARMS;
                for (size_t a = 0; a < ARMS; a++) square += pow(x[a * RIG_DIM + j] - mean, 2) / ARMS;
                length += pow(x[i * RIG_DIM + j] - mean, 2) / square / RIG_DIM - (j == 0);
            }
            for (size_t k = 0; k < PLACES; k++)
                near("width", sa_decision_all_widths(decision)[i * PLACES + k], sqrt(length + 1), 1e-12);
        }
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
    }
}

/* ---- references ---- */

static void best_knows_each_place(void **state) {
    (void)state;
    double expected[ARMS * PLACES], discounts[PLACES] = {0.2, 1, 0.5}, once[ARMS] = {3, 9, 1, 5, 7, 2};
    size_t slate[PLACES];
    sa_agent *agent = rig_create("algorithm=best feedback=position slate=3");
    sa_request *request = sa_request_new();
    sa_problem *problem = sa_problem_new();
    sa_decision *decision = NULL;
    for (size_t i = 0; i < ARMS * PLACES; i++) expected[i] = rig_number(4, i);
    best_assignment(expected, PLACES, slate);
    sa_request_contexts(request, rig_contexts(0), ARMS);
    sa_request_slate(request, PLACES);
    sa_request_expected_positions(request, expected);
    assert_ok(sa_agent_select(agent, request, &decision));
    assert_int_equal(sa_decision_positions(decision), PLACES);
    assert_memory_equal(sa_decision_arms(decision), slate, sizeof slate);
    assert_memory_equal(sa_decision_all_scores(decision), expected, sizeof expected);
    expected[7] = NAN;
    assert_fails(sa_agent_select(agent, request, &decision), SA_INVALID, "the expected score of arm 2 is");
    /* one score an arm: the best arm goes where the discount is largest */
    sa_request_expected(request, once);
    sa_problem_discounts(problem, discounts, PLACES);
    sa_request_problem(request, problem);
    assert_ok(sa_agent_select(agent, request, &decision));
    assert_int_equal(sa_decision_positions(decision), 0);
    assert_memory_equal(sa_decision_arms(decision), ((size_t[]){3, 1, 4}), sizeof slate);
    sa_agent_destroy(agent);
    agent = rig_create("algorithm=best");
    sa_request_expected_positions(request, expected);
    assert_fails(sa_agent_select(agent, request, &decision), SA_INVALID, "only --feedback position takes");
    sa_problem_destroy(problem);
    sa_request_destroy(request);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* Each of the 12 ways to put 2 of 4 arms into 2 places comes up as often as any other: over n = 6000 rounds a
 * count is within 5 deviations of n / 12, but with probability 6e-7 for each of the 12. */
static void random_slates_are_uniform(void **state) {
    (void)state;
    enum { N = 6000 };
    size_t count[4][4] = {0};
    sa_agent *agent = rig_create("algorithm=random feedback=position slate=2 pending-limit=5");
    sa_decision *decision = NULL;
    for (size_t t = 0; t < N; t++) {
        rig_select(agent, 0, 4, 2, &decision);
        count[sa_decision_arms(decision)[0]][sa_decision_arms(decision)[1]]++;
    }
    for (size_t a = 0; a < 4; a++)
        for (size_t b = 0; b < 4; b++)
            assert_true(fabs((double)count[a][b] - (a == b ? 0 : N / 12.0)) <=
                        (a == b ? 0 : 5 * sqrt(N * 11.0 / 144)));
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* ---- an oracle of the caller's own ---- */

typedef struct own_oracle {
    size_t length;
    double heard[ARMS * PLACES];
} own_oracle;

static int solve(void *user, const double *scores, size_t arms, const bool *excluded, size_t most,
                 size_t *slate, size_t *length) {
    own_oracle *own = user;
    (void)excluded;
    assert_int_equal(arms, ARMS);
    memcpy(own->heard, scores, arms * most * sizeof *scores);
    for (size_t k = 0; k < own->length; k++) slate[k] = most - k; /* in no order of scores */
    *length = own->length;
    return 0;
}

static void own_oracles_may_take_places(void **state) {
    (void)state;
    own_oracle own = {.length = PLACES};
    sa_agent *agent = rig_create("feedback=position slate=3"), *plain = rig_create("");
    sa_decision *decision = NULL;
    sa_oracle_callbacks with = {.solve = solve, .user = &own, .alpha = 1, .positions = true}, without = with;
    without.positions = false;
    assert_says(sa_agent_oracle(agent, &without), SA_INVALID,
                "your oracle takes one score an arm, and the agent's --feedback gives one for each position");
    assert_says(sa_agent_oracle(plain, &with), SA_INVALID,
                "your oracle takes a score for each position, and the agent's --feedback gives one an arm");
    assert_ok(sa_agent_oracle(agent, &with));
    rig_select(agent, 0, ARMS, PLACES, &decision);
    assert_memory_equal(sa_decision_arms(decision), ((size_t[]){3, 2, 1}), 3 * sizeof(size_t));
    assert_memory_equal(sa_decision_all_scores(decision), own.heard, sizeof own.heard);
    rig_answer(agent, 0, PLACES);
    own.length = 2;
    assert_fails(rig_try_select(agent, 1, ARMS, PLACES, &decision), SA_INVALID,
                 "your oracle chose 2 arms for 3 positions");
    assert_true(rig_counts(agent).decisions == 1);
    assert_ok(sa_agent_oracle(agent, NULL));
    rig_select(agent, 1, ARMS, PLACES, &decision);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
    sa_agent_destroy(plain);
}

/* ---- bad input ---- */

static void wrong_sizes_and_oracles_are_refused(void **state) {
    (void)state;
    sa_agent *agent = NULL;
    assert_says(rig_try_create("feedback=position oracle=top-k", &agent), SA_INVALID,
                "--oracle top-k takes one score an arm, and --feedback position gives one for each position: "
                "--oracle assignment takes those");
    assert_fails(rig_try_create("feedback=cascade cascade-form=unknown oracle=knapsack", &agent), SA_INVALID,
                 "--oracle knapsack takes one score an arm, and --feedback cascade with --cascade-form "
                 "unknown gives one");
    assert_null(agent);
    agent = rig_create("feedback=position slate=3");
    sa_decision *decision = NULL;
    assert_says(rig_try_select(agent, 0, ARMS, 4, &decision), SA_INVALID,
                "the request asks for a slate of 4 arms, and the agent tells 3 positions apart (--slate)");
    assert_fails(rig_try_select(agent, 0, ARMS, 0, &decision), SA_INVALID, "a slate of 0 arms");
    assert_fails(rig_try_select(agent, 0, 2, 3, &decision), SA_INVALID, "a slate of 3 out of 2 arms");
    assert_null(decision);
    assert_true(rig_counts(agent).decisions == 0);
    rig_select(agent, 0, ARMS, 1, &decision);
    assert_int_equal(sa_decision_positions(decision), 1);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* Discounts in the problem are nothing to an agent that learns what a place is worth. */
static void discounts_are_learnt_not_looked_at(void **state) {
    (void)state;
    sa_agent *agent = rig_create("feedback=position slate=3"),
             *twin = rig_create("feedback=position slate=3");
    double discounts[PLACES] = {0.2, 7, NAN};
    sa_problem *problem = sa_problem_new();
    sa_problem_discounts(problem, discounts, PLACES);
    sa_request *request = sa_request_new();
    sa_request_contexts(request, rig_contexts(0), ARMS);
    sa_request_slate(request, PLACES);
    sa_request_problem(request, problem);
    sa_decision *one = NULL, *other = NULL;
    assert_ok(sa_agent_select(agent, request, &one));
    rig_select(twin, 0, ARMS, PLACES, &other);
    rig_assert_same_decision(one, other);
    sa_request_destroy(request);
    sa_problem_destroy(problem);
    sa_decision_destroy(one);
    sa_decision_destroy(other);
    sa_agent_destroy(agent);
    sa_agent_destroy(twin);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_see_features_and_place),
        cmocka_unit_test(linear_models_see_features_and_place),
        cmocka_unit_test(cascades_with_unknown_discounts_are_positions),
        cmocka_unit_test(places_are_not_normalised),
        cmocka_unit_test(best_knows_each_place),
        cmocka_unit_test(random_slates_are_uniform),
        cmocka_unit_test(own_oracles_may_take_places),
        cmocka_unit_test(wrong_sizes_and_oracles_are_refused),
        cmocka_unit_test(discounts_are_learnt_not_looked_at),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
