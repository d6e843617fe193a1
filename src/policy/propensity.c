#include "policy/propensity.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "exploration/ts_propensity.h"
#include "policy/asked.h"
#include "policy/draws.h"
#include "policy/walk.h"

static sa_status table_init(sa_table *self, size_t slate, size_t arms) {
    SA_TRY(sa_alloc_matrix(2 * slate, arms, sizeof(double), &self->next));
    self->positions = self->next + slate * arms;
    return SA_OK;
}

/* ---- the algorithm's own slates ---- */

/* The one slate, of probability 1. */
static void certain(const sa_asked *self, sa_table *out) {
    size_t arms = self->eligible->count;
    const sa_selection *selection = self->selection;
    bool same = true; /* so far */
    for (size_t k = 0; k < self->length && k < selection->oracle_slate; k++) {
        size_t arm = self->eligible->place[selection->oracle_arms[k]];
        out->positions[k * arms + arm] = 1;
        if (same) out->next[k * arms + arm] = 1;
        same = same && arm == self->slate[k];
    }
}

sa_status sa_asked_uniform(const sa_asked *self, sa_table *out) {
    size_t arms = self->eligible->count;
    SA_TRY(sa_feasible_next(&self->eligible->feasible, self->slate, out->next));
    SA_TRY(sa_feasible_position(&self->eligible->feasible, out->positions));
    for (size_t k = 1; k < self->length; k++)
        memcpy(out->positions + k * arms, out->positions, arms * sizeof *out->positions);
    return SA_OK;
}

/* The score is mean + deviation times the highest of M normals, and something that all arms share. */
sa_status sa_asked_thompson(const sa_asked *self, double floor, sa_table *out) {
    const sa_selection *selection = self->selection;
    const sa_exploration *rule = &selection->exploration;
    size_t arms = self->eligible->count;
    double *mean, *prefix;
    SA_TRY(sa_alloc_array(2 * arms + self->length, sizeof *mean, &mean));
    double *deviation = mean + arms;
    prefix = deviation + arms;
    for (size_t i = 0; i < arms; i++) {
        size_t a = self->eligible->arms[i];
        double at = selection->mean[a], width = selection->width[a], spread = selection->spread[a];
        mean[i] = sa_selection_score(selection, at, width, spread, 0);
        deviation[i] = fabs(sa_selection_score(selection, at, width, spread, 1) - mean[i]);
    }
    const sa_ts_scores scores = {
        .arms = arms, .mean = mean, .deviation = deviation, .samples = rule->samples, .floor = floor};
    sa_status status;
    if (self->next) {
        status = sa_ts_next_propensities(&scores, self->slate, self->length, out->next);
    } else {
        status = sa_ts_prefix_propensities(&scores, self->slate, self->length, prefix);
        for (size_t k = 0; status == SA_OK && k < self->length; k++)
            out->next[k * arms + self->slate[k]] = prefix[k];
    }
    if (status == SA_OK && self->positions) {
        status = sa_ts_position_propensities(&scores, self->length, out->positions);
    } else if (status == SA_OK) {
        status = sa_ts_slate_positions(&scores, self->slate, self->length, prefix);
        for (size_t k = 0; status == SA_OK && k < self->length; k++)
            out->positions[k * arms + self->slate[k]] = prefix[k];
    }
    sa_free(mean);
    return status;
}

/* Counts a slate that the algorithm drew, arms (length). */
static void count(const sa_asked *self, const size_t *drawn, size_t length, sa_table *out) {
    size_t arms = self->eligible->count;
    bool same = true; /* so far */
    for (size_t k = 0; k < self->length && k < length; k++) {
        size_t place = self->eligible->place[drawn[k]];
        out->positions[k * arms + place] += 1.0 / (SA_DRAWS + 1);
        if (same) out->next[k * arms + place] += 1.0 / (SA_DRAWS + 1);
        same = same && place == self->slate[k];
    }
}

/* The slate that the algorithm drew when it chose is one of the draws. Given all SA_DRAWS + 1 of them, and
 * not which one came first, the slate was chosen with just this probability: so 1 / p has no bias, however
 * rare a slate is. */
static sa_status by_drawing(const sa_asked *self, sa_table *out, bool *known) {
    size_t *drawn, length;
    sa_draws draw;
    const sa_oracle_problem bounded = {.data = &self->selection->data};
    SA_TRY(sa_alloc_array(self->selection->slate + self->length, sizeof *drawn, &drawn));
    sa_status status = sa_draws_begin(self->policy, self->selection, &draw);
    count(self, self->selection->oracle_arms, self->selection->oracle_slate, out);
    for (size_t j = 0; j < SA_DRAWS && status == SA_OK && *known; j++) {
        status = sa_draws_next(&draw, j, drawn, &length);
        if (sa_problem_is_late(&bounded)) { /* the slate is there; its probability is too much to ask for */
            *known = false;
            status = SA_OK;
        } else if (status == SA_OK)
            count(self, drawn, length, out);
    }
    sa_draws_clear(&draw);
    sa_free(drawn);
    return status;
}

/* `*known` false: it takes a floor to say anything. */
static sa_status algorithm_slates(const sa_asked *self, sa_table *out, bool *known) {
    const sa_selection *selection = self->selection;
    *known = true;
    if (!sa_selection_draws(selection)) {
        certain(self, out);
        return SA_OK;
    }
    if (sa_selection_is_plain_top_k(self->policy, selection)) {
        if (selection->exploration.kind->propensity == SA_PROPENSITY_UNIFORM)
            return sa_asked_uniform(self, out);
        if (selection->exploration.kind->propensity == SA_PROPENSITY_NORMAL)
            return sa_asked_thompson(self, 0, out);
    }
    *known = self->policy->floor > 0;
    return *known ? by_drawing(self, out, known) : SA_OK;
}

/* ---- the slate's own probabilities alone ---- */

/* Tables of more numbers than this are not made for the sake of K of them; where scores are drawn, each
 * number is an integral, and takes about 20 microseconds. */
static size_t most_table(const sa_selection *selection) {
    return (size_t)1 << (sa_selection_draws(selection) ? 17 : 20);
}

/* Without tables: known where there is one slate only. */
static void own_only(const sa_asked *self, const sa_propensities *out) {
    const sa_selection *selection = self->selection;
    bool known = !sa_selection_draws(selection) && self->policy->floor == 0, same = true;
    for (size_t k = 0; k < self->length; k++) {
        bool here =
            k < selection->oracle_slate && self->eligible->place[selection->oracle_arms[k]] == self->slate[k];
        same = same && here;
        if (out->prefix) out->prefix[k] = known ? same : NAN;
        if (out->position) out->position[k] = known ? here : NAN;
    }
}

/* ---- mixed with the floor ---- */

static sa_status mix(const sa_asked *self, sa_table *of_algorithm) {
    double E = self->policy->floor;
    size_t count = 2 * self->length * self->eligible->count;
    sa_table floor;
    bool known;
    if (E > 0 && self->policy->floor_by_place) return sa_asked_by_place(self, of_algorithm);
    if (E >= 1) { /* by chance alone: the algorithm's own slates need not be known */
        of_algorithm->has_next = of_algorithm->has_positions = true;
        return sa_asked_uniform(self, of_algorithm);
    }
    SA_TRY(algorithm_slates(self, of_algorithm, &known));
    of_algorithm->has_next = of_algorithm->has_positions = known;
    if (E == 0 || !known) return SA_OK;
    SA_TRY(table_init(&floor, self->length, self->eligible->count));
    sa_status status = sa_asked_uniform(self, &floor);
    for (size_t i = 0; i < count && status == SA_OK; i++)
        of_algorithm->next[i] = E * floor.next[i] + (1 - E) * of_algorithm->next[i];
    sa_free(floor.next);
    return status;
}

static void spread(const sa_asked *self, const double *from, bool known, double *to) {
    size_t arms = self->eligible->count, all = self->selection->request->arms;
    for (size_t k = 0; k < self->length; k++)
        for (size_t a = 0; a < all; a++) {
            size_t place = self->eligible->place[a];
            to[k * all + a] = !known ? NAN : place == SIZE_MAX ? 0 : from[k * arms + place];
        }
}

static void write_out(const sa_asked *self, const sa_table *mixed, const sa_propensities *out) {
    for (size_t k = 0; k < self->length; k++) {
        size_t at = k * self->eligible->count + self->slate[k];
        if (out->prefix) out->prefix[k] = mixed->has_next ? mixed->next[at] : NAN;
        if (out->position) out->position[k] = mixed->has_positions ? mixed->positions[at] : NAN;
    }
    if (out->all_next) spread(self, mixed->next, mixed->has_next, out->all_next);
    if (out->all_positions) spread(self, mixed->positions, mixed->has_positions, out->all_positions);
}

static sa_status check_slate(const sa_selection *selection, const sa_eligible *eligible, const size_t *slate,
                             size_t length) {
    size_t arms = selection->request->arms;
    bool *seen;
    sa_status status = SA_OK;
    SA_TRY(sa_alloc_array(arms, sizeof *seen, &seen)); /* zeroed */
    for (size_t k = 0; k < length && status == SA_OK; k++) {
        if (slate[k] >= arms)
            status = sa_fail(SA_INVALID, "the slate has arm %zu, and the request has %zu", slate[k], arms);
        else if (eligible->place[slate[k]] == SIZE_MAX)
            status = sa_fail(SA_INVALID, "the slate has arm %zu, which the request excludes", slate[k]);
        else if (seen[slate[k]])
            status = sa_fail(SA_INVALID, "the slate has arm %zu twice", slate[k]);
        else
            seen[slate[k]] = true;
    }
    sa_free(seen);
    return status;
}

sa_status sa_selection_propensities(const sa_policy *policy, const sa_selection *selection,
                                    const size_t *slate, size_t length, const sa_propensities *out) {
    sa_eligible eligible;
    sa_table mixed = {0};
    size_t *places = NULL;
    SA_TRY(sa_eligible_of(policy, selection, &eligible));
    sa_status status;
    SA_TRY_OR_FAIL(check_slate(selection, &eligible, slate, length));
    SA_TRY_OR_FAIL(sa_alloc_array(length, sizeof *places, &places));
    for (size_t k = 0; k < length; k++) places[k] = eligible.place[slate[k]];
    const sa_asked self = {.policy = policy,
                           .selection = selection,
                           .eligible = &eligible,
                           .arms = slate,
                           .slate = places,
                           .length = length,
                           .next = out->all_next,
                           .positions = out->all_positions};
    if (!self.next && !self.positions && length * eligible.count > most_table(selection)) {
        own_only(&self, out);
        goto fail; /* all is well */
    }
    SA_TRY_OR_FAIL(table_init(&mixed, length, eligible.count));
    SA_TRY_OR_FAIL(mix(&self, &mixed));
    write_out(&self, &mixed, out);
fail:
    sa_free(places);
    sa_free(mixed.next);
    sa_eligible_clear(&eligible);
    return status;
}

sa_status sa_selection_find_propensities(const sa_policy *policy, sa_selection *selection) {
    const sa_propensities out = {.prefix = selection->prefix, .position = selection->position};
    SA_TRY(sa_selection_propensities(policy, selection, selection->arms, selection->slate, &out));
    for (size_t k = 0; k < selection->slate;
         k++) { /* rounding must not make a prefix rise, nor what happened impossible */
        if (k && selection->prefix[k] > selection->prefix[k - 1])
            selection->prefix[k] = selection->prefix[k - 1];
        if (selection->prefix[k] <= 0) selection->prefix[k] = NAN;
        if (selection->position[k] <= 0) selection->position[k] = NAN;
    }
    return SA_OK;
}

/* ---- the policy's own call ---- */

/* Scores the request with all widths, and finds the algorithm's slate. */
static sa_status solve(const sa_policy *policy, sa_chooser *chooser, const sa_request *request, size_t n,
                       sa_selection *selection) {
    sa_request asking = *request;
    asking.propensities = true;
    SA_TRY(sa_selection_prepare(policy, &asking, 0, selection));
    if (policy->floor > 0) SA_TRY(sa_selection_check_floor(policy, selection));
    if (policy->oracle->size != SA_EXACTLY_K && !(selection->data.given & SA_BIT(SA_EXACTLY)))
        return sa_fail(
            SA_INVALID,
            "with --oracle %s the policy decides how long a slate is, and its probabilities are not known",
            policy->oracle->name);
    if (n != request->slate)
        return sa_fail(SA_INVALID, "the slate has %zu arms, and the request asks for %zu", n, request->slate);
    SA_TRY(sa_chooser_begin(chooser, policy));
    SA_TRY(sa_selections_lay(chooser, policy, selection, 1));
    SA_TRY(sa_selections_score(policy, chooser, selection, 1));
    selection->random = false;
    selection->request = request;
    return sa_selection_solve(policy, chooser, selection);
}

/* From "the first k - 1 arms and this one" to "this one, given the first k - 1"; where they are impossible,
 * all is 0. */
static void condition(size_t length, size_t arms, const size_t *slate, double *next) {
    double before = 1;
    for (size_t k = 0; k < length; k++) {
        double after = next[k * arms + slate[k]];
        for (size_t a = 0; a < arms; a++) next[k * arms + a] = before > 0 ? next[k * arms + a] / before : 0;
        before = after;
    }
}

sa_status sa_policy_propensities(const sa_policy *policy, sa_chooser *chooser, const sa_request *request,
                                 const size_t *arms, size_t n, double *propensity, double *prefix,
                                 double *position, double *all_positions, double *all_next) {
    if (!policy || !chooser || !request || !arms)
        return sa_fail(SA_INVALID, "sa_policy_propensities needs a policy, a chooser, a request and a slate");
    sa_selection selection;
    double *own_prefix;
    SA_TRY(solve(policy, chooser, request, n, &selection));
    SA_TRY(sa_alloc_array(n, sizeof *own_prefix, &own_prefix));
    const sa_propensities out = {own_prefix, position, all_positions, all_next};
    sa_status status = sa_selection_propensities(policy, &selection, arms, n, &out);
    if (status == SA_OK) {
        if (propensity) *propensity = own_prefix[n - 1];
        if (prefix) memcpy(prefix, own_prefix, n * sizeof *prefix);
        if (all_next) condition(n, request->arms, arms, all_next);
    }
    sa_free(own_prefix);
    return status;
}
