/* Threads for the length of one call: none is left when it returns, so that a process may fork between two
 * selects. */
#ifndef SA_BASE_WORKERS_H
#define SA_BASE_WORKERS_H

#include <stddef.h>

/* Calls job(user, index, worker) for each index below `count`, spread over `threads` threads; worker is below
 * that, and no two calls with the same one overlap. The caller's thread is worker 0. Fewer threads than asked
 * for are fine. */
void sa_workers_run(size_t threads, size_t count, void (*job)(void *user, size_t index, size_t worker),
                    void *user);

#endif
