/* Slates that begin with given arms: the best of them, and which arms can come next.
 *
 * A slate keeps the rules, and its places before k stay. Which arms can take place k? Those that some slate
 * has there. The rules are a flow (assignment_flow.c), and a slate is one; an arm can come in where there is
 * a way in the residual graph from it back to place k: it takes a place's arm, or that of its unit or group,
 * or room of its group that another has too many for; and that place takes another arm, until one takes what
 * place k has. So one search backward from place k tells it of all arms at once. */
#ifndef SA_ORACLE_EXTEND_H
#define SA_ORACLE_EXTEND_H

#include "oracle/rules.h"

typedef struct sa_extender {
    const sa_oracle *oracle;
    bool ruled;     /* else any arm that is left fits */
    sa_rules rules; /* where they are */
    sa_workspace memory, solving;
    /* in `memory`: */
    bool *eligible;  /* (K, arms) those of the problem, with the first places pinned */
    bool *reached;   /* (K) places with a way to place k */
    bool *in_group;  /* (groups) is one of these places the group's? */
    size_t *has;     /* (groups) arms of the slate */
    size_t *at;      /* (arms) place, or SA_NONE */
    size_t *unit_at; /* (arms) place of the unit's arm, or SA_NONE */
} sa_extender;

/* SA_INVALID, with a sentence, where the arms that can come next cannot be told: the rules are no flow. The
 * problem's scores are not looked at. Caller frees with sa_extender_clear, also after a failure. */
sa_status sa_extender_begin(const sa_oracle *oracle, const sa_oracle_problem *problem, sa_extender *out);
void sa_extender_clear(sa_extender *extender);
/* open (arms): can the arm take place k of the slate (K), which keeps the rules? Returns how many. */
size_t sa_extender_open(sa_extender *extender, const sa_oracle_problem *problem, const size_t *slate,
                        size_t k, bool *open);
/* Puts an arm that can come there into place k of the slate; what is after it becomes the best under the
 * scores. best (K): the oracle's own slate under these. */
sa_status sa_extender_take(sa_extender *extender, const sa_oracle_problem *problem, const size_t *best,
                           size_t k, size_t arm, size_t *slate);

#endif
