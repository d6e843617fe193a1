/* All that an experiment has to do: a plan for each environment, what is taken over from an earlier run, and
 * which part of it is this process's. Everything that can be wrong with the input is found here, before
 * anything is created on the disk. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "experiment/experiment.h"
#include "results/code.h"
#include "results/folder.h"
#include "spec/spec_presets.h"

enum { SHARDS_MOST = 1000000, ROUNDS_TWICE = 3 };

void sa_work_destroy(sa_work *work) {
    if (!work) return;
    sa_lock_release(&work->shard_lock, false);
    sa_lock_release(&work->lock, false);
    for (size_t i = 0; i < work->plan_count; i++) sa_plan_destroy(work->plans[i]);
    sa_free(work->plans);
    sa_free(work->parts);
    json_decref(work->sessions);
    sa_free(work->session);
    sa_free(work);
}

sa_plan_agent *sa_work_agent(const sa_work *work, size_t index, sa_plan **plan) {
    for (size_t i = 0; i < work->plan_count; i++) {
        *plan = work->plans[i];
        if (index < (*plan)->agent_count) return &(*plan)->agents[index];
        index -= (*plan)->agent_count;
    }
    return NULL;
}

bool sa_work_has(const sa_work *work, size_t job) { return job % work->shards == work->shard; }

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

static sa_status make_room(sa_plan *plan) {
    for (size_t i = 0; i < plan->agent_count; i++) {
        sa_plan_agent *agent = &plan->agents[i];
        for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
            if (kind != SA_CURVE_CLICKS || plan->clicks)
                SA_TRY(sa_alloc_matrix(plan->runs, plan->rounds, sizeof(double), &agent->curve[kind]));
        SA_TRY(sa_alloc_array(plan->runs, sizeof *agent->stats, &agent->stats));
        SA_TRY(sa_alloc_array(plan->runs, sizeof *agent->session, &agent->session));
        SA_TRY(sa_alloc_array(plan->runs, sizeof *agent->done, &agent->done));
    }
    return SA_OK;
}

static sa_status make_plans(sa_work *work) {
    size_t groups = sa_grid_groups(&work->experiment->grid);
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
    SA_TRY(sa_spec_check_presets(work->experiment));
    SA_TRY(make_plans(work));
    SA_TRY(take_shard(work->options->shard, &work->shard, &work->shards));
    SA_TRY(sa_results_check_folder(work->options));
    SA_TRY(check_trace("trace", work->options->trace, work->options));
    SA_TRY(check_trace("log", work->options->log, work->options));
    if (*work->options->log && !strcmp(work->options->log, work->options->trace))
        return sa_fail(SA_INVALID, "--trace and --log are the same file, %s", work->options->log);
    SA_TRY(sa_spec_adopt(work));
    SA_TRY(sa_replace_check(work));
    SA_TRY(check_sizes(work));
    for (size_t i = 0; i < work->plan_count; i++) {
        SA_TRY(sa_plan_check_histories(work->plans[i]));
        SA_TRY(check_repeats(work->plans[i]));
        SA_TRY(make_room(work->plans[i]));
    }
    return SA_OK;
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

static const sa_stored_agent *find(const sa_stored *stored, const char *label) {
    for (size_t i = 0; i < stored->agent_count; i++)
        if (!strcmp(stored->agents[i].label, label)) return &stored->agents[i];
    return NULL;
}

sa_status sa_experiment_jobs(sa_experiment *experiment, size_t *jobs) {
    sa_plan *plan;
    size_t agents = 0;
    SA_TRY(sa_experiment_check(experiment));
    while (sa_work_agent(experiment->work, agents, &plan)) agents++;
    *jobs = agents * experiment->work->plans[0]->runs;
    return SA_OK;
}

sa_status sa_experiment_shards_left(sa_experiment *experiment, size_t shards, bool *left) {
    SA_TRY(sa_experiment_check(experiment));
    const sa_work *work = experiment->work;
    const sa_plan_agent *agent;
    sa_plan *plan;
    sa_stored stored = {0};
    size_t job = 0, row;
    if (!sa_folder_is_empty(work->options->out)) SA_TRY(sa_stored_read(work->options->out, &stored));
    for (size_t i = 0; i < shards; i++) left[i] = false;
    for (size_t run = 0; run < work->plans[0]->runs; run++)
        for (size_t i = 0; (agent = sa_work_agent(work, i, &plan)); i++, job++) {
            const sa_stored_agent *had = find(&stored, agent->label);
            if (!had || !sa_stored_row(had, plan->first_run + run, &row)) left[job % shards] = true;
        }
    sa_stored_clear(&stored);
    return SA_OK;
}
