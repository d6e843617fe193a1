/* Options and settings that earlier versions had, and the one value of each that is what this version does.
 * Saved agents, journals and specs name them. */
#ifndef SA_OPTIONS_GONE_H
#define SA_OPTIONS_GONE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* The index-th; NULL: there is none. */
const char *sa_gone_name(size_t index);
/* The value that it had in this preset; NULL: there never was such an option or setting. */
const char *sa_gone_value(const char *name, int preset);
/* Was it one that users set? */
bool sa_gone_is_option(const char *name);
/* SA_OK where it had this value, else a sentence. Only for names that sa_gone_value knows. */
sa_status sa_gone_check(const char *name, const char *value, int preset);

#endif
