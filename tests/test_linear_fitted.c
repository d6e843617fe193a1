/* The fitted linear model against Gaussian processes written out: with K = X X' / lambda, X with the constant
 * 10, the targets are N(0, s^2 (I + K)). All by dense n x n matrices, which share nothing with the model. */
#include "model/model.h"
#include "test_agent_rig.h"
#include "test_parts.h"

enum { DIM = 3, MOST = 60 };

typedef struct data {
    size_t count;
    double x[MOST * DIM], t[MOST];
} data;

static data make_data(size_t count, double noise, double shift) {
    data made = {.count = count};
    for (size_t i = 0; i < count; i++) {
        made.t[i] = shift + noise * rig_number(900, i);
        for (size_t j = 0; j < DIM; j++) {
            made.x[i * DIM + j] = 0.6 * rig_number(i, j);
            made.t[i] += (double)(j + 1) * made.x[i * DIM + j];
        }
    }
    return made;
}

static double kernel(const double *x, const double *y, double lambda) {
    double sum = 100;
    for (size_t j = 0; j < DIM; j++) sum += x[j] * y[j];
    return sum / lambda;
}

/* solution (n) of (I + K) solution = right (n), by Gaussian elimination; returns log det(I + K) */
static double solve(const data *of, double lambda, const double *right, double *solution) {
    static double a[MOST][MOST + 1];
    size_t n = of->count;
    double log_det = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) a[i][j] = kernel(of->x + i * DIM, of->x + j * DIM, lambda) + (i == j);
        a[i][n] = right[i];
    }
    for (size_t i = 0; i < n; i++) {
        log_det += log(a[i][i]);
        for (size_t k = i + 1; k < n; k++) {
            double factor = a[k][i] / a[i][i];
            for (size_t j = i; j <= n; j++) a[k][j] -= factor * a[i][j];
        }
    }
    for (size_t i = n; i-- > 0;) {
        solution[i] = a[i][n];
        for (size_t j = i + 1; j < n; j++) solution[i] -= a[i][j] * solution[j];
        solution[i] /= a[i][i];
    }
    return log_det;
}

static double evidence(const data *of, double lambda, double *s) {
    double alpha[MOST], squares = 0, log_det = solve(of, lambda, of->t, alpha);
    for (size_t i = 0; i < of->count; i++) squares += of->t[i] * alpha[i];
    *s = sqrt(squares / (double)of->count);
    return -0.5 * (double)of->count * log(squares / (double)of->count) - 0.5 * log_det -
           log(lambda) * log(lambda) / 18;
}

/* Posterior mean and deviation of f(x). */
static void predict(const data *of, double lambda, double s, const double *x, double *mean,
                    double *deviation) {
    double k[MOST], alpha[MOST], beta[MOST], rest = kernel(x, x, lambda);
    for (size_t i = 0; i < of->count; i++) k[i] = kernel(of->x + i * DIM, x, lambda);
    solve(of, lambda, of->t, alpha);
    solve(of, lambda, k, beta);
    *mean = 0;
    for (size_t i = 0; i < of->count; i++) {
        *mean += k[i] * alpha[i];
        rest -= k[i] * beta[i];
    }
    *deviation = s * sqrt(rest);
}

static sa_model *create(void) {
    sa_model *model = NULL;
    sa_options *options = sa_options_new("tuned");
    assert_ok(sa_options_set(options, "dim", "3"));
    assert_ok(sa_options_set(options, "algorithm", "comblin-ucb"));
    assert_ok(sa_model_create("linear", MODEL_OF(options), &model));
    sa_options_destroy(options);
    return model;
}

/* Trains on all, and reads lambda off the gradient: [x, 10] / sqrt(lambda). */
static double fit(sa_model *model, const data *of, double *s) {
    const double x[DIM] = {0, 0, 0};
    sa_training training = {
        .count = of->count, .total = (double)of->count, .all = {.inputs = of->x, .targets = of->t}};
    sa_model_work work = {0};
    sa_gradients gradients;
    bool diverged = true;
    double mean;
    assert_ok(model->kind->training->train(model, &training, &work, &diverged));
    assert_false(diverged);
    *s = model->kind->training->unit(model);
    assert_ok(sa_gradients_init(&gradients, model->precision, model->pairs, model->shape));
    assert_ok(model->kind->evaluate(model, x, 1, 0, &work, &mean, &gradients));
    double constant = ((double *)gradients.pair[0].input)[DIM];
    sa_gradients_clear(&gradients);
    sa_model_work_clear(&work);
    return 100 / (constant * constant);
}

static void lambda_and_noise_are_the_most_likely(void **state) {
    (void)state;
    static const double noises[] = {0.01, 0.3, 3, 30}, shifts[] = {0, 5};
    static const size_t counts[] = {4, 12, 60};
    double largest = 0, least = INFINITY;
    for (size_t a = 0; a < 4; a++)
        for (size_t b = 0; b < 2; b++)
            for (size_t c = 0; c < 3; c++) {
                data of = make_data(counts[c], noises[a], shifts[b]);
                sa_model *model = create();
                double s, wanted, other, lambda = fit(model, &of, &s), best = evidence(&of, lambda, &wanted);
                assert_true(fabs(s - wanted) <= 1e-7 * wanted);
                assert_true(evidence(&of, 2 * lambda, &other) <= best + 1e-7);
                assert_true(evidence(&of, lambda / 2, &other) <= best + 1e-7);
                largest = fmax(largest, lambda);
                least = fmin(least, lambda);
                sa_model_destroy(model);
            }
    assert_true(largest >= 8 && least <= 0.01); /* else nothing was asked of it */
}

/* ---- agents ---- */

/* Asks for one arm at a time, so that what is observed is known, and then for estimates and widths. */
static void estimates_and_bonuses_are_posterior(void **state) {
    (void)state;
    data of = make_data(40, 0.5, 100);
    sa_agent *agent = rig_create("algorithm=comblin-ucb dim=3 normalize=none gamma=2 widths=all");
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    sa_request_slate(request, 1);
    for (size_t i = 0; i < of.count; i++) {
        sa_request_contexts(request, of.x + i * DIM, 1);
        assert_ok(sa_agent_select(agent, request, &decision));
        assert_ok(sa_agent_update(agent, sa_decision_id(decision), &of.t[i], NULL, 1));
    }
    assert_ok(sa_agent_train(agent)); /* not due by its own count, so that nothing changes */
    assert_true(rig_counts(agent).hidden == 0 && rig_counts(agent).trainings > 10);
    sa_request_contexts(request, (double[]){0.3, -0.2, 0.5, 0, 0, 0, 2, 2, 2}, 3);
    assert_ok(sa_agent_select(agent, request, &decision));
    /* the unit is that of the last training, which was at most a tenth of the observations ago */
    const double *mean = sa_decision_all_estimates(decision), *score = sa_decision_all_scores(decision);
    const double at[3][DIM] = {{0.3, -0.2, 0.5}, {0, 0, 0}, {2, 2, 2}};
    data centred = of;
    double sum = 0, s, best = -INFINITY, lambda = 0;
    for (size_t i = 0; i < of.count; i++) sum += of.t[i] / (double)of.count;
    for (size_t i = 0; i < of.count; i++) centred.t[i] -= sum;
    for (double tried = 1e-4; tried < 1e4; tried *= 2)
        if (evidence(&centred, tried, &s) > best) {
            best = evidence(&centred, tried, &s);
            lambda = tried;
        }
    evidence(&centred, lambda, &s);
    for (size_t i = 0; i < 3; i++) {
        double m, deviation;
        predict(&centred, lambda, s, at[i], &m, &deviation);
        assert_true(fabs(mean[i] - (sum + m)) < 0.1 * deviation);
        if (!(fabs((score[i] - mean[i]) / (2 * deviation) - 1) < 0.15))
            fail_msg("arm %zu: a bonus of %g, not about %g", i, score[i] - mean[i], 2 * deviation);
    }
    sa_decision_destroy(decision);
    sa_request_destroy(request);
    sa_agent_destroy(agent);
}

/* The same slates for v and for 100 + 8 v: the unit and the centre are the scores' own. */
static void scores_in_any_unit_give_the_same_slates(void **state) {
    (void)state;
    enum { ARMS = 8, SLATE = 2, ROUNDS = 120 };
    static const char *const names[] = {"comblin-ucb", "comblin-ts"};
    for (size_t a = 0; a < 2; a++) {
        char text[100];
        snprintf(text, sizeof text, "algorithm=%s dim=3", names[a]);
        sa_agent *agents[2] = {rig_create(text), rig_create(text)};
        sa_request *request = sa_request_new();
        sa_decision *decision[2] = {NULL, NULL};
        double contexts[ARMS * DIM], scores[SLATE];
        for (uint64_t t = 0; t < ROUNDS; t++) {
            for (size_t i = 0; i < ARMS * DIM; i++) contexts[i] = rig_number(t, i);
            sa_request_contexts(request, contexts, ARMS);
            sa_request_slate(request, SLATE);
            for (size_t k = 0; k < 2; k++) assert_ok(sa_agent_select(agents[k], request, &decision[k]));
            assert_memory_equal(sa_decision_arms(decision[0]), sa_decision_arms(decision[1]),
                                SLATE * sizeof(size_t));
            for (size_t k = 0; k < 2; k++) {
                for (size_t i = 0; i < SLATE; i++) {
                    const double *x = contexts + sa_decision_arms(decision[0])[i] * DIM;
                    double v = x[0] - x[1] / 2 + 0.25 * rig_number(t + 500, i);
                    scores[i] = k ? 100 + 8 * v : v;
                }
                assert_ok(sa_agent_update(agents[k], t, scores, NULL, SLATE));
            }
        }
        for (size_t k = 0; k < 2; k++) {
            sa_decision_destroy(decision[k]);
            sa_agent_destroy(agents[k]);
        }
        sa_request_destroy(request);
    }
}

/* Scores that are all the same have no unit; nothing fails. */
static void scores_without_a_spread_are_fine(void **state) {
    (void)state;
    sa_agent *agent = rig_create("algorithm=comblin-ts dim=3");
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    double contexts[5 * DIM];
    for (uint64_t t = 0; t < 30; t++) {
        for (size_t i = 0; i < 5 * DIM; i++) contexts[i] = rig_number(t, i);
        sa_request_contexts(request, contexts, 5);
        sa_request_slate(request, 2);
        assert_ok(sa_agent_select(agent, request, &decision));
        assert_ok(sa_agent_update(agent, t, (double[]){7, 7}, NULL, 2));
    }
    assert_true(fabs(sa_decision_estimates(decision)[0] - 7) < 1);
    assert_int_equal(rig_counts(agent).diverged_trainings, 0);
    sa_decision_destroy(decision);
    sa_request_destroy(request);
    sa_agent_destroy(agent);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lambda_and_noise_are_the_most_likely),
        cmocka_unit_test(estimates_and_bonuses_are_posterior),
        cmocka_unit_test(scores_in_any_unit_give_the_same_slates),
        cmocka_unit_test(scores_without_a_spread_are_fine),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
