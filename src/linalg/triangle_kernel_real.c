#include "linalg/triangle_kernel.h"

#include "linalg/kernel_sets.h"

#define KERNEL_BODY "linalg/triangle_kernel.inc"
#include "linalg/each_set.inc"

#define KERNEL_TYPE REAL(triangle_kernel)
#define KERNEL_NAMED REAL(triangle_kernel_named)
#define KERNEL_BEST REAL(triangle_kernel_best)
#include "linalg/kernel_lookup.inc"
