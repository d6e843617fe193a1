/* What the ways to assign positions share: the score of an arm in a position, and the arms that can
 * matter. */
#ifndef SA_ORACLE_ASSIGNMENT_H
#define SA_ORACLE_ASSIGNMENT_H

#include "oracle/rules.h"

static inline double sa_position_score(const sa_oracle_problem *problem, size_t arm, size_t position) {
    if (problem->positions) return problem->scores[arm * problem->positions + position];
    return sa_problem_has(problem, SA_DISCOUNTS) ? problem->data->discounts[position] * problem->scores[arm]
                                                 : problem->scores[arm];
}

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
