#include "results/agents.h"

#include <string.h>

#include "base/memory.h"
#include "spec/values.h"
#include <superarm/superarm.h>

typedef struct agent_list {
    sa_agent_runs *agents;
    size_t count, capacity;
} agent_list;

/* Adds an agent with a copy of the options for all, and returns it through *out. */
static sa_status list_add(agent_list *list, const char *label, const sa_options *base, sa_agent_runs **out) {
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->agents[i].label, label))
            return sa_fail(SA_INVALID, "two agents are labelled %s", label);
    SA_TRY(sa_grow_array(&list->agents, &list->capacity, list->count + 1, sizeof *list->agents));
    sa_agent_runs *agent = &list->agents[list->count++];
    *agent = (sa_agent_runs){0};
    SA_TRY(sa_copy_text(label, &agent->label));
    agent->options = sa_options_copy(base);
    *out = agent;
    return agent->options ? SA_OK : SA_OUT_OF_MEMORY;
}

/* "cn-ucb, cn-ts": agents labelled by their algorithms. */
static sa_status list_algorithms(agent_list *list, const sa_options *base) {
    char name[SA_VALUE_SIZE];
    for (const char *from = base->algorithm; from;) {
        const char *comma = strchr(from, ',');
        from += strspn(from, " ");
        size_t size = comma && from < comma ? (size_t)(comma - from) : comma ? 0 : strlen(from);
        while (size > 0 && from[size - 1] == ' ') size--;
        if (size == 0) return sa_fail(SA_INVALID, "--algorithm \"%.80s\" has an empty name", base->algorithm);
        if (size >= sizeof name)
            return sa_fail(SA_INVALID, "--algorithm %.80s... is too long", base->algorithm);
        memcpy(name, from, size);
        name[size] = 0;
        SA_TRY(sa_label_check(name));
        sa_agent_runs *agent;
        SA_TRY(list_add(list, name, base, &agent));
        SA_TRY(sa_options_set(agent->options, "algorithm", name));
        from = comma ? comma + 1 : NULL;
    }
    return SA_OK;
}

static sa_status list_own(agent_list *list, const sa_options *base, const sa_spec_agent *asked) {
    sa_agent_runs *agent;
    SA_TRY(list_add(list, asked->label, base, &agent));
    agent->code = asked->code;
    sa_option_info info;
    for (size_t i = 0; sa_option_at(i, &info); i++)
        if (sa_options_given(asked->own, info.name))
            SA_TRY(sa_options_take(agent->options, asked->own, info.name));
    if (strchr(agent->options->algorithm, ','))
        return sa_fail(SA_INVALID, "agent %s: which of --algorithm %.200s is meant? Say algorithm=NAME",
                       asked->label, base->algorithm);
    /* a preset of its own must not touch what is one for all */
    for (size_t i = 0; sa_option_at(i, &info); i++)
        if (info.scope != SA_SCOPE_AGENT) SA_TRY(sa_options_take(agent->options, base, info.name));
    agent->options->h3_frequency = base->h3_frequency;
    return SA_OK;
}

/* ---- the grid ---- */

/* An option of one agent and of the grid: which is meant? */
static sa_status check_axes(const sa_spec *spec) {
    const sa_grid *grid = &spec->grid;
    for (size_t i = 0; i < spec->agent_count; i++)
        for (size_t axis = 0; axis < grid->count; axis++) {
            const sa_spec_agent *agent = &spec->agents[i];
            if (!grid->axes[axis].of_agent) continue;
            if (agent->code.select)
                return sa_fail(SA_INVALID, "grid: agent %s is code of yours, which --%s does not change",
                               agent->label, grid->axes[axis].name);
            if (sa_options_given(agent->own, grid->axes[axis].name))
                return sa_fail(SA_INVALID, "grid: --%s is in the grid, and agent %s has a value of its own",
                               grid->axes[axis].name, agent->label);
        }
    return SA_OK;
}

/* A copy of the agent in one cell. */
static sa_status add_cell(agent_list *list, const sa_spec *spec, const sa_agent_runs *from, size_t cell,
                          bool alone, bool everything) {
    char *label;
    sa_agent_runs *agent = NULL;
    SA_TRY(sa_grid_label(&spec->grid, cell, alone ? NULL : from->label, &label));
    sa_status status = sa_label_check(label);
    if (status == SA_OK) status = list_add(list, label, from->options, &agent);
    sa_free(label);
    SA_TRY(status);
    agent->code = from->code;
    agent->cell = cell;
    SA_TRY(sa_grid_set(&spec->grid, cell, true, agent->options));
    return everything ? sa_grid_set(&spec->grid, cell, false, agent->options) : SA_OK;
}

static sa_status list_cells(agent_list *list, const sa_spec *spec, const agent_list *base, int group) {
    const sa_grid *grid = &spec->grid;
    SA_TRY(check_axes(spec));
    for (size_t cell = 0; cell < sa_grid_cells(grid); cell++) {
        if (group != SA_EVERY_GROUP && sa_grid_group_of(grid, cell) != (size_t)group) continue;
        for (size_t i = 0; i < base->count; i++)
            SA_TRY(add_cell(list, spec, &base->agents[i], cell, base->count == 1, group == SA_EVERY_GROUP));
    }
    return SA_OK;
}

sa_status sa_spec_resolve(const sa_spec *spec, const sa_options *base, int group, sa_agent_runs **agents,
                          size_t *count) {
    agent_list list = {0}, cells = {0};
    sa_status status;
    if (spec->agent_count == 0 || sa_options_given(base, "algorithm"))
        SA_TRY_OR_FAIL(list_algorithms(&list, base));
    for (size_t i = 0; i < spec->agent_count; i++) SA_TRY_OR_FAIL(list_own(&list, base, &spec->agents[i]));
    if (spec->grid.count > 0) {
        SA_TRY_OR_FAIL(list_cells(&cells, spec, &list, group));
        agent_list kept = list;
        list = cells;
        cells = kept;
    }
    for (size_t i = 0; i < list.count; i++) SA_TRY_OR_FAIL(sa_algorithm_defaults(list.agents[i].options));
    *agents = list.agents;
    *count = list.count;
    list = (agent_list){0};
fail:
    sa_agents_destroy(list.agents, list.count);
    sa_agents_destroy(cells.agents, cells.count);
    return status;
}
