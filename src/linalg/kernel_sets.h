/* Which instruction set the kernels use: the best that this CPU has, or the one that the environment's
 * SUPERARM_KERNELS names (avx512, avx2, neon, portable). All give the same bits. Where it names what is not
 * there the best is used, and sa_kernels_check says so. */
#ifndef SA_LINALG_KERNEL_SETS_H
#define SA_LINALG_KERNEL_SETS_H

#include <stdbool.h>
#include <stddef.h>

#include <superarm/kernels.h>

/* Can this CPU run the set of that name? */
bool sa_kernels_run(const char *name);

#endif
