#include "confidence/confidence.h"

#include <math.h>

#include "base/memory.h"

/* By --confidence. */
static const sa_confidence_class *const engines[] = {
    [SA_CONFIDENCE_EXACT] = &sa_confidence_exact,
    [SA_CONFIDENCE_DIAGONAL] = &sa_confidence_diagonal,
    [SA_CONFIDENCE_LAST_LAYER] = &sa_confidence_last_layer,
    [SA_CONFIDENCE_SKETCH] = &sa_confidence_sketch,
    [SA_CONFIDENCE_AUTO] = &sa_confidence_auto,
};

const sa_confidence_class *sa_confidence_class_at(size_t kind) {
    return kind < sizeof engines / sizeof *engines ? engines[kind] : NULL;
}

sa_status sa_confidence_create(const sa_confidence_settings *settings, size_t pairs,
                               const sa_pair_shape *shape, sa_confidence **out) {
    const sa_confidence_class *kind = engines[settings->confidence];
    if (settings->totals && !kind->sums)
        return sa_fail(SA_INVALID,
                       "--confidence %s cannot count the total of a slate, as --feedback total needs: exact, "
                       "last-layer and diagonal can",
                       kind->name);
    SA_TRY(kind->create(settings, pairs, shape, out));
    (*out)->version = 1;
    return SA_OK;
}

void sa_confidence_destroy(sa_confidence *confidence) {
    if (confidence && sa_is_last(confidence)) confidence->kind->destroy(confidence);
}

sa_status sa_confidence_unshare(sa_confidence **confidence) {
    sa_confidence *fork;
    if (!*confidence || !sa_is_shared(*confidence)) return SA_OK;
    SA_TRY((*confidence)->kind->fork(*confidence, &fork));
    sa_confidence_destroy(*confidence);
    *confidence = fork;
    return SA_OK;
}

void sa_confidence_replace(sa_confidence **confidence, sa_confidence *next) {
    if (*confidence) next->version += (*confidence)->version;
    sa_confidence_destroy(*confidence);
    *confidence = next;
}

/* ---- changes ---- */

sa_status sa_confidence_count(sa_confidence *confidence, const sa_gradients *batch, const size_t *label,
                              sa_width_work *work) {
    if (batch->count == 0) return SA_OK;
    if (work->solved.version != confidence->version) label = NULL;
    confidence->version++;
    return confidence->kind->count(confidence, batch, label, work);
}

sa_status sa_confidence_fade(sa_confidence *confidence, double factor) {
    if (factor == 1) return SA_OK;
    confidence->version++;
    return confidence->kind->fade(confidence, factor);
}

sa_status sa_confidence_regularize(sa_confidence *confidence, double lambda) {
    confidence->version++;
    return confidence->kind->regularize(confidence, lambda);
}

sa_status sa_confidence_expect(sa_confidence *confidence, size_t count) {
    confidence->version++;
    return confidence->kind->expect ? confidence->kind->expect(confidence, count) : SA_OK;
}

sa_status sa_confidence_widen(sa_confidence *confidence) {
    confidence->version++;
    return confidence->kind->widen ? confidence->kind->widen(confidence) : SA_OK;
}

double sa_confidence_certificate(const sa_confidence *confidence) {
    return confidence && confidence->kind->certificate ? confidence->kind->certificate(confidence) : NAN;
}

/* ---- workspace ---- */

void sa_width_work_clear(sa_width_work *work) {
    sa_gradients_clear(&work->part);
    sa_workspace_clear(&work->solution);
    sa_free(work->solved.column);
    *work = (sa_width_work){0};
}

void sa_solved_begin(sa_solved *solved, const sa_confidence *confidence, size_t most) {
    solved->version = confidence->version;
    solved->count = 0;
    solved->columns = most < SA_WIDTH_COLUMNS ? most : SA_WIDTH_COLUMNS;
}
