/* An experiment as it is asked for: options for all agents, and agents with options of their own.
 *
 * What wins, from weak to strong: the preset, the spec file, flags, the agent's own options. An agent's own
 * options are kept apart until the experiment is resolved, so this holds in whatever order they come. */
#include "spec/spec.h"

#include <string.h>

#include <jansson.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/yaml.h"
#include "options/gone.h"
#include "spec/problem_option.h"
#include "spec/spec_presets.h"

enum { LABEL_SIZE = 200 };

/* ---- life ---- */

static void spec_agent_clear(sa_spec_agent *agent) {
    sa_options_destroy(agent->own);
    sa_free(agent->label);
    *agent = (sa_spec_agent){0};
}

sa_status sa_spec_init(sa_spec *spec) {
    *spec = (sa_spec){.options = sa_options_new(NULL)};
    return spec->options ? SA_OK : SA_OUT_OF_MEMORY;
}

void sa_spec_clear(sa_spec *spec) {
    sa_grid_clear(&spec->grid);
    sa_free(spec->presets);
    sa_spec_drop_agents(spec, 0);
    sa_free(spec->agents);
    sa_options_destroy(spec->options);
    *spec = (sa_spec){0};
}

sa_status sa_spec_set_all(sa_spec *spec, const char *name, const char *value) {
    if (!strcmp(name ? name : "", "preset")) { /* the file's is not meant any more */
        sa_free(spec->presets);
        spec->presets = NULL;
    }
    return sa_spec_set(spec->options, name, value);
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

static sa_spec_agent *find_agent(const sa_spec *spec, size_t first, const char *label) {
    for (size_t i = first; i < spec->agent_count; i++)
        if (!strcmp(spec->agents[i].label, label)) return &spec->agents[i];
    return NULL;
}

static sa_status set_own(const sa_spec *spec, sa_spec_agent *agent, const char *name, const char *value) {
    const sa_options *preset = sa_options_given(agent->own, "preset") ? agent->own : spec->options;
    sa_option_info info;
    if (sa_is_datum(name) || (sa_option_find(name, &info) && info.scope != SA_SCOPE_AGENT))
        return sa_fail(SA_INVALID, "agent %s: --%s is one for all agents", agent->label, name);
    if (!strcmp(name, "algorithm") && strchr(value, ','))
        return sa_fail(SA_INVALID, "agent %s: an agent has one algorithm, not %s", agent->label, value);
    sa_status status = sa_gone_is_option(name) ? sa_gone_check(name, value, preset->preset)
                                               : sa_options_set(agent->own, name, value);
    return status == SA_OK ? SA_OK : sa_fail_prefix(status, "agent %s: ", agent->label);
}

sa_status sa_spec_add_agent(sa_spec *spec, const char *label) {
    SA_TRY(sa_label_check(label));
    if (find_agent(spec, 0, label)) return sa_fail(SA_INVALID, "two agents are labelled %s", label);
    SA_TRY(sa_grow_array(&spec->agents, &spec->agent_capacity, spec->agent_count + 1, sizeof *spec->agents));
    sa_spec_agent agent = {0};
    SA_TRY(sa_copy_text(label, &agent.label));
    agent.own = sa_options_new(NULL);
    if (!agent.own) {
        spec_agent_clear(&agent);
        return SA_OUT_OF_MEMORY;
    }
    spec->agents[spec->agent_count++] = agent;
    return SA_OK;
}

void sa_spec_drop_agents(sa_spec *spec, size_t kept) {
    while (spec->agent_count > kept) spec_agent_clear(&spec->agents[--spec->agent_count]);
}

/* "algorithm=cn-ucb,gamma=0.3"; changes the text. */
static sa_status set_pairs(const sa_spec *spec, sa_spec_agent *agent, char *text) {
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
        SA_TRY(set_own(spec, agent, pair, equals + 1));
    }
    return SA_OK;
}

sa_status sa_spec_add_text(sa_spec *spec, const char *text) {
    char *copy, shown[SA_PRINTABLE];
    size_t kept = spec->agent_count;
    SA_TRY(sa_copy_text(text, &copy));
    char *colon = strchr(copy, ':');
    sa_status status;
    if (!colon) {
        status = sa_fail(SA_INVALID, "--agent %s is not of the form LABEL:algorithm=NAME,option=value",
                         sa_printable(text, shown));
    } else {
        *colon = 0;
        status = sa_spec_add_agent(spec, copy);
        if (status == SA_OK) status = set_pairs(spec, &spec->agents[kept], colon + 1);
    }
    if (status != SA_OK) sa_spec_drop_agents(spec, kept);
    sa_free(copy);
    return status;
}

sa_status sa_spec_set_agent(sa_spec *spec, const char *label, const char *name, const char *value) {
    size_t kept = spec->agent_count;
    if (!find_agent(spec, 0, label)) SA_TRY(sa_spec_add_agent(spec, label));
    sa_status status = set_own(spec, find_agent(spec, 0, label), name, value);
    if (status != SA_OK) sa_spec_drop_agents(spec, kept);
    return status;
}

/* ---- the spec file ---- */

typedef struct spec_reading {
    sa_spec *spec;
    size_t first, axes; /* agents and axes of the grid before them were there already */
} spec_reading;

static sa_status take_pair(void *user, const char *label, const char *key, const char *value) {
    spec_reading *reading = user;
    sa_spec *spec = reading->spec;
    char preset[32];
    if (!label && !strcmp(key, "settings")) return sa_spec_take_settings(&spec->presets, value);
    if (label != sa_yaml_grid && !strcmp(key, "preset")) {
        SA_TRY(sa_spec_take_preset(&spec->presets, value, preset));
        value = preset;
    }
    if (!label) return sa_spec_set(spec->options, key, value);
    if (label == sa_yaml_grid) return sa_grid_add(&spec->grid, key, value);
    sa_spec_agent *agent = find_agent(spec, reading->first, label);
    if (!agent) {
        SA_TRY(sa_spec_add_agent(spec, label));
        agent = &spec->agents[spec->agent_count - 1];
    }
    return set_own(spec, agent, key, value);
}

sa_status sa_spec_read(sa_spec *spec, const char *path) {
    spec_reading reading = {spec, spec->agent_count, spec->grid.count};
    char *text;
    size_t size;
    SA_TRY(sa_file_read(path, &text, &size));
    sa_options *kept = sa_options_copy(spec->options);
    sa_status status = kept ? sa_yaml_parse(text, size, path, take_pair, &reading) : SA_OUT_OF_MEMORY;
    if (status != SA_OK && kept) { /* a spec is taken as a whole or not at all */
        sa_spec_drop_agents(spec, reading.first);
        sa_grid_drop(&spec->grid, reading.axes);
        sa_options *half = spec->options;
        spec->options = kept;
        kept = half;
    }
    sa_options_destroy(kept);
    sa_free(text);
    return status;
}
