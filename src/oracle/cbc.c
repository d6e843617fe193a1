/* 0/1 programs by CBC, through its C interface. This is the only file that sees it, and only one thread is in
 * it at a time. CBC allocates as it likes. */
#include "oracle/oracle.h"

#ifdef SA_HAVE_CBC

#include <math.h>
#include <pthread.h>

#include <Cbc_C_Interface.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A fork waits for whoever is inside, or the child would wait for somebody who is not there. */
static void lock(void) { pthread_mutex_lock(&one_at_a_time); }
static void unlock(void) { pthread_mutex_unlock(&one_at_a_time); }
static void watch_forks(void) { pthread_atfork(lock, unlock, unlock); }

/* Scores are scaled to 1000 at most, so that CBC's tolerances, which are absolute, mean the same for all. */
static void scale(const sa_program *program) {
    double largest = 0;
    for (size_t i = 0; i < program->columns; i++) largest = fmax(largest, fabs(program->score[i]));
    for (size_t i = 0; i < program->columns && largest > 0; i++) program->score[i] *= 1000 / largest;
}

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

sa_status sa_program_solve(const sa_program *program, sa_program_result *answer) {
    scale(program);
    pthread_once(&once, watch_forks);
    lock();
    sa_status status = ask(program, answer);
    unlock();
    return status;
}

#else

sa_status sa_program_solve(const sa_program *program, sa_program_result *answer) {
    (void)program, (void)answer;
    return sa_fail(SA_UNSUPPORTED, "this needs CBC, which this build does not have (coinor-libcbc-dev)");
}

#endif

sa_status sa_program_lay(sa_program *program, sa_workspace *workspace, size_t entries,
                         sa_program_result *answer) {
    size_t columns = program->columns, rows = program->rows;
    if (columns >= 1 << 30 || rows >= 1 << 30 || entries >= (size_t)2e9)
        return sa_fail(SA_INVALID, "%zu rows, %zu choices and %zu entries are more than CBC takes", rows,
                       columns, entries);
    return SA_LAY(workspace, {&program->start, columns + 1, sizeof(int)},
                  {&program->index, entries, sizeof(int)}, {&program->value, entries, sizeof(double)},
                  {&program->lower, columns, sizeof(double)}, {&program->upper, columns, sizeof(double)},
                  {&program->score, columns, sizeof(double)}, {&program->least, rows, sizeof(double)},
                  {&program->most, rows, sizeof(double)}, {&answer->chosen, columns, sizeof(size_t)});
}
