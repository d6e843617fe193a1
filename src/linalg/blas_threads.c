/* The one process-wide number that BLAS has. */
#include <cblas.h>

#include <superarm/threads.h>

#include "linalg/blas_gate.h"

int sa_blas_threads(int threads) {
    int before = openblas_get_num_threads();
    if (threads > 0)
        SA_IN_BLAS(
            openblas_set_num_threads(threads)); /* a fork ends BLAS's threads, and must not meet this */
    return before;
}
