/* From what is asked for to what will be done: the environment is made, its files are read, and every agent
 * is created once. */
#include "experiment/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/machine.h"
#include "base/memory.h"
#include "experiment/own.h"
#include "experiment/plan_effects.h"
#include "experiment/plan_problem.h"
#include "results/agents.h"
#include <superarm/superarm.h>

void sa_plan_destroy(sa_plan *plan) {
    if (!plan) return;
    if (!plan->in_table) sa_agents_destroy(plan->agents, plan->agent_count);
    sa_clicks_destroy(plan->clicks);
    sa_problem_destroy(plan->problem);
    sa_environment_destroy(plan->environment);
    sa_options_destroy(plan->options);
    sa_free(plan);
}

/* ---- checks ---- */

bool sa_plan_fits(size_t a, size_t b, size_t c, size_t d) {
    size_t bytes, memory = sa_machine_memory();
    if (__builtin_mul_overflow(a, b, &bytes) || __builtin_mul_overflow(bytes, c, &bytes) ||
        __builtin_mul_overflow(bytes, d, &bytes) || bytes > PTRDIFF_MAX)
        return false;
    return memory == 0 || bytes <= memory;
}

sa_status sa_plan_check_place(const char *path, const char *out) {
    char *folder;
    SA_TRY(sa_copy_text(path, &folder));
    char *slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = 0;
    bool is_made = slash && strcmp(folder, out) == 0;
    int denied = !is_made && access(slash ? folder : ".", W_OK);
    sa_free(folder);
    return denied ? sa_fail_errno("written", path) : SA_OK;
}

static sa_status check_slate(const sa_options *options, const sa_environment *environment) {
    if ((uint64_t)options->slate <= environment->arms) return SA_OK;
    const sa_environment_class *kind = environment->kind;
    if (kind->arms)
        return sa_fail(SA_INVALID, "--slate %" PRId64 " is more than the %zu %s%s%s", options->slate,
                       environment->arms, kind->arms, kind->file ? " " : "",
                       kind->file ? kind->file(options) : "");
    return sa_fail(SA_INVALID, "--slate %" PRId64 " is more than --arms %zu", options->slate,
                   environment->arms);
}

/* Feedback must find its decision: the agent keeps the last --pending-limit of them. */
static sa_status check_delay(const sa_plan *plan, const sa_options *options) {
    if (options->delay < options->pending_limit || (uint64_t)options->delay >= plan->rounds) return SA_OK;
    return sa_fail(SA_INVALID, "--delay %" PRId64 " needs a --pending-limit above it, which is %" PRId64,
                   options->delay, options->pending_limit);
}

/* ---- making ---- */

/* Full paths, so that spec.yaml can be run from anywhere. */
static sa_status resolve_paths(sa_options *options, sa_option_scope scope) {
    for (size_t i = 0; i < SA_OPTION_TOTAL; i++)
        if (sa_option_rows[i].kind == SA_KIND_PATH && sa_option_rows[i].scope == scope)
            SA_TRY(sa_full_path(sa_option_field(options, &sa_option_rows[i])));
    return SA_OK;
}

static sa_status set_size(sa_options *options, const char *name, size_t value) {
    char *text;
    SA_TRY(sa_format(&text, "%zu", value));
    sa_status status = sa_options_set(options, name, text);
    sa_free(text);
    return status;
}

/* `asked` as it was given for this group: what was not given, the environment decides. */
static sa_status plan_environment(sa_plan *plan, sa_experiment *experiment, const sa_options *asked) {
    SA_TRY(sa_own_or_ours(experiment, asked, &plan->environment));
    plan->options = sa_options_copy(asked);
    if (!plan->options) return SA_OUT_OF_MEMORY;
    SA_TRY(set_size(plan->options, "rounds", plan->environment->rounds));
    SA_TRY(set_size(plan->options, "arms", plan->environment->arms));
    SA_TRY(set_size(plan->options, "dim", plan->environment->dim));
    plan->options->noise = plan->environment->noise;
    SA_TRY(resolve_paths(plan->options, SA_SCOPE_ENVIRONMENT));
    SA_TRY(sa_plan_read_structure(plan->options, &plan->problem));
    if (plan->options->clicks != SA_CLICKS_NONE) SA_TRY(check_slate(plan->options, plan->environment));
    SA_TRY(sa_clicks_create(plan->options, sa_problem_data(plan->problem), &plan->clicks));
    plan->rounds = plan->environment->rounds;
    plan->runs = (size_t)asked->runs;
    plan->first_run = (uint64_t)asked->first_run;
    return SA_OK;
}

/* Users look at positions, and the published linear code pairs scores with arms in a way that has none. */
static sa_status check_positions(const sa_plan *plan, const sa_agent_runs *agent) {
    const char *clicks = !plan->clicks                              ? NULL
                         : plan->clicks->kind == SA_CLICKS_POSITION ? "position"
                                                                    : "cascade";
    bool published = agent->options->linear_form == SA_LINEAR_PUBLISHED &&
                     sa_algorithm_is_linear(agent->options->algorithm);
    if (published && plan->environment->kind->feedback)
        return sa_fail(SA_INVALID,
                       "--linear-form published mixes up the scores of arms, of which the feedback of your "
                       "environment has only the slate's: take --linear-form defined");
    if (!clicks) return SA_OK;
    if (sa_oracle_of_agent(agent)->size != SA_EXACTLY_K)
        return sa_fail(
            SA_INVALID,
            "--oracle %s has no positions that --clicks %s could look at; top-k, assignment and cascade do",
            sa_oracle_of_agent(agent)->name, clicks);
    if (published)
        return sa_fail(SA_INVALID,
                       "--linear-form published mixes up the scores of arms, which makes no sense with "
                       "--clicks %s: take "
                       "--linear-form defined",
                       clicks);
    return SA_OK;
}

/* Everything that can be wrong with an agent shows when it is made. */
static sa_status try_agent(const sa_plan *plan, const sa_agent_runs *agent) {
    sa_agent *trial;
    if (agent->code.select) return SA_OK;
    sa_options *options = sa_options_copy(agent->options);
    if (!options) return SA_OUT_OF_MEMORY;
    options->history[0] = 0; /* which each run makes for itself */
    sa_status status = sa_agent_create(options, &trial);
    sa_options_destroy(options);
    SA_TRY(status);
    if (sa_oracle_of_agent(agent) == &sa_oracle_own) status = sa_agent_oracle(trial, &plan->oracle);
    sa_agent_destroy(trial);
    return status;
}

sa_status sa_plan_check_agent(const sa_plan *plan, sa_agent_runs *agent, bool named) {
    const sa_oracle *oracle = sa_oracle_of_agent(agent);
    if (oracle->size == SA_EXACTLY_K) SA_TRY(check_slate(plan->options, plan->environment));
    sa_status status = check_delay(plan, agent->options);
    if (status == SA_OK) status = check_positions(plan, agent);
    if (status == SA_OK) status = sa_plan_check_structure(plan, oracle);
    if (status == SA_OK) status = sa_plan_check_discounts(plan, agent);
    if (status == SA_OK) status = try_agent(plan, agent);
    if (status != SA_OK) return named ? sa_fail_prefix(status, "agent %s: ", agent->label) : status;
    return resolve_paths(agent->options, SA_SCOPE_AGENT);
}

static bool is_named(const sa_spec *spec, const sa_agent_runs *agent) {
    for (size_t i = 0; i < spec->agent_count; i++)
        if (!strcmp(spec->agents[i].label, agent->label)) return true;
    return spec->grid.count > 0;
}

size_t sa_plan_threads(const sa_options *options) {
    return options->threads > 0 ? (size_t)options->threads : sa_processors();
}

static sa_status check_sizes(const sa_plan *plan) {
    size_t jobs = plan->runs * plan->agent_count, threads = sa_plan_threads(plan->options);
    size_t arms = plan->environment->arms, dim = plan->environment->dim;
    if (threads > jobs) threads = jobs;
    if (!sa_plan_fits(threads, arms, dim, sizeof(double)))
        return sa_fail(SA_INVALID,
                       "--arms %zu of --dim %zu in %zu threads take more than this machine's memory", arms,
                       dim, threads);
    return SA_OK;
}

static sa_status fill(sa_plan *plan, sa_experiment *experiment, size_t group, const sa_options *asked) {
    SA_TRY(plan_environment(plan, experiment, asked));
    SA_TRY(sa_spec_resolve(&experiment->spec, plan->options, (int)group, &plan->agents, &plan->agent_count));
    SA_TRY(check_sizes(plan));
    for (size_t i = 0; i < plan->agent_count; i++)
        SA_TRY(sa_plan_check_agent(plan, &plan->agents[i], is_named(&experiment->spec, &plan->agents[i])));
    SA_TRY(sa_plan_check_unused(plan));
    SA_TRY(sa_plan_check_effects(&experiment->spec, plan));
    return sa_plan_check_clicks(plan);
}

sa_status sa_plan_make(sa_experiment *experiment, size_t group, sa_plan **out) {
    const sa_grid *grid = &experiment->spec.grid;
    sa_plan *plan = NULL;
    sa_options *asked = sa_options_copy(experiment->spec.options);
    if (!asked) return SA_OUT_OF_MEMORY;
    sa_status status = sa_grid_set(grid, sa_grid_cell_of_group(grid, group), false, asked);
    if (status == SA_OK) status = sa_alloc_array(1, sizeof *plan, &plan);
    if (status == SA_OK) {
        plan->turns = &experiment->turns;
        plan->experiment = experiment;
        sa_plan_take_oracle(plan, &experiment->oracle);
        status = fill(plan, experiment, group, asked);
    }
    sa_options_destroy(asked);
    if (status == SA_OK)
        *out = plan;
    else
        sa_plan_destroy(plan);
    return status;
}
