/* "problem" of a decide request: what the oracle needs beside the scores, by the names of `superarm
 * solve`. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "bounds.h"
#include "values.h"

typedef struct table {
    double *numbers; /* (rows, columns) of either */
    size_t *indices;
    size_t rows, columns; /* a plain list has one column */
} sv_table;

/* Solvers count with them, and add them up. */
static bool read_number(const json_t *value, const char *name, double *out, sv_refusal *why) {
    if (!sv_value_number(value, name, out, why)) return false;
    return fabs(*out) <= LIMIT_MAGNITUDE ||
           sv_refuse(why, 400, "problem: %s has %g, and %g is the most that is taken", name, *out,
                     LIMIT_MAGNITUDE);
}

static bool read_cell(const json_t *value, const char *name, sv_table *into, size_t at, sv_refusal *why) {
    if (into->indices) return sv_value_whole(value, name, 0, 1e9, &into->indices[at], why);
    return read_number(value, name, &into->numbers[at], why);
}

/* A list, or with `two` a list of lists of one length, of numbers or of indices from 0. */
static bool read_table(sv_ask *self, const json_t *list, const char *name, bool two, bool indices,
                       sv_table *out, sv_refusal *why) {
    const json_t *first = json_array_get(list, 0);
    if (!json_is_array(list) || !first)
        return sv_refuse(why, 400, "problem: %s is no list, or an empty one", name);
    if (two && !json_is_array(first)) return sv_refuse(why, 400, "problem: %s is no list of lists", name);
    *out = (sv_table){.rows = json_array_size(list), .columns = two ? json_array_size(first) : 1};
    if (out->columns == 0 || out->rows * out->columns > LIMIT_NUMBERS)
        return sv_refuse(why, 400, "problem: %s has %zu x %zu numbers", name, out->rows, out->columns);
    void *block =
        sv_ask_block(self, out->rows * out->columns, indices ? sizeof(size_t) : sizeof(double), why);
    if (!block) return false;
    if (indices)
        out->indices = block;
    else
        out->numbers = block;
    for (size_t i = 0; i < out->rows; i++) {
        const json_t *row = json_array_get(list, i);
        if (two && json_array_size(row) != out->columns)
            return sv_refuse(why, 400, "problem: the rows of %s are not of one length", name);
        for (size_t j = 0; j < out->columns; j++)
            if (!read_cell(two ? json_array_get(row, j) : row, name, out, i * out->columns + j, why))
                return false;
    }
    return true;
}

static bool is_of_arms(const sv_ask *self, const char *name, size_t count, sv_refusal *why) {
    return count == self->arms ||
           sv_refuse(why, 400, "problem: %s is for %zu arms, and there are %zu", name, count, self->arms);
}

/* Memory goes with the largest of them. */
static bool are_groups(const sv_table *got, sv_refusal *why) {
    for (size_t i = 0; i < got->rows; i++)
        if (got->indices[i] >= LIMIT_GROUPS)
            return sv_refuse(why, 400, "problem: groups has %zu: they are numbered from 0, up to %d",
                             got->indices[i], LIMIT_GROUPS - 1);
    return true;
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

/* Nodes may have any numbers; solvers, whose memory goes with the largest, get those from 0 on, in the same
 * order. A source or target that no arm touches comes behind them. */
static bool number_nodes(sv_ask *self, size_t *edges, size_t arms, size_t *ends, sv_refusal *why) {
    size_t count = 2 * arms, kept = 0;
    size_t *sorted = sv_ask_block(self, count + 1, sizeof *sorted, why);
    if (!sorted) return false;
    memcpy(sorted, edges, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_number);
    for (size_t i = 0; i < count; i++)
        if (!kept || sorted[kept - 1] != sorted[i]) sorted[kept++] = sorted[i];
    for (size_t i = 0; i < count; i++) edges[i] = place_of(sorted, kept, edges[i]);
    if (!ends) return true;
    bool same = ends[0] == ends[1];
    ends[0] = place_of(sorted, kept, ends[0]);
    ends[1] = place_of(sorted, kept, ends[1]);
    if (ends[0] == ends[1] && !same) ends[1]++;
    return true;
}

/* Lists with one entry an arm, or a position, or a group. */
static bool take_list(sv_ask *self, const char *name, const json_t *value, bool *taken, sv_refusal *why) {
    static const struct {
        const char *name;
        bool indices, arms;
    } known[] = {{"costs", false, true},    {"groups", true, true},    {"capacities", true, false},
                 {"revenues", false, true}, {"minimums", true, false}, {"discounts", false, false}};
    enum { KNOWN = sizeof known / sizeof *known };
    sv_table got;
    size_t i = 0;
    while (i < KNOWN && strcmp(known[i].name, name)) i++;
    *taken = i < KNOWN;
    if (!*taken) return true;
    if (!read_table(self, value, name, false, known[i].indices, &got, why)) return false;
    if (known[i].arms && !is_of_arms(self, name, got.rows, why)) return false;
    if (!strcmp(name, "groups") && !are_groups(&got, why)) return false;
    switch (i) {
    case 0: sa_problem_costs(self->problem, got.numbers, got.rows); break;
    case 1: sa_problem_groups(self->problem, got.indices, got.rows); break;
    case 2: sa_problem_capacities(self->problem, got.indices, got.rows); break;
    case 3: sa_problem_revenues(self->problem, got.numbers, got.rows); break;
    case 4: sa_problem_minimums(self->problem, got.indices, got.rows); break;
    default: sa_problem_discounts(self->problem, got.numbers, got.rows); break;
    }
    return true;
}

/* Which arms a position takes: 0 or 1 for each, (positions, arms). */
static bool take_eligible(sv_ask *self, const sv_table *got, sv_refusal *why) {
    bool *flags = sv_ask_block(self, got->rows * got->columns, sizeof *flags, why);
    if (!flags) return false;
    for (size_t i = 0; i < got->rows * got->columns; i++) {
        if (got->indices[i] > 1)
            return sv_refuse(why, 400, "problem: eligible has %zu, and 0 or 1 is wanted", got->indices[i]);
        flags[i] = got->indices[i];
    }
    sa_problem_eligible(self->problem, flags, got->rows, got->columns);
    return true;
}

/* Tables: edges, topics, exclusions and eligible. */
static bool take_table(sv_ask *self, const char *name, const json_t *value, bool *taken, sv_refusal *why) {
    sv_table got;
    bool edges = !strcmp(name, "edges"), exclusions = !strcmp(name, "exclusions"),
         eligible = !strcmp(name, "eligible");
    *taken = edges || exclusions || eligible || !strcmp(name, "topics");
    if (!*taken) return true;
    if (!read_table(self, value, name, true, edges || exclusions || eligible, &got, why)) return false;
    if (!exclusions && !is_of_arms(self, name, eligible ? got.columns : got.rows, why)) return false;
    if ((edges || exclusions) && got.columns != 2)
        return sv_refuse(why, 400, "problem: %s has rows of %zu, not of 2", name, got.columns);
    if (eligible) return take_eligible(self, &got, why);
    if (edges)
        sa_problem_edges(self->problem, self->edges = got.indices, got.rows);
    else if (exclusions)
        sa_problem_exclusions(self->problem, got.indices, got.rows);
    else
        sa_problem_topics(self->problem, got.numbers, got.rows, got.columns);
    return true;
}

/* Two fields that go together: source and target, matrix and bounds. */
static bool take_pairs(sv_ask *self, const json_t *problem, sv_refusal *why) {
    const json_t *source = json_object_get(problem, "source"), *target = json_object_get(problem, "target");
    const json_t *matrix = json_object_get(problem, "matrix"), *bounds = json_object_get(problem, "bounds");
    size_t ends[2];
    sv_table a, b;
    if (!source != !target) return sv_refuse(why, 400, "problem: source and target go together");
    if (!matrix != !bounds) return sv_refuse(why, 400, "problem: matrix and bounds go together");
    if (source) {
        if (!sv_value_whole(source, "source", 0, 1e9, &ends[0], why) ||
            !sv_value_whole(target, "target", 0, 1e9, &ends[1], why))
            return false;
    }
    if (self->edges && !number_nodes(self, self->edges, self->arms, source ? ends : NULL, why)) return false;
    if (source) sa_problem_ends(self->problem, ends[0], ends[1]);
    if (matrix) {
        if (!read_table(self, matrix, "matrix", true, false, &a, why) ||
            !is_of_arms(self, "matrix", a.columns, why) ||
            !read_table(self, bounds, "bounds", false, false, &b, why))
            return false;
        if (a.rows != b.rows)
            return sv_refuse(why, 400, "problem: matrix has %zu rows, and bounds %zu", a.rows, b.rows);
        sa_problem_constraints(self->problem, a.numbers, b.numbers, a.rows, a.columns);
    }
    return true;
}

static bool take_scalar(sv_ask *self, const char *name, const json_t *value, sv_refusal *why) {
    double number;
    if (!strcmp(name, "exactly")) {
        if (!json_is_boolean(value)) return sv_refuse(why, 400, "problem: exactly is neither true nor false");
        self->exactly = json_is_true(value);
    } else if (!strcmp(name, "capacity") || !strcmp(name, "seconds")) {
        if (*name == 'c' ? !read_number(value, name, &number, why)
                         : !sv_value_number(value, name, &number, why))
            return false;
        if (*name == 'c')
            sa_problem_capacity(self->problem, number);
        else
            sa_problem_seconds(self->problem, number);
    } else if (!strcmp(name, "reward")) {
        if (!json_is_string(value)) return sv_refuse(why, 400, "problem: reward is no string");
        sa_status status = sa_problem_set(self->problem, name, json_string_value(value));
        if (status != SA_OK) return sv_refuse_library(why, status);
    }
    return true;
}

bool sv_ask_read_problem(sv_ask *self, const json_t *problem, sv_refusal *why) {
    static const char *const fields[] = {"costs",    "capacity", "groups",    "capacities", "minimums",
                                         "edges",    "source",   "target",    "revenues",   "topics",
                                         "matrix",   "bounds",   "discounts", "reward",     "exclusions",
                                         "eligible", "exactly",  "seconds",   NULL};
    const char *name;
    json_t *value;
    bool taken;
    if (!json_is_object(problem)) return sv_refuse(why, 400, "problem is no object");
    if (!sv_value_fields(problem, "a problem", fields, why)) return false;
    if (self->arms * self->slate > LIMIT_NUMBERS)
        return sv_refuse(why, 400, "problem: rules for %zu of %zu arms are too many: at most %d, multiplied",
                         self->slate, self->arms, LIMIT_NUMBERS);
    if (!(self->problem = sa_problem_new())) return sv_refuse(why, 503, "memory could not be had");
    json_object_foreach((json_t *)problem, name, value) {
        if (!take_list(self, name, value, &taken, why)) return false;
        if (!taken && !take_table(self, name, value, &taken, why)) return false;
        if (!taken && !take_scalar(self, name, value, why)) return false;
    }
    return take_pairs(self, problem, why);
}
