#include "experiment/plan_effects.h"

#include <string.h>

#include "base/text.h"
#include <superarm/superarm.h>

static bool is_set(const sa_options *options, const char *name) {
    return sa_options_given(options, name) && sa_options_changed(options, name);
}

static sa_status refuse(const sa_options *options, const char *name, const char *label, size_t agents) {
    char value[64], shown[SA_PRINTABLE];
    if (sa_options_get(options, name, value, sizeof value) != SA_OK) *value = 0;
    sa_printable(value, shown);
    if (label)
        return sa_fail(SA_INVALID, "agent %s: --%s %s has no effect on --algorithm %s", label, name, shown,
                       options->algorithm);
    if (agents > 1) return sa_fail(SA_INVALID, "--%s %s has no effect on any of the agents", name, shown);
    return sa_fail(SA_INVALID, "--%s %s has no effect on --algorithm %s", name, shown, options->algorithm);
}

/* Of those that have it set, does one read it? */
static sa_status check_option(const sa_plan *plan, const char *name) {
    const sa_options *set = NULL;
    for (size_t i = 0; i < plan->agent_count; i++) {
        const sa_agent_runs *agent = &plan->agents[i];
        if (agent->code.select) return SA_OK; /* nobody knows what code of the caller's own reads */
        if (!is_set(agent->options, name)) continue;
        if (sa_option_is_read(agent->options, name)) return SA_OK;
        set = agent->options;
    }
    return set ? refuse(set, name, NULL, plan->agent_count) : SA_OK;
}

/* What was set for one agent is for that one to read. */
static sa_status check_own(const sa_spec_agent *asked, const sa_agent_runs *agent) {
    sa_option_info info;
    if (agent->code.select || strcmp(asked->label, agent->label)) return SA_OK;
    for (size_t i = 0; sa_option_at(i, &info); i++)
        if (info.scope == SA_SCOPE_AGENT && sa_options_given(asked->own, info.name) &&
            is_set(agent->options, info.name) && !sa_option_is_read(agent->options, info.name))
            return refuse(agent->options, info.name, agent->label, 1);
    return SA_OK;
}

sa_status sa_plan_check_effects(const sa_spec *spec, const sa_plan *plan) {
    sa_option_info info;
    for (size_t i = 0; i < spec->agent_count; i++)
        for (size_t k = 0; k < plan->agent_count; k++) SA_TRY(check_own(&spec->agents[i], &plan->agents[k]));
    for (size_t i = 0; sa_option_at(i, &info); i++)
        if (info.scope == SA_SCOPE_AGENT) SA_TRY(check_option(plan, info.name));
    return SA_OK;
}
