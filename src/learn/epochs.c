/* A new epoch: Algorithm Update of the paper's appendix. At its beginning the paper replays all rounds t' = 1
 * ... t so far,
 *
 *     Z <- Z + sum over S_t' of g(x; theta_(t'-1)) g(x; theta_(t'-1))' / m,   theta_t' <- J steps on Eq. (4)
 *         with rounds 1 ... t'
 *
 * from a theta_0 drawn again and Z = lambda I. Z is a sum and theta does not depend on it. So the gradients
 * are gathered first, and counted into Z in one block at the end, which gives the Z of the loop.
 *
 * The setting epoch-replay is `schedule` for that loop, with the trainings of the agent's schedule (the
 * paper trains in every round). `last` takes all gradients at one theta: the one that a single longer
 * training on the whole history gives. It costs a fraction, and Z then speaks of the network that will
 * choose, not of those on the way to it.
 *
 * The epoch is made beside the present one, and then stands in its place. */
#include "learn/epochs.h"

#include <math.h>

#include "base/clock.h"
#include "base/memory.h"
#include "learn/accumulators.h"
#include "learn/bonus.h"
#include "learn/training.h"

/* ---- the rule ---- */

/* value growth^epoch; by products, so that the bytes do not depend on the C library */
static double grown(double value, double growth, uint64_t epoch) {
    for (uint64_t i = 0; i < epoch; i++) value *= growth;
    return value;
}

/* m of an epoch: where it is another than was given an even number, since first weights may come in halves */
static int64_t grown_hidden(const sa_options *given, uint64_t epoch) {
    const sa_option_row *row = sa_option_row_find("hidden");
    double wanted = grown((double)given->hidden, given->epoch_hidden_growth, epoch);
    if (given->epoch_hidden_growth == 1) return given->hidden;
    int64_t hidden = (int64_t)fmin(fmax(round(wanted), (double)row->least), (double)row->most);
    return hidden == given->hidden ? hidden : hidden + hidden % 2;
}

sa_status sa_epoch_options(const sa_options *given, uint64_t epoch, sa_options **out) {
    sa_options *options = sa_options_copy(given);
    if (!options) return SA_OUT_OF_MEMORY;
    if (epoch > 0) {
        options->hidden = grown_hidden(given, epoch);
        options->init_weights[0] = '\0';
    }
    *out = options;
    return SA_OK;
}

/* T_n, or the largest number there is */
static uint64_t horizon(const sa_options *given, uint64_t epoch) {
    uint64_t end = (uint64_t)given->epoch_length;
    for (uint64_t i = 0; i < epoch; i++) end = end > UINT64_MAX / 2 ? UINT64_MAX : 2 * end;
    return end;
}

uint64_t sa_epoch_after(const sa_options *given, uint64_t epoch, size_t answered) {
    while (answered >= horizon(given, epoch)) epoch++; /* more than one, if none was begun for long */
    return epoch;
}

/* ---- the replay ---- */

/* Appends the gradients of the observations [first, end). */
static sa_status gather(sa_learner *next, size_t first, size_t end, sa_gradients *counted) {
    sa_samples samples = sa_history_samples(&next->past->history, first);
    return sa_samples_gradients(next, &samples, end - first, counted);
}

/* The paper's loop: `next` sees what was `known` then. `*first`: the observation that comes after the last
 * training. */
static sa_status replay_rounds(sa_learner *next, const sa_history *whole, sa_past *known,
                               sa_gradients *counted, size_t *first) {
    next->past = known;
    for (size_t i = 0; i < whole->answered; i++) {
        if (!sa_training_is_due(next, i)) continue;
        known->history.answered = i + 1;
        known->history.count = i + 1 < whole->answered ? (size_t)whole->start[i + 1] : whole->count;
        SA_TRY(gather(next, *first, known->history.count, counted));
        SA_TRY(sa_learner_train(next, 0));
        *first = known->history.count;
    }
    return SA_OK;
}

static sa_status replay_schedule(sa_learner *next, sa_gradients *counted) {
    sa_past *past = next->past, known = {.history = past->history};
    size_t first = 0;
    sa_status status = replay_rounds(next, &past->history, &known, counted, &first);
    next->past = past;
    return status == SA_OK ? gather(next, first, past->history.count, counted) : status;
}

static const size_t REPLAY_STEPS = 1000; /* of that one training */

/* What is known of the noise was learnt by the network before: the new one has seen all of the history. */
static sa_status replay_last(const sa_learner *now, sa_learner *next, sa_gradients *counted) {
    size_t count = next->past->history.count;
    next->error = now->error;
    next->judged = count;
    SA_TRY(sa_learner_train(next, REPLAY_STEPS));
    return gather(next, 0, count, counted);
}

/* Decisions that wait get new gradients; those that --count-pending has counted at selection go to `counted`,
 * but for the arms that the history has. */
static sa_status restate_pending(sa_learner *next, sa_gradients *counted) {
    const sa_pending_ring *ring = &next->past->pending;
    for (size_t i = 0; i < ring->count; i++) {
        sa_pending *pending = sa_ring_at(ring, i);
        if (pending->left == 0) continue;
        sa_samples slate = {.raw = pending->contexts, .psi = pending->discounts};
        SA_TRY(sa_gradients_fit(&pending->gradients, next->policy->none.precision, &next->policy->none));
        SA_TRY(sa_samples_gradients(next, &slate, pending->slate, &pending->gradients));
        if (!next->options->count_pending) continue;
        SA_TRY(sa_gradients_reserve(counted, counted->count + pending->left));
        for (size_t k = 0; k < pending->slate; k++)
            if (!pending->answered[k]) sa_gradients_append(counted, &pending->gradients, &k, 1);
        sa_gradients_clear(&pending->gradients);
    }
    return SA_OK;
}

static sa_status replay(const sa_learner *now, sa_learner *next) {
    sa_gradients counted;
    sa_status status;
    SA_TRY(sa_gradients_init_like(&counted, next->policy->none.precision, &next->policy->none));
    SA_TRY_OR_FAIL(next->options->epoch_replay == SA_REPLAY_SCHEDULE ? replay_schedule(next, &counted)
                                                                     : replay_last(now, next, &counted));
    SA_TRY_OR_FAIL(restate_pending(next, &counted));
    SA_TRY_OR_FAIL(sa_confidence_expect(next->policy->confidence, counted.count));
    SA_TRY_OR_FAIL(sa_confidence_count(next->policy->confidence, &counted, NULL, next->work.widths));
fail:
    sa_gradients_clear(&counted);
    return status;
}

/* ---- what stays ---- */

/* What is known of the inputs, and numbers that go on: so no draw of training batches comes twice. */
static void take_over_inputs(const sa_learner *now, sa_learner *next) {
    sa_free(next->policy->estimator.statistics);
    next->policy->estimator.statistics = sa_hold(now->policy->estimator.statistics);
    sa_companion_destroy(
        next->policy->estimator.companion); /* it is judged by the networks before, too: see below */
    next->policy->estimator.companion = NULL;
    next->policy->next = now->policy->next;
    next->asked = now->asked;
    next->trainings = now->trainings;
    next->diverged_trainings = now->diverged_trainings;
}

/* What the companion knows does not depend on the network's weights. */
static sa_status take_over_companion(sa_learner *now, sa_learner *next) {
    sa_companion *companion = now->policy->estimator.companion;
    if (!companion) return SA_OK;
    SA_TRY(sa_predictions_skip(now));
    sa_companion_learn(companion);
    next->policy->estimator.companion = companion;
    now->policy->estimator.companion = NULL;
    next->judged = now->judged;
    return SA_OK;
}

sa_status sa_epoch_begin(sa_learner *now, sa_learner *next) {
    double start = sa_clock_of_thread();
    sa_model *model = next->policy->estimator.model;
    sa_model_settings settings = sa_options_model(next->options);
    SA_TRY(model->kind->training->redraw(model, &settings, next->epoch));
    take_over_inputs(now, next);
    SA_TRY(sa_bonus_take_over(now, next));
    SA_TRY(replay(now, next));
    SA_TRY(take_over_companion(now, next));
    SA_TRY(sa_bonus_follow(next)); /* the network's share is known again */
    next->moments = now->moments;
    next->train_seconds = now->train_seconds;
    next->replay_seconds = now->replay_seconds + sa_clock_of_thread() - start;
    return SA_OK;
}
