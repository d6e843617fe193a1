/* What users do with a slate. v_i is the expected score of arm i, a_i the same clipped into [0, 1], e_i its
 * noise; the user of a run and round is attracted by arm i when A_i < a_i and looks at position k when X_k <
 * w_k, with A_i and X_k uniform on (0, 1) and drawn by run, round and arm or position: the same user for
 * every agent and every slate.
 *
 *   position (w = --examination, chi): arm i at position k is clicked with probability chi_k a_i. What is
 *       seen of it is the click,
 *   or chi_k v_i + e_i; the reward is the sum of what is seen, sum_k chi_k v_i in expectation (with clicks,
 *       chi_k a_i).
 *
 *   cascade (w = --discounts, psi, 1 unless given): the user scans from the top and clicks arm i at position
 *       k with probability
 *   p = psi_k a_i. What is seen is the click, or psi_k v_i + e_i. After a click the user stops with
 *       probability stop_i, else leaves
 *   with probability --leave; what lies beyond is not seen. So the chance that position k is reached is
 *
 *     L_1 = 1,   L_(k+1) = L_k (p (1 - stop_i) + (1 - p) (1 - leave))
 *
 *   and the reward is 1 for any click, or with --reward sum 1 for each, sum_k L_k p_k in expectation. The
 *       first click comes at k
 *   with probability (1 - leave)^(k-1) prod_(j<k) (1 - p_j) p_k, the same as if every stop_i were 1. */
#include "env/clicks.h"

#include <math.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "rng/stream.h"

/* ---- from options ---- */

void sa_clicks_destroy(sa_clicks *clicks) {
    if (!clicks) return;
    sa_free(clicks->weights);
    sa_free(clicks);
}

/* Options that only another click model looks at. */
static sa_status check_others(const sa_options *options) {
    if (*options->examination && options->clicks != SA_CLICKS_POSITION)
        return sa_fail(SA_INVALID, "--examination is for --clicks position");
    if (options->leave != 0 && options->clicks != SA_CLICKS_CASCADE)
        return sa_fail(SA_INVALID, "--leave %g is for --clicks cascade", options->leave);
    if (options->clicks == SA_CLICKS_NONE && sa_options_changed(options, "click-noise"))
        return sa_fail(SA_INVALID, "--click-noise is for --clicks position or cascade");
    bool noisy = options->clicks == SA_CLICKS_NONE || options->click_noise == SA_CLICK_GAUSSIAN;
    if (!noisy && ((options->noise > 0 && sa_options_changed(options, "noise")) || *options->noise_values))
        return sa_fail(
            SA_INVALID,
            "--%s is not for clicks of 0 and 1, which have no other noise; --click-noise gaussian is",
            *options->noise_values ? "noise-values" : "noise");
    return SA_OK;
}

static sa_status take_weights(sa_clicks *self, const char *option, const double *weights, size_t count) {
    if (count != self->slate)
        return sa_fail(SA_INVALID, "--%s: %zu numbers, and there are %zu positions (--slate)", option, count,
                       self->slate);
    for (size_t k = 0; k < count; k++) {
        if (!(weights[k] >= 0 && weights[k] <= 1))
            return sa_fail(SA_INVALID, "--%s: number %zu is %g, and must be from 0 to 1", option, k + 1,
                           weights[k]);
        self->weights[k] = weights[k];
        if (k > 0 && weights[k] > weights[k - 1]) self->falling = false;
    }
    return SA_OK;
}

static sa_status read_examination(sa_clicks *self, const char *text) {
    sa_array array = {0};
    double *numbers = NULL;
    sa_status status;
    if (!*text)
        return sa_fail(
            SA_INVALID,
            "--clicks position needs --examination, the chance that each of %zu positions is looked at",
            self->slate);
    status = sa_numbers_read(text, &array);
    if (status != SA_OK) return sa_fail_prefix(status, "--examination: ");
    size_t count = sa_array_count(&array);
    SA_TRY_OR_FAIL(sa_alloc_array(count, sizeof *numbers, &numbers));
    for (size_t k = 0; k < count; k++) numbers[k] = sa_array_number(&array, k);
    status = take_weights(self, "examination", numbers, count);
fail:
    sa_free(numbers);
    sa_array_clear(&array);
    return status;
}

static sa_status prepare(sa_clicks *self, const sa_options *options, const sa_oracle_data *data) {
    SA_TRY(sa_alloc_array(self->slate, sizeof *self->weights, &self->weights));
    for (size_t k = 0; k < self->slate; k++) self->weights[k] = 1;
    if (self->kind == SA_CLICKS_POSITION) return read_examination(self, options->examination);
    if (!(data->given & SA_BIT(SA_DISCOUNTS))) return SA_OK;
    return take_weights(self, "discounts", data->discounts, data->count[SA_DISCOUNTS]);
}

sa_status sa_clicks_create(const sa_options *options, const sa_oracle_data *data, sa_clicks **out) {
    sa_clicks *self;
    *out = NULL;
    SA_TRY(check_others(options));
    if (options->clicks == SA_CLICKS_NONE) return SA_OK;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    *self = (sa_clicks){.kind = (sa_clicks_kind)options->clicks,
                        .bernoulli = options->click_noise == SA_CLICK_BERNOULLI,
                        .sum = data->sum,
                        .leave = options->leave,
                        .seed = (uint64_t)options->seed,
                        .slate = (size_t)options->slate,
                        .falling = true};
    sa_status status = prepare(self, options, data);
    if (status == SA_OK)
        *out = self;
    else
        sa_clicks_destroy(self);
    return status;
}

/* ---- expectation ---- */

double sa_clicks_expected_reward(const sa_clicks *clicks, const sa_round *round, const size_t *slate,
                                 size_t length) {
    double reward = 0, reached = 1;
    for (size_t k = 0; k < length; k++) {
        double attraction = sa_clicks_attraction(round, slate[k]), weight = clicks->weights[k];
        if (clicks->kind == SA_CLICKS_POSITION) {
            reward += weight * (clicks->bernoulli ? attraction : round->expected[slate[k]]);
            continue;
        }
        double click = weight * attraction, stop = clicks->sum ? round->stop[slate[k]] : 1;
        reward += reached * click;
        reached *= click * (1 - stop) + (1 - click) * (1 - clicks->leave);
    }
    return reward;
}

/* ---- one user ---- */

sa_visit sa_clicks_visit(const sa_clicks *clicks, const sa_round *round, uint64_t run, uint64_t number,
                         const size_t *slate, size_t length, double *seen) {
    sa_stream attraction = sa_stream_at(clicks->seed, SA_PURPOSE_ATTRACTION, run, number);
    sa_stream attention = sa_stream_at(clicks->seed, SA_PURPOSE_ATTENTION, run, number);
    sa_stream stopping = sa_stream_at(clicks->seed, SA_PURPOSE_STOPPING, run, number);
    bool cascade = clicks->kind == SA_CLICKS_CASCADE, gone = false;
    sa_visit visit = {0};
    double total = 0;
    for (size_t k = 0; k < length; k++) {
        size_t arm = slate[k];
        if (gone) {
            if (seen) seen[k] = NAN;
            continue;
        }
        bool click = sa_draw_uniform(&attention, 2 * k) < clicks->weights[k] &&
                     sa_draw_uniform(&attraction, arm) < sa_clicks_attraction(round, arm);
        double shown =
            clicks->bernoulli ? click : clicks->weights[k] * round->expected[arm] + round->noise[arm];
        if (seen) seen[k] = shown;
        total += shown;
        visit.clicks += click;
        if (cascade)
            gone = click ? sa_draw_uniform(&stopping, arm) < round->stop[arm]
                         : sa_draw_uniform(&attention, 2 * k + 1) < clicks->leave;
    }
    visit.reward = !cascade ? total : clicks->sum ? visit.clicks : visit.clicks > 0;
    return visit;
}
