/* The learner: feedback into the parts of a policy, by schedule, training, forgetting, rebuilding and epochs.
 *
 * A call that fails, for lack of memory mostly, may leave a learner in the middle of what it did: the agent
 * is then closed. */
#ifndef SA_LEARN_LEARNER_H
#define SA_LEARN_LEARNER_H

#include "learn/moments.h"
#include "learn/posterior.h"
#include "options/options.h"
#include "past/past.h"
#include "policy/policy.h"

/* Workspace, grown as needed. */
typedef struct sa_learner_work {
    sa_workspace samples;   /* of a training */
    sa_workspace observed;  /* of observations that something takes in */
    sa_workspace chunk;     /* of observations whose gradients are wanted */
    sa_gradients gradients; /* of these */
    sa_model_work model;
    /* of the agent's own choices: what was solved for them serves when they are counted. Borrowed */
    sa_width_work *widths;
} sa_learner_work;

/* With --window: the gradients that Z counts, and the decisions that were answered before each. */
typedef struct sa_window {
    bool remembers; /* not where Z is made again after each training */
    sa_gradients gradients;
    int64_t *stamp; /* (gradients) */
    size_t capacity;
    uint64_t oldest; /* decision: none before it counts */
} sa_window;

typedef struct sa_learner {
    sa_options *options; /* in force */
    uint64_t epoch;      /* from 0, for an unknown horizon (epochs.h) */
    sa_policy *policy;   /* what it has learnt */
    sa_past *past;       /* what it learns from; borrowed */
    /* what accumulates beside the policy's parts (accumulators.h) */
    sa_moments moments;
    double error;    /* mean squared error of predictions of new feedback, before it is learnt from */
    uint64_t judged; /* observations whose predictions are in it, and that the companion has */
    sa_posterior posterior;
    sa_gradients last; /* the one that was counted last (bonus.h), and room for its neighbour */
    sa_window window;
    double stands_for; /* observations, each of those that something takes in again; 0: 1 (keeping.h) */
    double relearnt;   /* changes of the statistics of contexts that are learnt through (relearn.h) */
    double asked;      /* scores that the latest decision asked widths for */
    uint64_t trainings, diverged_trainings;
    double train_seconds, replay_seconds;
    sa_learner_work work;
} sa_learner;

/* Takes over options and policy, also on failure. */
sa_status sa_learner_create(sa_options *options, uint64_t epoch, sa_policy *policy, sa_past *past,
                            sa_width_work *widths, sa_learner **out);
void sa_learner_destroy(sa_learner *learner); /* NULL is fine */
/* Before anything is learnt: the policy, and all its parts, are nobody else's. */
sa_status sa_learner_unshare(sa_learner *learner);

sa_status sa_learner_save(const sa_learner *learner, sa_npz_writer *writer);
sa_status sa_learner_load(sa_learner *learner, sa_npz *archive);

/* ---- looking at what was chosen (samples.c) ---- */

/* Contexts that were chosen. */
typedef struct sa_samples {
    const void *raw;         /* (count, dim) */
    const int64_t *position; /* (count) in their slates; NULL: they are a slate, from its first position on */
    const double *psi;       /* (count); NULL: all 1 */
} sa_samples;
/* Those of the history from `first` on. */
sa_samples sa_history_samples(const sa_history *history, size_t first);
/* psi of an observation */
static inline double sa_history_psi(const sa_history *history, size_t index) {
    return history->psi ? history->psi[index] : 1;
}
/* inputs (count, dim + positions) = what the model sees of samples [0, count), by the present statistics.
 * `factor` (dim) is workspace. */
void sa_samples_inputs(const sa_learner *learner, const sa_samples *samples, size_t count, double *factor,
                       void *inputs);
enum { SA_LEARN_CHUNK = 256 }; /* samples whose gradients are computed at a time */
/* work.gradients = those of samples [first, first + count), at most SA_LEARN_CHUNK, at the present model,
 * times the discounts. */
sa_status sa_samples_evaluate(sa_learner *learner, const sa_samples *samples, size_t first, size_t count);
/* Appends the gradients of samples [0, count) to `to`. */
sa_status sa_samples_gradients(sa_learner *learner, const sa_samples *samples, size_t count,
                               sa_gradients *to);

#endif
