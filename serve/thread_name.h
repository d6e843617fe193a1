/* What a thread does at this moment, as its name: `top -H` shows it, and tools/serve-kills chooses its
 * moments by it. */
#ifndef SERVE_THREAD_NAME_H
#define SERVE_THREAD_NAME_H

#ifdef __APPLE__
#include <pthread.h>

static inline void sv_thread_name(const char *name) { pthread_setname_np(name); }
#else
#include <sys/prctl.h>

static inline void sv_thread_name(const char *name) { prctl(PR_SET_NAME, name); }
#endif

#endif
