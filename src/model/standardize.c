#include "model/standardize.h"

#include <math.h>
#include <string.h>

#include "base/reals.h"
#include "model/rows_real.h"

static const double FAR = 1000, FIRST = 20, KEPT = 1 - 1.0 / 1000;
static const double LEAST_HALF = 64, YOUNG = 65536; /* candidates */

/* What is kept of the newer half; then the extremes of all. */
typedef struct newer_half {
    double *count, *changes;
    double *mean, *squares, *low, *high; /* (dim) each */
} newer_half;

static newer_half newer_of(const sa_inputs *inputs, double *statistics) {
    size_t dim = inputs->dim;
    double *at = statistics + 3 + 2 * dim;
    return (newer_half){at, at + 1, at + 2, at + 2 + dim, at + 2 + 2 * dim, at + 2 + 3 * dim};
}

sa_inputs sa_inputs_from(const sa_model_settings *settings) {
    return (sa_inputs){.precision = (sa_precision)settings->precision,
                       .normalization = (sa_normalization)settings->normalize,
                       .dim = (size_t)settings->dim,
                       .positions = settings->positions};
}

static void see_rows(const sa_inputs *inputs, const void *raw, size_t count, double *seen, double *mean,
                     double *squares) {
    if (inputs->precision == SA_PRECISION_SINGLE)
        rows_see_f32(raw, count, inputs->dim, *seen, mean, squares);
    else
        rows_see_f64(raw, count, inputs->dim, *seen, mean, squares);
    *seen += (double)count;
}

static void see_extremes(const sa_inputs *inputs, const void *raw, size_t count, bool first,
                         const newer_half *newer) {
    if (inputs->precision == SA_PRECISION_SINGLE)
        rows_extremes_f32(raw, count, inputs->dim, first, newer->low, newer->high);
    else
        rows_extremes_f64(raw, count, inputs->dim, first, newer->low, newer->high);
}

/* The newer half is whole: where it calls something wild that was counted, its statistics are all that
 * counts. */
static void compare_halves(const sa_inputs *inputs, double *statistics, const newer_half *newer) {
    double *mean = statistics + 1, *squares = mean + inputs->dim, seen = *statistics / *newer->count;
    bool changed = false;
    for (size_t j = 0; j < inputs->dim; j++) {
        double deviation = sqrt(newer->squares[j] / *newer->count);
        double off = fmax(newer->high[j] - newer->mean[j], newer->mean[j] - newer->low[j]);
        if (!(deviation > 0) || off <= FAR * deviation) continue;
        mean[j] = newer->low[j] = newer->high[j] = newer->mean[j];
        squares[j] = newer->squares[j] * seen;
        changed = true;
    }
    *newer->changes += changed;
}

/* Up to `count` rows, to the end of the newer half. Returns how many. */
static size_t see_some(const sa_inputs *inputs, double *statistics, const void *raw, size_t count) {
    double *mean = statistics + 1, *squares = mean + inputs->dim;
    newer_half newer = newer_of(inputs, statistics);
    if (*statistics >= YOUNG) {
        see_rows(inputs, raw, count, statistics, mean, squares);
        return count;
    }
    double half = fmax(*statistics - *newer.count, LEAST_HALF), left = half - *newer.count;
    size_t many = left < (double)count ? (size_t)left : count;
    see_extremes(inputs, raw, many, *statistics == 0, &newer);
    see_rows(inputs, raw, many, statistics, mean, squares);
    see_rows(inputs, raw, many, newer.count, newer.mean, newer.squares);
    if (*newer.count < half) return many;
    compare_halves(inputs, statistics, &newer);
    *newer.count = 0;
    memset(newer.mean, 0, 2 * inputs->dim * sizeof *newer.mean);
    return many;
}

static void see_all(const sa_inputs *inputs, double *statistics, const void *raw, size_t count) {
    for (size_t first = 0; first < count;)
        first += see_some(inputs, statistics, sa_real_at(inputs->precision, raw, first * inputs->dim),
                          count - first);
}

static bool is_wild(const sa_inputs *inputs, const double *statistics, const void *row) {
    const double *mean = statistics + 1, *squares = mean + inputs->dim;
    if (*statistics < FIRST) return false; /* there is no scale yet */
    if (inputs->precision == SA_PRECISION_SINGLE)
        return rows_count_far_f32(row, inputs->dim, *statistics, mean, squares, FAR) > 0;
    return rows_count_far_f64(row, inputs->dim, *statistics, mean, squares, FAR) > 0;
}

/* Is the candidate left out, as it is excluded or wild? */
static bool is_left_out(const sa_inputs *inputs, double *statistics, const void *row, bool excluded) {
    double *suspects = statistics + 1 + 2 * inputs->dim, *wild = suspects + 1;
    if (excluded) return true;
    *suspects *= KEPT;
    if (!is_wild(inputs, statistics, row)) return false;
    ++*suspects;
    ++*wild;
    return *suspects <= (1 / (1 - KEPT)) / 2;
}

void sa_statistics_see(const sa_inputs *inputs, double *statistics, const void *raw, const bool *excluded,
                       size_t count) {
    for (size_t start = 0, end; start < count; start = end + 1) { /* stretches of which none is left out */
        for (end = start; end < count; end++)
            if (is_left_out(inputs, statistics, sa_real_at(inputs->precision, raw, end * inputs->dim),
                            excluded && excluded[end]))
                break;
        see_all(inputs, statistics, sa_real_at(inputs->precision, raw, start * inputs->dim), end - start);
    }
}

/* What never changes is only centred. */
void sa_statistics_factor(const sa_inputs *inputs, const double *statistics, double *factor) {
    const double *squares = statistics + 1 + inputs->dim;
    for (size_t j = 0; j < inputs->dim; j++) {
        double deviation = *statistics > 0 ? sqrt(squares[j] / *statistics) : 0;
        factor[j] = (deviation > 0 ? 1 / deviation : 1) / sqrt((double)inputs->dim);
    }
}

void sa_inputs_show(const sa_inputs *inputs, const double *statistics, const double *factor, const void *raw,
                    size_t count, void *out, size_t width) {
    size_t dim = inputs->dim, bytes = sa_precision_bytes(inputs->precision);
    double most = FAR / sqrt((double)dim);
    if (inputs->normalization != SA_NORMALIZE_STANDARD)
        for (size_t i = 0; i < count; i++)
            memcpy((char *)out + i * width * bytes, (const char *)raw + i * dim * bytes, dim * bytes);
    else if (inputs->precision == SA_PRECISION_SINGLE)
        rows_standardise_f32(raw, count, dim, statistics + 1, factor, most, out, width);
    else
        rows_standardise_f64(raw, count, dim, statistics + 1, factor, most, out, width);
}

void sa_inputs_show_placed(const sa_inputs *inputs, const double *statistics, double *factor, const void *raw,
                           const int64_t *position, size_t count, void *out) {
    size_t width = inputs->dim + inputs->positions;
    if (inputs->normalization == SA_NORMALIZE_STANDARD) sa_statistics_factor(inputs, statistics, factor);
    sa_inputs_show(inputs, statistics, factor, raw, count, out, width);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < inputs->positions; k++)
            sa_real_set(inputs->precision, out, i * width + inputs->dim + k, k == (size_t)position[i]);
}

sa_status sa_statistics_save(const sa_inputs *inputs, const double *statistics, sa_npz_writer *writer) {
    size_t dim = inputs->dim, newer = 2 + 4 * dim;
    SA_TRY(sa_npz_add(writer, "inputs_seen", SA_FLOAT64, 0, NULL, statistics));
    SA_TRY(sa_npz_add(writer, "inputs_mean", SA_FLOAT64, 1, &dim, statistics + 1));
    SA_TRY(sa_npz_add(writer, "inputs_squares", SA_FLOAT64, 1, &dim, statistics + 1 + dim));
    SA_TRY(sa_npz_add(writer, "inputs_wild", SA_FLOAT64, 1, (size_t[]){2}, statistics + 1 + 2 * dim));
    return sa_npz_add(writer, "inputs_newer", SA_FLOAT64, 1, &newer, statistics + 3 + 2 * dim);
}

/* Up to format 5 nothing is known of the newer half: it begins now, and nothing before is in doubt. */
static sa_status load_newer(const sa_inputs *inputs, double *statistics, sa_npz *archive) {
    newer_half newer = newer_of(inputs, statistics);
    size_t dim = inputs->dim, length = 2 + 4 * dim;
    int64_t format;
    SA_TRY(sa_npz_format(archive, &format));
    if (format > 5) {
        SA_TRY(sa_npz_read_into(archive, "inputs_newer", SA_FLOAT64, 1, &length, newer.count));
        bool sound = *newer.count >= 0 && *newer.count <= *statistics && *newer.changes >= 0 &&
                     *newer.count == floor(*newer.count) &&
                     (*statistics >= YOUNG || *newer.count < fmax(*statistics - *newer.count, LEAST_HALF));
        for (size_t i = 0; i < length; i++) sound &= isfinite(newer.count[i]) != 0;
        return sound ? SA_OK : sa_fail(SA_FORMAT, "'inputs_newer' has a value that it cannot have");
    }
    memset(newer.count, 0, length * sizeof *newer.count);
    memcpy(newer.low, statistics + 1, dim * sizeof *newer.low);
    memcpy(newer.high, statistics + 1, dim * sizeof *newer.high);
    return SA_OK;
}

sa_status sa_statistics_load(const sa_inputs *inputs, double *statistics, sa_npz *archive) {
    size_t dim = inputs->dim;
    SA_TRY(sa_npz_get_number(archive, "inputs_seen", statistics));
    SA_TRY(sa_npz_read_into(archive, "inputs_mean", SA_FLOAT64, 1, &dim, statistics + 1));
    SA_TRY(sa_npz_read_into(archive, "inputs_squares", SA_FLOAT64, 1, &dim, statistics + 1 + dim));
    SA_TRY(sa_npz_read_into(archive, "inputs_wild", SA_FLOAT64, 1, (size_t[]){2}, statistics + 1 + 2 * dim));
    return load_newer(inputs, statistics, archive);
}
