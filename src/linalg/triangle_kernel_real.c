/* Chooses the kernel. The bodies are in triangle_kernel.inc, included once per instruction set:
 *
 *     KERNEL(name)     the function's name for this set
 *     KERNEL_TARGET    the attribute that lets the compiler use the set
 *     KERNEL_BYTES     size of a vector register
 *     KERNEL_VECTORS   registers that hold rows; with KERNEL_COLUMNS right-hand sides the product of the two,
 *                      the number of
 *                      accumulators, leaves room for the operands among the 32 (AVX-512) or 16 registers
 *     KERNEL_FMA       a b + c for such registers, rounded once where the set can
 *     KERNEL_FMA_FOUR  the same for four numbers
 *
 * Fused operations are asked for by name: left to the compiler (-ffp-contract=fast), some are fused and some
 * not, and columns then differ in their last bits. */
#include "linalg/triangle_kernel.h"

#if SA_REAL_BITS == 32
#define PER_PRECISION(single, double_) single
#else
#define PER_PRECISION(single, double_) double_
#endif
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))

#if defined(__x86_64__)
#include <immintrin.h>

#define KERNEL(name) name##_avx512
#define KERNEL_NAME "avx512"
#define KERNEL_TARGET __attribute__((target("avx512f,avx2,fma")))
#define KERNEL_BYTES 64
#define KERNEL_VECTORS PER_PRECISION(1, 2)
#define KERNEL_COLUMNS PER_PRECISION(24, 12)
#define KERNEL_FMA PER_PRECISION(_mm512_fmadd_ps, _mm512_fmadd_pd)
#define KERNEL_FMA_FOUR PER_PRECISION(_mm_fmadd_ps, _mm256_fmadd_pd)
#include "linalg/triangle_kernel.inc"

#define KERNEL(name) name##_avx2
#define KERNEL_NAME "avx2"
#define KERNEL_TARGET __attribute__((target("avx2,fma")))
#define KERNEL_BYTES 32
#define KERNEL_VECTORS 2
#define KERNEL_COLUMNS 4
#define KERNEL_FMA PER_PRECISION(_mm256_fmadd_ps, _mm256_fmadd_pd)
#define KERNEL_FMA_FOUR PER_PRECISION(_mm_fmadd_ps, _mm256_fmadd_pd)
#include "linalg/triangle_kernel.inc"
#endif

#define KERNEL(name) name##_portable
#define KERNEL_NAME "portable"
#define KERNEL_TARGET
#define KERNEL_BYTES 16
#define KERNEL_VECTORS 2
#define KERNEL_COLUMNS 4
#if defined(__aarch64__)
#include <arm_neon.h>
#define KERNEL_FMA(a, b, c) PER_PRECISION(vfmaq_f32, vfmaq_f64)(c, a, b)
#define KERNEL_FMA_FOUR PER_PRECISION(KERNEL_FMA, MULTIPLY_ADD)
#else
#define KERNEL_FMA MULTIPLY_ADD
#define KERNEL_FMA_FOUR MULTIPLY_ADD
#endif
#include "linalg/triangle_kernel.inc"

const REAL(triangle_kernel) * REAL(triangle_kernel_at)(size_t index) {
#if defined(__x86_64__)
    int has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (has_avx2 && __builtin_cpu_supports("avx512f") && index-- == 0) return &kernel_avx512;
    if (has_avx2 && index-- == 0) return &kernel_avx2;
#endif
    return index == 0 ? &kernel_portable : NULL;
}

const REAL(triangle_kernel) * REAL(triangle_kernel_best)(void) { return REAL(triangle_kernel_at)(0); }
