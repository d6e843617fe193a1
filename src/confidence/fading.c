#include "confidence/fading.h"

#include <math.h>

#include "base/memory.h"

static const double LEAST_COUNTED_WEIGHT = 0.01;

sa_status sa_fading_count(sa_fading *fading, const sa_factor *factor, size_t counted, size_t more) {
    if (!fading->weight || factor->kind->primal) return SA_OK;
    SA_TRY(sa_grow_array(&fading->weight, &fading->capacity, counted + more, sizeof *fading->weight));
    for (size_t i = 0; i < more; i++) fading->weight[counted + i] = 1 / fading->phi;
    return SA_OK;
}

/* The gradients of a dual factor that still count, with the weights they have now. */
static sa_status take_counting(const sa_fading *fading, const sa_gradients *counted, sa_gradients *out) {
    size_t first = 0, all = sa_gradients_many(counted);
    while (first < all && fading->weight[first] * fading->phi < LEAST_COUNTED_WEIGHT) first++;
    SA_TRY(sa_gradients_init_like(out, counted->precision, counted));
    sa_status status = sa_gradients_reserve(out, counted->count - sa_gradients_row(counted, first));
    for (size_t i = first; status == SA_OK && i < all; i++) {
        sa_gradients_append(out, counted, &i, 1);
        sa_gradients_scale(out, i - first, sqrt(fading->phi));
    }
    if (status != SA_OK) sa_gradients_clear(out);
    return status;
}

/* sum of |g|^2 over the first so many, as they are kept */
static sa_status energy_of(const sa_gradients *counted, size_t many, double *energy) {
    double *norm;
    SA_TRY(sa_alloc_array(sa_gradients_many(counted), sizeof *norm, &norm));
    sa_gradients_norms(counted, norm);
    *energy = 0;
    for (size_t i = 0; i < many; i++) *energy += norm[i];
    sa_free(norm);
    return SA_OK;
}

/* The factor made again, so that phi is 1. */
static sa_status make_again(sa_fading *fading, sa_factor **factor, uint64_t *held) {
    if ((*factor)->kind->primal) {
        SA_TRY(sa_primal_fade(*factor, fading->phi));
        fading->phi = 1;
        return SA_OK;
    }
    const sa_gradients *counted = sa_dual_gradients(*factor);
    sa_gradients counting;
    sa_factor *next;
    SA_TRY(take_counting(fading, counted, &counting));
    size_t left = sa_gradients_many(&counting), dropped = sa_gradients_many(counted) - left;
    double energy;
    sa_status status = energy_of(counted, dropped, &energy);
    if (status == SA_OK) status = (*factor)->kind->create((*factor)->lambda, &counting, &next);
    sa_gradients_clear(&counting);
    if (status != SA_OK) return status;
    sa_factor_replace(factor, next);
    for (size_t i = 0; i < left; i++) fading->weight[i] = fading->weight[i + dropped] * fading->phi;
    *held = left;
    fading->dropped += energy * fading->phi;
    fading->phi = 1;
    return SA_OK;
}

sa_status sa_fading_count_less(sa_fading *fading, sa_factor **factor, double by, bool small,
                               uint64_t *counted) {
    bool first = !fading->weight, dual = !(*factor)->kind->primal;
    SA_TRY(
        sa_grow_array(&fading->weight, &fading->capacity, dual ? *counted + 1 : 1, sizeof *fading->weight));
    for (size_t i = 0; first && dual && i < *counted; i++) fading->weight[i] = 1;
    fading->phi *= by;
    fading->dropped *= by;
    return fading->phi < SA_LEAST_FADE || (small && !dual) ? make_again(fading, factor, counted) : SA_OK;
}

double sa_fading_certificate(const sa_fading *fading, double lambda) {
    return sqrt((1 + fading->dropped / lambda) / fading->phi);
}

sa_status sa_fading_save(const sa_fading *fading, const sa_factor *factor, size_t counted,
                         sa_npz_writer *writer) {
    size_t weights = factor->kind->primal ? 0 : counted;
    if (!fading->weight) return SA_OK;
    SA_TRY(sa_npz_add(writer, "exact_fade", SA_FLOAT64, 0, NULL, &fading->phi));
    SA_TRY(sa_npz_add(writer, "exact_dropped", SA_FLOAT64, 0, NULL, &fading->dropped));
    return sa_npz_add(writer, "exact_weight", SA_FLOAT64, 1, &weights, fading->weight);
}

sa_status sa_fading_load(sa_fading *fading, const sa_factor *factor, size_t counted, sa_npz *archive) {
    size_t weights = factor->kind->primal ? 0 : counted;
    if (!fading->weight) return SA_OK;
    SA_TRY(sa_npz_get_number(archive, "exact_fade", &fading->phi));
    SA_TRY(sa_npz_get_number(archive, "exact_dropped", &fading->dropped));
    if (!(fading->phi > 0 && fading->phi <= 1))
        return sa_fail(SA_FORMAT, "'exact_fade' is %g, and must be more than 0 and at most 1", fading->phi);
    SA_TRY(sa_grow_array(&fading->weight, &fading->capacity, weights + 1, sizeof *fading->weight));
    return sa_npz_read_into(archive, "exact_weight", SA_FLOAT64, 1, &weights, fading->weight);
}
