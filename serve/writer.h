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
    sv_store_status (*run)(struct job *self, sv_store *store);
    /* Before any of the group is run; NULL: nothing. What run will ask for can be sent ahead here. */
    void (*ahead)(struct job *self, sv_store *store);
    /* After it: STORE_OK, all of it is on disk; else nothing of it is. The job is the callee's from here
     * on. */
    void (*end)(struct job *self, sv_store_status status);
    /* the agent's share of the queue; NULL: it takes no share, and is never refused for room */
    atomic_uint *queued;
    /* `run` begins anew each time, and changes nothing that it needs again */
    bool repeats;
    struct job *next;
    double since; /* when it was submitted */
} sv_job;

/* What the writer does by itself: `wanted` says (outside a transaction) whether `job` has something to do
 * now. The job is not given away: it is run again and again. */
typedef struct maintenance {
    bool (*wanted)(struct maintenance *self, sv_store *store);
    sv_job job;
    double period, next; /* seconds */
    bool more;           /* it has not done all: without requests it is run again soon */
} sv_maintenance;

/* Takes over the store; maintenance (count) and `clients`, the number of open connections (NULL: unknown),
 * are borrowed as long as it runs. NULL when it cannot. */
sv_writer *sv_writer_start(sv_store *store, sv_maintenance *const *maintenance, size_t count,
                           const atomic_uint *clients);
/* A job that is run at the end of each group, and ended before the others are; borrowed. Before anything is
 * submitted. */
void sv_writer_last(sv_writer *self, sv_job *job);
/* Maintenance is done from here on: whom it calls must be there. */
void sv_writer_do_maintenance(sv_writer *self);
/* Ends after all that was submitted; then no maintenance either. */
void sv_writer_stop(sv_writer *self);
/* false with 429 or 503: the queue, or the agent's share of it, is full, or the disk has failed; then the
 * job stays the caller's. */
bool sv_writer_submit(sv_writer *self, sv_job *job, sv_refusal *why);
/* Why nothing can be written now; false: it can. */
bool sv_writer_trouble(sv_writer *self, char sentence[320]);
size_t sv_writer_queue(sv_writer *self);
typedef struct writer_counts {
    uint64_t commits, jobs, failures;
} sv_writer_counts;
void sv_writer_count(sv_writer *self, sv_writer_counts *out);

#endif
