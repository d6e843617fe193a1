/* 0/1 programs by CBC, through its C interface. This is the only file that sees it, and only one thread is in
 * it at a time. CBC allocates as it likes. */
#include "oracle/oracle.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

/* ---- CBC ---- */

#ifdef SA_HAVE_CBC

#include <pthread.h>

#include <Cbc_C_Interface.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A fork waits for whoever is inside, or the child would wait for somebody who is not there. */
static void lock(void) { pthread_mutex_lock(&one_at_a_time); }
static void unlock(void) { pthread_mutex_unlock(&one_at_a_time); }
static void watch_forks(void) { pthread_atfork(lock, unlock, unlock); }

static Cbc_Model *load(const sa_program *program) {
    Cbc_Model *model = Cbc_newModel();
    if (!model) return NULL;
    Cbc_setLogLevel(model, 0);
    Cbc_setParameter(model, "logLevel", "0");
    Cbc_loadProblem(model, (int)program->columns, (int)program->rows, program->start, program->index,
                    program->value, program->lower, program->upper, program->score, program->least,
                    program->most);
    Cbc_setObjSense(model, -1);
    for (size_t i = 0; i < program->columns; i++) Cbc_setInteger(model, (int)i);
    Cbc_setAllowableGap(model, 1e-9);
    Cbc_setAllowableFractionGap(model, 0);
    Cbc_setMaximumSeconds(model, program->seconds);
    return model;
}

/* By how much the best may be more than what was found, as a share of that. */
static double gap_of(Cbc_Model *model, double found) {
    double missed = Cbc_getBestPossibleObjValue(model) - found;
    if (!(missed > 0)) return 0;
    return found > 0 ? missed / found : INFINITY;
}

static sa_status ask(const sa_program *program, sa_program_result *answer) {
    Cbc_Model *model = load(program);
    if (!model) return sa_fail(SA_OUT_OF_MEMORY, "CBC has no memory");
    Cbc_solve(model);
    const double *chosen = Cbc_isProvenOptimal(model) ? Cbc_getColSolution(model) : Cbc_bestSolution(model);
    bool infeasible = Cbc_isProvenInfeasible(model);
    sa_status status = SA_OK;
    answer->found = chosen && !infeasible;
    answer->count = 0;
    answer->gap = 0;
    for (size_t i = 0; answer->found && i < program->columns; i++)
        if (chosen[i] > 0.5) answer->chosen[answer->count++] = i;
    if (answer->found && !Cbc_isProvenOptimal(model)) answer->gap = gap_of(model, Cbc_getObjValue(model));
    if (!answer->found && !infeasible)
        status = sa_fail(SA_INVALID, "CBC found no slate in %g seconds (--seconds); its status is %d",
                         program->seconds, Cbc_status(model));
    Cbc_deleteModel(model);
    return status;
}

static sa_status solve_here(const sa_program *program, sa_program_result *answer) {
    pthread_once(&once, watch_forks);
    lock();
    sa_status status = ask(program, answer);
    unlock();
    return status;
}

#else

static sa_status solve_here(const sa_program *program, sa_program_result *answer) {
    (void)program, (void)answer;
    return sa_fail(SA_UNSUPPORTED, "this needs CBC, which this build does not have (coinor-libcbc-dev)");
}

#endif

/* ---- here or elsewhere ---- */

static const double LARGEST = 1e20; /* CBC takes larger ones for infinite, or ends the process */
enum { MOST_ENTRIES = 20000000 };   /* a matrix of more is not solved in anybody's time */

/* Scores are scaled to 1000 at most, so that CBC's tolerances, which are absolute, mean the same for all. */
static void scale(const sa_program *program) {
    double largest = 0;
    for (size_t i = 0; i < program->columns; i++) largest = fmax(largest, fabs(program->score[i]));
    for (size_t i = 0; i < program->columns && largest > 0; i++) program->score[i] *= 1000 / largest;
}

static bool are_small(const double *numbers, size_t count, bool infinite) {
    for (size_t i = 0; i < count; i++)
        if (!(fabs(numbers[i]) <= LARGEST) && !(infinite && isinf(numbers[i]))) return false;
    return true;
}

static sa_status check(const sa_program *program) {
    size_t entries = (size_t)program->start[program->columns];
    if (are_small(program->value, entries, false) && are_small(program->least, program->rows, true) &&
        are_small(program->most, program->rows, true) && are_small(program->score, program->columns, false))
        return SA_OK;
    return sa_fail(SA_INVALID, "a number of the rules is larger than %g, which the solver does not take",
                   LARGEST);
}

static sa_status solve_elsewhere(const sa_oracle_data *data, const sa_program *program,
                                 sa_program_result *answer) {
    const sa_integer_program asked = {.columns = program->columns,
                                      .rows = program->rows,
                                      .entries = (size_t)program->start[program->columns],
                                      .start = program->start,
                                      .index = program->index,
                                      .value = program->value,
                                      .lower = program->lower,
                                      .upper = program->upper,
                                      .score = program->score,
                                      .least = program->least,
                                      .most = program->most,
                                      .seconds = program->seconds};
    sa_integer_answer got = {.chosen = answer->chosen};
    sa_status status = data->solver(data->solver_user, &asked, &got);
    if (status != SA_OK) return sa_fail(status, "%s", got.message);
    for (size_t i = 0; i < got.count; i++)
        if (got.count > program->columns || got.chosen[i] >= program->columns)
            return sa_fail(SA_INVALID, "the solver chose what is not there");
    *answer =
        (sa_program_result){.found = got.found, .chosen = answer->chosen, .count = got.count, .gap = got.gap};
    return SA_OK;
}

sa_status sa_program_solve(const sa_oracle_problem *problem, const sa_program *program,
                           sa_program_result *answer) {
    sa_program bounded = *program;
    const sa_oracle_data *data = problem->data;
    scale(program);
    SA_TRY(check(program));
    if (data && data->until > 0) {
        double left = data->until - sa_clock_of_thread();
        if (!(left > 0)) return sa_problem_fail_late();
        if (left < bounded.seconds) bounded.seconds = left;
    }
    return data && data->solver ? solve_elsewhere(data, &bounded, answer) : solve_here(&bounded, answer);
}

sa_status sa_integer_solve(const sa_integer_program *program, sa_integer_answer *answer) {
    sa_program here = {.columns = program->columns, .rows = program->rows, .seconds = program->seconds};
    sa_program_result got;
    sa_workspace workspace = {0};
    sa_status status = sa_program_lay(&here, &workspace, program->entries, &got);
    if (status == SA_OK) {
        memcpy(here.start, program->start, (program->columns + 1) * sizeof *here.start);
        memcpy(here.index, program->index, program->entries * sizeof *here.index);
        memcpy(here.value, program->value, program->entries * sizeof *here.value);
        memcpy(here.lower, program->lower, program->columns * sizeof *here.lower);
        memcpy(here.upper, program->upper, program->columns * sizeof *here.upper);
        memcpy(here.score, program->score, program->columns * sizeof *here.score);
        memcpy(here.least, program->least, program->rows * sizeof *here.least);
        memcpy(here.most, program->most, program->rows * sizeof *here.most);
        status = check(&here);
    }
    if (status == SA_OK) status = solve_here(&here, &got);
    if (status == SA_OK) {
        answer->found = got.found;
        answer->count = got.found ? got.count : 0;
        answer->gap = got.gap;
        memcpy(answer->chosen, got.chosen, answer->count * sizeof *answer->chosen);
    } else
        snprintf(answer->message, sizeof answer->message, "%.199s", sa_last_error());
    sa_workspace_clear(&workspace);
    return status;
}

sa_status sa_program_lay(sa_program *program, sa_workspace *workspace, size_t entries,
                         sa_program_result *answer) {
    size_t columns = program->columns, rows = program->rows;
    if (columns > MOST_ENTRIES || rows > MOST_ENTRIES || entries > MOST_ENTRIES)
        return sa_fail(SA_INVALID, "%zu rows, %zu choices and %zu entries are more than CBC takes", rows,
                       columns, entries);
    return SA_LAY(workspace, {&program->start, columns + 1, sizeof(int)},
                  {&program->index, entries, sizeof(int)}, {&program->value, entries, sizeof(double)},
                  {&program->lower, columns, sizeof(double)}, {&program->upper, columns, sizeof(double)},
                  {&program->score, columns, sizeof(double)}, {&program->least, rows, sizeof(double)},
                  {&program->most, rows, sizeof(double)}, {&answer->chosen, columns, sizeof(size_t)});
}
