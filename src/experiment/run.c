/* The public face: check, run, results. */
#include <math.h>

#include "experiment/experiment.h"

sa_status sa_experiment_check(sa_experiment *experiment) {
    if (experiment->checked) return SA_OK;
    SA_TRY(sa_plan_make(experiment));
    experiment->checked = true;
    return SA_OK;
}

sa_status sa_experiment_run(sa_experiment *experiment, sa_progress_call *call, void *user) {
    bool complete;
    SA_TRY(sa_experiment_check(experiment));
    experiment->checked = false; /* files may change before the next run */
    sa_plan *plan = experiment->plan;
    SA_TRY(sa_results_begin(plan, &complete));
    sa_status status = SA_OK;
    if (!complete) {
        status = sa_runner_run(plan, call, user);
        if (status == SA_OK) status = sa_results_finish(plan);
        if (status != SA_OK) sa_results_abandon(plan);
    }
    plan->finished = status == SA_OK;
    return status;
}

sa_status sa_experiment_result(const sa_experiment *experiment, size_t index, sa_agent_result *result) {
    const sa_plan *plan = experiment->plan;
    if (!plan || !plan->finished) return sa_fail(SA_INVALID, "the experiment has not been run to its end");
    if (index >= plan->agent_count)
        return sa_fail(SA_INVALID, "there is no agent %zu: the experiment has %zu", index, plan->agent_count);
    const sa_plan_agent *agent = &plan->agents[index];
    const sa_mean *shown = &agent->final[sa_curve_shown(plan)], *clicks = &agent->final[SA_CURVE_CLICKS];
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
        .seconds_per_run = agent->total.seconds,
        .select_seconds = agent->total.select_seconds,
        .update_seconds = agent->total.update_seconds,
        .train_seconds = agent->total.train_seconds,
        .replay_seconds = agent->total.replay_seconds,
        .peak_bytes = agent->total.peak_bytes,
        .diverged_trainings = agent->total.diverged_trainings,
        .certificate = agent->total.certificate > 0 ? agent->total.certificate : NAN,
        .clicks = agent->curve[SA_CURVE_CLICKS],
        .clicks_mean = clicks->mean,
        .clicks_sd = clicks->sd,
        .clicks_low = clicks->low,
        .clicks_high = clicks->high,
        .options = agent->options,
    };
    return SA_OK;
}
