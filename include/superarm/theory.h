/* The paper's theory as numbers, for a set of contexts: docs/THEORY.md has the formulas. */
#ifndef SUPERARM_THEORY_H
#define SUPERARM_THEORY_H

#include <stdbool.h>
#include <stddef.h>

#include <superarm/options.h>
#include <superarm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is not known, or more than a double holds, is NaN or infinite. */
typedef struct sa_theory_numbers {
    /* what they are for */
    size_t contexts, dim;     /* contexts in all: the paper's TN */
    double rounds, slate;     /* T, K */
    double shortest, longest; /* lengths of the contexts; the theorems assume 1 */
    /* the kernel */
    double log_det;             /* log det(I + H / lambda) */
    double effective_dimension; /* log_det / log(1 + TN / lambda) */
    size_t rank;                /* contexts that are independent */
    bool singular; /* rank < contexts: smallest_eigenvalue and norm are those of the independent ones */
    double smallest_eigenvalue; /* lambda_0 of H */
    double norm; /* S = sqrt(2 h' H^-1 h) of the scores h; infinite when no function has these scores */
    /* what the theorems prescribe */
    double samples;    /* M */
    double norm_bound; /* B: --norm-bound where that is given, else S; at least 1 / (22 e sqrt(pi)) in nu */
    double nu;         /* Theorem 2 */
    double eta, steps, steps_ts; /* eta; J of Theorem 1 and of Theorem 2 */
    double smallest_lambda;      /* Theorem 2 */
    double smallest_width;       /* Condition 1 */
    double log10_smallest_width;
    double gamma, error, epsilon; /* gamma_T and e_T of Lemma 1, epsilon of Section 4.4 */
} sa_theory_numbers;

/* H of Definition 1 into kernel (count, count). contexts (count, dim). */
SA_API sa_status sa_theory_ntk(const double *contexts, size_t count, size_t dim, size_t depth,
                               double *kernel);

/* All the numbers. Of the options: depth, regularization, slate, rounds, hidden, delta, norm-bound,
 * sub-gaussian, approximation. The constants that the paper leaves open are 1. contexts (count, dim); scores
 * (count), the expected ones, or NULL. */
SA_API sa_status sa_theory_compute(const sa_options *options, const double *contexts, size_t count,
                                   size_t dim, const double *scores, sa_theory_numbers *numbers);
/* The same for the files --contexts, (n, d), (T, N, d) or (R, T, N, d), and, where given, --scores, of the
 * same shape without its last axis. Of several runs, --first-run is taken. T is --rounds where that is given,
 * else the file's, or n. */
SA_API sa_status sa_theory_of_files(const sa_options *options, sa_theory_numbers *numbers);

/* What a reader of the numbers must know: the index-th sentence into out, false past the last. */
enum { SA_THEORY_NOTE = 256 };
SA_API bool sa_theory_note(const sa_theory_numbers *numbers, size_t index, char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif
