/* Oracles: which slate has the largest reward for given scores? One problem at a time here; agents ask the
 * same oracles each round, with the problem's data in the request. `superarm list oracles` says what each
 * needs. */
#ifndef SUPERARM_ORACLE_H
#define SUPERARM_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

#include <superarm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a problem: scores, the size of the slate, and what the oracle needs beside them ---- */

typedef struct sa_problem sa_problem;

/* NULL when memory is short. Caller frees with sa_problem_destroy. All arrays are borrowed as long as the
 * problem is used; shapes and values are checked when it is solved. A later call replaces an earlier one. */
SA_API sa_problem *sa_problem_new(void);
SA_API void sa_problem_destroy(sa_problem *problem); /* NULL is fine */

/* What an array is made of: const double *, const size_t * or const bool *. */
typedef enum sa_data_kind { SA_NUMBERS, SA_INDICES, SA_FLAGS } sa_data_kind;

/* Gives the problem what the oracles know by this name (sa_problem_name_at, `superarm solve --help`), and
 * `exclude`: (rows, columns) values, row-major, borrowed; a single value, as of `capacity`, is copied. NULL
 * takes it away. SA_INVALID for a name that there is not, or one that is made of something else; shapes are
 * checked when the problem is solved. The functions below are this one by name. */
SA_API sa_status sa_problem_put(sa_problem *problem, const char *name, sa_data_kind kind, size_t rows,
                                size_t columns, const void *values);

static inline void sa_problem_scores(sa_problem *problem, const double *scores, size_t arms) {
    sa_problem_put(problem, "scores", SA_NUMBERS, arms, 0, scores);
}
/* Scores of each arm in each position, (arms, positions), for `assignment`; the slate has that many
 * positions. */
static inline void sa_problem_position_scores(sa_problem *problem, const double *scores, size_t arms,
                                              size_t positions) {
    sa_problem_put(problem, "scores", SA_NUMBERS, arms, positions, scores);
}
/* K. Oracles that may leave arms out take it as the most, and 0, as it is unless set, as no limit. */
static inline void sa_problem_slate(sa_problem *problem, size_t slate) {
    sa_problem_put(problem, "slate", SA_INDICES, 1, 1, &slate);
}
/* Exactly K arms, the best of the slates that keep the rules, also where an oracle may leave arms out
 * (`knapsack`, `matroid` with groups, `matching`, `assortment`, `ilp`); SA_INVALID where there is none. Not
 * for `shortest-path`. */
static inline void sa_problem_exactly(sa_problem *problem, bool exactly) {
    sa_problem_put(problem, "exactly", SA_FLAGS, 1, 1, exactly ? &exactly : (const bool *)0);
}
/* Arms that must not be chosen: (arms) flags, true excludes; NULL excludes none. */
static inline void sa_problem_exclude(sa_problem *problem, const bool *excluded) {
    sa_problem_put(problem, "exclude", SA_FLAGS, 0, 1, excluded);
}
static inline void sa_problem_costs(sa_problem *problem, const double *costs, size_t arms) {
    sa_problem_put(problem, "costs", SA_NUMBERS, arms, 1, costs); /* knapsack: 0 or more */
}
static inline void sa_problem_capacity(sa_problem *problem, double capacity) {
    sa_problem_put(problem, "capacity", SA_NUMBERS, 1, 1, &capacity);
}
/* matroid, assignment: each arm's group, and the most arms of each. `matroid` takes 1 unless it is given. */
static inline void sa_problem_groups(sa_problem *problem, const size_t *groups, size_t arms) {
    sa_problem_put(problem, "groups", SA_INDICES, arms, 1, groups);
}
static inline void sa_problem_capacities(sa_problem *problem, const size_t *capacities, size_t groups) {
    sa_problem_put(problem, "capacities", SA_INDICES, groups, 1, capacities);
}
/* assignment: the least arms of each group; (pairs, 2) arms of which at most one is chosen; (positions, arms)
 * flags, which arms each position takes. `assignment` also takes the rules of sa_problem_constraints. */
static inline void sa_problem_minimums(sa_problem *problem, const size_t *minimums, size_t groups) {
    sa_problem_put(problem, "minimums", SA_INDICES, groups, 1, minimums);
}
static inline void sa_problem_exclusions(sa_problem *problem, const size_t *exclusions, size_t pairs) {
    sa_problem_put(problem, "exclusions", SA_INDICES, pairs, 2, exclusions);
}
static inline void sa_problem_eligible(sa_problem *problem, const bool *eligible, size_t positions,
                                       size_t arms) {
    sa_problem_put(problem, "eligible", SA_FLAGS, positions, arms, eligible);
}
/* (arms, 2): arm i joins two nodes. `matroid`: of one graph; `shortest-path`: from the first to the second;
 * `matching`: the first on one side, the second on the other, each side counted from 0. */
static inline void sa_problem_edges(sa_problem *problem, const size_t *edges, size_t arms) {
    sa_problem_put(problem, "edges", SA_INDICES, arms, 2, edges);
}
static inline void sa_problem_ends(sa_problem *problem, size_t source, size_t target) { /* shortest-path */
    sa_problem_put(problem, "source", SA_INDICES, 1, 1, &source);
    sa_problem_put(problem, "target", SA_INDICES, 1, 1, &target);
}
static inline void sa_problem_revenues(sa_problem *problem, const double *revenues, size_t arms) {
    sa_problem_put(problem, "revenues", SA_NUMBERS, arms, 1, revenues); /* assortment */
}
static inline void sa_problem_topics(sa_problem *problem, const double *topics, size_t arms, size_t count) {
    sa_problem_put(problem, "topics", SA_NUMBERS, arms, count, topics); /* submodular */
}
/* ilp: matrix (rows, arms) times the 0/1 choices is at most bounds (rows). */
static inline void sa_problem_constraints(sa_problem *problem, const double *matrix, const double *bounds,
                                          size_t rows, size_t arms) {
    sa_problem_put(problem, "matrix", SA_NUMBERS, rows, arms, matrix);
    sa_problem_put(problem, "bounds", SA_NUMBERS, rows, 1, bounds);
}
/* How long CBC may search, 1 unless given: what it has found by then is the slate, and the solution's alpha
 * says how good it is. For `ilp`, and `assignment` with rules that are no flow. */
static inline void sa_problem_seconds(sa_problem *problem, double seconds) {
    sa_problem_put(problem, "seconds", SA_NUMBERS, 1, 1, &seconds);
}
/* cascade, assignment: the discount of each position, 0 to 1. */
static inline void sa_problem_discounts(sa_problem *problem, const double *discounts, size_t positions) {
    sa_problem_put(problem, "discounts", SA_NUMBERS, positions, 1, discounts);
}
/* At most so many seconds of processor time for a solve, whatever the oracle: SA_INVALID after that. Unlike
 * sa_problem_seconds it is no datum, and all oracles keep to it. */
SA_API void sa_problem_bound_time(sa_problem *problem, double seconds);

/* The same from text, by the names of the flags of `superarm solve`: arrays ("scores", "costs", ...) from
 * an npy file, or written out, "0.5,1", and with two axes "0,1|1,2"; the problem then owns them. Numbers
 * ("slate", "capacity", "source", "target") and "reward" come from the text itself. "problem" stands for
 * several at once, as the option --problem has them: "costs=1,2.5,3;capacity=4". */
SA_API sa_status sa_problem_set(sa_problem *problem, const char *name, const char *text);
/* The index-th of these names and a line about it; false when there is none. */
SA_API bool sa_problem_name_at(size_t index, const char **name, const char **help);

/* What a problem has under one of these names, and its rows and columns (each may be NULL); NULL where it has
 * none. Single values are arrays of one. Numbers: scores, costs, capacity, revenues, topics, matrix, bounds,
 * seconds, discounts. Indices: slate, groups, capacities, minimums, exclusions, edges, source, target. Flags:
 * exclude, eligible, exactly, and reward, true for sum. */
SA_API const double *sa_problem_numbers(const sa_problem *problem, const char *name, size_t *rows,
                                        size_t *columns);
SA_API const size_t *sa_problem_indices(const sa_problem *problem, const char *name, size_t *rows,
                                        size_t *columns);
SA_API const bool *sa_problem_flags(const sa_problem *problem, const char *name, size_t *rows,
                                    size_t *columns);

/* ---- solving it ---- */

typedef struct sa_solution {
    const size_t *slate; /* (length); valid until the problem is solved again or destroyed */
    size_t length;
    double reward;
    double alpha; /* the reward is at least this share of the best */
    bool exact;
} sa_solution;

/* SA_INVALID, with a sentence, for wrong data and for problems without a solution. Memory that it needs is
 * kept with the problem, so that solving again allocates nothing (but `ilp`, whose solver does). */
SA_API sa_status sa_problem_solve(sa_problem *problem, const char *oracle, sa_solution *solution);

/* SA_INVALID where the oracle does not look at all of the problem's data, which are then without effect: with
 * the oracles that would. `seconds`, which is no rule, is not asked about. */
SA_API sa_status sa_problem_is_read(const sa_problem *problem, const char *oracle);
/* The one oracle that looks at all of the problem's data and needs no other: "top-k" without data. "matroid"
 * for groups and capacities alone, which `assignment` takes, too, and "assignment" for discounts alone, which
 * `cascade` takes, too. `positions`: it takes a score for each position. The name lives for ever. SA_INVALID
 * where there is none, or edges could mean two things. */
SA_API sa_status sa_problem_oracle(const sa_problem *problem, bool positions, const char **oracle);

typedef struct sa_oracle_info {
    const char *name;
    const char *summary; /* the slate and its reward, in a line */
    const char *needs;   /* "costs, capacity; slate": what it needs; what it also takes */
    const char *cost;    /* of a solve: "O(N log N)" */
    double alpha;
    bool exact;
} sa_oracle_info;

/* The index-th oracle; false when there is none. */
SA_API bool sa_oracle_at(size_t index, sa_oracle_info *info);

/* ---- integer programs, solved elsewhere ---- */

/* The 0/1 choices with the largest sum of scores, whose rows are from least to most. */
typedef struct sa_integer_program {
    size_t columns, rows, entries;
    const int *start;            /* (columns + 1) of the entries of each column */
    const int *index;            /* (entries) row */
    const double *value;         /* (entries) */
    const double *lower, *upper; /* (columns) 0 or 1 */
    const double *score;         /* (columns) */
    const double *least, *most;  /* (rows); infinite: no bound */
    double seconds;              /* after so long the best so far will do */
} sa_integer_program;

typedef struct sa_integer_answer {
    bool found;     /* false: nothing fits */
    size_t *chosen; /* (columns, of which `count` are set) */
    size_t count;
    double gap;        /* the best is at most 1 + gap times what was found */
    char message[200]; /* where the status is not SA_OK */
} sa_integer_answer;

/* Solves it some other way, in another process for example. */
typedef sa_status (*sa_integer_solver)(void *user, const sa_integer_program *program,
                                       sa_integer_answer *answer);
/* `ilp` and `assignment` ask this instead of CBC, which ends the process where it cannot go on. NULL: CBC. */
SA_API void sa_problem_integer_solver(sa_problem *problem, sa_integer_solver solve, void *user);
/* By CBC, in this process. */
SA_API sa_status sa_integer_solve(const sa_integer_program *program, sa_integer_answer *answer);

/* ---- your own oracle ---- */

typedef struct sa_oracle_callbacks {
    /* Writes at most `most` different arms and how many. Anything but 0 makes the select fail, with
     * SA_CALLBACK. excluded (arms) or NULL. The slate is checked: an arm twice, out of range or excluded is
     * SA_INVALID, and the agent is unchanged. Scores are (arms); with `positions` (arms, most), row-major, of
     * each arm in each position, and each of the `most` positions gets an arm. */
    int (*solve)(void *user, const double *scores, size_t arms, const bool *excluded, size_t most,
                 size_t *slate, size_t *length);
    void *user;
    double alpha;   /* more than 0, at most 1: the share of the best reward that is sure */
    bool positions; /* for agents that tell positions apart (--feedback position) */
    /* The reward of a slate under scores (arms), which experiments measure regret with. NULL: the sum of the
     * slate's scores. */
    double (*reward)(void *user, const double *scores, size_t arms, const size_t *slate, size_t length);
    /* Instead of these two: the same with all that the request says, its scores, groups, costs...
     * (sa_problem_numbers and the like). The problem and what it points to are only there during the call. */
    int (*solve_problem)(void *user, const sa_problem *problem, size_t most, size_t *slate, size_t *length);
    double (*reward_problem)(void *user, const sa_problem *problem, const size_t *slate, size_t length);
    /* Of experiments alone: what the code is, as in sa_own_agent; NULL: the file that has it. */
    const char *code;
} sa_oracle_callbacks;

#ifdef __cplusplus
}
#endif

#endif
