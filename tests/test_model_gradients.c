/* Factored gradients are the derivative of the score: against central differences, and against written-out
 * ones. */
#define SA_REAL_BITS 64
#include "model/gradients_real.h"
#include "model/mlp.h"
#include "test_model_reference.h"

enum { DIM = 5, HIDDEN = 8 };

typedef struct setting {
    net n;
    sa_model *model;
    mlp_f64 *mlp;
    double *theta; /* the weights, as net_at has them */
} setting;

/* The model's weights are these. */
static void put_weights(const setting *s) {
    for (size_t l = 0; l < s->model->pairs; l++) {
        size_t offset = mlp_offset_f64(s->mlp, l);
        sa_pair_shape shape = s->model->shape[l];
        mlp_transpose_f64(s->theta + offset, shape.delta, shape.input, s->mlp->theta + offset);
    }
}

static setting setting_of(net_options wanted) {
    sa_options *options = options_of(wanted, SA_PRECISION_DOUBLE);
    setting s = {.n = net_of(wanted), .model = model_of(options)};
    s.mlp = (mlp_f64 *)s.model;
    /* away from theta_0, so that biases, v and the zero blocks matter */
    s.theta = doubles(s.mlp->parameters);
    read_weights(&s.n, s.model, "", s.theta);
    for (size_t i = 0; i < s.mlp->parameters; i++) s.theta[i] += 0.5 * uniform();
    put_weights(&s);
    sa_options_destroy(options);
    return s;
}

static sa_gradients gradients_of(const setting *s, const double *x, size_t count) {
    sa_gradients batch;
    double *mean = doubles(count);
    assert_ok(sa_gradients_init(&batch, SA_PRECISION_DOUBLE, s->model->pairs, s->model->shape));
    assert_ok(evaluate(s->model, x, count, mean, &batch));
    assert_int_equal(batch.count, count);
    sa_free(mean);
    return batch;
}

/* A ReLU unit has no derivative where z = 0: inputs have all |z| > 1e-3. Between kinks the score is linear in
 * any one weight, so a central difference has no error but that of rounding. */
static void away_from_kinks(const setting *s, double *x) {
    do
        for (size_t j = 0; j < DIM; j++) x[j] = uniform();
    while (net_forward(&s->n, s->theta, x).nearest_kink < 1e-3);
}

/* Parameter i of theta is number i of the written-out gradient. */
static double difference_error(const setting *s) {
    const double step = 1e-5;
    size_t p = s->mlp->parameters;
    double x[DIM], *written = doubles(p), *difference = doubles(p);
    away_from_kinks(s, x);
    sa_gradients batch = gradients_of(s, x, 1);
    assert_int_equal(sa_gradients_parameters(&batch), p);
    gradients_write_out_f64(&batch, 0, written);
    for (size_t i = 0; i < p; i++) {
        double kept = s->theta[i], up, down;
        s->theta[i] = kept + step;
        put_weights(s);
        assert_ok(evaluate(s->model, x, 1, &up, NULL));
        s->theta[i] = kept - step;
        put_weights(s);
        assert_ok(evaluate(s->model, x, 1, &down, NULL));
        s->theta[i] = kept;
        difference[i] = (up - down) / (2 * step) / sqrt(HIDDEN);
    }
    put_weights(s);
    double error = relative_error(p, written, difference);
    sa_gradients_clear(&batch);
    sa_free(written);
    sa_free(difference);
    return error;
}

static void gradients_equal_central_differences(void **state) {
    (void)state;
    for (size_t depth = 2; depth <= 4; depth++) {
        double largest = 0;
        for (unsigned bits = 0; bits < 16; bits++) {
            setting s = setting_of((net_options){DIM, HIDDEN, depth, bits & 1, bits & 2, bits & 4, bits & 8});
            for (int repeat = 0; repeat < 5; repeat++) largest = fmax(largest, difference_error(&s));
            sa_model_destroy(s.model);
            sa_free(s.theta);
        }
        print_message("L = %zu: gradient against central differences, relative error %.1e\n", depth, largest);
        assert_true(largest < 1e-6);
    }
}

/* The plain-loop gradient that the tests of training rely on says the same. */
static void gradients_equal_plain_loops(void **state) {
    (void)state;
    enum { ARMS = 600 }; /* more than one chunk */
    for (size_t depth = 2; depth <= 4; depth++)
        for (unsigned bits = 0; bits < 16; bits++) {
            setting s = setting_of((net_options){DIM, HIDDEN, depth, bits & 1, bits & 2, bits & 4, bits & 8});
            size_t p = s.mlp->parameters;
            double *x = random_doubles(ARMS * DIM), *written = doubles(p), *expected = doubles(p);
            sa_gradients batch = gradients_of(&s, x, ARMS);
            for (size_t i = 0; i < ARMS; i++) {
                net_pass pass = net_forward(&s.n, s.theta, x + i * DIM);
                memset(expected, 0, p * sizeof *expected);
                net_add_gradient(&s.n, s.theta, &pass, 1 / sqrt(HIDDEN), expected);
                gradients_write_out_f64(&batch, i, written);
                assert_true(relative_error(p, written, expected) < 1e-13);
            }
            sa_gradients_clear(&batch);
            sa_model_destroy(s.model);
            sa_free(s.theta);
            sa_free(x);
            sa_free(written);
            sa_free(expected);
        }
}

static double *write_out_all(const sa_gradients *batch, size_t p) {
    double *out = doubles(batch->count * p);
    for (size_t i = 0; i < batch->count; i++) gradients_write_out_f64(batch, i, out + i * p);
    return out;
}

/* Also between gradients of two networks, more rows than are taken at a time, and the padding that is set to
 * 0. */
static void factored_inner_products_equal_dense_ones(void **state) {
    (void)state;
    enum { LEFT = 300, RIGHT = 13, LD = 16 };
    for (unsigned bits = 0; bits < 8; bits++) {
        net_options wanted = {DIM, HIDDEN, 2 + bits % 3, true, bits & 1, bits & 2, bits & 4};
        setting s = setting_of(wanted), other = setting_of(wanted);
        size_t p = s.mlp->parameters;
        double *x = random_doubles(LEFT * DIM);
        sa_gradients left = gradients_of(&s, x, LEFT), right = gradients_of(&other, x, RIGHT);
        double *a = write_out_all(&left, p), *b = write_out_all(&right, p), *expected = doubles(LEFT * LD),
               *inner = random_doubles(LEFT * LD), *work = doubles(2 * SA_INNER_ROWS * SA_INNER_COLUMNS);
        gradients_inner_f64(&left, &right, inner, LD, work);
        for (size_t i = 0; i < LEFT; i++)
            for (size_t j = 0; j < LD; j++) {
                for (size_t k = 0; k < p && j < RIGHT; k++)
                    expected[i * LD + j] += a[i * p + k] * b[j * p + k];
                if (j >= RIGHT)
                    assert_true(inner[i * LD + j] == 0);
                else
                    assert_near(gradients_dot_f64(&left, i, &right, j), expected[i * LD + j], 1e-12);
            }
        assert_true(relative_error(LEFT * LD, inner, expected) < 1e-13);
        sa_gradients_clear(&left);
        sa_gradients_clear(&right);
        sa_model_destroy(s.model);
        sa_free(s.theta);
        sa_model_destroy(other.model);
        sa_free(other.theta);
        sa_free(x);
        sa_free(a);
        sa_free(b);
        sa_free(expected);
        sa_free(inner);
        sa_free(work);
    }
}

/* Appending picks rows and converts. */
static void batches_keep_what_they_are_given(void **state) {
    (void)state;
    setting s = setting_of((net_options){
        .dim = DIM, .hidden = HIDDEN, .depth = 3, .root_m = true, .bias = true, .bypass = true});
    size_t p = s.mlp->parameters;
    static const size_t rows[] = {4, 0, 4};
    double *x = random_doubles(6 * DIM), *a = doubles(p), *b = doubles(p);
    sa_gradients batch = gradients_of(&s, x, 6), single, back;
    assert_ok(sa_gradients_init_like(&single, SA_PRECISION_SINGLE, &batch));
    assert_ok(sa_gradients_init_like(&back, SA_PRECISION_DOUBLE, &batch));
    for (int twice = 0; twice < 2; twice++) { /* grows a batch that holds something */
        assert_ok(sa_gradients_reserve(&single, single.count + 3));
        sa_gradients_append(&single, &batch, rows, 3);
    }
    assert_ok(sa_gradients_reserve(&back, 6));
    sa_gradients_append(&back, &single, NULL, 6);
    for (size_t i = 0; i < 6; i++) {
        gradients_write_out_f64(&back, i, a);
        gradients_write_out_f64(&batch, rows[i % 3], b);
        double error = relative_error(p, a, b);
        assert_true(error > 0 && error < 2e-7);
    }
    gradients_write_out_f64(&back, 4, b);
    assert_int_equal(sa_gradients_length(&batch), (8 + 6) + (8 + 9) + (1 + 9) + (1 + 5));
    assert_int_equal(p, 8 * 6 + 8 * 9 + 9 + 5);
    assert_int_equal(sa_gradients_reserve(&back, SIZE_MAX / 16), SA_OUT_OF_MEMORY);
    gradients_write_out_f64(&back, 4, a);
    assert_memory_equal(a, b, p * sizeof *a);
    sa_gradients_clear(&batch);
    sa_gradients_clear(&single);
    sa_gradients_clear(&back);
    sa_gradients_clear(&back);
    sa_model_destroy(s.model);
    sa_free(s.theta);
    sa_free(x);
    sa_free(a);
    sa_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_equal_central_differences),
        cmocka_unit_test(gradients_equal_plain_loops),
        cmocka_unit_test(factored_inner_products_equal_dense_ones),
        cmocka_unit_test(batches_keep_what_they_are_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
