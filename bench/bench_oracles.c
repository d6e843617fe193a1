/* What oracles cost, as ratios in one run: against top-k, against sorting the scores, and against CBC on the
 * same problem.
 *
 * Each row alternates the two sides, and the best of the rounds counts for each, so that other work on the
 * machine tells on neither. CBC gets the assignment as the paper's linear program, which is kinder to it than
 * whole numbers would be. */
#include "machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SA_HAVE_CBC
#include <Cbc_C_Interface.h>
#endif

#include <superarm/superarm.h>

enum { MOST = 10000, ROUNDS = 15 };

static unsigned state = 1;
static double uniform(void) {
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / (1 << 24);
}

/* ---- the two sides of a row ---- */

static double solve(sa_problem *problem, const char *oracle) {
    sa_solution solution;
    double start = machine_seconds();
    if (sa_problem_solve(problem, oracle, &solution) == SA_OK) return machine_seconds() - start;
    fprintf(stderr, "bench_oracles: %s\n", sa_last_error());
    exit(1);
}

static int by_size(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a < b) - (a > b);
}

static double sort(const double *scores, size_t count) {
    static double copy[MOST];
    memcpy(copy, scores, count * sizeof *copy);
    double start = machine_seconds();
    qsort(copy, count, sizeof *copy, by_size);
    return machine_seconds() - start;
}

static void row(const char *what, double one, const char *against, double other, const char *wanted) {
    bool slower = one >= other;
    printf("%-46s %10.1f us  %-8s %10.1f us  %8.1f x %s (wanted: %s)\n", what, 1e6 * one, against,
           1e6 * other, slower ? one / other : other / one, slower ? "the cost" : "faster", wanted);
    fflush(stdout);
}

/* ---- assignment ---- */

#ifdef SA_HAVE_CBC
static double cbc(const double *scores, size_t arms, size_t positions, double *reward) {
    int count = (int)(arms * positions), *start = malloc(((size_t)count + 1) * sizeof *start);
    int *index = malloc(2 * (size_t)count * sizeof *index), rows = (int)(arms + positions);
    double *value = malloc(2 * (size_t)count * sizeof *value), *lower = calloc((size_t)count, sizeof *lower);
    double *upper = malloc((size_t)count * sizeof *upper), *least = malloc((size_t)rows * sizeof *least);
    double *most = malloc((size_t)rows * sizeof *most);
    for (int i = 0; i <= count; i++) start[i] = 2 * i;
    for (int i = 0; i < count; i++) {
        index[2 * i] = i / (int)positions;                 /* each arm at most once */
        index[2 * i + 1] = (int)arms + i % (int)positions; /* each position exactly once */
        value[2 * i] = value[2 * i + 1] = upper[i] = 1;
    }
    for (int i = 0; i < rows; i++) {
        least[i] = i < (int)arms ? 0 : 1;
        most[i] = 1;
    }
    double begin = machine_seconds();
    Cbc_Model *model = Cbc_newModel();
    Cbc_setLogLevel(model, 0);
    Cbc_setParameter(model, "logLevel", "0");
    Cbc_loadProblem(model, count, rows, start, index, value, lower, upper, scores, least, most);
    Cbc_setObjSense(model, -1);
    Cbc_solve(model);
    double time = machine_seconds() - begin;
    *reward = Cbc_getObjValue(model);
    Cbc_deleteModel(model);
    free(start), free(index), free(value), free(lower), free(upper), free(least), free(most);
    return time;
}
#endif

/* kind 0: independent scores; 1: attractiveness times the quality of the position, where all positions want
 * the same arms */
static void bench_assignment(int kind) {
    enum { ARMS = 1000, PLACES = 10 };
    static double scores[ARMS * PLACES], single[ARMS];
    double assignment = INFINITY, top_k = INFINITY;
    for (size_t i = 0; i < ARMS; i++) {
        single[i] = uniform();
        for (size_t k = 0; k < PLACES; k++)
            scores[i * PLACES + k] = kind ? single[i] / (double)(k + 1) + 0.001 * uniform() : uniform();
    }
    sa_problem *places = sa_problem_new(), *plain = sa_problem_new();
    sa_problem_position_scores(places, scores, ARMS, PLACES);
    sa_problem_scores(plain, single, ARMS);
    sa_problem_slate(plain, PLACES);
    for (int round = 0; round < 20 * ROUNDS; round++) {
        assignment = fmin(assignment, solve(places, "assignment"));
        top_k = fmin(top_k, solve(plain, "top-k"));
    }
    const char *what =
        kind ? "assignment, N 1000, K 10, by position" : "assignment, N 1000, K 10, independent";
    row(what, assignment, "top-k", top_k, "at most 20 x");
#ifdef SA_HAVE_CBC
    double best = INFINITY, reward;
    sa_solution solution;
    for (int round = 0; round < 2; round++) best = fmin(best, cbc(scores, ARMS, PLACES, &reward));
    sa_problem_solve(places, "assignment", &solution);
    if (fabs(reward - solution.reward) > 1e-6) {
        fprintf(stderr, "bench_oracles: CBC finds %.12g, assignment %.12g\n", reward, solution.reward);
        exit(1);
    }
    row(what, assignment, "CBC", best, "50 x faster");
#else
    puts("assignment against CBC: this build does not have it");
#endif
    sa_problem_destroy(places);
    sa_problem_destroy(plain);
}

/* A page: at most 2 of each of 100 groups, 1 of the last at least, neighbours exclude each other, and a place
 * takes four in five arms. */
static void bench_rules(int kind) {
    enum { ARMS = 1000, PLACES = 10, GROUPS = 100 };
    static double scores[ARMS * PLACES], single[ARMS];
    static size_t groups[ARMS], most[GROUPS], least[GROUPS], pairs[ARMS];
    static bool eligible[PLACES * ARMS];
    double page = INFINITY, top_k = INFINITY;
    for (size_t g = 0; g < GROUPS; g++) {
        most[g] = 2;
        least[g] = g == GROUPS - 1;
    }
    for (size_t i = 0; i < ARMS; i++) {
        single[i] = uniform();
        groups[i] = i / 10;
        pairs[i] = i;
        for (size_t k = 0; k < PLACES; k++) {
            scores[i * PLACES + k] = single[i] / (double)(k + 1) + 0.1 * uniform();
            eligible[k * ARMS + i] = uniform() < 0.8;
        }
    }
    sa_problem *places = sa_problem_new(), *plain = sa_problem_new();
    sa_problem_position_scores(places, scores, ARMS, PLACES);
    sa_problem_groups(places, groups, ARMS);
    sa_problem_capacities(places, most, GROUPS);
    if (kind > 0) {
        sa_problem_minimums(places, least, GROUPS);
        sa_problem_exclusions(places, pairs, ARMS / 2);
        sa_problem_eligible(places, eligible, PLACES, ARMS);
    }
    sa_problem_scores(plain, single, ARMS);
    sa_problem_slate(plain, PLACES);
    for (int round = 0; round < 20 * ROUNDS; round++) {
        page = fmin(page, solve(places, "assignment"));
        top_k = fmin(top_k, solve(plain, "top-k"));
    }
    row(kind ? "assignment, the same with all rules" : "assignment, N 1000, K 10, 2 of a group", page,
        "top-k", top_k, "at most 20 x");
#ifdef SA_HAVE_CBC
    const double zeros[ARMS] = {0}, one = 1;
    sa_solution solution;
    double before, slow = INFINITY;
    sa_problem_solve(places, "assignment", &solution);
    before = solution.reward;
    sa_problem_constraints(places, zeros, &one, 1, ARMS); /* a row that means nothing: an integer program */
    sa_problem_seconds(places, 60);
    for (int round = 0; round < 2; round++) slow = fmin(slow, solve(places, "assignment"));
    sa_problem_solve(places, "assignment", &solution);
    if (fabs(before - solution.reward) > 1e-6) {
        fprintf(stderr, "bench_oracles: CBC finds %.12g, assignment %.12g\n", solution.reward, before);
        exit(1);
    }
    row(kind ? "assignment, the same with all rules" : "assignment, N 1000, K 10, 2 of a group", page, "CBC",
        slow, "50 x faster");
#endif
    sa_problem_destroy(places);
    sa_problem_destroy(plain);
}

/* ---- knapsack, assortment ---- */

static void bench_sorting(void) {
    static double scores[MOST], costs[MOST], revenues[MOST];
    double knapsack = INFINITY, assortment = INFINITY, limited = INFINITY, sorting = INFINITY;
    for (size_t i = 0; i < MOST; i++) {
        scores[i] = uniform();
        costs[i] = floor(1 + 100 * uniform());
        revenues[i] = 1 + uniform();
    }
    sa_problem *basket = sa_problem_new(), *offer = sa_problem_new();
    sa_problem_scores(basket, scores, MOST);
    sa_problem_costs(basket, costs, MOST);
    sa_problem_capacity(basket, 1000);
    sa_problem_scores(offer, scores, MOST);
    sa_problem_revenues(offer, revenues, MOST);
    for (int round = 0; round < ROUNDS; round++) {
        knapsack = fmin(knapsack, solve(basket, "knapsack"));
        sorting = fmin(sorting, sort(scores, MOST));
        sa_problem_slate(offer, 0);
        assortment = fmin(assortment, solve(offer, "assortment"));
        sa_problem_slate(offer, 10);
        limited = fmin(limited, solve(offer, "assortment"));
    }
    row("knapsack, N 10000, whole costs, capacity 1000", knapsack, "sorting", sorting, "at most 60 x");
    row("assortment, N 10000", assortment, "sorting", sorting, "at most 60 x");
    row("assortment, N 10000, K 10", limited, "sorting", sorting, "at most 60 x");
    sa_problem_destroy(basket);
    sa_problem_destroy(offer);
}

int main(void) {
    puts("oracles, one thread, best of some rounds");
    bench_assignment(0);
    bench_assignment(1);
    bench_rules(0);
    bench_rules(1);
    bench_sorting();
    return 0;
}
