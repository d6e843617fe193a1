/* Oracle data as an option. */
#ifndef SA_SPEC_PROBLEM_OPTION_H
#define SA_SPEC_PROBLEM_OPTION_H

#include "options/options.h"

/* Is this the name of oracle data? */
bool sa_is_datum(const char *name);
/* As sa_options_set; the name of oracle data ("costs") is one more entry of --problem. */
sa_status sa_spec_set(sa_options *options, const char *name, const char *value);
/* Files named in a --problem get their full paths. */
sa_status sa_problem_text_resolve(char **text);

#endif
