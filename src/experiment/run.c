/* The public face: check, run, results. */
#include <math.h>

#include "experiment/experiment.h"

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
    sa_status status = sa_results_begin(work);
    if (status == SA_OK) status = sa_runner_run(work, call, user);
    if (status == SA_OK) status = sa_results_finish(work);
    sa_results_end(work, status != SA_OK);
    work->finished = status == SA_OK && work->shards == 1;
    return status;
}

sa_status sa_experiment_begin(sa_experiment *experiment) {
    SA_TRY(sa_experiment_check(experiment));
    experiment->checked = false;
    sa_status status = sa_results_begin(experiment->work);
    sa_results_end(experiment->work, status != SA_OK);
    return status;
}

sa_status sa_experiment_result(const sa_experiment *experiment, size_t index, sa_agent_result *result) {
    const sa_work *work = experiment->work;
    sa_plan *plan;
    if (!work || !work->finished) return sa_fail(SA_INVALID, "the experiment has not been run to its end");
    const sa_plan_agent *agent = sa_work_agent(work, index, &plan);
    if (!agent) return sa_fail(SA_INVALID, "there is no agent %zu: the experiment has fewer", index);
    const sa_run_stats *stats = &agent->total.stats;
    const sa_mean *shown = &agent->total.final[sa_curve_shown(plan)],
                  *clicks = &agent->total.final[SA_CURVE_CLICKS];
    *result = (sa_agent_result){
        .label = agent->label,
        .algorithm = agent->options->algorithm,
        .runs = plan->runs,
        .rounds = plan->rounds,
        .expected_regret = agent->curve[SA_CURVE_EXPECTED],
        .realised_regret = agent->curve[SA_CURVE_REALISED],
        .reward = agent->curve[SA_CURVE_REWARD],
        .mean = shown->mean,
        .sd = shown->sd,
        .low = shown->low,
        .high = shown->high,
        .worst = shown->worst,
        .seconds_per_run = stats->seconds,
        .select_seconds = stats->select_seconds,
        .update_seconds = stats->update_seconds,
        .train_seconds = stats->train_seconds,
        .replay_seconds = stats->replay_seconds,
        .peak_bytes = stats->peak_bytes,
        .diverged_trainings = stats->diverged_trainings,
        .certificate = stats->certificate > 0 ? stats->certificate : NAN,
        .clicks = agent->curve[SA_CURVE_CLICKS],
        .clicks_mean = clicks->mean,
        .clicks_sd = clicks->sd,
        .clicks_low = clicks->low,
        .clicks_high = clicks->high,
        .options = agent->options,
        .alike = agent->total.alike,
        .note = agent->note,
        .display = agent->display,
    };
    return SA_OK;
}
