/* A factor of Z, from which exact widths are computed: of the n x n side (dual_real.c) or of the p x p side
 * (primal_real.c), each in two precisions. They give the same answer at different cost; when to change from
 * one to another is change_over.h's matter. */
#ifndef SA_CONFIDENCE_FACTOR_H
#define SA_CONFIDENCE_FACTOR_H

#include "confidence/confidence.h"

typedef struct sa_factor sa_factor;

/* Nine functions: a factor is asked, told, copied, and written to files. */
typedef struct sa_factor_class {
    bool primal;
    sa_precision precision;
    /* Z = lambda I + these gradients, of any precision (an empty batch: none). */
    sa_status (*create)(double lambda, const sa_gradients *counted, sa_factor **out);
    void (*destroy)(sa_factor *factor);
    /* A copy that shares what only grows, and copies the rest before it writes. */
    sa_status (*fork)(const sa_factor *factor, sa_factor **out);
    /* squared[i] = g' Z^-1 g for the batch's rows i = rows[0 .. count), or for its first `count` with rows
     * NULL. label: see sa_confidence_class.widths. `*rho` is the smallest lambda g' Z^-1 g / g'g, or 0: see
     * sa_smaller_rho. */
    sa_status (*squared_widths)(const sa_factor *factor, const sa_gradients *batch, const size_t *rows,
                                size_t count, const size_t *label, sa_width_work *work, double *squared,
                                double *rho);
    /* Lowers squared[i], upper bounds of the above for rows[0 .. count), at a small part of its cost. NULL:
     * cannot. */
    sa_status (*tighten)(const sa_factor *factor, const sa_gradients *batch, const size_t *rows, size_t count,
                         sa_width_work *work, double *squared);
    /* Adds the gradients of the batch, of any precision, times `scale`. label: see
     * sa_confidence_class.count. */
    sa_status (*count)(sa_factor *factor, const sa_gradients *batch, const size_t *label, double scale,
                       sa_width_work *work);
    double (*log_det)(const sa_factor *factor);
    sa_status (*save)(const sa_factor *factor, sa_npz_writer *writer);
    /* Into a factor that was created with no gradients; `counted` are in the file. */
    sa_status (*load)(sa_factor *factor, sa_npz *archive, size_t counted);
} sa_factor_class;

/* Every factor begins with this. */
struct sa_factor {
    const sa_factor_class *kind;
    double lambda;
};

extern const sa_factor_class sa_dual_f32, sa_dual_f64, sa_primal_f32, sa_primal_f64;
const sa_factor_class *sa_factor_class_of(bool primal, sa_precision precision);
void sa_factor_destroy(sa_factor *factor); /* NULL is fine */
/* `*factor` becomes `next`. */
void sa_factor_replace(sa_factor **factor, sa_factor *next);

/* ---- the dual side alone ---- */

/* The gradients that a dual factor holds. */
const sa_gradients *sa_dual_gradients(const sa_factor *dual);
/* A dual factor that holds rows[0 .. count) of `from` (rows NULL: the first), of any precision, with C =
 * `lower` (count, count): some gradients stand for all that were counted, and K = C C' is what the caller
 * says. */
sa_status sa_dual_from(sa_precision precision, double lambda, const sa_gradients *from, const size_t *rows,
                       size_t count, const double *lower, sa_factor **out);

/* ---- the primal side alone ---- */

/* Z = lambda I + factor (Z - lambda I) */
sa_status sa_primal_fade(sa_factor *primal, double factor);
/* Z = Z + (lambda - the present one) I */
sa_status sa_primal_regularize(sa_factor *primal, double lambda);
/* A double-precision factor from a single one. */
sa_status sa_primal_widen(const sa_factor *single, sa_factor **out);

/* ---- what the engines share ---- */

/* Widths of a factor that stands for phi times its Z (fading.h), as sa_confidence_class has them. */
sa_status sa_factor_widths(const sa_factor *factor, double phi, const sa_gradients *batch, const size_t *rows,
                           size_t count, const size_t *label, sa_width_work *work, double *width);
sa_status sa_factor_tighten(const sa_factor *factor, double phi, const sa_gradients *batch,
                            const size_t *rows, size_t count, sa_width_work *work, double *width);
/* Can this factor hold these gradients, of which nobody has asked the widths? They may be too large for
 * single precision. */
sa_status sa_factor_fits(const sa_factor *factor, const sa_gradients *batch, bool *fits);
/* work->part = the batch's gradients [first, first + count), or rows[first ...], in this precision. There is
 * room for whole blocks of inner products, or else the last bits of a width would depend on how many others
 * were asked for with it. */
sa_status sa_work_take(sa_width_work *work, sa_precision precision, const sa_gradients *batch,
                       const size_t *rows, size_t first, size_t count);

/* Squares up to here, and the sums of a hundred million of them, are safe in single precision. */
#define SA_LARGEST_SQUARE 1e30

/* The smaller of rho and part / norm, with norm = g'g and part = lambda g' Z^-1 g; 0 when single precision
 * cannot hold what counting this gradient takes, or could not hold what computing `part` took. */
double sa_smaller_rho(double rho, double part, double norm);

#endif
