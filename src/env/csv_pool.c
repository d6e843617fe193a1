/* Three passes over the text: the first row gives the columns and the label's place, a survey the number of
 * rows and what kind each column is, and the last one fills the table. Numbers are read twice so that no text
 * has to be kept. */
#include "env/csv_pool.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "base/memory.h"
#include "env/csv_values.h"

/* What the survey finds in a column. */
typedef struct trait {
    size_t numbers, missing, others; /* how many fields */
    size_t first_row;                /* of the others, counted from 0 */
    size_t first_line;
    char first[SA_PRINTABLE];
    size_t endless_line; /* of the first number that is not finite; 0: none */
    char endless[SA_PRINTABLE];
} trait;

typedef struct parse {
    const char *text, *path;
    size_t size;
    const sa_csv_format *format;
    size_t width;          /* columns, with the label */
    size_t label;          /* its column */
    size_t rows;           /* without the header */
    trait *traits;         /* (width) */
    sa_csv_values *values; /* (width) of the columns that are not of numbers */
    sa_csv_pool pool;
} parse;

/* ---- rows of the file ---- */

typedef sa_status take_field(parse *self, size_t row, size_t column, size_t line, sa_span field);

/* Gives every field of every row behind the header to `take`. */
static sa_status each_field(parse *self, take_field *take) {
    sa_csv csv;
    sa_span field;
    bool ends;
    sa_status status;
    SA_TRY_OR_FAIL(sa_csv_begin(&csv, self->text, self->size, self->path, self->format->separator));
    if (self->format->header && sa_csv_row(&csv))
        for (ends = false; !ends;) SA_TRY_OR_FAIL(sa_csv_field(&csv, &field, &ends));
    for (self->rows = 0; sa_csv_row(&csv); self->rows++) {
        size_t column = 0, line = csv.line;
        for (ends = false; !ends; column++) {
            SA_TRY_OR_FAIL(sa_csv_field(&csv, &field, &ends));
            if (column < self->width) SA_TRY_OR_FAIL(take(self, self->rows, column, line, field));
        }
        if (column == self->width) continue;
        status = sa_fail(SA_FORMAT, "%s:%zu: %zu fields, where the first row has %zu", self->path, line,
                         column, self->width);
        goto fail;
    }
    sa_csv_clear(&csv);
    return SA_OK;
fail:
    sa_csv_clear(&csv);
    return status;
}

/* ---- the first row ---- */

static sa_status label_by_number(parse *self) {
    const char *label = self->format->label;
    int64_t number = 0, width = (int64_t)self->width;
    bool is_number = !strcmp(label, "last") || sa_text_to_integer(label, &number, NULL);
    char shown[SA_PRINTABLE];
    if (!strcmp(label, "last")) number = width;
    if (is_number && number < 0) number += width + 1;
    if (is_number && number >= 1 && number <= width && label[0]) {
        self->label = (size_t)number - 1;
        return SA_OK;
    }
    return sa_fail(SA_INVALID,
                   "--label %s is no column of %s: %sa number from 1 to %zu, from -1 for the last to -%zu, "
                   "or last is one",
                   sa_printable(label, shown), self->path,
                   self->format->header ? "a name in its first row, " : "without --header ", self->width,
                   self->width);
}

static sa_status read_first_row(parse *self) {
    sa_csv csv;
    sa_span field;
    size_t named = 0;
    sa_status status;
    SA_TRY_OR_FAIL(sa_csv_begin(&csv, self->text, self->size, self->path, self->format->separator));
    if (sa_csv_row(&csv))
        for (bool ends = false; !ends; self->width++) {
            SA_TRY_OR_FAIL(sa_csv_field(&csv, &field, &ends));
            if (!self->format->header || !sa_span_equals(field, self->format->label)) continue;
            self->label = self->width;
            named++;
        }
    if (self->width == 0)
        status = sa_fail(SA_FORMAT, "%s has no rows", self->path);
    else if (self->width == 1)
        status = sa_fail(
            SA_FORMAT, "%s has one column only, and a label and a feature are two: is --separator %s right?",
            self->path, self->format->separator == '\t' ? "tab" : (char[]){self->format->separator, 0});
    else if (named > 1)
        status = sa_fail(SA_INVALID, "--label %s is the name of %zu columns of %s: give its number",
                         self->format->label, named, self->path);
    else if (named == 0)
        status = label_by_number(self);
fail:
    sa_csv_clear(&csv);
    return status;
}

/* ---- the survey ---- */

static bool is_missing(sa_span field) { return field.size == 0 || (field.size == 1 && *field.start == '?'); }

static sa_status survey(parse *self, size_t row, size_t column, size_t line, sa_span field) {
    trait *of = &self->traits[column];
    double number;
    if (column == self->label) return SA_OK;
    bool is_number = sa_span_to_number(field, &number);
    if ((is_number && !isfinite(number)) || sa_span_not_finite(field)) {
        of->numbers++;
        if (of->endless_line) return SA_OK;
        of->endless_line = line;
        sa_span_printable(field, of->endless);
    } else if (is_number) {
        of->numbers++;
    } else if (is_missing(field)) {
        of->missing++;
    } else if (of->others++ == 0) {
        of->first_row = row;
        of->first_line = line;
        sa_span_printable(field, of->first);
    }
    return SA_OK;
}

/* A column is of numbers when all that is there is one. */
static sa_status choose_kind(const parse *self, size_t column, sa_csv_column *out) {
    const trait *of = &self->traits[column];
    bool number = of->numbers > 0 && of->others == 0;
    if (number && of->endless_line)
        return sa_fail(SA_FORMAT,
                       "%s:%zu: column %zu has %s among its numbers; a missing one is written as ?",
                       self->path, of->endless_line, column + 1, of->endless);
    if (!self->format->header && of->others == 1 && of->first_row == 0 && of->numbers > 1)
        return sa_fail(
            SA_FORMAT,
            "%s:%zu: column %zu has %s, and numbers in all other rows: a first row of names needs --header",
            self->path, of->first_line, column + 1, of->first);
    *out = (sa_csv_column){!number       ? SA_CSV_VALUES
                           : of->missing ? SA_CSV_NUMBER_OR_MISSING
                                         : SA_CSV_NUMBER,
                           number ? 1 + (of->missing > 0) : 0};
    return SA_OK;
}

/* The pool's column of a column of the file; the label's is left out. */
static size_t place_of(const parse *self, size_t column) { return column - (column > self->label); }

static sa_status make_pool(parse *self) {
    sa_csv_pool *pool = &self->pool;
    if (self->rows == 0) return sa_fail(SA_FORMAT, "%s has no rows below its header", self->path);
    *pool = (sa_csv_pool){.rows = self->rows, .columns = self->width - 1, .label_column = self->label};
    SA_TRY(sa_alloc_array(pool->columns, sizeof *pool->column, &pool->column));
    for (size_t column = 0; column < self->width; column++)
        if (column != self->label) SA_TRY(choose_kind(self, column, &pool->column[place_of(self, column)]));
    SA_TRY(sa_alloc_array(pool->rows, sizeof *pool->label, &pool->label));
    return sa_alloc_matrix(pool->rows, pool->columns, sizeof *pool->cells, &pool->cells);
}

/* ---- the table ---- */

static sa_status too_many_values(const parse *self, size_t column) {
    const trait *of = &self->traits[column];
    return sa_fail(SA_FORMAT,
                   "%s:%zu: column %zu has %s, which is no number, and more than %d different values, too "
                   "many for an input "
                   "each%s",
                   self->path, of->first_line, column + 1, of->first, SA_CSV_MOST_VALUES,
                   of->first_row == 0 && !self->format->header ? " (does a row of names need --header?)"
                                                               : "");
}

static sa_status fill(parse *self, size_t row, size_t column, size_t line, sa_span field) {
    sa_csv_pool *pool = &self->pool;
    (void)line;
    if (column == self->label) return sa_csv_values_add(&pool->labels, field, &pool->label[row]);
    size_t place = place_of(self, column), index;
    double *cell = &pool->cells[row * pool->columns + place];
    if (pool->column[place].kind != SA_CSV_VALUES) {
        if (!sa_span_to_number(field, cell)) *cell = NAN;
        return SA_OK;
    }
    SA_TRY(sa_csv_values_add(&self->values[column], field, &index));
    if (self->values[column].count > SA_CSV_MOST_VALUES) return too_many_values(self, column);
    *cell = (double)index;
    return SA_OK;
}

/* Values go from the order of arrival to that of their bytes, so that the order of the rows does not
 * matter. */
static sa_status order_values(parse *self) {
    sa_csv_pool *pool = &self->pool;
    size_t rank[SA_CSV_MOST_VALUES];
    for (size_t column = 0; column < self->width; column++) {
        sa_csv_values *values = &self->values[column];
        if (values->count == 0) continue;
        size_t place = place_of(self, column);
        SA_TRY(sa_csv_values_rank(values, rank));
        for (size_t row = 0; row < pool->rows; row++) {
            double *cell = &pool->cells[row * pool->columns + place];
            *cell = (double)rank[(size_t)*cell];
        }
        pool->column[place].inputs = values->count;
    }
    for (size_t place = 0; place < pool->columns; place++) pool->dim += pool->column[place].inputs;
    return SA_OK;
}

/* ---- all of it ---- */

static void parse_clear(parse *self) {
    if (self->values)
        for (size_t i = 0; i < self->width; i++) sa_csv_values_clear(&self->values[i]);
    sa_free(self->values);
    sa_free(self->traits);
    sa_csv_pool_clear(&self->pool);
}

static sa_status parse_all(parse *self) {
    SA_TRY(read_first_row(self));
    SA_TRY(sa_alloc_array(self->width, sizeof *self->traits, &self->traits));
    SA_TRY(sa_alloc_array(self->width, sizeof *self->values, &self->values));
    SA_TRY(each_field(self, survey));
    SA_TRY(make_pool(self));
    SA_TRY(each_field(self, fill));
    return order_values(self);
}

sa_status sa_csv_pool_parse(const char *text, size_t size, const char *path, const sa_csv_format *format,
                            sa_csv_pool *out) {
    parse self = {.text = text, .path = path, .size = size, .format = format};
    sa_status status = parse_all(&self);
    *out = (sa_csv_pool){0};
    if (status == SA_OK) {
        *out = self.pool;
        self.pool = (sa_csv_pool){0};
    } else if (status == SA_OUT_OF_MEMORY) {
        sa_fail_prefix(status, "%s: ", path);
    }
    parse_clear(&self);
    return status;
}

void sa_csv_pool_clear(sa_csv_pool *pool) {
    sa_csv_values_clear(&pool->labels);
    sa_free(pool->label);
    sa_free(pool->cells);
    sa_free(pool->column);
    *pool = (sa_csv_pool){0};
}

void sa_csv_pool_row(const sa_csv_pool *pool, size_t row, double *out) {
    const double *cell = pool->cells + row * pool->columns;
    for (size_t i = 0; i < pool->columns; i++) {
        const sa_csv_column *column = &pool->column[i];
        bool missing = column->kind != SA_CSV_VALUES && isnan(cell[i]);
        if (column->kind == SA_CSV_VALUES) {
            memset(out, 0, column->inputs * sizeof *out);
            out[(size_t)cell[i]] = 1;
        } else {
            out[0] = missing ? 0 : cell[i];
            if (column->kind == SA_CSV_NUMBER_OR_MISSING) out[1] = missing;
        }
        out += column->inputs;
    }
}

const char *sa_csv_pool_label_list(const sa_csv_pool *pool, char out[static SA_CSV_LABEL_LIST]) {
    enum { FEW = 12, ROOM = 33 };
    char shown[SA_PRINTABLE];
    size_t used = 0;
    _Static_assert(FEW * ROOM < SA_CSV_LABEL_LIST, "the few fit");
    for (size_t i = 0; i < pool->labels.count && i < FEW; i++)
        used += (size_t)snprintf(out + used, ROOM, "%s%.30s", i ? ", " : "",
                                 sa_printable(pool->labels.text[i], shown));
    return out;
}
