/* A few numbers as a user gives them: written out with commas, or as the name of an npy file. */
#ifndef SA_BASE_NUMBERS_H
#define SA_BASE_NUMBERS_H

#include "base/npy.h"

/* "0.4,1,0.2" becomes an array of float64 with one axis; any other text is the name of an npy file, with
 * whatever that holds. Caller frees with sa_array_clear. */
sa_status sa_numbers_read(const char *text, sa_array *out);
/* The same with two axes: "0,1|1,2|2,0" has three rows. */
sa_status sa_rows_read(const char *text, sa_array *out);

#endif
