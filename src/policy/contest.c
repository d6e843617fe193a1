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
    sa_selection *selections;
    size_t count;
} contest;

static double score_at(const sa_candidates *all, const sa_selection *selection, size_t row, double width) {
    return sa_selection_score(selection, all->mean[row], width, all->spread[row], all->draw[row]);
}

static double highest(const sa_candidates *all, const sa_selection *selection, size_t row) {
    double at_width = score_at(all, selection, row, all->width[row]), at_0 = score_at(all, selection, row, 0);
    return at_width > at_0 ? at_width : at_0;
}

static size_t slate_of(const sa_selection *selection) {
    return selection->request->slate < selection->rows ? selection->request->slate : selection->rows;
}

/* The best `wanted` of scores (rows), into best. */
static sa_status best_of(sa_chooser *chooser, const double *scores, size_t rows, size_t wanted,
                         size_t *best) {
    sa_oracle_problem problem = {.scores = scores, .arms = rows, .slate = wanted};
    size_t length;
    return sa_oracle_top_k.solve(&problem, &chooser->oracle, best, &length);
}

/* The score to reach: the slate-th highest of the exact ones, not below the selection's bar. */
static sa_status find_beat(const contest *self, const sa_selection *selection, double *beat) {
    const sa_candidates *all = self->all;
    double *rank = all->rank + selection->first;
    size_t *best = all->joint + selection->first; /* not in use now */
    size_t wanted = slate_of(selection), count = 0;
    for (size_t row = selection->first; row < selection->first + selection->rows; row++)
        if (all->marked[row]) rank[count++] = all->score[row];
    if (count < wanted) wanted = count;
    SA_TRY(best_of(self->chooser, rank, count, wanted, best));
    *beat = wanted ? fmax(rank[best[wanted - 1]], selection->bar) : selection->bar;
    return SA_OK;
}

/* The contenders of all selections, as rows. */
static const size_t *join(const contest *self, size_t *count) {
    const sa_candidates *all = self->all;
    *count = self->selections->contenders;
    if (self->count == 1) return all->contender;
    *count = 0;
    for (size_t c = 0; c < self->count; c++) {
        const sa_selection *selection = &self->selections[c];
        memcpy(all->joint + *count, all->contender + selection->first,
               selection->contenders * sizeof *all->joint);
        *count += selection->contenders;
    }
    return all->joint;
}

/* The contenders are those with the highest bounds: the slate, and whoever is solved for in the same time. */
static sa_status choose_first(const contest *self, sa_selection *selection) {
    const sa_candidates *all = self->all;
    size_t *contender = all->contender + selection->first;
    size_t group = (slate_of(selection) + SA_WIDTH_GROUP - 1) / SA_WIDTH_GROUP * SA_WIDTH_GROUP;
    memset(all->marked + selection->first, 0, selection->rows * sizeof *all->marked);
    selection->contenders = group < selection->rows ? group : selection->rows;
    SA_TRY(best_of(self->chooser, all->score + selection->first, selection->rows, selection->contenders,
                   contender));
    for (size_t i = 0; i < selection->contenders; i++) contender[i] += selection->first;
    return SA_OK;
}

/* The contenders are those whose bound can still reach the slate; the `most` with the highest bounds. */
static sa_status choose_others(const contest *self, sa_selection *selection, size_t most) {
    const sa_candidates *all = self->all;
    size_t *contender = all->contender + selection->first, *best = all->joint + selection->first;
    double beat, *rank = all->rank + selection->first;
    selection->contenders = 0;
    SA_TRY(find_beat(self, selection, &beat));
    for (size_t row = selection->first; row < selection->first + selection->rows; row++) {
        if (all->marked[row] || !(all->score[row] >= beat)) continue;
        rank[selection->contenders] = all->score[row];
        contender[selection->contenders++] = row;
    }
    if (selection->contenders <= most) return SA_OK;
    SA_TRY(best_of(self->chooser, rank, selection->contenders, most, best));
    for (size_t i = 0; i < most; i++) best[i] = contender[best[i]];
    memcpy(contender, best, most * sizeof *contender);
    selection->contenders = most;
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
        for (size_t i = 0; i < self->selections[c].contenders; i++) {
            size_t row = all->contender[self->selections[c].first + i];
            all->score[row] = highest(all, &self->selections[c], row);
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
        for (size_t i = 0; i < self->selections[c].contenders; i++) {
            size_t row = all->contender[self->selections[c].first + i];
            all->score[row] = score_at(all, &self->selections[c], row, all->width[row]);
            all->marked[row] = true;
        }
    return SA_OK;
}

sa_status sa_contest(const sa_policy *policy, sa_chooser *chooser, sa_selection *selections, size_t count) {
    const contest self = {.policy = policy,
                          .chooser = chooser,
                          .all = &chooser->candidates,
                          .selections = selections,
                          .count = count};
    for (size_t c = 0; c < count; c++) SA_TRY(choose_first(&self, &selections[c]));
    SA_TRY(score_exactly(&self));
    for (size_t c = 0; c < count; c++) SA_TRY(choose_others(&self, &selections[c], SIZE_MAX));
    SA_TRY(tighten(&self));
    for (size_t left = 1; left > 0;) {
        left = 0;
        for (size_t c = 0; c < count; c++) {
            SA_TRY(choose_others(&self, &selections[c], LATER_GROUP));
            left += selections[c].contenders;
        }
        SA_TRY(score_exactly(&self));
    }
    return SA_OK;
}

sa_status sa_contest_keep(sa_chooser *chooser, sa_selection *selection) {
    sa_candidates *all = &chooser->candidates;
    size_t wanted = slate_of(selection), kept = 0;
    SA_TRY(best_of(chooser, all->score, all->count, wanted, all->contender));
    selection->bar = all->score[all->contender[wanted - 1]];
    memset(all->marked, 0, all->count * sizeof *all->marked);
    for (size_t k = 0; k < wanted; k++) all->marked[all->contender[k]] = true;
    for (size_t i = 0; i < all->count; i++) {
        if (!all->marked[i]) continue;
        all->index[kept] = all->index[i];
        all->mean[kept] = all->mean[i];
        all->draw[kept] = all->draw[i];
        all->width[kept] = all->width[i];
        all->spread[kept] = all->spread[i];
        all->score[kept] = all->score[i];
        sa_gradients_move(&all->gradients, i, kept);
        kept++;
    }
    all->count = all->gradients.count = selection->rows = kept;
    return SA_OK;
}
