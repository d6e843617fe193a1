#include "learn/learner.h"

#include "base/memory.h"

sa_status sa_learner_create(sa_options *options, uint64_t epoch, sa_policy *policy, sa_past *past,
                            sa_width_work *widths, sa_learner **out) {
    sa_learner *learner;
    sa_status status = sa_alloc_array(1, sizeof *learner, &learner);
    if (status != SA_OK) {
        sa_policy_release(policy);
        sa_options_destroy(options);
        return status;
    }
    learner->options = options;
    learner->epoch = epoch;
    learner->policy = policy;
    learner->past = past;
    learner->work.widths = widths;
    *out = learner;
    return SA_OK;
}

void sa_learner_destroy(sa_learner *learner) {
    if (!learner) return;
    sa_policy_release(learner->policy);
    sa_options_destroy(learner->options);
    sa_gradients_clear(&learner->last);
    sa_gradients_clear(&learner->window.gradients);
    sa_free(learner->window.stamp);
    sa_workspace_clear(&learner->work.samples);
    sa_workspace_clear(&learner->work.observed);
    sa_workspace_clear(&learner->work.chunk);
    sa_gradients_clear(&learner->work.gradients);
    sa_model_work_clear(&learner->work.model);
    sa_free(learner);
}

sa_status sa_learner_unshare(sa_learner *learner) {
    SA_TRY(sa_policy_unshare(&learner->policy));
    SA_TRY(sa_estimator_unshare(&learner->policy->estimator));
    return sa_confidence_unshare(&learner->policy->confidence);
}

/* ---- files ---- */

static sa_status save_window(const sa_window *window, sa_npz_writer *writer) {
    SA_TRY(sa_npz_add(writer, "window_oldest", SA_INT64, 0, NULL, &window->oldest));
    if (!window->remembers) return SA_OK;
    size_t many = sa_gradients_many(&window->gradients);
    SA_TRY(sa_npz_add(writer, "window_stamp", SA_INT64, 1, &many, window->stamp));
    return sa_gradients_save(&window->gradients, writer, "window");
}

sa_status sa_learner_save(const sa_learner *learner, sa_npz_writer *writer) {
    const sa_policy *policy = learner->policy;
    SA_TRY(sa_npz_add(writer, "error", SA_FLOAT64, 0, NULL, &learner->error));
    SA_TRY(sa_npz_add(writer, "learnt", SA_INT64, 0, NULL, &learner->judged));
    SA_TRY(sa_npz_add(writer, "asked", SA_FLOAT64, 0, NULL, &learner->asked));
    SA_TRY(sa_npz_add(writer, "trainings", SA_INT64, 0, NULL, &learner->trainings));
    SA_TRY(sa_npz_add(writer, "diverged_trainings", SA_INT64, 0, NULL, &learner->diverged_trainings));
    SA_TRY(sa_npz_add(writer, "relearnt", SA_FLOAT64, 0, NULL, &learner->relearnt));
    SA_TRY(sa_moments_save(&learner->moments, writer));
    if (learner->options->window > 0) SA_TRY(save_window(&learner->window, writer));
    if (sa_posterior_is_used(policy, learner->options))
        SA_TRY(sa_posterior_save(&learner->posterior, writer));
    SA_TRY(sa_npz_add(writer, "last_count", SA_INT64, 0, NULL, &learner->last.count));
    if (learner->last.count) SA_TRY(sa_gradients_save(&learner->last, writer, "last"));
    SA_TRY(sa_estimator_save(&policy->estimator, writer));
    return policy->confidence ? policy->confidence->kind->save(policy->confidence, writer) : SA_OK;
}

static sa_status load_window(sa_learner *learner, sa_npz *archive) {
    sa_window *window = &learner->window;
    int64_t oldest;
    sa_array stamp = {0};
    SA_TRY(
        sa_npz_get_integer(archive, "window_oldest", 0, (int64_t)learner->past->history.answered, &oldest));
    window->oldest = (uint64_t)oldest;
    if (!window->remembers) return SA_OK;
    SA_TRY(sa_npz_get_exactly(archive, "window_stamp", SA_INT64, 0, NULL, &stamp));
    window->stamp = stamp.data; /* ours now */
    window->capacity = sa_array_count(&stamp);
    return sa_gradients_load(&window->gradients, archive, "window", window->capacity);
}

/* Format 4 did not have it. */
static sa_status load_last(sa_learner *learner, sa_npz *archive) {
    const sa_gradients *none = &learner->policy->none;
    int64_t count, format;
    SA_TRY(sa_npz_format(archive, &format));
    if (format == 4) return SA_OK;
    SA_TRY(sa_npz_get_integer(archive, "last_count", 0, 1, &count));
    if (count == 0) return SA_OK;
    SA_TRY(sa_gradients_init_like(&learner->last, none->precision, none));
    return sa_gradients_load(&learner->last, archive, "last", 1);
}

sa_status sa_learner_load(sa_learner *learner, sa_npz *archive) {
    sa_policy *policy = learner->policy;
    int64_t trainings, diverged, judged, format;
    SA_TRY(sa_npz_format(archive, &format));
    if (format > 5) SA_TRY(sa_npz_get_number(archive, "relearnt", &learner->relearnt));
    SA_TRY(sa_npz_get_number(archive, "error", &learner->error));
    SA_TRY(sa_npz_get_integer(archive, "learnt", 0, (int64_t)learner->past->history.count, &judged));
    SA_TRY(sa_npz_get_number(archive, "asked", &learner->asked));
    SA_TRY(sa_npz_get_integer(archive, "trainings", 0, INT64_MAX, &trainings));
    SA_TRY(sa_npz_get_integer(archive, "diverged_trainings", 0, trainings, &diverged));
    learner->judged = (uint64_t)judged;
    learner->trainings = (uint64_t)trainings;
    learner->diverged_trainings = (uint64_t)diverged;
    SA_TRY(sa_moments_load(&learner->moments, &learner->past->history, archive));
    if (learner->options->window > 0) SA_TRY(load_window(learner, archive));
    if (sa_posterior_is_used(policy, learner->options)) {
        SA_TRY(sa_posterior_load(&learner->posterior, archive));
        SA_TRY(sa_posterior_adopt(&learner->posterior, policy));
    }
    SA_TRY(load_last(learner, archive));
    SA_TRY(sa_estimator_load(&policy->estimator, archive));
    return policy->confidence ? policy->confidence->kind->load(policy->confidence, archive) : SA_OK;
}
