#include "linalg/product_kernel.h"

#include "linalg/kernel_sets.h"

#define KERNEL_BODY "linalg/product_kernel.inc"
#include "linalg/each_set.inc"

static const REAL(product_kernel) *const kernels[] = {
#if defined(__x86_64__)
    &kernel_avx512, &kernel_avx2,
#elif defined(__aarch64__)
    &kernel_neon,
#endif
    &kernel_portable};

const REAL(product_kernel) * REAL(product_kernel_named)(const char *name) {
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; ++i)
        if (strcmp(kernels[i]->name, name) == 0 && sa_kernels_run(name)) return kernels[i];
    return NULL;
}

const REAL(product_kernel) * REAL(product_kernel_best)(void) {
    return REAL(product_kernel_named)(sa_kernels());
}
