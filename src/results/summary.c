#include "results/summary.h"

#include <math.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "options/presets.h"
#include "results/display.h"
#include "results/provenance.h"
#include "results/statistics.h"
#include "spec/spec_presets.h"
#include "spec/values.h"
#include <superarm/superarm.h>

/* {"gamma": 0.3, ...}: numbers and flags bare, texts, choices and a number that is `theory` in quotes. Those
 * of an agent, and what the grid varies; or, without a grid, those for all. */
static void add_options(sa_buffer *buffer, const sa_options *options, const sa_grid *grid,
                        const char *indent) {
    char value[SA_VALUE_SIZE];
    sa_option_info info;
    const char *comma = "";
    sa_buffer_text(buffer, "{");
    for (size_t i = 0; sa_option_at(i, &info); i++) {
        if (info.scope == SA_SCOPE_OUTPUT) continue;
        if (grid && info.scope != SA_SCOPE_AGENT && !sa_grid_has(grid, info.name)) continue;
        if (sa_options_get(options, info.name, value, sizeof value) != SA_OK) {
            buffer->status = SA_INVALID;
            return;
        }
        sa_buffer_format(buffer, "%s\n%s  \"%s\": ", comma, indent, info.name);
        bool is_word = info.choices && !strcmp(value, info.choices);
        if (!strcmp(info.kind, "text") || !strcmp(info.kind, "path") || !strcmp(info.kind, "choice") ||
            is_word)
            sa_buffer_quote(buffer, value);
        else
            sa_buffer_text(buffer, value);
        comma = ",";
    }
    sa_buffer_format(buffer, "\n%s}", indent);
}

static void add_mean(sa_buffer *buffer, sa_curve_kind kind, const sa_mean *mean) {
    sa_buffer_format(buffer, "      \"%s\": {\"mean\": ", sa_curve_name(kind));
    sa_buffer_number(buffer, mean->mean, 0);
    sa_buffer_text(buffer, ", \"sd\": ");
    sa_buffer_number(buffer, mean->sd, 0);
    sa_buffer_text(buffer, ", \"ci95\": [");
    sa_buffer_number(buffer, mean->low, 0);
    sa_buffer_text(buffer, ", ");
    sa_buffer_number(buffer, mean->high, 0);
    sa_buffer_text(buffer, "]");
    if (kind == SA_CURVE_EXPECTED || kind == SA_CURVE_REALISED) {
        sa_buffer_text(buffer, ", \"worst\": ");
        sa_buffer_number(buffer, mean->worst, 0);
    }
    sa_buffer_text(buffer, "},\n");
}

/* The columns that have a name here: "seconds_per_run": 0.5, "mixture": {"a": 0.1, ...}, "peak_bytes": 100 */
static void add_columns(sa_buffer *buffer, const sa_totals *totals) {
    const char *between = "", *object = NULL; /* the one that is open: its name and the dot */
    for (size_t k = 0; k < SA_COLUMN_COUNT; k++) {
        const sa_column *column = &sa_columns[k];
        double number = totals->column[k];
        const char *dot = strchr(column->json, '.');
        size_t size = dot ? (size_t)(dot + 1 - column->json) : 0;
        if (!*column->json || (column->kind == SA_KIND_OF_NUMBER && isnan(number))) continue;
        bool inside = object && dot && !strncmp(object, column->json, size);
        if (object && !inside) sa_buffer_text(buffer, "}");
        sa_buffer_text(buffer, inside ? ", " : between);
        if (dot && !inside) sa_buffer_format(buffer, "      \"%.*s\": {", (int)size - 1, column->json);
        sa_buffer_format(buffer, "%s\"%s\": ", dot ? "" : "      ", column->json + size);
        if (column->kind <= SA_KIND_OF_BYTES && column->over != SA_OVER_MEAN)
            sa_buffer_format(buffer, "%.0f", number);
        else
            sa_buffer_number(buffer, number, column->kind == SA_KIND_OF_FACTOR ? 0 : 6);
        object = dot ? column->json : NULL;
        between = ",\n";
    }
    sa_buffer_text(buffer, object ? "}\n    }" : "\n    }");
}

/* What regret is measured against: see sa_regret_note. */
static void add_regret(sa_buffer *buffer, const sa_agent_runs *agent, double unproven) {
    sa_buffer_text(buffer, "      \"regret\": {\"alpha\": ");
    sa_buffer_number(buffer, sa_regret_alpha(agent->options, unproven > 0), 0);
    sa_buffer_format(buffer, ", \"against\": \"%s\", \"unproven_rounds\": %.0f},\n",
                     unproven > 0 ? "oracle" : "best", unproven);
}

static void add_agent(sa_buffer *buffer, const sa_results *results, const sa_agent_runs *agent) {
    sa_totals total = sa_agent_totals(agent);
    char *display = NULL;
    if (sa_agent_display(agent->label, agent->options, &display) != SA_OK) buffer->status = SA_OUT_OF_MEMORY;
    sa_buffer_text(buffer, "    ");
    sa_buffer_quote(buffer, agent->label);
    sa_buffer_text(buffer, ": {\n      \"algorithm\": ");
    sa_buffer_quote(buffer, agent->options->algorithm);
    sa_buffer_text(buffer, ",\n      \"display\": ");
    sa_buffer_quote(buffer, display ? display : "");
    sa_free(display);
    sa_buffer_text(buffer, ",\n      \"preset\": \"");
    sa_spec_add_preset(buffer, agent->options->preset);
    sa_buffer_text(buffer, "\"");
    sa_buffer_text(buffer, ",\n      \"options\": ");
    add_options(buffer, agent->options, &results->spec->grid, "      ");
    sa_buffer_format(buffer, ",\n      \"runs\": %zu,\n      \"rounds\": %zu,\n", agent->runs, agent->rounds);
    if (total.alike) sa_buffer_text(buffer, "      \"alike\": true,\n");
    add_regret(buffer, agent, total.unproven_rounds);
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
        if (agent->curve[kind] && kind != SA_CURVE_REWARD) add_mean(buffer, kind, &total.final[kind]);
    add_columns(buffer, &total);
}

static void add_json(sa_buffer *buffer, const json_t *value) {
    char *text = NULL;
    sa_status status = sa_json_text(value, &text);
    if (status == SA_OK)
        sa_buffer_text(buffer, text);
    else
        buffer->status = status;
    sa_free(text);
}

/* {"gamma": ["0.1", "1"]} */
static void add_grid(sa_buffer *buffer, const sa_grid *grid) {
    sa_buffer_text(buffer, "  \"grid\": {");
    for (size_t i = 0; i < grid->count; i++) {
        sa_buffer_format(buffer, "%s\"%s\": [", i ? ", " : "", grid->axes[i].name);
        for (size_t k = 0; k < grid->axes[i].count; k++) {
            sa_buffer_text(buffer, k ? ", " : "");
            sa_buffer_quote(buffer, grid->axes[i].values[k]);
        }
        sa_buffer_text(buffer, "]");
    }
    sa_buffer_text(buffer, "},\n");
}

static void add_sessions(sa_buffer *buffer, const json_t *sessions) {
    sa_buffer_text(buffer, "  \"sessions\": [");
    for (size_t i = 0; i < json_array_size(sessions); i++) {
        sa_buffer_text(buffer, i ? ",\n    " : "\n    ");
        add_json(buffer, json_array_get(sessions, i));
    }
    sa_buffer_text(buffer, "\n  ],\n");
}

/* {"tuned-2": {"init": "uniform", ...}}: what no option sets. */
static void add_settings(sa_buffer *buffer, const sa_results *results) {
    bool used[sa_preset_count] = {0};
    char value[256];
    const char *name, *between = "";
    for (size_t i = 0; i < results->agent_count; i++) used[results->agents[i].options->preset] = true;
    sa_buffer_text(buffer, "  \"settings\": {");
    for (int preset = 0; preset < sa_preset_count; preset++) {
        if (!used[preset]) continue;
        sa_buffer_format(buffer, "%s\"", between);
        sa_spec_add_preset(buffer, preset);
        sa_buffer_text(buffer, "\": {");
        for (size_t i = 0; sa_preset_setting(preset, i, &name, value, sizeof value); i++) {
            sa_buffer_format(buffer, "%s\"%s\": ", i ? ", " : "", name);
            sa_buffer_quote(buffer, value);
        }
        sa_buffer_text(buffer, "}");
        between = ", ";
    }
    sa_buffer_text(buffer, "},\n");
}

sa_status sa_summary_write(const sa_results *results, const char *path) {
    sa_buffer buffer = {0};
    size_t missing = sa_results_missing(results);
    sa_buffer_format(&buffer, "{\n  \"version\": \"%s\",\n  \"format\": %d,\n  \"complete\": %s,\n",
                     sa_version(), SA_SUMMARY_FORMAT, missing ? "false" : "true");
    if (missing) sa_buffer_format(&buffer, "  \"missing_runs\": %zu,\n", missing);
    add_sessions(&buffer, results->sessions);
    if (results->spec->grid.count > 0) add_grid(&buffer, &results->spec->grid);
    add_settings(&buffer, results);
    sa_buffer_text(&buffer, "  \"options\": ");
    add_options(&buffer, results->options, NULL, "  ");
    sa_buffer_text(&buffer, ",\n  \"agents\": {\n");
    const char *comma = "";
    for (size_t i = 0; i < results->agent_count; i++) {
        if (results->agents[i].runs == 0) continue; /* which is then not complete */
        sa_buffer_text(&buffer, comma);
        comma = ",\n";
        add_agent(&buffer, results, &results->agents[i]);
    }
    sa_buffer_text(&buffer, "\n  }\n}\n");
    sa_status status = buffer.status;
    if (status == SA_OK) status = sa_file_write(path, buffer.text, buffer.size);
    sa_buffer_clear(&buffer);
    return status;
}
