#include "agent/inputs.h"

#include <math.h>
#include <string.h>

#include "agent/inputs_real.h"
#include "agent/reals.h"
#include "base/memory.h"

/* rows of either precision: inputs_real.c */
#define PER_PRECISION(inputs, call_f32, call_f64) ((inputs)->precision == SA_PRECISION_SINGLE ? (call_f32) : (call_f64))

sa_status sa_inputs_init(sa_inputs *inputs, const sa_options *options) {
    *inputs = (sa_inputs){.precision = (sa_precision)options->precision,
                          .normalization = (sa_normalization)options->normalize,
                          .dim = (size_t)options->dim,
                          .positions = sa_options_positions(options)};
    SA_TRY(sa_alloc_array(inputs->dim, sizeof(double), &inputs->mean));
    SA_TRY(sa_alloc_array(inputs->dim, sizeof(double), &inputs->squares));
    SA_TRY(sa_alloc_matrix(2, inputs->dim, sizeof(double), &inputs->next));
    return sa_alloc_matrix(2, inputs->dim, sizeof(double), &inputs->factor);
}

void sa_inputs_clear(sa_inputs *inputs) {
    sa_free(inputs->mean);
    sa_free(inputs->squares);
    sa_free(inputs->next);
    sa_free(inputs->factor);
    *inputs = (sa_inputs){0};
}

/* ---- reading ---- */

sa_status sa_input_block_reserve(sa_input_block *block, const sa_inputs *inputs, size_t arms) {
    size_t row = inputs->dim * sa_precision_bytes(inputs->precision), raw = block->capacity, input = block->capacity;
    if (arms > SA_BLOCK_ARMS) arms = SA_BLOCK_ARMS;
    if (!block->joint) SA_TRY(sa_alloc_array(inputs->dim + 1, sizeof *block->joint, &block->joint));
    SA_TRY(sa_grow_array(&block->raw, &raw, arms, row));
    SA_TRY(sa_grow_array(&block->input, &input, arms, row));
    block->capacity = input;
    return SA_OK;
}

void sa_input_block_clear(sa_input_block *block) {
    sa_free(block->raw);
    sa_free(block->input);
    sa_free(block->joint);
    *block = (sa_input_block){0};
}

size_t sa_input_block_bytes(const sa_input_block *block, const sa_inputs *inputs) {
    return block->capacity * 2 * inputs->dim * sa_precision_bytes(inputs->precision) +
           (block->joint ? (inputs->dim + 1) * sizeof *block->joint : 0);
}

/* Feature j of an arm as the caller gave it, joined by hand: for sentences. */
static double feature_of(const sa_request *request, size_t dim, size_t arm, size_t j) {
    size_t items = request->item_dim ? request->item_dim : dim, shares = request->shared_dim, i = j, k = SIZE_MAX;
    if (request->item_dim && request->join != SA_JOIN_PRODUCTS && j >= items) {
        i = SIZE_MAX;
        k = j - items;
    }
    if (request->item_dim && (request->join == SA_JOIN_PRODUCTS || (i == SIZE_MAX && k >= shares))) {
        size_t product = request->join == SA_JOIN_PRODUCTS ? j : k - shares;
        i = product / shares;
        k = product % shares;
    }
    double x = 1;
    if (i != SIZE_MAX)
        x *= request->contexts ? request->contexts[arm * items + i] : request->contexts_float[arm * items + i];
    if (k != SIZE_MAX) x *= request->shared ? request->shared[k] : request->shared_float[k];
    return request->contexts_float && request->shared_float ? (double)(float)x : x;
}

static sa_status name_the_wrong_one(const sa_inputs *inputs, const sa_request *request, size_t first, size_t count) {
    for (size_t arm = first; arm < first + count; arm++)
        for (size_t j = 0; j < inputs->dim; j++) {
            double x = feature_of(request, inputs->dim, arm, j);
            if (isfinite(x) && (inputs->precision == SA_PRECISION_DOUBLE || isfinite((float)x))) continue;
            return sa_fail(SA_INVALID, "the context of arm %zu has %g as feature %zu%s", arm, x, j,
                           isfinite(x) ? ", too large for --precision single" : "");
        }
    return SA_OK;
}

/* Contexts as they are, in the model's precision. */
static bool convert(const sa_inputs *inputs, const sa_request *request, size_t start, size_t count, void *to) {
    if (request->contexts)
        return PER_PRECISION(inputs, inputs_take_wide_f32(request->contexts + start, count, to),
                             inputs_take_wide_f64(request->contexts + start, count, to));
    return PER_PRECISION(inputs, inputs_take_narrow_f32(request->contexts_float + start, count, to),
                         inputs_take_narrow_f64(request->contexts_float + start, count, to));
}

/* Items and what they share, row by row. */
static bool join(const sa_inputs *inputs, const sa_request *request, size_t first, size_t count, sa_input_block *block) {
    size_t items = request->item_dim, shares = request->shared_dim;
    double *shared = block->joint, *item = block->joint + shares;
    sa_joined from = {.item = item,
                      .shared = shared,
                      .items = items,
                      .shares = shares,
                      .concatenated = request->join != SA_JOIN_PRODUCTS,
                      .multiplied = request->join != SA_JOIN_CONCAT,
                      .narrow = request->contexts_float && request->shared_float};
    for (size_t j = 0; j < shares; j++) shared[j] = request->shared ? request->shared[j] : request->shared_float[j];
    for (size_t i = 0; i < count; i++) {
        size_t start = (first + i) * items;
        for (size_t j = 0; j < items; j++)
            item[j] = request->contexts ? request->contexts[start + j] : request->contexts_float[start + j];
        void *to = sa_real_at(inputs->precision, block->raw, i * inputs->dim);
        if (inputs->precision == SA_PRECISION_SINGLE)
            inputs_join_f32(&from, to);
        else
            inputs_join_f64(&from, to);
    }
    return PER_PRECISION(inputs, inputs_are_finite_f32(block->raw, count * inputs->dim),
                         inputs_are_finite_f64(block->raw, count * inputs->dim));
}

static void to_unit_length(const sa_inputs *inputs, void *raw, size_t count) {
    for (size_t i = 0; i < count; i++) {
        void *row = sa_real_at(inputs->precision, raw, i * inputs->dim);
        if (inputs->precision == SA_PRECISION_SINGLE)
            inputs_to_unit_f32(row, inputs->dim);
        else
            inputs_to_unit_f64(row, inputs->dim);
    }
}

sa_status sa_inputs_read(const sa_inputs *inputs, const sa_request *request, size_t first, size_t count,
                         sa_input_block *block, const void **raw) {
    size_t start = first * inputs->dim, total = count * inputs->dim;
    bool single = inputs->precision == SA_PRECISION_SINGLE, changes = inputs->normalization == SA_NORMALIZE_UNIT, finite;
    *raw = block->raw;
    if (request->item_dim) {
        finite = join(inputs, request, first, count, block);
    } else if (!changes && single && request->contexts_float) {
        *raw = request->contexts_float + start;
        finite = inputs_are_finite_f32(*raw, total);
    } else if (!changes && !single && request->contexts) {
        *raw = request->contexts + start;
        finite = inputs_are_finite_f64(*raw, total);
    } else {
        finite = convert(inputs, request, start, total, block->raw);
    }
    if (!finite) SA_TRY(name_the_wrong_one(inputs, request, first, count));
    if (changes) to_unit_length(inputs, block->raw, count);
    return SA_OK;
}

/* ---- normalising ---- */

void sa_inputs_begin(sa_inputs *inputs) {
    if (inputs->normalization != SA_NORMALIZE_STANDARD) return;
    memcpy(inputs->next, inputs->mean, inputs->dim * sizeof(double));
    memcpy(inputs->next + inputs->dim, inputs->squares, inputs->dim * sizeof(double));
    inputs->next_seen = inputs->seen;
}

static void see_all(sa_inputs *inputs, const void *raw, size_t count) {
    double *mean = inputs->next, *squares = inputs->next + inputs->dim;
    if (inputs->precision == SA_PRECISION_SINGLE)
        inputs_see_f32(raw, count, inputs->dim, inputs->next_seen, mean, squares);
    else
        inputs_see_f64(raw, count, inputs->dim, inputs->next_seen, mean, squares);
    inputs->next_seen += (double)count;
}

void sa_inputs_see(sa_inputs *inputs, const void *raw, const bool *excluded, size_t count) {
    size_t row = inputs->dim * sa_precision_bytes(inputs->precision);
    if (inputs->normalization != SA_NORMALIZE_STANDARD) return;
    for (size_t start = 0, end; start < count; start = end + 1) { /* stretches of which none is excluded */
        for (end = excluded ? start : count; end < count && !excluded[end];) end++;
        see_all(inputs, (const char *)raw + start * row, end - start);
    }
}

/* What never changes is only centred. */
static void measure(const double *squares, double seen, size_t dim, double *factor) {
    for (size_t j = 0; j < dim; j++) {
        double deviation = seen > 0 ? sqrt(squares[j] / seen) : 0;
        factor[j] = (deviation > 0 ? 1 / deviation : 1) / sqrt((double)dim);
    }
}

void sa_inputs_measure(sa_inputs *inputs) {
    if (inputs->normalization == SA_NORMALIZE_STANDARD)
        measure(inputs->next + inputs->dim, inputs->next_seen, inputs->dim, inputs->factor);
}

void sa_inputs_accept(sa_inputs *inputs) {
    if (inputs->normalization != SA_NORMALIZE_STANDARD) return;
    memcpy(inputs->mean, inputs->next, inputs->dim * sizeof(double));
    memcpy(inputs->squares, inputs->next + inputs->dim, inputs->dim * sizeof(double));
    inputs->seen = inputs->next_seen;
}

/* Into rows of out (count, width), width at least dim. */
static void standardise(const sa_inputs *inputs, const void *raw, size_t count, const double *mean, const double *factor,
                        void *out, size_t width) {
    if (inputs->precision == SA_PRECISION_SINGLE)
        inputs_standardise_f32(raw, count, inputs->dim, mean, factor, out, width);
    else
        inputs_standardise_f64(raw, count, inputs->dim, mean, factor, out, width);
}

const void *sa_inputs_fresh(const sa_inputs *inputs, const void *raw, size_t count, sa_input_block *block) {
    if (inputs->normalization != SA_NORMALIZE_STANDARD) return raw;
    standardise(inputs, raw, count, inputs->next, inputs->factor, block->input, inputs->dim);
    return block->input;
}

static void apply(const sa_inputs *inputs, const void *raw, size_t count, void *out, size_t width) {
    size_t dim = inputs->dim, bytes = sa_precision_bytes(inputs->precision);
    double *factor = inputs->factor + dim;
    if (inputs->normalization != SA_NORMALIZE_STANDARD) {
        for (size_t i = 0; i < count; i++)
            memcpy((char *)out + i * width * bytes, (const char *)raw + i * dim * bytes, dim * bytes);
        return;
    }
    measure(inputs->squares, inputs->seen, dim, factor);
    standardise(inputs, raw, count, inputs->mean, factor, out, width);
}

void sa_inputs_apply_placed(const sa_inputs *inputs, const void *raw, const int64_t *position, size_t count, void *out) {
    size_t width = inputs->dim + inputs->positions;
    apply(inputs, raw, count, out, width);
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
