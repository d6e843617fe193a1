/* Single elements of arrays whose precision is known only at run time. Numerics proper is compiled per
 * precision. */
#ifndef SA_BASE_REALS_H
#define SA_BASE_REALS_H

#include <stddef.h>

#include "base/npy.h"
#include "base/option_rows.h"

#define SA_PI 3.14159265358979323846

#define SA_PRECISIONS(X) X(PRECISION_SINGLE, "single") X(PRECISION_DOUBLE, "double")
SA_DECLARE_CHOICES(sa_precision, SA_PRECISIONS);

static inline size_t sa_precision_bytes(sa_precision precision) {
    return precision == SA_PRECISION_SINGLE ? sizeof(float) : sizeof(double);
}

static inline double sa_real_get(sa_precision precision, const void *array, size_t index) {
    return precision == SA_PRECISION_SINGLE ? (double)((const float *)array)[index]
                                            : ((const double *)array)[index];
}

static inline void sa_real_set(sa_precision precision, void *array, size_t index, double value) {
    if (precision == SA_PRECISION_SINGLE)
        ((float *)array)[index] = (float)value;
    else
        ((double *)array)[index] = value;
}

/* Element `index`; NULL for an empty array that has none. */
static inline void *sa_real_at(sa_precision precision, const void *array, size_t index) {
    return array ? (char *)(size_t)array + index * sa_precision_bytes(precision) : NULL;
}

static inline sa_dtype sa_real_dtype(sa_precision precision) {
    return precision == SA_PRECISION_SINGLE ? SA_FLOAT32 : SA_FLOAT64;
}

#endif
