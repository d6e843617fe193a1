/* What the files of the evaluations share. */
#ifndef SERVE_EVALUATIONS_OWN_H
#define SERVE_EVALUATIONS_OWN_H

#include "evaluations.h"
#include "waiting.h"

struct evaluation {
    int64_t id; /* 0: the journal does not have it yet */
    sv_agent *agent;
    sv_evaluation_question question;
    bool admitted;
    bool over;          /* with the lock: only its result is still to be written */
    char given_up[160]; /* why it is not run to its end, with the lock; "": it is */
};

struct evaluations {
    sv_evaluations_options about;
    sv_store *store;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    sv_evaluation *queue[EVALUATIONS_QUEUE]; /* in order, with the one that runs */
    size_t count;
    sv_evaluation *running; /* NULL: none */
    size_t held;            /* by those that must not be read meanwhile */
    bool stopping;
    atomic_bool end; /* what runs is to end */
};

/* From its events to its result in the journal; or nothing, where it was ended. */
void sv_evaluation_run(sv_evaluations *all, sv_evaluation *of);

#endif
