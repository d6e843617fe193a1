#include "model/gradients.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

sa_status sa_gradients_init(sa_gradients *batch, sa_precision precision, size_t pairs,
                            const sa_pair_shape *shape) {
    sa_pair *pair;
    SA_TRY(sa_alloc_array(pairs, sizeof *pair, &pair));
    for (size_t l = 0; l < pairs; l++) pair[l].shape = shape[l];
    *batch = (sa_gradients){.precision = precision, .pairs = pairs, .pair = pair};
    return SA_OK;
}

sa_status sa_gradients_init_like(sa_gradients *batch, sa_precision precision, const sa_gradients *like) {
    sa_pair *pair;
    SA_TRY(sa_alloc_array(like->pairs, sizeof *pair, &pair));
    for (size_t l = 0; l < like->pairs; l++) pair[l].shape = like->pair[l].shape;
    *batch =
        (sa_gradients){.precision = precision, .pairs = like->pairs, .pair = pair, .summed = like->summed};
    return SA_OK;
}

sa_gradients sa_gradients_sums(const sa_gradients *batch, size_t *end, size_t sums) {
    sa_gradients view = *batch;
    view.summed = true;
    view.sums = view.ends = sums;
    view.end = end;
    return view;
}

void sa_gradients_clear(sa_gradients *batch) {
    for (size_t l = 0; l < batch->pairs && batch->pair; l++) {
        sa_free(batch->pair[l].delta);
        sa_free(batch->pair[l].input);
    }
    sa_free(batch->pair);
    sa_free(batch->end);
    *batch = (sa_gradients){0};
}

static bool is_like(const sa_gradients *batch, sa_precision precision, const sa_gradients *like) {
    if (!batch->pair || batch->precision != precision || batch->pairs != like->pairs) return false;
    for (size_t l = 0; l < like->pairs; l++)
        if (batch->pair[l].shape.delta != like->pair[l].shape.delta ||
            batch->pair[l].shape.input != like->pair[l].shape.input)
            return false;
    return true;
}

sa_status sa_gradients_fit(sa_gradients *batch, sa_precision precision, const sa_gradients *like) {
    batch->count = batch->sums = 0;
    batch->summed = like->summed;
    if (is_like(batch, precision, like)) return SA_OK;
    sa_gradients_clear(batch);
    return sa_gradients_init_like(batch, precision, like);
}

sa_status sa_gradients_share(sa_gradients *batch, const sa_gradients *from) {
    SA_TRY(sa_gradients_init_like(batch, from->precision, from));
    for (size_t l = 0; l < from->pairs; l++) {
        batch->pair[l].delta = sa_hold(from->pair[l].delta);
        batch->pair[l].input = sa_hold(from->pair[l].input);
    }
    batch->end = sa_hold(from->end);
    batch->sums = from->sums;
    batch->ends = from->ends;
    batch->count = from->count;
    batch->capacity = from->capacity;
    return SA_OK;
}

sa_status sa_gradients_unshare(sa_gradients *batch) {
    for (size_t l = 0; l < batch->pairs; l++) {
        SA_TRY(sa_unshare(&batch->pair[l].delta));
        SA_TRY(sa_unshare(&batch->pair[l].input));
    }
    return sa_unshare(&batch->end);
}

sa_gradients sa_gradients_part(const sa_gradients *batch, size_t first, size_t count, sa_pair *pair) {
    sa_gradients part = *batch;
    part.count = part.capacity = count;
    part.pair = pair;
    for (size_t l = 0; l < batch->pairs; l++) {
        pair[l] = batch->pair[l];
        pair[l].delta = sa_real_at(batch->precision, pair[l].delta, first * pair[l].shape.delta);
        pair[l].input = sa_real_at(batch->precision, pair[l].input, first * pair[l].shape.input);
    }
    return part;
}

/* Each array grows by itself, so an array that already grew when a later one fails is merely larger than it
 * need be. */
sa_status sa_gradients_reserve(sa_gradients *batch, size_t capacity) {
    if (batch->summed) SA_TRY(sa_grow_array(&batch->end, &batch->ends, capacity, sizeof *batch->end));
    if (capacity <= batch->capacity) return SA_OK;
    size_t larger = batch->capacity + batch->capacity / 2;
    if (larger < capacity) larger = capacity;
    size_t bytes = sa_precision_bytes(batch->precision);
    for (size_t l = 0; l < batch->pairs; l++) {
        sa_pair *pair = &batch->pair[l];
        size_t delta_rows = batch->capacity, input_rows = batch->capacity;
        SA_TRY(sa_grow_array(&pair->delta, &delta_rows, larger, pair->shape.delta * bytes));
        SA_TRY(sa_grow_array(&pair->input, &input_rows, larger, pair->shape.input * bytes));
    }
    batch->capacity = larger;
    return SA_OK;
}

/* to[0 .. count) = from[0 .. count), each in its own precision */
static void convert(void *to, sa_precision to_precision, const void *from, sa_precision from_precision,
                    size_t count) {
    if (to_precision == from_precision) {
        memcpy(to, from, count * sa_precision_bytes(to_precision));
    } else if (to_precision == SA_PRECISION_DOUBLE) {
        double *wide = to;
        const float *narrow = from;
        for (size_t i = 0; i < count; i++) wide[i] = narrow[i];
    } else {
        float *narrow = to;
        const double *wide = from;
        for (size_t i = 0; i < count; i++) narrow[i] = (float)wide[i];
    }
}

static void *row_of(void *matrix, size_t row, size_t length, sa_precision precision) {
    return (char *)matrix + row * length * sa_precision_bytes(precision);
}

void sa_gradients_append_range(sa_gradients *batch, const sa_gradients *from, size_t first, size_t count) {
    size_t row = sa_gradients_row(from, first), rows = sa_gradients_row(from, first + count) - row;
    for (size_t l = 0; l < batch->pairs; l++) {
        const sa_pair *source = &from->pair[l];
        sa_pair *target = &batch->pair[l];
        sa_pair_shape shape = target->shape;
        convert(row_of(target->delta, batch->count, shape.delta, batch->precision), batch->precision,
                row_of(source->delta, row, shape.delta, from->precision), from->precision,
                rows * shape.delta);
        convert(row_of(target->input, batch->count, shape.input, batch->precision), batch->precision,
                row_of(source->input, row, shape.input, from->precision), from->precision,
                rows * shape.input);
    }
    for (size_t i = 0; batch->summed && i < count; i++)
        batch->end[batch->sums++] = batch->count + sa_gradients_row(from, first + i + 1) - row;
    batch->count += rows;
}

void sa_gradients_append(sa_gradients *batch, const sa_gradients *from, const size_t *rows, size_t count) {
    if (!rows && count > 0) sa_gradients_append_range(batch, from, 0, count);
    for (size_t i = 0; rows && i < count; i++) sa_gradients_append_range(batch, from, rows[i], 1);
}

void sa_gradients_move(sa_gradients *batch, size_t from, size_t to) {
    size_t bytes = sa_precision_bytes(batch->precision);
    for (size_t l = 0; l < batch->pairs && from != to; l++) {
        const sa_pair *pair = &batch->pair[l];
        memcpy(row_of(pair->delta, to, pair->shape.delta, batch->precision),
               row_of(pair->delta, from, pair->shape.delta, batch->precision), pair->shape.delta * bytes);
        memcpy(row_of(pair->input, to, pair->shape.input, batch->precision),
               row_of(pair->input, from, pair->shape.input, batch->precision), pair->shape.input * bytes);
    }
}

/* A gradient is linear in its deltas. */
void sa_gradients_scale(sa_gradients *batch, size_t index, double factor) {
    size_t row = sa_gradients_row(batch, index), rows = sa_gradients_row(batch, index + 1) - row;
    for (size_t l = 0; l < batch->pairs; l++) {
        size_t length = batch->pair[l].shape.delta;
        void *delta = row_of(batch->pair[l].delta, row, length, batch->precision);
        for (size_t i = 0; i < rows * length; i++)
            if (batch->precision == SA_PRECISION_DOUBLE)
                ((double *)delta)[i] *= factor;
            else
                ((float *)delta)[i] *= (float)factor;
    }
}

/* compiled per precision: gradients_real.c */
double gradients_dot_f32(const sa_gradients *left, size_t i, const sa_gradients *right, size_t j);
double gradients_dot_f64(const sa_gradients *left, size_t i, const sa_gradients *right, size_t j);
void gradients_norms_f32(const sa_gradients *batch, double *squared);
void gradients_norms_f64(const sa_gradients *batch, double *squared);
void gradients_norms_above_f32(const sa_gradients *batch, double *squared);
void gradients_norms_above_f64(const sa_gradients *batch, double *squared);

void sa_gradients_norms(const sa_gradients *batch, double *squared) {
    if (batch->precision == SA_PRECISION_SINGLE)
        gradients_norms_f32(batch, squared);
    else
        gradients_norms_f64(batch, squared);
}

double sa_gradients_product(const sa_gradients *batch, size_t i, size_t j) {
    return batch->precision == SA_PRECISION_SINGLE ? gradients_dot_f32(batch, i, batch, j)
                                                   : gradients_dot_f64(batch, i, batch, j);
}

void sa_gradients_norms_above(const sa_gradients *batch, double *squared) {
    if (batch->precision == SA_PRECISION_SINGLE)
        gradients_norms_above_f32(batch, squared);
    else
        gradients_norms_above_f64(batch, squared);
}

size_t sa_gradients_parameters(const sa_gradients *batch) {
    size_t total = 0;
    for (size_t l = 0; l < batch->pairs; l++)
        total += batch->pair[l].shape.delta * batch->pair[l].shape.input;
    return total;
}

size_t sa_gradients_length(const sa_gradients *batch) {
    size_t total = 0;
    for (size_t l = 0; l < batch->pairs; l++)
        total += batch->pair[l].shape.delta + batch->pair[l].shape.input;
    return total;
}

sa_status sa_gradients_save(const sa_gradients *batch, sa_npz_writer *writer, const char *prefix) {
    char name[64];
    snprintf(name, sizeof name, "%s_end", prefix);
    if (batch->summed) SA_TRY(sa_npz_add(writer, name, SA_INT64, 1, &batch->sums, batch->end));
    for (size_t l = 0; l < batch->pairs; l++) {
        const sa_pair *pair = &batch->pair[l];
        snprintf(name, sizeof name, "%s_delta%zu", prefix, l + 1);
        SA_TRY(sa_npz_add(writer, name, sa_real_dtype(batch->precision), 2,
                          (size_t[]){batch->count, pair->shape.delta}, pair->delta));
        snprintf(name, sizeof name, "%s_input%zu", prefix, l + 1);
        SA_TRY(sa_npz_add(writer, name, sa_real_dtype(batch->precision), 2,
                          (size_t[]){batch->count, pair->shape.input}, pair->input));
    }
    return SA_OK;
}

/* `*count` sums become so many rows: every sum has one at least. */
static sa_status load_ends(sa_gradients *batch, sa_npz *archive, const char *prefix, size_t *count) {
    const size_t most = SIZE_MAX / 64;
    char name[64];
    SA_TRY(sa_gradients_reserve(batch, *count));
    snprintf(name, sizeof name, "%s_end", prefix);
    SA_TRY(sa_npz_read_into(archive, name, SA_INT64, 1, count, batch->end));
    for (size_t i = 0; i < *count; i++)
        if (batch->end[i] <= (i ? batch->end[i - 1] : 0) || batch->end[i] > most)
            return sa_fail(SA_FORMAT, "'%s' does not rise", name);
    batch->sums = *count;
    *count = sa_gradients_row(batch, *count);
    return SA_OK;
}

sa_status sa_gradients_load(sa_gradients *batch, sa_npz *archive, const char *prefix, size_t count) {
    char name[64];
    if (batch->summed) SA_TRY(load_ends(batch, archive, prefix, &count));
    SA_TRY(sa_gradients_reserve(batch, count));
    for (size_t l = 0; l < batch->pairs; l++) {
        sa_pair *pair = &batch->pair[l];
        snprintf(name, sizeof name, "%s_delta%zu", prefix, l + 1);
        SA_TRY(sa_npz_read_into(archive, name, sa_real_dtype(batch->precision), 2,
                                (size_t[]){count, pair->shape.delta}, pair->delta));
        snprintf(name, sizeof name, "%s_input%zu", prefix, l + 1);
        SA_TRY(sa_npz_read_into(archive, name, sa_real_dtype(batch->precision), 2,
                                (size_t[]){count, pair->shape.input}, pair->input));
    }
    batch->count = count;
    return SA_OK;
}
