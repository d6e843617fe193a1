/* The two yardsticks: the exact width of p parameters with the p x p inverse of Z kept, one Sherman-Morrison
 * step for each chosen arm. Only widths and Z: gradients are given, nothing is trained, which favours the
 * yardsticks. */
#ifndef SUPERARM_BENCH_NAIVE_H
#define SUPERARM_BENCH_NAIVE_H

#include <stddef.h>

typedef enum naive_form {
    /* as the published code does it: a line of PyTorch, a fresh p x p matrix for every operation */
    NAIVE_AUTHORS,
    NAIVE_IN_PLACE /* the same with BLAS, in place, on one triangle of the symmetric inverse */
} naive_form;

typedef struct naive_size {
    size_t parameters; /* p */
    size_t arms;       /* N */
    size_t slate;      /* K */
} naive_size;

/* The network of the paper's experiments: d 80, m 100, L 2 and so p = 8100; N 20, K 4. */
extern const naive_size naive_paper_size;

/* Plays `warm_up` rounds and then `rounds` rounds in single precision; the mean seconds of one of the latter.
 * `widths` (rounds x arms; NULL is fine) gets their squared widths g' Z^-1 g. Negative when memory is
 * short. */
double naive_seconds(naive_form form, const naive_size *size, size_t warm_up, size_t rounds, float *widths);

#endif
