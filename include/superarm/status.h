/* Every call that can fail returns a status. Its numbers never change; the sentence that names the offending
 * value is kept beside it, per thread, and read with sa_last_error(). */
#ifndef SUPERARM_STATUS_H
#define SUPERARM_STATUS_H

#include <superarm/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One list yields the enum, the names and the general messages, so they cannot drift apart. */
#define SA_STATUS_LIST(X)                                                                                    \
    X(OK, 0, "fine")                                                                                         \
    X(OUT_OF_MEMORY, 1, "memory could not be had")                                                           \
    X(INVALID, 2, "an argument or option is wrong")                                                          \
    X(UNKNOWN_DECISION, 3, "no decision has this id, or it was forgotten")                                   \
    X(ALREADY_ANSWERED, 4, "the arm was answered before; nothing was changed")                               \
    X(FILE, 5, "a file could not be read or written")                                                        \
    X(FORMAT, 6, "a file is truncated, damaged or of another kind")                                          \
    X(NEWER, 7, "a file was written by a newer version")                                                     \
    X(UNSUPPORTED, 8, "this build or version cannot do that")                                                \
    X(INTERRUPTED, 9, "the caller asked to stop")                                                            \
    X(CALLBACK, 10, "a function of the caller's own failed")                                                 \
    X(DISK, 11, "the disk is full or failed")                                                                \
    X(CLOSED, 12, "the agent was closed when a call ran out of memory or disk while it learnt")

typedef enum sa_status {
#define SA_STATUS_ENUM(name, number, message) SA_##name = number,
    SA_STATUS_LIST(SA_STATUS_ENUM)
#undef SA_STATUS_ENUM
} sa_status;

/* "SA_INVALID" for 2, and so on; "unknown status" for a number that is not in the list. Never NULL. */
SA_API const char *sa_status_name(sa_status status);
/* The general message of a status. Never NULL. */
SA_API const char *sa_status_message(sa_status status);
/* The sentence of this thread's last failure, "" before the first. Valid until the thread's next failing
 * call. */
SA_API const char *sa_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
