/* From a request to optimistic scores. */
#include <math.h>
#include <string.h>

#include "agent/choice.h"
#include "agent/contenders.h"

static sa_status recall(sa_agent *agent, const sa_choice *self) {
    const double *expected = self->request->expected;
    if (!expected) return sa_fail(SA_INVALID, "the algorithm best needs the expected scores in each request");
    memcpy(agent->mean + self->offset, expected, self->scores * sizeof *expected);
    for (size_t i = 0; i < self->scores; i++)
        if (!isfinite(expected[i]))
            return sa_fail(SA_INVALID, "the expected score of arm %zu is %g", sa_choice_arm_of(self, i), expected[i]);
    return SA_OK;
}

/* Takes the contexts of arms that can be chosen into what the inputs are normalised by. */
static sa_status survey(sa_agent *agent, const sa_choice *self) {
    sa_block *block = &agent->block;
    const bool *excluded = self->request->excluded;
    if (!agent->model || agent->inputs.normalization != SA_NORMALIZE_STANDARD) return SA_OK;
    for (size_t first = 0, count = 0; sa_choice_block(self, &first, &count);) {
        SA_TRY(sa_inputs_read(&agent->inputs, self->request, first, count, &block->inputs, &block->raw));
        sa_inputs_see(&agent->inputs, block->raw, excluded ? excluded + first : NULL, count);
    }
    sa_inputs_measure(&agent->inputs);
    return SA_OK;
}

/* `read`: its contexts are in the block already */
static sa_status estimate(sa_agent *agent, const sa_choice *self, size_t first, size_t count, bool read) {
    sa_block *block = &agent->block;
    if (agent->model)
        return sa_block_estimate(agent, self->request, first, count, self->positions, read, block,
                                 agent->mean + self->offset + sa_choice_score_of(self, first));
    return sa_inputs_read(&agent->inputs, self->request, first, count, &block->inputs, &block->raw); /* to check them */
}

sa_status sa_choice_estimate(sa_agent *agent, const sa_choice *self, size_t first, size_t count) {
    return estimate(agent, self, first, count, false);
}

/* After a survey of one block, that block is read. */
static bool is_read(const sa_agent *agent, const sa_choice *self) {
    return agent->inputs.normalization == SA_NORMALIZE_STANDARD && !self->many;
}

/* log det Z comes with the widths, at no cost. */
static void explore_by_theory(sa_agent *agent, size_t slate) {
    sa_confidence_state state;
    if (!agent->exploration.by_theory) return;
    agent->confidence->kind->state(agent->confidence, &state);
    sa_explore_by_theory(&agent->exploration, &(sa_exploration_round){.observations = (double)state.counted,
                                                                      .log_det = state.log_det,
                                                                      .slate = (double)slate,
                                                                      .scale = agent->scale});
}

/* The scores of a model that explores by itself, and in agent->luck how urgent each arm is. */
static void explore_by_model(sa_agent *agent, const sa_choice *self, size_t start, size_t count) {
    agent->model->kind->explore(agent->model, agent->block.input, count, self->id + 1, agent->score + start,
                                agent->luck + start);
}

static void sample(sa_agent *agent, const sa_choice *self, size_t start) {
    size_t count = agent->block.gradients.count;
    double *score = agent->score + start;
    agent->model->kind->sample(agent->model, &agent->block.gradients, agent->exploration.nu, &self->stream, score);
    for (size_t i = 0; i < count; i++) score[i] = agent->centre + agent->scale * score[i];
}

/* score [start, end) from mean, width and luck */
static void add_widths(sa_agent *agent, size_t start, size_t end) {
    for (size_t i = start; i < end; i++)
        agent->score[i] =
            sa_explore_score(&agent->exploration, agent->mean[i], agent->width[i], sa_agent_bonus(agent), agent->luck[i]);
}

/* width and score of a block; NaN for a width that nobody computes */
static sa_status score_block(sa_agent *agent, sa_choice *self, size_t first, size_t count) {
    size_t start = self->offset + sa_choice_score_of(self, first);
    size_t end = self->offset + sa_choice_score_of(self, first + count);
    for (size_t i = start; i < end; i++) agent->width[i] = NAN;
    if (agent->exploration.kind == SA_EXPLORE_OWN) {
        explore_by_model(agent, self, start, count);
        return SA_OK;
    }
    self->ticket = 0; /* each block is a batch of its own */
    if (agent->confidence)
        SA_TRY(agent->confidence->kind->widths(agent->confidence, &agent->block.gradients, NULL, end - start,
                                               agent->width + start, &self->ticket));
    add_widths(agent, start, end);
    if (agent->exploration.kind == SA_EXPLORE_PARAMETER_TS) sample(agent, self, start);
    return SA_OK;
}

/* Its arms contend for the slate. */
static sa_contest contest_of(const sa_agent *agent, const sa_choice *self) {
    size_t start = self->offset;
    return (sa_contest){.first = start,
                        .arms = self->request->arms,
                        .slate = self->request->slate,
                        .excluded = self->request->excluded,
                        .mean = agent->mean + start,
                        .luck = agent->luck + start,
                        .width = agent->width + start,
                        .score = agent->score + start,
                        .floor = -INFINITY,
                        .group_score = agent->group_score + start,
                        .contender = agent->contender + start,
                        .is_contender = agent->is_contender + start};
}

/* Can bounds of the widths tell which arms matter? Where there is but one block, they must also be worth it. */
static bool is_bounded(const sa_agent *agent, bool many) {
    return agent->confidence && agent->exploration.kind != SA_EXPLORE_PARAMETER_TS &&
           agent->options->widths == SA_WIDTHS_NEEDED && agent->oracle == &sa_oracle_top_k &&
           (many || agent->confidence->kind->tighten);
}

static sa_status check_scores(const sa_agent *agent, const sa_choice *self) {
    for (size_t i = 0; i < self->scores; i++)
        if (!isfinite(agent->score[self->offset + i]))
            return sa_fail(SA_INVALID, "the optimistic score of arm %zu is not finite", sa_choice_arm_of(self, i));
    return SA_OK;
}

/* Block by block. */
static sa_status score_blocks(sa_agent *agent, sa_choice *self) {
    bool bounded = is_bounded(agent, self->many);
    for (size_t first = 0, count = 0; sa_choice_block(self, &first, &count);) {
        size_t start = sa_choice_score_of(self, first), end = sa_choice_score_of(self, first + count);
        SA_TRY(estimate(agent, self, first, count, is_read(agent, self)));
        sa_explore_luck(&agent->exploration, start, end - start, &self->stream, agent->luck + self->offset + start);
        if (!bounded) {
            SA_TRY(score_block(agent, self, first, count));
            continue;
        }
        sa_contest contest = contest_of(agent, self); /* there is one block */
        SA_TRY(sa_score_contenders(agent, &agent->block.gradients, &contest, 1, &self->ticket));
    }
    return SA_OK;
}

sa_status sa_choice_score(sa_agent *agent, sa_choice *self) {
    SA_TRY(survey(agent, self));
    memset(agent->mean + self->offset, 0, self->scores * sizeof *agent->mean);
    if (agent->exploration.kind == SA_EXPLORE_KNOWN) SA_TRY(recall(agent, self));
    explore_by_theory(agent, self->request->slate);
    self->certificate = sa_confidence_certificate(agent->confidence);
    self->scanned = self->many && is_bounded(agent, true);
    SA_TRY(self->scanned ? sa_scan_arms(agent, self->request, &self->stream) : score_blocks(agent, self));
    if (agent->exploration.kind == SA_EXPLORE_OWN && !agent->oracle->urgent_first) /* it gets scores that do */
        sa_explore_lift(self->scores, agent->luck + self->offset, agent->score + self->offset);
    return check_scores(agent, self);
}

/* ---- together ---- */

bool sa_choice_is_small(const sa_agent *agent, const sa_choice *self) {
    return agent->confidence && !self->many && self->positions == 0 && !agent->exploration.by_theory &&
           agent->exploration.kind != SA_EXPLORE_PARAMETER_TS;
}

/* Each goes through the network by itself: for another number of rows BLAS may round differently. Widths do not hang on what
 * others are asked for with them, and there the work is. */
sa_status sa_choices_score(sa_agent *agent, sa_choice *choices, size_t count) {
    sa_gradients *together = &agent->together;
    const sa_choice *last = &choices[count - 1];
    size_t scores = last->offset + last->scores;
    bool bounded = is_bounded(agent, false);
    uint64_t ticket = 0;
    if (!together->pair)
        SA_TRY(sa_gradients_init_like(together, agent->block.gradients.precision, &agent->block.gradients));
    SA_TRY(sa_gradients_reserve(together, scores));
    together->count = 0;
    for (size_t i = 0; i < count; i++) {
        sa_choice *self = &choices[i];
        SA_TRY(survey(agent, self));
        SA_TRY(estimate(agent, self, 0, self->scores, is_read(agent, self)));
        sa_explore_luck(&agent->exploration, 0, self->scores, &self->stream, agent->luck + self->offset);
        sa_gradients_append(together, &agent->block.gradients, NULL, self->scores);
        self->together = true;
        self->certificate = sa_confidence_certificate(agent->confidence);
        if (bounded) agent->contests[i] = contest_of(agent, self);
    }
    if (bounded) {
        SA_TRY(sa_score_contenders(agent, together, agent->contests, count, &ticket));
    } else {
        SA_TRY(agent->confidence->kind->widths(agent->confidence, together, NULL, scores, agent->width, &ticket));
        add_widths(agent, 0, scores);
    }
    for (size_t i = 0; i < count; i++) SA_TRY(check_scores(agent, &choices[i]));
    return SA_OK;
}
