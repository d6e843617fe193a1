/* All the numbers for one set of contexts. One (n, n) array serves twice: the lower triangle becomes the
 * Cholesky factor of I + H / lambda, the upper one keeps H. */
#define SA_REAL_BITS 64

#include <math.h>

#include "base/functions.h"
#include "base/memory.h"
#include "linalg/factors.h"
#include "options/parts.h"
#include "theory/bounds.h"
#include "theory/ntk.h"
#include "theory/settings.h"
#include "theory/spectrum.h"
#include <superarm/theory.h>

/* ---- input ---- */

/* The kernel matrix and little else must fit. */
static sa_status check_fits(size_t count, size_t dim) {
    size_t available = sa_memory_available();
    double needed = 8.0 * (double)count * ((double)count + (double)dim);
    if (available == 0 || needed <= (double)available) return SA_OK;
    double half = (double)dim / 2, most = floor(sqrt(half * half + (double)available / 8) - half);
    return sa_fail(
        SA_INVALID,
        "the kernel matrix of %zu contexts needs %.3g GB and %.3g GB are free: %.0f contexts would fit",
        count, needed / 1e9, (double)available / 1e9, most);
}

static sa_status check(const double *contexts, size_t count, size_t dim, size_t depth, const double *scores) {
    if (!contexts || count == 0 || dim == 0) return sa_fail(SA_INVALID, "theory needs at least one context");
    if (depth < 2) return sa_fail(SA_INVALID, "--depth %zu is less than 2", depth);
    for (size_t i = 0; i < count; i++) {
        double squares = 0;
        for (size_t k = 0; k < dim; k++) squares += contexts[i * dim + k] * contexts[i * dim + k];
        if (!isfinite(squares * (double)depth))
            return sa_fail(SA_INVALID, "context %zu is not finite, or too large for its square to be", i);
        if (scores && !isfinite(scores[i])) return sa_fail(SA_INVALID, "score %zu is %g", i, scores[i]);
    }
    return SA_OK;
}

sa_status sa_theory_ntk(const double *contexts, size_t count, size_t dim, size_t depth, double *kernel) {
    if (!kernel) return sa_fail(SA_INVALID, "sa_theory_ntk needs a place for the kernel");
    SA_TRY(check(contexts, count, dim, depth, NULL));
    return sa_ntk_fill(contexts, count, dim, depth, kernel);
}

/* ---- the kernel's numbers ---- */

/* Where H is singular, the 1 of I + H / lambda has to be more than the rounding of H / lambda. */
static sa_status check_lambda(const double *diagonal, size_t count, double lambda) {
    double largest = 0;
    for (size_t i = 0; i < count; i++) largest = fmax(largest, diagonal[i]);
    double rounding = sa_spectrum_rounding(count, largest);
    if (lambda > rounding) return SA_OK;
    return sa_fail(SA_INVALID,
                   "--lambda %g is lost to rounding beside a singular kernel matrix: %g would not be", lambda,
                   10 * rounding);
}

/* Turns the lower triangle and the diagonal into the factor of I + H / lambda. */
static sa_status find_log_det(double *kernel, size_t count, double lambda, double *log_det) {
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j <= i; j++) kernel[i * count + j] /= lambda;
        kernel[i * count + i] += 1;
    }
    SA_TRY(cholesky_f64(count, kernel, count));
    *log_det = 0;
    for (size_t i = 0; i < count; i++) *log_det += 2 * sa_log(kernel[i * count + i]);
    return SA_OK;
}

static void find_lengths(const double *contexts, size_t count, size_t dim, sa_theory_numbers *numbers) {
    numbers->shortest = INFINITY;
    for (size_t i = 0; i < count; i++) {
        double squares = 0;
        for (size_t k = 0; k < dim; k++) squares += contexts[i * dim + k] * contexts[i * dim + k];
        numbers->shortest = fmin(numbers->shortest, sqrt(squares));
        numbers->longest = fmax(numbers->longest, sqrt(squares));
    }
}

static sa_status find_kernel_numbers(const sa_options *options, const double *contexts, size_t count,
                                     size_t dim, const double *scores, sa_theory_numbers *numbers) {
    double *kernel = NULL, *diagonal = NULL, lambda = options->regularization;
    sa_spectrum spectrum;
    sa_status status;
    SA_TRY_OR_FAIL(sa_alloc_matrix(count, count, sizeof *kernel, &kernel));
    SA_TRY_OR_FAIL(sa_alloc_array(count, sizeof *diagonal, &diagonal));
    SA_TRY_OR_FAIL(sa_ntk_fill(contexts, count, dim, (size_t)options->depth, kernel));
    for (size_t i = 0; i < count; i++) diagonal[i] = kernel[i * count + i];
    sa_status factored = find_log_det(kernel, count, lambda, &numbers->log_det);
    if (factored == SA_INVALID) SA_TRY_OR_FAIL(check_lambda(diagonal, count, lambda)); /* a better sentence */
    SA_TRY_OR_FAIL(factored);
    numbers->effective_dimension = numbers->log_det / sa_log1p((double)count / lambda);
    for (size_t i = 0; i < count; i++) kernel[i * count + i] = diagonal[i];
    SA_TRY_OR_FAIL(sa_spectrum_find(kernel, count, scores, &spectrum));
    numbers->rank = spectrum.rank;
    numbers->singular = spectrum.rank < count;
    if (numbers->singular) SA_TRY_OR_FAIL(check_lambda(diagonal, count, lambda));
    numbers->smallest_eigenvalue = spectrum.smallest;
    numbers->norm = spectrum.norm;
fail:
    sa_free(diagonal);
    sa_free(kernel);
    return status;
}

/* ---- what follows from them ---- */

static void find_settings(const sa_horizon *horizon, sa_theory_numbers *numbers) {
    double log_width = sa_setting_log_width(horizon, numbers->smallest_eigenvalue);
    numbers->samples = sa_setting_samples(horizon->slate);
    numbers->eta = sa_setting_eta(horizon);
    numbers->steps = sa_setting_steps(horizon);
    numbers->steps_ts = sa_setting_steps_ts(horizon);
    numbers->smallest_lambda = sa_setting_lambda(horizon);
    numbers->smallest_width = ceil(sa_exp(log_width));
    numbers->log10_smallest_width = log_width / sa_log(10);
}

/* log(det Z_T / det lambda I) is at most log det(I + H / lambda) + 1 (Lemma 8, and Gamma_2 for the
 * gradients' drift). */
static void find_bounds(const sa_options *options, const sa_horizon *horizon, sa_theory_numbers *numbers) {
    sa_bounds bounds = sa_options_bounds(options), of_theorem;
    bounds.norm_bound = numbers->norm_bound;
    of_theorem = bounds;
    of_theorem.delta = 1 / horizon->rounds;
    double log_det = numbers->log_det + 1, n = horizon->rounds * horizon->slate;
    double eta_m_lambda = numbers->eta * horizon->hidden * horizon->lambda;
    double rest = sa_bound_rest(eta_m_lambda, numbers->steps),
           rest_ts = sa_bound_rest(eta_m_lambda, numbers->steps_ts);
    numbers->nu = sa_bound_nu(&of_theorem, numbers->log_det);
    numbers->gamma = sa_bound_gamma(&bounds, n, log_det, rest);
    numbers->error = sa_bound_error(&bounds, n, sa_bound_gamma(&bounds, n - horizon->slate, log_det, rest));
    numbers->epsilon = sa_bound_epsilon(&bounds, n, sa_bound_nu(&bounds, numbers->log_det), rest_ts);
}

sa_status sa_theory_compute(const sa_options *options, const double *contexts, size_t count, size_t dim,
                            const double *scores, sa_theory_numbers *numbers) {
    if (!options || !numbers)
        return sa_fail(SA_INVALID, "sa_theory_compute needs options and a place for the numbers");
    sa_horizon horizon = {.rounds = (double)options->rounds,
                          .slate = (double)options->slate,
                          .contexts = (double)count,
                          .depth = (double)options->depth,
                          .hidden = (double)options->hidden,
                          .lambda = options->regularization,
                          .delta = options->delta};
    sa_theory_numbers found = {
        .contexts = count, .dim = dim, .rounds = horizon.rounds, .slate = horizon.slate};
    SA_TRY(check(contexts, count, dim, (size_t)options->depth, scores));
    if ((size_t)options->slate > count)
        return sa_fail(SA_INVALID, "--slate %lld is more than the %zu contexts", (long long)options->slate,
                       count);
    SA_TRY(check_fits(count, dim));
    find_lengths(contexts, count, dim, &found);
    SA_TRY(find_kernel_numbers(options, contexts, count, dim, scores, &found));
    bool known = scores && !sa_options_given(options, "norm-bound");
    found.norm_bound = known ? found.norm : options->norm_bound;
    find_settings(&horizon, &found);
    find_bounds(options, &horizon, &found);
    *numbers = found;
    return SA_OK;
}
