#include "model/companion.h"

#include <math.h>
#include <string.h>

#include "base/functions.h"
#include "base/memory.h"
#include "model/companion_root.h"
#include "model/gram.h"
#include "model/rows_real.h"

static const double SHARE_WEIGHT = 5;     /* w = 1 for a start, as of so many observations */
static const double TRUST_WEIGHT = 1;     /* k = 1 for a start, likewise */
static const double LEAST = 0.002;        /* of w and k: nothing is out of the race for good */
static const double LAMBDA_STEP = 3;      /* of the climb */
static const double LEAST_LEFT = 1e-4;    /* share of variance: perfect fits are not infinitely likely */
static const double LEAST_REVISED = 1e-6; /* share of what a revision changes: 10 digits are right then */
static const double LEAST_LAMBDA = 0.01, MOST_LAMBDA = 1e4;

static void destroy(sa_companion *companion) {
    sa_free(companion->input_mean);
    sa_free(companion->theta);
    sa_companion_root_destroy(companion->root);
    sa_free(companion->units);
    sa_free(companion->input_score);
    sa_free(companion->gram);
    sa_free(companion->scratch);
    sa_free(companion->factor);
    sa_free(companion);
}

sa_status sa_companion_create(size_t dim, sa_companion **out) {
    sa_companion *companion;
    sa_status status;
    if (dim > SA_COMPANION_MOST) return SA_OK;
    SA_TRY(sa_alloc_array(1, sizeof *companion, &companion));
    *companion = (sa_companion){.dim = dim, .numbers = {.lambda = 1, .network = 1}};
    SA_TRY_OR_FAIL(sa_alloc_array(dim, sizeof(double), &companion->input_mean));
    SA_TRY_OR_FAIL(sa_alloc_array(dim, sizeof(double), &companion->theta));
    SA_TRY_OR_FAIL(sa_companion_root_create(dim, NULL, &companion->root));
    SA_TRY_OR_FAIL(sa_alloc_matrix(2, dim, sizeof(double), &companion->units));
    SA_TRY_OR_FAIL(sa_alloc_array(dim, sizeof(double), &companion->input_score));
    SA_TRY_OR_FAIL(sa_alloc_matrix(dim, dim, sizeof(double), &companion->gram));
    SA_TRY_OR_FAIL(sa_alloc_array(dim, sizeof(double), &companion->scratch));
    SA_TRY_OR_FAIL(sa_alloc_matrix(dim, dim, sizeof(double), &companion->factor));
    *out = companion;
    return SA_OK;
fail:
    destroy(companion);
    return status;
}

void sa_companion_destroy(sa_companion *companion) {
    if (companion && sa_is_last(companion)) destroy(companion);
}

static sa_status fork_companion(sa_companion *from, sa_companion **out) {
    sa_companion *copy;
    sa_status status;
    SA_TRY(sa_alloc_array(1, sizeof *copy, &copy));
    *copy = (sa_companion){.dim = from->dim, .numbers = from->numbers, .noise = from->noise};
    copy->input_mean = sa_hold(from->input_mean);
    copy->theta = sa_hold(from->theta);
    SA_TRY_OR_FAIL(sa_unshare(&copy->input_mean));
    SA_TRY_OR_FAIL(sa_unshare(&copy->theta));
    SA_TRY_OR_FAIL(sa_companion_root_create(from->dim, from->root, &copy->root));
    copy->units = from->units;
    copy->input_score = from->input_score;
    copy->gram = from->gram;
    copy->scratch = from->scratch;
    copy->factor = from->factor;
    from->units = from->input_score = from->gram = from->scratch = from->factor = NULL;
    *out = copy;
    return SA_OK;
fail:
    destroy(copy);
    return status;
}

sa_status sa_companion_unshare(sa_companion **companion) {
    sa_companion *copy;
    if (!*companion || !sa_is_shared(*companion)) return SA_OK;
    SA_TRY(fork_companion(*companion, &copy));
    sa_companion_destroy(*companion);
    *companion = copy;
    return SA_OK;
}

/* r(x) */
static double regression(const sa_companion *companion, const double *input) {
    double sum = companion->numbers.score_mean;
    for (size_t j = 0; j < companion->dim; j++)
        sum += companion->theta[j] * (input[j] - companion->input_mean[j]);
    return sum;
}

double sa_companion_mix(const sa_companion *companion, const double *input, double network) {
    return companion->numbers.intercept + companion->numbers.linear * regression(companion, input) +
           companion->numbers.network * network;
}

void sa_companion_mix_rows(const sa_companion *companion, sa_precision precision, const void *inputs,
                           size_t count, double *mean) {
    enum { ROWS = 64 };
    double sum[ROWS];
    const sa_companion_numbers *numbers = &companion->numbers;
    size_t dim = companion->dim;
    for (size_t first = 0; first < count; first += ROWS) {
        size_t rows = count - first < ROWS ? count - first : ROWS;
        if (precision == SA_PRECISION_SINGLE)
            rows_regress_f32((const float *)inputs + first * dim, rows, dim, numbers->score_mean,
                             companion->theta, companion->input_mean, sum);
        else
            rows_regress_f64((const double *)inputs + first * dim, rows, dim, numbers->score_mean,
                             companion->theta, companion->input_mean, sum);
        for (size_t i = 0; i < rows; i++)
            mean[first + i] =
                numbers->intercept + numbers->linear * sum[i] + numbers->network * mean[first + i];
    }
}

/* ---- adding ---- */

/* x of (raw - mean) factor becomes s x + off in other units; sums about the mean know nothing of off. */
void sa_companion_rescale(sa_companion *companion, size_t features, const double *mean,
                          const double *factor) {
    size_t dim = companion->dim;
    double *origin = companion->units, *unit = origin + dim;
    for (size_t j = 0; j < features; j++) {
        double s = factor[j] / unit[j], off = (origin[j] - mean[j]) * factor[j];
        bool known = unit[j] > 0, usable = s > 0 && isfinite(s * s) && isfinite(1 / s) && isfinite(off);
        if (known && !usable) continue; /* another world: these sums cannot be told in its units */
        origin[j] = mean[j];
        unit[j] = factor[j];
        if (!known || (s == 1 && off == 0)) continue;
        companion->input_mean[j] = s * companion->input_mean[j] + off;
        companion->input_score[j] *= s;
        companion->theta[j] /= s;
        sa_companion_root_scale(companion->root, j, s);
        for (size_t k = 0; k < dim; k++) companion->gram[j * dim + k] *= s;
        for (size_t k = 0; k < dim; k++) companion->gram[k * dim + j] *= s;
    }
}

void sa_companion_judge(sa_companion *companion, const sa_companion_case *seen, double network) {
    enum { SUMS = sizeof(sa_prediction_sums) / sizeof(double) };
    if (companion->numbers.count == 0 || !(seen->psi > 0)) return;
    double psi = seen->psi, reference = companion->numbers.reference, t = seen->score - psi * reference;
    double r = psi * (regression(companion, seen->input) - reference), f = psi * (network - reference);
    const sa_prediction_sums term = {.weight = psi * psi,
                                     .r = psi * r,
                                     .f = psi * f,
                                     .t = psi * t,
                                     .rr = r * r,
                                     .rf = r * f,
                                     .ff = f * f,
                                     .rt = r * t,
                                     .ft = f * t,
                                     .tt = t * t};
    double terms[SUMS], sums[SUMS];
    memcpy(terms, &term, sizeof term);
    memcpy(sums, &companion->numbers.sums, sizeof sums);
    for (int i = 0; i < SUMS; i++) sums[i] += terms[i];
    for (int i = 0; i < SUMS; i++)
        if (!isfinite(sums[i])) return; /* what overflows tells nothing */
    memcpy(&companion->numbers.sums, sums, sizeof sums);
}

/* Sums of products are no larger than the larger sum of squares. */
static bool overflows(const sa_companion *companion, double off, double kept) {
    const double *delta = companion->scratch;
    size_t dim = companion->dim;
    bool fits = isfinite(companion->numbers.score_square + kept * off * off);
    for (size_t j = 0; j < dim; j++)
        fits = fits && isfinite(companion->gram[j * dim + j] + kept * delta[j] * delta[j]);
    return !fits;
}

/* Weighted means and deviations, one observation at a time (Welford, West). */
static void accumulate(sa_companion *companion, const double *input, double score, double weight) {
    size_t dim = companion->dim;
    bool first = companion->numbers.weight == 0; /* the means are those of what was forgotten */
    double total = companion->numbers.weight + weight, share = weight / total, kept = weight * (1 - share);
    double *delta = companion->scratch, off = score - (first ? 0 : companion->numbers.score_mean);
    for (size_t j = 0; j < dim; j++) delta[j] = input[j] - (first ? 0 : companion->input_mean[j]);
    if (overflows(companion, off, kept)) return;
    if (first) {
        companion->numbers.score_mean = 0;
        memset(companion->input_mean, 0, dim * sizeof *companion->input_mean);
    }
    for (size_t j = 0; j < dim; j++) {
        double *row = companion->gram + j * dim;
        for (size_t k = 0; k <= j; k++) row[k] += kept * delta[j] * delta[k];
        companion->input_score[j] += kept * delta[j] * off;
        companion->input_mean[j] += share * delta[j];
    }
    companion->numbers.score_square += kept * off * off;
    companion->numbers.score_mean += share * off;
    companion->numbers.weight = total;
    companion->numbers.count++;
}

void sa_companion_add(sa_companion *companion, const sa_companion_case *seen) {
    double weight = seen->psi * seen->psi, score = seen->score / seen->psi;
    if (!(weight > 0) || !isfinite(score * score)) return;
    if (companion->numbers.count == 0 && companion->numbers.sums.weight == 0)
        companion->numbers.reference = score;
    accumulate(companion, seen->input, score, weight);
}

/* With w the weight of an observation of all W, and its score v + d instead of v: the mean moves by w d /
 * W, the squared deviations by w (2 (v - mean) d + d^2) - (w d)^2 / W, and their products with the input's
 * by w (x - x^) d. Where next to nothing is left of the squared deviations, that is their rounding. */
bool sa_companion_revise(sa_companion *companion, const sa_companion_case *seen, double score,
                         double weight) {
    sa_companion_numbers *numbers = &companion->numbers;
    size_t dim = companion->dim;
    double w = weight * seen->psi * seen->psi, d = (score - seen->score) / seen->psi;
    double off = seen->score / seen->psi - numbers->score_mean,
           change = w * (2 * off * d + d * d) - w * d * (w * d / numbers->weight),
           square = numbers->score_square + change, mean = numbers->score_mean + w * d / numbers->weight,
           *input_score = companion->scratch;
    if (!(w > 0)) return true;
    bool told = isfinite(square) && isfinite(mean) && square >= LEAST_REVISED * fabs(change);
    for (size_t j = 0; j < dim; j++) {
        input_score[j] = companion->input_score[j] + w * (seen->input[j] - companion->input_mean[j]) * d;
        told = told && isfinite(input_score[j]);
    }
    if (!told) return false;
    memcpy(companion->input_score, input_score, dim * sizeof *input_score);
    numbers->score_square = square;
    numbers->score_mean = mean;
    return true;
}

void sa_companion_fade(sa_companion *companion, double factor) {
    size_t dim = companion->dim;
    companion->numbers.count *= factor;
    companion->numbers.weight *= factor;
    companion->numbers.score_square *= factor;
    for (size_t j = 0; j < dim; j++) companion->input_score[j] *= factor;
    for (size_t j = 0; j < dim * dim; j++) companion->gram[j] *= factor;
}

void sa_companion_fade_judged(sa_companion *companion, double factor) {
    sa_prediction_sums *sums = &companion->numbers.sums;
    double *const each[] = {&sums->weight, &sums->r,  &sums->f,  &sums->t,  &sums->rr,
                            &sums->rf,     &sums->ff, &sums->rt, &sums->ft, &sums->tt};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) *each[i] *= factor;
}

/* The means stay until there is an observation again: estimates are relative to them. */
void sa_companion_forget(sa_companion *companion) {
    size_t dim = companion->dim;
    companion->numbers.count = companion->numbers.weight = companion->numbers.score_square = 0;
    memset(companion->input_score, 0, dim * sizeof *companion->input_score);
    memset(companion->gram, 0, dim * dim * sizeof *companion->gram);
}

/* ---- learning ---- */

/* log evidence of `lambda`, and the share of the variance that it leaves; theta into scratch, C into
 * factor */
static double evidence(sa_companion *companion, double lambda, double *left) {
    size_t dim = companion->dim;
    double *factor = companion->factor, *u = companion->scratch;
    sa_gram_fit fit;
    if (!sa_gram_judge(dim, companion->gram, companion->input_score, lambda, factor, u, &fit))
        return -INFINITY;
    if (!isfinite(fit.explained)) return -INFINITY;
    sa_gram_upper(dim, factor, u);
    *left = fmax(1 - fit.explained / companion->numbers.score_square, LEAST_LEFT);
    return sa_gram_evidence(companion->numbers.count, *left, fit.log_det, lambda);
}

/* What is open of estimates, as the evidence that was found last has it. */
static void take_root(sa_companion *companion, double left) {
    sa_companion_root_assign(companion->root, companion->dim, companion->factor);
    companion->noise = left * companion->numbers.score_square / companion->numbers.count;
}

/* One step of the climb: trainings are many. */
static void regress(sa_companion *companion) {
    const double tried[3] = {companion->numbers.lambda, companion->numbers.lambda / LAMBDA_STEP,
                             companion->numbers.lambda * LAMBDA_STEP};
    size_t dim = companion->dim;
    double best = -INFINITY, left = 1;
    for (int i = 0; i < 3 && companion->numbers.score_square > 0; i++) {
        if (tried[i] < LEAST_LAMBDA || tried[i] > MOST_LAMBDA) continue;
        double gain = evidence(companion, tried[i], &left);
        if (!(gain > best)) continue;
        best = gain;
        companion->numbers.lambda = tried[i];
        memcpy(companion->theta, companion->scratch, dim * sizeof *companion->theta);
        take_root(companion, left);
    }
}

static double within(double least, double value, double most) {
    return value > least ? fmin(value, most) : least;
}

/* w, then k; and a, b and c from them. All sums are about the means. */
static void trust(sa_companion *companion) {
    sa_companion_numbers *numbers = &companion->numbers;
    const sa_prediction_sums *m = &numbers->sums;
    double n = m->weight, variance = numbers->score_square / numbers->weight;
    if (!(n > 0) || !(variance > 0)) return;
    double rr = m->rr - m->r * m->r / n, rf = m->rf - m->r * m->f / n, ff = m->ff - m->f * m->f / n;
    double rt = m->rt - m->r * m->t / n, ft = m->ft - m->f * m->t / n;
    double first = SHARE_WEIGHT * variance;
    double w = within(LEAST, (ft - rt - rf + rr + first) / (ff - 2 * rf + rr + first), 1), v = 1 - w;
    double square = v * v * rr + 2 * v * w * rf + w * w * ff, product = v * rt + w * ft;
    first = TRUST_WEIGHT * variance;
    double k = within(LEAST, (product + first) / (square + first), 1);
    double off = (m->t - v * m->r - w * m->f) / n; /* what both are wrong by in the mean */
    numbers->linear = k * v;
    numbers->network = k * w;
    numbers->intercept = k * off + (1 - k) * numbers->score_mean;
}

void sa_companion_learn(sa_companion *companion) {
    if (companion->numbers.count == 0) return;
    trust(companion);
    regress(companion);
}

/* ---- saving ---- */

enum { NUMBERS = sizeof(sa_companion_numbers) / sizeof(double) };

sa_status sa_companion_save(const sa_companion *companion, sa_npz_writer *writer) {
    size_t dim = companion->dim, square[2] = {dim, dim}, numbers = NUMBERS;
    SA_TRY(sa_npz_add(writer, "companion_numbers", SA_FLOAT64, 1, &numbers, &companion->numbers));
    SA_TRY(sa_npz_add(writer, "companion_input_mean", SA_FLOAT64, 1, &dim, companion->input_mean));
    SA_TRY(sa_npz_add(writer, "companion_input_score", SA_FLOAT64, 1, &dim, companion->input_score));
    SA_TRY(sa_npz_add(writer, "companion_gram", SA_FLOAT64, 2, square, companion->gram));
    SA_TRY(sa_companion_root_save(companion->root, writer));
    SA_TRY(sa_npz_add(writer, "companion_noise", SA_FLOAT64, 0, NULL, &companion->noise));
    SA_TRY(sa_npz_add(writer, "companion_units", SA_FLOAT64, 2, (size_t[]){2, dim}, companion->units));
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
    SA_TRY(sa_npz_read_into(archive, "companion_numbers", SA_FLOAT64, 1, &numbers, number));
    SA_TRY(sa_npz_read_into(archive, "companion_input_mean", SA_FLOAT64, 1, &dim, companion->input_mean));
    SA_TRY(sa_npz_read_into(archive, "companion_input_score", SA_FLOAT64, 1, &dim, companion->input_score));
    SA_TRY(sa_npz_read_into(archive, "companion_gram", SA_FLOAT64, 2, square, companion->gram));
    SA_TRY(sa_npz_read_into(archive, "companion_theta", SA_FLOAT64, 1, &dim, companion->theta));
    int64_t format;
    SA_TRY(sa_npz_format(archive, &format));
    if (format != 4) /* which did not have them */
        SA_TRY(sa_npz_read_into(archive, "companion_units", SA_FLOAT64, 2, (size_t[]){2, dim},
                                companion->units));
    if (format > 6) {
        SA_TRY(sa_companion_root_load(companion->root, dim, archive));
        SA_TRY(sa_npz_get_number(archive, "companion_noise", &companion->noise));
    }
    if (!is_finite(number, NUMBERS) || !is_finite(companion->theta, dim) ||
        !is_finite(companion->input_mean, dim) || !is_finite(companion->units, 2 * dim) ||
        !is_finite(companion->input_score, dim) || !is_finite(companion->gram, dim * dim))
        return sa_fail(SA_FORMAT, "the agent's companion has a number that is not finite");
    if (companion->noise < 0)
        return sa_fail(SA_FORMAT, "the agent's companion has a noise of %g, less than 0", companion->noise);
    sa_companion_numbers read;
    memcpy(&read, number, sizeof read);
    if (!(read.network > 0) || !(read.linear >= 0))
        return sa_fail(SA_FORMAT, "the agent's companion has the weights a = %g and b = %g", read.linear,
                       read.network);
    if (read.count < 0 || read.weight < 0 || read.score_square < 0 || !(read.lambda > 0))
        return sa_fail(SA_FORMAT,
                       "the agent's companion has sums of %g observations, of weight %g and squares %g, and "
                       "the lambda %g",
                       read.count, read.weight, read.score_square, read.lambda);
    companion->numbers = read;
    double left = 1;
    if (format < 7 && read.count > 0 && read.score_square > 0 &&
        isfinite(evidence(companion, read.lambda, &left)))
        take_root(companion, left);
    return SA_OK;
}
