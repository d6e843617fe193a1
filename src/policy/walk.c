#include "policy/walk.h"

#include <math.h>
#include <string.h>

#include "base/workers.h"
#include "policy/blocks.h"
#include "policy/contest.h"

typedef struct walk {
    const sa_policy *policy;
    sa_chooser *chooser;
    sa_selection *selection;
    size_t first, blocks; /* of the wave: its first arm, and how many blocks it has */
} walk;

static size_t block_size(const sa_selection *selection, size_t first) {
    size_t left = selection->request->arms - first;
    return left < SA_BLOCK_ARMS ? left : SA_BLOCK_ARMS;
}

static bool is_one_block(const sa_selection *selection) { return selection->request->arms <= SA_BLOCK_ARMS; }

/* ---- one block ---- */

static double score_at(const sa_selection *selection, size_t score, double width) {
    return sa_selection_score(selection, selection->mean[score], width, selection->spread[score],
                              selection->draw[score]);
}

/* width and score of [start, end): upper bounds. Norms too large for the quick way are taken again with
 * care. */
static void bound(const walk *self, const sa_gradients *gradients, size_t start, size_t end) {
    const sa_selection *selection = self->selection;
    double *width = selection->width + start, largest = 0;
    sa_gradients_norms_above(gradients, width);
    for (size_t i = 0; i < end - start; i++)
        if (!(width[i] <= largest)) largest = width[i];
    if (!isfinite(largest)) sa_gradients_norms(gradients, width);
    for (size_t i = start; i < end; i++) {
        selection->width[i] = sqrt(selection->width[i] / self->policy->lambda);
        double at_width = score_at(selection, i, selection->width[i]), at_0 = score_at(selection, i, 0);
        selection->score[i] = at_width > at_0 ? at_width : at_0;
    }
}

/* score of [start, end) where no widths are wanted */
static sa_status score_without_widths(const walk *self, const void *input, size_t start, size_t end,
                                      sa_block *block) {
    const sa_selection *selection = self->selection;
    const sa_model *model = self->policy->estimator.model;
    for (size_t i = start; i < end; i++) selection->width[i] = NAN;
    if (selection->exploration.kind->from == SA_SCORES_FROM_MODEL)
        return model->kind->exploring->explore(model, input, end - start, selection->round + 1,
                                               &block->work.model, selection->score + start,
                                               selection->urgency + start);
    for (size_t i = start; i < end; i++) selection->score[i] = score_at(selection, i, NAN);
    return SA_OK;
}

/* Estimates, draws and bounds of a block; `survivors` are those that can reach the slate. */
static sa_status take_block(const walk *self, size_t first, size_t count, sa_block *block,
                            sa_survivors *survivors) {
    const sa_selection *selection = self->selection;
    const bool *excluded = selection->request->excluded;
    size_t start = sa_selection_score_of(selection, first),
           end = sa_selection_score_of(selection, first + count);
    const void *input = NULL;
    survivors->count = 0;
    if (self->policy->estimator.model)
        SA_TRY(sa_block_evaluate(self->policy, self->chooser, selection, first, count, block, &input));
    else
        SA_TRY(sa_block_read(block, &self->policy->estimator.inputs, selection->request, first,
                             count)); /* to check them */
    sa_explore_draw(&selection->exploration, start, end - start, &selection->stream, selection->draw + start);
    if (selection->urgency)
        memcpy(selection->urgency + start, selection->draw + start, (end - start) * sizeof *selection->draw);
    if (!self->policy->confidence) return score_without_widths(self, input, start, end, block);
    if (!selection->bounded) return SA_OK;
    bound(self, &block->gradients, start, end);
    for (size_t i = start; i < end; i++)
        if (!(excluded && excluded[i]) && selection->score[i] > selection->bar)
            survivors->index[survivors->count++] = i;
    if (self->blocks == 1) return SA_OK; /* they are gathered before the block is used again */
    SA_TRY(sa_gradients_fit(&survivors->gradients, self->policy->none.precision, &self->policy->none));
    SA_TRY(sa_gradients_reserve(&survivors->gradients, survivors->count));
    for (size_t i = 0; i < survivors->count; i++) {
        size_t row = survivors->index[i] - start;
        sa_gradients_append(&survivors->gradients, &block->gradients, &row, 1);
    }
    return SA_OK;
}

/* ---- candidates ---- */

static void add_candidate(sa_candidates *all, const sa_selection *selection, size_t score) {
    size_t end = all->count++;
    all->index[end] = score;
    all->mean[end] = selection->mean[score];
    all->draw[end] = selection->draw[score];
    all->width[end] = selection->width[score];
    all->spread[end] = selection->spread[score];
    all->score[end] = selection->score[score];
}

/* Takes over a block's survivors, but for those that are below the bar by now; without bounds, all of its
 * scores. */
static sa_status gather(const walk *self, size_t index) {
    const sa_selection *selection = self->selection;
    sa_candidates *all = &self->chooser->candidates;
    const sa_survivors *survivors = &self->chooser->survivors[index];
    const sa_block *block = self->chooser->block;
    size_t first = self->first + index * SA_BLOCK_ARMS, start = sa_selection_score_of(selection, first);
    if (!selection->bounded) {
        size_t rows = block->gradients.count;
        SA_TRY(sa_gradients_reserve(&all->gradients, all->count + rows));
        sa_gradients_append_range(&all->gradients, &block->gradients, 0, rows);
        for (size_t i = 0; i < rows; i++) add_candidate(all, selection, start + i);
        return SA_OK;
    }
    SA_TRY(sa_gradients_reserve(&all->gradients, all->count + survivors->count));
    for (size_t i = 0; i < survivors->count; i++) {
        size_t score = survivors->index[i];
        if (!(selection->score[score] > selection->bar)) continue;
        add_candidate(all, selection, score);
        if (self->blocks == 1)
            sa_gradients_append_range(&all->gradients, &block->gradients, score - start, 1);
        else
            sa_gradients_append_range(&all->gradients, &survivors->gradients, i, 1);
    }
    return SA_OK;
}

/* The selection's rows are all from its first one on; what they have come to goes back to its arms. */
static void write_back(const sa_candidates *all, const sa_selection *selection) {
    for (size_t row = selection->first; row < selection->first + selection->rows; row++) {
        selection->width[all->index[row]] = all->width[row];
        selection->score[all->index[row]] = all->score[row];
    }
}

/* Exact widths and scores of all candidates; their selections are [0, count). */
static sa_status score_all(const sa_policy *policy, sa_chooser *chooser, const sa_selection *selections,
                           size_t count) {
    sa_candidates *all = &chooser->candidates;
    const sa_model *model = policy->estimator.model;
    const sa_exploration *exploration = &selections->exploration;
    SA_TRY(policy->confidence->kind->widths(policy->confidence, &all->gradients, NULL, all->count,
                                            count == 1 ? all->index : NULL, &chooser->widths, all->width));
    for (size_t c = 0; c < count; c++)
        for (size_t row = selections[c].first; row < selections[c].first + selections[c].rows; row++)
            all->score[row] = sa_selection_score(&selections[c], all->mean[row], all->width[row],
                                                 all->spread[row], all->draw[row]);
    if (exploration->kind->from != SA_SCORES_FROM_PARAMETERS) return SA_OK;
    const sa_estimator *estimator = &policy->estimator; /* such selections are scored one by one */
    SA_TRY(model->kind->exploring->sample(model, &all->gradients, exploration->nu, &selections->stream,
                                          &chooser->block->work.model, all->score));
    for (size_t row = 0; row < all->count; row++)
        all->score[row] = estimator->centre + estimator->scale * all->score[row];
    return SA_OK;
}

/* What the candidates of all selections come to. */
static sa_status settle(const sa_policy *policy, sa_chooser *chooser, sa_selection *selections,
                        size_t count) {
    if (chooser->candidates.count == 0) return SA_OK;
    chooser->widths.solved.version = 0;
    if (count == 1) sa_solved_begin(&chooser->widths.solved, policy->confidence, chooser->candidates.count);
    SA_TRY(selections->bounded ? sa_contest(policy, chooser, selections, count)
                               : score_all(policy, chooser, selections, count));
    for (size_t i = 0; i < count; i++) write_back(&chooser->candidates, &selections[i]);
    return SA_OK;
}

/* After a wave of many arms, which one selection alone has: without bounds its candidates are done with; else
 * the best of them stay. */
static sa_status settle_early(const walk *self) {
    sa_selection *selection = self->selection;
    sa_candidates *all = &self->chooser->candidates;
    selection->rows = all->count;
    if (selection->bounded && all->count < selection->request->slate) return SA_OK;
    SA_TRY(settle(self->policy, self->chooser, selection, 1));
    if (selection->bounded) return sa_contest_keep(self->chooser, selection);
    all->count = all->gradients.count = selection->rows = 0;
    return SA_OK;
}

/* ---- the walk ---- */

static void work(void *user, size_t index, size_t worker) {
    const walk *self = user;
    sa_survivors *survivors = &self->chooser->survivors[index];
    size_t first = self->first + index * SA_BLOCK_ARMS;
    survivors->status =
        take_block(self, first, block_size(self->selection, first), &self->chooser->block[worker], survivors);
}

/* The sentence of a failure is its thread's own: the block that failed first is taken again in the
 * caller's. */
static sa_status run_wave(walk *self) {
    sa_survivors *survivors = self->chooser->survivors;
    size_t threads = self->blocks > 1 ? self->policy->threads : 1;
    if (threads > 1) sa_workers_run(threads, self->blocks, work, self);
    for (size_t i = 0; i < self->blocks; i++) {
        if (threads == 1 || survivors[i].status != SA_OK) work(self, i, 0);
        SA_TRY(survivors[i].status);
    }
    return SA_OK;
}

/* Candidates from which on those of many arms contend. */
static size_t many(const sa_selection *selection) {
    return 4 * selection->request->slate > 2 * SA_BLOCK_ARMS ? 4 * selection->request->slate
                                                             : 2 * SA_BLOCK_ARMS;
}

static sa_status walk_arms(const sa_policy *policy, sa_chooser *chooser, sa_selection *selection) {
    sa_candidates *all = &chooser->candidates;
    walk self = {.policy = policy, .chooser = chooser, .selection = selection, .blocks = 1};
    size_t arms = selection->request->arms;
    selection->bar = -INFINITY;
    selection->first = all->count;
    for (; self.first < arms;
         self.first += self.blocks * SA_BLOCK_ARMS, self.blocks = selection->bounded ? SA_WAVE : 1) {
        size_t left = (arms - self.first + SA_BLOCK_ARMS - 1) / SA_BLOCK_ARMS;
        if (left < self.blocks) self.blocks = left;
        SA_TRY(run_wave(&self));
        for (size_t i = 0; policy->confidence && i < self.blocks; i++) {
            SA_TRY(gather(&self, i));
            bool full = !selection->bounded || self.first == 0 || all->count >= many(selection);
            if (!is_one_block(selection) && full) SA_TRY(settle_early(&self));
        }
    }
    selection->rows = all->count - selection->first;
    return SA_OK;
}

/* The most candidates there can be at a time. */
static size_t capacity_for(const sa_selection *selections, size_t count) {
    size_t positions = selections->positions ? selections->positions : 1, total = 0;
    if (!is_one_block(selections))
        return (selections->bounded ? many(selections) : 0) + SA_BLOCK_ARMS * positions;
    for (size_t i = 0; i < count; i++) total += selections[i].scores;
    return total;
}

static sa_status lay(const sa_policy *policy, sa_chooser *chooser, const sa_selection *selections,
                     size_t count) {
    sa_candidates *all = &chooser->candidates;
    size_t rows = capacity_for(selections, count), waves = is_one_block(selections) ? 1 : SA_WAVE;
    size_t *index;
    if (!policy->confidence) return SA_OK;
    SA_TRY(SA_LAY(&chooser->memory, {&all->index, rows, sizeof *all->index},
                  {&all->mean, rows, sizeof(double)}, {&all->draw, rows, sizeof(double)},
                  {&all->width, rows, sizeof(double)}, {&all->spread, rows, sizeof(double)},
                  {&all->score, rows, sizeof(double)}, {&all->rank, rows, sizeof(double)},
                  {&all->contender, rows, sizeof(size_t)}, {&all->joint, rows, sizeof(size_t)},
                  {&all->marked, rows, sizeof(bool)}));
    SA_TRY(SA_LAY(&chooser->survived, {&index, waves * SA_BLOCK_ARMS, sizeof *index}));
    for (size_t i = 0; i < waves; i++) chooser->survivors[i].index = index + i * SA_BLOCK_ARMS;
    return SA_OK;
}

/* The expected scores that the request brings. */
static sa_status recall(const sa_selection *selection) {
    const double *expected = selection->request->expected;
    if (!expected) return sa_fail(SA_INVALID, "the algorithm best needs the expected scores in each request");
    for (size_t i = 0; i < selection->scores; i++)
        if (!isfinite(expected[i]))
            return sa_fail(SA_INVALID, "the expected score of arm %zu is %g",
                           sa_selection_arm_of(selection, i), expected[i]);
    memcpy(selection->mean, expected, selection->scores * sizeof *expected);
    return SA_OK;
}

static sa_status check_scores(const sa_selection *selection) {
    for (size_t i = 0; i < selection->scores; i++)
        if (!isfinite(selection->score[i]))
            return sa_fail(SA_INVALID, "the optimistic score of arm %zu is not finite",
                           sa_selection_arm_of(selection, i));
    return SA_OK;
}

/* Arms of one cell have one score: without draws, the order in which arms are listed would decide among
 * them. */
static sa_status break_ties(sa_chooser *chooser, const sa_selection *selection) {
    sa_tie *ties;
    SA_TRY(SA_LAY(&chooser->survived, {&ties, selection->scores, sizeof *ties}));
    sa_explore_break_ties(selection->scores, selection->draw, ties, selection->score);
    return SA_OK;
}

sa_status sa_selections_score(const sa_policy *policy, sa_chooser *chooser, sa_selection *selections,
                              size_t count) {
    chooser->candidates.count = chooser->candidates.gradients.count = 0;
    SA_TRY(lay(policy, chooser, selections, count));
    for (size_t i = 0; i < count; i++) {
        sa_selection *selection = &selections[i];
        memset(selection->mean, 0, selection->scores * sizeof *selection->mean);
        SA_TRY(sa_chooser_see(chooser, policy, selection->request));
        if (selection->exploration.kind->from == SA_SCORES_FROM_CALLER) SA_TRY(recall(selection));
        SA_TRY(walk_arms(policy, chooser, selection));
    }
    if (policy->confidence) SA_TRY(settle(policy, chooser, selections, count));
    for (size_t i = 0; i < count; i++) {
        if (selections[i].urgency) SA_TRY(break_ties(chooser, &selections[i]));
        if (selections[i].urgency && !policy->oracle->urgent_first) /* it gets scores that do */
            sa_explore_lift(selections[i].scores, selections[i].urgency, selections[i].score);
        SA_TRY(check_scores(&selections[i]));
    }
    return SA_OK;
}
