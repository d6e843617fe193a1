/* The public problem: what is given in memory, and the solve that checks it all. */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
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

static const sa_datum_info DATA[] = {
#define ROW(enumerator, name, kind, single, rows, columns, field, help)                                      \
    {name, help, SA_##kind, single, SA_EXTENT_##rows, SA_EXTENT_##columns, offsetof(sa_oracle_data, field)},
    SA_ORACLE_DATA(ROW)
#undef ROW
};

const sa_datum_info *sa_datum_at(sa_datum datum) { return &DATA[datum]; }
const char *sa_datum_name(sa_datum datum) { return DATA[datum].name; }

sa_datum sa_datum_find(const char *name) {
    sa_datum datum = 0;
    while (datum < SA_DATUM_COUNT && strcmp(DATA[datum].name, name)) datum++;
    return datum;
}

/* ---- given in memory ---- */

static void forget(sa_problem *problem, int which) {
    sa_free(problem->owned[which]);
    sa_free(problem->path[which]);
    problem->owned[which] = NULL;
    problem->path[which] = NULL;
}

/* `values` NULL takes the datum away. */
static void put(sa_problem *problem, sa_datum datum, const void *values, size_t rows, size_t columns) {
    static const size_t sizes[] = {
        [SA_NUMBERS] = sizeof(double), [SA_INDICES] = sizeof(size_t), [SA_FLAGS] = sizeof(bool)};
    const sa_datum_info *info = &DATA[datum];
    sa_oracle_data *data = &problem->data;
    char *field = (char *)data + info->offset;
    forget(problem, datum);
    data->given = values ? data->given | SA_BIT(datum) : data->given & ~SA_BIT(datum);
    data->count[datum] = rows;
    data->columns[datum] = columns;
    data->file[datum] = NULL;
    if (!info->single)
        memcpy(field, &values, sizeof values);
    else if (values)
        memcpy(field, values, sizes[info->kind]);
}

void sa_problem_give(sa_problem *problem, sa_datum datum, void *array, size_t rows, size_t columns,
                     char *path) {
    put(problem, datum, array, rows, columns);
    problem->owned[datum] = array;
    problem->data.file[datum] = problem->path[datum] = path;
}

void sa_problem_give_value(sa_problem *problem, sa_datum datum, const void *value) {
    put(problem, datum, value, 1, 1);
}

/* What a problem has beside the data. */
static bool put_other(sa_problem *problem, const char *name, sa_data_kind kind, size_t rows, size_t columns,
                      const void *values) {
    sa_oracle_problem *of = &problem->problem;
    if (!strcmp(name, "scores") && kind == SA_NUMBERS) {
        forget(problem, SA_SCORES);
        of->scores = values;
        of->arms = rows;
        of->positions = columns;
    } else if (!strcmp(name, "exclude") && kind == SA_FLAGS)
        of->excluded = values;
    else if (!strcmp(name, "slate") && kind == SA_INDICES)
        of->slate = values ? *(const size_t *)values : 0;
    else
        return false;
    return true;
}

sa_status sa_problem_put(sa_problem *problem, const char *name, sa_data_kind kind, size_t rows,
                         size_t columns, const void *values) {
    static const char *const kinds[] = {"numbers", "indices", "flags"};
    char shown[SA_PRINTABLE];
    if (!problem || !name) return sa_fail(SA_INVALID, "sa_problem_put needs a problem and a name");
    if (put_other(problem, name, kind, rows, columns, values)) return SA_OK;
    sa_datum datum = sa_datum_find(name);
    if (datum == SA_DATUM_COUNT)
        return sa_fail(SA_INVALID, "%s is not part of a problem", sa_printable(name, shown));
    if (DATA[datum].kind != kind)
        return sa_fail(SA_INVALID, "%s of a problem is made of %s, not of %s", name, kinds[DATA[datum].kind],
                       kind <= SA_FLAGS ? kinds[kind] : "what was given");
    put(problem, datum, values, rows, columns);
    return SA_OK;
}

/* ---- bounds of a solve ---- */

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
/* ---- looked at ---- */

/* What is there, and how large; NULL where it is not, or is made of something else. */
static const void *look(const sa_problem *problem, const char *name, sa_data_kind kind, size_t *rows,
                        size_t *columns) {
    const sa_oracle_data *data = &problem->data;
    sa_datum datum = sa_datum_find(name);
    if (datum == SA_DATUM_COUNT || !(data->given & SA_BIT(datum))) return NULL;
    if (rows) *rows = data->count[datum];
    if (columns) *columns = data->columns[datum];
    const void *field = (const char *)data + DATA[datum].offset, *values;
    if (DATA[datum].kind != kind) return NULL;
    if (DATA[datum].single) return field;
    memcpy(&values, field, sizeof values);
    return values;
}

static void tell(size_t *rows, size_t *columns, size_t row_count, size_t column_count) {
    if (rows) *rows = row_count;
    if (columns) *columns = column_count;
}

const double *sa_problem_numbers(const sa_problem *problem, const char *name, size_t *rows, size_t *columns) {
    const sa_oracle_problem *of = &problem->problem;
    tell(rows, columns, 0, 0);
    if (strcmp(name, "scores")) return look(problem, name, SA_NUMBERS, rows, columns);
    tell(rows, columns, of->arms, of->positions ? of->positions : 1);
    return of->scores;
}

const size_t *sa_problem_indices(const sa_problem *problem, const char *name, size_t *rows, size_t *columns) {
    tell(rows, columns, 0, 0);
    if (strcmp(name, "slate")) return look(problem, name, SA_INDICES, rows, columns);
    tell(rows, columns, 1, 1);
    return &problem->problem.slate;
}

const bool *sa_problem_flags(const sa_problem *problem, const char *name, size_t *rows, size_t *columns) {
    tell(rows, columns, 0, 0);
    if (strcmp(name, "exclude")) return look(problem, name, SA_FLAGS, rows, columns);
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
