#include "agent/rebuild.h"

#include <math.h>

#include "agent/learn.h"

/* A model that observes and trains relies on it: a training moves what its observations were seen through. */
static bool must_relearn(const sa_agent *agent) { return agent->model->kind->observe && agent->model->kind->train; }

bool sa_rebuild_is_due(const sa_agent *agent) {
    return agent->confidence && (agent->options->rebuild || must_relearn(agent));
}

void sa_rebuild_cancel(sa_agent *agent) {
    sa_confidence_destroy(agent->rebuilt);
    agent->rebuilt = NULL;
}

static sa_status announce(sa_agent *agent, size_t count) {
    const sa_confidence_class *kind = agent->rebuilt->kind;
    return kind->reserve ? kind->reserve(agent->rebuilt, count, count < SA_LEARN_CHUNK ? count : SA_LEARN_CHUNK) : SA_OK;
}

/* In double precision, as nobody has looked at the sizes of gradients that are still to be made. */
static sa_status create_wide(const sa_agent *agent, sa_confidence **out) {
    sa_options options = *agent->options; /* for this call: it owns nothing */
    options.precision = SA_PRECISION_DOUBLE;
    return sa_confidence_create(&options, agent->model->pairs, agent->model->shape, out);
}

sa_status sa_rebuild_reserve(sa_agent *agent, size_t observations) {
    const sa_pending_ring *ring = &agent->pending;
    if (!sa_rebuild_is_due(agent)) return SA_OK;
    sa_rebuild_cancel(agent);
    observations -= sa_forgetting_first_counted(agent); /* by then it may be later still */
    if (must_relearn(agent)) SA_TRY(sa_learn_reserve(agent, observations));
    for (size_t i = 0; i < ring->count && agent->options->count_pending; i++) observations += sa_ring_at(ring, i)->left;
    SA_TRY(sa_learn_reserve(agent, SA_LEARN_CHUNK));
    SA_TRY(sa_gradients_reserve(&agent->observed, SA_LEARN_CHUNK));
    SA_TRY(create_wide(agent, &agent->rebuilt));
    return announce(agent, observations);
}

/* What follows cannot fail: there is room for all of it. */

static void count_history(sa_agent *agent) {
    sa_samples all = sa_learn_samples(&agent->history, 0);
    for (size_t first = sa_forgetting_first_counted(agent); first < agent->history.count; first += SA_LEARN_CHUNK) {
        size_t left = agent->history.count - first, many = left < SA_LEARN_CHUNK ? left : SA_LEARN_CHUNK;
        (void)sa_learn_look(agent, &all, first, many);
        for (size_t i = 0; agent->forgetting.factor < 1 && i < many; i++)
            sa_gradients_scale(&agent->observed, i, sqrt(sa_forgetting_weight(agent, first + i)));
        (void)agent->rebuilt->kind->count(agent->rebuilt, &agent->observed, 0, NULL);
    }
}

/* What waits to be counted gets its present gradients. */
static void refresh_pending(sa_agent *agent, sa_pending *pending) {
    sa_samples slate = {.raw = pending->contexts, .discount = pending->discounts};
    pending->ticket = 0; /* it named a batch of the engine before */
    pending->gradients.count = 0;
    (void)sa_learn_gradients(agent, &slate, pending->slate, &pending->gradients);
}

/* --count-pending has counted it already, and the history does not have it. (A decision forgotten meanwhile is no longer
 * counted.) */
static void count_unanswered(sa_agent *agent, const sa_pending *pending) {
    sa_samples slate = {.raw = pending->contexts, .discount = pending->discounts};
    for (size_t k = 0; k < pending->slate; k++)
        if (!pending->answered[k]) {
            (void)sa_learn_look(agent, &slate, k, 1);
            (void)agent->rebuilt->kind->count(agent->rebuilt, &agent->observed, 0, NULL);
        }
}

void sa_rebuild(sa_agent *agent) {
    const sa_pending_ring *ring = &agent->pending;
    if (!agent->rebuilt) return;
    count_history(agent);
    for (size_t i = 0; i < ring->count; i++) {
        sa_pending *pending = sa_ring_at(ring, i);
        if (pending->left == 0) continue;
        if (agent->options->count_pending)
            count_unanswered(agent, pending);
        else
            refresh_pending(agent, pending);
    }
    (void)announce(agent, 0); /* there were fewer, where --count-pending counts an arm that was answered just now */
    sa_confidence_destroy(agent->confidence);
    agent->confidence = agent->rebuilt;
    agent->rebuilt = NULL;
    if (!must_relearn(agent)) return;
    agent->model->kind->forget(agent->model);
    sa_learn_observe(agent, sa_forgetting_first_counted(agent));
}
