/* The service without its network: agents, journal, learner, keys. */
#ifndef SERVE_SERVICE_H
#define SERVE_SERVICE_H

#include "agents.h"
#include "cluster.h"
#include "counting.h"
#include "evaluations.h"
#include "folder.h"
#include "folding.h"
#include "keys.h"
#include "learner.h"
#include "memory.h"
#include "metrics.h"
#include "readers.h"
#include "solver.h"
#include "sums.h"
#include "writer.h"

enum { SERVICE_CLOSINGS = 256 };

/* An event whose wait has ended in the group that is being written. */
typedef struct closed {
    sv_agent *agent; /* NULL: it is not known here yet */
    bool event;      /* else a change of the agent, left by another server */
    double reward;
    uint64_t seq;
} sv_closed;

/* A pass of retention over the agents. */
enum { PASS_DELETED = 64 };
typedef struct turn {
    int64_t agent, age;             /* milliseconds */
    bool deleted, more;             /* more: than the last batch */
    bool keeps;                     /* its decisions stay, whatever their age */
    uint64_t purged;                /* items of the past that went */
    uint64_t waited, held, removed; /* of the last batch: not learnt; not activated; and all */
} sv_turn;
typedef struct pass {
    sv_turn turns[LIMIT_AGENTS + 1 + PASS_DELETED];
    size_t count, at, first; /* at: whose turn it is; first: who was when the batch began */
    size_t rounds;           /* of turns: the first is of all agents, others of those that have more */
    bool runs, more;         /* more: the next one begins at once */
    uint64_t removed;
    double until;                /* when all agents have their turn again */
    double seconds, next, pause; /* that it took; when the next one begins; seconds before it */
} sv_pass;

struct service {
    const char *place; /* of the store: the folder's path, or a URL */
    sv_folder folder;
    sv_keys keys;
    sv_agents agents;
    sv_memory memory;
    sv_metrics metrics;
    sv_writer *writer;
    sv_writer *holder;   /* of rows, with the session that holds agents; the writer where nobody shares it */
    sv_cluster *cluster; /* NULL: nobody does */
    sv_learning learning;
    sv_learner_shared shared;
    sv_learner *learner;
    sv_folding *folding;
    sv_counting *counting;
    sv_evaluations *evaluations; /* NULL: none are made */
    pthread_mutex_t reading;     /* of the reader */
    sv_store *reader;            /* for the log */
    sv_readers readers;          /* for requests */
    sv_solver *solver;           /* NULL: integer programs are solved in this process */
    double solver_seconds;       /* for the rules of a request; 0: no bound */
    atomic_bool stopping;
    /* which the HTTP server counts: open ones, those of the last second or two, those that got no room */
    atomic_uint connections, active;
    atomic_uint_fast64_t turned_away;
    atomic_size_t body_bytes;
    atomic_uint_fast64_t unknown_second, unknown; /* requests of this second for agents that are not there */
    sv_sums sums, held_sums; /* of the writer; of the holder, where that is another one */
    sv_maintenance closing, retention;
    double sums_time;
    sv_closed closed[SERVICE_CLOSINGS]; /* the writer's own */
    size_t closed_count;
    sv_pass pass;
};

typedef struct service_options {
    const char *folder; /* or NULL, with */
    const char *store;  /* a URL, which other servers share */
    sv_learning learning;
    const char *keys;          /* file; NULL: none */
    double checkpoint_seconds; /* 0: none */
    double recovery_seconds;   /* 0: 10 */
    const char *solver;        /* the program to start solvers and evaluations from; NULL: none */
    double solver_seconds;     /* 0: no bound */
    double memory;             /* bytes for agents; 0: half of what there is */
} sv_service_options;

/* Opens the folder, which is made where it is missing, and goes on from its journal. NULL with a refusal:
 * 400 where the user's input is wrong. */
sv_service *sv_service_start(const sv_service_options *options, sv_refusal *why);
/* Ends after what was accepted is answered. */
void sv_service_stop(sv_service *self);
/* Again: on failure they stay as they were. */
bool sv_service_read_keys(sv_service *self, const char *path, sv_refusal *why);
/* Another one each time: for names of files. An address would tell where memory is. */
unsigned long long sv_service_number(void);
/* The two things that the writer does by itself (maintenance.c). */
void sv_service_add_maintenance(sv_service *self);

#endif
