/* Assignment under rules that are no flow, as an integer program for CBC: x(a, k) is 1 where position k has
 * arm a.
 *
 *   each position: sum_a x(a, k) = 1                 each arm: sum_k x(a, k) <= 1
 *   each group: least <= sum x <= most               each pair a, b that exclude each other: sum_k x(a, k) +
 *                                                    x(b, k) <= 1
 *   each row of the matrix: sum_a A(r, a) sum_k x(a, k) <= b(r) */
#include "oracle/assignment.h"

#include <math.h>

#include "base/memory.h"

/* Rows in this order: positions, arms, groups, pairs, matrix. */
typedef struct shape {
    size_t positions, arms, groups, pairs, matrix;
} shape;

static void add(sa_program *program, int *count, size_t row, double value) {
    program->index[*count] = (int)row;
    program->value[(*count)++] = value;
}

/* The rows that an arm is in, whichever its position. first and next: the pairs of each arm, as lists. */
static void add_arm(const sa_oracle_problem *problem, const shape *of, sa_program *program, size_t arm,
                    const size_t *first, const size_t *next, int *count) {
    const sa_oracle_data *data = problem->data;
    size_t row = of->positions;
    add(program, count, row + arm, 1);
    row += of->arms;
    if (of->groups > 0) add(program, count, row + data->groups[arm], 1);
    row += of->groups;
    for (size_t i = first[arm]; i != SA_NONE; i = next[i]) add(program, count, row + i / 2, 1);
    row += of->pairs;
    for (size_t i = 0; i < of->matrix; i++)
        if (data->matrix[i * of->arms + arm] != 0)
            add(program, count, row + i, data->matrix[i * of->arms + arm]);
}

static void add_columns(const sa_oracle_problem *problem, const shape *of, sa_program *program, size_t *first,
                        size_t *next) {
    int count = 0;
    for (size_t arm = 0; arm < of->arms; arm++) first[arm] = SA_NONE;
    for (size_t i = 0; i < 2 * of->pairs; i++) {
        next[i] = first[problem->data->exclusions[i]];
        first[problem->data->exclusions[i]] = i;
    }
    for (size_t arm = 0; arm < of->arms; arm++)
        for (size_t k = 0; k < of->positions; k++) {
            size_t column = arm * of->positions + k;
            program->start[column] = count;
            program->lower[column] = 0;
            program->upper[column] = sa_problem_allows(problem, arm) && sa_position_takes(problem, arm, k);
            program->score[column] = sa_position_score(problem, arm, k);
            add(program, &count, k, 1);
            add_arm(problem, of, program, arm, first, next, &count);
        }
    program->start[program->columns] = count;
}

static void add_limits(const sa_oracle_problem *problem, const shape *of, sa_program *program) {
    const sa_oracle_data *data = problem->data;
    size_t row = 0;
    for (size_t k = 0; k < of->positions; k++, row++) program->least[row] = program->most[row] = 1;
    for (size_t arm = 0; arm < of->arms; arm++, row++) {
        program->least[row] = 0;
        program->most[row] = 1;
    }
    for (size_t g = 0; g < of->groups; g++, row++) {
        program->least[row] = sa_problem_has(problem, SA_MINIMUMS) ? (double)data->minimums[g] : 0;
        program->most[row] =
            sa_problem_has(problem, SA_CAPACITIES) ? (double)data->capacities[g] : (double)of->positions;
    }
    for (size_t i = 0; i < of->pairs; i++, row++) {
        program->least[row] = 0;
        program->most[row] = 1;
    }
    for (size_t i = 0; i < of->matrix; i++, row++) {
        program->least[row] = -INFINITY;
        program->most[row] = data->bounds[i];
    }
}

sa_status sa_assignment_program(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate) {
    shape of = {.positions = problem->slate,
                .arms = problem->arms,
                .groups = sa_rules_groups(problem) - 1,
                .pairs = sa_rules_pairs(problem),
                .matrix = sa_problem_has(problem, SA_MATRIX) ? problem->data->count[SA_MATRIX] : 0};
    sa_program program = {.columns = of.arms * of.positions,
                          .rows = of.positions + of.arms + of.groups + of.pairs + of.matrix,
                          .seconds = sa_problem_patience(problem)};
    sa_program_result answer;
    size_t *lists;
    SA_TRY(sa_memory_check(of.arms, of.positions * (3 + of.matrix) * sizeof(double)));
    SA_TRY(sa_alloc_array(of.arms + 2 * of.pairs, sizeof *lists, &lists));
    sa_status status = sa_program_lay(
        &program, workspace, program.columns * (3 + of.matrix) + 2 * of.pairs * of.positions, &answer);
    if (status == SA_OK) {
        add_columns(problem, &of, &program, lists, lists + of.arms);
        add_limits(problem, &of, &program);
        status = sa_program_solve(problem, &program, &answer);
    }
    sa_free(lists);
    SA_TRY(status);
    if (!answer.found) return sa_rules_fail(problem);
    if (answer.count != of.positions)
        return sa_fail(SA_INVALID, "CBC chose %zu arms for %zu positions", answer.count, of.positions);
    for (size_t i = 0; i < answer.count; i++)
        slate[answer.chosen[i] % of.positions] = answer.chosen[i] / of.positions;
    workspace->gap = answer.gap;
    return of.matrix > 0 ? sa_rows_verify(problem, slate, of.positions) : SA_OK;
}
