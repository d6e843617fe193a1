/* What the ways to assign positions share: the score of an arm in a position, and the rules that a slate must
 * keep. */
#ifndef SA_ORACLE_ASSIGNMENT_H
#define SA_ORACLE_ASSIGNMENT_H

#include "oracle/oracle.h"

#define SA_NONE ((size_t)-1)

static inline double sa_position_score(const sa_oracle_problem *problem, size_t arm, size_t position) {
    if (problem->positions) return problem->scores[arm * problem->positions + position];
    return sa_problem_has(problem, SA_DISCOUNTS) ? problem->data->discounts[position] * problem->scores[arm]
                                                 : problem->scores[arm];
}

static inline bool sa_position_takes(const sa_oracle_problem *problem, size_t arm, size_t position) {
    return !sa_problem_has(problem, SA_ELIGIBLE) || problem->data->eligible[position * problem->arms + arm];
}

/* Are there any? */
bool sa_rules_given(const sa_oracle_problem *problem);
/* SA_INVALID for rules that contradict each other whatever the scores. */
sa_status sa_rules_check(const sa_oracle_problem *problem);

/* Rules as sets within sets: at most one arm of a unit, all of one group; from least[g] to most[g] arms of a
 * group. Arms whose group is not limited are in group 0, so the given group g is g + 1 here. */
typedef struct sa_rules {
    size_t groups;
    size_t *group;        /* (arms) */
    size_t *unit;         /* (arms) an arm that stands for the unit */
    size_t *members;      /* (arms) of the unit that this arm stands for */
    size_t *least, *most; /* (groups) */
    size_t *pairs;        /* (pairs) workspace */
} sa_rules;

/* Fills the rules' arrays, which the caller has laid. False: they are not sets within sets, as arms exclude
 * each other that are of two limited groups, or without all of them doing so; or there is a matrix. */
bool sa_rules_read(const sa_oracle_problem *problem, sa_rules *rules);
size_t sa_rules_groups(const sa_oracle_problem *problem);
static inline size_t sa_rules_pairs(const sa_oracle_problem *problem) {
    return sa_problem_has(problem, SA_EXCLUSIONS) ? problem->data->count[SA_EXCLUSIONS] : 0;
}
/* SA_INVALID: no slate keeps the rules. */
sa_status sa_rules_fail(const sa_oracle_problem *problem);

/* ---- the arms that can matter ---- */

typedef struct sa_entry {
    double score;
    size_t arm;
} sa_entry;

/* Decreasing scores, at most one arm of a unit and most[g] of a group. */
typedef struct sa_entry_list {
    size_t count, size;
    double least;      /* a score must be more to get in; -infinity while there is room */
    sa_entry *entries; /* (size) */
} sa_entry_list;

typedef struct sa_candidates {
    size_t list_count, entry_count;
    sa_entry_list *lists; /* (list_count) K for any group, then K for each that must have arms */
    sa_entry *entries;    /* (entry_count) of all lists */
    size_t *of_group;     /* (groups) its first list; 0: it has none of its own */
} sa_candidates;

/* Sets the counts; the caller lays the arrays. */
void sa_candidates_size(sa_candidates *self, const sa_rules *rules, size_t positions);
/* Sets marked (arms) of the arms that can matter. */
void sa_candidates_mark(sa_candidates *self, const sa_oracle_problem *problem, const sa_rules *rules,
                        bool *marked);

/* ---- the two ways ---- */

/* The best slate that keeps the rules: as a flow, and by CBC where they are none. */
sa_status sa_assignment_flow(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate,
                             bool *is_flow);
sa_status sa_assignment_program(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate);

#endif
