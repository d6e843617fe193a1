/* A confidence engine knows how unsure the model is: the width sqrt(g' Z^-1 g) of a gradient g (divided by sqrt(m)), with
 * Z = lambda I + the sum of g g' over the gradients counted so far. */
#ifndef SA_CONFIDENCE_CONFIDENCE_H
#define SA_CONFIDENCE_CONFIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/npy.h"
#include "base/options.h"
#include "model/gradients.h"

typedef struct sa_confidence sa_confidence;

typedef struct sa_confidence_state {
    size_t counted;   /* gradients in Z */
    double log_det;   /* log det Z / det(lambda I) */
    size_t bytes;     /* memory held */
    bool in_double;   /* computed in double precision */
    bool from_primal; /* from the p x p side */
} sa_confidence_state;

typedef struct sa_confidence_class {
    const char *name;
    const char *summary;
    /* For gradients with these pairs. */
    sa_status (*create)(const sa_options *options, size_t pairs, const sa_pair_shape *shape, sa_confidence **out);
    void (*destroy)(sa_confidence *confidence);
    /* width[i] for the batch's rows i = rows[0 .. count), or for its first `count` with rows NULL. `*ticket` names the batch:
     * 0 for a new one, and then the name is put there (or it stays 0: the engine keeps nothing); what it was for more rows of
     * the same. count can reuse the work. */
    sa_status (*widths)(sa_confidence *confidence, const sa_gradients *batch, const size_t *rows, size_t count,
                        double *width, uint64_t *ticket);
    /* Lowers width[i], upper bounds of the widths of the same rows, at a small part of the cost of `widths`. NULL: widths cost
     * so little that bounds are not worth it. */
    sa_status (*tighten)(sa_confidence *confidence, const sa_gradients *batch, const size_t *rows, size_t count,
                         double *width);
    /* Counts all gradients of `batch` into Z. They are rows[i] of the batch that `ticket` names, or any (ticket 0). On
     * failure Z is as it was. */
    sa_status (*count)(sa_confidence *confidence, const sa_gradients *batch, uint64_t ticket, const size_t *rows);
    /* Room for `count` more gradients, counted in batches of at most `at_once`, so that none of it can fail; 0: no
     * more of these will come. NULL: counting never fails. */
    sa_status (*reserve)(sa_confidence *confidence, size_t count, size_t at_once);
    /* Forgetting: Z = lambda I + factor (Z - lambda I), 0 <= factor <= 1; names of batches (tickets) lose their meaning. On failure
     * Z is as it was. NULL: cannot. */
    sa_status (*discount)(sa_confidence *confidence, double factor);
    /* c >= 1, perhaps infinite: every width w now stands for an exact one between w / c and w c, rounding apart. NULL: there is no
     * such bound. */
    double (*certificate)(const sa_confidence *confidence);
    void (*state)(const sa_confidence *confidence, sa_confidence_state *state);
    sa_status (*save)(const sa_confidence *confidence, sa_npz_writer *writer);
    sa_status (*load)(sa_confidence *confidence, sa_npz *archive);
} sa_confidence_class;

/* Every engine begins with this. */
struct sa_confidence {
    const sa_confidence_class *kind;
};

sa_status sa_confidence_create(const sa_options *options, size_t pairs, const sa_pair_shape *shape, sa_confidence **out);
void sa_confidence_destroy(sa_confidence *confidence); /* NULL is fine */
/* Counts all of a batch; it is announced first, so that the engine can choose how. */
sa_status sa_confidence_count_all(sa_confidence *confidence, const sa_gradients *batch);
/* The engine of --confidence, NULL past the last. */
const sa_confidence_class *sa_confidence_class_at(size_t kind);

/* NaN without an engine, or where it has no bound. */
double sa_confidence_certificate(const sa_confidence *confidence);

extern const sa_confidence_class sa_confidence_exact, sa_confidence_diagonal, sa_confidence_last_layer,
    sa_confidence_sketch, sa_confidence_auto;

#endif
