/* Rows of contexts on their way to the model's inputs, per precision: loops over one row, which compilers
 * vectorise. */
#ifndef SA_MODEL_ROWS_REAL_H
#define SA_MODEL_ROWS_REAL_H

#include <stdbool.h>
#include <stddef.h>

/* An item and what all items share. */
typedef struct sa_joined {
    const double *item, *shared;
    size_t items, shares; /* their features */
    bool concatenated, multiplied;
    bool narrow; /* both were given in single precision, and so are their products */
} sa_joined;

#define SA_ROWS_REAL(real, name)                                                                             \
    /* to (count) = from; false when one of them is not finite in this precision */                          \
    bool rows_take_wide_##name(const double *from, size_t count, real *to);                                  \
    bool rows_take_narrow_##name(const float *from, size_t count, real *to);                                 \
    bool rows_are_finite_##name(const real *from, size_t count);                                             \
    /* to = item (items), shared (shares), or the products item_i shared_j, or all of these: as the \
     * flags say */        \
    void rows_join_##name(const sa_joined *from, real *to);                                                  \
    /* row (dim) *= 1 / |row|; a row of zeros stays */                                                       \
    void rows_to_unit_##name(real *row, size_t dim);                                                         \
    /* Welford's update of mean and sum of squared differences (dim) by rows (count, dim); `seen` rows \
     * came before */     \
    void rows_see_##name(const real *raw, size_t count, size_t dim, double seen, double *mean,               \
                         double *squares);                                                                   \
    /* low, high (dim): least and largest of rows (count, dim), and of those before, if any */               \
    void rows_extremes_##name(const real *raw, size_t count, size_t dim, bool first, double *low,            \
                              double *high);                                                                 \
    /* How many of the features (dim) are more than `times` deviations from the mean of `seen` rows? */      \
    size_t rows_count_far_##name(const real *row, size_t dim, double seen, const double *mean,               \
                                 const double *squares, double times);                                       \
    /* out (count, width) = (raw (count, dim) - mean) * factor, 0 where that is larger than `most`; \
     * what is past dim stays */        \
    void rows_standardise_##name(const real *raw, size_t count, size_t dim, const double *mean,              \
                                 const double *factor, double most, real *out, size_t width);                \
    /* sum (count) = start + theta'(x - centre), for rows x (count, dim); added up in the order of the \
     * features */     \
    void rows_regress_##name(const real *x, size_t count, size_t dim, double start, const double *theta,     \
                             const double *centre, double *sum);
SA_ROWS_REAL(float, f32)
SA_ROWS_REAL(double, f64)
#undef SA_ROWS_REAL

#endif
