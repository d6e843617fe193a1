#include "learn/posterior.h"

#include <math.h>
#include <string.h>

bool sa_posterior_is_used(const sa_policy *policy, const sa_options *options) {
    const sa_model *model = policy->estimator.model;
    return options->bonus == SA_BONUS_POSTERIOR && policy->confidence && model && model->kind->training &&
           !model->kind->observing && !policy->exploration.by_theory;
}

sa_status sa_posterior_adopt(const sa_posterior *known, sa_policy *policy) {
    if (!(known->lambda > 0)) return SA_OK; /* nothing is known yet */
    policy->deviation = known->deviation;
    policy->early = known->early;
    policy->lambda = known->lambda;
    return sa_confidence_regularize(policy->confidence, known->lambda);
}

enum { NUMBERS = sizeof(sa_posterior) / sizeof(double) };

sa_status sa_posterior_save(const sa_posterior *known, sa_npz_writer *writer) {
    size_t numbers = NUMBERS;
    return sa_npz_add(writer, "posterior", SA_FLOAT64, 1, &numbers, known);
}

/* All but the sum of inner products are 0 or more. */
sa_status sa_posterior_load(sa_posterior *known, sa_npz *archive) {
    double number[NUMBERS] = {0};
    sa_posterior read;
    int64_t format;
    SA_TRY(sa_npz_format(archive, &format));
    size_t later = format == 4 ? 2 : format < 7 ? 1 : 0; /* without `early`, the last; and `all` before it */
    size_t numbers = NUMBERS - later;
    SA_TRY(sa_npz_read_into(archive, "posterior", SA_FLOAT64, 1, &numbers, number));
    memcpy(&read, number, sizeof read);
    if (later == 2) read.all = read.counted;
    for (size_t i = 0; i < NUMBERS; i++)
        if (!isfinite(number[i]) || (number[i] < 0 && number[i] != read.products))
            return sa_fail(SA_FORMAT, "'posterior' has the number %g, and must have finite ones of 0 or more",
                           number[i]);
    *known = read;
    return SA_OK;
}
