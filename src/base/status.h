/* How the library reports a failure: `return sa_fail(SA_INVALID, "--slate %zu is more than --arms %zu", k,
 * n);` */
#ifndef SA_BASE_STATUS_H
#define SA_BASE_STATUS_H

#include <superarm/status.h>

/* Keeps the sentence for sa_last_error() and returns the status. */
__attribute__((format(printf, 2, 3))) sa_status sa_fail(sa_status status, const char *format, ...);
/* Puts words in front of the kept sentence ("agent.npz: ") and returns the status. */
__attribute__((format(printf, 2, 3))) sa_status sa_fail_prefix(sa_status status, const char *format, ...);

/* SA_OUT_OF_MEMORY for ENOMEM, SA_DISK where the disk is full or failed, and SA_FILE: the name or its rights
 * are wrong. */
sa_status sa_status_of_errno(int code);
/* That status with "path cannot be verb: errno's reason". */
sa_status sa_fail_errno(const char *verb, const char *path);

/* Leaves the function with the status of a failed call; for functions that hold nothing to release. */
#define SA_TRY(call)                                                                                         \
    do {                                                                                                     \
        sa_status sa_try_status = (call);                                                                    \
        if (sa_try_status != SA_OK) return sa_try_status;                                                    \
    } while (0)

/* The same, but jumps to `fail:` with the status in a variable named `status`. */
#define SA_TRY_OR_FAIL(call)                                                                                 \
    do {                                                                                                     \
        status = (call);                                                                                     \
        if (status != SA_OK) goto fail;                                                                      \
    } while (0)

#endif
