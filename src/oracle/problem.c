/* The public problem: what is given in memory, and the solve that checks it all. */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "oracle/oracle.h"

sa_problem *sa_problem_new(void) {
    sa_problem *problem;
    return sa_alloc_array(1, sizeof *problem, &problem) == SA_OK ? problem : NULL;
}

void sa_problem_destroy(sa_problem *problem) {
    if (!problem) return;
    for (int i = 0; i < SA_PROBLEM_ARRAYS; i++) {
        sa_free(problem->owned[i]);
        sa_free(problem->path[i]);
    }
    sa_workspace_clear(&problem->workspace);
    sa_free(problem->slate);
    sa_free(problem);
}

const sa_oracle_data *sa_problem_data(const sa_problem *problem) { return &problem->data; }

/* ---- the table of data ---- */

static const struct {
    sa_datum_kind kind;
    size_t offset;
} DATA[] = {
#define ROW(enumerator, name, kind, field) {SA_DATUM_##kind, offsetof(sa_oracle_data, field)},
    SA_ORACLE_DATA(ROW)
#undef ROW
};

void *sa_datum_field(sa_oracle_data *data, sa_datum datum) { return (char *)data + DATA[datum].offset; }
sa_datum_kind sa_datum_kind_of(sa_datum datum) { return DATA[datum].kind; }

/* ---- given in memory ---- */

static void forget(sa_problem *problem, int which) {
    sa_free(problem->owned[which]);
    sa_free(problem->path[which]);
    problem->owned[which] = NULL;
    problem->path[which] = NULL;
}

void sa_problem_give(sa_problem *problem, sa_datum datum, const void *array, size_t rows, size_t columns) {
    sa_oracle_data *data = &problem->data;
    forget(problem, datum);
    data->given = array ? data->given | SA_BIT(datum) : data->given & ~SA_BIT(datum);
    data->count[datum] = rows;
    data->columns[datum] = columns;
    data->file[datum] = NULL;
    if (DATA[datum].kind <= SA_DATUM_FLAGS) memcpy(sa_datum_field(data, datum), &array, sizeof array);
}

void sa_problem_scores(sa_problem *problem, const double *scores, size_t arms) {
    forget(problem, SA_SCORES);
    problem->problem.scores = scores;
    problem->problem.arms = arms;
    problem->problem.positions = 0;
}

void sa_problem_position_scores(sa_problem *problem, const double *scores, size_t arms, size_t positions) {
    sa_problem_scores(problem, scores, arms);
    problem->problem.positions = positions;
}

void sa_problem_slate(sa_problem *problem, size_t slate) { problem->problem.slate = slate; }
void sa_problem_exclude(sa_problem *problem, const bool *excluded) { problem->problem.excluded = excluded; }
void sa_problem_exactly(sa_problem *problem, bool exactly) {
    problem->data.exactly = exactly;
    sa_problem_give(problem, SA_EXACTLY, exactly ? problem : NULL, 1, 1);
}

void sa_problem_costs(sa_problem *problem, const double *costs, size_t arms) {
    sa_problem_give(problem, SA_COSTS, costs, arms, 1);
}
void sa_problem_capacity(sa_problem *problem, double capacity) {
    problem->data.capacity = capacity;
    sa_problem_give(problem, SA_CAPACITY, problem, 1, 1);
}
void sa_problem_groups(sa_problem *problem, const size_t *groups, size_t arms) {
    sa_problem_give(problem, SA_GROUPS, groups, arms, 1);
}
void sa_problem_capacities(sa_problem *problem, const size_t *capacities, size_t groups) {
    sa_problem_give(problem, SA_CAPACITIES, capacities, groups, 1);
}
void sa_problem_minimums(sa_problem *problem, const size_t *minimums, size_t groups) {
    sa_problem_give(problem, SA_MINIMUMS, minimums, groups, 1);
}
void sa_problem_exclusions(sa_problem *problem, const size_t *exclusions, size_t pairs) {
    sa_problem_give(problem, SA_EXCLUSIONS, exclusions, pairs, 2);
}
void sa_problem_eligible(sa_problem *problem, const bool *eligible, size_t positions, size_t arms) {
    sa_problem_give(problem, SA_ELIGIBLE, eligible, positions, arms);
}
void sa_problem_edges(sa_problem *problem, const size_t *edges, size_t arms) {
    sa_problem_give(problem, SA_EDGES, edges, arms, 2);
}
void sa_problem_ends(sa_problem *problem, size_t source, size_t target) {
    problem->data.source = source;
    problem->data.target = target;
    sa_problem_give(problem, SA_SOURCE, problem, 1, 1);
    sa_problem_give(problem, SA_TARGET, problem, 1, 1);
}
void sa_problem_revenues(sa_problem *problem, const double *revenues, size_t arms) {
    sa_problem_give(problem, SA_REVENUES, revenues, arms, 1);
}
void sa_problem_topics(sa_problem *problem, const double *topics, size_t arms, size_t count) {
    sa_problem_give(problem, SA_TOPICS, topics, arms, count);
}
void sa_problem_constraints(sa_problem *problem, const double *matrix, const double *bounds, size_t rows,
                            size_t arms) {
    sa_problem_give(problem, SA_MATRIX, matrix, rows, arms);
    sa_problem_give(problem, SA_BOUNDS, bounds, rows, 1);
}
void sa_problem_seconds(sa_problem *problem, double seconds) {
    problem->data.seconds = seconds;
    sa_problem_give(problem, SA_SECONDS, problem, 1, 1);
}
void sa_problem_bound_time(sa_problem *problem, double seconds) { problem->data.most_seconds = seconds; }
void sa_problem_integer_solver(sa_problem *problem, sa_integer_solver solve, void *user) {
    problem->data.solver = solve;
    problem->data.solver_user = user;
}
void sa_data_begin(sa_oracle_data *data) {
    data->until = data->most_seconds > 0 ? sa_clock_of_thread() + data->most_seconds : 0;
}
bool sa_problem_is_late(const sa_oracle_problem *problem) {
    return problem->data && problem->data->until > 0 && sa_clock_of_thread() > problem->data->until;
}
sa_status sa_problem_fail_late(void) {
    return sa_fail(SA_INVALID,
                   "the slate was not found in the time that was given: ask for fewer arms, or with "
                   "simpler rules");
}
void sa_problem_discounts(sa_problem *problem, const double *discounts, size_t positions) {
    sa_problem_give(problem, SA_DISCOUNTS, discounts, positions, 1);
}

/* ---- looked at ---- */

/* What is there, and how large; NULL where it is not, or is made of something else. */
static const void *look(const sa_problem *problem, const char *name, sa_datum_kind array,
                        sa_datum_kind single, size_t *rows, size_t *columns) {
    const sa_oracle_data *data = &problem->data;
    for (sa_datum datum = 0; datum < SA_DATUM_COUNT; datum++) {
        if (strcmp(sa_datum_name(datum), name) || !(data->given & SA_BIT(datum))) continue;
        if (rows) *rows = data->count[datum];
        if (columns) *columns = data->columns[datum];
        const void *field = (const char *)data + DATA[datum].offset, *values;
        if (DATA[datum].kind != array) return DATA[datum].kind == single ? field : NULL;
        memcpy(&values, field, sizeof values);
        return values;
    }
    return NULL;
}

static void tell(size_t *rows, size_t *columns, size_t row_count, size_t column_count) {
    if (rows) *rows = row_count;
    if (columns) *columns = column_count;
}

const double *sa_problem_numbers(const sa_problem *problem, const char *name, size_t *rows, size_t *columns) {
    const sa_oracle_problem *of = &problem->problem;
    tell(rows, columns, 0, 0);
    if (strcmp(name, "scores")) return look(problem, name, SA_DATUM_NUMBERS, SA_DATUM_NUMBER, rows, columns);
    tell(rows, columns, of->arms, of->positions ? of->positions : 1);
    return of->scores;
}

const size_t *sa_problem_indices(const sa_problem *problem, const char *name, size_t *rows, size_t *columns) {
    tell(rows, columns, 0, 0);
    if (strcmp(name, "slate")) return look(problem, name, SA_DATUM_INDICES, SA_DATUM_INDEX, rows, columns);
    tell(rows, columns, 1, 1);
    return &problem->problem.slate;
}

const bool *sa_problem_flags(const sa_problem *problem, const char *name, size_t *rows, size_t *columns) {
    tell(rows, columns, 0, 0);
    if (strcmp(name, "exclude")) return look(problem, name, SA_DATUM_FLAGS, SA_DATUM_FLAG, rows, columns);
    tell(rows, columns, problem->problem.arms, 1);
    return problem->problem.excluded;
}

/* ---- solving ---- */

/* Data that the oracle does not look at is a mistake: the user thinks that it matters. */
static sa_status check_unused(const sa_problem *problem, const sa_oracle *oracle) {
    unsigned unused = problem->data.given & ~(oracle->needs | oracle->takes);
    for (sa_datum datum = 0; datum < SA_DATUM_COUNT; datum++)
        if (unused & SA_BIT(datum))
            return sa_fail(SA_INVALID, "--%s is not for %s", sa_datum_name(datum), oracle->name);
    return SA_OK;
}

sa_status sa_problem_solve(sa_problem *problem, const char *oracle_name, sa_solution *solution) {
    if (!problem || !solution)
        return sa_fail(SA_INVALID, "sa_problem_solve needs a problem and a place for the solution");
    const sa_oracle *oracle = sa_oracle_find(oracle_name);
    if (!oracle) return SA_INVALID;
    sa_oracle_problem full = problem->problem, *of = &full;
    full.data = &problem->data;
    if (full.slate == 0) full.slate = full.positions;
    SA_TRY(check_unused(problem, oracle));
    SA_TRY(sa_oracle_check(oracle, of));
    SA_TRY(sa_oracle_check_domain(oracle, of, problem->path[SA_SCORES]));
    size_t length;
    SA_TRY(sa_grow_array(&problem->slate, &problem->slate_capacity, sa_oracle_most(oracle, of),
                         sizeof *problem->slate));
    problem->workspace.gap = 0;
    sa_data_begin(&problem->data);
    SA_TRY(oracle->solve(of, &problem->workspace, problem->slate, &length));
    *solution = (sa_solution){.slate = problem->slate,
                              .length = length,
                              .reward = oracle->reward(of, problem->slate, length),
                              .alpha = oracle->alpha / (1 + problem->workspace.gap),
                              .exact = oracle->exact && problem->workspace.gap == 0};
    return SA_OK;
}
