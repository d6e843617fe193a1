/* The neural baselines: neural-ucb and neural-ts are cn-ucb and cn-ts1, by definition for slates of one arm,
 * with every engine; and the engines other than exact in an agent. */
#include "agent/agent.h"
#include "test_agent_rig.h"
#include "test_parts.h"

static void play_alike(sa_agent *one, sa_agent *other, size_t slate) {
    sa_decision *a = NULL, *b = NULL;
    for (uint64_t id = 0; id < 40; id++) {
        rig_select(one, id, 12, slate, &a);
        rig_select(other, id, 12, slate, &b);
        rig_assert_same_decision(a, b);
        rig_answer(one, id, slate);
        rig_answer(other, id, slate);
        rig_assert_same_counts(one, other);
    }
    sa_decision_destroy(a);
    sa_decision_destroy(b);
}

static void neural_algorithms_are_those_of_the_paper_with_one_arm(void **state) {
    (void)state;
    static const char *const same[][2] = {{"neural-ucb", "cn-ucb"}, {"neural-ts", "cn-ts1"}};
    static const char *const engines[] = {"exact", "diagonal", "last-layer"};
    static const char *const presets[] = {"paper", "icml23", "tuned"};
    for (size_t i = 0; i < 2; i++)
        for (size_t e = 0; e < 3; e++)
            for (size_t p = 0; p < 3; p++)
                for (size_t slate = 1; slate <= 3; slate += 2) {
                    char text[2][200];
                    sa_agent *agent[2];
                    for (size_t k = 0; k < 2; k++) {
                        snprintf(text[k], sizeof text[k], "preset=%s hidden=6 algorithm=%s confidence=%s",
                                 presets[p], same[i][k], engines[e]);
                        agent[k] = rig_create(text[k]);
                    }
                    play_alike(agent[0], agent[1], slate);
                    sa_agent_destroy(agent[0]);
                    sa_agent_destroy(agent[1]);
                }
}

/* Neural TS, Zhang et al. 2021: a score is one draw from N(f, nu^2 sigma^2), sigma^2 = lambda g' Z^-1 g / m.
 * Over many arms and rounds (score - mean) / (nu sigma) is standard normal: mean 0 and variance 1 within 6
 * standard errors, which a correct program leaves once in 10^8 seeds. */
static void neural_ts_samples_once_an_arm(void **state) {
    (void)state;
    enum { ARMS = 200, ROUNDS = 20 };
    sa_agent *agent =
        rig_create("preset=paper hidden=6 algorithm=neural-ts nu=0.5 regularization=0.7 widths=all");
    sa_decision *decision = NULL;
    double sum = 0, squares = 0, count = 0;
    for (uint64_t id = 0; id < ROUNDS; id++) {
        rig_select(agent, id, ARMS, 1, &decision);
        for (size_t i = 0; i < ARMS; i++) {
            double sigma = sqrt(0.7) * sa_decision_all_widths(decision)[i];
            if (sigma == 0) continue; /* no unit is on */
            double z = (sa_decision_all_scores(decision)[i] - sa_decision_all_estimates(decision)[i]) /
                       (0.5 * sigma);
            count++;
            sum += z;
            squares += z * z;
        }
        rig_answer(agent, id, 1);
    }
    assert_true(count > ARMS * ROUNDS / 2);
    assert_true(fabs(sum / count) < 6 / sqrt(count));
    assert_true(fabs(squares / count - 1) < 6 * sqrt(2 / count));
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* Engines whose widths cost little compute them all, whatever --widths says. */
static void cheap_engines_give_all_widths(void **state) {
    (void)state;
    static const char *const kinds[] = {
        "confidence=diagonal", "confidence=last-layer", "confidence=diagonal algorithm=cn-ts",
        "confidence=last-layer algorithm=cn-ts1", "confidence=diagonal algorithm=comblin-ucb"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char text[100];
        snprintf(text, sizeof text, "%s widths=all", kinds[k]);
        sa_agent *needed = rig_create(kinds[k]), *all = rig_create(text);
        play_alike(needed, all, 3);
        sa_agent_destroy(needed);
        sa_agent_destroy(all);
    }
}

static void wrong_engines_have_a_sentence(void **state) {
    (void)state;
    sa_agent *agent = NULL;
    assert_fails(rig_try_create("algorithm=comblin-ts confidence=last-layer", &agent), SA_INVALID,
                 "--confidence last-layer needs a network, and comblin-ts is linear: use exact or diagonal");
    assert_null(agent);
    sa_options *options = sa_options_new(NULL);
    assert_fails(sa_options_set_any(options, "confidence", "full"), SA_INVALID,
                 "--confidence full is not one of exact, diagonal, last-layer, sketch, auto");
    sa_options_destroy(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neural_algorithms_are_those_of_the_paper_with_one_arm),
        cmocka_unit_test(neural_ts_samples_once_an_arm),
        cmocka_unit_test(cheap_engines_give_all_widths),
        cmocka_unit_test(wrong_engines_have_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
