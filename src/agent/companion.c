#include "agent/companion.h"

#include <math.h>
#include <string.h>

#include "agent/inputs_real.h"
#include "base/memory.h"
#define SA_REAL_BITS 64
#include "linalg/blas.h"

static const double EVIDENCE = 5;       /* nats that a regression must be worth */
static const double LATEST = 1000;      /* observations that predictions are judged by */
static const double FIRST_TRUST = 0.1;  /* b without evidence, */
static const double TRUST_WEIGHT = 5;   /* that counts as so many observations */
static const double LEAST_TRUST = 0.02; /* b at least, so that the network is never out of the race */
static const double BOLD = 300;         /* observations with full exploration */
static const double LUCK = 0.1;         /* of boldness, in the end */
static const double LAMBDA_STEP = 3;    /* of the climb */
static const double LEAST_LEFT = 1e-4;  /* share of variance: perfect fits are not infinitely likely */
static const double LEAST_LAMBDA = 0.01, MOST_LAMBDA = 1e4;

sa_status sa_companion_init(sa_companion *companion, size_t dim) {
    *companion = (sa_companion){.is = {.lambda = 1, .network = FIRST_TRUST, .boldness = 1, .luck = 1}};
    if (dim > SA_COMPANION_MOST) return SA_OK;
    SA_TRY(sa_alloc_array(dim, sizeof(double), &companion->input_mean));
    SA_TRY(sa_alloc_array(dim, sizeof(double), &companion->input_score));
    SA_TRY(sa_alloc_matrix(dim, dim, sizeof(double), &companion->gram));
    SA_TRY(sa_alloc_array(dim, sizeof(double), &companion->theta));
    SA_TRY(sa_alloc_array(dim, sizeof(double), &companion->scratch));
    SA_TRY(sa_alloc_matrix(dim, dim, sizeof(double), &companion->factor));
    companion->dim = dim;
    return SA_OK;
}

void sa_companion_clear(sa_companion *companion) {
    sa_free(companion->input_mean);
    sa_free(companion->input_score);
    sa_free(companion->gram);
    sa_free(companion->theta);
    sa_free(companion->scratch);
    sa_free(companion->factor);
    *companion = (sa_companion){0};
}

/* r(x) */
static double regression(const sa_companion *companion, const double *input) {
    double sum = companion->is.score_mean;
    for (size_t j = 0; j < companion->dim; j++) sum += companion->theta[j] * (input[j] - companion->input_mean[j]);
    return sum;
}

double sa_companion_mix(const sa_companion *companion, const double *input, double network) {
    return companion->is.intercept + companion->is.linear * regression(companion, input) + companion->is.network * network;
}

void sa_companion_mix_rows(const sa_companion *companion, sa_precision precision, const void *inputs, size_t count,
                           double *mean) {
    enum { ROWS = 64 };
    double sum[ROWS];
    const sa_companion_numbers *is = &companion->is;
    size_t dim = companion->dim;
    for (size_t first = 0; first < count; first += ROWS) {
        size_t rows = count - first < ROWS ? count - first : ROWS;
        if (precision == SA_PRECISION_SINGLE)
            inputs_regress_f32((const float *)inputs + first * dim, rows, dim, is->score_mean, companion->theta,
                               companion->input_mean, sum);
        else
            inputs_regress_f64((const double *)inputs + first * dim, rows, dim, is->score_mean, companion->theta,
                               companion->input_mean, sum);
        for (size_t i = 0; i < rows; i++)
            mean[first + i] = is->intercept + is->linear * sum[i] + is->network * mean[first + i];
    }
}

/* ---- hearing ---- */

static void judge(sa_companion *companion, const sa_companion_case *heard) {
    double psi = heard->discount, reference = companion->is.reference, target = heard->score - psi * reference;
    double r = psi * (regression(companion, heard->input) - reference), f = psi * (heard->network - reference);
    const double terms[SA_COMPANION_MOMENTS] = {psi * psi, psi * r, psi * f,    psi * target, r * r,
                                                r * f,     f * f,   r * target, f * target,   target * target};
    for (int i = 0; i < SA_COMPANION_MOMENTS; i++)
        if (!isfinite(terms[i])) return; /* what overflows tells nothing */
    for (int i = 0; i < SA_COMPANION_MOMENTS; i++)
        companion->is.moments[i] = (1 - 1 / LATEST) * companion->is.moments[i] + terms[i];
}

/* Weighted means and deviations, one observation at a time (Welford, West). */
static void accumulate(sa_companion *companion, const double *input, double score, double weight) {
    size_t dim = companion->dim;
    double total = companion->is.weight + weight, share = weight / total, kept = weight * (1 - share);
    double *delta = companion->scratch, off = score - companion->is.score_mean;
    for (size_t j = 0; j < dim; j++) delta[j] = input[j] - companion->input_mean[j];
    for (size_t j = 0; j < dim; j++) {
        double *row = companion->gram + j * dim;
        for (size_t k = 0; k <= j; k++) row[k] += kept * delta[j] * delta[k];
        companion->input_score[j] += kept * delta[j] * off;
        companion->input_mean[j] += share * delta[j];
    }
    companion->is.score_square += kept * off * off;
    companion->is.score_mean += share * off;
    companion->is.weight = total;
    companion->is.count++;
}

void sa_companion_hear(sa_companion *companion, const sa_companion_case *heard) {
    double weight = heard->discount * heard->discount, score = heard->score / heard->discount;
    if (companion->dim == 0 || !(weight > 0) || !isfinite(score * score)) return;
    if (companion->is.count == 0 && companion->is.moments[0] == 0) companion->is.reference = score;
    if (heard->predicted) judge(companion, heard);
    accumulate(companion, heard->input, score, weight);
}

void sa_companion_discount(sa_companion *companion, double factor) {
    size_t dim = companion->dim;
    companion->is.count *= factor;
    companion->is.weight *= factor;
    companion->is.score_square *= factor;
    for (int i = 0; i < SA_COMPANION_MOMENTS; i++) companion->is.moments[i] *= factor;
    for (size_t j = 0; j < dim; j++) companion->input_score[j] *= factor;
    for (size_t j = 0; j < dim * dim; j++) companion->gram[j] *= factor;
}

void sa_companion_forget(sa_companion *companion) {
    size_t dim = companion->dim;
    if (dim == 0) return;
    companion->is.count = companion->is.weight = companion->is.score_mean = companion->is.score_square = 0;
    memset(companion->input_mean, 0, dim * sizeof *companion->input_mean);
    memset(companion->input_score, 0, dim * sizeof *companion->input_score);
    memset(companion->gram, 0, dim * dim * sizeof *companion->gram);
}

/* ---- learning ---- */

/* log evidence of `lambda` beyond that of no regression; theta into scratch */
static double evidence(sa_companion *companion, double lambda) {
    size_t dim = companion->dim;
    double *c = companion->factor, *u = companion->scratch, log_det = -(double)dim * log(lambda), fit = 0;
    memcpy(c, companion->gram, dim * dim * sizeof *c);
    for (size_t j = 0; j < dim; j++) c[j * dim + j] += lambda;
    if (cholesky_f64(dim, c, dim) != SA_OK) return -INFINITY;
    for (size_t j = 0; j < dim; j++) {
        u[j] = companion->input_score[j];
        for (size_t k = 0; k < j; k++) u[j] -= c[j * dim + k] * u[k];
        u[j] /= c[j * dim + j];
        fit += u[j] * u[j];
        log_det += 2 * log(c[j * dim + j]);
    }
    for (size_t j = dim; j-- > 0;) {
        u[j] /= c[j * dim + j];
        for (size_t k = 0; k < j; k++) u[k] -= c[j * dim + k] * u[j];
    }
    double left = fmax(1 - fit / companion->is.score_square, LEAST_LEFT);
    return -0.5 * companion->is.count * log(left) - 0.5 * log_det;
}

/* One step of the climb: trainings are many. */
static void regress(sa_companion *companion) {
    const double tried[3] = {companion->is.lambda, companion->is.lambda / LAMBDA_STEP, companion->is.lambda * LAMBDA_STEP};
    size_t dim = companion->dim;
    double best = -INFINITY;
    for (int i = 0; i < 3 && companion->is.score_square > 0; i++) {
        if (tried[i] < LEAST_LAMBDA || tried[i] > MOST_LAMBDA) continue;
        double gain = evidence(companion, tried[i]);
        if (!(gain > best)) continue;
        best = gain;
        companion->is.lambda = tried[i];
        memcpy(companion->theta, companion->scratch, dim * sizeof *companion->theta);
    }
    for (size_t j = 0; j < dim; j++)
        if (!(best > EVIDENCE)) companion->theta[j] = 0;
}

/* a, b, c and the share of variance explained. */
static double trust(sa_companion *companion) {
    const double *m = companion->is.moments;
    double n = m[0], prior = TRUST_WEIGHT * companion->is.score_square / companion->is.weight;
    companion->is.linear = 0;
    companion->is.network = FIRST_TRUST;
    companion->is.intercept = (1 - FIRST_TRUST) * companion->is.score_mean;
    if (!(n > 0) || !(prior > 0)) return 0;
    double rr = m[4] - m[1] * m[1] / n, rf = m[5] - m[1] * m[2] / n, ff = m[6] - m[2] * m[2] / n;
    double rt = m[7] - m[1] * m[3] / n, ft = m[8] - m[2] * m[3] / n, tt = m[9] - m[3] * m[3] / n;
    double drawn = ft + prior * FIRST_TRUST, determinant = (rr + prior) * (ff + prior) - rf * rf;
    double a = (rt * (ff + prior) - drawn * rf) / determinant, b = (drawn * (rr + prior) - rt * rf) / determinant;
    if (a < 0) {
        a = 0;
        b = drawn / (ff + prior);
    }
    if (b < LEAST_TRUST) {
        b = LEAST_TRUST;
        a = fmax(0, (rt - b * rf) / (rr + prior));
    }
    companion->is.linear = a;
    companion->is.network = b;
    companion->is.intercept = (1 - a - b) * companion->is.reference + (m[3] - a * m[1] - b * m[2]) / n;
    double left = tt - 2 * (a * rt + b * ft) + a * a * rr + 2 * a * b * rf + b * b * ff;
    return tt > 0 ? fmax(0, 1 - left / tt) : 0;
}

void sa_companion_learn(sa_companion *companion) {
    if (companion->dim == 0 || companion->is.count == 0) return;
    double explained = sqrt(trust(companion)), early = BOLD / companion->is.count;
    companion->is.boldness = fmax(explained, fmin(1, early * early));
    companion->is.luck = fmax(LUCK * explained, fmin(1, early * early));
    regress(companion);
}

/* ---- saving ---- */

size_t sa_companion_bytes(const sa_companion *companion) {
    return (2 * companion->dim + 4) * companion->dim * sizeof(double);
}

enum { NUMBERS = sizeof(sa_companion_numbers) / sizeof(double) };

sa_status sa_companion_save(const sa_companion *companion, sa_npz_writer *writer) {
    size_t dim = companion->dim, square[2] = {dim, dim}, numbers = NUMBERS;
    if (dim == 0) return SA_OK;
    SA_TRY(sa_npz_add(writer, "companion_numbers", SA_FLOAT64, 1, &numbers, &companion->is));
    SA_TRY(sa_npz_add(writer, "companion_input_mean", SA_FLOAT64, 1, &dim, companion->input_mean));
    SA_TRY(sa_npz_add(writer, "companion_input_score", SA_FLOAT64, 1, &dim, companion->input_score));
    SA_TRY(sa_npz_add(writer, "companion_gram", SA_FLOAT64, 2, square, companion->gram));
    return sa_npz_add(writer, "companion_theta", SA_FLOAT64, 1, &dim, companion->theta);
}

static bool is_finite(const double *numbers, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!isfinite(numbers[i])) return false;
    return true;
}

sa_status sa_companion_load(sa_companion *companion, sa_npz *archive) {
    size_t dim = companion->dim, square[2] = {dim, dim}, numbers = NUMBERS;
    double number[NUMBERS];
    if (dim == 0) return SA_OK;
    SA_TRY(sa_npz_read_into(archive, "companion_numbers", SA_FLOAT64, 1, &numbers, number));
    SA_TRY(sa_npz_read_into(archive, "companion_input_mean", SA_FLOAT64, 1, &dim, companion->input_mean));
    SA_TRY(sa_npz_read_into(archive, "companion_input_score", SA_FLOAT64, 1, &dim, companion->input_score));
    SA_TRY(sa_npz_read_into(archive, "companion_gram", SA_FLOAT64, 2, square, companion->gram));
    SA_TRY(sa_npz_read_into(archive, "companion_theta", SA_FLOAT64, 1, &dim, companion->theta));
    if (!is_finite(number, NUMBERS) || !is_finite(companion->theta, dim) || !is_finite(companion->input_mean, dim))
        return sa_fail(SA_FORMAT, "the agent's companion has a number that is not finite");
    memcpy(&companion->is, number, sizeof companion->is);
    return SA_OK;
}
