/* The public face: asking, checking, running, results. */
#include "experiment/experiment.h"

#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "experiment/keep.h"
#include "experiment/runner.h"
#include "experiment/work.h"
#include "results/folder.h"

sa_experiment *sa_experiment_new(void) {
    sa_experiment *experiment;
    if (sa_alloc_array(1, sizeof *experiment, &experiment) != SA_OK) return NULL;
    if (sa_spec_init(&experiment->spec) != SA_OK) {
        sa_free(experiment);
        return NULL;
    }
    pthread_mutex_init(&experiment->turns.lock, NULL);
    return experiment;
}

void sa_experiment_destroy(sa_experiment *experiment) {
    if (!experiment) return;
    sa_work_destroy(experiment->work);
    sa_spec_clear(&experiment->spec);
    pthread_mutex_destroy(&experiment->turns.lock);
    sa_free(experiment);
}

/* ---- asking ---- */

const sa_options *sa_experiment_options(const sa_experiment *experiment) { return experiment->spec.options; }

bool sa_experiment_has_grid(const sa_experiment *experiment) { return experiment->spec.grid.count > 0; }

/* What was checked is not what is asked for any more. */
static sa_spec *changed(sa_experiment *experiment) {
    experiment->checked = false;
    return &experiment->spec;
}

sa_status sa_experiment_read(sa_experiment *experiment, const char *path) {
    return sa_spec_read(changed(experiment), path);
}

sa_status sa_experiment_set(sa_experiment *experiment, const char *name, const char *value) {
    return sa_spec_set_all(changed(experiment), name, value);
}

sa_status sa_experiment_agent(sa_experiment *experiment, const char *text) {
    return sa_spec_add_text(changed(experiment), text);
}

sa_status sa_experiment_agent_set(sa_experiment *experiment, const char *label, const char *name,
                                  const char *value) {
    return sa_spec_set_agent(changed(experiment), label, name, value);
}

sa_status sa_experiment_grid(sa_experiment *experiment, const char *name, const char *value) {
    return sa_grid_add(&changed(experiment)->grid, name, value);
}

void sa_experiment_clear_agents(sa_experiment *experiment) {
    sa_spec_drop_agents(changed(experiment), 0);
    sa_options_not_given(experiment->spec.options, "algorithm"); /* still that of agents that name none */
}

/* ---- running ---- */

sa_status sa_experiment_check(sa_experiment *experiment) {
    if (experiment->checked) return SA_OK;
    SA_TRY(sa_work_make(experiment));
    experiment->checked = true;
    return SA_OK;
}

sa_status sa_experiment_run(sa_experiment *experiment, sa_progress_call *call, void *user) {
    SA_TRY(sa_experiment_check(experiment));
    experiment->checked = false; /* files may change before the next run */
    sa_work *work = experiment->work;
    sa_status status = sa_keep_begin(work);
    if (status == SA_OK) status = sa_runner_run(work, call, user);
    if (status == SA_OK) status = sa_keep_finish(work);
    sa_keep_end(work, status != SA_OK);
    work->finished = status == SA_OK && work->shards == 1;
    return status;
}

sa_status sa_experiment_begin(sa_experiment *experiment) {
    SA_TRY(sa_experiment_check(experiment));
    experiment->checked = false;
    sa_status status = sa_keep_begin(experiment->work);
    sa_keep_end(experiment->work, status != SA_OK);
    return status;
}

/* ---- results ---- */

sa_status sa_experiment_result(const sa_experiment *experiment, size_t index, sa_agent_result *result) {
    const sa_work *work = experiment->work;
    if (!work || !work->finished) return sa_fail(SA_INVALID, "the experiment has not been run to its end");
    if (index >= work->results.agent_count)
        return sa_fail(SA_INVALID, "there is no agent %zu: the experiment has fewer", index);
    const sa_agent_runs *agent = &work->results.agents[index];
    const sa_told *told = &work->told[index];
    const sa_totals *totals = &told->totals;
    const sa_mean *shown = &totals->final[sa_curve_shown(work->options)],
                  *clicks = &totals->final[SA_CURVE_CLICKS];
    *result = (sa_agent_result){
        .label = agent->label,
        .algorithm = agent->options->algorithm,
        .runs = agent->runs,
        .rounds = agent->rounds,
        .expected_regret = agent->curve[SA_CURVE_EXPECTED],
        .realised_regret = agent->curve[SA_CURVE_REALISED],
        .reward = agent->curve[SA_CURVE_REWARD],
        .mean = shown->mean,
        .sd = shown->sd,
        .low = shown->low,
        .high = shown->high,
        .worst = shown->worst,
        .seconds_per_run = totals->seconds,
        .wall_seconds_per_run = totals->wall_seconds,
        .select_seconds = totals->select_seconds,
        .update_seconds = totals->update_seconds,
        .train_seconds = totals->train_seconds,
        .replay_seconds = totals->replay_seconds,
        .peak_bytes = (uint64_t)totals->peak_bytes,
        .diverged_trainings = (uint64_t)totals->diverged_trainings,
        .certificate = totals->certificate,
        .clicks = agent->curve[SA_CURVE_CLICKS],
        .clicks_mean = clicks->mean,
        .clicks_sd = clicks->sd,
        .clicks_low = clicks->low,
        .clicks_high = clicks->high,
        .options = agent->options,
        .alike = totals->alike,
        .note = told->note,
        .display = told->display,
    };
    return SA_OK;
}

bool sa_experiment_column(const sa_experiment *experiment, size_t index, size_t column, const char **name,
                          double *value, bool *whole) {
    const sa_work *work = experiment->work;
    if (!work || !work->finished || index >= work->results.agent_count) return false;
    for (size_t k = 0; k < SA_COLUMN_COUNT; k++) {
        const sa_column *about = &sa_columns[k];
        if (!*about->json || strchr(about->json, '.') || column-- > 0) continue;
        *name = about->json;
        *value = work->told[index].totals.column[k];
        *whole = about->kind <= SA_KIND_OF_BYTES && about->over != SA_OVER_MEAN;
        return true;
    }
    return false;
}

/* ---- shards ---- */

sa_status sa_experiment_jobs(sa_experiment *experiment, size_t *jobs) {
    SA_TRY(sa_experiment_check(experiment));
    *jobs = experiment->work->results.agent_count * experiment->work->results.wanted;
    return SA_OK;
}

sa_status sa_experiment_shards_left(sa_experiment *experiment, size_t shards, bool *left) {
    SA_TRY(sa_experiment_check(experiment));
    const sa_work *work = experiment->work;
    const sa_results *results = &work->results;
    sa_results had = {0};
    size_t job = 0, row;
    sa_status status = SA_OK;
    if (!sa_folder_is_empty(work->options->out)) status = sa_folder_read(work->options->out, &had);
    for (size_t i = 0; i < shards; i++) left[i] = false;
    for (size_t run = 0; run < results->wanted; run++)
        for (size_t i = 0; i < results->agent_count; i++, job++) {
            const sa_agent_runs *agent = sa_results_find(&had, results->agents[i].label);
            if (!agent || !sa_agent_has(agent, results->first_run + run, &row)) left[job % shards] = true;
        }
    sa_results_clear(&had);
    return status;
}
