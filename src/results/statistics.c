/* Means over runs and Student's 95% interval: mean +- t sd / sqrt(R), t the 0.975 quantile with nu = R - 1
 * degrees of freedom.
 *
 * For integer nu, with theta = atan(t / sqrt(nu)), P(|T| <= t) is a finite sum (Abramowitz and Stegun
 * 26.7.3 and 26.7.4):
 *
 * nu odd:  2/pi (theta + sin theta (cos theta + 2/3 cos^3 theta + ... + (2 4 ... (nu-3)) / (3 5 ... (nu-2))
 *       cos^(nu-2) theta))
 *   nu even: sin theta (1 + 1/2 cos^2 theta + ... + (1 3 ... (nu-3)) / (2 4 ... (nu-2)) cos^(nu-2) theta)
 *
 * which is inverted by bisection. From nu = 200 on, the expansion in 1/nu (26.7.5) is exact to 1e-10. */
#include <math.h>
#include <string.h>

#include "base/functions.h"
#include "experiment/experiment.h"
#include "results/statistics.h"

static const double PI = 3.14159265358979323846;

static double probability_within(double t, unsigned nu) {
    double theta = sa_atan(t / sqrt(nu)), c = sa_cos(theta), s = sa_sin(theta), term, sum = 0;
    unsigned k = nu % 2 ? 1 : 0; /* the power of the cosine */
    for (term = nu % 2 ? c : 1; k + 2 <= nu; k += 2) {
        sum += term;
        term *= c * c * (k + 1) / (k + 2);
    }
    return nu % 2 ? 2 / PI * (theta + s * sum) : s * sum;
}

double sa_student_quantile(size_t nu) {
    const double z = 1.959963984540054;
    if (nu >= 200) {
        double n = (double)nu, z3 = z * z * z, z5 = z3 * z * z;
        return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n);
    }
    double low = z, high = 13;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (probability_within(middle, (unsigned)nu) < 0.95)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

sa_mean sa_final_mean(const double *curves, size_t runs, size_t rounds) {
    double sum = 0, squares = 0, worst = -INFINITY;
    for (size_t run = 0; run < runs; run++) {
        sum += curves[(run + 1) * rounds - 1];
        worst = fmax(worst, curves[(run + 1) * rounds - 1]);
    }
    double mean = sum / (double)runs;
    if (runs == 1) return (sa_mean){mean, NAN, NAN, NAN, NAN}; /* nobody knows how it spreads */
    for (size_t run = 0; run < runs; run++) {
        double off = curves[(run + 1) * rounds - 1] - mean;
        squares += off * off;
    }
    double sd = sqrt(squares / (double)(runs - 1));
    double half = sa_student_quantile(runs - 1) * sd / sqrt((double)runs);
    return (sa_mean){mean, sd, mean - half, mean + half, worst};
}

/* Rows of (runs, rounds) that are all the same. */
static bool rows_alike(const double *curves, size_t runs, size_t rounds) {
    for (size_t run = 1; run < runs; run++)
        if (memcmp(curves, curves + run * rounds, rounds * sizeof *curves)) return false;
    return true;
}

bool sa_runs_alike(const double *const *curves, size_t count, size_t runs, size_t rounds) {
    bool alike = runs > 1;
    for (size_t i = 0; alike && i < count; i++) alike = !curves[i] || rows_alike(curves[i], runs, rounds);
    return alike;
}

sa_totals sa_totals_of(double *const *curve, const sa_run_stats *stats, size_t runs, size_t rounds) {
    sa_totals total = {.alike = sa_runs_alike((const double *const *)curve, SA_CURVE_COUNT, runs, rounds)};
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
        if (curve[kind] && runs > 0)
            total.final[kind] = sa_final_mean(curve[kind], total.alike ? 1 : runs, rounds);
    for (size_t run = 0; run < runs; run++) {
        const sa_run_stats *one = &stats[run];
        total.stats.seconds += one->seconds / (double)runs;
        total.stats.select_seconds += one->select_seconds / (double)runs;
        total.stats.update_seconds += one->update_seconds / (double)runs;
        total.stats.train_seconds += one->train_seconds / (double)runs;
        total.stats.replay_seconds += one->replay_seconds / (double)runs;
        if (one->peak_bytes > total.stats.peak_bytes) total.stats.peak_bytes = one->peak_bytes;
        total.stats.diverged_trainings += one->diverged_trainings;
        if (one->certificate > total.stats.certificate) total.stats.certificate = one->certificate;
        total.stats.unproven_rounds += one->unproven_rounds;
        for (int i = 0; i < SA_MIXTURE_COUNT; i++) {
            sa_mixture mixture = one->mixture;
            *sa_mixture_at(&total.stats.mixture, i) += *sa_mixture_at(&mixture, i) / (double)runs;
        }
    }
    return total;
}
