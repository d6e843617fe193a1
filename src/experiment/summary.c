/* DIR/summary.json: what came of the experiment, for people and scripts. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "experiment/experiment.h"

enum { VALUE_SIZE = 16384 };

/* ---- writing ---- */

/* {"gamma": 0.3, ...}: numbers and flags bare, texts, choices and a number that is `theory` in quotes. */
static void add_options(sa_buffer *buffer, const sa_options *options, bool agent_only, const char *indent) {
    char value[VALUE_SIZE];
    sa_option_info info;
    const char *comma = "";
    sa_buffer_text(buffer, "{");
    for (size_t i = 0; sa_option_at(i, &info); i++) {
        if (info.scope == SA_SCOPE_OUTPUT || (agent_only && info.scope != SA_SCOPE_AGENT)) continue;
        if (sa_options_get(options, info.name, value, sizeof value) != SA_OK) {
            buffer->status = SA_INVALID;
            return;
        }
        sa_buffer_format(buffer, "%s\n%s  \"%s\": ", comma, indent, info.name);
        bool is_word = info.choices && !strcmp(value, info.choices);
        if (!strcmp(info.kind, "text") || !strcmp(info.kind, "choice") || is_word)
            sa_buffer_quote(buffer, value);
        else
            sa_buffer_text(buffer, value);
        comma = ",";
    }
    sa_buffer_format(buffer, "\n%s}", indent);
}

static void add_mean(sa_buffer *buffer, sa_curve_kind kind, const sa_plan_agent *agent) {
    const sa_mean *mean = &agent->final[kind];
    sa_buffer_format(buffer, "      \"%s\": {\"mean\": ", sa_curve_name(kind));
    sa_buffer_number(buffer, mean->mean, 0);
    sa_buffer_text(buffer, ", \"sd\": ");
    sa_buffer_number(buffer, mean->sd, 0);
    sa_buffer_text(buffer, ", \"ci95\": [");
    sa_buffer_number(buffer, mean->low, 0);
    sa_buffer_text(buffer, ", ");
    sa_buffer_number(buffer, mean->high, 0);
    sa_buffer_text(buffer, "]},\n");
}

static void add_seconds(sa_buffer *buffer, const char *name, double seconds) {
    sa_buffer_format(buffer, "      \"%s\": ", name);
    sa_buffer_number(buffer, seconds, 6);
    sa_buffer_text(buffer, ",\n");
}

static void add_agent(sa_buffer *buffer, const sa_plan *plan, const sa_plan_agent *agent) {
    const sa_run_stats *total = &agent->total;
    sa_buffer_text(buffer, "    ");
    sa_buffer_quote(buffer, agent->label);
    sa_buffer_text(buffer, ": {\n      \"algorithm\": ");
    sa_buffer_quote(buffer, agent->options->algorithm);
    sa_buffer_text(buffer, ",\n      \"options\": ");
    add_options(buffer, agent->options, true, "      ");
    sa_buffer_format(buffer, ",\n      \"runs\": %zu,\n      \"rounds\": %zu,\n", plan->runs, plan->rounds);
    add_mean(buffer, SA_CURVE_EXPECTED, agent);
    add_mean(buffer, SA_CURVE_REALISED, agent);
    if (plan->clicks) add_mean(buffer, SA_CURVE_CLICKS, agent);
    add_seconds(buffer, "seconds_per_run", total->seconds);
    add_seconds(buffer, "select_seconds", total->select_seconds);
    add_seconds(buffer, "update_seconds", total->update_seconds);
    add_seconds(buffer, "train_seconds", total->train_seconds);
    add_seconds(buffer, "replay_seconds", total->replay_seconds);
    sa_buffer_text(buffer, "      \"certificate\": ");
    sa_buffer_number(buffer, total->certificate > 0 ? total->certificate : NAN, 0);
    sa_buffer_text(buffer, ",\n");
    sa_buffer_format(buffer, "      \"peak_bytes\": %" PRIu64 ",\n      \"diverged_trainings\": %" PRIu64 "\n    }",
                     total->peak_bytes, total->diverged_trainings);
}

sa_status sa_summary_write(const sa_plan *plan, const char *path) {
    sa_buffer buffer = {0};
    sa_buffer_format(&buffer, "{\n  \"version\": \"%s\",\n  \"format\": %d,\n  \"options\": ", sa_version(),
                     SA_SUMMARY_FORMAT);
    add_options(&buffer, plan->options, false, "  ");
    sa_buffer_text(&buffer, ",\n  \"agents\": {\n");
    for (size_t i = 0; i < plan->agent_count; i++) {
        if (i > 0) sa_buffer_text(&buffer, ",\n");
        add_agent(&buffer, plan, &plan->agents[i]);
    }
    sa_buffer_text(&buffer, "\n  }\n}\n");
    sa_status status = buffer.status;
    if (status == SA_OK) status = sa_file_write(path, buffer.text, buffer.size);
    sa_buffer_clear(&buffer);
    return status;
}

/* ---- reading ---- */

static sa_status take_agent(sa_plan_agent *agent, json_t *object, const char *path) {
    json_int_t peak = 0, diverged = 0;
    sa_run_stats *total = &agent->total;
    if (json_unpack(object, "{s:F, s:F, s:F, s:F, s?:F, s:I, s:I}", "seconds_per_run", &total->seconds, "select_seconds",
                    &total->select_seconds, "update_seconds", &total->update_seconds, "train_seconds",
                    &total->train_seconds, "replay_seconds", &total->replay_seconds, "peak_bytes", &peak,
                    "diverged_trainings", &diverged))
        return sa_fail(SA_FORMAT, "%s has no times and counts of agent %s", path, agent->label);
    total->peak_bytes = (uint64_t)peak;
    total->diverged_trainings = (uint64_t)diverged;
    total->certificate =
        json_number_value(json_object_get(object, "certificate")); /* 0 where it is null, or of an older version */
    return SA_OK;
}

sa_status sa_summary_read(sa_plan *plan, const char *path) {
    char *text;
    size_t size;
    json_error_t error;
    SA_TRY(sa_file_read(path, &text, &size));
    json_t *summary = json_loadb(text, size, 0, &error);
    sa_status status = summary ? SA_OK : sa_fail(SA_FORMAT, "%s:%d: %s", path, error.line, error.text);
    sa_free(text);
    if (status == SA_OK && json_integer_value(json_object_get(summary, "format")) > SA_SUMMARY_FORMAT)
        status = sa_fail(SA_NEWER, "%s was written by a newer version", path);
    json_t *agents = json_object_get(summary, "agents");
    for (size_t i = 0; status == SA_OK && i < plan->agent_count; i++)
        status = take_agent(&plan->agents[i], json_object_get(agents, plan->agents[i].label), path);
    json_decref(summary);
    return status;
}
