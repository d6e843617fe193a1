#include "agent/inputs.h"

#include <math.h>
#include <string.h>

#include "agent/reals.h"
#include "base/memory.h"

sa_status sa_inputs_init(sa_inputs *inputs, const sa_options *options) {
    *inputs = (sa_inputs){.precision = (sa_precision)options->precision,
                          .normalization = (sa_normalization)options->normalize,
                          .dim = (size_t)options->dim,
                          .positions = sa_options_positions(options)};
    SA_TRY(sa_alloc_array(inputs->dim, sizeof(double), &inputs->mean));
    SA_TRY(sa_alloc_array(inputs->dim, sizeof(double), &inputs->squares));
    return sa_alloc_matrix(2, inputs->dim, sizeof(double), &inputs->next);
}

void sa_inputs_clear(sa_inputs *inputs) {
    sa_free(inputs->mean);
    sa_free(inputs->squares);
    sa_free(inputs->next);
    *inputs = (sa_inputs){0};
}

/* row (dim) *= 1 / |row|; a row of zeros stays */
static void to_unit_length(const sa_inputs *inputs, void *raw, size_t row) {
    double sum = 0, largest = 0;
    size_t first = row * inputs->dim;
    for (size_t j = 0; j < inputs->dim; j++) {
        double size = fabs(sa_real_get(inputs->precision, raw, first + j));
        if (size > largest) largest = size;
    }
    if (largest == 0) return;
    for (size_t j = 0; j < inputs->dim; j++) { /* in units of the largest, so that squares neither overflow nor vanish */
        double x = sa_real_get(inputs->precision, raw, first + j) / largest;
        sum += x * x;
    }
    double norm = sqrt(sum);
    for (size_t j = 0; j < inputs->dim; j++)
        sa_real_set(inputs->precision, raw, first + j, sa_real_get(inputs->precision, raw, first + j) / largest / norm);
}

sa_status sa_inputs_read(const sa_inputs *inputs, const sa_request *request, void *raw) {
    for (size_t i = 0; i < request->arms; i++)
        for (size_t j = 0; j < inputs->dim; j++) {
            size_t index = i * inputs->dim + j;
            double x = request->contexts ? request->contexts[index] : request->contexts_float[index];
            sa_real_set(inputs->precision, raw, index, x);
            if (!isfinite(sa_real_get(inputs->precision, raw, index)))
                return sa_fail(SA_INVALID, "the context of arm %zu has %g as feature %zu%s", i, x, j,
                               isfinite(x) ? ", too large for --precision single" : "");
        }
    if (inputs->normalization == SA_NORMALIZE_UNIT)
        for (size_t i = 0; i < request->arms; i++) to_unit_length(inputs, raw, i);
    return SA_OK;
}

/* Welford's update of mean and sum of squared differences, feature by feature. */
void sa_inputs_see(sa_inputs *inputs, const void *raw, size_t count) {
    if (inputs->normalization != SA_NORMALIZE_STANDARD) return;
    double *mean = inputs->next, *squares = inputs->next + inputs->dim;
    memcpy(mean, inputs->mean, inputs->dim * sizeof *mean);
    memcpy(squares, inputs->squares, inputs->dim * sizeof *squares);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < inputs->dim; j++) {
            double x = sa_real_get(inputs->precision, raw, i * inputs->dim + j), before = x - mean[j];
            mean[j] += before / (inputs->seen + (double)i + 1);
            squares[j] += before * (x - mean[j]);
        }
}

void sa_inputs_accept(sa_inputs *inputs, size_t count) {
    if (inputs->normalization != SA_NORMALIZE_STANDARD) return;
    memcpy(inputs->mean, inputs->next, inputs->dim * sizeof(double));
    memcpy(inputs->squares, inputs->next + inputs->dim, inputs->dim * sizeof(double));
    inputs->seen += (double)count;
}

/* Into rows of out (count, width), width at least dim. */
static void apply(const sa_inputs *inputs, const void *raw, size_t count, bool fresh, void *out, size_t width) {
    size_t dim = inputs->dim, bytes = sa_precision_bytes(inputs->precision);
    if (inputs->normalization != SA_NORMALIZE_STANDARD) {
        for (size_t i = 0; i < count; i++)
            memcpy((char *)out + i * width * bytes, (const char *)raw + i * dim * bytes, dim * bytes);
        return;
    }
    const double *mean = fresh ? inputs->next : inputs->mean, *squares = fresh ? inputs->next + dim : inputs->squares;
    double seen = inputs->seen + (fresh ? (double)count : 0);
    for (size_t j = 0; j < dim; j++) {
        double deviation = seen > 0 ? sqrt(squares[j] / seen) : 0;
        double factor = (deviation > 0 ? 1 / deviation : 1) / sqrt((double)dim); /* what never changes is only centred */
        for (size_t i = 0; i < count; i++)
            sa_real_set(inputs->precision, out, i * width + j,
                        (sa_real_get(inputs->precision, raw, i * dim + j) - mean[j]) * factor);
    }
}

void sa_inputs_apply(const sa_inputs *inputs, const void *raw, size_t count, bool fresh, void *out) {
    apply(inputs, raw, count, fresh, out, inputs->dim);
}

void sa_inputs_apply_placed(const sa_inputs *inputs, const void *raw, const int64_t *position, size_t count, void *out) {
    size_t width = inputs->dim + inputs->positions;
    apply(inputs, raw, count, false, out, width);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < inputs->positions; k++)
            sa_real_set(inputs->precision, out, i * width + inputs->dim + k, k == (size_t)position[i]);
}

sa_status sa_inputs_save(const sa_inputs *inputs, sa_npz_writer *writer) {
    SA_TRY(sa_npz_add(writer, "inputs_seen", SA_FLOAT64, 0, NULL, &inputs->seen));
    SA_TRY(sa_npz_add(writer, "inputs_mean", SA_FLOAT64, 1, &inputs->dim, inputs->mean));
    return sa_npz_add(writer, "inputs_squares", SA_FLOAT64, 1, &inputs->dim, inputs->squares);
}

sa_status sa_inputs_load(sa_inputs *inputs, sa_npz *archive) {
    SA_TRY(sa_npz_get_number(archive, "inputs_seen", &inputs->seen));
    SA_TRY(sa_npz_read_into(archive, "inputs_mean", SA_FLOAT64, 1, &inputs->dim, inputs->mean));
    return sa_npz_read_into(archive, "inputs_squares", SA_FLOAT64, 1, &inputs->dim, inputs->squares);
}
