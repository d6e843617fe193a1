/* The two sides from which exact widths are computed, each in two precisions: the n x n factor of dual_real.c, and the p x p one
 * of primal_real.c.
 * They give the same answer at different cost; exact.c chooses, and changes from one to the other. */
#ifndef SA_CONFIDENCE_EXACT_FORM_H
#define SA_CONFIDENCE_EXACT_FORM_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "base/npy.h"
#include "model/gradients.h"

enum { SA_WIDTH_COLUMNS = 240 }; /* gradients taken at a time, so that workspace stays bounded for any number of arms */

typedef struct sa_exact_form_class {
    const char *name;
    sa_precision precision;
    /* Z = lambda I + the gradients counted so far, of the same precision (an empty batch: none). */
    sa_status (*create)(double lambda, const sa_gradients *counted, void **out);
    void (*destroy)(void *form); /* NULL is fine */
    /* squared[i] = g' Z^-1 g for the batch's rows i = rows[0 .. count), or for its first `count` with rows NULL. The batch
     * is of this precision; `ticket` names it. `*rho` is the smallest lambda g' Z^-1 g / g'g, or 0: see
     * sa_smaller_rho. */
    sa_status (*squared_widths)(void *form, const sa_gradients *batch, const size_t *rows, size_t count, uint64_t ticket,
                                double *squared, double *rho);
    /* Lowers squared[i], upper bounds of the above for rows[0 .. count), at a small part of its cost. NULL: cannot. */
    sa_status (*tighten)(void *form, const sa_gradients *batch, const size_t *rows, size_t count, double *squared);
    /* Adds the gradients of the batch, times `scale`; see sa_confidence_class.count. */
    sa_status (*count)(void *form, const sa_gradients *batch, uint64_t ticket, const size_t *rows, double scale);
    /* See sa_confidence_class.reserve. */
    sa_status (*reserve)(void *form, size_t count, size_t at_once);
    double (*log_det)(const void *form);
    size_t (*bytes)(const void *form);
    sa_status (*save)(const void *form, sa_npz_writer *writer);
    /* Into a form that was created with no gradients; `counted` are in the file. */
    sa_status (*load)(void *form, sa_npz *archive, size_t counted);
    /* The gradients counted so far; NULL for a form that does not keep them. */
    const sa_gradients *(*counted)(const void *form);
    /* For a form that does not keep its gradients: Z = lambda I + factor (Z - lambda I); on failure Z is as it was. Else NULL. */
    sa_status (*fade)(void *form, double factor);
    /* Holds rows[0 .. count) of `from` (rows NULL: the first), of any precision, in place of those counted so far, with `factor`
     * (count, count), lower, as its factor; cannot fail where there were as many before. NULL for a form that keeps none. */
    sa_status (*hold)(void *form, const sa_gradients *from, const size_t *rows, size_t count, const double *factor);
    /* A double-precision form from a single one that does not keep its gradients; else NULL. */
    sa_status (*widen)(const void *single, void **out);
} sa_exact_form_class;

/* Squares up to here, and the sums of a hundred million of them, are safe in single precision. */
#define SA_LARGEST_SQUARE 1e30

/* The smaller of rho and part / norm, with norm = g'g and part = lambda g' Z^-1 g; 0 when single precision cannot hold what
 * counting this gradient takes, or could not hold what computing `part` took. */
static inline double sa_smaller_rho(double rho, double part, double norm) {
    if (!(norm <= SA_LARGEST_SQUARE) || isnan(part)) return 0;
    return part < rho * norm ? part / norm : rho;
}

extern const sa_exact_form_class sa_dual_f32, sa_dual_f64, sa_primal_f32, sa_primal_f64;

#endif
