#include "policy/walk.h"

#include <math.h>
#include <string.h>

#include "base/workers.h"
#include "policy/blocks.h"
#include "policy/contest.h"

typedef struct walk {
    const sa_policy *policy;
    sa_chooser *chooser;
    sa_choice *choice;
    size_t first, blocks; /* of the wave: its first arm, and how many blocks it has */
} walk;

static size_t block_size(const sa_choice *choice, size_t first) {
    size_t left = choice->request->arms - first;
    return left < SA_BLOCK_ARMS ? left : SA_BLOCK_ARMS;
}

static bool is_one_block(const sa_choice *choice) { return choice->request->arms <= SA_BLOCK_ARMS; }

/* ---- one block ---- */

static double score_at(const sa_choice *choice, size_t score, double width) {
    return choice->exploration.kind->score(&choice->exploration, choice->mean[score], width, choice->bonus,
                                           choice->draw[score]);
}

/* width and score of [start, end): upper bounds. Norms too large for the quick way are taken again with
 * care. */
static void bound(const walk *self, const sa_gradients *gradients, size_t start, size_t end) {
    const sa_choice *choice = self->choice;
    double *width = choice->width + start, largest = 0;
    sa_gradients_norms_above(gradients, width);
    for (size_t i = 0; i < end - start; i++)
        if (!(width[i] <= largest)) largest = width[i];
    if (!isfinite(largest)) sa_gradients_norms(gradients, width);
    for (size_t i = start; i < end; i++) {
        choice->width[i] = sqrt(choice->width[i] / self->policy->lambda);
        double at_width = score_at(choice, i, choice->width[i]), at_0 = score_at(choice, i, 0);
        choice->score[i] = at_width > at_0 ? at_width : at_0;
    }
}

/* score of [start, end) where no widths are wanted */
static sa_status score_without_widths(const walk *self, const void *input, size_t start, size_t end,
                                      sa_block *block) {
    const sa_choice *choice = self->choice;
    const sa_model *model = self->policy->estimator.model;
    for (size_t i = start; i < end; i++) choice->width[i] = NAN;
    if (choice->exploration.kind->from == SA_SCORES_FROM_MODEL)
        return model->kind->exploring->explore(model, input, end - start, choice->round + 1,
                                               &block->work.model, choice->score + start,
                                               choice->urgency + start);
    for (size_t i = start; i < end; i++) choice->score[i] = score_at(choice, i, NAN);
    return SA_OK;
}

/* Estimates, draws and bounds of a block; `survivors` are those that can reach the slate. */
static sa_status take_block(const walk *self, size_t first, size_t count, sa_block *block,
                            sa_survivors *survivors) {
    const sa_choice *choice = self->choice;
    const bool *excluded = choice->request->excluded;
    size_t start = sa_choice_score_of(choice, first), end = sa_choice_score_of(choice, first + count);
    const void *input = NULL;
    survivors->count = 0;
    if (self->policy->estimator.model)
        SA_TRY(sa_block_evaluate(self->policy, self->chooser, choice, first, count, block, &input));
    else
        SA_TRY(sa_block_read(block, &self->policy->estimator.inputs, choice->request, first,
                             count)); /* to check them */
    sa_explore_draw(&choice->exploration, start, end - start, &choice->stream, choice->draw + start);
    if (choice->urgency)
        memcpy(choice->urgency + start, choice->draw + start, (end - start) * sizeof *choice->draw);
    if (!self->policy->confidence) return score_without_widths(self, input, start, end, block);
    if (!choice->bounded) return SA_OK;
    bound(self, &block->gradients, start, end);
    for (size_t i = start; i < end; i++)
        if (!(excluded && excluded[i]) && choice->score[i] > choice->bar)
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

static void add_candidate(sa_candidates *all, const sa_choice *choice, size_t score) {
    size_t end = all->count++;
    all->index[end] = score;
    all->mean[end] = choice->mean[score];
    all->draw[end] = choice->draw[score];
    all->width[end] = choice->width[score];
    all->score[end] = choice->score[score];
}

/* Takes over a block's survivors, but for those that are below the bar by now; without bounds, all of its
 * scores. */
static sa_status gather(const walk *self, size_t index) {
    const sa_choice *choice = self->choice;
    sa_candidates *all = &self->chooser->candidates;
    const sa_survivors *survivors = &self->chooser->survivors[index];
    const sa_block *block = self->chooser->block;
    size_t first = self->first + index * SA_BLOCK_ARMS, start = sa_choice_score_of(choice, first);
    if (!choice->bounded) {
        size_t rows = block->gradients.count;
        SA_TRY(sa_gradients_reserve(&all->gradients, all->count + rows));
        sa_gradients_append_range(&all->gradients, &block->gradients, 0, rows);
        for (size_t i = 0; i < rows; i++) add_candidate(all, choice, start + i);
        return SA_OK;
    }
    SA_TRY(sa_gradients_reserve(&all->gradients, all->count + survivors->count));
    for (size_t i = 0; i < survivors->count; i++) {
        size_t score = survivors->index[i];
        if (!(choice->score[score] > choice->bar)) continue;
        add_candidate(all, choice, score);
        if (self->blocks == 1)
            sa_gradients_append_range(&all->gradients, &block->gradients, score - start, 1);
        else
            sa_gradients_append_range(&all->gradients, &survivors->gradients, i, 1);
    }
    return SA_OK;
}

/* The choice's rows are all from its first one on; what they have come to goes back to its arms. */
static void write_back(const sa_candidates *all, const sa_choice *choice) {
    for (size_t row = choice->first; row < choice->first + choice->rows; row++) {
        choice->width[all->index[row]] = all->width[row];
        choice->score[all->index[row]] = all->score[row];
    }
}

/* Exact widths and scores of all candidates; their choices are [0, count). */
static sa_status score_all(const sa_policy *policy, sa_chooser *chooser, const sa_choice *choices,
                           size_t count) {
    sa_candidates *all = &chooser->candidates;
    const sa_model *model = policy->estimator.model;
    const sa_exploration *exploration = &choices->exploration;
    SA_TRY(policy->confidence->kind->widths(policy->confidence, &all->gradients, NULL, all->count,
                                            count == 1 ? all->index : NULL, &chooser->widths, all->width));
    for (size_t c = 0; c < count; c++)
        for (size_t row = choices[c].first; row < choices[c].first + choices[c].rows; row++)
            all->score[row] = exploration->kind->score(&choices[c].exploration, all->mean[row],
                                                       all->width[row], choices[c].bonus, all->draw[row]);
    if (exploration->kind->from != SA_SCORES_FROM_PARAMETERS) return SA_OK;
    const sa_estimator *estimator = &policy->estimator; /* such choices are scored one by one */
    SA_TRY(model->kind->exploring->sample(model, &all->gradients, exploration->nu, &choices->stream,
                                          &chooser->block->work.model, all->score));
    for (size_t row = 0; row < all->count; row++)
        all->score[row] = estimator->centre + estimator->scale * all->score[row];
    return SA_OK;
}

/* What the candidates of all choices come to. */
static sa_status settle(const sa_policy *policy, sa_chooser *chooser, sa_choice *choices, size_t count) {
    if (chooser->candidates.count == 0) return SA_OK;
    chooser->widths.solved.version = 0;
    if (count == 1) sa_solved_begin(&chooser->widths.solved, policy->confidence, chooser->candidates.count);
    SA_TRY(choices->bounded ? sa_contest(policy, chooser, choices, count)
                            : score_all(policy, chooser, choices, count));
    for (size_t i = 0; i < count; i++) write_back(&chooser->candidates, &choices[i]);
    return SA_OK;
}

/* After a wave of many arms, which one choice alone has: without bounds its candidates are done with; else
 * the best of them stay. */
static sa_status settle_early(const walk *self) {
    sa_choice *choice = self->choice;
    sa_candidates *all = &self->chooser->candidates;
    choice->rows = all->count;
    if (choice->bounded && all->count < choice->request->slate) return SA_OK;
    SA_TRY(settle(self->policy, self->chooser, choice, 1));
    if (choice->bounded) return sa_contest_keep(self->chooser, choice);
    all->count = all->gradients.count = choice->rows = 0;
    return SA_OK;
}

/* ---- the walk ---- */

static void work(void *user, size_t index, size_t worker) {
    const walk *self = user;
    sa_survivors *survivors = &self->chooser->survivors[index];
    size_t first = self->first + index * SA_BLOCK_ARMS;
    survivors->status =
        take_block(self, first, block_size(self->choice, first), &self->chooser->block[worker], survivors);
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
static size_t many(const sa_choice *choice) {
    return 4 * choice->request->slate > 2 * SA_BLOCK_ARMS ? 4 * choice->request->slate : 2 * SA_BLOCK_ARMS;
}

static sa_status walk_arms(const sa_policy *policy, sa_chooser *chooser, sa_choice *choice) {
    sa_candidates *all = &chooser->candidates;
    walk self = {.policy = policy, .chooser = chooser, .choice = choice, .blocks = 1};
    size_t arms = choice->request->arms;
    choice->bar = -INFINITY;
    choice->first = all->count;
    for (; self.first < arms;
         self.first += self.blocks * SA_BLOCK_ARMS, self.blocks = choice->bounded ? SA_WAVE : 1) {
        size_t left = (arms - self.first + SA_BLOCK_ARMS - 1) / SA_BLOCK_ARMS;
        if (left < self.blocks) self.blocks = left;
        SA_TRY(run_wave(&self));
        for (size_t i = 0; policy->confidence && i < self.blocks; i++) {
            SA_TRY(gather(&self, i));
            bool full = !choice->bounded || self.first == 0 || all->count >= many(choice);
            if (!is_one_block(choice) && full) SA_TRY(settle_early(&self));
        }
    }
    choice->rows = all->count - choice->first;
    return SA_OK;
}

/* The most candidates there can be at a time. */
static size_t capacity_for(const sa_choice *choices, size_t count) {
    size_t positions = choices->positions ? choices->positions : 1, total = 0;
    if (!is_one_block(choices)) return (choices->bounded ? many(choices) : 0) + SA_BLOCK_ARMS * positions;
    for (size_t i = 0; i < count; i++) total += choices[i].scores;
    return total;
}

static sa_status lay(const sa_policy *policy, sa_chooser *chooser, const sa_choice *choices, size_t count) {
    sa_candidates *all = &chooser->candidates;
    size_t rows = capacity_for(choices, count), waves = is_one_block(choices) ? 1 : SA_WAVE;
    size_t *index;
    if (!policy->confidence) return SA_OK;
    SA_TRY(SA_LAY(&chooser->memory, {&all->index, rows, sizeof *all->index},
                  {&all->mean, rows, sizeof(double)}, {&all->draw, rows, sizeof(double)},
                  {&all->width, rows, sizeof(double)}, {&all->score, rows, sizeof(double)},
                  {&all->rank, rows, sizeof(double)}, {&all->contender, rows, sizeof(size_t)},
                  {&all->joint, rows, sizeof(size_t)}, {&all->marked, rows, sizeof(bool)}));
    SA_TRY(SA_LAY(&chooser->survived, {&index, waves * SA_BLOCK_ARMS, sizeof *index}));
    for (size_t i = 0; i < waves; i++) chooser->survivors[i].index = index + i * SA_BLOCK_ARMS;
    return SA_OK;
}

/* The expected scores that the request brings. */
static sa_status recall(const sa_choice *choice) {
    const double *expected = choice->request->expected;
    if (!expected) return sa_fail(SA_INVALID, "the algorithm best needs the expected scores in each request");
    for (size_t i = 0; i < choice->scores; i++)
        if (!isfinite(expected[i]))
            return sa_fail(SA_INVALID, "the expected score of arm %zu is %g", sa_choice_arm_of(choice, i),
                           expected[i]);
    memcpy(choice->mean, expected, choice->scores * sizeof *expected);
    return SA_OK;
}

static sa_status check_scores(const sa_choice *choice) {
    for (size_t i = 0; i < choice->scores; i++)
        if (!isfinite(choice->score[i]))
            return sa_fail(SA_INVALID, "the optimistic score of arm %zu is not finite",
                           sa_choice_arm_of(choice, i));
    return SA_OK;
}

/* Arms of one cell have one score: without draws, the order in which arms are listed would decide among
 * them. */
static sa_status break_ties(sa_chooser *chooser, const sa_choice *choice) {
    sa_tie *ties;
    SA_TRY(SA_LAY(&chooser->survived, {&ties, choice->scores, sizeof *ties}));
    sa_explore_break_ties(choice->scores, choice->draw, ties, choice->score);
    return SA_OK;
}

sa_status sa_choices_score(const sa_policy *policy, sa_chooser *chooser, sa_choice *choices, size_t count) {
    chooser->candidates.count = chooser->candidates.gradients.count = 0;
    SA_TRY(lay(policy, chooser, choices, count));
    for (size_t i = 0; i < count; i++) {
        sa_choice *choice = &choices[i];
        memset(choice->mean, 0, choice->scores * sizeof *choice->mean);
        SA_TRY(sa_chooser_see(chooser, policy, choice->request));
        if (choice->exploration.kind->from == SA_SCORES_FROM_CALLER) SA_TRY(recall(choice));
        SA_TRY(walk_arms(policy, chooser, choice));
    }
    if (policy->confidence) SA_TRY(settle(policy, chooser, choices, count));
    for (size_t i = 0; i < count; i++) {
        if (choices[i].urgency) SA_TRY(break_ties(chooser, &choices[i]));
        if (choices[i].urgency && !policy->oracle->urgent_first) /* it gets scores that do */
            sa_explore_lift(choices[i].scores, choices[i].urgency, choices[i].score);
        SA_TRY(check_scores(&choices[i]));
    }
    return SA_OK;
}
