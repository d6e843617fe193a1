/* An algorithm of one's own beside cn-ucb, on the same draws: epsilon-greedy with one linear model, learnt by
 * stochastic gradient descent. Prints the mean regret of both.
 *
 *   cc own_algorithm.c $(pkg-config --cflags --libs superarm) && ./a.out */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <superarm/superarm.h>

enum { ROUNDS = 200, ARMS = 20, SLATE = 4, DIM = 10 };

static const double EPSILON = 0.1, RATE = 0.5;

/* What a run knows. Rounds may be answered late (--delay), so the contexts of all slates are kept. */
typedef struct greedy {
    double weights[DIM];
    double shown[ROUNDS][SLATE][DIM];
    uint64_t random;
} greedy;

static double uniform(greedy *self) {
    self->random = self->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(self->random >> 11) * 0x1p-53;
}

static int begin(void *user, uint64_t run, void **state) {
    (void)user;
    greedy *self = calloc(1, sizeof *self);
    if (!self) return 1; /* ends the experiment, with a sentence */
    self->random = run + 1;
    *state = self;
    return 0;
}

static double score(const greedy *self, const double *x) {
    double sum = 0;
    for (int j = 0; j < DIM; j++) sum += self->weights[j] * x[j];
    return sum;
}

/* The best arm that is not chosen yet, or any such arm now and then. */
static int select_arms(void *state, const sa_own_round *round, size_t *arms, size_t *length) {
    greedy *self = state;
    char taken[ARMS] = {0};
    for (size_t k = 0; k < *length; k++) {
        size_t best = round->arms;
        int explores = uniform(self) < EPSILON;
        double highest = 0;
        for (size_t i = 0; i < round->arms; i++) {
            double found = explores ? uniform(self) : score(self, round->contexts + i * DIM);
            if (taken[i] || (best < round->arms && found <= highest)) continue;
            best = i;
            highest = found;
        }
        taken[arms[k] = best] = 1;
        for (int j = 0; j < DIM; j++)
            self->shown[round->round][k][j] = round->contexts[best * DIM + (size_t)j];
    }
    return 0;
}

static int update(void *state, uint64_t round, const size_t *arms, const double *scores, const bool *observed,
                  size_t length) {
    greedy *self = state;
    (void)arms;
    for (size_t k = 0; k < length; k++) {
        if (observed && !observed[k]) continue; /* unseen is not unclicked */
        double error = scores[k] - score(self, self->shown[round][k]);
        for (int j = 0; j < DIM; j++) self->weights[j] += RATE * error * self->shown[round][k][j];
    }
    return 0;
}

int main(void) {
    const sa_own_agent own = {.begin = begin, .select = select_arms, .update = update, .end = free};
    const char *const options[][2] = {{"environment", "h1"}, {"rounds", "200"}, {"arms", "20"},
                                      {"slate", "4"},        {"dim", "10"},     {"runs", "4"},
                                      {"noise", "0.05"}};
    int status = 1;
    sa_experiment *experiment = sa_experiment_new();
    if (!experiment) goto done;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (sa_experiment_set(experiment, options[i][0], options[i][1]) != SA_OK) goto done;
    if (sa_experiment_set(experiment, "algorithm", "cn-ucb,random") != SA_OK) goto done;
    if (sa_experiment_own_agent(experiment, "epsilon-greedy", &own) != SA_OK) goto done;
    if (sa_experiment_run(experiment, NULL, NULL) != SA_OK) goto done;
    sa_agent_result result;
    for (size_t i = 0; sa_experiment_result(experiment, i, &result) == SA_OK; i++)
        printf("%-15s regret %6.1f, from %.1f to %.1f with 95%% confidence\n", result.label, result.mean,
               result.low, result.high);
    status = 0;
done:
    if (status) fprintf(stderr, "own_algorithm: %s\n", sa_last_error());
    sa_experiment_destroy(experiment);
    return status;
}
