/* What the model sees of raw contexts. Raw is checked, in the model's precision and, with --normalize unit,
 * of unit length.
 *
 * With --normalize standard the model sees each feature minus its mean and divided by its deviation, over all
 * candidates seen so far that could be chosen, and by sqrt(dim), so that an input has a length of about 1, as
 * the paper assumes. Raw contexts are kept, so that training uses the newest mean and deviation.
 *
 * Where positions are told apart, the one-hot position that follows the features is left as it is by every
 * normalisation: a single 1, as long as the features are. */
#ifndef SA_MODEL_STANDARDIZE_H
#define SA_MODEL_STANDARDIZE_H

#include "base/npy.h"
#include "model/options.h"

typedef struct sa_inputs {
    sa_precision precision;
    sa_normalization normalization;
    size_t dim;
    size_t positions; /* inputs beside the features: 0 unless positions are told apart */
} sa_inputs;

sa_inputs sa_inputs_from(const sa_model_settings *settings);

/* Statistics of features: one array (5 + 6 dim), with the number of candidates seen, each feature's mean,
 * each feature's sum of squared differences to the mean, and wild candidates: of late, each weighing 1 -
 * 1/1000 of the next candidate, and in all. Then those of the newer half, below.
 *
 * A candidate is wild where a feature is more than 1000 deviations from its mean (1e30 among numbers about
 * 1), and 20 or more were seen before: it is not counted, and the model sees such a feature as its mean.
 * Where more than half of the latest candidates are wild, the world has changed, and they count.
 *
 * The first candidates of all may be the wild ones. So the newer half has statistics of its own, from 64,
 * 128, 256 ... candidates on until there are twice as many; if then a feature was ever more than 1000 of its
 * deviations from its mean, mean and deviation become those of the newer half. That is a change after which
 * all has to be learnt again (learn/relearn.h). After 65,536 candidates the first ones are out of doubt. */
static inline size_t sa_statistics_length(const sa_inputs *inputs) { return 5 + 6 * inputs->dim; }
/* Wild candidates so far. */
static inline double sa_statistics_wild(const sa_inputs *inputs, const double *statistics) {
    return statistics[2 + 2 * inputs->dim];
}
/* Changes so far. */
static inline double sa_statistics_changes(const sa_inputs *inputs, const double *statistics) {
    return statistics[4 + 2 * inputs->dim];
}
/* Takes in raw contexts (count, dim). Those that are excluded, (count) or NULL for none, are not counted:
 * what they hold is often no context at all. */
void sa_statistics_see(const sa_inputs *inputs, double *statistics, const void *raw, const bool *excluded,
                       size_t count);
/* factor (dim): what differences to the mean are multiplied with. */
void sa_statistics_factor(const sa_inputs *inputs, const double *statistics, double *factor);

/* out (count, width), width at least dim = what the model sees of raw (count, dim), with --normalize standard
 * by `statistics` and `factor`; what lies behind dim stays. */
void sa_inputs_show(const sa_inputs *inputs, const double *statistics, const double *factor, const void *raw,
                    size_t count, void *out, size_t width);
/* The same into out (count, dim + positions), with position[i] appended to the i-th, one-hot; position is not
 * looked at where positions are not told apart. `factor` (dim) is workspace. */
void sa_inputs_show_placed(const sa_inputs *inputs, const double *statistics, double *factor, const void *raw,
                           const int64_t *position, size_t count, void *out);
sa_status sa_statistics_save(const sa_inputs *inputs, const double *statistics, sa_npz_writer *writer);
sa_status sa_statistics_load(const sa_inputs *inputs, double *statistics, sa_npz *archive);

#endif
