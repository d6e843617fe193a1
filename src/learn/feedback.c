#include "learn/feedback.h"

#include <math.h>

#include "base/reals.h"
#include "learn/accumulators.h"
#include "learn/forgetting.h"
#include "learn/keeping.h"
#include "learn/training.h"

sa_status sa_answer_check(const sa_answer *answer, bool cascade) {
    const sa_pending *pending = answer->pending;
    unsigned long long id = pending->id;
    for (size_t i = 0; i < answer->count; i++)
        if (pending->answered[answer->places[i]])
            return sa_fail(SA_ALREADY_ANSWERED, "arm %zu of decision %llu was answered before%s",
                           pending->arms[answer->places[i]], id,
                           cascade ? ", or lies behind a click: one call brings all that a user clicked"
                                   : "");
    for (size_t i = 0; i < answer->count; i++) {
        double score = answer->scores[answer->places[i]];
        if (!isfinite(score))
            return sa_fail(SA_INVALID, "feedback for arm %zu of decision %llu is %g",
                           pending->arms[answer->places[i]], id, score);
    }
    return SA_OK;
}

void sa_answer_record(sa_learner *learner, const sa_answer *answer) {
    sa_pending *pending = answer->pending;
    sa_history *history = &learner->past->history;
    if (answer->count > 0 && sa_pending_is_new(pending)) sa_history_begin_decision(history);
    for (size_t i = 0; i < answer->count; i++) {
        size_t k = answer->places[i];
        sa_history_add(history, sa_real_at(history->precision, pending->contexts, k * history->dim),
                       answer->scores[k], k, pending->discounts ? pending->discounts[k] : 1);
        pending->answered[k] = true;
        pending->row[k] = history->count - 1;
    }
    for (size_t i = 0; i < answer->wild; i++) pending->answered[answer->places[answer->count + i]] = true;
    pending->left -= answer->count + answer->wild;
    for (size_t k = answer->end; k < pending->slate; k++) {
        pending->left -= !pending->answered[k];
        pending->answered[k] = true;
    }
    if (pending->left == 0) sa_ring_settle(&learner->past->pending, pending);
}

/* The gradients of the places that were seen, unless Z has them; `label` (count) are their names in
 * work.widths. */
static sa_status take_gradients(sa_learner *learner, const sa_answer *answer, size_t *label, bool *taken) {
    const sa_pending *pending = answer->pending;
    sa_gradients *gradients = &learner->work.gradients;
    bool positions = learner->policy->estimator.inputs.positions > 0;
    *taken = learner->policy->confidence && pending->gradients.count > 0;
    if (!*taken) return SA_OK;
    SA_TRY(sa_gradients_fit(gradients, learner->policy->none.precision, &learner->policy->none));
    SA_TRY(sa_gradients_reserve(gradients, answer->count));
    sa_gradients_append(gradients, &pending->gradients, answer->places, answer->count);
    for (size_t i = 0; i < answer->count; i++) {
        size_t k = answer->places[i];
        label[i] = positions ? pending->arms[k] * pending->slate + k : pending->arms[k];
    }
    return SA_OK;
}

static sa_status take_all(sa_learner *learner, const sa_observations *seen) {
    const sa_accumulator *each;
    for (size_t i = 0; (each = sa_accumulator_at(i)); i++)
        if (each->at_once && each->is_used(learner)) SA_TRY(each->take(learner, seen));
    return SA_OK;
}

sa_status sa_answer_learn(sa_learner *learner, const sa_answer *answer) {
    const sa_history *history = &learner->past->history;
    bool first = sa_pending_is_new(answer->pending), has_gradients;
    bool due = first && learner->options->train == SA_TRAIN_AUTO &&
               sa_training_is_due(learner, history->answered + history->gone_decisions);
    size_t *label;
    SA_TRY(SA_LAY(&learner->work.samples, {&label, answer->count, sizeof *label}));
    if (first) SA_TRY(sa_forgetting_move(learner));
    SA_TRY(take_gradients(learner, answer, label, &has_gradients));
    sa_answer_record(learner, answer);
    sa_observations seen = {.first = history->count - answer->count,
                            .count = answer->count,
                            .gradients = has_gradients ? &learner->work.gradients : NULL,
                            .label = answer->solved ? label : NULL};
    SA_TRY(take_all(learner, &seen));
    if (due) SA_TRY(sa_learner_train(learner, 0));
    return sa_keeping_tidy(learner);
}
