/* The bonus in the unit of a posterior deviation: s and lambda computed here from what the caller sees and
 * from the gradients of the arms that were chosen. */
#include "test_agent_rig.h"

#include "agent/agent.h"

enum { SLATE = 4, ARMS = 9, HIDDEN = 6, MOST = 100 };

typedef struct witness {
    double error, count;    /* of predictions */
    double norms, products; /* of the gradients, and of those that came one after the other */
    double last[MOST];      /* the last gradient, written out */
    double scores[2000];
    double lambda;
} witness;

static double score_of(uint64_t id, size_t arm, double noise) {
    const double *x = rig_contexts(id) + arm * RIG_DIM;
    return 3 + x[0] - 0.5 * x[1] + noise * rig_number(id, 3000000 + arm);
}

/* All numbers of a gradient, delta by delta; how many there are. */
static size_t write_out(const sa_gradients *batch, size_t row, double *out) {
    size_t count = 0;
    for (size_t l = 0; l < batch->pairs; l++) {
        sa_pair_shape shape = batch->pair[l].shape;
        const double *delta = (const double *)batch->pair[l].delta + row * shape.delta;
        const double *input = (const double *)batch->pair[l].input + row * shape.input;
        for (size_t i = 0; i < shape.delta; i++)
            for (size_t j = 0; j < shape.input; j++) out[count++] = delta[i] * input[j];
    }
    return count;
}

static void take_gradient(witness *w, const sa_gradients *batch, size_t row) {
    double gradient[MOST] = {0}, *last = w->last;
    size_t numbers = write_out(batch, row, gradient);
    assert_in_range(numbers, 1, MOST);
    for (size_t i = 0; i < numbers; i++) {
        w->norms += gradient[i] * gradient[i];
        w->products += gradient[i] * last[i];
        last[i] = gradient[i];
    }
}

static void take(witness *w, const sa_agent *agent, const sa_decision *decision, uint64_t id, double noise,
                 size_t slate, double *scores) {
    const sa_pending_ring *ring = &agent->past.pending;
    const sa_pending *pending = sa_ring_at(ring, ring->count - 1);
    double mean = 0;
    for (size_t k = 0; k < slate; k++) {
        scores[k] = score_of(id, sa_decision_arms(decision)[k], noise);
        mean += scores[k] / (double)slate;
    }
    for (size_t k = 0; k < slate; k++) { /* before there is an estimate, the first scores' mean */
        double off = scores[k] - (id == 0 ? mean : sa_decision_estimates(decision)[k]);
        w->scores[(size_t)w->count++] = scores[k];
        take_gradient(w, &pending->gradients, k);
        w->error += (off * off - w->error) / fmin(w->count, 200);
    }
}

static double variance_of(const witness *w) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < (size_t)w->count; i++) mean += w->scores[i] / w->count;
    for (size_t i = 0; i < (size_t)w->count; i++) square += pow(w->scores[i] - mean, 2) / w->count;
    return square;
}

/* What the width counts for: more arms for a place want more, and so does a beginning, of two observations a
 * feature: RIG_DIM features, n observations of all time. */
static double unit_of(double s, double share, double n, size_t slate) {
    double more = log(1 + ARMS / (double)slate) / log(6), early = more * 2 * RIG_DIM / n;
    return sqrt(s) * (sqrt(share) + early * early);
}

static void check(witness *w, const sa_agent *agent) {
    const sa_policy *policy = agent->learner->policy;
    double variance = variance_of(w), s = fmax(w->error, 1e-4 * variance), n = w->count, h = HIDDEN / 2.0;
    double explained = (h + n * fmax(0, 1 - s / variance)) / (h + n);
    double kernel = w->norms / n, differ = fmax(kernel - (n > 1 ? w->products / (n - 1) : 0), 0.1 * kernel);
    double lambda = s * differ / (explained * variance);
    if (lambda / w->lambda >= 2 || lambda / w->lambda <= 0.5) w->lambda = lambda;
    const sa_companion *companion = policy->estimator.companion;
    double share = 1;
    if (companion)
        share = companion->numbers.network / (companion->numbers.network + companion->numbers.linear);
    assert_float_equal(policy->deviation / sqrt(s * share), 1, 1e-9);
    assert_float_equal(policy->lambda / w->lambda, 1, 1e-9);
}

/* cn-ucb's scores are estimate + gamma unit width, without a companion (test_learn_companion.c has those with
 * one), and gamma grows with the arms for each place. */
static void check_scores(const witness *w, const sa_agent *agent, const sa_decision *decision, double gamma) {
    size_t slate = sa_decision_slate(decision);
    double s = fmax(w->error, 1e-4 * variance_of(w)), unit = unit_of(s, 1, w->count, slate);
    double factor = sqrt(log(1 + ARMS / (double)slate) / log(6));
    if (agent->learner->policy->estimator.companion || w->count < 4 * (double)slate) return;
    for (size_t k = 0; k < slate; k++)
        assert_float_equal(sa_decision_scores(decision)[k],
                           sa_decision_estimates(decision)[k] +
                               gamma * factor * unit * sa_decision_widths(decision)[k],
                           1e-9 * unit * sa_decision_widths(decision)[k]);
}

/* Of slates of one arm too: what all gradients have in common is found across decisions. */
static void s_and_lambda_come_from_feedback(void **state) {
    (void)state;
    static const char *const kinds[] = {"companion=true", "companion=false",
                                        "companion=false confidence=sketch sketch-size=40"};
    for (size_t i = 0; i < 12; i++) {
        char text[200];
        double noise = i % 6 < 3 ? 0.1 : 3;
        size_t slate = i < 6 ? SLATE : 1;
        snprintf(text, sizeof text, "precision=double train-every=1 gamma=2 %s", kinds[i % 3]);
        sa_agent *agent = rig_create(text);
        sa_decision *decision = NULL;
        witness w = {.lambda = 1};
        for (uint64_t id = 0; id < 90; id++) {
            double scores[SLATE];
            rig_select(agent, id, ARMS, slate, &decision);
            check_scores(&w, agent, decision, 2);
            take(&w, agent, decision, id, noise, slate, scores);
            assert_ok(sa_agent_update(agent, id, scores, NULL, slate));
            check(&w, agent);
        }
        assert_true(slate == 1 || w.lambda != 1);
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
    }
}

/* One slate of ARMS arms with `dim` features, and its feedback: a score an arm, or their total. Returns K. */
static size_t answer(sa_agent *agent, uint64_t id, size_t dim, bool total) {
    static double contexts[ARMS * MOST];
    double scores[SLATE], sum = 0;
    size_t slate = total ? 2 + id % 3 : SLATE;
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    for (size_t i = 0; i < ARMS * dim; i++) contexts[i] = rig_number(id, i);
    sa_request_contexts(request, contexts, ARMS);
    sa_request_slate(request, slate);
    assert_ok(sa_agent_select(agent, request, &decision));
    for (size_t k = 0; k < slate; k++) {
        const double *x = contexts + sa_decision_arms(decision)[k] * dim;
        scores[k] = 3 + x[0] - 0.5 * x[1] + 0.5 * rig_number(id, 3000000 + k);
        sum += scores[k];
    }
    assert_ok(sa_agent_update(agent, id, total ? &sum : scores, NULL, total ? 1 : slate));
    sa_decision_destroy(decision);
    sa_request_destroy(request);
    return slate;
}

/* How long a beginning is depends on features, up to 25 of them, and not on the network's units; and what is
 * forgotten is no reason to begin again: about 20 observations count under this discount, and n has all of
 * them. Where only totals are seen, a total is one observation, with the noise of its arms. */
static void a_beginning_ends(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t dim;
        bool total;
        double length; /* observations */
    } kinds[] = {{"hidden=6", 5, false, 10},
                 {"hidden=60", 5, false, 10},
                 {"hidden=6 discount=0.8", 5, false, 10},
                 {"hidden=60 discount=0.8", 5, false, 10},
                 {"hidden=6 dim=24", 24, false, 48},
                 {"hidden=6 dim=40", 40, false, 50},
                 {"hidden=6 feedback=total", 5, true, 10},
                 {"hidden=6 feedback=total dim=40", 40, true, 50}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char text[200];
        snprintf(text, sizeof text, "precision=double train-every=1 companion=false %s", kinds[i].text);
        sa_agent *agent = rig_create(text);
        double chosen = 0;
        for (uint64_t id = 0; id < 60; id++) {
            chosen += (double)answer(agent, id, kinds[i].dim, kinds[i].total);
            double told = (double)(id + 1), arms = kinds[i].total ? chosen / told : 1;
            double s = sqrt(arms * fmax(agent->learner->error, 1e-4 * agent->learner->posterior.variance));
            double early = kinds[i].length / (kinds[i].total ? told : chosen);
            if (id == 0 && kinds[i].total) continue; /* one total has no variance */
            assert_float_equal(agent->learner->policy->deviation / s, 1, 1e-9);
            assert_float_equal(agent->learner->policy->early / (s * early * early), 1, 1e-9);
        }
        sa_agent_destroy(agent);
    }
}

/* A slate of all of 8 arms, whose features are a million times as large in the first 250 decisions. */
static void answer_all(sa_agent *agent, uint64_t id) {
    enum { ALL = 8 };
    double contexts[ALL * RIG_DIM], scores[ALL], size = id < 250 ? 1e6 : 1;
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    for (size_t i = 0; i < ALL * RIG_DIM; i++) contexts[i] = size * rig_number(id, i);
    for (size_t k = 0; k < ALL; k++) scores[k] = rig_number(id, 3000000 + k);
    sa_request_contexts(request, contexts, ALL);
    sa_request_slate(request, ALL);
    assert_ok(sa_agent_select(agent, request, &decision));
    assert_ok(sa_agent_update(agent, id, scores, NULL, ALL));
    sa_decision_destroy(decision);
    sa_request_destroy(request);
}

/* At 4096 candidates their newer half shows that features have another unit, and all is learnt again from the
 * rows that were kept. n still has all feedback; where rows are gone, but for the newest slate. */
static void relearning_keeps_the_count(void **state) {
    (void)state;
    static const char *const kinds[] = {"keep-rows=0", "keep-rows=1000", "keep-rows=1000 window=20",
                                        "keep-rows=1000 discount=0.95"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char text[200];
        snprintf(text, sizeof text, "normalize=standard train-every=32 companion=false %s", kinds[i]);
        sa_agent *agent = rig_create(text);
        const sa_history *history = &agent->past.history;
        size_t changes = 0;
        for (uint64_t id = 0; id < 550; id++) {
            double before = agent->learner->relearnt, told = 8 * (double)(id + 1);
            answer_all(agent, id);
            double all = agent->learner->posterior.all;
            changes += agent->learner->relearnt != before;
            assert_true(all <= told && all >= told - (i > 0 && changes > 0 ? 8 : 0));
            if (changes == 1) assert_true(i > 0 ? history->gone_rows > 1000 : history->gone_rows == 0);
        }
        assert_int_equal(changes, 1);
        sa_agent_destroy(agent);
    }
}

/* Scores that are 7 times as large and 100 higher have a bonus that is 7 times as large. */
static void the_unit_is_that_of_scores(void **state) {
    (void)state;
    double deviation[2], lambda[2];
    for (int i = 0; i < 2; i++) {
        sa_agent *agent = rig_create("precision=double train-every=2");
        sa_decision *decision = NULL;
        for (uint64_t id = 0; id < 40; id++) {
            double scores[SLATE];
            rig_select(agent, id, ARMS, SLATE, &decision);
            for (size_t k = 0; k < SLATE; k++) {
                double score = score_of(id, sa_decision_arms(decision)[k], 0.5);
                scores[k] = i ? 100 + 7 * score : score;
            }
            assert_ok(sa_agent_update(agent, id, scores, NULL, SLATE));
        }
        deviation[i] = agent->learner->policy->deviation;
        lambda[i] = agent->learner->policy->lambda;
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
    }
    assert_float_equal(deviation[1] / deviation[0], 7, 1e-5);
    assert_float_equal(lambda[1] / lambda[0], 1, 1e-5);
}

/* Scores that are all the same say nothing; linear models, theory and `width` have the unit of the width. */
static void where_it_is_not_in_force(void **state) {
    (void)state;
    static const char *const texts[] = {"bonus=posterior",         "bonus=width",
                                        "algorithm=comblin-ucb",   "gamma=theory",
                                        "algorithm=neural-linear", "algorithm=greedy"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sa_agent *agent = rig_create(texts[i]);
        sa_decision *decision = NULL;
        for (uint64_t id = 0; id < 12; id++) {
            double same[SLATE] = {0.1, 0.1, 0.1, 0.1};
            rig_select(agent, id, ARMS, SLATE, &decision);
            if (i == 0)
                assert_ok(sa_agent_update(agent, id, same, NULL, SLATE));
            else
                rig_answer(agent, id, SLATE);
            assert_true(agent->learner->policy->deviation == 0);
        }
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
    }
}

/* Saved with another lambda than that of the options, in every engine. */
static void files_keep_it(void **state) {
    (void)state;
    static const char *const texts[] = {"confidence=exact",
                                        "confidence=sketch sketch-size=20",
                                        "confidence=auto",
                                        "confidence=diagonal",
                                        "confidence=last-layer",
                                        "confidence=exact",
                                        "window=20",
                                        "discount=0.95",
                                        "rebuild=true",
                                        "algorithm=cn-ts-d epoch-length=6"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sa_agent *agent = rig_create(texts[i]), *loaded = NULL;
        sa_decision *decision = NULL;
        for (uint64_t id = 0; id < 30; id++) {
            rig_select(agent, id, ARMS, SLATE, &decision);
            rig_answer(agent, id, SLATE);
        }
        assert_true(agent->learner->policy->deviation > 0 && agent->learner->policy->lambda != 1);
        assert_ok(sa_agent_save(agent, scratch("bonus.npz")));
        assert_ok(sa_agent_load(scratch("bonus.npz"), &loaded));
        assert_true(loaded->learner->policy->lambda == agent->learner->policy->lambda);
        rig_go_on_alike(agent, loaded, 30, 20);
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
        sa_agent_destroy(loaded);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(s_and_lambda_come_from_feedback), cmocka_unit_test(a_beginning_ends),
        cmocka_unit_test(relearning_keeps_the_count),      cmocka_unit_test(the_unit_is_that_of_scores),
        cmocka_unit_test(where_it_is_not_in_force),        cmocka_unit_test(files_keep_it),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
