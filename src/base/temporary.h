/* The temporary beside a file that is being replaced: FILE.PID-N.tmp, and what libzip writes for it,
 * FILE.PID-N.tmp.XXXXXX.
 *
 * Whoever writes one holds a shared lock (flock) on the folder until it is renamed. So a process that gets
 * the lock for itself alone knows that nobody writes here: the temporaries of its file are of processes that
 * were killed, and it removes them. */
#ifndef SA_BASE_TEMPORARY_H
#define SA_BASE_TEMPORARY_H

#include <sys/types.h>

#include "base/status.h"

/* Opens the target's folder, removes what killed processes left of temporaries of this target, and holds the
 * lock until the descriptor is closed. -1 when the folder cannot be opened; it is no failure, nor is a file
 * system without locks. */
int sa_temporary_folder(const char *target);
/* A new file beside the target; caller frees the name. */
sa_status sa_temporary_open(const char *target, mode_t mode, char **temporary, int *file);

#endif
