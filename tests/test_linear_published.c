/* The published form in simulations: the slate's i-th arm is answered with the score of arm i, and only for
 * linear agents. The regret is that of the arms that were chosen, in either form. */
#include "test_experiment_trace.h"
#include "test_linear_reference.h"

static game_round rounds[GAME_ROUNDS];

static double best_total(const double *scores) {
    double sorted[GAME_ARMS], total = 0;
    memcpy(sorted, scores, sizeof sorted);
    for (size_t k = 0; k < GAME_SLATE; k++) {
        size_t best = k;
        for (size_t i = k; i < GAME_ARMS; i++)
            if (sorted[i] > sorted[best]) best = i;
        total += sorted[best];
        sorted[best] = sorted[k];
    }
    return total;
}

/* Scores are multiples of 2^-11, and traces of single precision have 9 digits. */
static void check_pairs(const char *text, bool mispaired) {
    size_t told_apart = 0;
    game_run(text, scratch("trace.jsonl"));
    game_read(scratch("trace.jsonl"), rounds);
    for (size_t t = 0; t < GAME_ROUNDS; t++) {
        double chosen = 0;
        for (size_t k = 0; k < GAME_SLATE; k++) {
            size_t arm = rounds[t].slate[k];
            double expected = game_scores[t][mispaired ? k : arm];
            if (!(fabs(rounds[t].feedback[k] - expected) < 1e-8))
                fail_msg("%s, round %zu: arm %zu, place %zu is answered with %g, not %g", text, t + 1, arm, k,
                         rounds[t].feedback[k], expected);
            told_apart += game_scores[t][k] != game_scores[t][arm];
            chosen += game_scores[t][arm];
        }
        assert_true(fabs(rounds[t].expected_regret - (best_total(game_scores[t]) - chosen)) < 1e-7);
        assert_true(fabs(rounds[t].realised_regret - rounds[t].expected_regret) < 1e-12);
    }
    assert_true(told_apart > GAME_ROUNDS); /* else the two could not be told apart */
}

static void feedback_is_paired_as_the_form_says(void **state) {
    (void)state;
    static const char *const linear[] = {"comblin-ucb", "comblin-ts", "c2ucb"}, *const presets[] = {"paper",
                                                                                                    "icml23",
                                                                                                    "tuned"};
    char text[200];
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 3; k++) {
            snprintf(text, sizeof text, "preset=%s linear-form=published algorithm=%s", presets[k],
                     linear[i]);
            check_pairs(text, true);
            snprintf(text, sizeof text, "preset=%s linear-form=defined algorithm=%s", presets[k], linear[i]);
            check_pairs(text, false);
            snprintf(text, sizeof text, "preset=%s algorithm=%s", presets[k], linear[i]);
            check_pairs(text, k == 1 && i < 2); /* c2ucb is always its paper's, unless asked for */
        }
    }
}

static void networks_are_never_mispaired(void **state) {
    (void)state;
    static const char *const others[] = {"cn-ucb", "cn-ts", "cn-ts1", "greedy", "random"};
    char text[200];
    for (size_t i = 0; i < 5; i++) {
        snprintf(text, sizeof text, "preset=icml23 linear-form=published %s algorithm=%s",
                 i < 4 ? "hidden=6 train-steps=2" : "", others[i]);
        check_pairs(text, false);
    }
}

/* What the agent makes of it: theta lags, and b pairs the features of the slate's i-th arm with the score of
 * arm i. */
static void estimates_are_those_of_the_pairs(void **state) {
    (void)state;
    for (int published = 0; published < 2; published++) {
        ridge learnt = ridge_of(1), before = ridge_of(1);
        game_run(published ? "preset=icml23 algorithm=comblin-ucb" : "preset=paper algorithm=comblin-ucb",
                 scratch("t.jsonl"));
        game_read(scratch("t.jsonl"), rounds);
        for (size_t t = 0; t < GAME_ROUNDS; t++) {
            double theta[RIDGE_DIM];
            ridge_theta(published ? &before : &learnt, theta);
            for (size_t i = 0; i < GAME_ARMS; i++) {
                double width = ridge_width(&learnt, game_contexts[t][i]),
                       mean = dot_product(game_contexts[t][i], theta);
                near("estimate", t, rounds[t].mean[i], mean);
                near("width", t, rounds[t].width[i], width);
                near("score", t, rounds[t].score[i], mean + width);
            }
            before = learnt;
            for (size_t k = 0; k < GAME_SLATE; k++) {
                size_t arm = rounds[t].slate[k];
                ridge_add(&learnt, game_contexts[t][arm], game_scores[t][published ? k : arm]);
            }
        }
    }
}

static int set_up(void **state) {
    if (rig_setup(state)) return -1;
    game_write();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(feedback_is_paired_as_the_form_says),
        cmocka_unit_test(networks_are_never_mispaired),
        cmocka_unit_test(estimates_are_those_of_the_pairs),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_teardown);
}
