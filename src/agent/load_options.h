/* Options given when a saved agent is loaded: those that the saved numbers keep their meaning under. */
#ifndef SA_AGENT_LOAD_OPTIONS_H
#define SA_AGENT_LOAD_OPTIONS_H

#include "options/options.h"

/* Sets each of them in the saved options. SA_INVALID, with a sentence that names it, for an option that would
 * change the agent's shape, or that is not an agent's. */
sa_status sa_load_options_set(sa_options *saved, const char *const *names, const char *const *values,
                              size_t count);

#endif
