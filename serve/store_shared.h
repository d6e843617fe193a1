/* What only a store has that several servers share: who learns which agent, what they leave for each other,
 * and policies. PostgreSQL is behind it.
 *
 * An agent is held by the session that has its advisory lock. Rows are numbered, and policies written, in
 * that session's transactions alone: with the connection go lock and transaction together, so that rows of
 * two learners cannot interleave. */
#ifndef SERVE_STORE_SHARED_H
#define SERVE_STORE_SHARED_H

#include "store.h"

/* ---- who holds an agent (sv_store_hold) ---- */

/* Does a session hold it whose server has not been heard of for SHARED_SILENCE seconds? Then that session is
 * ended; STORE_NONE: none does. Four seconds, and what it takes to notice, are five after a server stops. */
#define SHARED_SILENCE "4"
enum { SHARED_SILENCE_SECONDS = 4 };
sv_store_status sv_shared_unseat(sv_store *self, int64_t agent);

/* ---- servers ---- */

typedef struct shared_server {
    const char *id, *name, *version, *keys; /* keys: a digest of its keys */
    bool learns;
    int backend; /* process of the session that holds agents */
} sv_shared_server;

int sv_shared_backend(sv_store *self); /* 0: it has no connection */
/* From any thread: ends all sessions of this process that were made so long ago, as a lost network would; or
 * all for good, and none is made again. */
void sv_shared_cut(double seconds);
void sv_shared_give_up(void);
/* Says that this server is there; the commit does not wait for the disk. */
sv_store_status sv_shared_beat(sv_store *self, const sv_shared_server *server);
/* One server at a time, to the end of the transaction. */
sv_store_status sv_shared_join(sv_store *self);
sv_store_status sv_shared_leave(sv_store *self, const char *id);
/* Those that were heard of in the last seconds, and whose session is there; by id. */
sv_store_status sv_shared_servers(sv_store *self, void (*each)(void *user, const sv_shared_server *server),
                                  void *user);

/* From now on programs of an older format than this are not let in. STORE_NONE: such a server is there, and
 * nothing is changed. In a transaction. */
enum { SHARED_ITEMS = 2 }; /* the first with stored items and revisions */
sv_store_status sv_shared_require(sv_store *self, int format);

/* ---- an agent as it is now, which this server may not know yet ---- */

/* STORE_NONE: there is none of this name. */
sv_store_status sv_shared_agent(sv_store *self, const char *name, int64_t *id, uint64_t *version);

/* ---- waking each other ---- */

sv_store_status sv_shared_tell(sv_store *self, const char *what);
/* Waits for another server's word, for a byte in the descriptor `wake`, or so long; was it told of agents? */
bool sv_shared_wait(sv_store *self, double seconds, int wake);

/* ---- what is to become a row (sv_store_inbox) ---- */

/* Which row an entry has become; STORE_NONE: none yet. */
sv_store_status sv_shared_inbox_row(sv_store *self, int64_t id, uint64_t *seq);

/* ---- evaluations, each of which one server has ---- */

/* It runs; STORE_NONE: it was deleted. In a transaction, as the next. */
sv_store_status sv_shared_evaluation_begin(sv_store *self, int64_t agent, int64_t id);
/* Those of the agent that run are to end, wherever they do, with a result that says `why`. How many. */
sv_store_status sv_shared_evaluations_stop(sv_store *self, int64_t agent, const char *why, uint64_t *count);
/* How many of these still run, at servers that are there. */
sv_store_status sv_shared_evaluations_ending(sv_store *self, int64_t agent, uint64_t *count);
/* Those of a server, with what they are to end for: NULL, nothing. `open`: without a result. */
sv_store_status sv_shared_evaluations(sv_store *self, const char *server,
                                      void (*each)(void *user, int64_t id, const char *stop, bool open),
                                      void *user);
/* The server does not have it: it is interrupted, unless it has a result. */
sv_store_status sv_shared_evaluation_lost(sv_store *self, const char *server, int64_t id);

/* ---- policies: an agent as it was after a row, saved; in chunks that other policies share ---- */

typedef struct shared_policy {
    uint64_t version;
    const char *settings; /* JSON, as of that row */
    int64_t time;         /* when it was written, milliseconds; of one that is read */
    uint64_t size;
    const uint8_t *hashes; /* (count, SA_SHA256_BYTES) of its chunks, in order */
    size_t count;
} sv_shared_policy;

enum { SHARED_POLICIES = 3 }; /* that are kept of an agent */

/* In the place of one that may be damaged. */
sv_store_status sv_shared_chunk_put(sv_store *self, int64_t agent, const uint8_t *hash, const void *bytes,
                                    size_t size);
/* The agent is held. Of the policies up to this one all but the last SHARED_POLICIES go, and chunks that none
 * has: later ones, which nobody can read, stay until it has learnt as many rows again. Others are told.
 * STORE_NONE: the agent was let go, or deleted. */
sv_store_status sv_shared_policy_put(sv_store *self, int64_t agent, const sv_shared_policy *policy);
/* The newest, or of two the one before it (`skip` 1); STORE_NONE: there is none. Valid until the next
 * call. */
sv_store_status sv_shared_policy_get(sv_store *self, int64_t agent, size_t skip, sv_shared_policy *out);
/* Its version alone. */
sv_store_status sv_shared_newest(sv_store *self, int64_t agent, uint64_t *version);
/* Chunks (count, SA_SHA256_BYTES) in any order; those that are gone are left out. */
sv_store_status sv_shared_chunks(sv_store *self, int64_t agent, const uint8_t *hashes, size_t count,
                                 bool (*each)(void *user, const uint8_t *hash, const void *bytes,
                                              size_t size),
                                 void *user);
/* From now on no policy is without row `seq`; STORE_NONE: none has it yet, and nothing is changed. */
sv_store_status sv_shared_cover(sv_store *self, int64_t agent, uint64_t seq);
/* The agent cannot go on, and why; NULL: it can again. */
sv_store_status sv_shared_break(sv_store *self, int64_t agent, const char *why);

#endif
