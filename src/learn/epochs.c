/* A new epoch: Algorithm Update of the paper's appendix. At its beginning the paper replays all rounds t' = 1 ... t so far,
 *
 *     Z <- Z + sum over S_t' of g(x; theta_(t'-1)) g(x; theta_(t'-1))' / m,   theta_t' <- J steps on Eq. (4) with rounds 1 ... t'
 *
 * from a theta_0 drawn afresh and Z = lambda I. Z is a sum and theta does not hang on it. So the gradients are gathered first,
 * and counted into Z in one block at the end, which gives the Z of the loop.
 *
 * --epoch-replay schedule is that loop, with the trainings of the agent's schedule (the paper trains in every round).
 * --epoch-replay last takes all gradients at one theta: the one that a single longer training on the whole history gives. It
 * costs a fraction, and Z then speaks of the network that will choose, not of those on the way to it.
 *
 * The epoch is made beside the present one, which stays as it is until nothing can fail any more. Decisions that wait for
 * feedback get gradients at the new network, from their contexts. */
#include "agent/epochs.h"

#include <math.h>

#include "agent/learn.h"
#include "agent/reals.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/options_table.h"

/* ---- the rule ---- */

/* value growth^epoch; by products, so that the bytes do not hang on the C library */
static double grown(double value, double growth, uint64_t epoch) {
    for (uint64_t i = 0; i < epoch; i++) value *= growth;
    return value;
}

static double grown_number(const char *name, double value, double growth, uint64_t epoch) {
    const sa_option_row *row = sa_option_row_find(name);
    if (growth == 1 || value == SA_BY_THEORY) return value;
    return fmin(fmax(grown(value, growth, epoch), row->low), row->high);
}

static int64_t grown_integer(const char *name, int64_t value, double growth, uint64_t epoch) {
    const sa_option_row *row = sa_option_row_find(name);
    if (growth == 1) return value;
    return (int64_t)fmin(fmax(round(grown((double)value, growth, epoch)), (double)row->least), (double)row->most);
}

sa_status sa_epoch_options(const sa_options *base, uint64_t epoch, sa_options **out) {
    sa_options *options = sa_options_copy(base);
    if (!options) return SA_OUT_OF_MEMORY;
    if (epoch > 0) {
        options->hidden = grown_integer("hidden", base->hidden, base->epoch_hidden_growth, epoch);
        if (options->hidden != base->hidden) options->hidden += options->hidden % 2; /* two halves, where symmetric */
        options->train_steps = grown_integer("train-steps", base->train_steps, base->epoch_steps_growth, epoch);
        options->regularization =
            grown_number("regularization", base->regularization, base->epoch_regularization_growth, epoch);
        options->rate = grown_number("rate", base->rate, base->epoch_rate_growth, epoch);
        options->gamma = grown_number("gamma", base->gamma, base->epoch_exploration_growth, epoch);
        options->nu = grown_number("nu", base->nu, base->epoch_exploration_growth, epoch);
        options->init_weights[0] = '\0';
    }
    *out = options;
    return SA_OK;
}

/* T_n, or the largest number there is */
static uint64_t horizon(const sa_options *base, uint64_t epoch) {
    uint64_t end = (uint64_t)base->epoch_length;
    for (uint64_t i = 0; i < epoch; i++) end = end > UINT64_MAX / 2 ? UINT64_MAX : 2 * end;
    return end;
}

bool sa_epoch_is_over(const sa_agent *agent, size_t answered) {
    return agent->base && answered >= horizon(agent->base, agent->epoch);
}

/* ---- the replay ---- */

/* Appends the gradients of the observations [first, end). */
static sa_status gather(sa_agent *next, size_t first, size_t end, sa_gradients *counted) {
    sa_samples samples = sa_learn_samples(&next->history, first);
    return sa_learn_gradients(next, &samples, end - first, counted);
}

/* The paper's loop. The history is shortened to what was known then. */
static sa_status replay_schedule(sa_agent *next, sa_gradients *counted) {
    const sa_history whole = next->history;
    size_t first = 0;
    for (size_t i = 0; i < whole.answered; i++) {
        size_t end = i + 1 < whole.answered ? (size_t)whole.start[i + 1] : whole.count;
        if (!sa_learn_is_due(next, i)) continue;
        next->history.answered = i + 1;
        next->history.count = end;
        SA_TRY(gather(next, first, end, counted));
        SA_TRY(sa_learn_train(next, 0));
        first = end;
    }
    next->history = whole;
    return gather(next, first, whole.count, counted);
}

/* What is known of the noise was learnt by the network before: the new one has seen all of the history. */
static sa_status replay_last(const sa_agent *agent, sa_agent *next, sa_gradients *counted) {
    next->error = agent->error;
    next->learnt = next->history.count;
    SA_TRY(sa_learn_train(next, (size_t)next->options->epoch_replay_steps));
    return gather(next, 0, next->history.count, counted);
}

/* waiting[i]: the new gradients of the i-th decision in the ring, where it keeps any; those that --count-pending has counted
 * at selection go to `counted`, but for the arms that the history has. */
static sa_status restate_pending(const sa_agent *agent, sa_agent *next, sa_gradients *waiting, sa_gradients *counted) {
    const sa_pending_ring *ring = &agent->pending;
    for (size_t i = 0; i < ring->count; i++) {
        const sa_pending *pending = sa_ring_at(ring, i);
        if (pending->left == 0) continue;
        SA_TRY(sa_learn_reserve(next, pending->slate));
        SA_TRY(sa_gradients_init_like(&waiting[i], next->block.gradients.precision, &next->block.gradients));
        SA_TRY(sa_gradients_reserve(&waiting[i], pending->slate));
        sa_samples slate = {.raw = pending->contexts, .discount = pending->discounts};
        SA_TRY(sa_learn_gradients(next, &slate, pending->slate, &waiting[i]));
        if (!agent->options->count_pending) continue;
        SA_TRY(sa_gradients_reserve(counted, counted->count + pending->left));
        for (size_t k = 0; k < pending->slate; k++)
            if (!pending->answered[k]) sa_gradients_append(counted, &waiting[i], &k, 1);
        sa_gradients_clear(&waiting[i]);
    }
    return SA_OK;
}

static sa_status replay(const sa_agent *agent, sa_agent *next, sa_gradients *waiting) {
    sa_gradients counted;
    sa_status status;
    SA_TRY(sa_gradients_init_like(&counted, next->block.gradients.precision, &next->block.gradients));
    SA_TRY_OR_FAIL(sa_learn_reserve(next, SA_LEARN_CHUNK));
    SA_TRY_OR_FAIL(sa_learn_reserve_training(next, next->history.count, 0));
    SA_TRY_OR_FAIL(sa_learn_reserve_training(next, next->history.count, (size_t)next->options->epoch_replay_steps));
    SA_TRY_OR_FAIL(sa_gradients_reserve(&counted, next->history.count));
    SA_TRY_OR_FAIL(next->options->epoch_replay == SA_REPLAY_SCHEDULE ? replay_schedule(next, &counted)
                                                                     : replay_last(agent, next, &counted));
    SA_TRY_OR_FAIL(restate_pending(agent, next, waiting, &counted));
    SA_TRY_OR_FAIL(sa_confidence_count_all(next->confidence, &counted));
fail:
    sa_gradients_clear(&counted);
    return status;
}

/* ---- the change ---- */

/* The agent of the next epoch, which borrows the history and what is known of inputs. */
static sa_status make_next(const sa_agent *agent, sa_agent **out) {
    uint64_t epoch = agent->epoch;
    while (agent->history.answered >= horizon(agent->base, epoch)) epoch++; /* more than one, if none was begun for long */
    sa_options *base = sa_options_copy(agent->base);
    if (!base) return SA_OUT_OF_MEMORY;
    sa_agent *next = NULL;
    sa_status status = sa_agent_assemble(base, epoch, &next);
    if (status != SA_OK) return sa_fail_prefix(status, "epoch %llu cannot begin: ", (unsigned long long)epoch);
    sa_companion_clear(&next->companion); /* the present one stays: what it knows does not hang on the network's weights */
    next->model->kind->redraw(next->model, next->options, epoch);
    sa_inputs_clear(&next->inputs);
    next->inputs = agent->inputs;
    next->history = agent->history;
    next->trainings = agent->trainings; /* so that no draw of training batches comes twice */
    next->diverged_trainings = agent->diverged_trainings;
    *out = next;
    return SA_OK;
}

static void destroy_next(sa_agent *next) {
    next->inputs = (sa_inputs){0};
    next->history = (sa_history){0};
    sa_agent_destroy(next);
}

#define SWAP(type, a, b)                                                                                                  \
    do {                                                                                                                  \
        type swapped = (a);                                                                                               \
        (a) = (b);                                                                                                        \
        (b) = swapped;                                                                                                    \
    } while (0)

/* The agent gets all that hangs on the epoch; `next` is left with what was before. */
static void change_over(sa_agent *agent, sa_agent *next, sa_gradients *waiting) {
    sa_pending_ring *ring = &agent->pending;
    if (agent->companion.dim) sa_learn_tell_rest(agent);
    for (size_t i = 0; i < ring->count; i++) {
        sa_pending *pending = sa_ring_at(ring, i);
        SWAP(sa_gradients, pending->gradients, waiting[i]);
        pending->ticket = 0; /* it named a batch of the old engine */
    }
    SWAP(sa_options *, agent->options, next->options);
    SWAP(sa_model *, agent->model, next->model);
    SWAP(sa_confidence *, agent->confidence, next->confidence);
    SWAP(sa_gradients, agent->block.gradients, next->block.gradients);
    sa_scan_clear(&agent->scan); /* its gradients have the shape of the old network */
    sa_gradients_clear(&agent->together);
    SWAP(sa_gradients, agent->observed, next->observed);
    agent->exploration = next->exploration;
    agent->epoch = next->epoch;
    agent->centre = next->centre;
    agent->scale = next->scale;
    agent->error = next->error;
    if (!agent->companion.dim) agent->learnt = next->learnt; /* else it has heard all */
    agent->trainings = next->trainings;
    agent->diverged_trainings = next->diverged_trainings;
    sa_companion_learn(&agent->companion);
}

sa_status sa_epoch_begin(sa_agent *agent) {
    double start = sa_seconds_now();
    size_t decisions = agent->pending.count;
    sa_gradients *waiting; /* (decisions) */
    sa_agent *next = NULL;
    SA_TRY(sa_learn_reserve(agent, 1)); /* for what the companion hears */
    SA_TRY(sa_alloc_array(decisions, sizeof *waiting, &waiting));
    sa_status status = make_next(agent, &next);
    if (status == SA_OK) {
        status = replay(agent, next, waiting);
        if (status == SA_OK) change_over(agent, next, waiting);
        destroy_next(next);
    }
    for (size_t i = 0; i < decisions; i++) sa_gradients_clear(&waiting[i]);
    sa_free(waiting);
    agent->replay_seconds += sa_seconds_now() - start;
    return status;
}
