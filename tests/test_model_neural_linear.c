/* neural-linear by itself: with discounts, with positions, and after forgetting, against a ridge regression
 * written out on the network's features, which come from the plain network of test_model_reference.h. */
#include "test_confidence_reference.h"
#include "test_parts.h"

enum { DIM = 4, HIDDEN = 6, COUNT = 300 }; /* more than are taken at a time (256) */

static const net_options shape = {.dim = DIM, .hidden = HIDDEN, .depth = 2, .bypass = true};

typedef struct ridge {
    dense d;
    double *b;
} ridge;

/* phi (HIDDEN + inputs): the gradient's part for the last layer and the bypass, over sqrt(m) */
static void features(const net *n, const double *theta, const double *x, double *phi) {
    net_pass pass = net_forward(n, theta, x);
    for (size_t j = 0; j < HIDDEN; j++) phi[j] = pass.h[1][j] / sqrt(HIDDEN);
    for (size_t j = 0; j < n->inputs; j++) phi[HIDDEN + j] = x[j] / sqrt(HIDDEN);
}

static void take_in(ridge *r, const double *phi, double psi, double y) {
    for (size_t i = 0; i < r->d.p; i++) {
        r->b[i] += psi * phi[i] * y;
        for (size_t j = 0; j <= i; j++) r->d.z[i * r->d.p + j] += psi * psi * phi[i] * phi[j];
    }
}

static void solve(ridge *r, double *beta) {
    size_t p = r->d.p;
    const double *l = r->d.factor;
    dense_factor(&r->d);
    memcpy(beta, r->b, p * sizeof *beta);
    for (size_t i = 0; i < p; i++) {
        for (size_t j = 0; j < i; j++) beta[i] -= l[i * p + j] * beta[j];
        beta[i] /= l[i * p + i];
    }
    for (size_t i = p; i-- > 0;) {
        beta[i] /= l[i * p + i];
        for (size_t j = 0; j < i; j++) beta[j] -= l[i * p + j] * beta[i];
    }
}

static void check(bool discounted, size_t positions) {
    sa_options *options = options_of(shape, SA_PRECISION_DOUBLE);
    options->regularization = 0.3;
    options->slate = (int64_t)positions;
    if (positions) options->feedback = SA_FEEDBACK_POSITION;
    sa_model *model = NULL;
    sa_model_settings settings = sa_options_model(options);
    settings.bypass = true;
    assert_ok(sa_model_create("neural-linear", &settings, &model));
    net n = net_of(shape);
    n.inputs = n.dim = DIM + positions;
    size_t dim = n.dim, p = HIDDEN + dim;
    assert_int_equal(model->dim, dim);
    double *theta = doubles(net_parameters(&n)), *x = random_doubles(COUNT * dim), *y = random_doubles(COUNT);
    double *psi = random_doubles(COUNT), *phi = doubles(p), *beta = doubles(p), *mean = doubles(COUNT);
    ridge r = {.d = dense_of(p, 0.3), .b = doubles(p)};
    for (size_t i = 0; i < COUNT; i++) psi[i] = i % 7 ? fabs(psi[i]) : 0;
    for (size_t i = 0; i < COUNT && positions; i++)
        for (size_t k = 0; k < positions; k++) x[i * dim + DIM + k] = i % positions == k;
    read_weights(&n, model, "", theta);
    for (int again = 0; again < 2; again++) { /* forgotten and learnt again, it is the same */
        model->kind->observing->forget(model);
        observe(model, x, discounted ? psi : NULL, y, COUNT);
    }
    for (size_t i = 0; i < COUNT; i++) {
        features(&n, theta, x + i * dim, phi);
        take_in(&r, phi, discounted ? psi[i] : 1, y[i]);
    }
    solve(&r, beta);
    assert_ok(evaluate(model, x, COUNT, mean, NULL));
    for (size_t i = 0; i < COUNT; i++) {
        double expected = 0;
        features(&n, theta, x + i * dim, phi);
        for (size_t j = 0; j < p; j++) expected += phi[j] * beta[j];
        assert_near(mean[i], expected, 1e-9);
    }
    if (positions) { /* all places of some arms at once */
        double bare[5 * DIM], placed[5 * 3];
        for (size_t i = 0; i < 5; i++) memcpy(bare + i * DIM, x + i * positions * dim, DIM * sizeof(double));
        assert_ok(evaluate_in(model, bare, 5, positions, placed, NULL));
        for (size_t i = 0; i < 5; i++)
            for (size_t k = 0; k < positions; k++) {
                double whole[DIM + 3] = {0}, expected = 0;
                memcpy(whole, bare + i * DIM, DIM * sizeof(double));
                whole[DIM + k] = 1;
                features(&n, theta, whole, phi);
                for (size_t j = 0; j < p; j++) expected += phi[j] * beta[j];
                assert_near(placed[i * positions + k], expected, 1e-9);
            }
    }
    double *blocks[] = {theta, x, y, psi, phi, beta, mean, r.b};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sa_free(blocks[i]);
    dense_clear(&r.d);
    sa_model_destroy(model);
    sa_options_destroy(options);
}

static void it_is_a_regression(void **state) {
    (void)state;
    check(false, 0);
}

static void discounts_weigh_features(void **state) {
    (void)state;
    check(true, 0);
}

static void positions_are_features(void **state) {
    (void)state;
    check(false, 3);
    check(true, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_a_regression),
        cmocka_unit_test(discounts_weigh_features),
        cmocka_unit_test(positions_are_features),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
