/* Another program, run to its end. */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <stddef.h>

/* Runs words (ended by NULL), found along PATH, and keeps the beginning of what it prints; stderr goes to
 * `said`, of which the last line is kept. Returns its exit status, 127 when there is no such program. */
int child_run(char *const *words, char *out, size_t out_size, char *said, size_t said_size);

#endif
