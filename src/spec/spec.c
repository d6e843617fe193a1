/* An experiment as it is asked for: options for all agents, and agents with options of their own.
 *
 * What wins, from weak to strong: the preset, the spec file, flags, the agent's own options. An agent's own
 * options are kept apart until the experiment is resolved, so this holds in whatever order they come. */
#include <string.h>

#include <jansson.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/yaml.h"
#include "experiment/experiment.h"
#include "spec/problem_option.h"
#include "spec/spec_presets.h"

enum { VALUE_SIZE = 16384, LABEL_SIZE = 200 };

/* ---- life ---- */

static void spec_agent_clear(sa_spec_agent *agent) {
    sa_options_destroy(agent->own);
    sa_free(agent->label);
    *agent = (sa_spec_agent){0};
}

sa_experiment *sa_experiment_new(void) {
    sa_experiment *experiment;
    if (sa_alloc_array(1, sizeof *experiment, &experiment) != SA_OK) return NULL;
    experiment->options = sa_options_new(NULL);
    if (!experiment->options) {
        sa_free(experiment);
        return NULL;
    }
    pthread_mutex_init(&experiment->turns.lock, NULL);
    return experiment;
}

void sa_experiment_destroy(sa_experiment *experiment) {
    if (!experiment) return;
    sa_work_destroy(experiment->work);
    sa_grid_clear(&experiment->grid);
    sa_free(experiment->presets);
    for (size_t i = 0; i < experiment->agent_count; i++) spec_agent_clear(&experiment->agents[i]);
    sa_free(experiment->agents);
    sa_options_destroy(experiment->options);
    pthread_mutex_destroy(&experiment->turns.lock);
    sa_free(experiment);
}

const sa_options *sa_experiment_options(const sa_experiment *experiment) { return experiment->options; }

sa_status sa_experiment_set(sa_experiment *experiment, const char *name, const char *value) {
    experiment->checked = false;
    if (!strcmp(name ? name : "", "preset")) { /* the spec's is not meant any more */
        sa_free(experiment->presets);
        experiment->presets = NULL;
    }
    return sa_spec_set(experiment->options, name, value);
}

/* ---- agents ---- */

/* A label names a folder, so it must not lead anywhere else. */
sa_status sa_label_check(const char *label) {
    static const char *const taken[] = {
        "parts",      "spec.yaml", "summary.json", "figure.json", "report.html", "regret.svg", "regret.png",
        "regret.pdf", "table.csv", "curves.csv",   "table.tex",   "sweep.svg",   "merged.txt", "slurm"};
    char shown[SA_PRINTABLE];
    sa_printable(label, shown);
    if (!*label) return sa_fail(SA_INVALID, "an agent's label must not be empty");
    if (strlen(label) > LABEL_SIZE)
        return sa_fail(SA_INVALID, "agent %s: a label has at most %d bytes", shown, LABEL_SIZE);
    if (strchr(label, '/'))
        return sa_fail(SA_INVALID, "agent %s: a label must not have a '/', since it names a folder", shown);
    if (strstr(label, "..") || !strcmp(label, "."))
        return sa_fail(SA_INVALID, "agent %s: a label must not be '.' or have '..', since it names a folder",
                       shown);
    for (const char *c = label; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return sa_fail(SA_INVALID, "agent %s: a label must not have control characters", shown);
    json_t *text = json_string(label); /* NULL unless it is UTF-8 */
    if (!text) return sa_fail(SA_INVALID, "agent %s: a label must be UTF-8", shown);
    json_decref(text);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!strcmp(label, taken[i]))
            return sa_fail(SA_INVALID, "agent %s: the results have a file of that name", shown);
    return SA_OK;
}

static sa_spec_agent *find_agent(const sa_experiment *experiment, size_t first, const char *label) {
    for (size_t i = first; i < experiment->agent_count; i++)
        if (!strcmp(experiment->agents[i].label, label)) return &experiment->agents[i];
    return NULL;
}

static sa_status set_own(sa_spec_agent *agent, const char *name, const char *value) {
    sa_option_info info;
    if (sa_is_datum(name) || (sa_option_find(name, &info) && info.scope != SA_SCOPE_AGENT))
        return sa_fail(SA_INVALID, "agent %s: --%s is one for all agents", agent->label, name);
    if (!strcmp(name, "algorithm") && strchr(value, ','))
        return sa_fail(SA_INVALID, "agent %s: an agent has one algorithm, not %s", agent->label, value);
    sa_status status = sa_options_set(agent->own, name, value);
    return status == SA_OK ? SA_OK : sa_fail_prefix(status, "agent %s: ", agent->label);
}

sa_status sa_spec_add_agent(sa_experiment *experiment, const char *label) {
    SA_TRY(sa_label_check(label));
    if (find_agent(experiment, 0, label)) return sa_fail(SA_INVALID, "two agents are labelled %s", label);
    SA_TRY(sa_grow_array(&experiment->agents, &experiment->agent_capacity, experiment->agent_count + 1,
                         sizeof *experiment->agents));
    sa_spec_agent agent = {0};
    SA_TRY(sa_copy_text(label, &agent.label));
    agent.own = sa_options_new(NULL);
    if (!agent.own) {
        spec_agent_clear(&agent);
        return SA_OUT_OF_MEMORY;
    }
    experiment->agents[experiment->agent_count++] = agent;
    experiment->checked = false;
    return SA_OK;
}

void sa_spec_drop_agents(sa_experiment *experiment, size_t kept) {
    while (experiment->agent_count > kept) spec_agent_clear(&experiment->agents[--experiment->agent_count]);
}

/* "algorithm=cn-ucb,gamma=0.3"; changes the text. */
static sa_status set_pairs(sa_spec_agent *agent, char *text) {
    for (char *pair = text, *next; pair && *text; pair = next) {
        char *comma = strchr(pair, ',');
        next = comma ? comma + 1 : NULL;
        if (comma) *comma = 0;
        char *equals = strchr(pair, '=');
        char shown[SA_PRINTABLE];
        if (!equals || equals == pair)
            return sa_fail(SA_INVALID, "agent %s: %s is not an option as in gamma=0.3", agent->label,
                           sa_printable(pair, shown));
        *equals = 0;
        SA_TRY(set_own(agent, pair, equals + 1));
    }
    return SA_OK;
}

sa_status sa_experiment_agent(sa_experiment *experiment, const char *text) {
    char *copy, shown[SA_PRINTABLE];
    size_t kept = experiment->agent_count;
    SA_TRY(sa_copy_text(text, &copy));
    char *colon = strchr(copy, ':');
    sa_status status;
    if (!colon) {
        status = sa_fail(SA_INVALID, "--agent %s is not of the form LABEL:algorithm=NAME,option=value",
                         sa_printable(text, shown));
    } else {
        *colon = 0;
        status = sa_spec_add_agent(experiment, copy);
        if (status == SA_OK) status = set_pairs(&experiment->agents[kept], colon + 1);
    }
    if (status != SA_OK) sa_spec_drop_agents(experiment, kept);
    sa_free(copy);
    return status;
}

sa_status sa_experiment_agent_set(sa_experiment *experiment, const char *label, const char *name,
                                  const char *value) {
    size_t kept = experiment->agent_count;
    if (!find_agent(experiment, 0, label)) SA_TRY(sa_spec_add_agent(experiment, label));
    sa_status status = set_own(find_agent(experiment, 0, label), name, value);
    if (status != SA_OK) sa_spec_drop_agents(experiment, kept);
    experiment->checked = false;
    return status;
}

void sa_experiment_clear_agents(sa_experiment *experiment) {
    sa_spec_drop_agents(experiment, 0);
    sa_options_not_given(experiment->options, "algorithm"); /* still that of agents that name none */
    experiment->checked = false;
}

sa_status sa_experiment_grid(sa_experiment *experiment, const char *name, const char *value) {
    experiment->checked = false;
    return sa_grid_add(&experiment->grid, name, value);
}

bool sa_experiment_has_grid(const sa_experiment *experiment) { return experiment->grid.count > 0; }

/* ---- the spec file ---- */

typedef struct spec_reading {
    sa_experiment *experiment;
    size_t first, axes; /* agents and axes of the grid before them were there already */
} spec_reading;

static sa_status take_pair(void *user, const char *label, const char *key, const char *value) {
    spec_reading *reading = user;
    sa_experiment *experiment = reading->experiment;
    char preset[32];
    if (!label && !strcmp(key, "settings")) return sa_spec_take_settings(experiment, value);
    if (label != sa_yaml_grid && !strcmp(key, "preset")) {
        SA_TRY(sa_spec_take_preset(experiment, value, preset));
        value = preset;
    }
    if (!label) return sa_spec_set(experiment->options, key, value);
    if (label == sa_yaml_grid) return sa_grid_add(&experiment->grid, key, value);
    sa_spec_agent *agent = find_agent(experiment, reading->first, label);
    if (!agent) {
        SA_TRY(sa_spec_add_agent(experiment, label));
        agent = &experiment->agents[experiment->agent_count - 1];
    }
    return set_own(agent, key, value);
}

sa_status sa_experiment_read(sa_experiment *experiment, const char *path) {
    spec_reading reading = {experiment, experiment->agent_count, experiment->grid.count};
    char *text;
    size_t size;
    SA_TRY(sa_file_read(path, &text, &size));
    sa_options *kept = sa_options_copy(experiment->options);
    sa_status status = kept ? sa_yaml_parse(text, size, path, take_pair, &reading) : SA_OUT_OF_MEMORY;
    if (status != SA_OK && kept) { /* a spec is taken as a whole or not at all */
        sa_spec_drop_agents(experiment, reading.first);
        sa_grid_drop(&experiment->grid, reading.axes);
        sa_options *half = experiment->options;
        experiment->options = kept;
        kept = half;
    }
    experiment->checked = false;
    sa_options_destroy(kept);
    sa_free(text);
    return status;
}
