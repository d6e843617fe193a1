/* Evaluations that other servers end: their rows are gone, or say why. */
#include "cluster_own.h"
#include "evaluations.h"

enum { LOST = 8 }; /* rows that nobody runs, looked at in one turn */
static const double PERIOD = 0.2, LOST_PERIOD = 5;

const char *sv_cluster_id(const sv_cluster *self) { return self->id; }

sv_store_status sv_cluster_begin_evaluation(sv_store *store, int64_t agent, int64_t id) {
    return sv_shared_evaluation_begin(store, agent, id);
}

sv_store_status sv_cluster_stop_evaluations(sv_store *store, int64_t agent, const char *why,
                                            uint64_t *count) {
    return sv_shared_evaluations_stop(store, agent, why, count);
}

typedef struct own {
    sv_evaluations *all;
    int64_t ids[EVALUATIONS_QUEUE], open[LOST]; /* here; and rows without a result that were not */
    bool seen[EVALUATIONS_QUEUE];
    size_t count, open_count;
} own;

static size_t place(const own *self, int64_t id) {
    size_t i = 0;
    while (i < self->count && self->ids[i] != id) i++;
    return i;
}

static void see(void *user, int64_t id, const char *stop, bool open) {
    own *self = user;
    size_t i = place(self, id);
    if (i < self->count) {
        self->seen[i] = true;
        if (stop) sv_evaluations_give_up(self->all, id, stop);
    } else if (open && self->open_count < LOST)
        self->open[self->open_count++] = id;
}

/* Rows that nobody runs, as after a commit of which nothing was heard: an erasure would wait for them. What
 * is here is listed once more, after the rows, so that what was admitted meanwhile is among it; and what
 * has ended meanwhile has its result. */
static void give_back_lost(sv_cluster *self, own *here) {
    bool all;
    here->count = sv_evaluations_list(here->all, here->ids, &all);
    for (size_t i = 0; all && i < here->open_count; i++)
        if (place(here, here->open[i]) == here->count)
            sv_shared_evaluation_lost(self->store, self->id, here->open[i]);
}

/* Those that are here are listed first: the rows of them were written before. */
void sv_cluster_look_at_evaluations(sv_cluster *self) {
    double now = sv_clock_seconds();
    bool all;
    own here = {.all = self->service->evaluations};
    if (!here.all || now - self->evaluations_looked < PERIOD) return;
    here.count = sv_evaluations_list(here.all, here.ids, &all);
    if (!here.count && now - self->evaluations_looked < LOST_PERIOD) return;
    self->evaluations_looked = now;
    if (sv_shared_evaluations(self->store, self->id, see, &here) != STORE_OK) return;
    for (size_t i = 0; i < here.count; i++)
        if (!here.seen[i]) sv_evaluations_give_up(here.all, here.ids[i], NULL);
    if (here.open_count) give_back_lost(self, &here);
}
