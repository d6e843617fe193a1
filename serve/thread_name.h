/* What a thread does at this moment, as its name: `top -H` shows it, and tools/serve-kills chooses its
 * moments by it. */
#ifndef SERVE_THREAD_NAME_H
#define SERVE_THREAD_NAME_H

#include <sys/prctl.h>

static inline void thread_name(const char *name) { prctl(PR_SET_NAME, name); }

#endif
