/* A folder that one process at a time works in. */
#ifndef SA_BASE_LOCK_H
#define SA_BASE_LOCK_H

#include <stdbool.h>

#include "base/status.h"

typedef struct sa_lock {
    char *path; /* NULL: nothing is locked */
    int file;
} sa_lock;

/* Locks FOLDER/.lock`which`: for one, or shared by many. SA_INVALID, naming who has it, where it is taken.
 * File systems that know no locks are worked in without. */
sa_status sa_lock_take(const char *folder, const char *which, bool shared, sa_lock *out);
/* Unlocks, and removes the file where nobody else can have it. */
void sa_lock_release(sa_lock *lock, bool alone);

#endif
