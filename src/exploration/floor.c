#include "exploration/floor.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"

/* What is left over when some arms are chosen. */
typedef struct left_over {
    const sa_feasible *feasible;
    size_t groups;          /* at least 1: without groups all arms are one */
    size_t *size, *allowed; /* (groups) arms not chosen; how many more may be */
    double *sets, *next;    /* (K + 1) coefficients */
    bool *chosen;           /* (arms) */
} left_over;

static void clear(left_over *self) {
    sa_free(self->size);
    sa_free(self->allowed);
    sa_free(self->sets);
    sa_free(self->next);
    sa_free(self->chosen);
}

static size_t group_of(const left_over *self, size_t arm) {
    return self->feasible->groups ? self->feasible->group[arm] : 0;
}

static sa_status begin(const sa_feasible *feasible, left_over *out) {
    left_over self = {.feasible = feasible, .groups = feasible->groups ? feasible->groups : 1};
    sa_status status;
    SA_TRY_OR_FAIL(sa_alloc_array(self.groups, sizeof *self.size, &self.size));
    SA_TRY_OR_FAIL(sa_alloc_array(self.groups, sizeof *self.allowed, &self.allowed));
    SA_TRY_OR_FAIL(sa_alloc_array(feasible->slate + 1, sizeof *self.sets, &self.sets));
    SA_TRY_OR_FAIL(sa_alloc_array(feasible->slate + 1, sizeof *self.next, &self.next));
    SA_TRY_OR_FAIL(sa_alloc_array(feasible->arms, sizeof *self.chosen, &self.chosen));
    for (size_t a = 0; a < feasible->arms; a++) self.size[group_of(&self, a)]++;
    for (size_t g = 0; g < self.groups; g++)
        self.allowed[g] = feasible->groups ? feasible->capacity[g] : feasible->slate;
    *out = self;
    return SA_OK;
fail:
    clear(&self);
    return status;
}

static void choose(left_over *self, size_t arm) {
    size_t g = group_of(self, arm);
    self->chosen[arm] = true;
    self->size[g]--;
    self->allowed[g] -= self->allowed[g] > 0;
}

/* Sets of `count` further arms. */
static double count_sets(left_over *self, size_t count) {
    memset(self->sets, 0, (count + 1) * sizeof *self->sets);
    self->sets[0] = 1;
    for (size_t g = 0; g < self->groups; g++) {
        memset(self->next, 0, (count + 1) * sizeof *self->next);
        double binomial = 1;
        for (size_t j = 0; j <= count && j <= self->allowed[g] && j <= self->size[g]; j++) {
            for (size_t k = j; k <= count; k++) self->next[k] += binomial * self->sets[k - j];
            binomial *= (double)(self->size[g] - j) / (double)(j + 1);
        }
        double *swap = self->sets;
        self->sets = self->next;
        self->next = swap;
    }
    return self->sets[count];
}

/* Sets of `count` further arms of which one, of group g, is chosen already. */
static double count_after(left_over *self, size_t g, size_t count) {
    if (!self->allowed[g] || !self->size[g]) return 0;
    self->size[g]--;
    self->allowed[g]--;
    double sets = count_sets(self, count - 1);
    self->size[g]++;
    self->allowed[g]++;
    return sets;
}

/* Of a set of `count` further arms in random order, the chance that a given arm of group g comes first: it is
 * in it, and first of it. */
static sa_status first_chances(left_over *self, size_t count, double *chance) {
    double all = count_sets(self, count);
    if (!(all > 0)) return sa_fail(SA_INVALID, "no slate of %zu arms is feasible", self->feasible->slate);
    if (!isfinite(all)) return sa_fail(SA_INVALID, "the feasible slates are too many to be counted");
    for (size_t g = 0; g < self->groups; g++) chance[g] = count_after(self, g, count) / all / (double)count;
    return SA_OK;
}

sa_status sa_feasible_next(const sa_feasible *feasible, const size_t *slate, double *out) {
    size_t arms = feasible->arms;
    left_over self;
    double *chance = NULL, before = 1; /* before: of the first k arms */
    sa_status status;
    SA_TRY(begin(feasible, &self));
    SA_TRY_OR_FAIL(sa_alloc_array(self.groups, sizeof *chance, &chance));
    for (size_t k = 0; k < feasible->slate; k++) {
        SA_TRY_OR_FAIL(first_chances(&self, feasible->slate - k, chance));
        for (size_t a = 0; a < arms; a++)
            out[k * arms + a] = self.chosen[a] ? 0 : before * chance[group_of(&self, a)];
        before = out[k * arms + slate[k]];
        choose(&self, slate[k]);
    }
fail:
    sa_free(chance);
    clear(&self);
    return status;
}

sa_status sa_feasible_position(const sa_feasible *feasible, double *out) {
    left_over self;
    double *chance = NULL;
    sa_status status;
    SA_TRY(begin(feasible, &self));
    SA_TRY_OR_FAIL(sa_alloc_array(self.groups, sizeof *chance, &chance));
    SA_TRY_OR_FAIL(first_chances(&self, feasible->slate, chance));
    for (size_t a = 0; a < feasible->arms; a++) out[a] = chance[group_of(&self, a)];
fail:
    sa_free(chance);
    clear(&self);
    return status;
}

/* Draws a group by its chance, then one of its arms. */
static size_t draw_arm(const left_over *self, const double *chance, const sa_stream *stream, uint64_t index) {
    double at = sa_draw_uniform(stream, index);
    size_t g = 0, last = 0;
    for (; g < self->groups; g++) {
        double share = chance[g] * (double)self->size[g];
        if (share > 0) last = g;
        if (share > 0 && at < share) break;
        at -= share;
    }
    if (g == self->groups) g = last; /* rounding */
    uint64_t which = sa_draw_below(stream, index + 1, self->size[g]);
    for (size_t a = 0;; a++)
        if (!self->chosen[a] && group_of(self, a) == g && which-- == 0) return a;
}

sa_status sa_feasible_draw(const sa_feasible *feasible, const sa_stream *stream, uint64_t first,
                           size_t *slate) {
    left_over self;
    double *chance = NULL;
    sa_status status;
    SA_TRY(begin(feasible, &self));
    SA_TRY_OR_FAIL(sa_alloc_array(self.groups, sizeof *chance, &chance));
    for (size_t k = 0; k < feasible->slate; k++) {
        SA_TRY_OR_FAIL(first_chances(&self, feasible->slate - k, chance));
        slate[k] = draw_arm(&self, chance, stream, first + 2 * k);
        choose(&self, slate[k]);
    }
fail:
    sa_free(chance);
    clear(&self);
    return status;
}
