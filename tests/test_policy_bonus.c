/* What a width counts for, by arms N and places K, nothing excluded: with g = log(1 + N / K) / log(6),
 *
 *     score = estimate + sqrt(g) gamma (s + e g^2) width             ucb
 *     score = estimate + sqrt(g) nu (s + e g^2) width max_j z_j      ts, z_1 ... z_M standard normal
 *
 * s and e those of learn/bonus.h, whose own test has their values. */
#include "test_agent_rig.h"

#include "agent/agent.h"

enum { MOST = 100, TAUGHT = 6, DRAWS = 5 };

static const struct {
    const char *text;
    double factor;  /* gamma or nu */
    size_t samples; /* M; 0: nothing is drawn */
} rules[] = {{"algorithm=cn-ucb gamma=1.5", 1.5, 0},
             {"algorithm=cn-ts nu=0.7 ts-samples=1", 0.7, 1},
             {"algorithm=cn-ts nu=0.7 ts-samples=10", 0.7, 10}};

/* N, K: g is 1 for the first, and from 0.4 to 2.6 for the others. */
static const size_t sizes[][2] = {{20, 4}, {20, 1}, {20, 20}, {MOST, 1}, {MOST, 50}, {7, 3}, {1, 1}};

static double highest_draw(const sa_policy *policy, uint64_t draw, size_t arm, size_t samples) {
    const sa_stream stream = sa_stream_at(policy->seed, SA_PURPOSE_EXPLORATION, policy->run, draw);
    double highest = -INFINITY;
    for (size_t j = 0; j < samples; j++) highest = fmax(highest, sa_draw_normal(&stream, arm * samples + j));
    return samples ? highest : 1;
}

static void check_scores(const sa_policy *policy, const sa_decision *decision, uint64_t draw, double factor,
                         size_t samples) {
    size_t arms = sa_decision_candidates(decision);
    double g = log(1 + (double)arms / (double)sa_decision_slate(decision)) / log(6);
    for (size_t a = 0; a < arms; a++) {
        double unit = (policy->deviation + policy->early * g * g) * sa_decision_all_widths(decision)[a];
        double bonus = sa_decision_all_scores(decision)[a] - sa_decision_all_estimates(decision)[a];
        double expected = sqrt(g) * factor * unit * highest_draw(policy, draw, a, samples);
        if (!(unit > 0 && fabs(bonus - expected) <= 1e-9 * unit))
            fail_msg("the bonus of %zu arms for %zu places is %.12g, and should be %.12g", arms,
                     sa_decision_slate(decision), bonus, expected);
    }
}

/* An agent that is in its beginning, frozen. */
static sa_agent *taught(const char *rule) {
    char text[200];
    sa_decision *decision = NULL;
    snprintf(text, sizeof text, "precision=double train-every=1 companion=false widths=all %s", rule);
    sa_agent *agent = rig_create(text);
    for (uint64_t id = 0; id < TAUGHT; id++) {
        rig_select(agent, id, 9, 4, &decision);
        rig_answer(agent, id, 4);
    }
    sa_decision_destroy(decision);
    return agent;
}

static void more_arms_for_a_place_want_more(void **state) {
    (void)state;
    sa_request *request = sa_request_new();
    sa_chooser *chooser = sa_chooser_new();
    sa_decision *decision = NULL;
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
        sa_agent *agent = taught(rules[r].text);
        sa_policy *policy = NULL;
        assert_ok(sa_agent_policy(agent, &policy));
        assert_true(policy->early > 0.1 * policy->deviation && policy->deviation > 0);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (uint64_t draw = 0; draw < DRAWS; draw++) {
                sa_request_contexts(request, rig_contexts(1000 + i), sizes[i][0]);
                sa_request_slate(request, sizes[i][1]);
                sa_request_draw(request, draw);
                assert_ok(sa_policy_select(policy, chooser, request, &decision));
                assert_int_equal(sa_decision_slate(decision), sizes[i][1]);
                check_scores(policy, decision, draw, rules[r].factor, rules[r].samples);
            }
        sa_policy_release(policy);
        sa_agent_destroy(agent);
    }
    sa_decision_destroy(decision);
    sa_chooser_destroy(chooser);
    sa_request_destroy(request);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(more_arms_for_a_place_want_more)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
