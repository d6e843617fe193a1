/* From raw contexts to estimates in the units of the caller's scores: what the model sees of a context
 * (standardize.h), the model itself, what its scores were centred and scaled by when it was trained, and the
 * linear companion. All of it is held by whoever chooses with it, and copied before it changes
 * (base/memory.h). */
#ifndef SA_MODEL_ESTIMATOR_H
#define SA_MODEL_ESTIMATOR_H

#include "model/companion.h"
#include "model/model.h"
#include "model/standardize.h"

typedef struct sa_estimator {
    sa_inputs inputs;
    double *statistics;   /* of --normalize standard; else NULL */
    sa_model *model;      /* NULL: none, and nothing of the rest */
    double centre, scale; /* the network's estimate of a score is centre + scale f, as of the last training */
    sa_companion *companion; /* mixes it with its own; NULL: none */
} sa_estimator;

/* With the model of this name, NULL for none. */
sa_status sa_estimator_create(const char *model, const sa_model_settings *settings, bool companion,
                              sa_estimator *out);
void sa_estimator_clear(sa_estimator *estimator);
/* Another holder of all of it. */
sa_estimator sa_estimator_hold(const sa_estimator *estimator);
/* Before it learns. */
sa_status sa_estimator_unshare(sa_estimator *estimator);

/* Workspace of one thread. */
typedef struct sa_estimator_work {
    sa_model_work model;
    sa_workspace row;
} sa_estimator_work;
void sa_estimator_work_clear(sa_estimator_work *work);

/* mean (count), or (count, positions), of inputs (count, dim) as the model sees them; what is open of them
 * beside the network's part (companion.h) and their gradients, unless NULL. `first` is the number of the
 * first arm, for the sentence that names one whose estimate is not finite. */
sa_status sa_estimator_evaluate(const sa_estimator *estimator, const void *inputs, size_t first, size_t count,
                                size_t positions, sa_estimator_work *work, double *mean, double *spread,
                                sa_gradients *gradients);

sa_status sa_estimator_save(const sa_estimator *estimator, sa_npz_writer *writer);
sa_status sa_estimator_load(sa_estimator *estimator, sa_npz *archive);

#endif
