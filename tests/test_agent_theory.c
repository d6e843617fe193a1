/* --gamma theory and --nu theory: each round's scores follow from the agent's own log det Z and number of
 * observations. The formulas themselves are tested in theory_bounds. All arms are chosen each round, so that
 * agents that explore differently learn the same. */
#include "test_agent_rig.h"
#include "theory/bounds.h"

enum { ARMS = 6, ROUNDS = 25 };

#define SMALL                                                                                                \
    "preset=paper precision=double widths=all hidden=8 regularization=2 sub-gaussian=0.3 norm-bound=1.5 "    \
    "delta=0.05 "

static void near(const char *what, uint64_t round, double value, double expected) {
    if (!(fabs(value - expected) <= 1e-9 * (1 + fabs(expected))))
        fail_msg("round %llu: %s is %.17g, not %.17g", (unsigned long long)round, what, value, expected);
}

/* By arm, whatever the order of the slate. */
static void answer(sa_agent *agent, const sa_decision *decision) {
    double scores[ARMS];
    uint64_t round = sa_decision_id(decision);
    for (size_t i = 0; i < sa_decision_slate(decision); i++)
        scores[i] = rig_number(round, sa_decision_arms(decision)[i]);
    assert_ok(sa_agent_update(agent, round, scores, NULL, sa_decision_slate(decision)));
}

static sa_bounds bounds_of(const sa_agent *agent) {
    const char *const names[] = {"approximation", "depth"};
    char text[2][32];
    for (size_t i = 0; i < 2; i++)
        assert_ok(sa_options_get(sa_agent_options(agent), names[i], text[i], sizeof text[i]));
    return (sa_bounds){.lambda = 2,
                       .depth = strtod(text[1], NULL),
                       .hidden = 8,
                       .delta = 0.05,
                       .norm_bound = 1.5,
                       .sub_gaussian = 0.3,
                       .approximation = strtod(text[0], NULL)};
}

/* The rate of --preset paper 4 steps: eta m lambda = lambda / (n L + lambda). */
static double rest(const sa_bounds *bounds, double n) {
    return pow(1 - bounds->lambda / (n * bounds->depth + bounds->lambda), 4.0 / 2);
}

static void check_ucb(const char *text) {
    sa_agent *agent = rig_create(text);
    sa_decision *decision = NULL;
    sa_bounds bounds = bounds_of(agent);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        sa_agent_counts counts = rig_counts(agent);
        double n = (double)counts.counted,
               gamma = sa_bound_gamma(&bounds, n, counts.log_det, rest(&bounds, n));
        double error = sa_bound_error(&bounds, n + ARMS, gamma);
        rig_select(agent, round, ARMS, ARMS, &decision);
        for (size_t i = 0; i < ARMS; i++)
            near("score", round, sa_decision_all_scores(decision)[i],
                 sa_decision_all_estimates(decision)[i] + gamma * sa_decision_all_widths(decision)[i] +
                     error);
        answer(agent, decision);
    }
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

static void gamma_and_e_follow_lemma_1(void **state) {
    (void)state;
    check_ucb(SMALL "algorithm=cn-ucb gamma=theory");
    check_ucb(SMALL "algorithm=cn-ucb gamma=theory depth=3 approximation=0.001");
    check_ucb(SMALL "algorithm=cn-ucb gamma=theory approximation=0");
}

/* Beside an agent with nu = 1 and no offset, whose samples come from the same draws. */
static void check_ts(const char *algorithm, double approximation) {
    char text[400];
    snprintf(text, sizeof text, SMALL "algorithm=%s approximation=%.17g nu=theory", algorithm, approximation);
    sa_agent *agent = rig_create(text);
    snprintf(text, sizeof text, SMALL "algorithm=%s nu=1", algorithm);
    sa_agent *plain = rig_create(text);
    sa_decision *decision = NULL, *other = NULL;
    sa_bounds bounds = bounds_of(agent);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        sa_agent_counts counts = rig_counts(agent);
        double n = (double)counts.counted, nu = sa_bound_nu(&bounds, counts.log_det);
        double epsilon = sa_bound_epsilon(&bounds, n + ARMS, nu, rest(&bounds, n));
        rig_select(agent, round, ARMS, ARMS, &decision);
        rig_select(plain, round, ARMS, ARMS, &other);
        for (size_t i = 0; i < ARMS; i++) {
            double mean = sa_decision_all_estimates(other)[i],
                   sample = sa_decision_all_scores(other)[i] - mean;
            near("score", round, sa_decision_all_scores(decision)[i], mean + nu * sample + epsilon);
        }
        answer(agent, decision);
        answer(plain, other);
    }
    sa_decision_destroy(decision);
    sa_decision_destroy(other);
    sa_agent_destroy(agent);
    sa_agent_destroy(plain);
}

static void nu_and_epsilon_follow_theorem_2(void **state) {
    (void)state;
    check_ts("cn-ts", 1);
    check_ts("cn-ts1", 0.001);
    check_ts("cn-ts", 0);
}

/* A linear model learns exactly: its gamma_t is C2UCB's, and its parameters are sampled with nu sigma = nu
 * sqrt(lambda) width. */
static void linear_models_have_no_approximation_error(void **state) {
    (void)state;
    sa_agent *theory = rig_create(SMALL "algorithm=comblin-ucb gamma=theory"),
             *c2ucb = rig_create(SMALL "algorithm=c2ucb");
    sa_agent *ts = rig_create(SMALL "algorithm=comblin-ts nu=theory"),
             *plain = rig_create(SMALL "algorithm=comblin-ts nu=1");
    sa_decision *one = NULL, *other = NULL;
    sa_bounds bounds = bounds_of(ts);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        rig_select(theory, round, ARMS, 3, &one);
        rig_select(c2ucb, round, ARMS, 3, &other);
        assert_memory_equal(sa_decision_all_scores(one), sa_decision_all_scores(other),
                            ARMS * sizeof(double));
        answer(theory, one);
        answer(c2ucb, other);
        double nu = sa_bound_nu(&bounds, rig_counts(ts).log_det);
        rig_select(ts, round, ARMS, ARMS, &one);
        rig_select(plain, round, ARMS, ARMS, &other);
        for (size_t i = 0; i < ARMS; i++) {
            double mean = sa_decision_all_estimates(other)[i],
                   sample = sa_decision_all_scores(other)[i] - mean;
            near("score", round, sa_decision_all_scores(one)[i], mean + nu * sqrt(2) * sample);
        }
        answer(ts, one);
        answer(plain, other);
    }
    sa_decision_destroy(one);
    sa_decision_destroy(other);
    sa_agent_destroy(theory);
    sa_agent_destroy(c2ucb);
    sa_agent_destroy(ts);
    sa_agent_destroy(plain);
}

/* R is the noise of the scores; the network sees it divided by their scale. */
static void noise_is_in_the_scores_units(void **state) {
    (void)state;
    sa_agent *agent = rig_create(SMALL "algorithm=cn-ucb gamma=theory approximation=0 score-deviation=0.25");
    sa_decision *decision = NULL;
    double scale = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        sa_agent_counts counts = rig_counts(agent);
        double noise = 0.3 * sqrt(counts.log_det - 2 * log(0.05)), norm = sqrt(2) * 1.5;
        rig_select(agent, round, ARMS, ARMS, &decision);
        const double *score = sa_decision_all_scores(decision), *mean = sa_decision_all_estimates(decision);
        const double *width = sa_decision_all_widths(decision);
        size_t widest = 0;
        for (size_t i = 0; i < ARMS; i++)
            if (width[i] > width[widest]) widest = i;
        scale = ((score[widest] - mean[widest]) / width[widest] - noise) / norm;
        for (size_t i = 0; i < ARMS; i++)
            near("score", round, score[i], mean[i] + (noise + scale * norm) * width[i]);
        if (round == 0) near("scale", round, scale, 1);
        answer(agent, decision);
    }
    assert_true(scale > 1.2); /* the deviation of the rig's feedback is not a quarter */
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

static void a_saved_agent_goes_on(void **state) {
    (void)state;
    static const char *const texts[] = {SMALL "algorithm=cn-ucb gamma=theory",
                                        SMALL "algorithm=cn-ts nu=theory", SMALL "algorithm=c2ucb"};
    for (size_t i = 0; i < 3; i++) {
        sa_agent *agent = rig_create(texts[i]), *twin = NULL;
        sa_decision *decision = NULL;
        for (uint64_t round = 0; round < 7; round++) {
            rig_select(agent, round, ARMS, 3, &decision);
            rig_answer(agent, round, 3);
        }
        sa_decision_destroy(decision);
        const char *path = scratch("theory.npz");
        assert_ok(sa_agent_save(agent, path));
        assert_ok(sa_agent_load(path, &twin));
        rig_go_on_alike(agent, twin, 7, 20);
        sa_agent_destroy(agent);
        sa_agent_destroy(twin);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gamma_and_e_follow_lemma_1),
        cmocka_unit_test(nu_and_epsilon_follow_theorem_2),
        cmocka_unit_test(linear_models_have_no_approximation_error),
        cmocka_unit_test(noise_is_in_the_scores_units),
        cmocka_unit_test(a_saved_agent_goes_on),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
