#include "results/spec_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "options/presets.h"
#include "oracle/oracle.h"
#include "results/provenance.h"
#include "spec/problem_option.h"
#include "spec/spec_presets.h"
#include "spec/values.h"
#include <superarm/superarm.h>

static bool same_value(const sa_options *one, const sa_options *two, const char *name, char *value) {
    char other[SA_VALUE_SIZE];
    bool same;
    return sa_options_compare(one, two, name, value, other, &same) == SA_OK && same;
}

static bool repeats(const sa_option_info *info) { return info->scope != SA_SCOPE_OUTPUT; }

/* ---- writing ---- */

static void add_option(sa_buffer *buffer, const char *indent, const sa_option_info *info,
                       const sa_options *options, const char *value) {
    sa_buffer_format(buffer, "%s%s: ", indent, info->name);
    if (!strcmp(info->name, "preset"))
        sa_spec_add_preset(buffer, options->preset);
    else if (!strcmp(info->kind, "text") || !strcmp(info->kind, "path"))
        sa_buffer_quote(buffer, value);
    else
        sa_buffer_text(buffer, value);
    sa_buffer_text(buffer, "\n");
}

/* Is this agent one of those that --algorithm names? Such a one has no options of its own. */
static bool from_list(const sa_results *results, const sa_agent_runs *agent) {
    const sa_options *base = results->options;
    char value[SA_VALUE_SIZE];
    sa_option_info info;
    if (strcmp(agent->label, agent->options->algorithm)) return false;
    for (size_t i = 0; sa_option_at(i, &info); i++)
        if (info.scope == SA_SCOPE_AGENT && strcmp(info.name, "algorithm") &&
            !same_value(agent->options, base, info.name, value))
            return false;
    return true;
}

static void add_base(sa_buffer *buffer, const sa_results *results, bool lists_all) {
    char value[SA_VALUE_SIZE];
    sa_option_info info;
    for (size_t i = 0; sa_option_at(i, &info); i++) {
        if (!repeats(&info) || !strcmp(info.name, "algorithm")) continue;
        if (sa_options_get(results->options, info.name, value, sizeof value) != SA_OK)
            buffer->status = SA_INVALID;
        else
            add_option(buffer, "", &info, results->options, value);
    }
    if (!lists_all) return;
    sa_buffer_text(buffer, "algorithm:\n");
    for (size_t i = 0; i < results->agent_count; i++) {
        sa_buffer_text(buffer, "  - ");
        sa_buffer_quote(buffer, results->agents[i].label);
        sa_buffer_text(buffer, "\n");
    }
}

static void add_agent(sa_buffer *buffer, const sa_results *results, const sa_agent_runs *agent) {
    char value[SA_VALUE_SIZE];
    sa_option_info info;
    sa_buffer_text(buffer, "  ");
    sa_buffer_quote(buffer, agent->label);
    sa_buffer_text(buffer, ":\n");
    for (size_t i = 0; sa_option_at(i, &info); i++)
        if (info.scope == SA_SCOPE_AGENT &&
            (!same_value(agent->options, results->options, info.name, value) ||
             !strcmp(info.name, "algorithm")))
            add_option(buffer, "    ", &info, agent->options, value);
}

/* Did code of the caller's own take part? */
static bool has_own(const sa_results *results) {
    bool own = strcmp(results->options->environment, "own") == 0;
    for (size_t i = 0; i < results->agent_count; i++)
        own = own || !strcmp(results->agents[i].options->algorithm, "own") ||
              results->agents[i].options->oracle == SA_ORACLE_OWN;
    return own;
}

static void add_all(sa_buffer *buffer, const sa_results *results) {
    bool lists_all = true;
    for (size_t i = 0; i < results->agent_count; i++)
        lists_all = lists_all && from_list(results, &results->agents[i]);
    add_base(buffer, results, lists_all);
    if (lists_all) return;
    sa_buffer_text(buffer, "agents:\n");
    for (size_t i = 0; i < results->agent_count; i++) add_agent(buffer, results, &results->agents[i]);
}

/* ---- writing a sweep ---- */

/* A file's value as a path that works from anywhere, with the same last part. */
static void add_value(sa_buffer *buffer, const char *name, const char *value) {
    char here[4096], *path = NULL;
    if (!strcmp(name, "problem")) {
        if (sa_copy_text(value, &path) != SA_OK || sa_problem_text_resolve(&path) != SA_OK)
            buffer->status = SA_OUT_OF_MEMORY;
        sa_buffer_quote(buffer, path ? path : value);
        sa_free(path);
        return;
    }
    bool file = sa_option_is_input(name) && *value && *value != '/' && sa_file_exists(value) &&
                getcwd(here, sizeof here);
    if (file && sa_format(&path, "%s/%s", here, value) != SA_OK) buffer->status = SA_OUT_OF_MEMORY;
    sa_buffer_quote(buffer, path ? path : value);
    sa_free(path);
}

static void add_given(sa_buffer *buffer, const sa_options *options, const char *indent) {
    char value[SA_VALUE_SIZE];
    sa_option_info info;
    for (size_t i = 0; sa_option_at(i, &info); i++) {
        if (!repeats(&info) || !sa_options_given(options, info.name) || !strcmp(info.name, "runs") ||
            !strcmp(info.name, "first-run"))
            continue;
        if (sa_options_get(options, info.name, value, sizeof value) != SA_OK) buffer->status = SA_INVALID;
        sa_buffer_format(buffer, "%s%s: ", indent, info.name);
        if (!strcmp(info.name, "preset"))
            sa_spec_add_preset(buffer, options->preset);
        else
            add_value(buffer, info.name, value);
        sa_buffer_text(buffer, "\n");
    }
}

static void add_sweep(sa_buffer *buffer, const sa_spec *spec, const sa_options *runs) {
    const sa_grid *grid = &spec->grid;
    if (!sa_options_given(spec->options, "preset")) {
        sa_buffer_text(buffer, "preset: ");
        sa_spec_add_preset(buffer, spec->options->preset);
        sa_buffer_text(buffer, "\n");
    }
    add_given(buffer, spec->options, "");
    sa_buffer_format(buffer, "first-run: %lld\nruns: %lld\n", (long long)runs->first_run,
                     (long long)runs->runs);
    if (spec->agent_count > 0) sa_buffer_text(buffer, "agents:\n");
    for (size_t i = 0; i < spec->agent_count; i++) {
        sa_buffer_text(buffer, "  ");
        sa_buffer_quote(buffer, spec->agents[i].label);
        sa_buffer_text(buffer, ":\n");
        add_given(buffer, spec->agents[i].own, "    ");
    }
    sa_buffer_text(buffer, "grid:\n");
    for (size_t i = 0; i < grid->count; i++) {
        sa_buffer_format(buffer, "  %s: [", grid->axes[i].name);
        for (size_t k = 0; k < grid->axes[i].count; k++) {
            sa_buffer_text(buffer, k ? ", " : "");
            add_value(buffer, grid->axes[i].name, grid->axes[i].values[k]);
        }
        sa_buffer_text(buffer, "]\n");
    }
}

/* The presets that take part. */
static void add_settings(sa_buffer *buffer, const sa_results *results) {
    const sa_grid *grid = &results->spec->grid;
    bool used[sa_preset_count] = {0};
    used[results->options->preset] = true;
    for (size_t i = 0; i < results->agent_count; i++) used[results->agents[i].options->preset] = true;
    for (size_t i = 0; i < grid->count; i++) /* whose cells are in other plans, too */
        for (size_t k = 0; !strcmp(grid->axes[i].name, "preset") && k < grid->axes[i].count; k++)
            for (int preset = 0; preset < sa_preset_count; preset++)
                used[preset] = used[preset] || !strcmp(grid->axes[i].values[k], sa_preset_name(preset));
    sa_spec_add_settings(buffer, used);
}

/* Many shards would write the same. */
static bool is_written(const char *path, const sa_buffer *buffer) {
    char *text = NULL;
    size_t size = 0;
    bool same = sa_file_exists(path) && sa_file_read(path, &text, &size) == SA_OK && size == buffer->size &&
                !memcmp(text, buffer->text, size);
    sa_free(text);
    return same;
}

sa_status sa_spec_write(const sa_results *results, const char *path) {
    sa_buffer buffer = {0};
    bool sweep = results->spec->grid.count > 0;
    sa_buffer_format(&buffer, "# Superarm %s: ", sa_version());
    sa_buffer_text(
        &buffer, has_own(results)
                     ? "what is `own` here is code of the caller, without which this file cannot be run again"
                 : sweep ? "`superarm sweep` with this file repeats the experiment"
                         : "`superarm run` with this file repeats the experiment");
    sa_buffer_text(&buffer, "\n");
    if (sweep)
        add_sweep(&buffer, results->spec, results->options);
    else
        add_all(&buffer, results);
    add_settings(&buffer, results);
    sa_status status = buffer.status;
    if (status == SA_OK && !is_written(path, &buffer)) status = sa_file_write(path, buffer.text, buffer.size);
    sa_buffer_clear(&buffer);
    return status;
}
