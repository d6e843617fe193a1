/* Threads of BLAS, the one thing that is the process's and not the caller's. */
#ifndef SUPERARM_THREADS_H
#define SUPERARM_THREADS_H

#include <superarm/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the number of threads of BLAS, and returns what it was; 0 only asks. It holds for the whole process,
 * other users of the same BLAS included, so the library never calls it: that is for programs, while no BLAS
 * call is under way. Results are promised to be the same bytes under 1, which is what the program `superarm`
 * sets; experiments spread their runs over threads instead. */
SA_API int sa_blas_threads(int threads);

#ifdef __cplusplus
}
#endif

#endif
