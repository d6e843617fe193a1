/* Probabilities under the floor by place. Given the scores, a slate's is a product over its places of E /
 * count + (1 - E) [it is the own choice], count the arms that keep the slate feasible, which do not depend on
 * the scores. Where scores are drawn it is the mean of these products: over the distribution where there is a
 * formula, else over 1001 drawings, of which the one that the algorithm made when it chose is one. Given all
 * of them, and not which came first, the slate was chosen with just this probability, so 1 / p has no
 * bias. */
#include <string.h>

#include "base/memory.h"
#include "exploration/place.h"
#include "oracle/extend.h"
#include "policy/asked.h"
#include "policy/draws.h"

typedef struct places {
    const sa_asked *asked;
    sa_extender extender;
    size_t feasible; /* places, from the first, before which the slate can be had */
    bool counted;    /* are `open` and `count` there? */
    bool *open;      /* (length, arms of the request) */
    size_t *count;   /* (length) */
    size_t *slate;   /* (length) the slate's first arms, and the own selections after them */
    double *ranks;   /* (length, length + 1), see exploration/place.h */
    size_t *rank;    /* (eligible) */
} places;

static void clear(places *self) {
    sa_extender_clear(&self->extender);
    sa_free(self->open);
    sa_free(self->count);
    sa_free(self->slate);
    sa_free(self->ranks);
    sa_free(self->rank);
}

static sa_status begin(const sa_asked *asked, places *out) {
    const sa_oracle_problem problem = sa_selection_problem(asked->policy, asked->selection);
    size_t length = asked->length;
    places self = {.asked = asked, .feasible = length};
    sa_status status;
    SA_TRY_OR_FAIL(sa_extender_begin(asked->policy->oracle, &problem, &self.extender));
    SA_TRY_OR_FAIL(sa_alloc_matrix(length, problem.arms, sizeof *self.open, &self.open));
    SA_TRY_OR_FAIL(sa_alloc_array(length, sizeof *self.count, &self.count));
    SA_TRY_OR_FAIL(sa_alloc_array(length, sizeof *self.slate, &self.slate));
    SA_TRY_OR_FAIL(sa_alloc_matrix(length, length + 1, sizeof *self.ranks, &self.ranks));
    SA_TRY_OR_FAIL(sa_alloc_array(asked->eligible->count, sizeof *self.rank, &self.rank));
    SA_TRY_OR_FAIL(sa_place_of_ranks(asked->policy->floor, asked->eligible->count, length, self.ranks));
    *out = self;
    return SA_OK;
fail:
    clear(&self);
    return status;
}

/* ---- under given scores ---- */

static double share(const places *self, size_t k, size_t arm) {
    double E = self->asked->policy->floor;
    return (self->open[k * self->asked->selection->request->arms + arm] ? E / (double)self->count[k] : 0) +
           (self->slate[k] == arm ? 1 - E : 0);
}

/* `before`: of the places before k. */
static void add_next(const places *self, size_t k, double before, sa_table *out) {
    const sa_asked *asked = self->asked;
    size_t arms = asked->eligible->count;
    for (size_t i = 0; i < arms && asked->next; i++)
        out->next[k * arms + i] += before * share(self, k, asked->eligible->arms[i]);
    if (!asked->next) out->next[k * arms + asked->slate[k]] += before * share(self, k, asked->arms[k]);
}

/* best (length): the oracle's slate under the problem's scores. */
static sa_status add_prefixes(places *self, const sa_oracle_problem *problem, const size_t *best,
                              double weight, sa_table *out) {
    const sa_asked *asked = self->asked;
    memcpy(self->slate, best, asked->length * sizeof *best);
    for (size_t k = 0; k < self->feasible; k++) {
        bool *open = self->open + k * problem->arms;
        if (!self->counted) self->count[k] = sa_extender_open(&self->extender, problem, self->slate, k, open);
        add_next(self, k, weight, out);
        weight *= share(self, k, asked->arms[k]);
        if (open[asked->arms[k]])
            SA_TRY(sa_extender_take(&self->extender, problem, best, k, asked->arms[k], self->slate));
        else
            self->feasible = k + 1;
    }
    self->counted = true;
    return SA_OK;
}

/* Where all places are alike. */
static void add_positions(places *self, const size_t *best, double weight, sa_table *out) {
    const sa_asked *asked = self->asked;
    size_t arms = asked->eligible->count, length = asked->length;
    for (size_t i = 0; i < arms; i++) self->rank[i] = length;
    for (size_t k = 0; k < length; k++) self->rank[asked->eligible->place[best[k]]] = k;
    for (size_t k = 0; k < length; k++)
        for (size_t i = asked->positions ? 0 : asked->slate[k]; i < arms; i++) {
            out->positions[k * arms + i] += weight * self->ranks[k * (length + 1) + self->rank[i]];
            if (!asked->positions) break;
        }
}

static sa_status add(places *self, const sa_oracle_problem *problem, const size_t *best, double weight,
                     sa_table *out) {
    if (out->has_positions) add_positions(self, best, weight, out);
    return add_prefixes(self, problem, best, weight, out);
}

/* ---- and under those that the algorithm may have ---- */

static sa_status add_drawings(places *self, sa_table *out) {
    const sa_asked *asked = self->asked;
    const double weight = 1.0 / (SA_DRAWS + 1);
    size_t *drawn, length;
    sa_draws draw;
    SA_TRY(sa_alloc_array(asked->selection->slate + asked->length, sizeof *drawn, &drawn));
    sa_status status = sa_draws_begin(asked->policy, asked->selection, &draw);
    for (size_t j = 0; j < SA_DRAWS && status == SA_OK; j++) {
        status = sa_draws_next(&draw, j, drawn, &length);
        const sa_oracle_problem problem = sa_selection_problem(asked->policy, &draw.selection);
        if (status == SA_OK && sa_problem_is_late(&problem)) status = sa_problem_fail_late();
        if (status == SA_OK) status = add(self, &problem, drawn, weight, out);
    }
    sa_draws_clear(&draw);
    sa_free(drawn);
    return status;
}

static sa_status by_walking(const sa_asked *asked, sa_table *out) {
    const sa_selection *selection = asked->selection;
    const sa_oracle_problem problem = sa_selection_problem(asked->policy, selection);
    bool draws = sa_selection_draws(selection);
    places self;
    SA_TRY(begin(asked, &self));
    out->has_next = true;
    out->has_positions = sa_selection_is_plain_top_k(asked->policy, selection);
    sa_status status = add(&self, &problem, selection->oracle_arms, draws ? 1.0 / (SA_DRAWS + 1) : 1, out);
    if (status == SA_OK && draws) status = add_drawings(&self, out);
    if (status != SA_OK && sa_problem_is_late(&problem)) { /* the slate is there; this is too much to ask */
        out->has_next = out->has_positions = false;
        status = SA_OK;
    }
    clear(&self);
    return status;
}

sa_status sa_asked_by_place(const sa_asked *self, sa_table *out) {
    sa_propensity_formula formula = self->selection->exploration.kind->propensity;
    out->has_next = out->has_positions = true;
    if (sa_selection_draws(self->selection) && sa_selection_is_plain_top_k(self->policy, self->selection)) {
        if (formula == SA_PROPENSITY_UNIFORM) return sa_asked_uniform(self, out);
        if (formula == SA_PROPENSITY_NORMAL) return sa_asked_thompson(self, self->policy->floor, out);
    }
    return by_walking(self, out);
}
