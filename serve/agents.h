/* The agents of a service. An agent is counted: whoever finds it releases it. */
#ifndef SERVE_AGENTS_H
#define SERVE_AGENTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "bounds.h"

#include "chunks.h"

#include "catalogue.h"

#include "hours.h"
#include "model.h"
#include "settings.h"
#include "unknown.h"

enum { RECENT = 12, SERIES_BUCKETS = 121, SERIES_SECONDS = 5, UNREAD = 4 };

/* A decision as the page shows it: one JSON object. */
typedef struct recent {
    sa_buffer json;
} sv_recent;

/* A policy in the database, as it was written then. */
typedef struct unread {
    uint64_t version;
    int64_t time;
} sv_unread;

/* What happened in 5 seconds. */
typedef struct bucket {
    int64_t number; /* seconds since 1970 over SERIES_SECONDS */
    uint64_t decisions, feedbacks, learnt;
    double reward; /* sum over learnt events of their feedback's sum */
} sv_bucket;

/* A file of the folder, and the row up to which it has learnt. */
typedef struct checkpoint {
    uint64_t seq;
    char file[96];  /* name; "" for none */
    char *settings; /* JSON, until it is opened */
} sv_checkpoint;

typedef struct agent {
    atomic_int owners;
    int64_t id;
    char name[LIMIT_NAME + 1];
    atomic_bool deleted, changing; /* changing: one PUT at a time */
    atomic_size_t asked;           /* bytes of memory that its PUT was promised */
    atomic_uint queued;            /* its requests that wait for the disk */
    atomic_uint_fast64_t decisions, waiting, held, feedbacks, late, retries, learnt, skipped, last_seq;
    atomic_uint_fast64_t feedbacks_before, late_before; /* of earlier runs */
    atomic_bool decisions_known, feedbacks_known;       /* they have been counted */
    atomic_uint_fast64_t checkpointed;                  /* the row that the newest checkpoint has */
    _Atomic double checkpoint_time;                     /* when that was written, or tried */

    /* where servers share a store: this one learns the agent, as the n-th that it took over; 0: another
     * does */
    atomic_uint_fast64_t tenure;
    uint64_t start_seq;       /* its last row when this server started */
    uint64_t held_asked;      /* of the writer: events that are held, of those that were asked for here */
    sv_chunks followed;       /* of the cluster's thread: of the policy that another server has learnt */
    sv_unread unread[UNREAD]; /* likewise: policies that it could not read, which it tries no more */
    size_t unread_next;
    atomic_bool policy_there; /* a policy that can be read has what the oldest rows had: they may go */

    atomic_bool items_changing, items_encoding; /* one change of its items at a time; rows are being made */
    atomic_uint_fast64_t items_past;            /* items of earlier versions in the journal */
    uint64_t items_number;                      /* the largest that was given; of who changes them */
    double items_next; /* of the cluster's thread: before that it does not look at them again */

    atomic_bool broken;     /* it cannot go on, and `why` says so: no row is learnt until a reset */
    atomic_bool unreadable; /* nor can its settings be read */

    pthread_mutex_t lock;      /* of the following */
    sv_settings *settings;     /* as the journal has them now */
    uint64_t settings_version; /* where servers share a store: how often they have changed */
    char why[480];
    sv_catalogue *catalogue; /* NULL: it has none (agent_items.h) */
    sv_policy *policy;       /* NULL: not there yet */
    sv_settings *served;     /* with which requests are read for that policy: those of its row */
    double policy_time;
    sa_agent_counts counts; /* of the published policy's agent */
    int64_t recent_time;    /* milliseconds */
    sv_recent recent[RECENT];
    size_t recent_next;
    sv_bucket series[SERIES_BUCKETS];
    double reward_sum; /* of the events learnt since the start */
    uint64_t reward_count;
    double behind_since; /* since when the first row waits that is not served yet; 0: none does */
    sv_since since;      /* what is known since the control was set */
    sv_unknown unknown;  /* fields that the schema does not have */

    /* the learner's own */
    sv_model *model;
    struct settings *learner_settings; /* as of learnt_seq */
    uint64_t learnt_seq, published_seq, recover_to;
    bool recovering;                 /* it has not learnt row recover_to again */
    sv_checkpoint checkpoint, older; /* the newest, and the one before it */
    bool checkpoint_damaged, older_damaged, checkpoint_wanted, checkpoint_failed;
    double published_time, checkpoint_cost; /* seconds that the last one took */
    int64_t row_time;                       /* of row learnt_seq, milliseconds */
    double replay_seconds; /* that the learner took for the rows after the newest checkpoint */
    bool stalled;          /* the disk has no room for its next row, which is tried again and again */
    double stalled_time;   /* of the last try */
    uint64_t opened;       /* the value of `tenure` when the model was opened */
    sv_chunks written;     /* of the policy that was written for others last */
    uint64_t written_seq;
    bool written_alone;                /* no older policy is kept */
    double written_time, written_cost; /* when, and how many seconds it took */
    bool untold;                       /* whether it is broken, others do not know yet */
    double told_time;                  /* when they were to be told last */
    atomic_bool dirty;                 /* it is in the learner's list, or has rows to learn */
    struct agent *next_dirty;
} sv_agent;

typedef struct agents {
    pthread_rwlock_t lock;
    sv_agent *list[LIMIT_AGENTS + 1];
    size_t count, reserved;
} sv_agents;

void sv_agents_begin(sv_agents *self);
void sv_agents_end(sv_agents *self);
/* NULL when memory is short; takes its own reference to the settings. One owner: the caller. */
sv_agent *sv_agent_new(int64_t id, const char *name, sv_settings *settings);
void sv_agent_release(sv_agent *self); /* NULL is fine */
void sv_agent_retain(sv_agent *self);
/* The list owns it too. false: there are too many, or its id is there already. */
bool sv_agents_add(sv_agents *self, sv_agent *agent);
/* Room for one that PUT is about to make. false: there are too many. It is given back when the agent is in
 * the list, or will not be. */
bool sv_agents_reserve(sv_agents *self);
void sv_agents_unreserve(sv_agents *self);
void sv_agents_remove(sv_agents *self, sv_agent *agent);
sv_agent *sv_agents_find(sv_agents *self, const char *name); /* retained; NULL: none */
sv_agent *sv_agents_find_id(sv_agents *self, int64_t id);
size_t sv_agents_count(sv_agents *self);
/* Agents that are broken; their names as a JSON list, if `names`. */
size_t sv_agents_broken(sv_agents *self, sa_buffer *names);
/* All of them, retained, into `out` (LIMIT_AGENTS + 1); how many. */
size_t sv_agents_all(sv_agents *self, sv_agent **out);

sv_settings *sv_agent_settings(sv_agent *self); /* retained */
/* The same, and their version: 0, there are none. */
sv_settings *sv_agent_settings_at(sv_agent *self, uint64_t *version);
/* The policy and the settings that belong to it, both retained. false: it is not there yet. */
bool sv_agent_serving(sv_agent *self, sv_policy **policy, sv_settings **settings);
/* They are those of the journal's last row. What is served goes on as it was until it is published. */
/* Where they have versions, those that are not newer than what it has change nothing, and it says so. */
bool sv_agent_change_settings(sv_agent *self, sv_settings *settings, uint64_t version);
/* Takes over the policy. Rows that it is without came after `row_time`, in milliseconds. */
void sv_agent_publish(sv_agent *self, sv_policy *policy, sv_settings *settings, const sa_agent_counts *counts,
                      int64_t row_time);
void sv_agent_break(sv_agent *self, const char *why);
void sv_agent_mend(sv_agent *self);
/* Refuses with 503 and the sentence if it is broken. */
bool sv_agent_is_sound(sv_agent *self, sv_refusal *why);
/* The journal has the agent's rows up to this one. */
void sv_agent_wrote(sv_agent *self, uint64_t seq);
/* Does the page want another decision by now? It is shown a few a second. */
bool sv_agent_wants_decision(sv_agent *self);
/* Takes the JSON. */
void sv_agent_show_decision(sv_agent *self, sa_buffer json);
void sv_agent_count_decision(sv_agent *self, bool held);
void sv_agent_count_activation(sv_agent *self);
void sv_agent_count_feedback(sv_agent *self);
void sv_agent_count_learnt(sv_agent *self, double reward);
void sv_agent_publish_since(sv_agent *self, const sv_since *since);
/* A list of sentences, JSON, about a request's unknown fields; false: nothing needs to be said. */
bool sv_agent_warn(sv_agent *self, const sv_unknown *request, const sa_schema *schema, sa_buffer *out);
void sv_agent_count_unknown(sv_agent *self, const sv_unknown *request);
/* Status as JSON: settings, counts, version, rates; with `all` the series and the latest decisions, too. */
void sv_agent_write(sv_agent *self, bool all, sa_buffer *out);

#endif
