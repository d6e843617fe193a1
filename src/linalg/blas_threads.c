/* The one process-wide number that BLAS has. */
#include <cblas.h>

#include <superarm/threads.h>

int sa_blas_threads(int threads) {
    int before = openblas_get_num_threads();
    if (threads > 0) openblas_set_num_threads(threads);
    return before;
}
