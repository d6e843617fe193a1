/* The folder of an experiment while it is worked in: locked, found again, kept run by run, finished (stored.h
 * has what is in it). */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "results/code.h"
#include "results/display.h"
#include "results/folder.h"
#include "results/parts.h"
#include "results/provenance.h"

#define NAME_OF(enumerator, name) name,
static const char *const CURVES[] = {SA_CURVE_LIST(NAME_OF)};

const char *sa_curve_name(sa_curve_kind kind) { return CURVES[kind]; }

static bool is_there(const char *folder, const char *name) {
    char *path;
    if (sa_format(&path, "%s/%s", folder, name) != SA_OK) return false;
    bool there = sa_file_exists(path);
    sa_free(path);
    return there;
}

/* ---- what a killed program may leave beside a file that it was writing ---- */

static bool is_temporary(const char *name) {
    size_t size = strlen(name);
    bool ours = !strncmp(name, "spec.yaml.", 10) || !strncmp(name, "summary.json.", 13);
    return ours && size > 4 && !strcmp(name + size - 4, ".tmp");
}

static bool has_only_temporaries(const char *folder) {
    DIR *open = opendir(folder);
    bool only = open;
    for (struct dirent *entry; only && (entry = readdir(open));)
        only = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
               !strncmp(entry->d_name, ".lock", 5) || is_temporary(entry->d_name);
    if (open) closedir(open);
    return only;
}

static void remove_temporaries(const char *folder) {
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));) {
        char *path;
        if (!is_temporary(entry->d_name) || sa_format(&path, "%s/%s", folder, entry->d_name) != SA_OK)
            continue;
        sa_path_remove(path);
        sa_free(path);
    }
    if (open) closedir(open);
}

/* ---- may it be used? ---- */

/* A report of runs that were stopped leaves a summary, too, which says that it is not complete. */
static bool is_finished(const char *folder) {
    char *path, *text = NULL;
    size_t size;
    if (sa_format(&path, "%s/summary.json", folder) != SA_OK) return false;
    bool finished = sa_file_exists(path) && sa_file_read(path, &text, &size) == SA_OK &&
                    !strstr(text, "\"complete\": false");
    sa_free(text);
    sa_free(path);
    return finished;
}

/* --out must be new, or the folder of an experiment that --resume goes on with, or that other shards work
 * in. */
sa_status sa_results_check_folder(const sa_options *options) {
    const char *out = options->out;
    bool shard = *options->shard;
    struct stat about;
    if ((options->resume || shard) && !*out)
        return sa_fail(SA_INVALID, shard ? "--shard needs --out, the folder that all shards work in"
                                         : "--resume needs --out, the folder to go on with");
    if (!*out) return SA_OK;
    bool exists = !stat(out, &about);
    if (exists && !S_ISDIR(about.st_mode)) return sa_fail(SA_INVALID, "--out %s is not a folder", out);
    if (!exists && options->resume && !shard)
        return sa_fail(SA_INVALID,
                       "--resume: there is no folder %s to go on with; leave --resume out to begin", out);
    if (sa_folder_is_empty(out) || has_only_temporaries(out)) return SA_OK;
    bool begun = is_there(out, "spec.yaml"), finished = begun && is_finished(out);
    if ((options->resume || shard) && begun) return SA_OK;
    if (options->resume || shard)
        return sa_fail(SA_INVALID, "--%s: %s has no spec.yaml, so it is not the folder of an experiment",
                       shard ? "shard" : "resume", out);
    return sa_fail(SA_INVALID, "--out %s is not empty%s", out,
                   finished ? ": it holds a finished experiment, to which --resume adds runs and agents; or "
                              "name another folder"
                   : begun  ? ": it holds an unfinished experiment, with which --resume goes on"
                            : "; name a new folder");
}

/* ---- parts ---- */

sa_status sa_results_part(const sa_work *work, const sa_plan *plan, size_t agent, size_t run,
                          const char *ending, char **path) {
    return sa_part_path(work->parts, plan->agents[agent].label, plan->first_run + run, ending, path);
}

static void row_of(const sa_plan *plan, const sa_plan_agent *agent, size_t run, double *row[SA_CURVE_COUNT]) {
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
        row[kind] = agent->curve[kind] ? agent->curve[kind] + run * plan->rounds : NULL;
}

sa_status sa_results_keep(const sa_work *work, const sa_plan *plan, size_t agent, size_t run) {
    double *row[SA_CURVE_COUNT];
    char *path;
    if (!*work->options->out) return SA_OK;
    SA_TRY(sa_results_part(work, plan, agent, run, "npz", &path));
    row_of(plan, &plan->agents[agent], run, row);
    sa_status status = sa_part_write(path, row, plan->rounds, &plan->agents[agent].stats[run], work->session);
    sa_free(path);
    return status;
}

/* ---- what is there already ---- */

/* Clears `*has` when a part is not there that the option `wanted`, unless empty, asks for. */
static sa_status has_part(const sa_work *work, const sa_plan *plan, size_t agent, size_t run,
                          const char *ending, const char *wanted, bool *has) {
    char *path;
    if (!*wanted) return SA_OK;
    SA_TRY(sa_results_part(work, plan, agent, run, ending, &path));
    *has = *has && sa_file_exists(path);
    sa_free(path);
    return SA_OK;
}

/* With a trace or a log, a run counts where that is there, too. */
static sa_status is_traced(const sa_work *work, const sa_plan *plan, size_t agent, size_t run, bool *traced) {
    *traced = true;
    SA_TRY(has_part(work, plan, agent, run, "jsonl", work->options->trace, traced));
    return has_part(work, plan, agent, run, "log", work->options->log, traced);
}

static sa_status take_rows(const sa_work *work, const sa_plan *plan, size_t index,
                           const sa_stored_agent *from) {
    sa_plan_agent *agent = &plan->agents[index];
    const json_t *now = json_array_get(work->sessions, json_array_size(work->sessions) - 1);
    for (size_t i = 0; i < from->runs; i++) {
        size_t run = (size_t)(from->run[i] - plan->first_run);
        bool traced;
        if (from->run[i] < plan->first_run || run >= plan->runs) continue;
        SA_TRY(sa_session_check_code(now, json_array_get(work->sessions, from->session[i]), agent->label,
                                     work->options->out));
        SA_TRY(is_traced(work, plan, index, run, &traced));
        if (!traced) continue;
        for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
            if (agent->curve[kind] && from->curve[kind])
                memcpy(agent->curve[kind] + run * plan->rounds, from->curve[kind] + i * plan->rounds,
                       plan->rounds * sizeof(double));
        agent->stats[run] = from->stats[i];
        agent->session[run] = from->session[i];
        agent->done[run] = true;
    }
    return SA_OK;
}

static const sa_stored_agent *find(const sa_stored *stored, const char *label) {
    for (size_t i = 0; i < stored->agent_count; i++)
        if (!strcmp(stored->agents[i].label, label)) return &stored->agents[i];
    return NULL;
}

/* --replace: the agent's runs are forgotten, and so are their parts. Its files stay until there are new
 * ones. */
static sa_status forget_runs(const sa_work *work, sa_stored *stored) {
    static const char *const endings[] = {"npz", "jsonl", "log"};
    for (size_t i = 0; i < stored->agent_count; i++) {
        sa_stored_agent *agent = &stored->agents[i];
        if (!sa_replaces(work->options->replace, agent->label)) continue;
        agent->runs = 0;
        for (uint64_t run = stored->first_run; run < stored->first_run + stored->wanted; run++)
            for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
                char *path;
                SA_TRY(sa_part_path(work->parts, agent->label, run, endings[k], &path));
                sa_status status = sa_path_remove(path);
                sa_free(path);
                SA_TRY(status);
            }
    }
    return SA_OK;
}

/* Code that is not here cannot make runs. */
static sa_status check_code(const sa_plan *plan, const sa_plan_agent *agent) {
    bool absent = !agent->code.select && !strcmp(agent->options->algorithm, "own");
    for (size_t run = 0; absent && run < plan->runs; run++)
        if (!agent->done[run])
            return sa_fail(SA_INVALID,
                           "--resume: agent %s is code of yours, without which run %" PRIu64
                           " cannot be made",
                           agent->label, plan->first_run + run);
    return SA_OK;
}

/* Fills the plans with the runs that are done. `*left`: some are not. */
static sa_status take_stored(sa_work *work, const sa_stored *stored, bool *left) {
    const json_t *now = json_array_get(work->sessions, json_array_size(work->sessions) - 1);
    sa_plan *plan;
    for (size_t i = 0; i < json_array_size(stored->sessions); i++) {
        SA_TRY(sa_session_compare(now, json_array_get(stored->sessions, i), work->options->out));
        json_array_insert(work->sessions, i, json_array_get(stored->sessions, i));
    }
    for (size_t p = 0; p < work->plan_count; p++)
        for (size_t i = 0; i < work->plans[p]->agent_count; i++) {
            plan = work->plans[p];
            const sa_stored_agent *from = find(stored, plan->agents[i].label);
            if (from && sa_replaces(work->options->replace, from->label)) from = NULL;
            if (from && from->runs > 0 && from->rounds != plan->rounds)
                return sa_fail(SA_INVALID, "--resume: %s has %zu rounds of agent %s, and %zu are asked for",
                               work->options->out, from->rounds, from->label, plan->rounds);
            if (from) SA_TRY(take_rows(work, plan, i, from));
            if (work->shards == 1) SA_TRY(check_code(plan, &plan->agents[i]));
            for (size_t run = 0; run < plan->runs; run++) *left = *left || !plan->agents[i].done[run];
        }
    return SA_OK;
}

/* Of a shard only its own runs matter, and reading those of all would take each of many shards as long as the
 * whole. */
static sa_status take_own_parts(sa_work *work) {
    size_t job = 0;
    for (size_t run = 0; run < work->plans[0]->runs; run++)
        for (size_t p = 0; p < work->plan_count; p++)
            for (size_t i = 0; i < work->plans[p]->agent_count; i++, job++) {
                sa_plan *plan = work->plans[p];
                double *row[SA_CURVE_COUNT];
                char *path, *session = NULL;
                if (!sa_work_has(work, job)) continue;
                SA_TRY(sa_results_part(work, plan, i, run, "npz", &path));
                row_of(plan, &plan->agents[i], run, row);
                bool there =
                    sa_file_exists(path) &&
                    sa_part_read(path, row, plan->rounds, &plan->agents[i].stats[run], &session) == SA_OK;
                sa_free(path);
                plan->agents[i].done[run] = there;
                if (!there) continue; /* a damaged one is done again */
                json_t *then = json_loads(session, 0, NULL);
                const json_t *now = json_array_get(work->sessions, 0);
                sa_status status = sa_session_compare(now, then, work->options->out);
                if (status == SA_OK)
                    status = sa_session_check_code(now, then, plan->agents[i].label, work->options->out);
                json_decref(then);
                sa_free(session);
                SA_TRY(status);
            }
    return SA_OK;
}

/* ---- beginning ---- */

/* Parts of a trace or a log without --out: a folder beside it, or in TMPDIR when that is a device. */
static sa_status make_trace_folder(sa_work *work) {
    const char *trace = *work->options->trace ? work->options->trace : work->options->log,
               *temporary = getenv("TMPDIR");
    struct stat about;
    if (!stat(trace, &about) && !S_ISREG(about.st_mode))
        SA_TRY(sa_format(&work->parts, "%s/superarm-XXXXXX", temporary && *temporary ? temporary : "/tmp"));
    else
        SA_TRY(sa_format(&work->parts, "%s.XXXXXX", trace));
    if (mkdtemp(work->parts)) return SA_OK;
    sa_status status = sa_fail_errno("made", work->parts);
    sa_free(work->parts);
    work->parts = NULL;
    return status;
}

/* What this process is, and what it reads. */
static sa_status make_session(sa_work *work) {
    json_t *session = NULL;
    SA_TRY(sa_session_make(&session));
    work->sessions = json_array();
    if (json_array_append_new(work->sessions, session)) return SA_OUT_OF_MEMORY;
    for (size_t p = 0; *work->options->out && p < work->plan_count; p++)
        for (size_t i = 0; i < work->plans[p]->agent_count;
             i++) /* theirs have full paths, the environment's too */
            SA_TRY(sa_session_add_inputs(session, work->plans[p]->agents[i].options));
    if (*work->options->out) SA_TRY(sa_session_add_code(session, work));
    return sa_json_text(session, &work->session);
}

static sa_status lock_folder(sa_work *work) {
    const char *out = work->options->out;
    char which[64];
    SA_TRY(sa_lock_take(out, "", work->shards > 1, &work->lock));
    if (work->shards == 1) return SA_OK;
    snprintf(which, sizeof which, "-%zu-of-%zu", work->shard, work->shards);
    return sa_lock_take(out, which, false, &work->shard_lock);
}

static sa_status go_on(sa_work *work, const char *spec) {
    const char *out = work->options->out;
    sa_stored stored;
    bool left = *work->options->trace || *work->options->log;
    if (work->shards > 1 && !is_there(out, "summary.json")) {
        SA_TRY(sa_folder_make(work->parts));
        SA_TRY(take_own_parts(work));
        return sa_spec_write(work, spec);
    }
    if (work->shards == 1) remove_temporaries(out);
    SA_TRY(sa_stored_read(out, &stored));
    sa_status status = take_stored(work, &stored, &left);
    bool finished = is_there(out, "summary.json") && sa_stored_missing(&stored) == 0 && !left;
    if (status == SA_OK && !finished) status = forget_runs(work, &stored);
    if (status == SA_OK && !finished) status = sa_stored_open(&stored, out);
    if (status == SA_OK && !finished) status = sa_spec_write(work, spec);
    sa_stored_clear(&stored);
    return status;
}

sa_status sa_results_begin(sa_work *work) {
    const char *out = work->options->out;
    char *spec;
    SA_TRY(make_session(work));
    if (!*out) return *work->options->trace || *work->options->log ? make_trace_folder(work) : SA_OK;
    SA_TRY(sa_folder_make(out));
    SA_TRY(lock_folder(work));
    SA_TRY(sa_results_check_folder(work->options)); /* another process may have been faster */
    SA_TRY(sa_format(&work->parts, "%s/parts", out));
    SA_TRY(sa_format(&spec, "%s/spec.yaml", out));
    sa_status status = SA_OK;
    if (sa_file_exists(spec)) {
        status = go_on(work, spec);
    } else {
        remove_temporaries(out);
        status = sa_spec_write(work, spec);
        if (status == SA_OK) status = sa_folder_make(work->parts);
    }
    sa_free(spec);
    return status;
}

/* ---- ending ---- */

void sa_results_end(sa_work *work, bool failed) {
    if (failed && work->parts && !*work->options->out) sa_path_remove(work->parts);
    sa_lock_release(&work->shard_lock, true);
    sa_lock_release(&work->lock, work->shards == 1);
}

/* The plans' runs as stored ones, of which only the lists are their own. */
static sa_status read_stored(const sa_work *work, sa_experiment *spec, sa_stored *out) {
    sa_plan *plan;
    size_t agents = 0;
    while (sa_work_agent(work, agents, &plan)) agents++;
    *spec = (sa_experiment){.options = (sa_options *)work->options, .grid = work->experiment->grid};
    *out = (sa_stored){.spec = spec,
                       .first_run = work->plans[0]->first_run,
                       .wanted = work->plans[0]->runs,
                       .sessions = work->sessions};
    SA_TRY(sa_alloc_array(agents, sizeof *out->agents, &out->agents));
    for (size_t i = 0; i < agents; i++) {
        const sa_plan_agent *agent = sa_work_agent(work, i, &plan);
        sa_stored_agent *seen = &out->agents[i];
        *seen = (sa_stored_agent){.label = agent->label,
                                  .options = agent->options,
                                  .runs = plan->runs,
                                  .rounds = plan->rounds,
                                  .cell = agent->cell,
                                  .stats = agent->stats,
                                  .session = agent->session};
        memcpy(seen->curve, agent->curve, sizeof seen->curve);
        out->agent_count++;
        SA_TRY(sa_alloc_array(plan->runs, sizeof *seen->run, &seen->run));
        for (size_t run = 0; run < plan->runs; run++) seen->run[run] = plan->first_run + run;
    }
    return SA_OK;
}

static sa_status write_results(const sa_work *work) {
    sa_experiment spec;
    sa_stored seen;
    sa_status status = read_stored(work, &spec, &seen);
    if (status == SA_OK) status = sa_stored_write(&seen, work->options->out);
    for (size_t i = 0; i < seen.agent_count; i++) sa_free(seen.agents[i].run);
    sa_free(seen.agents);
    return status;
}

sa_status sa_results_finish(sa_work *work) {
    const char *out = work->options->out, *trace = work->options->trace;
    if (work->shards > 1) return SA_OK;
    for (size_t p = 0; p < work->plan_count; p++)
        for (size_t i = 0; i < work->plans[p]->agent_count; i++) {
            sa_plan *plan = work->plans[p];
            sa_plan_agent *agent = &plan->agents[i];
            agent->total = sa_totals_of(agent->curve, agent->stats, plan->runs, plan->rounds);
            sa_free(agent->note);
            agent->note = NULL;
            SA_TRY(sa_regret_note(agent->options, agent->total.stats.unproven_rounds, &agent->note));
            sa_free(agent->display);
            agent->display = NULL;
            SA_TRY(sa_agent_display(agent->label, agent->options, &agent->display));
        }
    if (*trace) SA_TRY(sa_trace_join(work, "jsonl", trace));
    if (*work->options->log) SA_TRY(sa_trace_join(work, "log", work->options->log));
    if (*out && !is_there(out, "summary.json")) SA_TRY(write_results(work));
    return work->parts ? sa_path_remove(work->parts) : SA_OK;
}
