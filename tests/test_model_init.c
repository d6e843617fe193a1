/* The first weights: symmetric as in Section 3.1 of the paper, or uniform. */
#define SA_REAL_BITS 64
#include "model/mlp.h"
#include "test_model_reference.h"

static double *first_weights(net_options wanted, sa_precision precision, int64_t seed, int64_t run) {
    net n = net_of(wanted);
    sa_options *options = options_of(wanted, precision);
    options->seed = seed;
    options->first_run = run;
    sa_model *model = model_of(options);
    double *theta = doubles(net_parameters(&n)), *now = doubles(net_parameters(&n));
    read_weights(&n, model, "initial_", theta);
    read_weights(&n, model, "", now);
    assert_memory_equal(theta, now, net_parameters(&n) * sizeof *theta);
    sa_model_destroy(model);
    sa_options_destroy(options);
    sa_free(now);
    return theta;
}

/* W_l = (W, 0; 0, W) for l < L, W_L = (w', -w'); biases and v are 0. */
static void symmetric_weights_have_their_blocks(void **state) {
    (void)state;
    for (size_t depth = 2; depth <= 4; depth++)
        for (int more = 0; more < 2; more++) {
            net_options wanted = {3, 6, depth, true, more, more, true};
            net n = net_of(wanted);
            double *theta = first_weights(wanted, SA_PRECISION_SINGLE, 1, 0);
            for (size_t l = 0; l + 1 < depth; l++) {
                size_t half = net_columns(&n, l) / 2;
                for (size_t i = 0; i < 3; i++)
                    for (size_t j = 0; j < half; j++) {
                        double w = theta[net_at(&n, l, i, j)];
                        assert_true(w != 0);
                        assert_true(theta[net_at(&n, l, 3 + i, half + j)] == w);
                        assert_true(theta[net_at(&n, l, i, half + j)] == 0);
                        assert_true(theta[net_at(&n, l, 3 + i, j)] == 0);
                    }
                for (size_t i = 0; more && i < 6; i++) assert_true(theta[net_at(&n, l, i, 2 * half)] == 0);
            }
            for (size_t j = 0; j < 3; j++) {
                double w = theta[net_at(&n, depth - 1, 0, j)];
                assert_true(w != 0 && theta[net_at(&n, depth - 1, 0, 3 + j)] == -w);
            }
            if (more) assert_true(theta[net_at(&n, depth - 1, 0, 6)] == 0);
            for (size_t j = 0; more && j < 6; j++) assert_true(theta[net_at(&n, depth, 0, j)] == 0);
            sa_free(theta);
        }
}

static void symmetric_network_scores_0(void **state) {
    (void)state;
    enum { ARMS = 100, DIM = 20 };
    double largest[2] = {0, 0}, mean[ARMS];
    double *x = random_doubles(ARMS * DIM);
    float narrow[ARMS * DIM];
    for (size_t i = 0; i < ARMS * DIM; i++) narrow[i] = (float)x[i];
    for (size_t depth = 2; depth <= 4; depth++)
        for (int precision = 0; precision < 2; precision++) {
            sa_options *options = options_of((net_options){.dim = DIM,
                                                           .hidden = 50,
                                                           .depth = depth,
                                                           .root_m = true,
                                                           .bias = true,
                                                           .bypass = true,
                                                           .symmetric = true},
                                             (sa_precision)precision);
            sa_model *model = model_of(options);
            assert_ok(evaluate(model, precision ? (void *)x : narrow, ARMS, mean, NULL));
            for (size_t i = 0; i < ARMS; i++) largest[precision] = fmax(largest[precision], fabs(mean[i]));
            sa_model_destroy(model);
            sa_options_destroy(options);
        }
    print_message("largest |f(x; theta_0)|: single %.1e, double %.1e\n", largest[0], largest[1]);
    assert_true(largest[0] < 1e-4 && largest[1] < 1e-13);
    sa_free(x);
}

/* The sample variance of n normals is within 4.5 of its deviations sqrt(2/n), and the mean within 4.5 of
 * 1/sqrt(n), of what they should be. A correct program fails one such check with probability 7e-6; there are
 * 10. */
static void check_moments(size_t count, const double *values, double variance) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < count; i++) mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++) square += (values[i] - mean) * (values[i] - mean) / (double)count;
    assert_near(mean, 0, 4.5 * sqrt(variance / (double)count));
    assert_near(square / variance, 1, 4.5 * sqrt(2 / (double)count));
}

/* Entries of W have the variance 4/m, those of w 2/m. */
static void symmetric_weights_have_their_variances(void **state) {
    (void)state;
    static const net_options shapes[] = {
        {NET_WIDEST / 2, 200, 3, true, false, false, true},
        {.dim = 20, .hidden = 1000, .depth = 2, .bias = true, .symmetric = true}};
    for (size_t s = 0; s < 2; s++) {
        net n = net_of(shapes[s]);
        double *theta = first_weights(shapes[s], SA_PRECISION_DOUBLE, 1, 0), m = (double)n.hidden;
        for (size_t l = 0; l < n.depth; l++) {
            bool last = l + 1 == n.depth;
            size_t rows = last ? 1 : n.hidden / 2, columns = net_columns(&n, l) / 2;
            double *entries = doubles(rows * columns);
            for (size_t i = 0; i < rows * columns; i++)
                entries[i] = theta[net_at(&n, l, i / columns, i % columns)];
            check_moments(rows * columns, entries, (last ? 2 : 4) / m);
            sa_free(entries);
        }
        sa_free(theta);
    }
}

/* Uniform on +-1/sqrt(fan-in), the bias not counted as an input: within the bounds; near both of them (10,000
 * draws leave an empty gap of 0.2% of the interval at one end with probability 2e-9); variance bound^2 / 3
 * (deviation of the sample variance sqrt(4/5/n) of it; 4.5 of them: 7e-6). */
static void uniform_weights_keep_their_bounds(void **state) {
    (void)state;
    net_options wanted = {.dim = 16, .hidden = 100, .depth = 3, .bias = true, .bypass = true};
    net n = net_of(wanted);
    double *theta = first_weights(wanted, SA_PRECISION_DOUBLE, 1, 0);
    for (size_t l = 0; l < 3; l++) {
        size_t columns = net_columns(&n, l) + 1, count = net_rows(&n, l) * columns;
        double bound = 1 / sqrt((double)net_columns(&n, l)), least = 1, most = -1, square = 0;
        for (size_t i = 0; i < count; i++) {
            double w = theta[net_at(&n, l, 0, 0) + i];
            least = fmin(least, w);
            most = fmax(most, w);
            square += w * w / (double)count;
        }
        assert_true(least >= -bound && most <= bound);
        if (l == 1) assert_true(least < -0.996 * bound && most > 0.996 * bound);
        assert_near(square / (bound * bound / 3), 1, 4.5 * sqrt(0.8 / (double)count));
    }
    for (size_t j = 0; j < 16; j++) assert_true(theta[net_at(&n, 3, 0, j)] == 0);
    sa_free(theta);
}

/* Seed and run decide, and nothing else; single precision rounds the same draws. */
static void weights_follow_seed_and_run(void **state) {
    (void)state;
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        net_options wanted = {4, 10, 3, true, true, false, symmetric};
        net n = net_of(wanted);
        size_t bytes = net_parameters(&n) * sizeof(double);
        double *first = first_weights(wanted, SA_PRECISION_DOUBLE, 7, 2),
               *again = first_weights(wanted, SA_PRECISION_DOUBLE, 7, 2),
               *seed = first_weights(wanted, SA_PRECISION_DOUBLE, 8, 2),
               *run = first_weights(wanted, SA_PRECISION_DOUBLE, 7, 3),
               *single = first_weights(wanted, SA_PRECISION_SINGLE, 7, 2);
        assert_memory_equal(first, again, bytes);
        assert_true(relative_error(net_parameters(&n), seed, first) > 0.1);
        assert_true(relative_error(net_parameters(&n), run, first) > 0.1);
        for (size_t i = 0; i < net_parameters(&n); i++) assert_true(single[i] == (double)(float)first[i]);
        sa_free(first);
        sa_free(again);
        sa_free(seed);
        sa_free(run);
        sa_free(single);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symmetric_weights_have_their_blocks),
        cmocka_unit_test(symmetric_network_scores_0),
        cmocka_unit_test(symmetric_weights_have_their_variances),
        cmocka_unit_test(uniform_weights_keep_their_bounds),
        cmocka_unit_test(weights_follow_seed_and_run),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
