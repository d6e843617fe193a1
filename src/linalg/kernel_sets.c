#include "linalg/kernel_sets.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* Best first; the last one runs everywhere. */
static const char *const sets[] = {
#if defined(__x86_64__)
    "avx512", "avx2",
#elif defined(__aarch64__)
    "neon",
#endif
    "portable"};

enum { SETS = sizeof sets / sizeof *sets };

bool sa_kernels_run(const char *name) {
#if defined(__x86_64__)
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
    if (strcmp(name, "avx512") == 0) return avx512;
    if (strcmp(name, "avx2") == 0) return avx2;
#endif
    for (size_t i = 0; i < SETS; i++)
        if (strcmp(name, sets[i]) == 0) return true;
    return false;
}

static const char *best(void) {
    size_t i = 0;
    while (!sa_kernels_run(sets[i])) i++;
    return sets[i];
}

static const char *wished(void) {
    const char *name = getenv("SUPERARM_KERNELS");
    return name && name[0] ? name : NULL;
}

/* Looked up once; every thread finds the same. */
const char *sa_kernels(void) {
    static _Atomic(const char *) found;
    const char *name = atomic_load_explicit(&found, memory_order_relaxed);
    if (name) return name;
    const char *wish = wished();
    name = best();
    for (size_t i = 0; wish && i < SETS; i++)
        if (strcmp(wish, sets[i]) == 0 && sa_kernels_run(wish)) name = sets[i];
    atomic_store_explicit(&found, name, memory_order_relaxed);
    return name;
}

sa_status sa_kernels_check(void) {
    const char *wish = wished();
    if (!wish || sa_kernels_run(wish)) return SA_OK;
    char can[64] = "";
    for (size_t i = 0; i < SETS; i++)
        if (sa_kernels_run(sets[i])) strcat(strcat(can, can[0] ? ", " : ""), sets[i]);
    return sa_fail(SA_INVALID, "SUPERARM_KERNELS is %s, which this CPU cannot run; it can run %s", wish, can);
}
