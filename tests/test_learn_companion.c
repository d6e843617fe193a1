/* The companion of an agent whose features change their unit: its regression is the one of all feedback as it
 * is standardised now, computed here by elimination from what the caller saw. */
#include "test_agent_rig.h"

#include "agent/agent.h"
#include "test_elimination.h"

enum { DIM = RIG_DIM, ARMS = 9, SLATE = 2, DECISIONS = 60 };

typedef struct world {
    double seen[DECISIONS * ARMS][DIM]; /* all candidates */
    double chosen[DECISIONS * SLATE][DIM], score[DECISIONS * SLATE];
    size_t candidates, answered;
} world;

/* Feature 0 is in other units after a third of the time, and feature 1 moves away. */
static void draw(size_t decision, double contexts[ARMS][DIM]) {
    double unit = decision < DECISIONS / 3 ? 100 : 1, away = decision < DECISIONS / 2 ? 0 : 8;
    for (size_t a = 0; a < ARMS; a++) {
        for (size_t j = 0; j < DIM; j++) contexts[a][j] = rig_number(decision, a * DIM + j);
        contexts[a][0] *= unit;
        contexts[a][1] += away;
    }
}

static void decide(sa_agent *agent, world *w, size_t decision) {
    double contexts[ARMS][DIM], scores[SLATE];
    sa_request *request = sa_request_new();
    sa_decision *made = NULL;
    draw(decision, contexts);
    sa_request_contexts(request, &contexts[0][0], ARMS);
    sa_request_slate(request, SLATE);
    assert_ok(sa_agent_select(agent, request, &made));
    memcpy(w->seen[w->candidates], contexts, sizeof contexts);
    w->candidates += ARMS;
    for (size_t k = 0; k < SLATE; k++) {
        const double *x = contexts[sa_decision_arms(made)[k]];
        scores[k] = 2 + x[2] - 0.5 * x[1] + 0.3 * x[3] * x[3];
        memcpy(w->chosen[w->answered], x, sizeof w->chosen[0]);
        w->score[w->answered++] = scores[k];
    }
    assert_ok(sa_agent_update(agent, sa_decision_id(made), scores, NULL, SLATE));
    sa_decision_destroy(made);
    sa_request_destroy(request);
}

/* The slopes of ridge regression with a free intercept. */
static void fit(const world *w, double lambda, double theta[DIM + 1]) {
    double mean[DIM] = {0}, square[DIM] = {0}, a[(DIM + 1) * (DIM + 2)] = {0};
    for (size_t j = 0; j < DIM; j++) {
        for (size_t i = 0; i < w->candidates; i++) mean[j] += w->seen[i][j] / (double)w->candidates;
        for (size_t i = 0; i < w->candidates; i++)
            square[j] += pow(w->seen[i][j] - mean[j], 2) / (double)w->candidates;
    }
    for (size_t i = 0; i < w->answered; i++) {
        double x[DIM + 1];
        for (size_t j = 0; j < DIM; j++) x[j] = (w->chosen[i][j] - mean[j]) / sqrt(square[j] * DIM);
        x[DIM] = 1;
        for (size_t j = 0; j <= DIM; j++) {
            for (size_t k = 0; k <= DIM; k++) a[j * (DIM + 2) + k] += x[j] * x[k];
            a[j * (DIM + 2) + DIM + 1] += x[j] * w->score[i];
        }
    }
    for (size_t j = 0; j < DIM; j++) a[j * (DIM + 2) + j] += lambda;
    eliminate(DIM + 1, a);
    for (size_t j = 0; j <= DIM; j++) theta[j] = a[j * (DIM + 2) + DIM + 1];
}

static void check(const sa_agent *agent, const world *w) {
    const sa_companion *companion = agent->learner->policy->estimator.companion;
    double theta[DIM + 1];
    fit(w, companion->numbers.lambda, theta);
    for (size_t j = 0; j < DIM; j++)
        if (fabs(companion->theta[j] - theta[j]) > 1e-7)
            fail_msg("slope %zu is %g, and %g of all feedback in today's units", j, companion->theta[j],
                     theta[j]);
}

/* Also when the agent was saved and loaded in the middle of it. */
static void sums_follow_the_units(void **state) {
    (void)state;
    static world w;
    sa_agent *agent = rig_create("normalize=standard precision=double train-every=1"), *loaded = NULL;
    for (size_t i = 0; i < DECISIONS; i++) {
        decide(agent, &w, i);
        if (i >= 4) check(agent, &w);
        if (i != DECISIONS / 2) continue;
        assert_ok(sa_agent_save(agent, scratch("companion.npz")));
        assert_ok(sa_agent_load(scratch("companion.npz"), &loaded));
        sa_agent_destroy(agent);
        agent = loaded;
    }
    sa_agent_destroy(agent);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_follow_the_units)};
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
