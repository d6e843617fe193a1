/* Evaluations that other servers end: their rows are gone, or say why. */
#include "cluster_own.h"
#include "evaluations.h"

static const double PERIOD = 0.2;

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
    int64_t ids[EVALUATIONS_QUEUE];
    bool seen[EVALUATIONS_QUEUE];
    size_t count;
} own;

static void see(void *user, int64_t id, const char *stop) {
    own *self = user;
    for (size_t i = 0; i < self->count; i++)
        if (self->ids[i] == id) {
            self->seen[i] = true;
            if (stop) sv_evaluations_give_up(self->all, id, stop);
        }
}

/* Those that are here are listed first: the rows of them were written before. */
void sv_cluster_look_at_evaluations(sv_cluster *self) {
    double now = sv_clock_seconds();
    own here = {.all = self->service->evaluations};
    if (!here.all || now - self->evaluations_looked < PERIOD) return;
    self->evaluations_looked = now;
    here.count = sv_evaluations_list(here.all, here.ids);
    if (!here.count || sv_shared_evaluations(self->store, self->id, see, &here) != STORE_OK) return;
    for (size_t i = 0; i < here.count; i++)
        if (!here.seen[i]) sv_evaluations_give_up(here.all, here.ids[i], NULL);
}
