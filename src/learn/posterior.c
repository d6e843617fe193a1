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
    double number[NUMBERS];
    sa_posterior read;
    int64_t format;
    SA_TRY(sa_npz_format(archive, &format));
    bool before = format == 4; /* without `all`, the last */
    size_t numbers = before ? NUMBERS - 1 : NUMBERS;
    number[NUMBERS - 1] = 0;
    SA_TRY(sa_npz_read_into(archive, "posterior", SA_FLOAT64, 1, &numbers, number));
    memcpy(&read, number, sizeof read);
    if (before) read.all = read.counted;
    for (size_t i = 0; i < NUMBERS; i++)
        if (!isfinite(number[i]) || (number[i] < 0 && number[i] != read.products))
            return sa_fail(SA_FORMAT, "'posterior' has the number %g, and must have finite ones of 0 or more",
                           number[i]);
    *known = read;
    return SA_OK;
}
