/* The companion of an agent whose features change their unit: its regression is the one of all feedback as it
 * is standardised now, computed here by elimination from what the caller saw. */
#include "test_agent_rig.h"

#include "agent/agent.h"
#include "test_elimination.h"
#include "test_ridge_reference.h"

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

/* ---- what is open of an estimate ---- */

/* The optimistic score is the estimate and gamma times the deviation of a mixture of both models. f, which
 * nobody sees, is what the estimate has beside the regression. */
static void check_score(const sa_agent *agent, const world *w, const sa_decision *made, size_t k,
                        const double *x, double gamma, double *open) {
    const sa_policy *policy = agent->learner->policy;
    const sa_companion_numbers *now = &policy->estimator.companion->numbers;
    double share = now->network / (now->network + now->linear), r,
           more = log(1 + ARMS / (double)SLATE) / log(6);
    const ridge_reference seen = {
        .dim = DIM, .count = w->answered, .input = w->chosen[0], .score = w->score, .lambda = now->lambda};
    double of_r = ridge_variance(&seen, x, &r), estimate = sa_decision_estimates(made)[k];
    double f = (estimate - now->intercept - now->linear * r) / now->network;
    double s = fmax(agent->learner->error, 1e-4 * agent->learner->posterior.variance);
    double width = sa_decision_widths(made)[k], early = more * 2 * DIM / (double)w->answered;
    double variance = s * pow((sqrt(share) + early * early) * width, 2) + (1 - share) * of_r +
                      share * (1 - share) * pow((now->linear + now->network) * (f - r), 2);
    *open = fmax(*open, (1 - share) * of_r / variance);
    assert_float_equal(sa_decision_scores(made)[k], estimate + gamma * sqrt(more * variance),
                       1e-6 * sqrt(variance));
}

/* A decision in features as they are, and its feedback. `open`: NULL, where it is not to be checked. */
static void learn(sa_agent *agent, world *w, size_t d, double *open) {
    double contexts[ARMS][DIM], scores[SLATE];
    sa_request *request = sa_request_new();
    sa_decision *made = NULL;
    for (size_t a = 0; a < ARMS; a++)
        for (size_t j = 0; j < DIM; j++) contexts[a][j] = rig_number(d, a * DIM + j);
    sa_request_contexts(request, &contexts[0][0], ARMS);
    sa_request_slate(request, SLATE);
    assert_ok(sa_agent_select(agent, request, &made));
    for (size_t k = 0; k < SLATE; k++) {
        const double *x = contexts[sa_decision_arms(made)[k]];
        scores[k] = 2 + x[2] - 0.5 * x[1] + 0.3 * x[3] * x[3] + rig_number(d, 5000 + k);
        if (open) check_score(agent, w, made, k, x, 1.5, open);
    }
    for (size_t k = 0; k < SLATE; k++) {
        memcpy(w->chosen[w->answered], contexts[sa_decision_arms(made)[k]], sizeof w->chosen[0]);
        w->score[w->answered++] = scores[k];
    }
    assert_ok(sa_agent_update(agent, sa_decision_id(made), scores, NULL, SLATE));
    sa_decision_destroy(made);
    sa_request_destroy(request);
}

static sa_agent *copy_of(const sa_agent *agent) {
    sa_agent *loaded = NULL;
    assert_ok(sa_agent_save(agent, scratch("companion.npz")));
    assert_ok(sa_agent_load(scratch("companion.npz"), &loaded));
    return loaded;
}

/* Also when the agent was saved and loaded in the middle of it, and for all arms as for those that are
 * chosen. */
static void what_is_open_is_the_variance_of_a_mixture(void **state) {
    (void)state;
    static const char *const widths[] = {"needed", "all"};
    for (size_t i = 0; i < 2; i++) {
        static world w;
        char text[200];
        snprintf(text, sizeof text, "normalize=none precision=double train-every=1 gamma=1.5 widths=%s",
                 widths[i]);
        sa_agent *agent = rig_create(text), *before;
        double open = 0; /* the largest share that the regression had in it */
        w.candidates = w.answered = 0;
        for (size_t d = 0; d < DECISIONS; d++) {
            learn(agent, &w, d, d > 3 ? &open : NULL);
            if (d != DECISIONS / 2) continue;
            before = agent;
            agent = copy_of(before);
            sa_agent_destroy(before);
        }
        assert_true(open > 0.2);
        sa_agent_destroy(agent);
    }
}

/* Scores were revised to far away and back: nothing of that is left, also where sums of their squares are not
 * finite; and while they are far away an agent can be trained, saved and loaded. */
static void scores_come_back_from_far_away(void **state) {
    (void)state;
    static const double far[] = {1e4, 1e10, 1e100, 6e153, 1.2e154, 1e200, 1e308};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        static world w;
        double open = 0;
        w.candidates = w.answered = 0;
        sa_agent *agent = rig_create("normalize=none precision=double train-every=1 gamma=1.5");
        for (size_t d = 0; d < DECISIONS / 2; d++) learn(agent, &w, d, NULL);
        for (size_t d = 3; d < 12; d++)
            assert_ok(sa_agent_revise(agent, d, (double[]){far[i], -far[i]}, NULL, SLATE));
        sa_agent *copy = copy_of(agent), *again;
        assert_ok(sa_agent_train(copy));
        again = copy_of(copy);
        sa_agent_destroy(again);
        sa_agent_destroy(copy);
        for (size_t d = 3; d < 12; d++)
            assert_ok(sa_agent_revise(agent, d, w.score + d * SLATE, NULL, SLATE));
        assert_ok(sa_agent_train(agent));
        for (size_t d = DECISIONS / 2; d < DECISIONS; d++) learn(agent, &w, d, &open);
        assert_true(open > 0.1);
        sa_agent_destroy(agent);
    }
}

/* cn-ucb-d: the network is new and what both predicted is not: its width counts by the share that it has. */
static void an_epoch_begins_with_the_share_that_is_known(void **state) {
    (void)state;
    static const char *const replays[] = {"last", "schedule"};
    for (size_t i = 0; i < 2; i++) {
        char text[200];
        static world w;
        w.candidates = w.answered = 0;
        snprintf(text, sizeof text,
                 "algorithm=cn-ucb-d normalize=standard precision=double epoch-length=20 epoch-replay=%s",
                 replays[i]);
        sa_agent *agent = rig_create(text);
        for (size_t d = 0; d < 20; d++) decide(agent, &w, d);
        const sa_learner *learner = agent->learner;
        assert_int_equal(learner->epoch, 1);
        double share = sa_companion_share(learner->policy->estimator.companion);
        double s = fmax(learner->error, 1e-4 * learner->posterior.variance);
        assert_true(share < 0.9);
        assert_float_equal(learner->policy->deviation, sqrt(share * s), 1e-9 * s);
        sa_agent_destroy(agent);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_follow_the_units),
                                       cmocka_unit_test(an_epoch_begins_with_the_share_that_is_known),
                                       cmocka_unit_test(what_is_open_is_the_variance_of_a_mixture),
                                       cmocka_unit_test(scores_come_back_from_far_away)};
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
