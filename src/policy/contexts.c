#include "policy/contexts.h"

#include <math.h>

#include "base/reals.h"
#include "model/rows_real.h"

/* rows of either precision: model/rows_real.c */
#define PER_PRECISION(inputs, call_f32, call_f64)                                                            \
    ((inputs)->precision == SA_PRECISION_SINGLE ? (call_f32) : (call_f64))

/* Feature j of an arm as the caller gave it, joined by hand: for sentences. */
static double feature_of(const sa_request *request, size_t dim, size_t arm, size_t j) {
    size_t items = request->item_dim ? request->item_dim : dim, shares = request->shared_dim, i = j,
           k = SIZE_MAX;
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
        x *=
            request->contexts ? request->contexts[arm * items + i] : request->contexts_float[arm * items + i];
    if (k != SIZE_MAX) x *= request->shared ? request->shared[k] : request->shared_float[k];
    return request->contexts_float && request->shared_float ? (double)(float)x : x;
}

static sa_status name_the_wrong_one(const sa_inputs *inputs, const sa_request *request, size_t first,
                                    size_t count) {
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
static bool convert(const sa_inputs *inputs, const sa_request *request, size_t start, size_t count,
                    void *to) {
    if (request->contexts)
        return PER_PRECISION(inputs, rows_take_wide_f32(request->contexts + start, count, to),
                             rows_take_wide_f64(request->contexts + start, count, to));
    return PER_PRECISION(inputs, rows_take_narrow_f32(request->contexts_float + start, count, to),
                         rows_take_narrow_f64(request->contexts_float + start, count, to));
}

/* Items and what they share, row by row. */
static bool join(const sa_inputs *inputs, const sa_request *request, size_t first, size_t count,
                 double *joint, void *rows) {
    size_t items = request->item_dim, shares = request->shared_dim;
    double *shared = joint, *item = joint + shares;
    sa_joined from = {.item = item,
                      .shared = shared,
                      .items = items,
                      .shares = shares,
                      .concatenated = request->join != SA_JOIN_PRODUCTS,
                      .multiplied = request->join != SA_JOIN_CONCAT,
                      .narrow = request->contexts_float && request->shared_float};
    for (size_t j = 0; j < shares; j++)
        shared[j] = request->shared ? request->shared[j] : request->shared_float[j];
    for (size_t i = 0; i < count; i++) {
        size_t start = (first + i) * items;
        for (size_t j = 0; j < items; j++)
            item[j] = request->contexts ? request->contexts[start + j] : request->contexts_float[start + j];
        void *to = sa_real_at(inputs->precision, rows, i * inputs->dim);
        if (inputs->precision == SA_PRECISION_SINGLE)
            rows_join_f32(&from, to);
        else
            rows_join_f64(&from, to);
    }
    return PER_PRECISION(inputs, rows_are_finite_f32(rows, count * inputs->dim),
                         rows_are_finite_f64(rows, count * inputs->dim));
}

static void to_unit_length(const sa_inputs *inputs, void *raw, size_t count) {
    for (size_t i = 0; i < count; i++) {
        void *row = sa_real_at(inputs->precision, raw, i * inputs->dim);
        if (inputs->precision == SA_PRECISION_SINGLE)
            rows_to_unit_f32(row, inputs->dim);
        else
            rows_to_unit_f64(row, inputs->dim);
    }
}

sa_status sa_contexts_read(const sa_inputs *inputs, const sa_request *request, size_t first, size_t count,
                           sa_workspace *work, const void **raw) {
    size_t start = first * inputs->dim, total = count * inputs->dim;
    bool single = inputs->precision == SA_PRECISION_SINGLE,
         changes = inputs->normalization == SA_NORMALIZE_UNIT, finite;
    void *rows;
    double *joint;
    SA_TRY(SA_LAY(work, {&rows, total, sa_precision_bytes(inputs->precision)},
                  {&joint, inputs->dim + 1, sizeof *joint}));
    *raw = rows;
    if (request->item_dim) {
        finite = join(inputs, request, first, count, joint, rows);
    } else if (!changes && single && request->contexts_float) {
        *raw = request->contexts_float + start;
        finite = rows_are_finite_f32(*raw, total);
    } else if (!changes && !single && request->contexts) {
        *raw = request->contexts + start;
        finite = rows_are_finite_f64(*raw, total);
    } else {
        finite = convert(inputs, request, start, total, rows);
    }
    if (!finite) SA_TRY(name_the_wrong_one(inputs, request, first, count));
    if (changes) to_unit_length(inputs, rows, count);
    return SA_OK;
}
