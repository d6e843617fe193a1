/* Training.
 *
 * An arm's score is v = centre + scale f. What comes back from position k is y = psi_k v, with psi_k = 1 but
 * for cascade feedback with discounts. So y is regressed on psi_k (centre + scale f), which in the network's
 * terms is
 *
 *     residual   psi_k f - t,   t = (y - psi_k centre) / scale
 *     centre     sum psi_k y / sum psi_k^2, the constant that predicts best
 *     scale      by the deviation of y from it, the root of the mean of (y - psi_k centre)^2 where psi_k > 0:
 *                the widths, of a Z
 *                that has psi_k g, know how little a small psi_k tells, and want the noise of what is
 *                    observed
 *
 * Nothing is divided by psi_k: a position with psi_k = 0 teaches nothing. A linear model takes psi_k x and y,
 * which the same residual stands for.
 *
 * Of a slate's total y the residual is sum_k f(x_k) - t, t = (y - K centre) / scale, and the scale is that of
 * one arm: by the deviation of y / sqrt(K) from sqrt(K) centre.
 *
 * What a training costs does not grow with the history, where its steps take batches: only what is drawn is
 * put together, from wherever the history has it, unless there is so little that putting all of it together
 * costs less. Without batches it is a pass over all there is to learn from. With --discount a batch is drawn
 * by weight: first a decision, one of age a with the probability F^a / S, S = the sum of F^a, then one of its
 * n_a observations; so an observation that weighs F^a in the loss has the factor S n_a in the mean over the
 * batch. */
#include "learn/training.h"

#include <math.h>

#include "base/clock.h"
#include "learn/accumulators.h"
#include "learn/bonus.h"
#include "learn/forgetting.h"
#include "learn/sampler.h"

static const size_t PASS_LIMIT =
    65536; /* scores up to which their mean and deviation are found by a pass over them */

bool sa_training_is_due(const sa_learner *learner, size_t before) {
    return before < (size_t)learner->options->train_warmup ||
           before % (size_t)learner->options->train_every == 0;
}

/* ---- scores ---- */

static void score_statistics(const sa_history *history, size_t first, double *centre, double *deviation) {
    double mean = 0, squares = 0, weight = 0, count = 0;
    sa_observation seen;
    for (size_t i = first; i < history->count; i += seen.rows) {
        seen = sa_history_observation(history, i);
        mean += seen.psi * seen.score;
        weight += seen.psi * seen.psi;
        count += seen.psi > 0;
    }
    if (count > 0) mean /= weight;
    for (size_t i = first; i < history->count; i += seen.rows) {
        seen = sa_history_observation(history, i);
        double rest = seen.score - seen.psi * mean;
        if (seen.psi > 0) squares += rest * rest;
    }
    *centre = mean;
    *deviation = count > 0 ? sqrt(squares / count) : 0;
}

/* Mean and deviation of the scores learnt from, where the options ask for them. Scores that are all the same
 * have no deviation, though their mean is rounded: to scale by that would end all exploration. */
static void centre_and_scale(sa_learner *learner, size_t first, double *centre, double *scale) {
    const sa_history *history = &learner->past->history;
    const sa_options *options = learner->options;
    sa_moments *moments = &learner->moments;
    double mean, deviation;
    bool of_all = history->gone_rows && !sa_forgetting_is_latest(learner);
    bool whole = first == 0 && history->gone_rows == 0 && history->count > PASS_LIMIT;
    if (options->discount < 1 || of_all || whole) {
        sa_moments_follow(moments, history, options->discount);
        mean = moments->mean;
        deviation = moments->count > 0 ? sqrt(moments->squares / moments->count) : 0;
    } else {
        score_statistics(history, first, &mean, &deviation);
    }
    bool differ = deviation > 1e-10 * fabs(mean);
    learner->posterior.variance = differ && isfinite(deviation * deviation) ? deviation * deviation : 0;
    bool raw = options->score_deviation == 0;
    *centre = raw ? 0 : mean;
    *scale = !raw && differ ? deviation / options->score_deviation : 1;
}

/* ---- training ---- */

/* Observations since the last training, which the model has not seen yet. */
static sa_status judge_predictions(sa_learner *learner, double centre) {
    size_t first = learner->judged, count = learner->past->history.count - first;
    if (!sa_accumulate_predictions.is_used(learner)) return SA_OK;
    return sa_accumulate_predictions.take(
        learner, &(sa_observations){.first = first, .count = count, .centre = centre});
}

/* What follows from a training that went well. */
static sa_status adopt(sa_learner *learner, double centre, double scale) {
    sa_estimator *estimator = &learner->policy->estimator;
    estimator->centre = centre;
    estimator->scale = scale;
    SA_TRY(sa_rebuild(learner));
    if (estimator->companion) sa_companion_learn(estimator->companion);
    return sa_bonus_follow(learner);
}

sa_status sa_learner_train(sa_learner *learner, size_t steps) {
    double start = sa_clock_of_thread(), centre, scale;
    sa_model *model = learner->policy->estimator.model;
    size_t first = sa_forgetting_first(learner);
    bool diverged = true;
    sa_sampler sampler;
    sa_training training;
    if (!model || !model->kind->training || first == learner->past->history.count) return SA_OK;
    size_t seen = learner->past->history.count + learner->past->history.gone_rows;
    if (model->kind->training->wants && !model->kind->training->wants(model, seen)) return SA_OK;
    centre_and_scale(learner, first, &centre, &scale);
    SA_TRY(judge_predictions(learner, centre));
    SA_TRY(sa_sampler_begin(&sampler, learner, first, centre, scale, steps, &training));
    training.seen = seen;
    training.within = sa_forgetting_is_latest(learner) ? learner->past->history.count - first : seen - first;
    training.alike = !(learner->posterior.variance > 0);
    if (isfinite(centre) && isfinite(scale)) /* huge scores may have no finite mean or deviation */
        SA_TRY(model->kind->training->train(model, &training, &learner->work.model, &diverged));
    learner->trainings++;
    learner->diverged_trainings += diverged;
    if (!diverged && model->kind->training->unit) scale *= model->kind->training->unit(model);
    if (!diverged) SA_TRY(adopt(learner, centre, scale));
    learner->train_seconds += sa_clock_of_thread() - start;
    return SA_OK;
}
