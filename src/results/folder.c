/* Reading what a folder keeps. Nothing is believed: shapes, counts and numbers must fit together. */
#include "results/folder.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/npy.h"
#include "results/parts.h"

static void agent_clear(sa_stored_agent *agent) {
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++) sa_free(agent->curve[kind]);
    sa_free(agent->session);
    sa_free(agent->stats);
    sa_free(agent->run);
    sa_options_destroy(agent->options);
    sa_free(agent->label);
    *agent = (sa_stored_agent){0};
}

void sa_stored_clear(sa_stored *stored) {
    for (size_t i = 0; i < stored->agent_count; i++) agent_clear(&stored->agents[i]);
    sa_free(stored->agents);
    sa_experiment_destroy(stored->spec);
    json_decref(stored->sessions);
    *stored = (sa_stored){0};
}

bool sa_stored_row(const sa_stored_agent *agent, uint64_t run, size_t *row) {
    for (size_t i = 0; i < agent->runs; i++)
        if (agent->run[i] == run) {
            *row = i;
            return true;
        }
    return false;
}

sa_status sa_stored_room(sa_stored_agent *agent, size_t runs, size_t rounds) {
    bool clicks = agent->options->clicks != SA_CLICKS_NONE;
    agent->rounds = rounds;
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
        if (kind != SA_CURVE_CLICKS || clicks)
            SA_TRY(sa_alloc_matrix(runs, rounds, sizeof(double), &agent->curve[kind]));
    SA_TRY(sa_alloc_array(runs, sizeof *agent->run, &agent->run));
    SA_TRY(sa_alloc_array(runs, sizeof *agent->stats, &agent->stats));
    return sa_alloc_array(runs, sizeof *agent->session, &agent->session);
}

/* ---- what is missing ---- */

size_t sa_stored_missing(const sa_stored *stored) {
    size_t missing = 0;
    for (size_t i = 0; i < stored->agent_count; i++) missing += stored->wanted - stored->agents[i].runs;
    return missing;
}

static void add_missing(sa_buffer *buffer, const sa_stored *stored, const sa_stored_agent *agent) {
    size_t row = 0;
    const char *join = agent->label;
    for (uint64_t run = stored->first_run; run < stored->first_run + stored->wanted; run++) {
        uint64_t first = run;
        while (run < stored->first_run + stored->wanted && !(row < agent->runs && agent->run[row] == run))
            run++;
        row++; /* of the run that was found */
        if (run == first) continue;
        sa_buffer_text(buffer, join);
        join = ",";
        if (run - first == 1)
            sa_buffer_format(buffer, " run %" PRIu64, first);
        else
            sa_buffer_format(buffer, " runs %" PRIu64 " to %" PRIu64, first, run - 1);
    }
}

sa_status sa_stored_missing_text(const sa_stored *stored, char **text) {
    enum { SHOWN = 8 };
    sa_buffer buffer = {0};
    size_t agents = 0;
    sa_buffer_text(&buffer, "");
    for (size_t i = 0; i < stored->agent_count; i++) {
        const sa_stored_agent *agent = &stored->agents[i];
        if (agent->runs == stored->wanted || agents++ >= SHOWN) continue;
        if (agents > 1) sa_buffer_text(&buffer, "; ");
        add_missing(&buffer, stored, agent);
    }
    if (agents > SHOWN) sa_buffer_format(&buffer, "; and of %zu other agents", agents - SHOWN);
    *text = buffer.text;
    return buffer.status;
}

/* ---- spec.yaml ---- */

static sa_status take_agents(sa_stored *stored) {
    sa_plan_agent *agents = NULL;
    size_t count = 0;
    SA_TRY(sa_spec_resolve(stored->spec, stored->spec->options, SA_EVERY_GROUP, &agents, &count));
    sa_status status = sa_alloc_array(count, sizeof *stored->agents, &stored->agents);
    for (size_t i = 0; status == SA_OK && i < count; i++) {
        sa_stored_agent *agent = &stored->agents[stored->agent_count++];
        agent->options = agents[i].options;
        agent->label = agents[i].label;
        agent->cell = agents[i].cell;
        agents[i].options = NULL;
        agents[i].label = NULL;
    }
    sa_plan_agents_destroy(agents, count);
    return status;
}

static sa_status read_spec(sa_stored *stored, const char *folder) {
    char *path;
    stored->spec = sa_experiment_new();
    if (!stored->spec) return SA_OUT_OF_MEMORY;
    SA_TRY(sa_format(&path, "%s/spec.yaml", folder));
    sa_status status = sa_experiment_read(stored->spec, path);
    sa_free(path);
    SA_TRY(status);
    stored->first_run = (uint64_t)stored->spec->options->first_run;
    stored->wanted = (size_t)stored->spec->options->runs;
    return take_agents(stored);
}

/* ---- the files of a label ---- */

static sa_status check_curves(const sa_array *array, size_t runs, size_t rounds, const char *path) {
    if (array->type != SA_FLOAT64 || array->axes != 2 || array->shape[0] != runs || array->shape[1] != rounds)
        return sa_fail(SA_FORMAT, "%s is not of shape (%zu, %zu) and float64, as summary.json has it", path,
                       runs, rounds);
    for (size_t i = 0; i < runs * rounds; i++)
        if (!isfinite(((const double *)array->data)[i]))
            return sa_fail(SA_FORMAT, "%s: row %zu, round %zu is not finite", path, i / rounds,
                           i % rounds + 1);
    return SA_OK;
}

static sa_status read_curves(const sa_stored_agent *agent, const char *folder) {
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++) {
        char *path;
        sa_array array = {0};
        if (!agent->curve[kind]) continue;
        SA_TRY(sa_format(&path, "%s/%s/%s.npy", folder, agent->label, sa_curve_name(kind)));
        sa_status status = sa_npy_read(path, &array);
        if (status == SA_OK) status = check_curves(&array, agent->runs, agent->rounds, path);
        if (status == SA_OK) memcpy(agent->curve[kind], array.data, sa_array_count(&array) * sizeof(double));
        sa_array_clear(&array);
        sa_free(path);
        SA_TRY(status);
    }
    return SA_OK;
}

/* What older versions did not keep of each run. */
static sa_status read_later(sa_npz *archive, sa_stored_agent *agent) {
    const size_t runs = agent->runs;
    for (int k = -1; k < SA_MIXTURE_COUNT; k++) {
        const char *name = k < 0 ? "unproven_rounds" : sa_mixture_name(k);
        sa_array array = {0};
        if (!sa_npz_has(archive, name)) continue;
        SA_TRY(sa_npz_get_exactly(archive, name, k < 0 ? SA_INT64 : SA_FLOAT64, 1, &runs, &array));
        for (size_t i = 0; i < runs; i++)
            if (k < 0)
                agent->stats[i].unproven_rounds = (uint64_t)sa_array_number(&array, i);
            else
                *sa_mixture_at(&agent->stats[i].mixture, k) = sa_array_number(&array, i);
        sa_array_clear(&array);
    }
    return SA_OK;
}

/* runs.npz; of a folder that an older version wrote, which has none, what the summary has of all runs. */
static sa_status read_runs(const sa_stored *stored, sa_stored_agent *agent, const sa_run_stats *mean,
                           const char *path) {
    const size_t runs = agent->runs;
    sa_npz *archive;
    sa_array array[10] = {0};
    static const char *const names[] = {
        "run",           "session",        "seconds",     "select_seconds", "update_seconds",
        "train_seconds", "replay_seconds", "certificate", "peak_bytes",     "diverged_trainings"};
    if (!sa_file_exists(path)) {
        for (size_t i = 0; i < runs; i++) {
            agent->run[i] = stored->first_run + i;
            agent->stats[i] = *mean;
            agent->stats[i].diverged_trainings = i ? 0 : mean->diverged_trainings;
        }
        return SA_OK;
    }
    SA_TRY(sa_npz_open(path, &archive));
    sa_status status = SA_OK;
    for (size_t k = 0; status == SA_OK && k < 10; k++)
        status = sa_npz_get_exactly(archive, names[k], k >= 2 && k < 8 ? SA_FLOAT64 : SA_INT64, 1, &runs,
                                    &array[k]);
    for (size_t i = 0; status == SA_OK && i < runs; i++) {
        double number[10];
        for (size_t k = 0; k < 10; k++) number[k] = sa_array_number(&array[k], i);
        agent->run[i] = (uint64_t)number[0];
        agent->session[i] = (size_t)number[1];
        agent->stats[i] = (sa_run_stats){.seconds = number[2],
                                         .select_seconds = number[3],
                                         .update_seconds = number[4],
                                         .train_seconds = number[5],
                                         .replay_seconds = number[6],
                                         .certificate = number[7],
                                         .peak_bytes = (uint64_t)number[8],
                                         .diverged_trainings = (uint64_t)number[9],
                                         .mixture = SA_NO_MIXTURE};
        if (number[0] < 0 || (i > 0 && agent->run[i] <= agent->run[i - 1]) ||
            agent->session[i] >= json_array_size(stored->sessions))
            status =
                sa_fail(SA_FORMAT, "%s: its runs are not in order, or of no session of summary.json", path);
    }
    for (size_t k = 0; k < 10; k++) sa_array_clear(&array[k]);
    if (status == SA_OK) status = read_later(archive, agent);
    sa_npz_close(archive);
    return status;
}

/* ---- summary.json ---- */

/* null where there is none, and missing in folders of older versions. */
static sa_status take_certificate(const char *label, const json_t *object, const char *path, double *out) {
    const json_t *value = json_object_get(object, "certificate");
    *out = json_is_number(value) ? json_number_value(value) : 0;
    if (!value || json_is_null(value) || *out >= 1) return SA_OK;
    return sa_fail(SA_FORMAT, "%s: the certificate of agent %s is not a number of at least 1", path, label);
}

static sa_status take_summary(sa_stored *stored, sa_stored_agent *agent, const json_t *summary,
                              const char *folder, const char *path) {
    json_t *object = json_object_get(json_object_get(summary, "agents"), agent->label);
    json_int_t runs = 0, rounds = 0, peak = 0, diverged = 0;
    sa_run_stats mean = {.mixture = SA_NO_MIXTURE};
    char *own;
    if (!object && json_is_false(json_object_get(summary, "complete"))) return SA_OK;
    if (!object) return sa_fail(SA_FORMAT, "%s has no agent %s, which spec.yaml has", path, agent->label);
    if (json_unpack(object, "{s:I, s:I, s:F, s?F, s?F, s?F, s?F, s:I, s:I}", "runs", &runs, "rounds", &rounds,
                    "seconds_per_run", &mean.seconds, "select_seconds", &mean.select_seconds,
                    "update_seconds", &mean.update_seconds, "train_seconds", &mean.train_seconds,
                    "replay_seconds", &mean.replay_seconds, "peak_bytes", &peak, "diverged_trainings",
                    &diverged) ||
        peak < 0 || diverged < 0 || runs < 0 || rounds < 1)
        return sa_fail(SA_FORMAT, "%s has no runs, rounds, times and counts of agent %s", path, agent->label);
    if ((uint64_t)runs > stored->wanted)
        return sa_fail(SA_FORMAT, "%s has %" PRId64 " runs of agent %s, and spec.yaml %" PRIu64, path,
                       (int64_t)runs, agent->label, stored->wanted);
    mean.peak_bytes = (uint64_t)peak;
    mean.diverged_trainings = (uint64_t)diverged;
    SA_TRY(take_certificate(agent->label, object, path, &mean.certificate));
    SA_TRY(sa_stored_room(agent, stored->wanted, (size_t)rounds));
    agent->runs = (size_t)runs;
    if (runs == 0) return SA_OK;
    SA_TRY(sa_format(&own, "%s/%s/runs.npz", folder, agent->label));
    sa_status status = read_runs(stored, agent, &mean, own);
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

static sa_status read_summary(sa_stored *stored, const char *folder, const char *path) {
    char *text;
    size_t size;
    json_error_t error;
    SA_TRY(sa_file_read(path, &text, &size));
    json_t *summary = json_loadb(text, size, 0, &error);
    sa_free(text);
    if (!summary) return sa_fail(SA_FORMAT, "%s:%d: %s", path, error.line, error.text);
    sa_status status = check_format(summary, path);
    const json_t *sessions = json_object_get(summary, "sessions");
    for (size_t i = 0; i < json_array_size(sessions); i++)
        json_array_append(stored->sessions, json_array_get(sessions, i));
    if (!sessions)
        json_array_append_new(stored->sessions,
                              json_object()); /* an older version, of which nothing is known */
    for (size_t i = 0; status == SA_OK && i < stored->agent_count; i++)
        status = take_summary(stored, &stored->agents[i], summary, folder, path);
    json_decref(summary);
    return status;
}

/* ---- parts ---- */

/* Its index, once it is among them. */
static size_t session_index(json_t *sessions, const char *text) {
    json_t *session = json_loads(text, 0, NULL);
    size_t count = json_array_size(sessions);
    if (!session) session = json_object(); /* an older version, of which nothing is known */
    for (size_t i = 0; i < count; i++)
        if (json_equal(json_array_get(sessions, i), session)) {
            json_decref(session);
            return i;
        }
    json_array_append_new(sessions, session);
    return count;
}

/* Where the run belongs; rows behind it move. */
static size_t insert_row(sa_stored_agent *agent, uint64_t run) {
    size_t row = 0, rounds = agent->rounds;
    while (row < agent->runs && agent->run[row] < run) row++;
    size_t behind = agent->runs - row;
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++) {
        double *at = agent->curve[kind] ? agent->curve[kind] + row * rounds : NULL;
        if (at) memmove(at + rounds, at, behind * rounds * sizeof *at);
    }
    memmove(agent->run + row + 1, agent->run + row, behind * sizeof *agent->run);
    memmove(agent->stats + row + 1, agent->stats + row, behind * sizeof *agent->stats);
    memmove(agent->session + row + 1, agent->session + row, behind * sizeof *agent->session);
    agent->run[row] = run;
    agent->runs++;
    return row;
}

static void remove_row(sa_stored_agent *agent, size_t row) {
    size_t rounds = agent->rounds, behind = --agent->runs - row;
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++) {
        double *at = agent->curve[kind] ? agent->curve[kind] + row * rounds : NULL;
        if (at) memmove(at, at + rounds, behind * rounds * sizeof *at);
    }
    memmove(agent->run + row, agent->run + row + 1, behind * sizeof *agent->run);
    memmove(agent->stats + row, agent->stats + row + 1, behind * sizeof *agent->stats);
    memmove(agent->session + row, agent->session + row + 1, behind * sizeof *agent->session);
}

static sa_status take_part(sa_stored *stored, sa_stored_agent *agent, uint64_t run, const char *path) {
    size_t rounds;
    char *session = NULL;
    double *row_of[SA_CURVE_COUNT] = {0};
    sa_run_stats stats;
    if (!agent->run) {
        if (sa_part_rounds(path, &rounds) != SA_OK || rounds == 0) return SA_OK;
        SA_TRY(sa_stored_room(agent, stored->wanted, rounds));
    }
    size_t row = insert_row(agent, run);
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
        if (agent->curve[kind]) row_of[kind] = agent->curve[kind] + row * agent->rounds;
    if (sa_part_read(path, row_of, agent->rounds, &stats, &session) !=
        SA_OK) { /* damaged: its run is done again */
        remove_row(agent, row);
        return SA_OK;
    }
    agent->stats[row] = stats;
    agent->session[row] = session_index(stored->sessions, session);
    sa_free(session);
    return SA_OK;
}

static sa_status read_parts(sa_stored *stored, const char *parts) {
    for (size_t i = 0; i < stored->agent_count; i++)
        for (uint64_t run = stored->first_run; run < stored->first_run + stored->wanted; run++) {
            size_t row;
            char *path;
            if (sa_stored_row(&stored->agents[i], run, &row)) continue;
            SA_TRY(sa_part_path(parts, stored->agents[i].label, run, "npz", &path));
            sa_status status =
                sa_file_exists(path) ? take_part(stored, &stored->agents[i], run, path) : SA_OK;
            stored->has_parts = true;
            sa_free(path);
            SA_TRY(status);
        }
    return SA_OK;
}

/* ---- the folder ---- */

sa_status sa_stored_read(const char *folder, sa_stored *out) {
    sa_stored stored = {.sessions = json_array()};
    char *summary = NULL, *parts = NULL;
    sa_status status = stored.sessions ? SA_OK : SA_OUT_OF_MEMORY;
    if (status != SA_OK) goto fail;
    SA_TRY_OR_FAIL(sa_format(&summary, "%s/summary.json", folder));
    SA_TRY_OR_FAIL(sa_format(&parts, "%s/parts", folder));
    SA_TRY_OR_FAIL(read_spec(&stored, folder));
    if (sa_file_exists(summary)) SA_TRY_OR_FAIL(read_summary(&stored, folder, summary));
    if (sa_file_exists(parts)) SA_TRY_OR_FAIL(read_parts(&stored, parts));
    *out = stored;
    stored = (sa_stored){0};
fail:
    sa_stored_clear(&stored);
    sa_free(parts);
    sa_free(summary);
    return status;
}
