#include "model/standardize.h"

#include <math.h>
#include <string.h>

#include "base/reals.h"
#include "model/rows_real.h"

static const double FAR = 1000, FIRST = 20, KEPT = 1 - 1.0 / 1000;

sa_inputs sa_inputs_from(const sa_model_settings *settings) {
    return (sa_inputs){.precision = (sa_precision)settings->precision,
                       .normalization = (sa_normalization)settings->normalize,
                       .dim = (size_t)settings->dim,
                       .positions = settings->positions};
}

static void see_all(const sa_inputs *inputs, double *statistics, const void *raw, size_t count) {
    double *mean = statistics + 1, *squares = mean + inputs->dim;
    if (inputs->precision == SA_PRECISION_SINGLE)
        rows_see_f32(raw, count, inputs->dim, *statistics, mean, squares);
    else
        rows_see_f64(raw, count, inputs->dim, *statistics, mean, squares);
    *statistics += (double)count;
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
    SA_TRY(sa_npz_add(writer, "inputs_seen", SA_FLOAT64, 0, NULL, statistics));
    SA_TRY(sa_npz_add(writer, "inputs_mean", SA_FLOAT64, 1, &inputs->dim, statistics + 1));
    SA_TRY(sa_npz_add(writer, "inputs_squares", SA_FLOAT64, 1, &inputs->dim, statistics + 1 + inputs->dim));
    return sa_npz_add(writer, "inputs_wild", SA_FLOAT64, 1, (size_t[]){2}, statistics + 1 + 2 * inputs->dim);
}

sa_status sa_statistics_load(const sa_inputs *inputs, double *statistics, sa_npz *archive) {
    SA_TRY(sa_npz_get_number(archive, "inputs_seen", statistics));
    SA_TRY(sa_npz_read_into(archive, "inputs_mean", SA_FLOAT64, 1, &inputs->dim, statistics + 1));
    SA_TRY(sa_npz_read_into(archive, "inputs_squares", SA_FLOAT64, 1, &inputs->dim,
                            statistics + 1 + inputs->dim));
    return sa_npz_read_into(archive, "inputs_wild", SA_FLOAT64, 1, (size_t[]){2},
                            statistics + 1 + 2 * inputs->dim);
}
