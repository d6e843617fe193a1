#include "experiment/resume.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "experiment/plan.h"
#include "results/agents.h"
#include "spec/spec_presets.h"
#include "spec/values.h"

/* Options that may be others than before. */
static bool may_differ(const char *name) {
    return !strcmp(name, "runs") || !strcmp(name, "first-run") || !strcmp(name, "show-regret");
}

static sa_status compare_option(const sa_options *asked, const sa_options *had, const char *name,
                                const char *label, const char *path) {
    char value[SA_VALUE_SIZE], other[SA_VALUE_SIZE];
    bool same;
    SA_TRY(sa_options_compare(asked, had, name, value, other, &same));
    if (same) return SA_OK;
    return sa_fail(SA_INVALID, "--resume: %s%s%s--%s is %.200s here and %.200s in %.200s",
                   label ? "agent " : "", label ? label : "", label ? ": " : "", name,
                   *value ? value : "\"\"", *other ? other : "\"\"", path);
}

static sa_status compare_experiments(const sa_plan *plan, const sa_spec *asked, const sa_spec *had,
                                     const char *path) {
    sa_option_info info;
    if ((asked->grid.count > 0) != (had->grid.count > 0))
        return sa_fail(SA_INVALID, "--resume: there is %s grid here and %s in %s",
                       asked->grid.count ? "a" : "no", had->grid.count ? "one" : "none", path);
    for (size_t i = 0; sa_option_at(i, &info); i++) {
        bool matters =
            info.scope != SA_SCOPE_AGENT && info.scope != SA_SCOPE_OUTPUT && !may_differ(info.name);
        /* of a sweep, spec.yaml has what was given, and its agents have the rest */
        if (asked->grid.count > 0)
            matters =
                matters && !sa_grid_has(&asked->grid, info.name) && sa_options_given(had->options, info.name);
        if (matters) SA_TRY(compare_option(plan->options, had->options, info.name, NULL, path));
    }
    return SA_OK;
}

static sa_status compare_agents(const sa_agent_runs *asked, const sa_agent_runs *had, bool sweep,
                                const char *path) {
    sa_option_info info;
    for (size_t i = 0; sa_option_at(i, &info); i++)
        if (info.scope == SA_SCOPE_AGENT && (!sweep || strcmp(info.name, "init-weights")))
            SA_TRY(compare_option(asked->options, had->options, info.name, asked->label, path));
    return SA_OK;
}

/* ---- runs ---- */

static sa_status join_runs(sa_work *work, const sa_options *had, const char *path) {
    uint64_t first = work->plans[0]->first_run, end = first + work->plans[0]->runs;
    uint64_t had_first = (uint64_t)had->first_run, had_end = had_first + (uint64_t)had->runs;
    if (first > had_end || had_first > end)
        return sa_fail(SA_INVALID,
                       "--resume: %s has runs %" PRIu64 " to %" PRIu64 ", and %" PRIu64 " to %" PRIu64
                       " would leave out those between",
                       path, had_first, had_end - 1, first, end - 1);
    if (had_first < first) first = had_first;
    if (had_end > end) end = had_end;
    for (size_t i = 0; i < work->plan_count; i++) {
        sa_plan *plan = work->plans[i];
        plan->first_run = first;
        plan->runs = (size_t)(end - first);
        plan->options->first_run = (int64_t)first;
        plan->options->runs = (int64_t)plan->runs;
        for (size_t k = 0; k < plan->agent_count; k++) {
            plan->agents[k].options->first_run = (int64_t)first;
            plan->agents[k].options->runs = (int64_t)plan->runs;
        }
    }
    return SA_OK;
}

/* ---- agents ---- */

static sa_agent_runs *find(sa_agent_runs *agents, size_t count, const char *label) {
    for (size_t i = 0; i < count; i++)
        if (agents[i].label && !strcmp(agents[i].label, label)) return &agents[i];
    return NULL;
}

/* One that is not asked for here. Its code, where it is the caller's own, is not here; then its runs must all
 * be there. */
static sa_status check_adopted(const sa_plan *plan, sa_agent_runs *agent) {
    sa_option_info info;
    for (size_t i = 0; sa_option_at(i, &info); i++)
        if (info.scope != SA_SCOPE_AGENT) SA_TRY(sa_options_take(agent->options, plan->options, info.name));
    return strcmp(agent->options->algorithm, "own") ? sa_plan_check_agent(plan, agent, true) : SA_OK;
}

/* The folder's agents come first, as they did. */
static sa_status join_agents(sa_plan *plan, sa_agent_runs *had, size_t count, const char *path) {
    size_t all = 0;
    sa_agent_runs *joined;
    SA_TRY(sa_alloc_array(count + plan->agent_count, sizeof *joined, &joined));
    sa_status status = SA_OK;
    for (size_t i = 0; status == SA_OK && i < count; i++) {
        sa_agent_runs *own = find(plan->agents, plan->agent_count, had[i].label);
        if (!own)
            status = check_adopted(plan, &had[i]);
        else if (!sa_replaces(plan->options->replace, own->label))
            status = compare_agents(own, &had[i], false, path);
        if (status != SA_OK) break;
        sa_agent_runs *from = own ? own : &had[i];
        joined[all++] = *from;
        *from = (sa_agent_runs){0};
    }
    for (size_t i = 0; i < plan->agent_count; i++)
        if (plan->agents[i].label) joined[all++] = plan->agents[i];
    sa_free(plan->agents);
    plan->agents = joined;
    plan->agent_count = all;
    return status;
}

/* A grid may have grown. */
static sa_status compare_cells(const sa_work *work, const sa_agent_runs *had, size_t count,
                               const char *path) {
    for (size_t i = 0; i < count; i++) {
        sa_agent_runs *own = NULL;
        for (size_t p = 0; !own && p < work->plan_count; p++)
            own = find(work->plans[p]->agents, work->plans[p]->agent_count, had[i].label);
        if (!own)
            return sa_fail(SA_INVALID, "--resume: %s has the cell %s, and the grid here does not", path,
                           had[i].label);
        if (!sa_replaces(work->options->replace, own->label))
            SA_TRY(compare_agents(own, &had[i], true, path));
    }
    return SA_OK;
}

static sa_status adopt(sa_work *work, const char *path, const sa_spec *had) {
    sa_agent_runs *agents = NULL;
    size_t count = 0;
    sa_plan *plan = work->plans[0];
    SA_TRY(sa_spec_check_presets(had->presets));
    SA_TRY(compare_experiments(plan, &work->experiment->spec, had, path));
    SA_TRY(sa_spec_resolve(had, had->options, SA_EVERY_GROUP, &agents, &count));
    sa_status status =
        had->grid.count ? compare_cells(work, agents, count, path) : join_agents(plan, agents, count, path);
    sa_agents_destroy(agents, count);
    return status == SA_OK ? join_runs(work, had->options, path) : status;
}

sa_status sa_resume_adopt(sa_work *work) {
    const sa_options *options = work->options;
    char *path;
    if (!*options->out || !(options->resume || *options->shard)) return SA_OK;
    SA_TRY(sa_format(&path, "%s/spec.yaml", options->out));
    sa_status status = SA_OK;
    if (sa_file_exists(path)) {
        sa_spec had;
        status = sa_spec_init(&had);
        if (status == SA_OK) status = sa_spec_read(&had, path);
        if (status == SA_OK) status = adopt(work, path, &had);
        sa_spec_clear(&had);
    }
    sa_free(path);
    return status;
}

/* ---- --replace ---- */

/* The longest label of the work that the list starts with; 0: none. */
static size_t label_at(const sa_work *work, const char *list) {
    size_t longest = 0;
    for (size_t p = 0; p < work->plan_count; p++)
        for (size_t i = 0; i < work->plans[p]->agent_count; i++) {
            const char *label = work->plans[p]->agents[i].label;
            size_t size = strlen(label);
            if (size > longest && !strncmp(list, label, size) && (!list[size] || list[size] == ','))
                longest = size;
        }
    return longest;
}

sa_status sa_replace_check(const sa_work *work) {
    const char *list = work->options->replace;
    if (*list && work->shards > 1)
        return sa_fail(SA_INVALID, "--replace is for one process: leave --shard %s out",
                       work->options->shard);
    while (*list) {
        size_t size = label_at(work, list);
        if (!size)
            return sa_fail(SA_INVALID, "--replace: there is no agent %.200s here or in %.300s", list,
                           work->options->out);
        list += size + (list[size] == ',');
    }
    return SA_OK;
}

bool sa_replaces(const char *list, const char *label) {
    size_t size = strlen(label);
    for (const char *at = list; (at = strstr(at, label)); at++)
        if ((at == list || at[-1] == ',') && (!at[size] || at[size] == ',')) return true;
    return false;
}
