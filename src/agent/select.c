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
    size_t row = agent->inputs.dim * sa_precision_bytes(agent->inputs.precision);
    struct {
        void *array;
        size_t size;
    } per_arm[] = {{&agent->raw, row},
                   {&agent->input, row},
                   {&agent->contender, sizeof(size_t)},
                   {&agent->is_contender, sizeof(bool)}};
    size_t capacity = agent->arms_capacity;
    for (size_t i = 0; i < sizeof per_arm / sizeof *per_arm; i++) {
        capacity = agent->arms_capacity;
        SA_TRY(sa_grow_array(per_arm[i].array, &capacity, arms, per_arm[i].size));
    }
    agent->arms_capacity = capacity;
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
    uint64_t id, ticket;
} choice;

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

/* The companion's say in the means. */
static void mix(sa_agent *agent, const choice *self) {
    size_t dim = agent->inputs.dim, positions = agent->inputs.positions;
    if (agent->companion.dim == 0) return;
    for (size_t i = 0; i < self->scores; i++) {
        size_t arm = arm_of(self, i);
        for (size_t j = 0; j < dim; j++) agent->row[j] = sa_real_get(agent->inputs.precision, agent->input, arm * dim + j);
        for (size_t k = 0; k < positions; k++) agent->row[dim + k] = i - arm * self->positions == k;
        agent->mean[i] = sa_companion_mix(&agent->companion, agent->row, agent->mean[i]);
    }
}

/* mean (scores), and the gradients of all candidates where widths are wanted */
static sa_status estimate(sa_agent *agent, const choice *self) {
    size_t arms = self->request->arms, positions = self->positions;
    const sa_model_class *kind = agent->model ? agent->model->kind : NULL;
    sa_gradients *gradients = agent->confidence ? &agent->gradients : NULL;
    memset(agent->mean, 0, self->scores * sizeof *agent->mean);
    if (agent->exploration.kind == SA_EXPLORE_KNOWN) SA_TRY(recall(agent, self));
    if (!kind) return SA_OK;
    sa_inputs_see(&agent->inputs, agent->raw, arms);
    sa_inputs_apply(&agent->inputs, agent->raw, arms, true, agent->input);
    if (positions)
        SA_TRY(kind->evaluate_positions(agent->model, agent->input, arms, positions, agent->mean, gradients));
    else
        SA_TRY(kind->evaluate(agent->model, agent->input, arms, agent->mean, gradients));
    for (size_t i = 0; i < self->scores; i++) agent->mean[i] = agent->centre + agent->scale * agent->mean[i];
    mix(agent, self);
    for (size_t i = 0; i < self->scores; i++)
        if (!isfinite(agent->mean[i]))
            return sa_fail(SA_INVALID, "the estimate for arm %zu is not finite: are its features too large?",
                           arm_of(self, i));
    return SA_OK;
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

/* The scores of a model that explores by itself, and in agent->luck how urgent each arm is. An oracle that cannot put urgent arms
 * first by itself gets scores that do. */
static void explore_by_model(sa_agent *agent, size_t arms, uint64_t round) {
    for (size_t i = 0; i < arms; i++) agent->width[i] = NAN;
    agent->model->kind->explore(agent->model, agent->input, arms, round, agent->score, agent->luck);
    if (!agent->oracle->urgent_first) sa_explore_lift(arms, agent->luck, agent->score);
}

static void sample(sa_agent *agent, const sa_stream *stream, size_t count) {
    agent->model->kind->sample(agent->model, &agent->gradients, agent->exploration.nu, stream, agent->score);
    for (size_t i = 0; i < count; i++) agent->score[i] = agent->centre + agent->scale * agent->score[i];
}

/* width and score (scores); NaN for a width that nobody computes */
static sa_status score(sa_agent *agent, choice *self) {
    size_t count = self->scores;
    sa_stream stream = sa_stream_at((uint64_t)agent->options->seed, SA_PURPOSE_EXPLORATION,
                                    (uint64_t)agent->options->first_run, self->id);
    sa_explore_luck(&agent->exploration, count, &stream, agent->luck);
    explore_by_theory(agent, self->request->slate);
    bool bounded = agent->exploration.kind != SA_EXPLORE_PARAMETER_TS; /* by the width: else there is nothing to save */
    if (bounded && agent->confidence && agent->confidence->kind->tighten && agent->options->widths == SA_WIDTHS_NEEDED &&
        agent->oracle == &sa_oracle_top_k) {
        SA_TRY(sa_score_contenders(agent, self->request, &self->ticket));
    } else if (agent->exploration.kind == SA_EXPLORE_OWN) {
        explore_by_model(agent, count, self->id + 1);
    } else {
        for (size_t i = 0; i < count; i++) agent->width[i] = NAN;
        if (agent->confidence)
            SA_TRY(agent->confidence->kind->widths(agent->confidence, &agent->gradients, NULL, count, agent->width,
                                                   &self->ticket));
        for (size_t i = 0; i < count; i++)
            agent->score[i] = sa_explore_score(&agent->exploration, agent->mean[i], agent->width[i], sa_agent_bonus(agent),
                                               agent->luck[i]);
        if (!bounded) sample(agent, &stream, count);
    }
    for (size_t i = 0; i < count; i++)
        if (!isfinite(agent->score[i]))
            return sa_fail(SA_INVALID, "the optimistic score of arm %zu is not finite", arm_of(self, i));
    return SA_OK;
}

/* What is kept of the decision until its feedback comes. Its gradients are those that feedback counts: psi_k g where discounts
 * are learnt with, and the widths that were solved for g are of no use then. */
static sa_status keep(sa_agent *agent, const choice *self, sa_pending *pending) {
    sa_precision precision = agent->inputs.precision;
    size_t dim = agent->inputs.dim, slate = self->slate;
    SA_TRY(sa_pending_init(pending, slate, dim, precision, agent->pending.discounted));
    pending->ticket = self->ticket;
    memcpy(pending->arms, agent->slate, slate * sizeof *pending->arms);
    for (size_t k = 0; k < slate; k++) {
        memcpy(sa_real_at(precision, pending->contexts, k * dim), sa_real_at(precision, agent->raw, agent->slate[k] * dim),
               dim * sa_precision_bytes(precision));
        agent->rows[k] = sa_agent_row(agent, slate, agent->slate[k], k);
        if (pending->discounts) pending->discounts[k] = self->discounts ? self->discounts[k] : 1;
    }
    if (!agent->confidence) return SA_OK;
    SA_TRY(sa_gradients_init_like(&pending->gradients, agent->gradients.precision, &agent->gradients));
    SA_TRY(sa_gradients_reserve(&pending->gradients, slate));
    sa_gradients_append(&pending->gradients, &agent->gradients, agent->rows, slate);
    for (size_t k = 0; pending->discounts && k < slate; k++) {
        if (pending->discounts[k] == 1) continue;
        sa_gradients_scale(&pending->gradients, k, pending->discounts[k]);
        pending->ticket = 0;
    }
    return SA_OK;
}

/* With --count-pending, Z hears of the chosen arms now, and their gradients need not be kept. agent->rows are theirs. */
static sa_status count_now(sa_agent *agent, sa_pending *pending) {
    if (!agent->confidence || !agent->options->count_pending || pending->slate == 0) return SA_OK;
    SA_TRY(agent->confidence->kind->count(agent->confidence, &pending->gradients, pending->ticket, agent->rows));
    sa_gradients_clear(&pending->gradients);
    return SA_OK;
}

/* Reads the request; changes nothing. */
static sa_status read_request(const sa_agent *agent, const sa_request *request, choice *self) {
    size_t most = agent->inputs.positions;
    bool known = agent->exploration.kind == SA_EXPLORE_KNOWN;
    SA_TRY(sa_request_check(request, agent->oracle->size == SA_EXACTLY_K || most > 0));
    *self = (choice){.request = request, .id = agent->pending.first + agent->pending.count};
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
    SA_TRY(sa_inputs_read(&agent->inputs, request, agent->raw));
    SA_TRY(estimate(agent, &self));
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
    sa_inputs_accept(&agent->inputs, request->arms);
    sa_ring_push(&agent->pending, &pending);
    sa_decision_fill(fresh, &(sa_decision){.id = self.id,
                                           .event = request->event,
                                           .slate = self.slate,
                                           .candidates = request->arms,
                                           .positions = self.positions,
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
