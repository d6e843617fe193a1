/* Random small problems, and what tests of oracles share. */
#ifndef TESTS_ORACLE_RIG_H
#define TESTS_ORACLE_RIG_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rng/stream.h"
#include <superarm/superarm.h>

enum { INSTANCES = 1000 };

typedef struct draws {
    sa_stream stream;
    uint64_t next;
} draws;

static inline draws draws_of(uint64_t seed, uint64_t round) {
    return (draws){sa_stream_at(seed, SA_PURPOSE_NOISE, 0, round), 0};
}

/* A whole number from low to high. */
static inline size_t whole(draws *from, size_t low, size_t high) {
    return low + (size_t)sa_draw_below(&from->stream, from->next++, (uint64_t)(high - low + 1));
}

/* Every third round few different scores, hence ties; both signs unless `positive`. */
static inline double score(draws *from, uint64_t round, bool positive) {
    double number = round % 3 ? (double)whole(from, 0, 1 << 20) / (1 << 20) : (double)whole(from, 0, 3) / 4;
    return positive ? number : 2 * number - 0.75;
}

static inline void assert_near(double got, double wanted, const char *what, uint64_t round) {
    if (!(fabs(got - wanted) <= 1e-9 * (1 + fabs(wanted))))
        fail_msg("%s, instance %d: %.17g, not %.17g", what, (int)round, got, wanted);
}

static inline sa_solution solved(sa_problem *problem, const char *oracle) {
    sa_solution solution;
    if (sa_problem_solve(problem, oracle, &solution) != SA_OK) fail_msg("%s: %s", oracle, sa_last_error());
    return solution;
}

static inline bool in(unsigned set, size_t arm) { return set >> arm & 1; }

/* The slate as a set; an arm twice or out of range fails. */
static inline unsigned set_of(const sa_solution *solution, size_t arms) {
    unsigned set = 0;
    for (size_t i = 0; i < solution->length; i++) {
        assert_true(solution->slate[i] < arms && !in(set, solution->slate[i]));
        set |= 1u << solution->slate[i];
    }
    return set;
}

static inline double sum_of(unsigned set, const double *scores, size_t arms) {
    double sum = 0;
    for (size_t i = 0; i < arms; i++)
        if (in(set, i)) sum += scores[i];
    return sum;
}

static inline size_t size_of(unsigned set) { return (size_t)__builtin_popcount(set); }

static inline void assert_decreasing(const sa_solution *solution, const double *scores) {
    for (size_t i = 1; i < solution->length; i++) {
        double before = scores[solution->slate[i - 1]], now = scores[solution->slate[i]];
        assert_true(before > now || (before == now && solution->slate[i - 1] < solution->slate[i]));
    }
}

#endif
