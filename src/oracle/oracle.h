/* An oracle turns scores into the slate with the largest reward, under what the problem asks of a slate. */
#ifndef SA_ORACLE_ORACLE_H
#define SA_ORACLE_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/workspace.h"
#include "oracle/options.h"
#include <superarm/json.h>
#include <superarm/oracle.h>

/* ---- the problem ---- */

/* How many rows or columns an array has. */
typedef enum sa_extent {
    SA_EXTENT_ONE,
    SA_EXTENT_TWO,
    SA_EXTENT_ARMS,
    SA_EXTENT_ANY, /* groups, positions, topics... */
} sa_extent;

/* The one list of an oracle's data beside the scores:
 *
 *   X(ENUMERATOR, "name", KIND, SINGLE, ROWS, COLUMNS, field of sa_oracle_data, "for people")
 *
 * SINGLE: the field is the value itself, and not a pointer to an array. */
/* clang-format off */
#define SA_ORACLE_DATA(X)                                                                                    \
    X(EXACTLY, "exactly", FLAGS, true, ONE, ONE, exactly,                                                    \
      "exactly K arms, also where an oracle may leave arms out; true unless false is said")                  \
    X(COSTS, "costs", NUMBERS, false, ARMS, ONE, costs, "knapsack: costs, (N), 0 or more")                   \
    X(CAPACITY, "capacity", NUMBERS, true, ONE, ONE, capacity, "knapsack: what the costs may add up to")     \
    X(GROUPS, "groups", INDICES, false, ARMS, ONE, groups,                                                   \
      "matroid, assignment: the arms' groups, (N), counted from 0")                                          \
    X(CAPACITIES, "capacities", INDICES, false, ANY, ONE, capacities,                                        \
      "matroid, assignment: the most arms of each group")                                                    \
    X(MINIMUMS, "minimums", INDICES, false, ANY, ONE, minimums, "assignment: the least arms of each group")  \
    X(EXCLUSIONS, "exclusions", INDICES, false, ANY, TWO, exclusions,                                        \
      "assignment: pairs of arms of which at most one is chosen, (pairs, 2)")                                \
    X(ELIGIBLE, "eligible", FLAGS, false, ANY, ARMS, eligible,                                               \
      "assignment: which arms each position takes, (K, N), 0 or 1")                                          \
    X(EDGES, "edges", INDICES, false, ARMS, TWO, edges,                                                      \
      "matroid, shortest-path, matching: the two nodes of each arm, (N, 2)")                                 \
    X(SOURCE, "source", INDICES, true, ONE, ONE, source, "shortest-path: the node to start from")            \
    X(TARGET, "target", INDICES, true, ONE, ONE, target, "shortest-path: the node to reach")                 \
    X(REVENUES, "revenues", NUMBERS, false, ARMS, ONE, revenues, "assortment: revenues, (N)")                \
    X(TOPICS, "topics", NUMBERS, false, ARMS, ANY, topics,                                                   \
      "submodular: how well each arm covers each topic, (N, topics)")                                        \
    X(MATRIX, "matrix", NUMBERS, false, ANY, ARMS, matrix, "ilp: A in A x <= b, (rows, N)")                  \
    X(BOUNDS, "bounds", NUMBERS, false, ANY, ONE, bounds, "ilp: b, (rows)")                                  \
    X(SECONDS, "seconds", NUMBERS, true, ONE, ONE, seconds,                                                  \
      "ilp, assignment with rules: how long CBC may search for the best; 1 unless given")                    \
    X(DISCOUNTS, "discounts", NUMBERS, false, ANY, ONE, discounts,                                           \
      "cascade, assignment: the discounts of the positions, (K), 0 to 1")                                    \
    X(REWARD, "reward", FLAGS, true, ONE, ONE, sum,                                                          \
      "cascade: click, 1 - prod(1 - psi_k v_k), or sum, of psi_k v_k")
/* clang-format on */

typedef enum sa_datum {
#define SA_DATUM_ENUM(enumerator, ...) SA_##enumerator,
    SA_ORACLE_DATA(SA_DATUM_ENUM) SA_DATUM_COUNT
#undef SA_DATUM_ENUM
} sa_datum;

#define SA_BIT(datum) (1u << (datum))
#define SA_EVERYTHING (SA_BIT(SA_DATUM_COUNT) - 1)

typedef struct sa_oracle_data {
    unsigned given;                   /* SA_BIT of each that is there */
    size_t count[SA_DATUM_COUNT];     /* rows of each array */
    size_t columns[SA_DATUM_COUNT];   /* of arrays with two axes */
    const char *file[SA_DATUM_COUNT]; /* where it was read from; NULL: given in memory */
    const double *costs;              /* (arms) */
    const double *revenues;           /* (arms) */
    const double *topics;             /* (arms, columns) */
    const double *matrix;             /* (count, arms) */
    const double *bounds;             /* (count of matrix) */
    const double *discounts;          /* (slate) */
    const size_t *groups;             /* (arms) */
    const size_t *capacities;         /* (groups) */
    const size_t *minimums;           /* (groups) */
    const size_t *exclusions;         /* (pairs, 2) */
    const bool *eligible;             /* (slate, arms) */
    const size_t *edges;              /* (arms, 2) */
    double capacity;
    double seconds; /* how long CBC may search */
    size_t source, target;
    bool sum;                 /* cascade: the reward is the discounted sum */
    bool exactly;             /* whether K arms must be chosen */
    double most_seconds;      /* of processor time for a solve; 0: no bound */
    double until;             /* by the clock of the thread that solves; 0: no bound */
    sa_integer_solver solver; /* NULL: CBC in this process */
    void *solver_user;
} sa_oracle_data;

/* What an oracle may look at. */
typedef struct sa_oracle_problem {
    const double *scores; /* (arms), or (arms, positions); finite */
    size_t positions;     /* K when each arm has a score for each position, else 0 */
    size_t arms;          /* N */
    size_t slate;         /* K; 0: no limit, for oracles whose slates are at most K or of any size */
    const bool *excluded; /* (arms) or NULL */
    /* (arms) or NULL: the scores before they were clipped, which breaks ties among them */
    const double *unclipped;
    /* (arms) or NULL: for oracles that put urgent arms first, largest first; 0: not urgent */
    const double *urgency;
    const sa_oracle_data *data;     /* NULL: none */
    const sa_oracle_callbacks *own; /* of the caller's own oracle */
} sa_oracle_problem;

static inline bool sa_problem_has(const sa_oracle_problem *problem, sa_datum datum) {
    return problem->data && problem->data->given & SA_BIT(datum);
}
static inline bool sa_problem_allows(const sa_oracle_problem *problem, size_t arm) {
    return !problem->excluded || !problem->excluded[arm];
}

/* Must a slate have K arms, whatever their scores? Oracles that always choose K need not ask. */
static inline bool sa_problem_wants_all(const sa_oracle_problem *problem) {
    return sa_problem_has(problem, SA_EXACTLY);
}

/* The bound on its time counts from here. */
void sa_data_begin(sa_oracle_data *data);
/* Has it used it up? Looked at in long loops, each 10 microseconds or
 * so. */
bool sa_problem_is_late(const sa_oracle_problem *problem);
/* SA_INVALID with a sentence. */
sa_status sa_problem_fail_late(void);

/* ---- the public problem ---- */

enum { SA_SCORES = SA_DATUM_COUNT, SA_PROBLEM_ARRAYS };

struct sa_problem {
    sa_oracle_problem problem;
    sa_oracle_data data;
    void *owned[SA_PROBLEM_ARRAYS]; /* arrays that were read */
    char *path[SA_PROBLEM_ARRAYS];  /* and where from; numbers: their text */
    sa_workspace workspace;
    size_t *slate;
    size_t slate_capacity;
};

const sa_oracle_data *sa_problem_data(const sa_problem *problem);
/* One "name=value" of a text "costs=1,2.5,3;capacity=4". */
typedef struct sa_problem_entry {
    const char *name, *value; /* in the text, not ended */
    size_t name_size, value_size;
} sa_problem_entry;
/* The next entry; `*text` is then what comes after it. false: there is none. */
bool sa_problem_text_next(const char **text, sa_problem_entry *entry);
/* A row of SA_ORACLE_DATA. */
typedef struct sa_datum_info {
    const char *name, *help;
    sa_data_kind kind;
    bool single;
    sa_extent rows, columns;
    size_t offset; /* of the field */
} sa_datum_info;
const sa_datum_info *sa_datum_at(sa_datum datum);
sa_datum sa_datum_find(const char *name); /* SA_DATUM_COUNT: none */
/* sa_problem_put; the problem frees the array, which may be NULL, with sa_free, and `path`, where it came
 * from. */
void sa_problem_give(sa_problem *problem, sa_datum datum, void *array, size_t rows, size_t columns,
                     char *path);
/* The datum of one value. */
void sa_problem_give_value(sa_problem *problem, sa_datum datum, const void *value);

/* ---- from JSON (problem_json.c) ---- */

/* Adds what an object of JSON says, by the same names: lists, and lists of lists, of numbers; for `arms`
 * arms. Nodes of edges may have any numbers. "exactly" is the request's, and goes to `*exactly`, which is
 * else not changed. SA_INVALID with a sentence that begins with "problem: ". */
sa_status sa_problem_json(sa_problem *problem, const sa_json *json, size_t object, size_t arms,
                          bool *exactly);

/* ---- the interface ---- */

typedef enum sa_slate_size {
    SA_EXACTLY_K, /* K arms, no less */
    SA_AT_MOST_K, /* may leave arms out, also all; K 0: no limit */
    /* as many as the structure asks for; K is not looked at, but for --groups, where it is the most */
    SA_ANY_SIZE,
} sa_slate_size;

typedef struct sa_oracle {
    const char *name;
    const char *summary;
    const char *wants;   /* the data it needs; and what it also takes: for people */
    const char *cost;    /* of a solve, for people */
    const char *missing; /* what the build would need, a sentence; NULL: it has all */
    double alpha;        /* the share of the best reward that a solution is sure to reach */
    bool exact;
    sa_slate_size size;
    unsigned needs, takes; /* SA_BIT of the data it cannot do without, and of those it also looks at */
    double low, high;      /* the domain of scores; both 0: all numbers */
    bool positions;        /* takes positional scores */
    /* looks at the problem's urgency; for others, urgent arms have scores above all others */
    bool urgent_first;
    /* What only this oracle can say about a problem whose shapes and numbers are right; NULL: nothing. */
    sa_status (*check)(const sa_oracle_problem *problem);
    /* Writes the chosen arms, best first and ties to the lower index unless the oracle gives an order, and
     * how many. The problem was checked. SA_INVALID when no slate fits. */
    sa_status (*solve)(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate,
                       size_t *length);
    /* The reward of a slate under scores. */
    double (*reward)(const sa_oracle_problem *problem, const size_t *slate, size_t length);
    /* Where alpha is less than 1: the slate of the largest reward, whatever it takes; where it takes too
     * much, *proven is false, and the slate that of solve. NULL: solve is all there is. */
    sa_status (*best)(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate,
                      size_t *length, bool *proven);
} sa_oracle;

const sa_oracle *sa_oracle_of(sa_oracle_kind kind);
const sa_oracle *sa_oracle_find(const char *name); /* NULL: none, with a sentence */

/* Everything that can be wrong with a problem before it is solved; scores (but not their domain) included. */
sa_status sa_oracle_check(const sa_oracle *oracle, const sa_oracle_problem *problem);
/* SA_INVALID for a score outside the domain. */
sa_status sa_oracle_check_domain(const sa_oracle *oracle, const sa_oracle_problem *problem, const char *file);
/* Discounts must be from 0 to 1, one for each of K positions, or where there is no K for each arm. */
sa_status sa_discounts_check(const sa_oracle_data *data, const sa_oracle_problem *problem);
void sa_oracle_clip(const sa_oracle *oracle, const sa_oracle_problem *problem, double *scores, size_t count);
/* The most arms that a slate can have. */
size_t sa_oracle_most(const sa_oracle *oracle, const sa_oracle_problem *problem);
const char *sa_datum_name(sa_datum datum);
/* SA_INVALID with "--costs c.npy: ..." or "costs: ...". */
__attribute__((format(printf, 3, 4))) sa_status sa_data_fail(const sa_oracle_data *data, sa_datum datum,
                                                             const char *format, ...);

/* ---- slates of others (verify.c) ---- */

/* SA_INVALID, saying how, where a slate of different arms breaks a rule of the problem. */
sa_status sa_slate_verify(const sa_oracle *oracle, const sa_oracle_problem *problem, sa_workspace *workspace,
                          const size_t *arms, size_t length);
/* Leaves out arms, from the first on, that break a rule together with those before them; SA_INVALID where
 * what is left does. */
sa_status sa_slate_clip(const sa_oracle *oracle, const sa_oracle_problem *problem, sa_workspace *workspace,
                        size_t *arms, size_t *length);
/* No slate that keeps the rules has more arms. */
sa_status sa_slate_most(const sa_oracle *oracle, const sa_oracle_problem *problem, sa_workspace *workspace,
                        size_t *most);

/* ---- what oracles share ---- */

/* Sorts arms by decreasing score, ties to the lower index. */
void sa_arms_sort(const double *scores, size_t *arms, size_t count);
/* Reorders the arms so that the first `wanted` come before all others in that order. */
void sa_arms_select(const double *scores, size_t *arms, size_t count, size_t wanted);
/* The sum of the slate's scores, whatever its order. */
double sa_reward_sum(const sa_oracle_problem *problem, const size_t *slate, size_t length);

/* ---- integer programs ---- */

/* The 0/1 choices with the largest sum of scores whose rows are from least to most; matrix by column. */
typedef struct sa_program {
    size_t columns, rows;
    int *start;            /* (columns + 1) */
    int *index;            /* (entries) row */
    double *value;         /* (entries) */
    double *lower, *upper; /* (columns) */
    double *score;         /* (columns); is scaled */
    double *least, *most;  /* (rows) */
    double seconds;        /* after so long the best so far will do */
} sa_program;

typedef struct sa_program_result {
    bool found;     /* false: nothing fits */
    size_t *chosen; /* (count) columns */
    size_t count;
    double gap; /* as in sa_workspace */
} sa_program_result;

/* Lays the arrays of both, with room for so many entries. */
sa_status sa_program_lay(sa_program *program, sa_workspace *workspace, size_t entries,
                         sa_program_result *answer);
/* SA_INVALID when a slate breaks a row of --matrix. */
sa_status sa_rows_verify(const sa_oracle_problem *problem, const size_t *slate, size_t length);
/* By the problem's solver, or CBC: SA_UNSUPPORTED without it; SA_INVALID when time ran out before anything
 * was found, and for numbers that no solver takes. */
sa_status sa_program_solve(const sa_oracle_problem *problem, const sa_program *program,
                           sa_program_result *answer);
static inline double sa_problem_patience(const sa_oracle_problem *problem) { /* seconds */
    return sa_problem_has(problem, SA_SECONDS) ? problem->data->seconds : 1;
}

extern const sa_oracle sa_oracle_top_k, sa_oracle_assignment, sa_oracle_cascade, sa_oracle_knapsack,
    sa_oracle_matroid, sa_oracle_shortest_path, sa_oracle_matching, sa_oracle_assortment,
    sa_oracle_submodular, sa_oracle_ilp;
extern const sa_oracle sa_oracle_own; /* the caller's */
sa_status sa_submodular_best(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate,
                             size_t *length, bool *proven); /* submodular_best.c */
/* SA_INVALID for callbacks that cannot be an oracle. */
sa_status sa_own_check(const sa_oracle_callbacks *own);

#endif
