/* The rules that an assignment must keep. */
#ifndef SA_ORACLE_RULES_H
#define SA_ORACLE_RULES_H

#include "oracle/oracle.h"

#define SA_NONE ((size_t)-1)

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

#endif
