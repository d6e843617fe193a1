/* Options and settings that older versions had in the agents that they saved. */
#ifndef SA_AGENT_OLDER_OPTIONS_H
#define SA_AGENT_OLDER_OPTIONS_H

#include "options/options.h"

typedef struct sa_older_options {
    size_t count; /* lines that are no option of this version */
    struct {
        const char *name, *value; /* borrowed */
    } line[64];
} sa_older_options;

/* Takes a line that is no option of this version; SA_FORMAT where it never was one. Its text must last until
 * sa_older_options_finish. */
sa_status sa_older_options_take(sa_older_options *self, const char *name, const char *value);
/* Is what such a file says what this version does? What it does not say becomes as that version had it. */
sa_status sa_older_options_finish(const sa_older_options *self, sa_options *options);

#endif
