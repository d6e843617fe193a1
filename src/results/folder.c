/* What is read is not believed: shapes, counts and numbers must fit together. */
#include "results/folder.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "results/agents.h"
#include "results/parts.h"
#include "results/summary.h"

/* Paths in it that are needed again and again. */
typedef struct paths {
    char *spec, *summary, *parts;
} paths;

static void paths_clear(paths *in) {
    sa_free(in->spec);
    sa_free(in->summary);
    sa_free(in->parts);
}

/* paths_clear also after a failure. */
static sa_status paths_make(const char *folder, paths *in) {
    *in = (paths){0};
    SA_TRY(sa_format(&in->spec, "%s/spec.yaml", folder));
    SA_TRY(sa_format(&in->summary, "%s/summary.json", folder));
    return sa_format(&in->parts, "%s/parts", folder);
}

bool sa_folder_has(const char *folder, const char *name) {
    char *path;
    if (sa_format(&path, "%s/%s", folder, name) != SA_OK) return false;
    bool there = sa_file_exists(path);
    sa_free(path);
    return there;
}

/* ---- reading: spec.yaml ---- */

static sa_status read_spec(sa_results *results, const char *path) {
    SA_TRY(sa_alloc_array(1, sizeof *results->own, &results->own));
    sa_spec *spec = results->own;
    SA_TRY(sa_spec_init(spec));
    SA_TRY(sa_spec_read(spec, path));
    results->spec = spec;
    results->options = spec->options;
    results->first_run = (uint64_t)spec->options->first_run;
    results->wanted = (size_t)spec->options->runs;
    return sa_spec_resolve(spec, spec->options, SA_EVERY_GROUP, &results->agents, &results->agent_count);
}

/* ---- reading: the files of a label ---- */

static sa_status check_curves(const sa_array *array, const sa_agent_runs *agent, const char *path) {
    size_t runs = agent->runs, rounds = agent->rounds;
    if (array->type != SA_FLOAT64 || array->axes != 2 || array->shape[0] != runs || array->shape[1] != rounds)
        return sa_fail(SA_FORMAT, "%s is not of shape (%zu, %zu) and float64, as summary.json has it", path,
                       runs, rounds);
    for (size_t i = 0; i < runs * rounds; i++)
        if (!isfinite(((const double *)array->data)[i]))
            return sa_fail(SA_FORMAT, "%s: row %zu, round %zu is not finite", path, i / rounds,
                           i % rounds + 1);
    return SA_OK;
}

static sa_status read_curves(const sa_agent_runs *agent, const char *folder) {
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++) {
        char *path;
        sa_array array = {0};
        if (!agent->curve[kind]) continue;
        SA_TRY(sa_format(&path, "%s/%s/%s.npy", folder, agent->label, sa_curve_name(kind)));
        sa_status status = sa_npy_read(path, &array);
        if (status == SA_OK) status = check_curves(&array, agent, path);
        if (status == SA_OK) memcpy(agent->curve[kind], array.data, sa_array_count(&array) * sizeof(double));
        sa_array_clear(&array);
        sa_free(path);
        SA_TRY(status);
    }
    return SA_OK;
}

/* Of a folder that an older version wrote, which has no runs.npz, what the summary says of all runs. */
static sa_status read_means(const json_t *summary, sa_agent_runs *agent, const char *path) {
    for (size_t k = 0; k < SA_COLUMN_COUNT; k++) {
        const sa_column *column = &sa_columns[k];
        const json_t *value = json_object_get(summary, column->json);
        double least = column->kind == SA_KIND_OF_FACTOR, number = json_number_value(value);
        if (!value && column->shown == SA_SHOWN_ALWAYS)
            return sa_fail(SA_FORMAT, "%s has no runs, rounds, times and counts of agent %s", path,
                           agent->label);
        if (!value || json_is_null(value)) continue;
        if (!json_is_number(value) || number < least)
            return sa_fail(SA_FORMAT, "%s: the %s of agent %s is not a number of at least %g", path,
                           column->json, agent->label, least);
        for (size_t i = 0; i < agent->runs; i++) {
            double own = column->over == SA_OVER_SUM && i > 0 ? 0 : number;
            if (column->kind <= SA_KIND_OF_BYTES)
                agent->run[i].whole[k] = (int64_t)own;
            else
                agent->run[i].number[k] = own;
        }
    }
    return SA_OK;
}

static sa_status read_columns(const sa_results *results, sa_agent_runs *agent, const char *path) {
    sa_npz *archive;
    SA_TRY(sa_npz_open(path, &archive));
    sa_status status = sa_columns_read(archive, agent->run, agent->runs, false);
    sa_npz_close(archive);
    SA_TRY(status);
    for (size_t i = 0; i < agent->runs; i++) {
        const sa_run *run = &agent->run[i];
        if (run->run < 0 || (uint64_t)run->run < results->first_run ||
            (uint64_t)run->run - results->first_run >= results->wanted ||
            (i > 0 && run->run <= run[-1].run) || run->session < 0 ||
            (size_t)run->session >= json_array_size(results->sessions))
            return sa_fail(
                SA_FORMAT,
                "%s: its runs are not in order, not those of spec.yaml, or of no session of summary.json",
                path);
    }
    return SA_OK;
}

/* ---- reading: summary.json ---- */

static sa_status read_agent(const sa_results *results, sa_agent_runs *agent, const json_t *summary,
                            const char *folder, const char *path) {
    const json_t *object = json_object_get(json_object_get(summary, "agents"), agent->label);
    json_int_t runs = 0, rounds = 0;
    char *own;
    if (!object && json_is_false(json_object_get(summary, "complete"))) return SA_OK;
    if (!object) return sa_fail(SA_FORMAT, "%s has no agent %s, which spec.yaml has", path, agent->label);
    if (json_unpack((json_t *)object, "{s:I, s:I}", "runs", &runs, "rounds", &rounds) || runs < 0 ||
        rounds < 1)
        return sa_fail(SA_FORMAT, "%s has no runs, rounds, times and counts of agent %s", path, agent->label);
    if ((uint64_t)runs > results->wanted)
        return sa_fail(SA_FORMAT, "%s has %" PRId64 " runs of agent %s, and spec.yaml %zu", path,
                       (int64_t)runs, agent->label, results->wanted);
    SA_TRY(sa_agent_room(agent, results->wanted, (size_t)rounds));
    agent->runs = (size_t)runs;
    if (runs == 0) return SA_OK;
    for (size_t i = 0; i < agent->runs; i++) agent->run[i] = sa_run_new(results->first_run + i);
    SA_TRY(sa_format(&own, "%s/%s/runs.npz", folder, agent->label));
    sa_status status =
        sa_file_exists(own) ? read_columns(results, agent, own) : read_means(object, agent, path);
    sa_free(own);
    return status == SA_OK ? read_curves(agent, folder) : status;
}

static sa_status check_format(const json_t *summary, const char *path) {
    const json_t *format = json_object_get(summary, "format"), *agents = json_object_get(summary, "agents");
    if (format && !json_is_integer(format))
        return sa_fail(SA_FORMAT, "%s: \"format\" is not an integer", path);
    if (json_integer_value(format) > SA_SUMMARY_FORMAT)
        return sa_fail(SA_NEWER,
                       "%s is of format %" PRId64 ", written by a newer version; this one reads up to %d",
                       path, (int64_t)json_integer_value(format), SA_SUMMARY_FORMAT);
    return json_is_object(agents) ? SA_OK : sa_fail(SA_FORMAT, "%s has no \"agents\"", path);
}

static sa_status read_summary(sa_results *results, const char *folder, const char *path) {
    char *text;
    size_t size;
    json_error_t error;
    SA_TRY(sa_file_read(path, &text, &size));
    json_t *summary = json_loadb(text, size, 0, &error);
    sa_free(text);
    if (!summary) return sa_fail(SA_FORMAT, "%s:%d: %s", path, error.line, error.text);
    sa_status status = check_format(summary, path);
    json_t *sessions = json_object_get(summary, "sessions");
    if (sessions)
        json_array_extend(results->sessions, sessions);
    else /* an older version, of which nothing is known */
        json_array_append_new(results->sessions, json_object());
    for (size_t i = 0; status == SA_OK && i < results->agent_count; i++)
        status = read_agent(results, &results->agents[i], summary, folder, path);
    json_decref(summary);
    return status;
}

/* ---- reading: all ---- */

static sa_status read_parts(sa_results *results, const char *parts) {
    for (size_t i = 0; i < results->agent_count; i++)
        for (uint64_t run = results->first_run; run < results->first_run + results->wanted; run++) {
            size_t row;
            if (sa_agent_has(&results->agents[i], run, &row)) continue;
            SA_TRY(sa_part_take(parts, results, &results->agents[i], run));
            results->has_parts = true;
        }
    return SA_OK;
}

sa_status sa_folder_read(const char *folder, sa_results *results) {
    paths in;
    *results = (sa_results){.sessions = json_array()};
    if (!results->sessions) return SA_OUT_OF_MEMORY;
    sa_status status = paths_make(folder, &in);
    if (status == SA_OK) status = read_spec(results, in.spec);
    if (status == SA_OK && sa_file_exists(in.summary)) status = read_summary(results, folder, in.summary);
    if (status == SA_OK && sa_file_exists(in.parts)) status = read_parts(results, in.parts);
    paths_clear(&in);
    return status;
}

/* ---- writing ---- */

static sa_status write_columns(const sa_agent_runs *agent, const char *path) {
    sa_npz_writer *writer;
    SA_TRY(sa_npz_begin(&writer));
    sa_status status = sa_columns_write(writer, agent->run, agent->runs, false);
    if (status == SA_OK) return sa_npz_finish(writer, path);
    sa_npz_abandon(writer);
    return status;
}

static sa_status write_agent(const char *folder, const sa_agent_runs *agent) {
    const size_t shape[2] = {agent->runs, agent->rounds};
    char *path, *file = NULL;
    sa_status status;
    SA_TRY(sa_format(&path, "%s/%s", folder, agent->label));
    SA_TRY_OR_FAIL(sa_path_remove(path)); /* what a killed process left */
    if (agent->runs == 0) goto fail;
    SA_TRY_OR_FAIL(sa_folder_make(path));
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++) {
        if (!agent->curve[kind]) continue;
        SA_TRY_OR_FAIL(sa_format(&file, "%s/%s.npy", path, sa_curve_name(kind)));
        SA_TRY_OR_FAIL(sa_npy_write(file, SA_FLOAT64, 2, shape, agent->curve[kind]));
        sa_free(file);
        file = NULL;
    }
    SA_TRY_OR_FAIL(sa_format(&file, "%s/runs.npz", path));
    status = write_columns(agent, file);
fail:
    sa_free(file);
    sa_free(path);
    return status;
}

static sa_status write_parts(const char *parts, const sa_results *results) {
    for (size_t i = 0; i < results->agent_count; i++)
        for (size_t k = 0; k < results->agents[i].runs; k++) {
            sa_row row = sa_agent_row(&results->agents[i], k);
            SA_TRY(sa_part_write(parts, &results->agents[i], &row,
                                 json_array_get(results->sessions, (size_t)row.run.session)));
        }
    return SA_OK;
}

sa_status sa_folder_write(const char *folder, const sa_results *results) {
    paths in;
    sa_status status = paths_make(folder, &in);
    if (status == SA_OK) status = sa_path_remove(in.summary);
    for (size_t i = 0; status == SA_OK && i < results->agent_count; i++)
        status = write_agent(folder, &results->agents[i]);
    if (status == SA_OK) status = sa_summary_write(results, in.summary);
    if (status == SA_OK && sa_results_missing(results) == 0) status = sa_path_remove(in.parts);
    paths_clear(&in);
    return status;
}

sa_status sa_folder_reopen(const char *folder, const sa_results *results) {
    paths in;
    sa_status status = paths_make(folder, &in);
    if (status == SA_OK) status = sa_folder_make(in.parts);
    if (status == SA_OK && sa_file_exists(in.summary)) status = write_parts(in.parts, results);
    if (status == SA_OK) status = sa_path_remove(in.summary);
    paths_clear(&in);
    return status;
}
