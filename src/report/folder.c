/* One result folder: spec.yaml says what was done, summary.json how long it took, the npy files of each label what came of
 * it. Nothing is believed: shapes, counts and numbers must fit together. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/npy.h"
#include "report/report.h"

static void agent_clear(sa_report_agent *agent) {
    for (int kind = 0; kind < SA_REPORT_KINDS; kind++) {
        sa_curve_clear(&agent->curve[kind]);
        sa_free(agent->total[kind]);
    }
    sa_options_destroy(agent->options);
    sa_free(agent->name);
    sa_free(agent->label);
}

void sa_panel_clear(sa_report_panel *panel) {
    for (size_t i = 0; i < panel->agent_count; i++) agent_clear(&panel->agents[i]);
    sa_free(panel->agents);
    sa_options_destroy(panel->options);
    for (size_t i = 0; i < panel->folder_count; i++) sa_free(panel->folders[i]);
    sa_free(panel->folders);
    sa_free(panel->range);
    sa_free(panel->title);
    sa_free(panel->name);
    *panel = (sa_report_panel){0};
}

/* ---- spec.yaml ---- */

static sa_status take_agents(sa_report_panel *panel, const sa_experiment *experiment) {
    sa_plan_agent *agents = NULL;
    size_t count = 0;
    SA_TRY(sa_spec_resolve(experiment, experiment->options, &agents, &count));
    sa_status status = sa_alloc_array(count, sizeof *panel->agents, &panel->agents);
    for (size_t i = 0; status == SA_OK && i < count; i++) {
        sa_report_agent *agent = &panel->agents[panel->agent_count++];
        agent->options = agents[i].options;
        agent->label = agents[i].label;
        agents[i].options = NULL;
        agents[i].label = NULL;
    }
    sa_plan_agents_destroy(agents, count);
    return status;
}

static sa_status read_spec(sa_report_panel *panel, const char *path) {
    sa_experiment *experiment = sa_experiment_new();
    if (!experiment) return SA_OUT_OF_MEMORY;
    sa_status status = sa_experiment_read(experiment, path);
    if (status == SA_OK && !(panel->options = sa_options_copy(experiment->options))) status = SA_OUT_OF_MEMORY;
    if (status == SA_OK) status = take_agents(panel, experiment);
    sa_experiment_destroy(experiment);
    SA_TRY(status);
    panel->runs = (size_t)panel->options->runs;
    panel->rounds = (size_t)panel->options->rounds;
    panel->range[0] = (sa_run_range){(uint64_t)panel->options->first_run, panel->runs};
    return SA_OK;
}

/* ---- summary.json ---- */

/* null where there is none, and missing in folders of older versions. */
static sa_status take_certificate(sa_report_agent *agent, const json_t *object, const char *path) {
    const json_t *value = json_object_get(object, "certificate");
    agent->certificate = json_is_number(value) ? json_number_value(value) : NAN;
    if (!value || json_is_null(value) || agent->certificate >= 1) return SA_OK;
    return sa_fail(SA_FORMAT, "%s: the certificate of agent %s is not a number of at least 1", path, agent->label);
}

static sa_status take_summary(const sa_report_panel *panel, sa_report_agent *agent, const json_t *agents,
                              const char *path) {
    json_t *object = json_object_get(agents, agent->label);
    json_int_t runs = 0, rounds = 0, peak = 0, diverged = 0;
    if (!object) return sa_fail(SA_FORMAT, "%s has no agent %s, which spec.yaml has", path, agent->label);
    if (json_unpack(object, "{s:I, s:I, s:F, s:I, s:I}", "runs", &runs, "rounds", &rounds, "seconds_per_run",
                    &agent->seconds, "peak_bytes", &peak, "diverged_trainings", &diverged) ||
        peak < 0 || diverged < 0)
        return sa_fail(SA_FORMAT, "%s has no runs, rounds, times and counts of agent %s", path, agent->label);
    if (runs != (json_int_t)panel->runs || rounds != (json_int_t)panel->rounds)
        return sa_fail(SA_FORMAT, "%s has %" PRId64 " runs of %" PRId64 " rounds of agent %s, and spec.yaml %zu of %zu",
                       path, (int64_t)runs, (int64_t)rounds, agent->label, panel->runs, panel->rounds);
    agent->peak_bytes = (uint64_t)peak;
    agent->diverged_trainings = (uint64_t)diverged;
    return take_certificate(agent, object, path);
}

static sa_status check_format(const json_t *summary, const char *path) {
    const json_t *format = json_object_get(summary, "format"), *agents = json_object_get(summary, "agents");
    if (format && !json_is_integer(format)) return sa_fail(SA_FORMAT, "%s: \"format\" is not an integer", path);
    if (json_integer_value(format) > SA_SUMMARY_FORMAT)
        return sa_fail(SA_NEWER, "%s is of format %" PRId64 ", written by a newer version; this one reads up to %d", path,
                       (int64_t)json_integer_value(format), SA_SUMMARY_FORMAT);
    return json_is_object(agents) ? SA_OK : sa_fail(SA_FORMAT, "%s has no \"agents\"", path);
}

static sa_status read_summary(sa_report_panel *panel, const char *path) {
    char *text;
    size_t size;
    json_error_t error;
    SA_TRY(sa_file_read(path, &text, &size));
    json_t *summary = json_loadb(text, size, 0, &error);
    sa_free(text);
    if (!summary) return sa_fail(SA_FORMAT, "%s:%d: %s", path, error.line, error.text);
    sa_status status = check_format(summary, path);
    for (size_t i = 0; status == SA_OK && i < panel->agent_count; i++)
        status = take_summary(panel, &panel->agents[i], json_object_get(summary, "agents"), path);
    json_decref(summary);
    return status;
}

/* ---- the npy files ---- */

static sa_status check_numbers(const double *curves, size_t runs, size_t rounds, const char *path) {
    for (size_t i = 0; i < runs * rounds; i++)
        if (!isfinite(curves[i]))
            return sa_fail(SA_FORMAT, "%s: row %zu, round %zu is not finite", path, i / rounds, i % rounds + 1);
    return SA_OK;
}

static sa_status read_total(const sa_report_panel *panel, const char *path, double **out) {
    sa_array array = {0};
    SA_TRY(sa_npy_read(path, &array));
    sa_status status = SA_OK;
    if (array.type != SA_FLOAT64 || array.axes != 2 || array.shape[0] != panel->runs || array.shape[1] != panel->rounds)
        status = sa_fail(SA_FORMAT, "%s is not of shape (%zu, %zu) and float64, as spec.yaml has it", path, panel->runs,
                         panel->rounds);
    if (status == SA_OK) status = check_numbers(array.data, panel->runs, panel->rounds, path);
    if (status == SA_OK) {
        *out = array.data;
        array.data = NULL;
    }
    sa_array_clear(&array);
    return status;
}

static sa_status read_totals(const sa_report_panel *panel, const char *folder) {
    static const char *const files[SA_REPORT_KINDS] = {"expected_regret", "realised_regret", "clicks"};
    for (size_t i = 0; i < panel->agent_count; i++)
        for (int kind = 0; kind < sa_panel_kinds(panel); kind++) {
            char *path;
            SA_TRY(sa_format(&path, "%s/%s/%s.npy", folder, panel->agents[i].label, files[kind]));
            sa_status status = read_total(panel, path, &panel->agents[i].total[kind]);
            sa_free(path);
            SA_TRY(status);
        }
    return SA_OK;
}

/* ---- the folder ---- */

static sa_status check_there(const char *folder, const char *spec, const char *summary) {
    struct stat about;
    if (stat(folder, &about)) return sa_fail_errno("read", folder);
    if (!S_ISDIR(about.st_mode)) return sa_fail(SA_INVALID, "%s is not a folder", folder);
    if (sa_folder_is_empty(folder)) return sa_fail(SA_INVALID, "%s is empty", folder);
    if (!sa_file_exists(spec))
        return sa_fail(SA_INVALID, "%s has no spec.yaml, so it is not the folder of an experiment", folder);
    if (!sa_file_exists(summary))
        return sa_fail(SA_INVALID, "%s is not finished, for it has no summary.json; --resume goes on with it", folder);
    return SA_OK;
}

/* "results/h1/" is called h1, and "." or "/" what it is called from outside is not known: experiment. */
static sa_status name_folder(const char *folder, char **name) {
    size_t end = strlen(folder), start;
    while (end > 0 && folder[end - 1] == '/') end--;
    for (start = end; start > 0 && folder[start - 1] != '/';) start--;
    if (end == start || folder[end - 1] == '.') return sa_copy_text("experiment", name);
    return sa_format(name, "%.*s", (int)(end - start), folder + start);
}

static sa_status begin(sa_report_panel *panel, const char *folder) {
    SA_TRY(name_folder(folder, &panel->name));
    SA_TRY(sa_alloc_array(1, sizeof *panel->folders, &panel->folders));
    SA_TRY(sa_alloc_array(1, sizeof *panel->range, &panel->range));
    SA_TRY(sa_copy_text(folder, &panel->folders[0]));
    panel->folder_count = 1;
    return SA_OK;
}

sa_status sa_panel_read(const char *folder, sa_report_panel *out) {
    sa_report_panel panel = {0};
    char *spec = NULL, *summary = NULL;
    sa_status status;
    SA_TRY_OR_FAIL(sa_format(&spec, "%s/spec.yaml", folder));
    SA_TRY_OR_FAIL(sa_format(&summary, "%s/summary.json", folder));
    SA_TRY_OR_FAIL(check_there(folder, spec, summary));
    SA_TRY_OR_FAIL(begin(&panel, folder));
    SA_TRY_OR_FAIL(read_spec(&panel, spec));
    SA_TRY_OR_FAIL(read_summary(&panel, summary));
    SA_TRY_OR_FAIL(read_totals(&panel, folder));
    *out = panel;
    panel = (sa_report_panel){0};
fail:
    sa_panel_clear(&panel);
    sa_free(summary);
    sa_free(spec);
    return status;
}
