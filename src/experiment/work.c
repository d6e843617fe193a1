/* A plan for each environment, what is taken over from an earlier run, and which part of it is this
 * process's. Everything that can be wrong with the input is found here, before anything is created on the
 * disk. */
#include "experiment/work.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "experiment/keep.h"
#include "experiment/plan.h"
#include "experiment/plan_histories.h"
#include "experiment/resume.h"
#include "spec/spec_presets.h"

enum { SHARDS_MOST = 1000000, ROUNDS_TWICE = 3 };

void sa_work_destroy(sa_work *work) {
    if (!work) return;
    sa_lock_release(&work->shard_lock, false);
    sa_lock_release(&work->lock, false);
    for (size_t i = 0; work->told && i < work->results.agent_count; i++) sa_told_clear(&work->told[i]);
    sa_free(work->told);
    for (size_t i = 0; i < work->plan_count; i++) sa_plan_destroy(work->plans[i]);
    sa_free(work->plans);
    sa_results_clear(&work->results);
    sa_free(work->parts);
    json_decref(work->session);
    sa_free(work);
}

/* ---- checks ---- */

/* "0/4" */
static sa_status take_shard(const char *text, size_t *shard, size_t *shards) {
    char *end;
    unsigned long first = strtoul(text, &end, 10), count = *end == '/' ? strtoul(end + 1, &end, 10) : 0;
    *shard = 0;
    *shards = 1;
    if (!*text) return SA_OK;
    if (*end || *text < '0' || *text > '9' || count == 0 || count > SHARDS_MOST || first >= count)
        return sa_fail(SA_INVALID, "--shard %.60s is not of the form I/N, where I counts from 0 to N - 1",
                       text);
    *shard = first;
    *shards = count;
    return SA_OK;
}

/* A trace or log is joined at the very end; better to say now that it cannot be written. */
static sa_status check_trace(const char *option, const char *trace, const sa_options *options) {
    struct stat about;
    if (!*trace) return SA_OK;
    if (*options->shard)
        return sa_fail(SA_INVALID, "--%s is one file of all runs, and --shard %s does some", option,
                       options->shard);
    if (!stat(trace, &about)) {
        if (S_ISDIR(about.st_mode)) return sa_fail(SA_INVALID, "--%s %s is a folder", option, trace);
        return access(trace, W_OK) ? sa_fail_errno("written", trace) : SA_OK;
    }
    return sa_plan_check_place(trace, options->out);
}

/* Of all plans together; each has looked at itself. */
static sa_status check_sizes(const sa_work *work) {
    size_t agents = 0, rounds = 0, runs = work->plans[0]->runs;
    for (size_t i = 0; i < work->plan_count; i++) {
        agents += work->plans[i]->agent_count;
        if (work->plans[i]->rounds > rounds) rounds = work->plans[i]->rounds;
    }
    if (sa_plan_fits(runs * agents, rounds, SA_CURVE_COUNT, sizeof(double))) return SA_OK;
    return sa_fail(
        SA_INVALID,
        "--runs %zu of --rounds %zu with %zu agents have more regret curves than this machine has memory",
        runs, rounds, agents);
}

/* ---- an environment of the caller's own must repeat itself: every agent plays every run by itself ---- */

static sa_status draw_first(const sa_plan *plan, sa_round *rounds, size_t count) {
    SA_TRY(sa_environment_begin(plan->environment, plan->first_run, &rounds[0]));
    for (size_t t = 0; t < count; t++) {
        rounds[t].state = rounds[0].state;
        SA_TRY(sa_environment_draw(plan->environment, plan->first_run, t, &rounds[t]));
    }
    return SA_OK;
}

static sa_status compare_draws(const sa_plan *plan, const sa_round *one, const sa_round *other,
                               size_t round) {
    size_t arms = one->arms, bytes = arms * sizeof(double);
    const char *what = one->arms != other->arms ? "another number of arms"
                       : memcmp(one->contexts, other->contexts, bytes * plan->environment->dim) != 0
                           ? "other contexts"
                       : memcmp(one->expected, other->expected, bytes) != 0 ? "other expected scores"
                       : memcmp(one->noise, other->noise, bytes) != 0       ? "other noise"
                                                                            : NULL;
    if (!what) return SA_OK;
    return sa_fail(
        SA_INVALID,
        "your environment gives %s when round %zu of run %llu is asked for again, and agents that are to be "
        "compared must see the same: draw from a generator that is seeded by the run",
        what, round + 1, (unsigned long long)plan->first_run);
}

static sa_status check_repeats(const sa_plan *plan) {
    sa_round first[ROUNDS_TWICE] = {0}, again[ROUNDS_TWICE] = {0};
    size_t count = plan->rounds < ROUNDS_TWICE ? plan->rounds : ROUNDS_TWICE;
    sa_status status = SA_OK;
    if (!plan->environment->kind->begin) return SA_OK; /* one of ours */
    for (size_t t = 0; status == SA_OK && t < count; t++) {
        status = sa_round_init(&first[t], plan->environment);
        if (status == SA_OK) status = sa_round_init(&again[t], plan->environment);
    }
    if (status == SA_OK) status = draw_first(plan, first, count);
    if (status == SA_OK) status = draw_first(plan, again, count);
    for (size_t t = 0; status == SA_OK && t < count; t++)
        status = compare_draws(plan, &first[t], &again[t], t);
    for (size_t t = count; t-- > 0;) {
        sa_round_clear(&again[t]);
        sa_round_clear(&first[t]);
    }
    return status;
}

/* ---- making ---- */

/* The agents of all plans, each with room for its runs. */
static sa_status make_table(sa_work *work) {
    sa_results *results = &work->results;
    size_t count = 0;
    for (size_t i = 0; i < work->plan_count; i++) count += work->plans[i]->agent_count;
    *results = (sa_results){.spec = &work->experiment->spec,
                            .options = work->options,
                            .sessions = json_array(),
                            .first_run = work->plans[0]->first_run,
                            .wanted = work->plans[0]->runs};
    if (!results->sessions) return SA_OUT_OF_MEMORY;
    SA_TRY(sa_alloc_array(count, sizeof *results->agents, &results->agents));
    for (size_t i = 0; i < work->plan_count; i++) {
        sa_plan *plan = work->plans[i];
        sa_agent_runs *own = plan->agents;
        plan->agents = results->agents + results->agent_count;
        plan->in_table = true;
        memcpy(plan->agents, own, plan->agent_count * sizeof *own);
        sa_free(own);
        results->agent_count += plan->agent_count;
    }
    for (size_t i = 0; i < count; i++)
        SA_TRY(sa_agent_room(&results->agents[i], results->wanted, sa_work_plan(work, i)->rounds));
    return SA_OK;
}

static sa_status make_plans(sa_work *work) {
    size_t groups = sa_grid_groups(&work->experiment->spec.grid);
    SA_TRY(sa_alloc_array(groups, sizeof *work->plans, &work->plans));
    for (size_t group = 0; group < groups; group++) {
        SA_TRY(sa_plan_make(work->experiment, group, &work->plans[group]));
        work->plan_count++;
        if (*work->plans[group]->options->replace) work->plans[group]->options->resume = true;
    }
    work->options = work->plans[0]->options;
    work->threads = sa_plan_threads(work->options);
    return SA_OK;
}

static sa_status fill(sa_work *work) {
    SA_TRY(sa_spec_check_presets(work->experiment->spec.presets));
    SA_TRY(make_plans(work));
    SA_TRY(take_shard(work->options->shard, &work->shard, &work->shards));
    SA_TRY(sa_keep_check(work->options));
    SA_TRY(check_trace("trace", work->options->trace, work->options));
    SA_TRY(check_trace("log", work->options->log, work->options));
    if (*work->options->log && !strcmp(work->options->log, work->options->trace))
        return sa_fail(SA_INVALID, "--trace and --log are the same file, %s", work->options->log);
    SA_TRY(sa_resume_adopt(work));
    SA_TRY(sa_replace_check(work));
    SA_TRY(check_sizes(work));
    for (size_t i = 0; i < work->plan_count; i++) {
        SA_TRY(sa_plan_check_histories(work->plans[i]));
        SA_TRY(check_repeats(work->plans[i]));
    }
    return make_table(work);
}

sa_status sa_work_make(sa_experiment *experiment) {
    sa_work *work;
    SA_TRY(sa_alloc_array(1, sizeof *work, &work));
    work->experiment = experiment;
    work->lock.file = work->shard_lock.file = -1;
    sa_status status = fill(work);
    if (status != SA_OK) {
        sa_work_destroy(work);
        return status;
    }
    sa_work_destroy(experiment->work);
    experiment->work = work;
    return SA_OK;
}
