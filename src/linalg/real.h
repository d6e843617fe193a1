/* One source, two precisions. Files that do numerics are compiled twice, with SA_REAL_BITS 32 and 64: they
 * write `real`, and REAL(name) for the names that other files see, which become name_f32 and name_f64. */
#ifndef SA_LINALG_REAL_H
#define SA_LINALG_REAL_H

#if SA_REAL_BITS == 32
typedef float real;
#define REAL(name) name##_f32
#define real_sqrt sqrtf
#elif SA_REAL_BITS == 64
typedef double real;
#define REAL(name) name##_f64
#define real_sqrt sqrt
#else
#error "compile this file with SA_REAL_BITS 32 and 64"
#endif

#endif
