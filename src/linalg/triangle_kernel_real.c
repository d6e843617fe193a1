/* Chooses the kernel. The bodies are in triangle_kernel.inc, included once per instruction set:
 *
 *     KERNEL(name)    the function's name for this set
 *     KERNEL_TARGET   the attribute that lets the compiler use the set
 *     KERNEL_BYTES    size of a vector register
 *     KERNEL_VECTORS  registers that hold rows; with KERNEL_COLUMNS right-hand sides the product of the two, the number of
 *                     accumulators, leaves room for the operands among the 32 (AVX-512) or 16 registers
 *
 * This file is compiled with -ffp-contract=fast: a * b + c is one fused operation wherever the set has it. */
#include "linalg/triangle_kernel.h"

#if SA_REAL_BITS == 32
#define PER_PRECISION(single, double_) single
#else
#define PER_PRECISION(single, double_) double_
#endif

#if defined(__x86_64__)
#define HAVE_X86 1

#define KERNEL(name) name##_avx512
#define KERNEL_NAME "avx512"
#define KERNEL_TARGET __attribute__((target("avx512f,avx2,fma")))
#define KERNEL_BYTES 64
#define KERNEL_VECTORS PER_PRECISION(1, 2)
#define KERNEL_COLUMNS PER_PRECISION(24, 12)
#include "linalg/triangle_kernel.inc"

#define KERNEL(name) name##_avx2
#define KERNEL_NAME "avx2"
#define KERNEL_TARGET __attribute__((target("avx2,fma")))
#define KERNEL_BYTES 32
#define KERNEL_VECTORS 2
#define KERNEL_COLUMNS 4
#include "linalg/triangle_kernel.inc"
#endif

#define KERNEL(name) name##_portable
#define KERNEL_NAME "portable"
#define KERNEL_TARGET
#define KERNEL_BYTES 16
#define KERNEL_VECTORS 2
#define KERNEL_COLUMNS 4
#include "linalg/triangle_kernel.inc"

const REAL(triangle_kernel) * REAL(triangle_kernel_at)(size_t index) {
#ifdef HAVE_X86
    int has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (has_avx2 && __builtin_cpu_supports("avx512f") && index-- == 0) return &kernel_avx512;
    if (has_avx2 && index-- == 0) return &kernel_avx2;
#endif
    return index == 0 ? &kernel_portable : NULL;
}

const REAL(triangle_kernel) * REAL(triangle_kernel_best)(void) { return REAL(triangle_kernel_at)(0); }
