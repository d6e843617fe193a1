/* The kernel matrix and the effective dimension, against computations that share nothing with src/theory:
 *
 * - the ReLU expectations of Definition 1 by quadrature over one of the two Gaussians, the other integrated
 * by its own
 *   distribution function, and determinants and solutions by plain elimination in long double;
 * - gradients of wide random networks, whose inner products tend to the kernel. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rng/stream.h"
#include "test_file_scratch.h"
#include "test_parts.h"
#include <superarm/agent.h>
#include <superarm/theory.h>

typedef long double wide;

enum { CONTEXTS = 200, DIM = 6, DEEPEST = 4 };

static double contexts[CONTEXTS * DIM], scores[CONTEXTS];

static double normal(uint64_t purpose, uint64_t index) {
    sa_stream stream = sa_stream_at(4, SA_PURPOSE_CONTEXTS, 0, purpose);
    return sa_normal_quantile(sa_draw_uniform(&stream, index));
}

/* Of lengths between 1/2 and 2, as they come. */
static void draw_contexts(void) {
    for (size_t i = 0; i < CONTEXTS; i++) {
        double squares = 0, length = 0.5 + 1.5 * (double)i / CONTEXTS;
        for (size_t k = 0; k < DIM; k++) {
            double x = contexts[i * DIM + k] = normal(0, i * DIM + k);
            squares += x * x;
        }
        for (size_t k = 0; k < DIM; k++) contexts[i * DIM + k] *= length / sqrt(squares);
        scores[i] = sin(contexts[i * DIM]) + contexts[i * DIM + 1] * contexts[i * DIM + 2];
    }
}

static void near(const char *what, double value, double expected, double relative) {
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%s is %.17g, not %.17g within %g", what, value, expected, relative);
}

/* ---- the definition, by quadrature ---- */

/* Five-point Gauss-Legendre on 60 panels of [0, 12], for y > 0 alone: the ReLU and its derivative are 0
 * below. */
static const double NODE[5] = {-0.9061798459386639928, -0.5384693101056830910, 0, 0.5384693101056830910,
                               0.9061798459386639928};
static const double WEIGHT[5] = {0.2369268850561890875, 0.4786286704993664680, 0.5688888888888888889,
                                 0.4786286704993664680, 0.2369268850561890875};

/* For standard normals of correlation rho: 2 E[s(y) s(z)] and 2 E[s'(y) s'(z)]. Given y, z is normal with
 * mean rho y and deviation r = sqrt(1 - rho^2), so E[s(z)|y] = rho y P(z > 0) + r density(rho y / r). */
static void expectations(double rho, double *of_outputs, double *of_slopes) {
    const double root_2_pi = sqrt(2 * acos(-1.0)), r = sqrt(1 - rho * rho), step = 12.0 / 60;
    double outputs = 0, slopes = 0;
    for (int panel = 0; panel < 60; panel++)
        for (int k = 0; k < 5; k++) {
            double y = step * (panel + 0.5 + 0.5 * NODE[k]),
                   weight = 0.5 * step * WEIGHT[k] * exp(-y * y / 2) / root_2_pi;
            double ratio = rho * y / r, above = 0.5 * erfc(-ratio / sqrt(2));
            outputs += weight * y * (rho * y * above + r * exp(-ratio * ratio / 2) / root_2_pi);
            slopes += weight * above;
        }
    *of_outputs = 2 * outputs;
    *of_slopes = 2 * slopes;
}

/* H_ij for depths 2 to DEEPEST. */
static void defined_kernel(const double *x, const double *y, double kernel[DEEPEST + 1]) {
    double xx = 0, yy = 0, xy = 0;
    for (size_t k = 0; k < DIM; k++) {
        xx += x[k] * x[k];
        yy += y[k] * y[k];
        xy += x[k] * y[k];
    }
    double sigma = xy, tangent = xy, scale = sqrt(xx * yy), outputs,
           slopes; /* Sigma_ii stays xx: 2 E[s(y)^2] = xx */
    for (int depth = 2; depth <= DEEPEST; depth++) {
        if (x == y) {
            outputs = slopes = 1;
        } else {
            expectations(sigma / scale, &outputs, &slopes);
        }
        sigma = scale * outputs;
        tangent = tangent * slopes + sigma;
        kernel[depth] = (tangent + sigma) / 2;
    }
}

static double (*defined)[CONTEXTS][CONTEXTS]; /* by depth */

static void define_kernels(void) {
    defined = calloc(DEEPEST + 1, sizeof *defined);
    assert_non_null(defined);
    for (size_t i = 0; i < CONTEXTS; i++)
        for (size_t j = 0; j <= i; j++) {
            double kernel[DEEPEST + 1];
            defined_kernel(contexts + i * DIM, contexts + j * DIM, kernel);
            for (int depth = 2; depth <= DEEPEST; depth++)
                defined[depth][i][j] = defined[depth][j][i] = kernel[depth];
        }
}

static int set_up(void **state) {
    (void)state;
    draw_contexts();
    define_kernels();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    free(defined);
    return 0;
}

/* ---- plain elimination ---- */

/* Of the leading n rows of A + shift I: log det, how many pivots are negative, and x = (A + shift I)^-1 x. */
static wide eliminate(double a[CONTEXTS][CONTEXTS], size_t n, wide divide, wide shift, size_t *negative,
                      wide *x) {
    static wide m[CONTEXTS][CONTEXTS];
    wide log_det = 0;
    *negative = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) m[i][j] = a[i][j] / divide + (i == j ? shift : 0);
    for (size_t k = 0; k < n; k++) {
        *negative += m[k][k] < 0;
        log_det += logl(fabsl(m[k][k]));
        for (size_t i = k + 1; i < n; i++) {
            wide factor = m[i][k] / m[k][k];
            for (size_t j = k + 1; j < n; j++) m[i][j] -= factor * m[k][j];
            if (x) x[i] -= factor * x[k];
        }
    }
    for (size_t k = n; x && k-- > 0;) {
        for (size_t j = k + 1; j < n; j++) x[k] -= m[k][j] * x[j];
        x[k] /= m[k][k];
    }
    return log_det;
}

static sa_options *options_of(int depth, double lambda) {
    sa_options *options = sa_options_new("paper");
    char text[40];
    assert_non_null(options);
    snprintf(text, sizeof text, "%d", depth);
    assert_ok(sa_options_set_any(options, "depth", text));
    snprintf(text, sizeof text, "%.17g", lambda);
    assert_ok(sa_options_set_any(options, "lambda", text));
    return options;
}

static sa_theory_numbers compute(int depth, double lambda, const double *x, size_t count, size_t dim,
                                 const double *h) {
    sa_theory_numbers numbers;
    sa_options *options = options_of(depth, lambda);
    assert_ok(sa_options_set_any(options, "slate", "1"));
    assert_ok(sa_theory_compute(options, x, count, dim, h, &numbers));
    sa_options_destroy(options);
    return numbers;
}

static void kernels_are_the_definition(void **state) {
    (void)state;
    static double kernel[CONTEXTS * CONTEXTS];
    for (int depth = 2; depth <= DEEPEST; depth++) {
        assert_ok(sa_theory_ntk(contexts, CONTEXTS, DIM, (size_t)depth, kernel));
        for (size_t i = 0; i < CONTEXTS; i++)
            for (size_t j = 0; j < CONTEXTS; j++) {
                double expected = defined[depth][i][j],
                       scale = sqrt(defined[depth][i][i] * defined[depth][j][j]);
                if (!(fabs(kernel[i * CONTEXTS + j] - expected) <=
                      1e-10 * scale)) /* the quadrature, near opposite contexts */
                    fail_msg("depth %d, (%zu, %zu): %.17g, not %.17g", depth, i, j, kernel[i * CONTEXTS + j],
                             expected);
            }
    }
}

static void effective_dimensions_are_the_definition(void **state) {
    (void)state;
    static const double lambdas[] = {0.25, 1, 30};
    double worst = 0;
    size_t negative;
    for (int depth = 2; depth <= DEEPEST; depth++)
        for (size_t l = 0; l < 3; l++) {
            sa_theory_numbers numbers = compute(depth, lambdas[l], contexts, CONTEXTS, DIM, NULL);
            double log_det = (double)eliminate(defined[depth], CONTEXTS, lambdas[l], 1, &negative, NULL);
            double dimension = log_det / log(1 + CONTEXTS / lambdas[l]);
            near("log det", numbers.log_det, log_det, 1e-8);
            near("effective dimension", numbers.effective_dimension, dimension, 1e-8);
            worst = fmax(worst, fabs(numbers.effective_dimension / dimension - 1));
            assert_true(isnan(numbers.norm) && !numbers.singular && numbers.rank == CONTEXTS);
        }
    print_message("largest relative error of the effective dimension: %.2g\n", worst);
}

/* S by elimination; lambda_0 by the number of negative pivots of H - x I, which is that of eigenvalues below
 * x. */
static void norms_and_smallest_eigenvalues(void **state) {
    (void)state;
    for (int depth = 2; depth <= DEEPEST; depth++) {
        wide x[CONTEXTS], sum = 0, low = 0, high = 1;
        size_t negative;
        for (size_t i = 0; i < CONTEXTS; i++) x[i] = scores[i];
        eliminate(defined[depth], CONTEXTS, 1, 0, &negative, x);
        for (size_t i = 0; i < CONTEXTS; i++) sum += x[i] * scores[i];
        sa_theory_numbers numbers = compute(depth, 1, contexts, CONTEXTS, DIM, scores);
        near("S", numbers.norm, (double)sqrtl(2 * sum), 1e-8);
        near("B", numbers.norm_bound, numbers.norm, 0);
        for (int i = 0; i < 26; i++) {
            wide middle = (low + high) / 2;
            eliminate(defined[depth], CONTEXTS, 1, -middle, &negative, NULL);
            *(negative ? &high : &low) = middle;
        }
        near("lambda_0", numbers.smallest_eigenvalue, (double)high, 1e-6);
    }
}

/* ---- special pairs ---- */

static void opposite_parallel_and_empty_contexts(void **state) {
    (void)state;
    const double x[5][2] = {{0.6, 0.8}, {-0.6, -0.8}, {1.8, 2.4}, {0, 0}, {-0.8, 0.6}};
    double kernel[25];
    for (size_t depth = 2; depth <= 5; depth++) {
        assert_ok(sa_theory_ntk(&x[0][0], 5, 2, depth, kernel));
        double own =
            ((double)depth + 1) / 2; /* H~(L) = L and Sigma(L) = 1 on the diagonal of unit contexts */
        near("a context with itself", kernel[0], own, 1e-15);
        near("with three times itself", kernel[2], 3 * own, 1e-15);
        near("three times it", kernel[12], 9 * own, 1e-15);
        for (size_t i = 0; i < 5; i++) assert_true(kernel[15 + i] == 0 && kernel[5 * i + 3] == 0);
    }
    assert_ok(sa_theory_ntk(&x[0][0], 5, 2, 2, kernel));
    assert_true(fabs(kernel[1]) < 1e-15);                      /* units that see one do not see the other */
    near("at right angles", kernel[4], 1 / acos(-1.0), 1e-15); /* k1(0) = 1 / pi, and H~ - k1 is 0 */
}

/* The angle depends on the root of 1 - cos: contexts 1e-6 apart need all digits of it. */
static void contexts_that_nearly_repeat(void **state) {
    (void)state;
    const wide pi = acosl(-1);
    for (wide angle = 1e-2L; angle > 1e-12L; angle /= 10) {
        double x[2][2] = {{1, 0}, {(double)cosl(angle), (double)sinl(angle)}}, kernel[4];
        wide a = atan2l(x[1][1], x[1][0]), sigma = (sinl(a) + (pi - a) * cosl(a)) / pi;
        wide tangent = cosl(a) * (pi - a) / pi + sigma;
        assert_ok(sa_theory_ntk(&x[0][0], 2, 2, 2, kernel));
        if (!(fabsl(kernel[1] - (tangent + sigma) / 2) < 4e-16L)) fail_msg("at %Lg: %.17g", angle, kernel[1]);
    }
}

/* ---- contexts that repeat ---- */

static void repeated_contexts_are_said(void **state) {
    (void)state;
    enum { DISTINCT = 20, ALL = 32 };
    double x[ALL][DIM], h[ALL];
    for (size_t i = 0; i < ALL; i++) {
        memcpy(x[i], contexts + i % DISTINCT * DIM, sizeof x[i]);
        h[i] = scores[i % DISTINCT];
    }
    sa_theory_numbers once = compute(3, 1, &x[0][0], DISTINCT, DIM, h),
                      again = compute(3, 1, &x[0][0], ALL, DIM, h);
    assert_true(!once.singular && again.singular && again.rank == DISTINCT);
    near("S", again.norm, once.norm, 1e-9);
    near("lambda_0", again.smallest_eigenvalue, once.smallest_eigenvalue, 1e-9);
    assert_true(again.log_det > once.log_det);
    h[ALL - 1] += 0.5;
    again = compute(3, 1, &x[0][0], ALL, DIM, h);
    assert_true(isinf(again.norm) && isinf(again.nu));
    double one = 0;
    again = compute(2, 1, &one, 1, 1, NULL); /* nothing but the context 0 */
    assert_true(again.singular && again.rank == 0 && again.log_det == 0);
}

/* ---- wide networks ---- */

/* z_l = W_l h_(l-1), f = sqrt(m) W_L h_(L-1), with W_l from N(0, 2 / m) and W_L from N(0, 1 / m). Adds <g(x),
 * g(y)> / m. */
static double network_kernel(const double *x, const double *y, size_t depth, size_t m, uint64_t seed) {
    const double *in[2] = {x, y};
    double *weights[8], *hidden[2][8], *delta[2], kernel = 0;
    for (size_t l = 0; l < depth; l++) {
        size_t columns = l ? m : DIM, rows = l + 1 < depth ? m : 1;
        weights[l] = malloc(rows * columns * sizeof(double));
        for (size_t i = 0; i < rows * columns; i++)
            weights[l][i] = normal(1000 * seed + l, i) * sqrt((l + 1 < depth ? 2.0 : 1.0) / (double)m);
        for (int side = 0; side < 2; side++) {
            hidden[side][l] = malloc(rows * sizeof(double));
            const double *from = l ? hidden[side][l - 1] : in[side];
            for (size_t r = 0; r < rows; r++) {
                double sum = 0;
                for (size_t c = 0; c < columns; c++) sum += weights[l][r * columns + c] * from[c];
                hidden[side][l][r] = l + 1 < depth ? fmax(sum, 0) : sum;
            }
        }
    }
    for (int side = 0; side < 2; side++) {
        delta[side] = calloc(m, sizeof(double));
        delta[side][0] = sqrt((double)m);
    }
    for (size_t l = depth; l-- > 0;) {
        size_t columns = l ? m : DIM, rows = l + 1 < depth ? m : 1;
        double deltas = 0, inputs = 0;
        for (size_t r = 0; r < rows; r++) deltas += delta[0][r] * delta[1][r];
        for (size_t c = 0; c < columns; c++)
            inputs += (l ? hidden[0][l - 1] : x)[c] * (l ? hidden[1][l - 1] : y)[c];
        kernel += deltas * inputs / (double)m;
        for (int side = 0; side < 2 && l > 0; side++) {
            double *back = calloc(m, sizeof(double));
            for (size_t r = 0; r < rows; r++)
                for (size_t c = 0; c < columns; c++)
                    if (hidden[side][l - 1][c] > 0) back[c] += delta[side][r] * weights[l][r * columns + c];
            free(delta[side]);
            delta[side] = back;
        }
    }
    for (size_t l = 0; l < depth; l++) {
        free(weights[l]);
        free(hidden[0][l]);
        free(hidden[1][l]);
    }
    free(delta[0]);
    free(delta[1]);
    return kernel;
}

/* Each hidden layer gives inner products of gradients a relative variance of some 5 / m, that of squares of
 * halved normals. The means below are allowed five deviations. */
static void gradients_of_wide_networks_tend_to_it(void **state) {
    (void)state;
    static const struct {
        size_t depth, hidden, networks;
        double share;
    } nets[] = {{2, 4000, 40, 0.03}, {3, 256, 80, 0.11}};
    for (size_t n = 0; n < 2; n++)
        for (size_t pair = 0; pair < 2; pair++) {
            size_t i = 60, j = pair ? 61 : 60; /* of lengths near 1 */
            double mean = 0;
            for (uint64_t seed = 1; seed <= nets[n].networks; seed++)
                mean += network_kernel(contexts + i * DIM, contexts + j * DIM, nets[n].depth, nets[n].hidden,
                                       seed);
            mean /= (double)nets[n].networks;
            double expected = defined[nets[n].depth][i][j], own = defined[nets[n].depth][i][i];
            print_message("depth %zu: %.4f of networks, %.4f of the kernel\n", nets[n].depth, mean, expected);
            assert_true(fabs(mean - expected) < nets[n].share * own);
        }
}

/* Section 3.1 draws W_L from N(0, 2 / m) where Definition 1's H goes with 1 / m: the paper's network has
 * H~(L) for its gradients, L on the diagonal for unit contexts where H has (L + 1) / 2. Relative deviation 1
 * / sqrt(2000), of 8 arms and 4 seeds. */
static void the_papers_network_has_the_kernel_before_the_mean(void **state) {
    (void)state;
    double mean = 0;
    for (int seed = 1; seed <= 4; seed++) {
        sa_options *options = sa_options_new("paper");
        char text[16];
        snprintf(text, sizeof text, "%d", seed);
        assert_ok(sa_options_set_any(options, "seed", text));
        assert_ok(sa_options_set_any(options, "dim", "6"));
        assert_ok(sa_options_set_any(options, "hidden", "2000"));
        assert_ok(sa_options_set_any(options, "widths", "all"));
        assert_ok(sa_options_set_any(options, "normalize", "unit"));
        sa_agent *agent = NULL;
        sa_decision *decision = NULL;
        sa_request *request = sa_request_new();
        assert_ok(sa_agent_create(options, &agent));
        sa_request_contexts(request, contexts, 8);
        sa_request_slate(request, 2);
        assert_ok(sa_agent_select(agent, request, &decision));
        for (size_t i = 0; i < 8; i++)
            mean += pow(sa_decision_all_widths(decision)[i], 2) / 32; /* lambda is 1 */
        sa_decision_destroy(decision);
        sa_request_destroy(request);
        sa_agent_destroy(agent);
        sa_options_destroy(options);
    }
    near("|g|^2 / m", mean, 2, 0.05);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_the_definition),
        cmocka_unit_test(effective_dimensions_are_the_definition),
        cmocka_unit_test(norms_and_smallest_eigenvalues),
        cmocka_unit_test(opposite_parallel_and_empty_contexts),
        cmocka_unit_test(contexts_that_nearly_repeat),
        cmocka_unit_test(repeated_contexts_are_said),
        cmocka_unit_test(gradients_of_wide_networks_tend_to_it),
        cmocka_unit_test(the_papers_network_has_the_kernel_before_the_mean),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
