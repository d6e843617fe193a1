/* Options of two sets beside each other, by name. */
#ifndef SA_SPEC_VALUES_H
#define SA_SPEC_VALUES_H

#include "base/status.h"
#include "options/options.h"

/* Room for the value of any option as text. */
enum { SA_VALUE_SIZE = 16384 };

/* Sets an option of `to` to the value it has in `from`. */
sa_status sa_options_take(sa_options *to, const sa_options *from, const char *name);
/* Has the option the same value in both? Their texts are in value and other (SA_VALUE_SIZE). */
sa_status sa_options_compare(const sa_options *one, const sa_options *two, const char *name, char *value,
                             char *other, bool *same);

#endif
