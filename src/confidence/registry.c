#include "confidence/confidence.h"

#include <math.h>

/* In the order of SA_CONFIDENCES. */
static const sa_confidence_class *const engines[] = {
    &sa_confidence_exact, &sa_confidence_diagonal, &sa_confidence_last_layer, &sa_confidence_sketch, &sa_confidence_auto};

const sa_confidence_class *sa_confidence_class_at(size_t kind) {
    return kind < sizeof engines / sizeof *engines ? engines[kind] : NULL;
}

sa_status sa_confidence_create(const sa_options *options, size_t pairs, const sa_pair_shape *shape, sa_confidence **out) {
    return engines[options->confidence]->create(options, pairs, shape, out);
}

void sa_confidence_destroy(sa_confidence *confidence) {
    if (confidence) confidence->kind->destroy(confidence);
}

sa_status sa_confidence_count_all(sa_confidence *confidence, const sa_gradients *batch) {
    const sa_confidence_class *kind = confidence->kind;
    if (kind->reserve) SA_TRY(kind->reserve(confidence, batch->count, batch->count));
    SA_TRY(kind->count(confidence, batch, 0, NULL));
    return kind->reserve ? kind->reserve(confidence, 0, 0) : SA_OK;
}

double sa_confidence_certificate(const sa_confidence *confidence) {
    return confidence && confidence->kind->certificate ? confidence->kind->certificate(confidence) : NAN;
}
