/* DIR/spec.yaml: every option spelt out, so that `superarm run DIR/spec.yaml` repeats the experiment even when presets have
 * changed since. Agents list what differs from the options for all. */
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "experiment/experiment.h"

enum { VALUE_SIZE = 16384 };

static bool same_value(const sa_options *one, const sa_options *other, const char *name, char *value, char *other_value) {
    return sa_options_get(one, name, value, VALUE_SIZE) == SA_OK &&
           sa_options_get(other, name, other_value, VALUE_SIZE) == SA_OK && !strcmp(value, other_value);
}

static bool repeats(const sa_option_info *info) { return info->scope != SA_SCOPE_OUTPUT; }

/* ---- writing ---- */

static void add_option(sa_buffer *buffer, const char *indent, const sa_option_info *info, const char *value) {
    sa_buffer_format(buffer, "%s%s: ", indent, info->name);
    if (!strcmp(info->kind, "text"))
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
            add_option(buffer, "", &info, value);
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
            (!same_value(agent->options, plan->options, info.name, value, other) || !strcmp(info.name, "algorithm")))
            add_option(buffer, "    ", &info, value);
}

/* Did code of the caller's own take part? */
static bool has_own(const sa_plan *plan) {
    bool own = strcmp(plan->options->environment, "own") == 0;
    for (size_t i = 0; i < plan->agent_count; i++)
        own = own || plan->agents[i].code.select || plan->agents[i].oracle == &sa_oracle_own;
    return own;
}

sa_status sa_spec_write(const sa_plan *plan, const char *path) {
    sa_buffer buffer = {0};
    bool lists_all = true;
    for (size_t i = 0; i < plan->agent_count; i++) lists_all = lists_all && from_list(plan, &plan->agents[i]);
    sa_buffer_format(&buffer, "# Superarm %s: %s\n", sa_version(),
                     has_own(plan)
                         ? "what is `own` here is code of the caller, without which this file cannot be run again"
                         : "`superarm run` with this file repeats the experiment");
    add_base(&buffer, plan, lists_all);
    if (!lists_all) {
        sa_buffer_text(&buffer, "agents:\n");
        for (size_t i = 0; i < plan->agent_count; i++) add_agent(&buffer, plan, &plan->agents[i]);
    }
    sa_status status = buffer.status;
    if (status == SA_OK) status = sa_file_write(path, buffer.text, buffer.size);
    sa_buffer_clear(&buffer);
    return status;
}

/* ---- comparing ---- */

static sa_status compare_options(const sa_options *asked, const sa_options *had, const char *label, const char *path) {
    char value[VALUE_SIZE], other[VALUE_SIZE], whose[160] = "";
    sa_option_info info;
    if (label) snprintf(whose, sizeof whose, "agent %s: ", label);
    for (size_t i = 0; sa_option_at(i, &info); i++) {
        bool matters = label ? info.scope == SA_SCOPE_AGENT : repeats(&info) && info.scope != SA_SCOPE_AGENT;
        if (!matters || same_value(asked, had, info.name, value, other)) continue;
        return sa_fail(SA_INVALID, "--resume: %s--%s is %.200s here and %.200s in %.200s", whose, info.name,
                       *value ? value : "\"\"", *other ? other : "\"\"", path);
    }
    return SA_OK;
}

static sa_status compare_agents(const sa_plan *plan, const sa_plan_agent *agents, size_t count, const char *path) {
    for (size_t i = 0; i < plan->agent_count && i < count; i++) {
        if (strcmp(plan->agents[i].label, agents[i].label))
            return sa_fail(SA_INVALID, "--resume: agent %zu is %s here and %s in %s", i + 1, plan->agents[i].label,
                           agents[i].label, path);
        SA_TRY(compare_options(plan->agents[i].options, agents[i].options, plan->agents[i].label, path));
    }
    if (plan->agent_count == count) return SA_OK;
    return sa_fail(SA_INVALID, "--resume: there are %zu agents here and %zu in %s", plan->agent_count, count, path);
}

sa_status sa_spec_compare(const sa_plan *plan, const char *path) {
    sa_plan_agent *agents = NULL;
    size_t count = 0;
    sa_experiment *had = sa_experiment_new();
    if (!had) return SA_OUT_OF_MEMORY;
    sa_status status = sa_experiment_read(had, path);
    if (status == SA_OK) status = sa_spec_resolve(had, had->options, &agents, &count);
    if (status == SA_OK) status = compare_options(plan->options, had->options, NULL, path);
    if (status == SA_OK) status = compare_agents(plan, agents, count, path);
    sa_plan_agents_destroy(agents, count);
    sa_experiment_destroy(had);
    return status;
}
