/* The files of an experiment:
 *
 *   DIR/spec.yaml                      first of all: what is done here
 *   DIR/parts/LABEL-RUN.npz, .jsonl, .log    a finished run, its trace and its log; these are written first
 *   DIR/LABEL/expected_regret.npy ...  when all runs are done
 *   DIR/summary.json                   last of all: where it is, the rest is
 *
 * Every file appears whole or not at all, so a killed experiment loses only the runs in flight. */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/npy.h"
#include "experiment/experiment.h"

enum { STATS = 6 };

#define NAME_OF(enumerator, name) name,
static const char *const CURVES[] = {SA_CURVE_LIST(NAME_OF)};

const char *sa_curve_name(sa_curve_kind kind) { return CURVES[kind]; }

/* ---- parts ---- */

sa_status sa_results_part(const sa_plan *plan, size_t agent, size_t run, const char *ending, char **path) {
    return sa_format(path, "%s/%s-%" PRIu64 ".%s", plan->parts, plan->agents[agent].label, plan->first_run + run, ending);
}

static sa_status write_part(const sa_plan *plan, const sa_plan_agent *agent, size_t run, const char *path) {
    const sa_run_stats *stats = &agent->stats[run];
    const double numbers[STATS] = {stats->seconds,       stats->select_seconds,     stats->update_seconds,
                                   stats->train_seconds, (double)stats->peak_bytes, (double)stats->diverged_trainings};
    const size_t rounds = plan->rounds, count = STATS, first = run * rounds;
    sa_npz_writer *writer;
    sa_status status;
    SA_TRY(sa_npz_begin(&writer));
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
        if (agent->curve[kind])
            SA_TRY_OR_FAIL(sa_npz_add(writer, sa_curve_name(kind), SA_FLOAT64, 1, &rounds, agent->curve[kind] + first));
    SA_TRY_OR_FAIL(sa_npz_add(writer, "stats", SA_FLOAT64, 1, &count, numbers));
    SA_TRY_OR_FAIL(sa_npz_add(writer, "replay_seconds", SA_FLOAT64, 0, NULL, &stats->replay_seconds));
    SA_TRY_OR_FAIL(sa_npz_add(writer, "certificate", SA_FLOAT64, 0, NULL, &stats->certificate));
    return sa_npz_finish(writer, path);
fail:
    sa_npz_abandon(writer);
    return status;
}

sa_status sa_results_keep(const sa_plan *plan, size_t agent, size_t run) {
    if (!*plan->options->out) return SA_OK;
    char *path;
    SA_TRY(sa_results_part(plan, agent, run, "npz", &path));
    sa_status status = write_part(plan, &plan->agents[agent], run, path);
    sa_free(path);
    return status;
}

static sa_status read_row(sa_npz *archive, const char *name, size_t count, double *out) {
    sa_array array = {0};
    SA_TRY(sa_npz_get_exactly(archive, name, SA_FLOAT64, 1, &count, &array));
    memcpy(out, array.data, count * sizeof *out);
    sa_array_clear(&array);
    return SA_OK;
}

static sa_status read_part(const sa_plan *plan, sa_plan_agent *agent, size_t run, const char *path) {
    double numbers[STATS];
    size_t first = run * plan->rounds;
    sa_npz *archive;
    sa_status status;
    SA_TRY(sa_npz_open(path, &archive));
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
        if (agent->curve[kind])
            SA_TRY_OR_FAIL(read_row(archive, sa_curve_name(kind), plan->rounds, agent->curve[kind] + first));
    SA_TRY_OR_FAIL(read_row(archive, "stats", STATS, numbers));
    agent->stats[run] = (sa_run_stats){.seconds = numbers[0],
                                       .select_seconds = numbers[1],
                                       .update_seconds = numbers[2],
                                       .train_seconds = numbers[3],
                                       .peak_bytes = (uint64_t)numbers[4],
                                       .diverged_trainings = (uint64_t)numbers[5]};
    SA_TRY_OR_FAIL(sa_npz_get_number(archive, "replay_seconds", &agent->stats[run].replay_seconds));
    SA_TRY_OR_FAIL(sa_npz_get_number(archive, "certificate", &agent->stats[run].certificate));
fail:
    sa_npz_close(archive);
    return status;
}

/* Clears `*has` when a part is not there that the option `wanted`, unless empty, asks for. */
static sa_status has_part(const sa_plan *plan, size_t agent, size_t run, const char *ending, const char *wanted,
                          bool *has) {
    char *path;
    if (!*wanted) return SA_OK;
    SA_TRY(sa_results_part(plan, agent, run, ending, &path));
    *has = *has && sa_file_exists(path);
    sa_free(path);
    return SA_OK;
}

/* A part that is absent or damaged is no failure: its run is done again. */
static sa_status find_parts(sa_plan *plan) {
    for (size_t i = 0; i < plan->agent_count; i++)
        for (size_t run = 0; run < plan->runs; run++) {
            char *path;
            bool whole = true;
            SA_TRY(has_part(plan, i, run, "jsonl", plan->options->trace, &whole));
            SA_TRY(has_part(plan, i, run, "log", plan->options->log, &whole));
            SA_TRY(sa_results_part(plan, i, run, "npz", &path));
            plan->agents[i].done[run] =
                whole && sa_file_exists(path) && read_part(plan, &plan->agents[i], run, path) == SA_OK;
            sa_free(path);
        }
    return SA_OK;
}

/* ---- the finished folder ---- */

static sa_status curve_path(const sa_plan *plan, const sa_plan_agent *agent, sa_curve_kind kind, char **path) {
    return sa_format(path, "%s/%s/%s.npy", plan->options->out, agent->label, sa_curve_name(kind));
}

static sa_status write_curves(const sa_plan *plan, const sa_plan_agent *agent) {
    const size_t shape[2] = {plan->runs, plan->rounds};
    char *path;
    SA_TRY(sa_format(&path, "%s/%s", plan->options->out, agent->label));
    sa_status status = sa_path_remove(path); /* what a killed assembly left */
    if (status == SA_OK) status = sa_folder_make(path);
    sa_free(path);
    SA_TRY(status);
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++) {
        if (!agent->curve[kind]) continue;
        SA_TRY(curve_path(plan, agent, kind, &path));
        status = sa_npy_write(path, SA_FLOAT64, 2, shape, agent->curve[kind]);
        sa_free(path);
        SA_TRY(status);
    }
    return SA_OK;
}

static sa_status read_curves(const sa_plan *plan, const sa_plan_agent *agent) {
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++) {
        char *path;
        sa_array array = {0};
        if (!agent->curve[kind]) continue;
        SA_TRY(curve_path(plan, agent, kind, &path));
        sa_status status = sa_npy_read(path, &array);
        if (status == SA_OK && (array.type != SA_FLOAT64 || array.axes != 2 || array.shape[0] != plan->runs ||
                                array.shape[1] != plan->rounds))
            status = sa_fail(SA_FORMAT, "%s is not of shape (%zu, %zu)", path, plan->runs, plan->rounds);
        if (status == SA_OK) memcpy(agent->curve[kind], array.data, sa_array_count(&array) * sizeof(double));
        sa_array_clear(&array);
        sa_free(path);
        SA_TRY(status);
    }
    return SA_OK;
}

/* Takes a finished experiment from its files. */
static sa_status read_finished(sa_plan *plan, const char *summary) {
    for (size_t i = 0; i < plan->agent_count; i++) {
        SA_TRY(read_curves(plan, &plan->agents[i]));
        sa_plan_summarise(&plan->agents[i], plan->runs, plan->rounds);
        memset(plan->agents[i].done, true, plan->runs * sizeof *plan->agents[i].done);
    }
    SA_TRY(sa_summary_read(plan, summary));
    return sa_path_remove(plan->parts);
}

/* ---- beginning ---- */

/* A killed program may leave a temporary beside a file it was writing. */
static void remove_temporaries(const char *folder) {
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));) {
        size_t size = strlen(entry->d_name);
        bool ours = !strncmp(entry->d_name, "spec.yaml.", 10) || !strncmp(entry->d_name, "summary.json.", 13);
        char *path;
        if (!ours || size < 4 || strcmp(entry->d_name + size - 4, ".tmp")) continue;
        if (sa_format(&path, "%s/%s", folder, entry->d_name) != SA_OK) continue;
        sa_path_remove(path);
        sa_free(path);
    }
    if (open) closedir(open);
}

/* Parts of a trace or a log without --out: a folder beside it, or in TMPDIR when that is a device. */
static sa_status make_trace_folder(sa_plan *plan) {
    const char *trace = *plan->options->trace ? plan->options->trace : plan->options->log, *temporary = getenv("TMPDIR");
    struct stat about;
    if (!stat(trace, &about) && !S_ISREG(about.st_mode))
        SA_TRY(sa_format(&plan->parts, "%s/superarm-XXXXXX", temporary && *temporary ? temporary : "/tmp"));
    else
        SA_TRY(sa_format(&plan->parts, "%s.XXXXXX", trace));
    if (mkdtemp(plan->parts)) return SA_OK;
    sa_status status = sa_fail_errno("made", plan->parts);
    sa_free(plan->parts);
    plan->parts = NULL;
    return status;
}

static sa_status begin_folder(sa_plan *plan, const char *spec, const char *summary, bool *complete) {
    const char *out = plan->options->out;
    bool resume = plan->options->resume && sa_file_exists(out);
    if (resume && sa_file_exists(spec)) {
        SA_TRY(sa_spec_compare(plan, spec));
        remove_temporaries(out);
        *complete = sa_file_exists(summary) && !*plan->options->trace && !*plan->options->log;
        if (*complete) return read_finished(plan, summary);
        SA_TRY(sa_folder_make(plan->parts));
        return find_parts(plan);
    }
    if (resume) remove_temporaries(out);
    if (resume && !sa_folder_is_empty(out))
        return sa_fail(SA_INVALID, "--resume: %s has no spec.yaml, so it is not the folder of an experiment", out);
    SA_TRY(sa_folder_make(out));
    SA_TRY(sa_spec_write(plan, spec));
    return sa_folder_make(plan->parts);
}

sa_status sa_results_begin(sa_plan *plan, bool *complete) {
    const char *out = plan->options->out;
    char *spec = NULL, *summary = NULL;
    *complete = false;
    if (!*out) return *plan->options->trace || *plan->options->log ? make_trace_folder(plan) : SA_OK;
    SA_TRY(sa_format(&plan->parts, "%s/parts", out));
    sa_status status = sa_format(&spec, "%s/spec.yaml", out);
    if (status == SA_OK) status = sa_format(&summary, "%s/summary.json", out);
    if (status == SA_OK) status = begin_folder(plan, spec, summary, complete);
    sa_free(summary);
    sa_free(spec);
    return status;
}

/* ---- ending ---- */

void sa_results_abandon(sa_plan *plan) {
    if (plan->parts && !*plan->options->out) sa_path_remove(plan->parts);
}

sa_status sa_results_finish(sa_plan *plan) {
    const char *out = plan->options->out, *trace = plan->options->trace;
    for (size_t i = 0; i < plan->agent_count; i++) sa_plan_summarise(&plan->agents[i], plan->runs, plan->rounds);
    for (size_t i = 0; *out && i < plan->agent_count; i++) SA_TRY(write_curves(plan, &plan->agents[i]));
    if (*trace) SA_TRY(sa_trace_join(plan, "jsonl", trace));
    if (*plan->options->log) SA_TRY(sa_trace_join(plan, "log", plan->options->log));
    if (*out) {
        char *path;
        SA_TRY(sa_format(&path, "%s/summary.json", out));
        sa_status status = sa_summary_write(plan, path);
        sa_free(path);
        SA_TRY(status);
    }
    return plan->parts ? sa_path_remove(plan->parts) : SA_OK;
}
