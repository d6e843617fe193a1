/* What the caller holds: an experiment as it is asked for, code of the caller's own, and the work that comes
 * of both. */
#ifndef SA_EXPERIMENT_EXPERIMENT_H
#define SA_EXPERIMENT_EXPERIMENT_H

#include "base/callback_lock.h"
#include "spec/spec.h"
#include <superarm/experiment.h>

struct sa_experiment {
    sa_spec spec;
    sa_own_environment environment; /* of the caller's own; without `contexts` there is none */
    sa_oracle_callbacks oracle;     /* likewise; with alpha 0 there is none */
    sa_callback_lock turns;         /* of all callbacks */
    sa_round_call *on_round;        /* NULL: nobody asks */
    void *on_round_user;
    struct sa_work *work; /* of the last check; holds the results once it is `finished`. NULL before */
    bool checked;         /* the work fits the options and has not been done */
};

#endif
