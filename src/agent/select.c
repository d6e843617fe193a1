/* Choosing a slate. */
#include <math.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/contenders.h"
#include "agent/decision.h"
#include "agent/reals.h"
#include "base/memory.h"

/* Each array has its own capacity while it grows; the shared one is set when all have. */
static sa_status reserve_workspace(sa_agent *agent, size_t arms, size_t scores, size_t slate) {
    size_t block = arms < SA_BLOCK_ARMS ? arms : SA_BLOCK_ARMS, one = agent->contender_capacity, other = one, capacity;
    SA_TRY(sa_input_block_reserve(&agent->block.inputs, &agent->inputs, block));
    SA_TRY(sa_grow_array(&agent->contender, &one, block, sizeof *agent->contender));
    SA_TRY(sa_grow_array(&agent->is_contender, &other, block, sizeof *agent->is_contender));
    agent->contender_capacity = other;
    double **per_score[] = {&agent->mean, &agent->luck, &agent->width, &agent->score, &agent->group_score};
    for (size_t i = 0; i < sizeof per_score / sizeof *per_score; i++) {
        capacity = agent->score_capacity;
        SA_TRY(sa_grow_array(per_score[i], &capacity, scores, sizeof(double)));
    }
    agent->score_capacity = capacity;
    size_t **per_place[] = {&agent->slate, &agent->positions, &agent->rows};
    for (size_t i = 0; i < sizeof per_place / sizeof *per_place; i++) {
        capacity = agent->slate_capacity;
        SA_TRY(sa_grow_array(per_place[i], &capacity, slate, sizeof(size_t)));
    }
    agent->slate_capacity = capacity;
    return SA_OK;
}

/* What a request asks for, and how. */
typedef struct choice {
    const sa_request *request;
    size_t positions;        /* 0: arms have one score each; else K, one for each place of the slate */
    size_t scores;           /* in all: arms, or arms K */
    sa_oracle_data data;     /* beside the scores */
    const double *discounts; /* (K) that are learnt with, or NULL */
    size_t slate;            /* arms chosen, or at first the most there can be */
    bool many;               /* more arms than a block has */
    bool scanned;            /* their survivors are the slate: see scan.h */
    uint64_t id, ticket;
    sa_stream stream;   /* of the exploration's draws */
    double certificate; /* of the widths */
} choice;

/* [first, first + count) is the next block of arms; false past the last. */
static bool next_block(const choice *self, size_t *first, size_t *count) {
    *first += *count;
    size_t left = self->request->arms - *first;
    *count = left < SA_BLOCK_ARMS ? left : SA_BLOCK_ARMS;
    return left > 0;
}

/* The scores of a block are those from here on. */
static size_t score_of(const choice *self, size_t arm) { return self->positions ? arm * self->positions : arm; }

static size_t arm_of(const choice *self, size_t score) { return self->positions ? score / self->positions : score; }

static sa_status recall(sa_agent *agent, const choice *self) {
    const double *expected = self->request->expected;
    if (!expected) return sa_fail(SA_INVALID, "the algorithm best needs the expected scores in each request");
    memcpy(agent->mean, expected, self->scores * sizeof *agent->mean);
    for (size_t i = 0; i < self->scores; i++)
        if (!isfinite(agent->mean[i]))
            return sa_fail(SA_INVALID, "the expected score of arm %zu is %g", arm_of(self, i), agent->mean[i]);
    return SA_OK;
}

/* Takes all contexts into what the inputs are normalised by. */
static sa_status survey(sa_agent *agent, const choice *self) {
    sa_block *block = &agent->block;
    sa_inputs_begin(&agent->inputs);
    if (!agent->model || agent->inputs.normalization != SA_NORMALIZE_STANDARD) return SA_OK;
    for (size_t first = 0, count = 0; next_block(self, &first, &count);) {
        SA_TRY(sa_inputs_read(&agent->inputs, self->request, first, count, &block->inputs, &block->raw));
        sa_inputs_see(&agent->inputs, block->raw, count);
    }
    sa_inputs_measure(&agent->inputs);
    return SA_OK;
}

/* mean of a block's scores, and the gradients where widths are wanted */
static sa_status estimate(sa_agent *agent, const choice *self, size_t first, size_t count) {
    sa_block *block = &agent->block;
    bool read = agent->inputs.normalization == SA_NORMALIZE_STANDARD && self->request->arms <= SA_BLOCK_ARMS;
    if (agent->model)
        return sa_block_estimate(agent, self->request, first, count, self->positions, read, block,
                                 agent->mean + score_of(self, first));
    return sa_inputs_read(&agent->inputs, self->request, first, count, &block->inputs, &block->raw); /* to check them */
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
static void explore_by_model(sa_agent *agent, const choice *self, size_t first, size_t count) {
    agent->model->kind->explore(agent->model, agent->block.input, count, self->id + 1, agent->score + first,
                                agent->luck + first);
}

static void sample(sa_agent *agent, const choice *self, size_t first) {
    size_t count = agent->block.gradients.count;
    double *score = agent->score + first;
    agent->model->kind->sample(agent->model, &agent->block.gradients, agent->exploration.nu, &self->stream, score);
    for (size_t i = 0; i < count; i++) score[i] = agent->centre + agent->scale * score[i];
}

/* width and score of a block; NaN for a width that nobody computes */
static sa_status score_block(sa_agent *agent, choice *self, size_t first, size_t count) {
    size_t start = score_of(self, first), end = score_of(self, first + count);
    for (size_t i = start; i < end; i++) agent->width[i] = NAN;
    if (agent->exploration.kind == SA_EXPLORE_OWN) {
        explore_by_model(agent, self, first, count);
        return SA_OK;
    }
    uint64_t ticket = 0;
    if (agent->confidence)
        SA_TRY(agent->confidence->kind->widths(agent->confidence, &agent->block.gradients, NULL, end - start,
                                               agent->width + start, &ticket));
    self->ticket = ticket;
    for (size_t i = start; i < end; i++)
        agent->score[i] =
            sa_explore_score(&agent->exploration, agent->mean[i], agent->width[i], sa_agent_bonus(agent), agent->luck[i]);
    if (agent->exploration.kind == SA_EXPLORE_PARAMETER_TS) sample(agent, self, start);
    return SA_OK;
}

/* The arms are one block, and only those whose score can reach the slate need their exact width. */
static sa_status contend(sa_agent *agent, choice *self) {
    return sa_score_contenders(agent,
                               &(sa_contest){.gradients = &agent->block.gradients,
                                             .arms = self->request->arms,
                                             .slate = self->request->slate,
                                             .excluded = self->request->excluded,
                                             .mean = agent->mean,
                                             .luck = agent->luck,
                                             .width = agent->width,
                                             .score = agent->score,
                                             .floor = -INFINITY,
                                             .group_score = agent->group_score,
                                             .contender = agent->contender,
                                             .is_contender = agent->is_contender},
                               &self->ticket);
}

/* Can bounds of the widths tell which arms matter? Where there is but one block, they must also be worth it. */
static bool is_bounded(const sa_agent *agent, const choice *self) {
    return agent->confidence && agent->exploration.kind != SA_EXPLORE_PARAMETER_TS &&
           agent->options->widths == SA_WIDTHS_NEEDED && agent->oracle == &sa_oracle_top_k &&
           (self->many || agent->confidence->kind->tighten);
}

/* mean, luck, width and score (scores) */
static sa_status score(sa_agent *agent, choice *self) {
    SA_TRY(survey(agent, self));
    memset(agent->mean, 0, self->scores * sizeof *agent->mean);
    if (agent->exploration.kind == SA_EXPLORE_KNOWN) SA_TRY(recall(agent, self));
    explore_by_theory(agent, self->request->slate);
    self->certificate = sa_confidence_certificate(agent->confidence);
    self->scanned = self->many && is_bounded(agent, self);
    if (self->scanned) SA_TRY(sa_scan_arms(agent, self->request, &self->stream));
    for (size_t first = 0, count = 0; !self->scanned && next_block(self, &first, &count);) {
        size_t start = score_of(self, first), end = score_of(self, first + count);
        SA_TRY(estimate(agent, self, first, count));
        sa_explore_luck(&agent->exploration, start, end - start, &self->stream, agent->luck + start);
        SA_TRY(is_bounded(agent, self) ? contend(agent, self) : score_block(agent, self, first, count));
    }
    if (agent->exploration.kind == SA_EXPLORE_OWN && !agent->oracle->urgent_first)
        sa_explore_lift(self->scores, agent->luck,
                        agent->score); /* an oracle that cannot put urgent arms first by itself */
    for (size_t i = 0; i < self->scores; i++)
        if (!isfinite(agent->score[i]))
            return sa_fail(SA_INVALID, "the optimistic score of arm %zu is not finite", arm_of(self, i));
    return SA_OK;
}

/* Their gradients are gone: the blocks of the slate's arms are evaluated again. */
static sa_status evaluate_again(sa_agent *agent, const choice *self, sa_gradients *kept) {
    for (size_t first = 0, count = 0; next_block(self, &first, &count);) {
        bool evaluated = false;
        for (size_t k = 0; k < self->slate; k++) {
            if (agent->slate[k] < first || agent->slate[k] >= first + count) continue;
            if (!evaluated) SA_TRY(estimate(agent, self, first, count));
            evaluated = true;
            size_t row = agent->rows[k] - score_of(self, first);
            kept->count = k;
            sa_gradients_append(kept, &agent->block.gradients, &row, 1);
        }
    }
    kept->count = self->slate;
    return SA_OK;
}

/* The gradients of the slate; agent->rows are theirs. */
static sa_status keep_gradients(sa_agent *agent, const choice *self, sa_gradients *kept) {
    const sa_gradients *block = &agent->block.gradients;
    SA_TRY(sa_gradients_init_like(kept, block->precision, block));
    SA_TRY(sa_gradients_reserve(kept, self->slate));
    if (self->many && !self->scanned) return evaluate_again(agent, self, kept);
    for (size_t k = 0; k < self->slate; k++) {
        size_t row = self->scanned ? sa_scan_row(&agent->scan, agent->slate[k]) : agent->rows[k];
        sa_gradients_append(kept, self->scanned ? &agent->scan.survivors.gradients : block, &row, 1);
    }
    return SA_OK;
}

/* What is kept of the decision until its feedback comes. Its gradients are those that feedback counts: psi_k g where discounts
 * are learnt with, and the widths that were solved for g are of no use then. */
static sa_status keep(sa_agent *agent, const choice *self, sa_pending *pending) {
    sa_precision precision = agent->inputs.precision;
    size_t dim = agent->inputs.dim, slate = self->slate;
    SA_TRY(sa_pending_init(pending, slate, dim, precision, agent->pending.discounted));
    pending->ticket = self->many ? 0 : self->ticket;
    memcpy(pending->arms, agent->slate, slate * sizeof *pending->arms);
    for (size_t k = 0; k < slate; k++) {
        agent->rows[k] = sa_agent_row(agent, slate, agent->slate[k], k);
        if (pending->discounts) pending->discounts[k] = self->discounts ? self->discounts[k] : 1;
    }
    if (agent->confidence) SA_TRY(keep_gradients(agent, self, &pending->gradients));
    for (size_t k = 0; k < slate; k++) {
        const void *raw;
        SA_TRY(sa_inputs_read(&agent->inputs, self->request, agent->slate[k], 1, &agent->block.inputs, &raw));
        memcpy(sa_real_at(precision, pending->contexts, k * dim), raw, dim * sa_precision_bytes(precision));
    }
    for (size_t k = 0; agent->confidence && pending->discounts && k < slate; k++) {
        if (pending->discounts[k] == 1) continue;
        sa_gradients_scale(&pending->gradients, k, pending->discounts[k]);
        pending->ticket = 0;
    }
    return SA_OK;
}

/* With --count-pending, Z hears of the chosen arms now, and their gradients need not be kept. agent->rows are theirs. */
static sa_status count_now(sa_agent *agent, sa_pending *pending) {
    if (!agent->confidence || !agent->options->count_pending || pending->slate == 0) return SA_OK;
    SA_TRY(sa_forgetting_count(agent, &pending->gradients, pending->ticket, agent->rows, agent->history.answered));
    sa_gradients_clear(&pending->gradients);
    return SA_OK;
}

/* Reads the request; changes nothing. */
static sa_status read_request(const sa_agent *agent, const sa_request *request, choice *self) {
    size_t most = agent->inputs.positions;
    bool known = agent->exploration.kind == SA_EXPLORE_KNOWN;
    SA_TRY(sa_request_check(request, agent->inputs.dim, agent->oracle->size == SA_EXACTLY_K || most > 0));
    *self = (choice){
        .request = request, .id = agent->pending.first + agent->pending.count, .many = request->arms > SA_BLOCK_ARMS};
    self->stream = sa_stream_at((uint64_t)agent->options->seed, SA_PURPOSE_EXPLORATION,
                                (uint64_t)agent->options->first_run, self->id);
    if (request->problem) self->data = *sa_problem_data(request->problem);
    if (most > 0 && request->slate > most)
        return sa_fail(SA_INVALID,
                       "the request asks for a slate of %zu arms, and the agent tells %zu positions apart (--slate)",
                       request->slate, most);
    if (known && request->expected_positional && most == 0)
        return sa_fail(SA_INVALID,
                       "the request has expected scores of each position, which only --feedback position takes");
    if (most > 0 && (!known || request->expected_positional)) self->positions = request->slate;
    if (self->positions) self->data.given &= ~SA_BIT(SA_DISCOUNTS); /* what a position is worth is learnt */
    self->scores = request->arms * (self->positions ? self->positions : 1);
    return sa_memory_check(request->arms, (self->positions + 1) * sizeof(double));
}

static sa_status read_discounts(const sa_agent *agent, choice *self) {
    if (!agent->pending.discounted || !(self->data.given & SA_BIT(SA_DISCOUNTS))) return SA_OK;
    SA_TRY(sa_discounts_check(&self->data, self->slate));
    self->discounts = self->data.discounts;
    return SA_OK;
}

/* agent->slate, from the scores */
static sa_status choose(sa_agent *agent, choice *self, const sa_oracle_problem *problem) {
    memcpy(agent->group_score, agent->score, self->scores * sizeof *agent->score);
    sa_oracle_clip(agent->oracle, problem, agent->score, self->scores);
    return agent->oracle->solve(problem, &agent->oracle_work, agent->slate, &self->slate);
}

sa_status sa_agent_select(sa_agent *agent, const sa_request *request, sa_decision **decision) {
    if (!agent || !decision) return sa_fail(SA_INVALID, "sa_agent_select needs an agent and a place for the decision");
    choice self;
    SA_TRY(read_request(agent, request, &self));
    sa_oracle_problem problem = {.positions = self.positions,
                                 .arms = request->arms,
                                 .slate = request->slate,
                                 .excluded = request->excluded,
                                 .data = request->problem ? &self.data : NULL,
                                 .own = &agent->own};
    self.slate = sa_oracle_most(agent->oracle, &problem);
    SA_TRY(reserve_workspace(agent, request->arms, self.scores, self.slate));
    problem.scores = agent->score;
    problem.unclipped = agent->group_score;
    if (agent->exploration.kind == SA_EXPLORE_OWN) problem.urgency = agent->luck;
    SA_TRY(sa_oracle_check(agent->oracle, &problem));
    SA_TRY(read_discounts(agent, &self));
    SA_TRY(score(agent, &self));
    SA_TRY(choose(agent, &self, &problem));

    sa_decision *fresh = *decision;
    sa_pending pending = {0};
    sa_status status;
    if (!fresh) SA_TRY(sa_alloc_array(1, sizeof *fresh, &fresh));
    SA_TRY_OR_FAIL(sa_decision_reserve(fresh, self.slate, self.scores));
    SA_TRY_OR_FAIL(keep(agent, &self, &pending));
    SA_TRY_OR_FAIL(sa_ring_reserve(&agent->pending));
    SA_TRY_OR_FAIL(count_now(agent, &pending));
    /* nothing can fail from here on */
    sa_inputs_accept(&agent->inputs);
    sa_ring_push(&agent->pending, &pending);
    sa_decision_fill(fresh, &(sa_decision){.id = self.id,
                                           .event = request->event,
                                           .slate = self.slate,
                                           .candidates = request->arms,
                                           .positions = self.positions,
                                           .certificate = self.certificate,
                                           .arms = agent->slate,
                                           .all_estimate = agent->mean,
                                           .all_width = agent->width,
                                           .all_score = agent->score});
    *decision = fresh;
    return SA_OK;
fail:
    sa_pending_clear(&pending);
    if (!*decision) sa_decision_destroy(fresh);
    return status;
}
