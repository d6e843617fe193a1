#include "policy/contest.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Contenders taken at a time, after the first: so many that the engine computes at its full speed, and few,
 * as each group raises what the next has to reach. */
enum { LATER_GROUP = 3 * SA_WIDTH_GROUP };

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

/* The score to reach: the slate-th highest of the exact ones, not below the choice's bar. */
static sa_status find_beat(const contest *self, const sa_choice *choice, double *beat) {
    const sa_candidates *all = self->all;
    double *rank = all->rank + choice->first;
    size_t *best = all->joint + choice->first; /* not in use now */
    size_t wanted = slate_of(choice), count = 0;
    for (size_t row = choice->first; row < choice->first + choice->rows; row++)
        if (all->marked[row]) rank[count++] = all->score[row];
    if (count < wanted) wanted = count;
    SA_TRY(best_of(self->chooser, rank, count, wanted, best));
    *beat = wanted ? fmax(rank[best[wanted - 1]], choice->bar) : choice->bar;
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

/* The contenders are those with the highest bounds: the slate, and whoever is solved for in the same time. */
static sa_status choose_first(const contest *self, sa_choice *choice) {
    const sa_candidates *all = self->all;
    size_t *contender = all->contender + choice->first;
    size_t group = (slate_of(choice) + SA_WIDTH_GROUP - 1) / SA_WIDTH_GROUP * SA_WIDTH_GROUP;
    memset(all->marked + choice->first, 0, choice->rows * sizeof *all->marked);
    choice->contenders = group < choice->rows ? group : choice->rows;
    SA_TRY(best_of(self->chooser, all->score + choice->first, choice->rows, choice->contenders, contender));
    for (size_t i = 0; i < choice->contenders; i++) contender[i] += choice->first;
    return SA_OK;
}

/* The contenders are those whose bound can still reach the slate; the `most` with the highest bounds. */
static sa_status choose_others(const contest *self, sa_choice *choice, size_t most) {
    const sa_candidates *all = self->all;
    size_t *contender = all->contender + choice->first, *best = all->joint + choice->first;
    double beat, *rank = all->rank + choice->first;
    choice->contenders = 0;
    SA_TRY(find_beat(self, choice, &beat));
    for (size_t row = choice->first; row < choice->first + choice->rows; row++) {
        if (all->marked[row] || !(all->score[row] >= beat)) continue;
        rank[choice->contenders] = all->score[row];
        contender[choice->contenders++] = row;
    }
    if (choice->contenders <= most) return SA_OK;
    SA_TRY(best_of(self->chooser, rank, choice->contenders, most, best));
    for (size_t i = 0; i < most; i++) best[i] = contender[best[i]];
    memcpy(contender, best, most * sizeof *contender);
    choice->contenders = most;
    return SA_OK;
}

/* Lower bounds of the contenders. */
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
            all->marked[row] = true;
        }
    return SA_OK;
}

sa_status sa_contest(const sa_policy *policy, sa_chooser *chooser, sa_choice *choices, size_t count) {
    const contest self = {.policy = policy,
                          .chooser = chooser,
                          .all = &chooser->candidates,
                          .choices = choices,
                          .count = count};
    for (size_t c = 0; c < count; c++) SA_TRY(choose_first(&self, &choices[c]));
    SA_TRY(score_exactly(&self));
    for (size_t c = 0; c < count; c++) SA_TRY(choose_others(&self, &choices[c], SIZE_MAX));
    SA_TRY(tighten(&self));
    for (size_t left = 1; left > 0;) {
        left = 0;
        for (size_t c = 0; c < count; c++) {
            SA_TRY(choose_others(&self, &choices[c], LATER_GROUP));
            left += choices[c].contenders;
        }
        SA_TRY(score_exactly(&self));
    }
    return SA_OK;
}

sa_status sa_contest_keep(sa_chooser *chooser, sa_choice *choice) {
    sa_candidates *all = &chooser->candidates;
    size_t wanted = slate_of(choice), kept = 0;
    SA_TRY(best_of(chooser, all->score, all->count, wanted, all->contender));
    choice->bar = all->score[all->contender[wanted - 1]];
    memset(all->marked, 0, all->count * sizeof *all->marked);
    for (size_t k = 0; k < wanted; k++) all->marked[all->contender[k]] = true;
    for (size_t i = 0; i < all->count; i++) {
        if (!all->marked[i]) continue;
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
