/* A problem out of JSON, which came from outside: every list is as long as it must be, and every number one
 * that solvers can count with. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "oracle/oracle.h"

/* Solvers add numbers up, and their memory goes with the largest group. */
static const double LARGEST_NUMBER = 1e15, LARGEST_INDEX = 1e9;
enum { MOST_GROUPS = 1000000 };

typedef struct reader {
    sa_problem *problem;
    const sa_json *json;
    size_t arms;
    size_t *edges; /* (arms, 2) of the problem; or NULL */
    bool *exactly;
} reader;

static sa_status wrong(const reader *r, size_t at, const char *name, const char *wanted) {
    char shown[SA_PRINTABLE];
    return sa_fail(SA_INVALID, "problem: %s has %s, and %s is wanted", name,
                   sa_json_printable(r->json, at, shown), wanted);
}

/* ---- numbers ---- */

static sa_status read_number(const reader *r, size_t at, const char *name, double most, double *out) {
    bool number = r->json->nodes[at].kind == SA_JSON_NUMBER;
    *out = number ? sa_json_number(r->json, at) : NAN;
    if (!number || !isfinite(*out)) return wrong(r, at, name, "a finite number");
    if (fabs(*out) <= most) return SA_OK;
    return sa_fail(SA_INVALID, "problem: %s has %g, and %g is the most that is taken", name, *out, most);
}

static sa_status read_index(const reader *r, size_t at, const char *name, size_t *out) {
    double number = r->json->nodes[at].kind == SA_JSON_NUMBER ? sa_json_number(r->json, at) : -1;
    if (!(number >= 0 && number <= LARGEST_INDEX && number == floor(number)))
        return wrong(r, at, name, "a whole number from 0 to 1e9");
    *out = (size_t)number;
    return SA_OK;
}

static sa_status read_cell(const reader *r, size_t at, sa_datum datum, void *cells, size_t place) {
    const sa_datum_info *info = sa_datum_at(datum);
    size_t index = 0;
    if (info->kind == SA_NUMBERS)
        return read_number(r, at, info->name, LARGEST_NUMBER, (double *)cells + place);
    if (info->kind == SA_FLAGS && r->json->nodes[at].kind <= SA_JSON_TRUE && r->json->nodes[at].kind) {
        ((bool *)cells)[place] = r->json->nodes[at].kind == SA_JSON_TRUE;
        return SA_OK;
    }
    SA_TRY(read_index(r, at, info->name, &index));
    if (info->kind == SA_FLAGS) {
        if (index > 1) return wrong(r, at, info->name, "0 or 1");
        ((bool *)cells)[place] = index;
        return SA_OK;
    }
    if (datum == SA_GROUPS && index >= MOST_GROUPS)
        return sa_fail(SA_INVALID, "problem: groups has %zu: they are numbered from 0, up to %d", index,
                       MOST_GROUPS - 1);
    ((size_t *)cells)[place] = index;
    return SA_OK;
}

/* ---- lists, and lists of lists ---- */

static sa_status check_extent(const reader *r, const char *name, sa_extent extent, size_t count) {
    if (extent == SA_EXTENT_ARMS && count != r->arms)
        return sa_fail(SA_INVALID, "problem: %s is for %zu arms, and there are %zu", name, count, r->arms);
    if (extent == SA_EXTENT_TWO && count != 2)
        return sa_fail(SA_INVALID, "problem: %s has rows of %zu, not of 2", name, count);
    return SA_OK;
}

/* Rows and columns, which are then all there: as many numbers as the text has, and no more. */
static sa_status read_shape(const reader *r, size_t list, const sa_datum_info *info, size_t *rows,
                            size_t *columns) {
    const sa_json_node *nodes = r->json->nodes;
    bool two = info->columns != SA_EXTENT_ONE;
    *rows = sa_json_count(r->json, list);
    *columns = 1;
    if (nodes[list].kind != SA_JSON_ARRAY || *rows == 0)
        return sa_fail(SA_INVALID, "problem: %s is no list, or an empty one", info->name);
    for (size_t at = list + 1; two && at < nodes[list].next; at = nodes[at].next) {
        size_t count = sa_json_count(r->json, at);
        if (nodes[at].kind != SA_JSON_ARRAY || count == 0)
            return sa_fail(SA_INVALID, "problem: %s is no list of lists, or has an empty one", info->name);
        if (at > list + 1 && count != *columns)
            return sa_fail(SA_INVALID, "problem: the rows of %s are not of one length", info->name);
        *columns = count;
    }
    SA_TRY(check_extent(r, info->name, info->rows, *rows));
    return two ? check_extent(r, info->name, info->columns, *columns) : SA_OK;
}

static sa_status take_array(reader *r, size_t list, sa_datum datum) {
    static const size_t sizes[] = {sizeof(double), sizeof(size_t), sizeof(bool)};
    const sa_datum_info *info = sa_datum_at(datum);
    const sa_json_node *nodes = r->json->nodes;
    size_t rows, columns, place = 0;
    void *cells;
    SA_TRY(read_shape(r, list, info, &rows, &columns));
    SA_TRY(sa_alloc_matrix(rows, columns, sizes[info->kind], &cells));
    sa_problem_give(r->problem, datum, cells, rows, columns, NULL);
    if (datum == SA_EDGES) r->edges = cells;
    bool two = info->columns != SA_EXTENT_ONE;
    for (size_t row = list + 1; row < nodes[list].next; row = nodes[row].next) {
        size_t end = two ? nodes[row].next : row + 1;
        for (size_t at = two ? row + 1 : row; at < end; at = nodes[at].next)
            SA_TRY(read_cell(r, at, datum, cells, place++));
    }
    return SA_OK;
}

static sa_status take_value(reader *r, size_t at, sa_datum datum) {
    const sa_datum_info *info = sa_datum_at(datum);
    sa_json_kind kind = (sa_json_kind)r->json->nodes[at].kind;
    double number;
    size_t index;
    if (datum == SA_EXACTLY) {
        if (kind != SA_JSON_TRUE && kind != SA_JSON_FALSE)
            return sa_fail(SA_INVALID, "problem: exactly is neither true nor false");
        *r->exactly = kind == SA_JSON_TRUE;
    } else if (datum == SA_REWARD) {
        bool sum = sa_json_equals(r->json, at, "sum");
        if (!sum && !sa_json_equals(r->json, at, "click")) return wrong(r, at, "reward", "click or sum");
        sa_problem_give_value(r->problem, datum, &sum);
    } else if (info->kind == SA_INDICES) {
        SA_TRY(read_index(r, at, info->name, &index));
        sa_problem_give_value(r->problem, datum, &index);
    } else {
        SA_TRY(read_number(r, at, info->name, datum == SA_SECONDS ? HUGE_VAL : LARGEST_NUMBER, &number));
        sa_problem_give_value(r->problem, datum, &number);
    }
    return SA_OK;
}

/* ---- nodes ---- */

static int by_number(const void *one, const void *other) {
    size_t a = *(const size_t *)one, b = *(const size_t *)other;
    return a < b ? -1 : a > b;
}

static size_t place_of(const size_t *sorted, size_t count, size_t node) {
    const size_t *found = bsearch(&node, sorted, count, sizeof *sorted, by_number);
    return found ? (size_t)(found - sorted) : count;
}

/* Solvers, whose memory goes with the largest node, get them numbered from 0 on, in the same order. A source
 * or target that no arm touches comes behind them. */
static sa_status number_nodes(const reader *r) {
    sa_oracle_data *data = &r->problem->data;
    size_t count = 2 * r->arms, kept = 0, *sorted;
    if (!r->edges) return SA_OK;
    SA_TRY(sa_alloc_array(count, sizeof *sorted, &sorted));
    memcpy(sorted, r->edges, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_number);
    for (size_t i = 0; i < count; i++)
        if (!kept || sorted[kept - 1] != sorted[i]) sorted[kept++] = sorted[i];
    for (size_t i = 0; i < count; i++) r->edges[i] = place_of(sorted, kept, r->edges[i]);
    if (data->given & SA_BIT(SA_SOURCE)) {
        bool same = data->source == data->target;
        data->source = place_of(sorted, kept, data->source);
        data->target = place_of(sorted, kept, data->target);
        if (data->source == data->target && !same) data->target++;
    }
    sa_free(sorted);
    return SA_OK;
}

/* ---- all of it ---- */

static sa_status unknown(const reader *r, size_t key) {
    char shown[SA_PRINTABLE];
    sa_buffer list = {0};
    for (sa_datum i = 0; i < SA_DATUM_COUNT; i++)
        sa_buffer_format(&list, "%s%s", i ? ", " : "", sa_datum_name(i));
    sa_fail(SA_INVALID, "%s is not a field of a problem, which has %s",
            sa_span_printable(sa_json_span(r->json, key), shown),
            list.status == SA_OK ? list.text : "others");
    sa_buffer_clear(&list);
    return SA_INVALID;
}

static sa_status check_pairs(const sa_oracle_data *data) {
    bool source = data->given & SA_BIT(SA_SOURCE), target = data->given & SA_BIT(SA_TARGET);
    bool matrix = data->given & SA_BIT(SA_MATRIX), bounds = data->given & SA_BIT(SA_BOUNDS);
    if (source != target) return sa_fail(SA_INVALID, "problem: source and target go together");
    if (matrix != bounds) return sa_fail(SA_INVALID, "problem: matrix and bounds go together");
    if (matrix && data->count[SA_MATRIX] != data->count[SA_BOUNDS])
        return sa_fail(SA_INVALID, "problem: matrix has %zu rows, and bounds %zu", data->count[SA_MATRIX],
                       data->count[SA_BOUNDS]);
    return SA_OK;
}

static sa_datum find(const reader *r, size_t key) {
    sa_datum datum = 0;
    while (datum < SA_DATUM_COUNT && !sa_json_equals(r->json, key, sa_datum_name(datum))) datum++;
    return datum;
}

sa_status sa_problem_json(sa_problem *problem, const sa_json *json, size_t object, size_t arms,
                          bool *exactly) {
    reader r = {.problem = problem, .json = json, .arms = arms, .exactly = exactly};
    const sa_json_node *nodes = json->nodes;
    unsigned taken = 0;
    if (nodes[object].kind != SA_JSON_OBJECT) return sa_fail(SA_INVALID, "problem is no object");
    for (size_t key = object + 1; key < nodes[object].next; key = nodes[key + 1].next) {
        sa_datum datum = find(&r, key);
        if (datum == SA_DATUM_COUNT) return unknown(&r, key);
        if (taken & SA_BIT(datum))
            return sa_fail(SA_INVALID, "problem: %s is there twice", sa_datum_name(datum));
        taken |= SA_BIT(datum);
        if (sa_datum_at(datum)->single)
            SA_TRY(take_value(&r, key + 1, datum));
        else
            SA_TRY(take_array(&r, key + 1, datum));
    }
    SA_TRY(check_pairs(&problem->data));
    return number_nodes(&r);
}
