/* The instruction set that matrix products and solves use. Results have the same bytes under each. */
#ifndef SUPERARM_KERNELS_H
#define SUPERARM_KERNELS_H

#include <superarm/export.h>
#include <superarm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* avx512, avx2, neon or portable: the best that this CPU runs, or what the environment's SUPERARM_KERNELS
 * names. */
SA_API const char *sa_kernels(void);
/* SA_INVALID, with a sentence, where SUPERARM_KERNELS names what this CPU cannot run. Agents and experiments
 * are refused then, too. */
SA_API sa_status sa_kernels_check(void);

#ifdef __cplusplus
}
#endif

#endif
