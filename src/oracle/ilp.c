/* The 0/1 choices x with the largest sum of scores under A x <= b, at most K of them where K is given: by CBC, through its C
 * interface. This is the only file that sees it, and only one thread is in it at a time. CBC allocates as it likes. */
#include "oracle/oracle.h"

#ifdef SA_HAVE_CBC
#define MISSING NULL

#include <math.h>
#include <pthread.h>

#include <Cbc_C_Interface.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A fork waits for whoever is inside, or the child would wait for somebody who is not there. */
static void lock(void) { pthread_mutex_lock(&one_at_a_time); }
static void unlock(void) { pthread_mutex_unlock(&one_at_a_time); }
static void watch_forks(void) { pthread_atfork(lock, unlock, unlock); }

typedef struct columns {
    size_t rows;                   /* of A, and one for K */
    int *start;                    /* (arms + 1) */
    int *index;                    /* (rows x arms at most) */
    double *value;                 /* the same */
    double *lower, *upper, *score; /* (arms) */
    double *least, *most;          /* (rows) */
} columns;

/* Scores are scaled to 1000 at most, so that CBC's tolerances, which are absolute, mean the same for all. */
static void fill(const sa_oracle_problem *problem, columns *self) {
    const sa_oracle_data *data = problem->data;
    size_t arms = problem->arms, rows = data->count[SA_MATRIX];
    double largest = 0;
    int count = 0;
    for (size_t arm = 0; arm < arms; arm++) largest = fmax(largest, fabs(problem->scores[arm]));
    for (size_t arm = 0; arm < arms; arm++) {
        self->start[arm] = count;
        for (size_t row = 0; row < self->rows; row++) {
            double entry = row < rows ? data->matrix[row * arms + arm] : 1;
            if (entry == 0) continue;
            self->index[count] = (int)row;
            self->value[count++] = entry;
        }
        self->lower[arm] = 0;
        self->upper[arm] = sa_problem_allows(problem, arm);
        self->score[arm] = largest > 0 ? problem->scores[arm] / largest * 1000 : 0;
    }
    self->start[arms] = count;
    for (size_t row = 0; row < self->rows; row++) {
        self->least[row] = -INFINITY;
        self->most[row] = row < rows ? data->bounds[row] : (double)problem->slate;
    }
}

static sa_status ask(const sa_oracle_problem *problem, const columns *self, size_t *slate, size_t *length) {
    Cbc_Model *model = Cbc_newModel();
    if (!model) return sa_fail(SA_OUT_OF_MEMORY, "CBC has no memory");
    Cbc_setLogLevel(model, 0);
    Cbc_setParameter(model, "logLevel", "0");
    Cbc_loadProblem(model, (int)problem->arms, (int)self->rows, self->start, self->index, self->value, self->lower,
                    self->upper, self->score, self->least, self->most);
    Cbc_setObjSense(model, -1);
    for (size_t arm = 0; arm < problem->arms; arm++) Cbc_setInteger(model, (int)arm);
    Cbc_setAllowableGap(model, 1e-9);
    Cbc_setAllowableFractionGap(model, 0);
    Cbc_solve(model);
    sa_status status = SA_OK;
    *length = 0;
    if (Cbc_isProvenOptimal(model)) {
        const double *chosen = Cbc_getColSolution(model);
        for (size_t arm = 0; arm < problem->arms; arm++)
            if (chosen[arm] > 0.5) slate[(*length)++] = arm;
    } else if (Cbc_isProvenInfeasible(model)) {
        status = sa_data_fail(problem->data, SA_BOUNDS, "no choice of arms fits A x <= b");
    } else {
        status = sa_fail(SA_INVALID, "CBC found no solution: its status is %d", Cbc_status(model));
    }
    Cbc_deleteModel(model);
    return status;
}

/* The solution is believed only when it fits, by sums that share nothing with CBC's. */
static sa_status verify(const sa_oracle_problem *problem, const size_t *slate, size_t length) {
    const sa_oracle_data *data = problem->data;
    for (size_t row = 0; row < data->count[SA_MATRIX]; row++) {
        double sum = 0, size = fabs(data->bounds[row]);
        for (size_t i = 0; i < length; i++) {
            double entry = data->matrix[row * problem->arms + slate[i]];
            sum += entry;
            size += fabs(entry);
        }
        if (sum > data->bounds[row] + 1e-6 * (1 + size))
            return sa_fail(SA_INVALID, "CBC's choice breaks row %zu of --matrix: %g is more than %g", row, sum,
                           data->bounds[row]);
    }
    return SA_OK;
}

static sa_status solve(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate, size_t *length) {
    size_t arms = problem->arms, rows = problem->data->count[SA_MATRIX] + (problem->slate > 0);
    columns self = {.rows = rows};
    if (arms >= 1 << 30 || rows >= 1 << 30 || (double)arms * (double)rows >= 2e9)
        return sa_fail(SA_INVALID, "--matrix: %zu x %zu entries are more than CBC takes", rows, arms);
    SA_TRY(SA_LAY(workspace, {&self.start, arms + 1, sizeof(int)}, {&self.index, arms * rows, sizeof(int)},
                  {&self.value, arms * rows, sizeof(double)}, {&self.lower, arms, sizeof(double)},
                  {&self.upper, arms, sizeof(double)}, {&self.score, arms, sizeof(double)},
                  {&self.least, rows, sizeof(double)}, {&self.most, rows, sizeof(double)}));
    fill(problem, &self);
    pthread_once(&once, watch_forks);
    lock();
    sa_status status = ask(problem, &self, slate, length);
    unlock();
    SA_TRY(status);
    SA_TRY(verify(problem, slate, *length));
    sa_arms_sort(problem->scores, slate, *length);
    return SA_OK;
}

#else
#define MISSING "the oracle ilp needs CBC, which this build does not have (coinor-libcbc-dev)"

static sa_status solve(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate, size_t *length) {
    (void)problem, (void)workspace, (void)slate, (void)length;
    return sa_fail(SA_UNSUPPORTED, "%s", MISSING);
}

#endif

const sa_oracle sa_oracle_ilp = {
    .name = "ilp",
    .summary = "0/1 choices under A x <= b, at most K; reward: the sum; solved by CBC",
    .wants = "matrix, bounds; slate",
    .cost = "exponential at worst",
    .missing = MISSING,
    .alpha = 1,
    .exact = true,
    .size = SA_AT_MOST_K,
    .needs = SA_BIT(SA_MATRIX) | SA_BIT(SA_BOUNDS),
    .solve = solve,
    .reward = sa_reward_sum,
};
