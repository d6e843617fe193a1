/* DIR/spec.yaml: every option spelt out, so that `superarm run DIR/spec.yaml` repeats the experiment even
 * when presets have changed since. Agents list what differs from the options for all. A sweep is written as
 * it was asked for: what its cells have otherwise depends on their values. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "experiment/experiment.h"
#include "options/presets.h"
#include "results/folder.h"
#include "results/provenance.h"
#include "spec/problem_option.h"
#include "spec/spec_presets.h"

enum { VALUE_SIZE = 16384 };

static bool same_value(const sa_options *one, const sa_options *other, const char *name, char *value,
                       char *other_value) {
    return sa_options_get(one, name, value, VALUE_SIZE) == SA_OK &&
           sa_options_get(other, name, other_value, VALUE_SIZE) == SA_OK && !strcmp(value, other_value);
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
static bool from_list(const sa_plan *plan, const sa_plan_agent *agent) {
    const sa_options *base = plan->options;
    char value[VALUE_SIZE], other[VALUE_SIZE];
    sa_option_info info;
    if (strcmp(agent->label, agent->options->algorithm)) return false;
    for (size_t i = 0; sa_option_at(i, &info); i++)
        if (info.scope == SA_SCOPE_AGENT && strcmp(info.name, "algorithm") &&
            !same_value(agent->options, base, info.name, value, other))
            return false;
    return true;
}

static void add_base(sa_buffer *buffer, const sa_plan *plan, bool lists_all) {
    char value[VALUE_SIZE];
    sa_option_info info;
    for (size_t i = 0; sa_option_at(i, &info); i++) {
        if (!repeats(&info) || !strcmp(info.name, "algorithm")) continue;
        if (sa_options_get(plan->options, info.name, value, sizeof value) != SA_OK)
            buffer->status = SA_INVALID;
        else
            add_option(buffer, "", &info, plan->options, value);
    }
    if (!lists_all) return;
    sa_buffer_text(buffer, "algorithm:\n");
    for (size_t i = 0; i < plan->agent_count; i++) {
        sa_buffer_text(buffer, "  - ");
        sa_buffer_quote(buffer, plan->agents[i].label);
        sa_buffer_text(buffer, "\n");
    }
}

static void add_agent(sa_buffer *buffer, const sa_plan *plan, const sa_plan_agent *agent) {
    char value[VALUE_SIZE], other[VALUE_SIZE];
    sa_option_info info;
    sa_buffer_text(buffer, "  ");
    sa_buffer_quote(buffer, agent->label);
    sa_buffer_text(buffer, ":\n");
    for (size_t i = 0; sa_option_at(i, &info); i++)
        if (info.scope == SA_SCOPE_AGENT &&
            (!same_value(agent->options, plan->options, info.name, value, other) ||
             !strcmp(info.name, "algorithm")))
            add_option(buffer, "    ", &info, agent->options, value);
}

/* Did code of the caller's own take part? */
static bool has_own(const sa_plan *plan) {
    bool own = strcmp(plan->options->environment, "own") == 0;
    for (size_t i = 0; i < plan->agent_count; i++)
        own = own || !strcmp(plan->agents[i].options->algorithm, "own") ||
              plan->agents[i].options->oracle == SA_ORACLE_OWN;
    return own;
}

static void add_plan(sa_buffer *buffer, const sa_plan *plan) {
    bool lists_all = true;
    for (size_t i = 0; i < plan->agent_count; i++) lists_all = lists_all && from_list(plan, &plan->agents[i]);
    add_base(buffer, plan, lists_all);
    if (lists_all) return;
    sa_buffer_text(buffer, "agents:\n");
    for (size_t i = 0; i < plan->agent_count; i++) add_agent(buffer, plan, &plan->agents[i]);
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
    char value[VALUE_SIZE];
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

static void add_sweep(sa_buffer *buffer, const sa_experiment *experiment, const sa_options *runs) {
    const sa_grid *grid = &experiment->grid;
    if (!sa_options_given(experiment->options, "preset")) {
        sa_buffer_text(buffer, "preset: ");
        sa_spec_add_preset(buffer, experiment->options->preset);
        sa_buffer_text(buffer, "\n");
    }
    add_given(buffer, experiment->options, "");
    sa_buffer_format(buffer, "first-run: %lld\nruns: %lld\n", (long long)runs->first_run,
                     (long long)runs->runs);
    if (experiment->agent_count > 0) sa_buffer_text(buffer, "agents:\n");
    for (size_t i = 0; i < experiment->agent_count; i++) {
        sa_buffer_text(buffer, "  ");
        sa_buffer_quote(buffer, experiment->agents[i].label);
        sa_buffer_text(buffer, ":\n");
        add_given(buffer, experiment->agents[i].own, "    ");
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
static void add_settings(sa_buffer *buffer, const sa_experiment *experiment, const sa_plan *plan) {
    bool used[sa_preset_count] = {0};
    used[plan->options->preset] = true;
    for (size_t i = 0; i < plan->agent_count; i++) used[plan->agents[i].options->preset] = true;
    for (size_t i = 0; i < experiment->grid.count; i++) /* whose cells are in other plans, too */
        for (size_t k = 0;
             !strcmp(experiment->grid.axes[i].name, "preset") && k < experiment->grid.axes[i].count; k++)
            for (int preset = 0; preset < sa_preset_count; preset++)
                used[preset] =
                    used[preset] || !strcmp(experiment->grid.axes[i].values[k], sa_preset_name(preset));
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

static sa_status write_spec(const sa_experiment *experiment, const sa_plan *plan, const char *path) {
    sa_buffer buffer = {0};
    bool sweep = experiment->grid.count > 0;
    sa_buffer_format(&buffer, "# Superarm %s: ", sa_version());
    sa_buffer_text(
        &buffer, has_own(plan)
                     ? "what is `own` here is code of the caller, without which this file cannot be run again"
                 : sweep ? "`superarm sweep` with this file repeats the experiment"
                         : "`superarm run` with this file repeats the experiment");
    sa_buffer_text(&buffer, "\n");
    if (sweep)
        add_sweep(&buffer, experiment, plan->options);
    else
        add_plan(&buffer, plan);
    add_settings(&buffer, experiment, plan);
    sa_status status = buffer.status;
    if (status == SA_OK && !is_written(path, &buffer)) status = sa_file_write(path, buffer.text, buffer.size);
    sa_buffer_clear(&buffer);
    return status;
}

sa_status sa_spec_write(const sa_work *work, const char *path) {
    return write_spec(work->experiment, work->plans[0], path);
}

sa_status sa_spec_write_stored(const sa_stored *stored, const char *path) {
    sa_plan plan = {.options = stored->spec->options};
    SA_TRY(sa_alloc_array(stored->agent_count, sizeof *plan.agents, &plan.agents));
    for (size_t i = 0; i < stored->agent_count; i++)
        plan.agents[plan.agent_count++] =
            (sa_plan_agent){.label = stored->agents[i].label, .options = stored->agents[i].options};
    sa_status status = write_spec(stored->spec, &plan, path);
    sa_free(plan.agents);
    return status;
}
