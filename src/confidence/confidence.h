/* A confidence engine knows how unsure the model is: the width sqrt(g' Z^-1 g) of a gradient g (divided by
 * sqrt(m)), with Z = lambda I + the sum of g g' over the gradients counted so far.
 *
 * Asking for widths changes nothing but the workspace, so that any number of threads can; who counts while
 * others hold the engine goes on with a fork of it (base/memory.h). */
#ifndef SA_CONFIDENCE_CONFIDENCE_H
#define SA_CONFIDENCE_CONFIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/npy.h"
#include "base/workspace.h"
#include "confidence/options.h"
#include "model/gradients.h"

typedef struct sa_confidence sa_confidence;

typedef struct sa_confidence_state {
    size_t counted;   /* gradients in Z */
    double log_det;   /* log det Z / det(lambda I) */
    bool in_double;   /* computed in double precision */
    bool from_primal; /* from the p x p side */
} sa_confidence_state;

/* SA_WIDTH_COLUMNS: gradients taken at a time, so that workspace stays bounded for any number of arms.
 * SA_WIDTH_GROUP: so many widths take hardly longer than one, as all wait for the factor to come from
 * memory. */
enum { SA_WIDTH_COLUMNS = 240, SA_WIDTH_GROUP = 8 };

/* What solving for widths has found of some gradients, kept so that counting these need not solve for it
 * again. */
typedef struct sa_solved {
    uint64_t version;               /* of the engine; 0: nothing is to be kept */
    size_t count, columns;          /* kept; room for so many */
    size_t label[SA_WIDTH_COLUMNS]; /* (count) the caller's names of the gradients */
    void *column;                   /* (rows of the factor, columns), of the factor's precision */
    size_t bytes;                   /* of its memory */
} sa_solved;

/* Workspace of one thread. */
typedef struct sa_width_work {
    sa_gradients part;     /* the gradients at hand, in the precision of the engine */
    sa_workspace solution; /* what is solved for them */
    sa_solved solved;
    /* widths were asked for that single precision may not hold: the engine should be widened */
    bool imprecise;
} sa_width_work;

void sa_width_work_clear(sa_width_work *work); /* a zeroed struct is an empty one */
/* Forgets what was kept, and keeps what is solved for from now on, of at most `most` gradients. */
void sa_solved_begin(sa_solved *solved, const sa_confidence *confidence, size_t most);

/* Thirteen functions: an engine is asked, told, copied for those who ask while it is told, and written to
 * files. */
typedef struct sa_confidence_class {
    const char *name;
    const char *summary;
    bool sums; /* can it count gradients that are sums, as --feedback total has them? */
    /* For gradients with these pairs. */
    sa_status (*create)(const sa_confidence_settings *settings, size_t pairs, const sa_pair_shape *shape,
                        sa_confidence **out);
    void (*destroy)(sa_confidence *confidence);
    /* A copy to go on counting with, while others hold this one: what is only read is shared, and what only
     * counting needs goes over to the copy. */
    sa_status (*fork)(sa_confidence *confidence, sa_confidence **out);
    /* width[i] for the batch's rows i = rows[0 .. count), or for its first `count` with rows NULL. label
     * (batch): the names that solved columns are kept by; NULL: none are kept. */
    sa_status (*widths)(const sa_confidence *confidence, const sa_gradients *batch, const size_t *rows,
                        size_t count, const size_t *label, sa_width_work *work, double *width);
    /* Lowers width[i], upper bounds of the widths of the same rows, at a small part of the cost of `widths`.
     * NULL: widths cost so little that bounds are not worth it. */
    sa_status (*tighten)(const sa_confidence *confidence, const sa_gradients *batch, const size_t *rows,
                         size_t count, sa_width_work *work, double *width);
    /* Counts all gradients of `batch` into Z. label (batch): their names in work->solved, which is of this
     * engine as it is; NULL: nothing was kept. */
    sa_status (*count)(sa_confidence *confidence, const sa_gradients *batch, const size_t *label,
                       sa_width_work *work);
    /* Forgetting: Z = lambda I + factor (Z - lambda I), 0 <= factor <= 1. NULL: cannot. */
    sa_status (*fade)(sa_confidence *confidence, double factor);
    /* Z's lambda becomes this one; what was counted stays. NULL: cannot. */
    sa_status (*regularize)(sa_confidence *confidence, double lambda);
    /* So many gradients are to be counted, one batch after another: the engine chooses how. NULL: it has no
     * choice. */
    sa_status (*expect)(sa_confidence *confidence, size_t count);
    /* Goes over to double precision, where it is not there. NULL: it always is. */
    sa_status (*widen)(sa_confidence *confidence);
    /* c >= 1, perhaps infinite: every width w now stands for an exact one between w / c and w c, rounding
     * apart. NULL: there is no such bound. */
    double (*certificate)(const sa_confidence *confidence);
    void (*state)(const sa_confidence *confidence, sa_confidence_state *state);
    sa_status (*save)(const sa_confidence *confidence, sa_npz_writer *writer);
    sa_status (*load)(sa_confidence *confidence, sa_npz *archive);
} sa_confidence_class;

/* Every engine begins with this. */
struct sa_confidence {
    const sa_confidence_class *kind;
    uint64_t version; /* changes whenever the engine does */
    /* scores that the latest decision asked widths for, set before gradients are counted: the cost of
     * rounds */
    double asked;
};

sa_status sa_confidence_create(const sa_confidence_settings *settings, size_t pairs,
                               const sa_pair_shape *shape, sa_confidence **out);
void sa_confidence_destroy(sa_confidence *confidence); /* gives up one hold; NULL is fine */
/* Before it changes: where others hold `*confidence`, it becomes a fork. */
sa_status sa_confidence_unshare(sa_confidence **confidence);
/* `*confidence`, perhaps NULL, becomes `next`, whose version is a later one. */
void sa_confidence_replace(sa_confidence **confidence, sa_confidence *next);
/* Counting and all that changes it, for engines that nobody else holds. label as in the class, for columns
 * that `work` kept of this engine at any version: they are used only where it is still the same. */
sa_status sa_confidence_count(sa_confidence *confidence, const sa_gradients *batch, const size_t *label,
                              sa_width_work *work);
sa_status sa_confidence_fade(sa_confidence *confidence, double factor);
sa_status sa_confidence_regularize(sa_confidence *confidence, double lambda);
sa_status sa_confidence_expect(sa_confidence *confidence, size_t count);
sa_status sa_confidence_widen(sa_confidence *confidence);

/* The gradients that an exact engine holds; NULL where it computes from the p x p side, which holds none. */
const sa_gradients *sa_exact_gradients(const sa_confidence *exact);
/* The engine of --confidence, NULL past the last. */
const sa_confidence_class *sa_confidence_class_at(size_t kind);
/* NaN without an engine, or where it has no bound. */
double sa_confidence_certificate(const sa_confidence *confidence);

extern const sa_confidence_class sa_confidence_exact, sa_confidence_diagonal, sa_confidence_last_layer,
    sa_confidence_sketch, sa_confidence_auto;

#endif
