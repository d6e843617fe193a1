#include "learn/relearn.h"

#include <math.h>

#include "base/memory.h"
#include "learn/accumulators.h"
#include "learn/bonus.h"
#include "learn/forgetting.h"
#include "learn/keeping.h"
#include "learn/training.h"

enum { STEPS = 1000 }; /* of the one training that stands for those before */

static double changes(const sa_learner *learner) {
    const sa_estimator *estimator = &learner->policy->estimator;
    return estimator->statistics ? sa_statistics_changes(&estimator->inputs, estimator->statistics) : 0;
}

bool sa_relearn_is_due(const sa_learner *learner) { return changes(learner) != learner->relearnt; }

/* What does not depend on what was learnt; numbers go on, so that no draw comes twice. */
static void take_over(const sa_learner *now, sa_learner *next) {
    sa_free(next->policy->estimator.statistics);
    next->policy->estimator.statistics = sa_hold(now->policy->estimator.statistics);
    next->policy->next = now->policy->next;
    next->relearnt = changes(now);
    next->asked = now->asked;
    next->window.oldest = now->window.oldest;
    next->trainings = now->trainings;
    next->diverged_trainings = now->diverged_trainings;
    next->train_seconds = now->train_seconds;
    next->replay_seconds = now->replay_seconds;
}

/* What the bonus knows of gradients, of those of the history at the present weights. */
static sa_status follow_bonus(const sa_learner *now, sa_learner *next) {
    const sa_history *history = &next->past->history;
    sa_samples all = sa_history_samples(history, 0);
    if (!sa_posterior_is_used(next->policy, next->options)) return SA_OK;
    for (size_t first = 0, many; first < history->count; first += many) {
        many = history->count - first < SA_LEARN_CHUNK ? history->count - first : SA_LEARN_CHUNK;
        SA_TRY(sa_samples_evaluate(next, &all, first, many));
        SA_TRY(sa_bonus_take(next, &next->work.gradients));
    }
    next->posterior.all = fmax(next->posterior.all, now->posterior.all); /* `now` lacks the newest answer */
    return sa_bonus_follow(next);
}

sa_status sa_relearn(const sa_learner *now, sa_learner *next) {
    const sa_model *model = next->policy->estimator.model;
    const sa_training_class *training = model->kind->training;
    sa_model_settings settings = sa_options_model(next->options);
    take_over(now, next);
    SA_TRY(sa_estimator_unshare(&next->policy->estimator));
    if (next->epoch > 0 && training && training->redraw)
        SA_TRY(training->redraw(next->policy->estimator.model, &settings, next->epoch));
    SA_TRY(sa_window_refill(next));
    if (training && next->options->train == SA_TRAIN_AUTO) SA_TRY(sa_learner_train(next, STEPS));
    SA_TRY(sa_rebuild_all(next));
    SA_TRY(follow_bonus(now, next));
    return sa_keeping_tidy(next);
}
