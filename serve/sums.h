/* Sums by hour, written with what they are the sums of: a job of the writer adds to its agent's hour, and the
 * hours that were added to are written at the end of the group, in the same transaction, once each. So a kill
 * neither loses anything of them nor counts it twice. */
#ifndef SERVE_SUMS_H
#define SERVE_SUMS_H

#include "agents.h"
#include "hours.h"
#include "settings.h"
#include "writer.h"

typedef struct sums {
    sv_agents *agents;
    struct opened *first; /* hours of the group that is being written */
    sv_job last;          /* the group's last job (sv_writer_last) */
    bool left;            /* what is added is left for the server that learns the agent */
} sv_sums;

void sv_sums_begin(sv_sums *self, sv_agents *agents, bool left);
void sv_sums_end(sv_sums *self);
/* What the journal knows since the control was set, for GET and metrics. */
sv_store_status sv_sums_load(sv_store *store, sv_agents *agents);
sv_store_status sv_sums_load_one(sv_store *store, sv_agent *agent);

/* The agent's present hour, to be added to in a job's run; it is the group's. */
sv_store_status sv_sums_hour(sv_sums *self, sv_store *store, int64_t agent, sv_hour **out);
/* A decision was shown. names: of its first arms, each ended by 0. */
sv_store_status sv_sums_decision(sv_sums *self, sv_store *store, int64_t agent, sv_decision_side side,
                                 bool explored, const sa_buffer *names);
/* The same of one that was made before, by its answer. */
sv_store_status sv_sums_activation(sv_sums *self, sv_store *store, const sv_store_decision *decision);
sv_store_status sv_sums_feedback(sv_sums *self, sv_store *store, int64_t agent, bool late);
/* An event was learnt; data: the values of its row. An apprentice's slate is compared. */
sv_store_status sv_sums_learnt(sv_sums *self, sv_store *store, const sv_settings *settings,
                               const sv_store_decision *decision, double reward, const sa_buffer *data);
/* Adds what servers have left for agents that are held here. */
sv_store_status sv_sums_take_left(sv_sums *self, sv_store *store);
/* What an event had taught became something else: values of rows, before and now. */
sv_store_status sv_sums_revised(sv_sums *self, sv_store *store, const sv_store_decision *decision,
                                const sa_buffer *before, const sa_buffer *now);
/* Adds a row. If `restarts`, the control is set by it: what is known since then begins again where the row
 * gets its number, with which events of before are told apart; else it is left with the row. */
sv_store_status sv_sums_row(sv_sums *self, sv_store *store, int64_t agent, sv_store_row *row);

#endif
