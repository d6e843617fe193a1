/* One thread writes to the journal, in groups: what came while the disk was busy shares the next commit. A
 * job is answered when it is on disk, never before. */
#ifndef SERVE_WRITER_H
#define SERVE_WRITER_H

#include <stdatomic.h>

#include "refusal.h"
#include "store.h"

typedef struct writer sv_writer;

typedef struct job {
    /* Inside a transaction: STORE_OK or STORE_NONE; others undo the whole group. */
    store_status (*run)(struct job *self, sv_store *store);
    /* After it: STORE_OK, all of it is on disk; else nothing of it is. The job is the callee's from here
     * on. */
    void (*end)(struct job *self, store_status status);
    /* the agent's share of the queue; NULL: it takes no share, and is never refused for room */
    atomic_uint *queued;
    struct job *next;
    double since; /* when it was submitted */
} sv_job;

/* What the writer does by itself: `wanted` says (outside a transaction) whether `job` has something to do
 * now. The job is not given away: it is run again and again. */
typedef struct chore {
    bool (*wanted)(struct chore *self, sv_store *store);
    sv_job job;
    double period, next; /* seconds */
    bool more;           /* it has not done all: without requests it is run again soon */
} sv_chore;

/* Takes over the store; chores (count) and `clients`, the number of open connections (NULL: unknown), are
 * borrowed as long as it runs. NULL when it cannot. */
sv_writer *writer_start(sv_store *store, sv_chore *const *chores, size_t count, const atomic_uint *clients);
/* Chores are done from here on: whom they call must be there. */
void writer_do_chores(sv_writer *self);
/* Ends after all that was submitted; then no chores either. */
void writer_stop(sv_writer *self);
/* false with 429 or 503: the queue, or the agent's share of it, is full, or the disk has failed; then the
 * job stays the caller's. */
bool writer_submit(sv_writer *self, sv_job *job, sv_refusal *why);
/* Why nothing can be written now; false: it can. */
bool writer_trouble(sv_writer *self, char sentence[320]);
size_t writer_queue(sv_writer *self);
typedef struct writer_counts {
    uint64_t commits, jobs, failures;
} writer_counts;
void writer_count(sv_writer *self, writer_counts *out);

#endif
