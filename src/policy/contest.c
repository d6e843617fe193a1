#include "policy/contest.h"

#include <math.h>
#include <string.h>

typedef struct contest {
    const sa_policy *policy;
    sa_chooser *chooser;
    sa_candidates *all;
    sa_choice *choices;
    size_t count;
} contest;

static double score_at(const sa_candidates *all, const sa_choice *choice, size_t row, double width) {
    return choice->exploration.kind->score(&choice->exploration, all->mean[row], width, choice->bonus,
                                           all->draw[row]);
}

static double highest(const sa_candidates *all, const sa_choice *choice, size_t row) {
    double at_width = score_at(all, choice, row, all->width[row]), at_0 = score_at(all, choice, row, 0);
    return at_width > at_0 ? at_width : at_0;
}

static double lowest(const sa_candidates *all, const sa_choice *choice, size_t row) {
    double at_width = score_at(all, choice, row, all->width[row]), at_0 = score_at(all, choice, row, 0);
    return at_width < at_0 ? at_width : at_0;
}

static size_t slate_of(const sa_choice *choice) {
    return choice->request->slate < choice->rows ? choice->request->slate : choice->rows;
}

/* The best `wanted` of scores (rows), into best. */
static sa_status best_of(sa_chooser *chooser, const double *scores, size_t rows, size_t wanted,
                         size_t *best) {
    sa_oracle_problem problem = {.scores = scores, .arms = rows, .slate = wanted};
    size_t length;
    return sa_oracle_top_k.solve(&problem, &chooser->oracle, best, &length);
}

/* The slate-th highest of the choice's ranks, of which there are `count` from its first row on; not below its
 * bar. */
static sa_status place_score(const contest *self, const sa_choice *choice, size_t count, double *score) {
    const double *rank = self->all->rank + choice->first;
    size_t *best = self->all->joint + choice->first; /* not in use now */
    size_t wanted = slate_of(choice) < count ? slate_of(choice) : count;
    SA_TRY(best_of(self->chooser, rank, count, wanted, best));
    *score = wanted ? fmax(rank[best[wanted - 1]], choice->bar) : choice->bar;
    return SA_OK;
}

/* The contenders of all choices, as rows. */
static const size_t *join(const contest *self, size_t *count) {
    const sa_candidates *all = self->all;
    *count = self->choices->contenders;
    if (self->count == 1) return all->contender;
    *count = 0;
    for (size_t c = 0; c < self->count; c++) {
        const sa_choice *choice = &self->choices[c];
        memcpy(all->joint + *count, all->contender + choice->first, choice->contenders * sizeof *all->joint);
        *count += choice->contenders;
    }
    return all->joint;
}

/* A few more than the slate, so that one group mostly does. */
static size_t group_of(const sa_choice *choice) {
    size_t group = slate_of(choice) + slate_of(choice) / 2 + 2;
    return group < choice->rows ? group : choice->rows;
}

/* Contenders are those in, where they are more than a group: their bounds are to be tighter. */
static sa_status find_those_in(const contest *self, sa_choice *choice) {
    const sa_candidates *all = self->all;
    size_t end = choice->first + choice->rows, count = 0;
    double beat;
    for (size_t row = choice->first; row < end; row++) all->rank[row] = lowest(all, choice, row);
    SA_TRY(place_score(self, choice, choice->rows, &beat));
    for (size_t row = choice->first; row < end; row++)
        if (all->score[row] >= beat) all->contender[choice->first + count++] = row;
    choice->contenders = count > group_of(choice) ? count : 0;
    return SA_OK;
}

static sa_status tighten(const contest *self) {
    const sa_confidence *confidence = self->policy->confidence;
    const sa_candidates *all = self->all;
    size_t count;
    const size_t *rows = join(self, &count);
    if (count == 0 || !confidence->kind->tighten) return SA_OK;
    SA_TRY(confidence->kind->tighten(confidence, &all->gradients, rows, count, &self->chooser->widths,
                                     all->width));
    for (size_t c = 0; c < self->count; c++)
        for (size_t i = 0; i < self->choices[c].contenders; i++) {
            size_t row = all->contender[self->choices[c].first + i];
            all->score[row] = highest(all, &self->choices[c], row);
        }
    return SA_OK;
}

/* The contenders are the group with the highest bounds. */
static sa_status choose_group(const contest *self, sa_choice *choice) {
    size_t *contender = self->all->contender + choice->first;
    choice->contenders = group_of(choice);
    SA_TRY(best_of(self->chooser, self->all->score + choice->first, choice->rows, choice->contenders,
                   contender));
    for (size_t i = 0; i < choice->contenders; i++) contender[i] += choice->first;
    return SA_OK;
}

/* Exact widths and scores of the contenders. */
static sa_status score_exactly(const contest *self) {
    const sa_confidence *confidence = self->policy->confidence;
    const sa_candidates *all = self->all;
    size_t count;
    const size_t *rows = join(self, &count), *label = self->count == 1 ? all->index : NULL;
    if (count == 0) return SA_OK;
    SA_TRY(confidence->kind->widths(confidence, &all->gradients, rows, count, label, &self->chooser->widths,
                                    all->width));
    for (size_t c = 0; c < self->count; c++)
        for (size_t i = 0; i < self->choices[c].contenders; i++) {
            size_t row = all->contender[self->choices[c].first + i];
            all->score[row] = score_at(all, &self->choices[c], row, all->width[row]);
        }
    return SA_OK;
}

/* The contenders, which are scored, are followed by those who can still reach the slate. */
static sa_status choose_others(const contest *self, sa_choice *choice) {
    const sa_candidates *all = self->all;
    size_t first = choice->first, count = 0;
    double beat;
    memset(all->is_contender + first, 0, choice->rows * sizeof *all->is_contender);
    for (size_t i = 0; i < choice->contenders; i++) {
        all->is_contender[all->contender[first + i]] = true;
        all->rank[first + i] = all->score[all->contender[first + i]];
    }
    SA_TRY(place_score(self, choice, choice->contenders, &beat));
    for (size_t row = first; row < first + choice->rows; row++)
        if (!all->is_contender[row] && all->score[row] >= beat) all->contender[first + count++] = row;
    choice->contenders = count;
    return SA_OK;
}

sa_status sa_contest(const sa_policy *policy, sa_chooser *chooser, sa_choice *choices, size_t count) {
    const contest self = {.policy = policy,
                          .chooser = chooser,
                          .all = &chooser->candidates,
                          .choices = choices,
                          .count = count};
    for (size_t c = 0; c < count; c++) SA_TRY(find_those_in(&self, &choices[c]));
    SA_TRY(tighten(&self));
    for (size_t c = 0; c < count; c++) SA_TRY(choose_group(&self, &choices[c]));
    SA_TRY(score_exactly(&self));
    for (size_t c = 0; c < count; c++) SA_TRY(choose_others(&self, &choices[c]));
    return score_exactly(&self);
}

sa_status sa_contest_keep(sa_chooser *chooser, sa_choice *choice) {
    sa_candidates *all = &chooser->candidates;
    size_t wanted = slate_of(choice), kept = 0;
    SA_TRY(best_of(chooser, all->score, all->count, wanted, all->contender));
    choice->bar = all->score[all->contender[wanted - 1]];
    memset(all->is_contender, 0, all->count * sizeof *all->is_contender);
    for (size_t k = 0; k < wanted; k++) all->is_contender[all->contender[k]] = true;
    for (size_t i = 0; i < all->count; i++) {
        if (!all->is_contender[i]) continue;
        all->index[kept] = all->index[i];
        all->mean[kept] = all->mean[i];
        all->draw[kept] = all->draw[i];
        all->width[kept] = all->width[i];
        all->score[kept] = all->score[i];
        sa_gradients_move(&all->gradients, i, kept);
        kept++;
    }
    all->count = all->gradients.count = choice->rows = kept;
    return SA_OK;
}
