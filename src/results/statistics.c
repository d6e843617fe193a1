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
#include "results/statistics.h"

#include <math.h>
#include <string.h>

#include "base/functions.h"

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

/* NaN: there is none. */
static double total_of(const sa_agent_runs *agent, size_t column) {
    const sa_column *about = &sa_columns[column];
    double total = 0;
    for (size_t i = 0; i < agent->runs; i++) {
        bool whole = about->kind <= SA_KIND_OF_BYTES;
        double number = whole ? (double)agent->run[i].whole[column] : agent->run[i].number[column];
        if (about->over == SA_OVER_LARGEST)
            total = number > total ? number : total;
        else
            total += about->over == SA_OVER_MEAN ? number / (double)agent->runs : number;
    }
    return about->kind == SA_KIND_OF_FACTOR && total == 0 ? NAN : total;
}

sa_totals sa_agent_totals(const sa_agent_runs *agent) {
    sa_totals totals = {.alike = sa_runs_alike((const double *const *)agent->curve, SA_CURVE_COUNT,
                                               agent->runs, agent->rounds)};
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
        if (agent->curve[kind] && agent->runs > 0)
            totals.final[kind] =
                sa_final_mean(agent->curve[kind], totals.alike ? 1 : agent->runs, agent->rounds);
    for (size_t k = 0; k < SA_COLUMN_COUNT; k++) totals.column[k] = total_of(agent, k);
    return totals;
}
