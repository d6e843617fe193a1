/* Z: the gradients that were counted; of a slate's total, the sum of its arms'. */
#include <math.h>

#include "base/memory.h"
#include "learn/accumulators.h"
#include "learn/bonus.h"
#include "learn/forgetting.h"

static bool is_used(const sa_learner *learner) { return learner->policy->confidence; }

/* With a window, what is counted is remembered for as long as the window says. */
static sa_status remember(sa_window *window, const sa_gradients *gradients, size_t decision) {
    size_t kept = sa_gradients_many(&window->gradients), more = sa_gradients_many(gradients);
    if (!window->remembers) return SA_OK;
    SA_TRY(sa_gradients_reserve(&window->gradients, window->gradients.count + gradients->count));
    SA_TRY(sa_grow_array(&window->stamp, &window->capacity, kept + more, sizeof *window->stamp));
    sa_gradients_append(&window->gradients, gradients, NULL, more);
    for (size_t i = 0; i < more; i++) window->stamp[kept + i] = (int64_t)decision;
    return SA_OK;
}

/* The gradients of a decision's arms. */
static sa_status count(sa_learner *learner, const sa_gradients *arms, const size_t *label, size_t decision) {
    size_t end = arms->count;
    sa_gradients gradients =
        learner->past->history.totals ? sa_gradients_sums(arms, &end, 1) : *arms; /* borrowed */
    learner->policy->confidence->asked = learner->asked;
    SA_TRY(sa_bonus_take(learner, arms));
    SA_TRY(sa_confidence_count(learner->policy->confidence, &gradients, label, learner->work.widths));
    return remember(&learner->window, &gradients, decision);
}

sa_status sa_learner_count(sa_learner *learner, const sa_gradients *gradients, const size_t *label) {
    return count(learner, gradients, label, learner->past->history.answered);
}

static sa_status take(sa_learner *learner, const sa_observations *seen) {
    if (!seen->gradients) return SA_OK;
    return count(learner, seen->gradients, seen->label, learner->past->history.answered - 1);
}

static sa_status fade(sa_learner *learner, double factor) {
    sa_bonus_fade(learner, factor);
    return sa_confidence_fade(learner->policy->confidence, factor);
}

/* ---- again ---- */

/* An engine like the present one, empty. In double precision where widths once had to be, or where nobody has
 * looked at the sizes of the gradients that are to come. */
static sa_status make_engine(const sa_learner *learner, bool wide, sa_confidence **out) {
    const sa_model *model = learner->policy->estimator.model;
    sa_confidence_state state;
    sa_confidence_settings settings = sa_options_confidence(learner->options);
    settings.linear = model->linear;
    learner->policy->confidence->kind->state(learner->policy->confidence, &state);
    settings.regularization = learner->policy->lambda;
    if (wide || state.in_double) settings.precision = SA_PRECISION_DOUBLE;
    return sa_confidence_create(&settings, model->pairs, model->shape, out);
}

/* The window forgets what is older than its oldest decision. */
static sa_status drop_old(sa_window *window) {
    sa_gradients kept;
    size_t first = 0, all = sa_gradients_many(&window->gradients);
    while (first < all && window->stamp[first] < (int64_t)window->oldest) first++;
    SA_TRY(sa_gradients_init_like(&kept, window->gradients.precision, &window->gradients));
    sa_status status =
        sa_gradients_reserve(&kept, window->gradients.count - sa_gradients_row(&window->gradients, first));
    if (status != SA_OK) {
        sa_gradients_clear(&kept);
        return status;
    }
    for (size_t i = first; i < all; i++) {
        sa_gradients_append(&kept, &window->gradients, &i, 1);
        window->stamp[i - first] = window->stamp[i];
    }
    sa_gradients_clear(&window->gradients);
    window->gradients = kept;
    return SA_OK;
}

/* A decision's rows from `first` on, as many as are evaluated at a time; of a total all of them. */
sa_status sa_window_refill(sa_learner *learner) {
    const sa_history *history = &learner->past->history;
    sa_window *window = &learner->window;
    sa_samples all = sa_history_samples(history, 0);
    if (!window->remembers) return SA_OK;
    for (size_t decision = window->oldest; decision < history->answered; decision++)
        for (size_t first = (size_t)history->start[decision], many; first < sa_history_end(history, decision);
             first += many) {
            many = sa_history_end(history, decision) - first;
            if (many > SA_LEARN_CHUNK) many = SA_LEARN_CHUNK;
            SA_TRY(sa_samples_evaluate(learner, &all, first, many));
            sa_gradients gradients = history->totals ? sa_gradients_sums(&learner->work.gradients, &many, 1)
                                                     : learner->work.gradients;
            SA_TRY(remember(window, &gradients, decision));
        }
    return SA_OK;
}

static sa_status count_remembered(sa_learner *learner, sa_confidence *next) {
    const sa_gradients *kept = &learner->window.gradients;
    SA_TRY(drop_old(&learner->window));
    SA_TRY(sa_confidence_expect(next, sa_gradients_many(kept)));
    return sa_confidence_count(next, kept, NULL, learner->work.widths);
}

/* The same where it has totals: whole decisions at a time. */
static sa_status count_totals(sa_learner *learner, size_t first, sa_confidence *next) {
    const sa_history *history = &learner->past->history;
    sa_samples all = sa_history_samples(history, 0);
    size_t end[SA_LEARN_CHUNK], many,
        decision = first < history->count ? sa_history_decision(history, first) : 0;
    for (; first < history->count; first += end[many - 1], decision += many) {
        for (many = 0; many < SA_LEARN_CHUNK && decision + many < history->answered; many++) {
            end[many] = sa_history_end(history, decision + many) - first;
            if (end[many] > SA_LEARN_CHUNK) break;
        }
        SA_TRY(sa_samples_evaluate(learner, &all, first, end[many - 1]));
        sa_gradients sums = sa_gradients_sums(&learner->work.gradients, end, many);
        for (size_t i = 0; sa_forgetting_weighs(learner) && i < many; i++)
            sa_gradients_scale(&sums, i,
                               sqrt(sa_forgetting_weight(learner, (size_t)history->start[decision + i])));
        SA_TRY(sa_confidence_count(next, &sums, NULL, learner->work.widths));
    }
    return SA_OK;
}

/* The history's gradients from `first` on, at the present weights. */
static sa_status count_history(sa_learner *learner, size_t first, sa_confidence *next) {
    const sa_history *history = &learner->past->history;
    sa_samples all = sa_history_samples(history, 0);
    if (history->totals) return count_totals(learner, first, next);
    for (; first < history->count; first += SA_LEARN_CHUNK) {
        size_t left = history->count - first, many = left < SA_LEARN_CHUNK ? left : SA_LEARN_CHUNK;
        SA_TRY(sa_samples_evaluate(learner, &all, first, many));
        for (size_t i = 0; sa_forgetting_weighs(learner) && i < many; i++)
            sa_gradients_scale(&learner->work.gradients, i, sqrt(sa_forgetting_weight(learner, first + i)));
        SA_TRY(sa_confidence_count(next, &learner->work.gradients, NULL, learner->work.widths));
    }
    return SA_OK;
}

/* A decision that waits: with --count-pending Z has counted it, and the history does not have it; else it
 * gets its present gradients. (A decision that was forgotten meanwhile is no longer counted.) */
static sa_status restate(sa_learner *learner, sa_pending *pending, sa_confidence *next) {
    sa_samples slate = {.raw = pending->contexts, .psi = pending->discounts};
    if (!learner->options->count_pending) {
        pending->gradients.count = 0;
        return sa_samples_gradients(learner, &slate, pending->slate, &pending->gradients);
    }
    if (learner->past->history.totals) {
        size_t end = pending->slate;
        SA_TRY(sa_samples_evaluate(learner, &slate, 0, end));
        sa_gradients total = sa_gradients_sums(&learner->work.gradients, &end, 1);
        return sa_confidence_count(next, &total, NULL, learner->work.widths);
    }
    for (size_t k = 0; k < pending->slate; k++) {
        if (pending->answered[k]) continue;
        SA_TRY(sa_samples_evaluate(learner, &slate, k, 1));
        SA_TRY(sa_confidence_count(next, &learner->work.gradients, NULL, learner->work.widths));
    }
    return SA_OK;
}

static sa_status count_all(sa_learner *learner, size_t first, sa_confidence *next) {
    const sa_pending_ring *ring = &learner->past->pending;
    const sa_history *history = &learner->past->history;
    bool totals = history->totals; /* one gradient a decision */
    size_t expected = history->count - first;
    if (totals && expected) expected = history->answered - sa_history_decision(history, first);
    for (size_t i = 0; learner->options->count_pending && i < ring->count; i++)
        expected += totals ? sa_ring_at(ring, i)->left > 0 : sa_ring_at(ring, i)->left;
    SA_TRY(sa_confidence_expect(next, expected));
    SA_TRY(count_history(learner, first, next));
    for (size_t i = 0; i < ring->count; i++) {
        sa_pending *pending = sa_ring_at(ring, i);
        if (pending->left > 0) SA_TRY(restate(learner, pending, next));
    }
    return SA_OK;
}

/* Observations that these stand for. */
static size_t stands_for(const sa_learner *learner, size_t count) {
    return learner->stands_for > 1 ? (size_t)(learner->stands_for * (double)count) : count;
}

static sa_status begin_again(sa_learner *learner, size_t first) {
    bool remembers = learner->window.remembers;
    sa_confidence *next;
    SA_TRY(make_engine(learner, !remembers, &next));
    sa_status status = remembers ? count_remembered(learner, next) : count_all(learner, first, next);
    if (status != SA_OK) {
        sa_confidence_destroy(next);
        return status;
    }
    sa_confidence_replace(&learner->policy->confidence, next);
    sa_bonus_forget(learner, stands_for(learner, learner->past->history.count - first));
    return SA_OK;
}

const sa_accumulator sa_accumulate_z = {.is_used = is_used,
                                        .at_once = true,
                                        .of_network = true,
                                        .take = take,
                                        .fade = fade,
                                        .begin_again = begin_again};
