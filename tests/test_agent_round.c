/* One round in order, against a network, a matrix Z and gradient descent written out here without any of the
 * library's numerics: f = W2 relu(W1 x), and g its gradient. */
#include "test_agent_rig.h"

#include "base/npy.h"

enum {
    M = 44, /* wide enough for the n x n side */
    P = M * RIG_DIM + M,
    ARMS = 7,
    SLATE = 2
};

#define PLAIN                                                                                                \
    "preset=icml23 widths=all precision=double hidden=44 optimizer=gd rate-decay=none train-batch=0 "

typedef struct network {
    double w1[M][RIG_DIM], w2[M];
} network;

/* The weights as they are now, from the agent's file. */
static network weights_of(const sa_agent *agent) {
    network net;
    sa_npz *archive;
    assert_ok(sa_agent_save(agent, scratch("weights.npz")));
    assert_ok(sa_npz_open(scratch("weights.npz"), &archive));
    assert_ok(sa_npz_read_into(archive, "W1", SA_FLOAT64, 2, (size_t[]){M, RIG_DIM}, net.w1));
    assert_ok(sa_npz_read_into(archive, "W2", SA_FLOAT64, 2, (size_t[]){1, M}, net.w2));
    sa_npz_close(archive);
    return net;
}

/* f(x), and d f / d (W1, W2) in g. */
static double forward(const network *net, const double *x, double g[P]) {
    double f = 0;
    for (int i = 0; i < M; i++) {
        double z = 0;
        for (int j = 0; j < RIG_DIM; j++) z += net->w1[i][j] * x[j];
        double h = z > 0 ? z : 0;
        f += net->w2[i] * h;
        for (int j = 0; j < RIG_DIM; j++) g[i * RIG_DIM + j] = z > 0 ? net->w2[i] * x[j] : 0;
        g[M * RIG_DIM + i] = h;
    }
    return f;
}

typedef struct square {
    double z[P][P];
} square;

static void matrix_start(square *matrix, double lambda) {
    memset(matrix, 0, sizeof *matrix);
    for (int i = 0; i < P; i++) matrix->z[i][i] = lambda;
}

static void matrix_count(square *matrix, const double g[P]) {
    for (int i = 0; i < P; i++)
        for (int j = 0; j < P; j++) matrix->z[i][j] += g[i] * g[j] / M;
}

/* sqrt(g' Z^-1 g / m) by elimination */
static double width_of(const square *matrix, const double g[P]) {
    double a[P][P + 1], x[P], sum = 0;
    for (int i = 0; i < P; i++) {
        memcpy(a[i], matrix->z[i], sizeof matrix->z[i]);
        a[i][P] = g[i];
    }
    for (int k = 0; k < P; k++)
        for (int i = k + 1; i < P; i++) {
            double factor = a[i][k] / a[k][k];
            for (int j = k; j <= P; j++) a[i][j] -= factor * a[k][j];
        }
    for (int i = P - 1; i >= 0; i--) {
        x[i] = a[i][P];
        for (int j = i + 1; j < P; j++) x[i] -= a[i][j] * x[j];
        x[i] /= a[i][i];
    }
    for (int i = 0; i < P; i++) sum += g[i] * x[i];
    return sqrt(sum / M);
}

static void assert_near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-9 * (1 + fabs(expected))))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* All means, widths and scores of a decision; the gradients of its slate go to `chosen`. */
static void check_decision(const sa_decision *decision, const network *net, const square *matrix,
                           const double *contexts, double centre, double scale, double gamma,
                           double chosen[SLATE][P]) {
    for (size_t i = 0; i < sa_decision_candidates(decision); i++) {
        double g[P], f = forward(net, contexts + i * RIG_DIM, g), width = width_of(matrix, g);
        assert_near(sa_decision_all_estimates(decision)[i], centre + scale * f);
        assert_near(sa_decision_all_widths(decision)[i], width);
        assert_near(sa_decision_all_scores(decision)[i], centre + scale * f + gamma * scale * width);
        for (size_t k = 0; k < SLATE; k++)
            if (sa_decision_arms(decision)[k] == i) memcpy(chosen[k], g, sizeof g);
    }
}

/* ---- Z ---- */

/* Answers come two rounds late and in part; the network is trained in between, so the gradients counted must
 * be those of the selection, of the observed arms only. */
static void z_has_the_selection_time_gradients_of_observed_arms(void **state) {
    (void)state;
    enum { ROUNDS = 14, LAG = 2 };
    static double chosen[ROUNDS][SLATE][P];
    sa_agent *agent = rig_create(PLAIN "regularization=0.5 gamma=0.7 train-every=2");
    sa_decision *decision = NULL;
    square z;
    uint64_t counted = 0;
    matrix_start(&z, 0.5);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        network net = weights_of(agent);
        assert_true(rig_select(agent, round, ARMS, SLATE, &decision) == round);
        check_decision(decision, &net, &z, rig_contexts(round), 0, 1, 0.7, chosen[round]);
        if (round < LAG) continue;
        uint64_t id = round - LAG;
        bool observed[SLATE] = {id % 3 != 1, id % 3 != 0};
        assert_ok(rig_try_answer(agent, id, SLATE, observed));
        for (int k = 0; k < SLATE; k++)
            if (observed[k]) {
                matrix_count(&z, chosen[id][k]);
                counted++;
            }
        assert_true(rig_counts(agent).counted == counted);
        assert_true(rig_counts(agent).observations == counted);
    }
    assert_true(rig_counts(agent).trainings == ROUNDS / 2 - 1);
    assert_false(rig_counts(agent).widths_from_primal);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* ---- training ---- */

static void training_is_due_by_decisions_answered_before(void **state) {
    (void)state;
    sa_agent *agent = rig_create("train-every=3");
    sa_decision *decision = NULL;
    for (uint64_t round = 0; round < 10; round++) {
        uint64_t id = rig_select(agent, round, ARMS, SLATE, &decision);
        /* in two parts: only the first makes it an answered decision */
        assert_ok(rig_try_answer(agent, id, SLATE, (bool[]){true, false}));
        assert_true(rig_counts(agent).trainings == round / 3 + 1);
        assert_ok(rig_try_answer(agent, id, SLATE, (bool[]){false, true}));
        assert_true(rig_counts(agent).trainings == round / 3 + 1);
        assert_true(rig_counts(agent).answered == round + 1);
    }
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

typedef struct sample {
    const double *x;
    double y;
} sample;

/* One step of gradient descent on 1/2 sum (f - y)^2 */
static network step(const network *before, const sample *samples, size_t count, double rate) {
    network after = *before;
    for (size_t s = 0; s < count; s++) {
        double g[P], residual = forward(before, samples[s].x, g) - samples[s].y;
        for (int i = 0; i < M; i++) {
            for (int j = 0; j < RIG_DIM; j++) after.w1[i][j] -= rate * residual * g[i * RIG_DIM + j];
            after.w2[i] -= rate * residual * g[M * RIG_DIM + i];
        }
    }
    return after;
}

static void assert_same_net(const network *a, const network *b) {
    for (int i = 0; i < M; i++) {
        assert_near(a->w2[i], b->w2[i]);
        for (int j = 0; j < RIG_DIM; j++) assert_near(a->w1[i][j], b->w1[i][j]);
    }
}

/* Every update trains one step; what it was trained on shows in the weights, centre and scale in the next
 * decision. */
static void check_training(size_t window, bool scaled) {
    enum { ROUNDS = 9 };
    static double contexts[ROUNDS * SLATE][RIG_DIM];
    double scores[ROUNDS * SLATE], centre = 0, scale = 1;
    char text[300];
    snprintf(text, sizeof text,
             PLAIN "train-every=1 train-steps=1 rate=0.02 gamma=0.3 train-window=%zu score-deviation=%d",
             window, scaled);
    sa_agent *agent = rig_create(text);
    sa_decision *decision = NULL;
    square z;
    matrix_start(&z, 1);
    network net = weights_of(agent);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        double chosen[SLATE][P], given[SLATE];
        uint64_t id = rig_select(agent, round, ARMS, SLATE, &decision);
        check_decision(decision, &net, &z, rig_contexts(round), centre, scale, 0.3, chosen);
        for (size_t k = 0; k < SLATE; k++) {
            size_t n = round * SLATE + k;
            memcpy(contexts[n], rig_contexts(round) + sa_decision_arms(decision)[k] * RIG_DIM,
                   sizeof contexts[n]);
            given[k] = scores[n] = 3 + 2 * rig_number(round, 77 + k);
            matrix_count(&z, chosen[k]);
        }
        assert_ok(sa_agent_update(agent, id, given, NULL, SLATE));
        size_t end = (round + 1) * SLATE, first = window && round + 1 > window ? end - window * SLATE : 0,
               count = end - first;
        double mean = 0, squares = 0;
        for (size_t n = first; n < end; n++) mean += scores[n] / (double)count;
        for (size_t n = first; n < end; n++) squares += (scores[n] - mean) * (scores[n] - mean);
        centre = scaled ? mean : 0;
        scale = scaled ? sqrt(squares / (double)count) : 1;
        sample samples[ROUNDS * SLATE];
        for (size_t n = first; n < end; n++)
            samples[n - first] = (sample){contexts[n], (scores[n] - centre) / scale};
        net = step(&net, samples, count, 0.02);
        network found = weights_of(agent);
        assert_same_net(&found, &net);
    }
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

static void training_takes_the_window(void **state) {
    (void)state;
    check_training(0, false);
    check_training(1, false);
    check_training(3, false);
    check_training(1000, false);
}

static void centre_and_scale_go_around_the_model(void **state) {
    (void)state;
    check_training(0, true);
    check_training(4, true);
}

static void equal_scores_have_no_scale(void **state) {
    (void)state;
    sa_agent *agent = rig_create("train-every=1 score-deviation=1");
    sa_decision *decision = NULL;
    for (uint64_t round = 0; round < 5; round++) {
        uint64_t id = rig_select(agent, round, ARMS, SLATE, &decision);
        assert_ok(sa_agent_update(agent, id, (double[]){2, 2}, NULL, SLATE));
    }
    rig_select(agent, 9, ARMS, SLATE, &decision);
    for (size_t i = 0; i < ARMS; i++) assert_true(fabs(sa_decision_all_estimates(decision)[i] - 2) < 2);
    assert_true(rig_counts(agent).diverged_trainings == 0);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* ---- trainings that go wrong ---- */

static void a_diverged_training_is_undone_and_counted(void **state) {
    (void)state;
    static const char *const precisions[] = {"single", "double"};
    for (int i = 0; i < 2; i++) {
        char text[256];
        snprintf(text, sizeof text, "precision=%s optimizer=gd rate=1e6 train-steps=100 train-every=1",
                 precisions[i]);
        sa_agent *agent = rig_create(text), *untrained = rig_create("train=manual");
        sa_decision *decision = NULL, *other = NULL;
        snprintf(text, sizeof text, "precision=%s train=manual", precisions[i]);
        sa_agent_destroy(untrained);
        untrained = rig_create(text);
        for (uint64_t round = 0; round < 6; round++) {
            uint64_t id = rig_select(agent, round, ARMS, SLATE, &decision);
            rig_select(untrained, round, ARMS, SLATE, &other);
            rig_assert_same_decision(decision,
                                     other); /* weights, centre and scale are as if nothing had been tried */
            rig_answer(agent, id, SLATE);
            rig_answer(untrained, id, SLATE);
            assert_true(rig_counts(agent).trainings == round + 1);
            assert_true(rig_counts(agent).diverged_trainings == round + 1);
        }
        assert_true(rig_counts(untrained).trainings == 0);
        sa_decision_destroy(decision);
        sa_decision_destroy(other);
        sa_agent_destroy(agent);
        sa_agent_destroy(untrained);
    }
}

/* Weights that are finite but give no finite score, or feedback so large that its mean or deviation is not
 * finite, are no end of the agent either. */
static void the_agent_outlives_any_training(void **state) {
    (void)state;
    static const char *const texts[] = {"optimizer=gd rate=1e6 train-steps=1",
                                        "optimizer=gd rate=1e6 train-steps=2",
                                        "optimizer=gd rate=1e6 train-steps=3",
                                        "optimizer=gd rate=1e4 train-steps=4",
                                        "precision=double optimizer=gd rate=1e6 train-steps=4",
                                        "precision=double optimizer=gd rate=1e6 train-steps=5",
                                        "precision=double optimizer=gd rate=1e6 train-steps=6",
                                        "optimizer=adam rate=1e6",
                                        "preset=paper hidden=6 rate=1e6 train-steps=2",
                                        "preset=paper hidden=6 rate=1e6 train-steps=3 depth=4"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[256];
        snprintf(text, sizeof text, "train-every=1 %s", texts[i]);
        sa_agent *agent = rig_create(text);
        sa_decision *decision = NULL;
        for (uint64_t round = 0; round < 6; round++) {
            if (rig_try_select(agent, round, ARMS, SLATE, &decision) != SA_OK)
                fail_msg("%s, round %llu: %s", texts[i], (unsigned long long)round, sa_last_error());
            rig_answer(agent, sa_decision_id(decision), SLATE);
        }
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
    }
}

static void the_agent_outlives_any_feedback(void **state) {
    (void)state;
    static const char *const texts[] = {"score-deviation=1",
                                        "score-deviation=0",
                                        "train-steps=0",
                                        "algorithm=comblin-ucb",
                                        "algorithm=comblin-ts",
                                        "algorithm=c2ucb",
                                        "algorithm=comblin-ts linear-form=published",
                                        "algorithm=cc-mab rounds=1 gamma=0",
                                        "algorithm=cc-mab",
                                        "algorithm=acc-ucb",
                                        "preset=paper algorithm=acc-ucb",
                                        "precision=double",
                                        "precision=double score-deviation=0 train-steps=0"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[256];
        snprintf(text, sizeof text, "train-every=1 %s", texts[i]);
        sa_agent *agent = rig_create(text);
        sa_decision *decision = NULL;
        for (uint64_t round = 0; round < 4; round++) {
            if (rig_try_select(agent, round, ARMS, SLATE, &decision) != SA_OK)
                fail_msg("%s, round %llu: %s", texts[i], (unsigned long long)round, sa_last_error());
            assert_ok(sa_agent_update(agent, round, (double[]){1.7e308, round % 2 ? 1.7e308 : -1.7e308}, NULL,
                                      SLATE));
        }
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(z_has_the_selection_time_gradients_of_observed_arms),
        cmocka_unit_test(training_is_due_by_decisions_answered_before),
        cmocka_unit_test(training_takes_the_window),
        cmocka_unit_test(centre_and_scale_go_around_the_model),
        cmocka_unit_test(equal_scores_have_no_scale),
        cmocka_unit_test(a_diverged_training_is_undone_and_counted),
        cmocka_unit_test(the_agent_outlives_any_training),
        cmocka_unit_test(the_agent_outlives_any_feedback),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
