#include "linalg/product_kernel.h"

#include "linalg/kernel_sets.h"

#define KERNEL_BODY "linalg/product_kernel.inc"
#include "linalg/each_set.inc"

#define KERNEL_TYPE REAL(product_kernel)
#define KERNEL_NAMED REAL(product_kernel_named)
#define KERNEL_BEST REAL(product_kernel_best)
#include "linalg/kernel_lookup.inc"
