/* What Linux and macOS do differently, but for what a machine has (machine.h). The part for macOS is by
 * reading: nobody has run it. */
#ifndef SA_BASE_PLATFORM_H
#define SA_BASE_PLATFORM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A library of macOS cannot name `environ` itself. */
#ifdef __APPLE__
#include <crt_externs.h>
#define environ (*_NSGetEnviron())
#else
extern char **environ;
#endif

/* Random bytes of the system, at most 256; false where it has none, with errno. */
bool sa_random_bytes(void *out, size_t bytes);

/* As fsync, and on macOS to the disk itself, not to its cache: there fsync alone does not outlive a power
 * cut. */
int sa_sync_file(int file);

/* The file is at least `from` + `bytes` long, and its disk has room for them; returns 0 or what errno would
 * be. */
int sa_reserve_file(int file, off_t from, off_t bytes);

/* A condition whose timed waits no change of the date disturbs (on macOS it may); and one such wait, of at
 * most so many seconds. */
void sa_condition_init(pthread_cond_t *condition);
void sa_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, double seconds);

/* What the processor is called, "unknown" where nobody says. */
void sa_processor_name(char *out, size_t size);

#endif
