/* Evaluations in the background: what would an agent of other options have earned on the agent's own events
 * of a time span?
 *
 * The first part of the span teaches an agent of those options, and one of the agent's present options; the
 * rest judges both by its logged propensities, and neither has seen it. One thread writes the events to two
 * files, page by page, and starts a process that learns and estimates (evaluation_helper.c), with bounds
 * on its memory and time, at the lowest priority: it can be ended at any moment. One runs at a time; a few
 * wait. */
#ifndef SERVE_EVALUATIONS_H
#define SERVE_EVALUATIONS_H

#include "agents.h"
#include "folder.h"
#include "memory.h"
#include "writer.h"

typedef struct evaluations sv_evaluations;
typedef struct cluster sv_cluster;
enum { EVALUATIONS_QUEUE = 5 }; /* that runs, and four that wait */

typedef struct evaluations_options {
    const char *program;     /* borrowed: where to start helpers from */
    const sv_folder *folder; /* borrowed */
    sv_memory *memory;
    sv_agents *agents;
    sv_writer *writer;   /* for results */
    sv_cluster *cluster; /* NULL: it has a folder of its own */
} sv_evaluations_options;

/* What is asked of one. */
typedef struct evaluation_question {
    int64_t from, to;       /* milliseconds: decisions of this time, `to` not included */
    double split;           /* the share of the events that teaches */
    char estimators[160];   /* with commas; "": those that there are probabilities for */
    sv_settings *candidate; /* NULL: none but the present options */
} sv_evaluation_question;

typedef struct evaluation sv_evaluation;

/* Takes over the store, a connection of its own; NULL: the store is closed. */
sv_evaluations *sv_evaluations_start(const sv_evaluations_options *options, sv_store *store);
void sv_evaluations_stop(sv_evaluations *self);    /* ends what runs, too; NULL is fine */
void sv_evaluations_destroy(sv_evaluations *self); /* after the writer has stopped; NULL is fine */

/* A place in the queue, before the journal has it; takes over the candidate. NULL with 429: there is none. */
sv_evaluation *sv_evaluations_reserve(sv_evaluations *self, sv_agent *agent,
                                      const sv_evaluation_question *question, sv_refusal *why);
/* The journal has it, with this id: it is run in its turn; 0: it could not be written, and is forgotten. */
void sv_evaluations_admit(sv_evaluations *self, sv_evaluation *evaluation, int64_t id);

typedef enum evaluation_state { EVALUATION_NONE, EVALUATION_WAITS, EVALUATION_RUNS } sv_evaluation_state;
/* None: it has ended, or was cut off by a stop. */
sv_evaluation_state sv_evaluations_state(sv_evaluations *self, int64_t id);
/* Ids of those that wait or run; how many. `all`: the journal is to have no other one. */
size_t sv_evaluations_list(sv_evaluations *self, int64_t ids[EVALUATIONS_QUEUE], bool *all);
/* Ends it, as sv_evaluations_hold does, or without a result (NULL), and does not wait for that. */
void sv_evaluations_give_up(sv_evaluations *self, int64_t id, const char *why);
/* Ends the one that runs, if it is the agent's, with a result that says `why`; and none begins until as many
 * calls of sv_evaluations_go_on. */
void sv_evaluations_hold(sv_evaluations *self, const sv_agent *agent, const char *why);
void sv_evaluations_go_on(sv_evaluations *self);

/* The helper: `words` are the path's beginning of its files, and the bytes of memory that it may take. */
int sv_evaluation_help(int count, char **words);

#endif
