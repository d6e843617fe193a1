/* An experiment as it is asked for: options for all agents, agents with options of their own, a grid. */
#ifndef SA_SPEC_SPEC_H
#define SA_SPEC_SPEC_H

#include "options/options.h"
#include "spec/grid.h"
#include <superarm/own.h>

typedef struct sa_spec_agent {
    char *label;
    sa_options *own;   /* what was set for this agent: the options that are `given` */
    sa_own_agent code; /* of the caller's own; without `select` it is one of ours */
} sa_spec_agent;

typedef struct sa_spec {
    sa_options *options;   /* for all agents */
    sa_spec_agent *agents; /* (agent_count) from --agent and `agents:` */
    size_t agent_count, agent_capacity;
    sa_grid grid;
    char *presets; /* what a spec says of presets, "tuned-2,tuned-2 init=uniform"; NULL: nothing */
} sa_spec;

/* With the default options. sa_spec_clear also after a failure. */
sa_status sa_spec_init(sa_spec *spec);
void sa_spec_clear(sa_spec *spec);

/* Reads a YAML spec, as a whole or not at all. */
sa_status sa_spec_read(sa_spec *spec, const char *path);
/* Sets one option for all agents. */
sa_status sa_spec_set_all(sa_spec *spec, const char *name, const char *value);
/* Adds an agent without options of its own, last. */
sa_status sa_spec_add_agent(sa_spec *spec, const char *label);
/* Adds one from "LABEL:algorithm=cn-ucb,gamma=0.3". */
sa_status sa_spec_add_text(sa_spec *spec, const char *text);
/* Sets one option of the agent with this label, which is added where there is none. */
sa_status sa_spec_set_agent(sa_spec *spec, const char *label, const char *name, const char *value);
void sa_spec_drop_agents(sa_spec *spec, size_t kept);
/* SA_INVALID unless it can be an agent's. */
sa_status sa_label_check(const char *label);

#endif
