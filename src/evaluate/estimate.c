/* From decisions' terms to a value, its error, and how far it can be trusted.
 *
 * The standard error is the deviation of the terms over sqrt(n). A self-normalised value is a sum of ratios
 * v = sum_k (n_k / n) v_k, v_k = sum_i w_ik r_ik / sum_i w_ik; by the delta method decision i's term is
 *
 *     v + sum_k [ (n_k / n) w_ik (r_ik - v_k) / mean_i(w_ik) + v_k ([i has a position k] - n_k / n) ],   mean
 *         over all n.
 *
 * snips is the case of one position, whose weight is w and whose feedback is R. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "evaluate/evaluate.h"
#include "evaluate/sum.h"

/* ---- decisions as rows of (weight, feedback), whatever the kind of weight ---- */

typedef struct row {
    size_t length;
    const double *weights;  /* (length) */
    const double *feedback; /* (length) */
    double reward;          /* what feedback points to where the slate is one position */
} row;

static size_t longest(const sa_estimator *estimator, const sa_sample *sample) {
    return sa_weight_is_long(estimator->weights) ? sample->table->longest : 1;
}

static void row_at(const sa_estimator *estimator, const sa_sample *sample, size_t i, row *out) {
    const sa_feedback_table *table = sample->table;
    const double *weights = sample->weights[estimator->weights];
    size_t from = table->first[i], to = table->first[i + 1];
    out->length = sa_weight_is_long(estimator->weights) ? to - from : 1;
    out->weights = weights + (sa_weight_is_long(estimator->weights) ? from : i);
    out->feedback = table->feedback + from;
    if (sa_weight_is_long(estimator->weights)) return;
    out->reward = 0;
    for (size_t at = from; at < to; at++) out->reward += table->feedback[at];
    out->feedback = &out->reward;
}

/* Sums over the decisions that have a position k. */
typedef struct position_sums {
    sa_sum weight, square, fourth, weighted;
    double have; /* n_k */
    double largest;
} position_sums;

static sa_status sum_positions(const sa_estimator *estimator, const sa_sample *sample, const uint32_t *times,
                               position_sums **out) {
    position_sums *sums;
    row one;
    SA_TRY(sa_alloc_array(longest(estimator, sample) + 1, sizeof *sums, &sums));
    for (size_t i = 0; i < sample->table->count; i++) {
        double often = times ? times[i] : 1;
        if (often == 0) continue;
        row_at(estimator, sample, i, &one);
        for (size_t k = 0; k < one.length; k++) {
            double weight = one.weights[k];
            sa_sum_add(&sums[k].weight, often * weight);
            sa_sum_add(&sums[k].square, often * weight * weight);
            sa_sum_add(&sums[k].fourth, often * weight * weight * weight * weight);
            sa_sum_add(&sums[k].weighted, often * weight * one.feedback[k]);
            sums[k].have += often;
            if (fabs(weight) > sums[k].largest) sums[k].largest = fabs(weight);
        }
    }
    *out = sums;
    return SA_OK;
}

/* ---- values ---- */

static sa_status self_normalised_value(const sa_estimator *estimator, const sa_sample *sample,
                                       const uint32_t *times, double *value) {
    position_sums *sums;
    double n = (double)sample->table->count; /* a resampling has as many */
    SA_TRY(sum_positions(estimator, sample, times, &sums));
    *value = 0;
    for (size_t k = 0; k < longest(estimator, sample); k++) {
        if (sums[k].have == 0) continue;
        *value += sums[k].have / n * (sa_sum_value(&sums[k].weighted) / sa_sum_value(&sums[k].weight));
    }
    sa_free(sums);
    return SA_OK;
}

sa_status sa_estimate_value(const sa_estimator *estimator, const sa_sample *sample, const uint32_t *times,
                            double *value) {
    if (estimator->self_normalised) return self_normalised_value(estimator, sample, times, value);
    sa_sum sum = {0};
    for (size_t i = 0; i < sample->table->count; i++)
        if (!times || times[i]) sa_sum_add(&sum, (times ? times[i] : 1) * estimator->term(sample, i));
    *value = sa_sum_value(&sum) / (double)sample->table->count;
    return SA_OK;
}

/* ---- terms and errors ---- */

static sa_status influences(const sa_estimator *estimator, const sa_sample *sample, double value,
                            double *terms) {
    position_sums *sums;
    row one;
    size_t positions = longest(estimator, sample);
    double n = (double)sample->table->count;
    SA_TRY(sum_positions(estimator, sample, NULL, &sums));
    for (size_t i = 0; i < sample->table->count; i++) {
        row_at(estimator, sample, i, &one);
        terms[i] = value;
        for (size_t k = 0; k < positions; k++) {
            if (sums[k].have == 0) continue;
            double share = sums[k].have / n, sum = sa_sum_value(&sums[k].weight);
            double mean = sa_sum_value(&sums[k].weighted) / sum;
            terms[i] -= mean * share;
            if (k >= one.length) continue;
            terms[i] += mean + share * one.weights[k] * (one.feedback[k] - mean) / (sum / n);
        }
    }
    sa_free(sums);
    return SA_OK;
}

sa_status sa_estimate_terms(const sa_estimator *estimator, const sa_sample *sample, double value,
                            double *terms) {
    if (estimator->self_normalised) return influences(estimator, sample, value, terms);
    for (size_t i = 0; i < sample->table->count; i++) terms[i] = estimator->term(sample, i);
    return SA_OK;
}

void sa_estimate_of_terms(const double *terms, size_t count, double value, sa_estimate *out) {
    sa_sum squares = {0};
    for (size_t i = 0; i < count; i++) sa_sum_add(&squares, (terms[i] - value) * (terms[i] - value));
    double n = (double)count;
    out->value = value;
    out->standard_error = count > 1 ? sqrt(sa_sum_value(&squares) / (n - 1) / n) : NAN;
    out->ci95[0] = value - 1.959963984540054 * out->standard_error;
    out->ci95[1] = value + 1.959963984540054 * out->standard_error;
}

/* ---- what the estimate rests on ---- */

static double share_without_overlap(const sa_estimator *estimator, const sa_sample *sample) {
    size_t without = 0;
    row one;
    for (size_t i = 0; i < sample->table->count; i++) {
        bool overlap = false;
        row_at(estimator, sample, i, &one);
        for (size_t k = 0; k < one.length; k++) overlap = overlap || one.weights[k] != 0;
        without += !overlap && one.length > 0;
    }
    return (double)without / (double)sample->table->count;
}

sa_status sa_estimate_weights(const sa_estimator *estimator, const sa_sample *sample, sa_estimate *out) {
    out->effective_sample_size = out->largest_weight = out->no_overlap = NAN;
    if (estimator->weights == SA_WEIGHT_NONE) return SA_OK;
    position_sums *sums;
    SA_TRY(sum_positions(estimator, sample, NULL, &sums));
    double smallest = INFINITY, largest = 0;
    for (size_t k = 0; k < longest(estimator, sample); k++) {
        if (sums[k].have == 0) continue;
        double sum = sa_sum_value(&sums[k].weight), square = sa_sum_value(&sums[k].square);
        double size = square > 0 ? sum * sum / square : 0;
        if (size < smallest) smallest = size;
        if (sums[k].largest > largest) largest = sums[k].largest;
    }
    out->effective_sample_size = isfinite(smallest) ? smallest : NAN;
    out->largest_weight = largest;
    out->no_overlap = share_without_overlap(estimator, sample);
    sa_free(sums);
    return SA_OK;
}

sa_status sa_error_sample(const sa_estimator *estimator, const sa_sample *sample, double *size) {
    position_sums *sums;
    *size = INFINITY;
    if (estimator->weights == SA_WEIGHT_NONE) return SA_OK;
    SA_TRY(sum_positions(estimator, sample, NULL, &sums));
    for (size_t k = 0; k < longest(estimator, sample); k++) {
        double square = sa_sum_value(&sums[k].square), fourth = sa_sum_value(&sums[k].fourth);
        if (fourth > 0 && square * square / fourth < *size) *size = square * square / fourth;
    }
    sa_free(sums);
    return SA_OK;
}

/* The position whose mean weight is the most standard errors from 1. */
sa_status sa_mean_weight(const sa_estimator *estimator, const sa_sample *sample, double *mean,
                         double *error) {
    position_sums *sums;
    double most = -1;
    *mean = 1, *error = 0;
    if (estimator->weights == SA_WEIGHT_NONE) return SA_OK;
    SA_TRY(sum_positions(estimator, sample, NULL, &sums));
    for (size_t k = 0; k < longest(estimator, sample); k++) {
        if (sums[k].have < 2) continue;
        double n = sums[k].have, average = sa_sum_value(&sums[k].weight) / n;
        double variance = sa_sum_value(&sums[k].square) / n - average * average;
        double deviation = sqrt((variance > 0 ? variance : 0) / n),
               apart = fabs(average - 1) / (deviation + 1e-9);
        if (apart <= most) continue;
        most = apart;
        *mean = average;
        *error = deviation;
    }
    sa_free(sums);
    return SA_OK;
}
