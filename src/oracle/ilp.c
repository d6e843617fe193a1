/* The 0/1 choices x with the largest sum of scores under A x <= b, at most K of them where K is given, or
 * exactly K: by CBC (cbc.c). */
#include "oracle/oracle.h"

#include <math.h>

#include "base/memory.h"

static void fill(const sa_oracle_problem *problem, sa_program *program) {
    const sa_oracle_data *data = problem->data;
    size_t arms = problem->arms, rows = data->count[SA_MATRIX];
    int count = 0;
    for (size_t arm = 0; arm < arms; arm++) {
        program->start[arm] = count;
        for (size_t row = 0; row < program->rows; row++) {
            double entry = row < rows ? data->matrix[row * arms + arm] : 1;
            if (entry == 0) continue;
            program->index[count] = (int)row;
            program->value[count++] = entry;
        }
        program->lower[arm] = 0;
        program->upper[arm] = sa_problem_allows(problem, arm);
        program->score[arm] = problem->scores[arm];
    }
    program->start[arms] = count;
    for (size_t row = 0; row < program->rows; row++) {
        program->least[row] =
            row == rows && sa_problem_wants_all(problem) ? (double)problem->slate : -INFINITY;
        program->most[row] = row < rows ? data->bounds[row] : (double)problem->slate;
    }
}

/* The solution is believed only when it fits, by sums that share nothing with CBC's. */
sa_status sa_rows_verify(const sa_oracle_problem *problem, const size_t *slate, size_t length) {
    const sa_oracle_data *data = problem->data;
    for (size_t row = 0; row < data->count[SA_MATRIX]; row++) {
        double sum = 0, size = fabs(data->bounds[row]);
        for (size_t i = 0; i < length; i++) {
            double entry = data->matrix[row * problem->arms + slate[i]];
            sum += entry;
            size += fabs(entry);
        }
        if (sum > data->bounds[row] + 1e-6 * (1 + size))
            return sa_fail(SA_INVALID, "CBC's choice breaks row %zu of --matrix: %g is more than %g", row,
                           sum, data->bounds[row]);
    }
    return SA_OK;
}

static sa_status solve(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate,
                       size_t *length) {
    sa_program program = {.columns = problem->arms,
                          .rows = problem->data->count[SA_MATRIX] + (problem->slate > 0),
                          .seconds = sa_problem_patience(problem)};
    sa_program_result answer;
    SA_TRY(sa_memory_check(program.columns, program.rows));
    SA_TRY(sa_program_lay(&program, workspace, program.columns * program.rows, &answer));
    fill(problem, &program);
    SA_TRY(sa_program_solve(problem, &program, &answer));
    if (!answer.found && sa_problem_wants_all(problem))
        return sa_data_fail(problem->data, SA_BOUNDS, "no choice of %zu arms fits A x <= b", problem->slate);
    if (!answer.found) return sa_data_fail(problem->data, SA_BOUNDS, "no choice of arms fits A x <= b");
    *length = answer.count;
    for (size_t i = 0; i < answer.count; i++) slate[i] = answer.chosen[i];
    SA_TRY(sa_rows_verify(problem, slate, *length));
    sa_arms_sort(problem->scores, slate, *length);
    workspace->gap = answer.gap;
    return SA_OK;
}

#ifdef SA_HAVE_CBC
#define MISSING NULL
#else
#define MISSING "the oracle ilp needs CBC, which this build does not have (coinor-libcbc-dev)"
#endif

const sa_oracle sa_oracle_ilp = {
    .name = "ilp",
    .summary = "0/1 choices under A x <= b, at most K; reward: the sum; solved by CBC",
    .wants = "matrix, bounds; slate, exactly, seconds",
    .cost = "exponential at worst",
    .missing = MISSING,
    .alpha = 1,
    .exact = true,
    .size = SA_AT_MOST_K,
    .needs = SA_BIT(SA_MATRIX) | SA_BIT(SA_BOUNDS),
    .takes = SA_BIT(SA_EXACTLY) | SA_BIT(SA_SECONDS),
    .solve = solve,
    .reward = sa_reward_sum,
};
