/* Options that older versions had in the agents that they saved. */
#ifndef SA_AGENT_OLDER_OPTIONS_H
#define SA_AGENT_OLDER_OPTIONS_H

#include "options/options.h"

typedef struct sa_older_options {
    bool there;       /* a line of an older version was */
    bool rate_theory; /* `rate` was the constant C */
} sa_older_options;

/* Takes a line that is no option of this version; SA_FORMAT where it never was one. */
sa_status sa_older_options_take(sa_older_options *self, const char *name, const char *value);
/* What such a file does not say, as that version had it. */
sa_status sa_older_options_finish(const sa_older_options *self, sa_options *options);

#endif
