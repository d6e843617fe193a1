#include "experiment/keep.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "experiment/resume.h"
#include "experiment/trace.h"
#include "results/code.h"
#include "results/folder.h"
#include "results/parts.h"
#include "results/provenance.h"
#include "results/spec_file.h"

/* ---- what a killed program may leave beside a file that it was writing ---- */

static bool is_temporary(const char *name) {
    size_t size = strlen(name);
    bool ours = !strncmp(name, "spec.yaml.", 10) || !strncmp(name, "summary.json.", 13);
    return ours && size > 4 && !strcmp(name + size - 4, ".tmp");
}

/* Is there nothing but temporary files and locks? With `remove` the temporary files go. */
static bool visit_temporaries(const char *folder, bool remove) {
    DIR *open = opendir(folder);
    bool only = open;
    for (struct dirent *entry; open && (entry = readdir(open));) {
        const char *name = entry->d_name;
        char *path;
        only = only && (!strcmp(name, ".") || !strcmp(name, "..") || !strncmp(name, ".lock", 5) ||
                        is_temporary(name));
        if (!remove || !is_temporary(name) || sa_format(&path, "%s/%s", folder, name) != SA_OK) continue;
        sa_path_remove(path);
        sa_free(path);
    }
    if (open) closedir(open);
    return only;
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
sa_status sa_keep_check(const sa_options *options) {
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
    if (sa_folder_is_empty(out) || visit_temporaries(out, false)) return SA_OK;
    bool begun = sa_folder_has(out, "spec.yaml"), finished = begun && is_finished(out);
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

sa_status sa_keep_run(const sa_work *work, const sa_agent_runs *agent, const sa_row *row) {
    return *work->options->out ? sa_part_write(work->parts, agent, row, work->session) : SA_OK;
}

/* Removes the parts of a run, or, with `look`, says whether those are there that the options ask for. */
static sa_status visit_parts(const sa_work *work, const sa_agent_runs *agent, uint64_t run, bool *look) {
    const struct {
        const char *ending;
        bool wanted;
    } parts[] = {{"npz", false}, {"jsonl", *work->options->trace}, {"log", *work->options->log}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char *path;
        SA_TRY(sa_part_path(work->parts, agent->label, run, parts[i].ending, &path));
        sa_status status = look ? SA_OK : sa_path_remove(path);
        if (look && parts[i].wanted) *look = *look && sa_file_exists(path);
        sa_free(path);
        SA_TRY(status);
    }
    return SA_OK;
}

/* ---- what is there already ---- */

/* The agent's runs that count: none where it is to be replaced, and with a trace or a log those that have
 * one. */
static sa_status choose_runs(const sa_work *work, const sa_results *had, sa_agent_runs *agent) {
    int64_t session = -1; /* that was looked at last */
    if (sa_replaces(work->options->replace, agent->label)) agent->runs = 0;
    for (size_t i = agent->runs; i-- > 0;) {
        sa_run run = agent->run[i];
        bool traced = true;
        if (run.session != session)
            SA_TRY(sa_session_check_code(work->session, json_array_get(had->sessions, (size_t)run.session),
                                         agent->label, work->options->out));
        session = run.session;
        SA_TRY(visit_parts(work, agent, (uint64_t)run.run, &traced));
        if (!traced) sa_agent_remove(agent, i);
    }
    return SA_OK;
}

/* Code that is not here cannot make runs. */
static sa_status check_code(const sa_results *results, const sa_agent_runs *agent) {
    bool absent = !agent->code.select && !strcmp(agent->options->algorithm, "own");
    size_t row, run = 0;
    while (run < results->wanted && sa_agent_has(agent, results->first_run + run, &row)) run++;
    if (!absent || run == results->wanted) return SA_OK;
    return sa_fail(SA_INVALID,
                   "--resume: agent %s is code of yours, without which run %" PRIu64 " cannot be made",
                   agent->label, results->first_run + run);
}

/* Takes over the runs that are done. */
static sa_status take_runs(sa_work *work, sa_results *had) {
    for (size_t i = 0; i < json_array_size(had->sessions); i++)
        SA_TRY(sa_session_compare(work->session, json_array_get(had->sessions, i), work->options->out));
    for (size_t i = 0; i < work->results.agent_count; i++) {
        const sa_agent_runs *agent = &work->results.agents[i];
        sa_agent_runs *from = sa_results_find(had, agent->label);
        if (from) SA_TRY(choose_runs(work, had, from));
        if (from && from->runs > 0 && from->rounds != agent->rounds)
            return sa_fail(SA_INVALID, "--resume: %s has %zu rounds of agent %s, and %zu are asked for",
                           work->options->out, from->rounds, from->label, agent->rounds);
    }
    sa_results_join(&work->results, had);
    for (size_t i = 0; work->shards == 1 && i < work->results.agent_count; i++)
        SA_TRY(check_code(&work->results, &work->results.agents[i]));
    return SA_OK;
}

/* Of a shard only its own runs matter, and reading those of all would take each of many shards as long as the
 * whole. */
static sa_status take_own_parts(sa_work *work) {
    sa_results *results = &work->results;
    size_t job = 0, row;
    for (size_t run = 0; run < results->wanted; run++)
        for (size_t i = 0; i < results->agent_count; i++, job++) {
            sa_agent_runs *agent = &results->agents[i];
            uint64_t number = results->first_run + run;
            if (!sa_work_has(work, job)) continue;
            SA_TRY(sa_part_take(work->parts, results, agent, number));
            if (!sa_agent_has(agent, number, &row)) continue;
            const json_t *then = json_array_get(results->sessions, (size_t)agent->run[row].session);
            SA_TRY(sa_session_compare(work->session, then, work->options->out));
            SA_TRY(sa_session_check_code(work->session, then, agent->label, work->options->out));
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
    const sa_experiment *experiment = work->experiment;
    SA_TRY(sa_session_make(&work->session));
    for (size_t i = 0; *work->options->out && i < work->results.agent_count; i++)
        /* theirs have full paths, the environment's too */
        SA_TRY(sa_session_add_inputs(work->session, work->results.agents[i].options));
    if (!*work->options->out) return SA_OK;
    return sa_session_add_code(work->session, &work->results, &experiment->environment, &experiment->oracle);
}

static sa_status lock_folder(sa_work *work) {
    const char *out = work->options->out;
    char which[64];
    SA_TRY(sa_lock_take(out, "", work->shards > 1, &work->lock));
    if (work->shards == 1) return SA_OK;
    snprintf(which, sizeof which, "-%zu-of-%zu", work->shard, work->shards);
    return sa_lock_take(out, which, false, &work->shard_lock);
}

/* --replace: the parts of these agents go. Their files stay until there are new ones. */
static sa_status forget_parts(const sa_work *work) {
    const sa_results *results = &work->results;
    for (size_t i = 0; i < results->agent_count; i++)
        for (size_t run = 0; run < results->wanted; run++)
            if (sa_replaces(work->options->replace, results->agents[i].label))
                SA_TRY(visit_parts(work, &results->agents[i], results->first_run + run, NULL));
    return SA_OK;
}

static sa_status go_on(sa_work *work, const char *spec) {
    const char *out = work->options->out;
    sa_results had;
    if (work->shards > 1 && !sa_folder_has(out, "summary.json")) {
        SA_TRY(sa_folder_make(work->parts));
        SA_TRY(take_own_parts(work));
        return sa_spec_write(&work->results, spec);
    }
    if (work->shards == 1) visit_temporaries(out, true);
    sa_status status = sa_folder_read(out, &had);
    if (status == SA_OK) status = take_runs(work, &had);
    sa_results_clear(&had);
    SA_TRY(status);
    if (sa_folder_has(out, "summary.json") && sa_results_missing(&work->results) == 0 &&
        !*work->options->trace && !*work->options->log)
        return SA_OK;
    SA_TRY(forget_parts(work));
    SA_TRY(sa_folder_reopen(out, &work->results));
    return sa_spec_write(&work->results, spec);
}

static sa_status begin(sa_work *work) {
    const char *out = work->options->out;
    char *spec;
    SA_TRY(make_session(work));
    if (!*out) return *work->options->trace || *work->options->log ? make_trace_folder(work) : SA_OK;
    SA_TRY(sa_folder_make(out));
    SA_TRY(lock_folder(work));
    SA_TRY(sa_keep_check(work->options)); /* another process may have been faster */
    SA_TRY(sa_format(&work->parts, "%s/parts", out));
    SA_TRY(sa_format(&spec, "%s/spec.yaml", out));
    sa_status status = SA_OK;
    if (sa_file_exists(spec)) {
        status = go_on(work, spec);
    } else {
        visit_temporaries(out, true);
        status = sa_spec_write(&work->results, spec);
        if (status == SA_OK) status = sa_folder_make(work->parts);
    }
    sa_free(spec);
    return status;
}

/* Of the sessions this process is the last. */
sa_status sa_keep_begin(sa_work *work) {
    SA_TRY(begin(work));
    return json_array_append(work->results.sessions, work->session) ? SA_OUT_OF_MEMORY : SA_OK;
}

/* ---- ending ---- */

void sa_keep_end(sa_work *work, bool failed) {
    if (failed && work->parts && !*work->options->out) sa_path_remove(work->parts);
    sa_lock_release(&work->shard_lock, true);
    sa_lock_release(&work->lock, work->shards == 1);
}

sa_status sa_keep_finish(sa_work *work) {
    const sa_options *options = work->options;
    const sa_results *results = &work->results;
    if (work->shards > 1) return SA_OK;
    SA_TRY(sa_alloc_array(results->agent_count, sizeof *work->told, &work->told));
    for (size_t i = 0; i < results->agent_count; i++)
        SA_TRY(sa_agent_tell(&results->agents[i], &work->told[i]));
    if (*options->trace) SA_TRY(sa_trace_join(results, work->parts, "jsonl", options->trace));
    if (*options->log) SA_TRY(sa_trace_join(results, work->parts, "log", options->log));
    if (*options->out && !sa_folder_has(options->out, "summary.json"))
        SA_TRY(sa_folder_write(options->out, results));
    return work->parts ? sa_path_remove(work->parts) : SA_OK;
}
