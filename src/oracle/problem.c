/* The public problem: what is given in memory or read from files, and the solve that checks it all. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/text.h"
#include "oracle/oracle.h"

enum { SCORES = SA_DATUM_COUNT, ARRAYS };

struct sa_problem {
    sa_oracle_problem problem;
    sa_oracle_data data;
    void *owned[ARRAYS]; /* arrays that were read */
    char *path[ARRAYS];  /* and where from; numbers: their text */
    sa_workspace workspace;
    size_t *slate;
    size_t slate_capacity;
};

sa_problem *sa_problem_new(void) {
    sa_problem *problem;
    return sa_alloc_array(1, sizeof *problem, &problem) == SA_OK ? problem : NULL;
}

void sa_problem_destroy(sa_problem *problem) {
    if (!problem) return;
    for (int i = 0; i < ARRAYS; i++) {
        sa_free(problem->owned[i]);
        sa_free(problem->path[i]);
    }
    sa_workspace_clear(&problem->workspace);
    sa_free(problem->slate);
    sa_free(problem);
}

const sa_oracle_data *sa_problem_data(const sa_problem *problem) { return &problem->data; }

/* ---- given in memory ---- */

/* Forgets what was read before; NULL takes the datum away. */
static void give(sa_problem *problem, int which, bool there, size_t count, size_t columns) {
    sa_free(problem->owned[which]);
    sa_free(problem->path[which]);
    problem->owned[which] = NULL;
    problem->path[which] = NULL;
    if (which == SCORES) return;
    sa_oracle_data *data = &problem->data;
    data->given = there ? data->given | SA_BIT(which) : data->given & ~SA_BIT(which);
    data->count[which] = count;
    data->columns[which] = columns;
    data->file[which] = NULL;
}

void sa_problem_scores(sa_problem *problem, const double *scores, size_t arms) {
    give(problem, SCORES, scores, arms, 1);
    problem->problem.scores = scores;
    problem->problem.arms = arms;
    problem->problem.positions = 0;
}

void sa_problem_position_scores(sa_problem *problem, const double *scores, size_t arms, size_t positions) {
    sa_problem_scores(problem, scores, arms);
    problem->problem.positions = positions;
}

void sa_problem_slate(sa_problem *problem, size_t slate) { problem->problem.slate = slate; }
void sa_problem_exactly(sa_problem *problem, bool exactly) { give(problem, SA_EXACTLY, exactly, 1, 1); }
void sa_problem_exclude(sa_problem *problem, const bool *excluded) { problem->problem.excluded = excluded; }

void sa_problem_costs(sa_problem *problem, const double *costs, size_t arms) {
    give(problem, SA_COSTS, costs, arms, 1);
    problem->data.costs = costs;
}
void sa_problem_capacity(sa_problem *problem, double capacity) {
    give(problem, SA_CAPACITY, true, 1, 1);
    problem->data.capacity = capacity;
}
void sa_problem_groups(sa_problem *problem, const size_t *groups, size_t arms) {
    give(problem, SA_GROUPS, groups, arms, 1);
    problem->data.groups = groups;
}
void sa_problem_capacities(sa_problem *problem, const size_t *capacities, size_t groups) {
    give(problem, SA_CAPACITIES, capacities, groups, 1);
    problem->data.capacities = capacities;
}
void sa_problem_edges(sa_problem *problem, const size_t *edges, size_t arms) {
    give(problem, SA_EDGES, edges, arms, 2);
    problem->data.edges = edges;
}
void sa_problem_ends(sa_problem *problem, size_t source, size_t target) {
    give(problem, SA_SOURCE, true, 1, 1);
    give(problem, SA_TARGET, true, 1, 1);
    problem->data.source = source;
    problem->data.target = target;
}
void sa_problem_revenues(sa_problem *problem, const double *revenues, size_t arms) {
    give(problem, SA_REVENUES, revenues, arms, 1);
    problem->data.revenues = revenues;
}
void sa_problem_topics(sa_problem *problem, const double *topics, size_t arms, size_t count) {
    give(problem, SA_TOPICS, topics, arms, count);
    problem->data.topics = topics;
}
void sa_problem_constraints(sa_problem *problem, const double *matrix, const double *bounds, size_t rows, size_t arms) {
    give(problem, SA_MATRIX, matrix, rows, arms);
    give(problem, SA_BOUNDS, bounds, rows, 1);
    problem->data.matrix = matrix;
    problem->data.bounds = bounds;
}
void sa_problem_discounts(sa_problem *problem, const double *discounts, size_t positions) {
    give(problem, SA_DISCOUNTS, discounts, positions, 1);
    problem->data.discounts = discounts;
}

/* ---- from text ---- */

static const struct {
    const char *name, *help;
    int which;
    size_t axes; /* 0: a number; 2: a matrix */
    bool indices;
} NAMES[] = {
    {"scores", "the arms' scores, (N), or (N, K) for assignment", SCORES, 1, false},
    {"slate", "K, arms to choose, or the most where arms may be left out", -1, 0, true},
    {"exactly", "exactly K arms, also where an oracle may leave arms out; true unless false is said", SA_EXACTLY, 0,
     false},
    {"costs", "knapsack: costs, (N), 0 or more", SA_COSTS, 1, false},
    {"capacity", "knapsack: what the costs may add up to", SA_CAPACITY, 0, false},
    {"groups", "matroid: the arms' groups, (N), counted from 0", SA_GROUPS, 1, true},
    {"capacities", "matroid: the most arms of each group", SA_CAPACITIES, 1, true},
    {"edges", "matroid, shortest-path, matching: the two nodes of each arm, (N, 2)", SA_EDGES, 2, true},
    {"source", "shortest-path: the node to start from", SA_SOURCE, 0, true},
    {"target", "shortest-path: the node to reach", SA_TARGET, 0, true},
    {"revenues", "assortment: revenues, (N)", SA_REVENUES, 1, false},
    {"topics", "submodular: how well each arm covers each topic, (N, topics)", SA_TOPICS, 2, false},
    {"matrix", "ilp: A in A x <= b, (rows, N)", SA_MATRIX, 2, false},
    {"bounds", "ilp: b, (rows)", SA_BOUNDS, 1, false},
    {"discounts", "cascade, assignment: the discounts of the positions, (K), 0 to 1", SA_DISCOUNTS, 1, false},
    {"reward", "cascade: click, 1 - prod(1 - psi_k v_k), or sum, of psi_k v_k", SA_REWARD, 0, false},
};
enum { NAME_COUNT = sizeof NAMES / sizeof *NAMES };

bool sa_problem_name_at(size_t index, const char **name, const char **help) {
    if (index >= NAME_COUNT) return false;
    *name = NAMES[index].name;
    *help = NAMES[index].help;
    return true;
}

/* Whole numbers from 0, from int32, int64 or whole floats. */
static sa_status to_indices(const char *name, const char *path, const sa_array *array, size_t **out) {
    size_t count = sa_array_count(array), *indices;
    SA_TRY(sa_alloc_array(count, sizeof *indices, &indices));
    for (size_t i = 0; i < count; i++) {
        double number = sa_array_number(array, i);
        if (number >= 0 && number < 9e15 && number == floor(number)) {
            indices[i] = (size_t)number;
            continue;
        }
        sa_free(indices);
        return sa_fail(SA_INVALID, "--%s %s: entry %zu is %g, and must be a whole number from 0", name, path, i, number);
    }
    *out = indices;
    return SA_OK;
}

static sa_status to_numbers(const sa_array *array, double **out) {
    size_t count = sa_array_count(array);
    double *numbers;
    SA_TRY(sa_alloc_array(count, sizeof *numbers, &numbers));
    for (size_t i = 0; i < count; i++) numbers[i] = sa_array_number(array, i);
    *out = numbers;
    return SA_OK;
}

static sa_status check_axes(size_t index, const char *path, const sa_array *array) {
    size_t axes = NAMES[index].axes;
    bool scores = NAMES[index].which == SCORES;
    if (array->axes == axes || (scores && array->axes == 2)) return SA_OK;
    return sa_fail(SA_INVALID, "--%s %s: an array of %zu axes, and %zu%s wanted", NAMES[index].name, path, array->axes,
                   axes,
                   scores      ? " or 2 are"
                   : axes == 1 ? " is"
                               : " are");
}

static void put(sa_problem *problem, size_t index, const sa_array *array, void *values) {
    size_t rows = array->shape[0], columns = array->axes > 1 ? array->shape[1] : 1;
    int which = NAMES[index].which;
    switch (which) {
    case SCORES:
        if (array->axes > 1)
            sa_problem_position_scores(problem, values, rows, columns);
        else
            sa_problem_scores(problem, values, rows);
        break;
    case SA_COSTS: sa_problem_costs(problem, values, rows); break;
    case SA_GROUPS: sa_problem_groups(problem, values, rows); break;
    case SA_CAPACITIES: sa_problem_capacities(problem, values, rows); break;
    case SA_EDGES: sa_problem_edges(problem, values, rows); break;
    case SA_REVENUES: sa_problem_revenues(problem, values, rows); break;
    case SA_TOPICS: sa_problem_topics(problem, values, rows, columns); break;
    case SA_DISCOUNTS: sa_problem_discounts(problem, values, rows); break;
    case SA_MATRIX:
        give(problem, SA_MATRIX, true, rows, columns);
        problem->data.matrix = values;
        break;
    case SA_BOUNDS:
        give(problem, SA_BOUNDS, true, rows, 1);
        problem->data.bounds = values;
        break;
    default: break;
    }
    if (which != SCORES) problem->data.columns[which] = columns;
    problem->owned[which] = values;
}

static sa_status read_array(sa_problem *problem, size_t index, const char *path) {
    sa_array array = {0};
    char *kept = NULL;
    double *numbers = NULL;
    size_t *indices = NULL;
    sa_status status = NAMES[index].axes == 1 ? sa_numbers_read(path, &array) : sa_npy_read(path, &array);
    if (status != SA_OK) return sa_fail_prefix(status, "--%s: ", NAMES[index].name);
    SA_TRY_OR_FAIL(check_axes(index, path, &array));
    SA_TRY_OR_FAIL(sa_copy_text(path, &kept));
    if (NAMES[index].indices)
        SA_TRY_OR_FAIL(to_indices(NAMES[index].name, path, &array, &indices));
    else
        SA_TRY_OR_FAIL(to_numbers(&array, &numbers));
    put(problem, index, &array, indices ? (void *)indices : numbers);
    problem->path[NAMES[index].which] = kept;
    if (NAMES[index].which != SCORES) problem->data.file[NAMES[index].which] = kept;
    sa_array_clear(&array);
    return SA_OK;
fail:
    sa_free(kept);
    sa_array_clear(&array);
    return status;
}

static sa_status set_index(sa_problem *problem, int which, const char *name, const char *text) {
    char shown[SA_PRINTABLE];
    int64_t number;
    bool clipped = false;
    if (!sa_text_to_integer(text, &number, &clipped) || clipped || number < (which < 0))
        return sa_fail(SA_INVALID, "--%s %s: a whole number from %d is wanted", name, sa_printable(text, shown),
                       which < 0);
    if (which < 0) {
        sa_problem_slate(problem, (size_t)number);
        return SA_OK;
    }
    give(problem, which, true, 1, 1);
    *(which == SA_SOURCE ? &problem->data.source : &problem->data.target) = (size_t)number;
    return SA_OK;
}

static sa_status set_value(sa_problem *problem, int which, const char *text) {
    char shown[SA_PRINTABLE];
    double number;
    if (which == SA_EXACTLY) {
        bool no = !strcmp(text, "false");
        if (!no && strcmp(text, "true"))
            return sa_fail(SA_INVALID, "--exactly %s is neither true nor false", sa_printable(text, shown));
        sa_problem_exactly(problem, !no);
        return SA_OK;
    }
    if (which == SA_REWARD) {
        bool sum = !strcmp(text, "sum");
        if (!sum && strcmp(text, "click"))
            return sa_fail(SA_INVALID, "--reward %s is neither click nor sum", sa_printable(text, shown));
        give(problem, SA_REWARD, true, 1, 1);
        problem->data.sum = sum;
        return SA_OK;
    }
    if (!sa_text_to_number(text, &number) || !(number >= 0) || !isfinite(number))
        return sa_fail(SA_INVALID, "--capacity %s: a number of 0 or more is wanted", sa_printable(text, shown));
    sa_problem_capacity(problem, number);
    return SA_OK;
}

sa_status sa_problem_set(sa_problem *problem, const char *name, const char *text) {
    char shown[SA_PRINTABLE];
    if (!problem || !name || !text) return sa_fail(SA_INVALID, "sa_problem_set needs a problem, a name and a text");
    for (size_t i = 0; i < NAME_COUNT; i++) {
        if (strcmp(NAMES[i].name, name)) continue;
        if (NAMES[i].axes > 0) return read_array(problem, i, text);
        if (NAMES[i].indices) return set_index(problem, NAMES[i].which, name, text);
        return set_value(problem, NAMES[i].which, text);
    }
    return sa_fail(SA_INVALID, "--%s is not part of a problem", sa_printable(name, shown));
}

/* ---- solving ---- */

/* Data that the oracle does not look at is a mistake: the user thinks that it matters. */
static sa_status check_unused(const sa_problem *problem, const sa_oracle *oracle) {
    unsigned unused = problem->data.given & ~(oracle->needs | oracle->takes);
    for (sa_datum datum = 0; datum < SA_DATUM_COUNT; datum++)
        if (unused & SA_BIT(datum)) return sa_fail(SA_INVALID, "--%s is not for %s", sa_datum_name(datum), oracle->name);
    return SA_OK;
}

sa_status sa_problem_solve(sa_problem *problem, const char *oracle_name, sa_solution *solution) {
    if (!problem || !solution) return sa_fail(SA_INVALID, "sa_problem_solve needs a problem and a place for the solution");
    const sa_oracle *oracle = sa_oracle_find(oracle_name);
    if (!oracle) return SA_INVALID;
    sa_oracle_problem full = problem->problem, *of = &full;
    full.data = &problem->data;
    if (full.slate == 0) full.slate = full.positions;
    SA_TRY(check_unused(problem, oracle));
    SA_TRY(sa_oracle_check(oracle, of));
    SA_TRY(sa_oracle_check_domain(oracle, of, problem->path[SCORES]));
    size_t length;
    SA_TRY(sa_grow_array(&problem->slate, &problem->slate_capacity, sa_oracle_most(oracle, of), sizeof *problem->slate));
    problem->workspace.gap = 0;
    SA_TRY(oracle->solve(of, &problem->workspace, problem->slate, &length));
    *solution = (sa_solution){.slate = problem->slate,
                              .length = length,
                              .reward = oracle->reward(of, problem->slate, length),
                              .alpha = oracle->alpha / (1 + problem->workspace.gap),
                              .exact = oracle->exact && problem->workspace.gap == 0};
    return SA_OK;
}
