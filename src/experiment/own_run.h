/* A run of the caller's own algorithm. Its slates are checked before anyone believes them. */
#ifndef SA_EXPERIMENT_OWN_RUN_H
#define SA_EXPERIMENT_OWN_RUN_H

#include "base/callback_lock.h"
#include "experiment/chosen.h"
#include "oracle/oracle.h"
#include <superarm/own.h>

typedef struct sa_own_run {
    const sa_own_agent *code;
    sa_callback_lock *turns;
    void *state;
    bool begun;
    size_t rows, most;
    size_t *arms; /* (rows, most): slates that wait for their feedback */
    bool *taken;  /* (arms of a round) */
} sa_own_run;

/* What a slate of the caller's has to keep. */
typedef struct sa_own_rules {
    const sa_oracle *oracle;
    const sa_oracle_problem *problem; /* of the round */
    sa_workspace *workspace;
    int broken; /* sa_own_slates: what comes of a slate that does not */
} sa_own_rules;

/* `rows` slates of at most `most` arms can wait at a time, and rounds have at most `candidates`.
 * sa_own_run_end also after a failure. */
sa_status sa_own_run_begin(sa_own_run *self, const sa_own_agent *code, sa_callback_lock *turns, uint64_t run,
                           size_t rows, size_t most, size_t candidates);
sa_status sa_own_run_select(sa_own_run *self, const sa_own_round *round, const sa_own_rules *rules,
                            sa_chosen *out);
/* scores, observed (length) of the slate of an earlier round; observed NULL: all */
sa_status sa_own_run_update(sa_own_run *self, uint64_t round, const double *scores, const bool *observed,
                            size_t length);
void sa_own_run_end(sa_own_run *self);

#endif
