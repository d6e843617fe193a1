/* One request and its answer, whoever brought it: the HTTP server, a test or a fuzzer. */
#ifndef SERVE_EXCHANGE_H
#define SERVE_EXCHANGE_H

#include "agents.h"
#include "refusal.h"
#include "store.h"
#include "writer.h"
#include <superarm/json.h>

typedef struct service sv_service;
struct route;

/* Which threads answer: the loop itself, what never waits; those that choose; those for large bodies and
 * slates; those for rules that need a solver; those for admins. LANE_ANY: whoever brought it has no lanes. */
typedef enum lane { LANE_ANY, LANE_NOW, LANE_QUICK, LANE_LARGE, LANE_SOLVER, LANE_ADMIN, LANES } sv_lane;

typedef struct exchange {
    /* the request; texts are borrowed until it is answered */
    const char *method, *path, *query; /* query NULL: none */
    const char *type, *authorization, *host;
    const char *subscription; /* a key, as Personalizer's clients send it */
    const char *request;      /* an id of the request, likewise */
    const char *from;         /* address; NULL: unknown */
    const void *peer; /* the same for all who share lanes as one, and never looked into; NULL: unknown */
    const char *key;  /* name of the client's; NULL: none */
    sa_buffer body;

    /* the answer */
    int status; /* 0: not yet */
    const char *answer_type;
    sa_buffer answer;
    int file;          /* sent instead of the answer, if not -1 */
    const char *allow; /* of 405 */
    char error[160];   /* the sentence of a refusal, for the log */
    const char *code;  /* of an error, in a header of its own, where the route is Personalizer's */
    /* Where a route answers in another form than the one that it uses: called with status and answer. */
    void (*shape)(struct exchange *self);

    /* Where an answer needs the disk or the learner: the route sets `later`, whoever brought the request
     * calls it once it can take the answer from another thread, and then gets `done`, once. */
    void (*later)(struct exchange *self);
    void (*done)(struct exchange *self);
    void *user; /* of whoever brought it */

    /* A route that finds that it belongs into another lane sets it, and is called again there. */
    sv_lane lane;
    struct exchange *next; /* of a queue */
    double queued;         /* when it came into it */

    sv_service *service;
    const struct route *route;
    char name[LIMIT_NAME + 1]; /* the agent in the path; "" for none */
    char event[LIMIT_ID + 1];  /* the event in the path, or of the body */
    sv_agent *agent;           /* retained; of that name */
    void *state;               /* the route's own */
    void (*state_free)(void *state);
    double begin;
} sv_exchange;

/* Frees the route's state: before the answer goes out, so that the client's next request finds nothing
 * held. */
void sv_exchange_settle(sv_exchange *self);

/* ---- for routes ---- */

void sv_exchange_refuse(sv_exchange *self, const sv_refusal *why);
/* A status and what is in `answer`, JSON unless answer_type says otherwise. */
void sv_exchange_answer(sv_exchange *self, int status);
/* Gives the job to the writer; where it is not taken, the exchange is answered and done. */
void sv_exchange_submit(sv_exchange *self, sv_job *job);
/* The answer of a journal that failed. */
void sv_exchange_refuse_store(sv_exchange *self, sv_store_status status);

#endif
