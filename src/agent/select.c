/* Choosing slates: what is asked for, then scores (score.c), then the oracle's slate and what is kept of it (keep.c); the agent
 * changes at the end, when nothing can fail any more. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/choice.h"
#include "agent/contenders.h"
#include "agent/decision.h"
#include "base/memory.h"

/* For requests of at most so many arms, and so many scores at once in all. Each array has its own capacity while it grows; the shared
 * one is set when all have. */
static sa_status reserve_workspace(sa_agent *agent, size_t arms, size_t scores, size_t slate) {
    size_t block = arms < SA_BLOCK_ARMS ? arms : SA_BLOCK_ARMS, one = agent->contender_capacity, other = one, capacity;
    SA_TRY(sa_input_block_reserve(&agent->block.inputs, &agent->inputs, block));
    size_t third = one, contenders = arms > SA_BLOCK_ARMS ? 0 : scores; /* many have their own */
    SA_TRY(sa_grow_array(&agent->contender, &one, contenders, sizeof *agent->contender));
    SA_TRY(sa_grow_array(&agent->joint, &third, contenders, sizeof *agent->joint));
    SA_TRY(sa_grow_array(&agent->is_contender, &other, contenders, sizeof *agent->is_contender));
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

/* Reads the request; changes nothing. */
static sa_status read_request(const sa_agent *agent, const sa_request *request, uint64_t id, sa_choice *self) {
    size_t most = agent->inputs.positions;
    bool known = agent->exploration.kind == SA_EXPLORE_KNOWN;
    SA_TRY(sa_request_check(request, agent->inputs.dim, agent->oracle->size == SA_EXACTLY_K || most > 0));
    *self = (sa_choice){.request = request, .id = id, .many = request->arms > SA_BLOCK_ARMS};
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

static sa_status read_discounts(const sa_agent *agent, sa_choice *self) {
    if (!agent->pending.discounted || !(self->data.given & SA_BIT(SA_DISCOUNTS))) return SA_OK;
    SA_TRY(sa_discounts_check(&self->data, self->slate));
    self->discounts = self->data.discounts;
    return SA_OK;
}

/* Without the scores, which are still to come. */
static sa_oracle_problem problem_of(const sa_agent *agent, const sa_choice *self) {
    return (sa_oracle_problem){.positions = self->positions,
                               .arms = self->request->arms,
                               .slate = self->request->slate,
                               .excluded = self->request->excluded,
                               .data = self->request->problem ? &self->data : NULL,
                               .own = &agent->own};
}

/* All that can be wrong before anything is scored. */
static sa_status prepare(sa_agent *agent, const sa_request *request, uint64_t id, sa_choice *self) {
    SA_TRY(read_request(agent, request, id, self));
    sa_oracle_problem problem = problem_of(agent, self);
    problem.scores = &(const double){0}; /* not looked at */
    self->slate = sa_oracle_most(agent->oracle, &problem);
    SA_TRY(sa_oracle_check(agent->oracle, &problem));
    return read_discounts(agent, self);
}

/* agent->slate from the scores, into a decision of its own, and what is kept of it. */
static sa_status decide(sa_agent *agent, sa_choice *self, sa_decision *decision, sa_pending *pending) {
    sa_oracle_problem problem = problem_of(agent, self);
    double *score = agent->score + self->offset, *unclipped = agent->group_score + self->offset;
    memcpy(unclipped, score, self->scores * sizeof *score);
    problem.scores = score;
    problem.unclipped = unclipped;
    if (agent->exploration.kind == SA_EXPLORE_OWN) problem.urgency = agent->luck + self->offset;
    sa_oracle_clip(agent->oracle, &problem, score, self->scores);
    SA_TRY(agent->oracle->solve(&problem, &agent->oracle_work, agent->slate, &self->slate));
    SA_TRY(sa_decision_reserve(decision, self->slate, self->scores));
    SA_TRY(sa_choice_keep(agent, self, pending));
    return SA_OK;
}

static void fill(const sa_agent *agent, const sa_choice *self, sa_decision *decision) {
    sa_decision_fill(decision, &(sa_decision){.id = self->id,
                                              .event = self->request->event,
                                              .slate = self->slate,
                                              .candidates = self->request->arms,
                                              .positions = self->positions,
                                              .certificate = self->certificate,
                                              .arms = agent->slate,
                                              .all_estimate = agent->mean + self->offset,
                                              .all_width = agent->width + self->offset,
                                              .all_score = agent->score + self->offset});
}

/* With --count-pending, Z hears of the chosen arms now, and their gradients need not be kept. agent->rows are theirs. */
static sa_status count_now(sa_agent *agent, sa_pending *pending) {
    if (!agent->confidence || !agent->options->count_pending || pending->slate == 0) return SA_OK;
    SA_TRY(sa_forgetting_count(agent, &pending->gradients, pending->ticket, agent->rows, agent->history.answered));
    sa_gradients_clear(&pending->gradients);
    return SA_OK;
}

sa_status sa_agent_select(sa_agent *agent, const sa_request *request, sa_decision **decision) {
    if (!agent || !decision) return sa_fail(SA_INVALID, "sa_agent_select needs an agent and a place for the decision");
    sa_choice self;
    SA_TRY(prepare(agent, request, agent->pending.next, &self));
    SA_TRY(reserve_workspace(agent, request->arms, self.scores, self.slate));
    sa_inputs_begin(&agent->inputs);
    SA_TRY(sa_choice_score(agent, &self));

    sa_decision *fresh = *decision;
    sa_pending pending = {0};
    sa_status status;
    if (!fresh) SA_TRY(sa_alloc_array(1, sizeof *fresh, &fresh));
    SA_TRY_OR_FAIL(decide(agent, &self, fresh, &pending));
    SA_TRY_OR_FAIL(sa_ring_reserve(&agent->pending, 1));
    SA_TRY_OR_FAIL(count_now(agent, &pending));
    /* nothing can fail from here on */
    sa_inputs_accept(&agent->inputs);
    sa_ring_push(&agent->pending, &pending);
    fill(agent, &self, fresh);
    *decision = fresh;
    return SA_OK;
fail:
    sa_pending_clear(&pending);
    if (!*decision) sa_decision_destroy(fresh);
    return status;
}

/* ---- many at once ---- */

/* Arms of small requests that are scored together, so that their gradients need bounded memory. */
enum { TOGETHER = 4096 };

typedef struct batch {
    size_t count;
    const sa_request *const *requests;
    sa_choice *choices;    /* (count) */
    sa_pending *pending;   /* (count) */
    sa_decision **decided; /* (count) */
} batch;

static void batch_clear(batch *self) {
    for (size_t i = 0; self->pending && i < self->count; i++) sa_pending_clear(&self->pending[i]);
    for (size_t i = 0; self->decided && i < self->count; i++) sa_decision_destroy(self->decided[i]);
    sa_free(self->choices);
    sa_free(self->pending);
    sa_free(self->decided);
}

static sa_status batch_prepare(sa_agent *agent, batch *self) {
    uint64_t id = agent->pending.next;
    SA_TRY(sa_alloc_array(self->count, sizeof *self->choices, &self->choices));
    SA_TRY(sa_alloc_array(self->count, sizeof *self->pending, &self->pending));
    SA_TRY(sa_alloc_array(self->count, sizeof *self->decided, &self->decided));
    for (size_t i = 0; i < self->count; i++) {
        sa_status status = prepare(agent, self->requests[i], id + i, &self->choices[i]);
        if (status != SA_OK) return sa_fail_prefix(status, "request %zu: ", i);
        SA_TRY(sa_alloc_array(1, sizeof **self->decided, &self->decided[i]));
    }
    return SA_OK;
}

/* How many requests from `first` on are scored together. The last of all is scored by itself, so that the engine is left as if
 * all had been. */
static size_t batch_group(const sa_agent *agent, batch *self, size_t first, size_t *scores) {
    size_t count = 0;
    *scores = 0;
    while (first + count + 1 < self->count && sa_choice_is_small(agent, &self->choices[first + count])) {
        sa_choice *next = &self->choices[first + count];
        if (count > 0 && *scores + next->scores > TOGETHER) break;
        next->offset = *scores;
        *scores += next->scores;
        count++;
    }
    if (count > 1) return count;
    *scores = self->choices[first].scores;
    return 1;
}

static sa_status batch_score(sa_agent *agent, batch *self, size_t first, size_t count, size_t scores) {
    size_t contests = agent->contest_capacity, arms = 0, slate = 0;
    for (size_t i = first; i < first + count; i++) {
        if (self->choices[i].request->arms > arms) arms = self->choices[i].request->arms;
        if (self->choices[i].slate > slate) slate = self->choices[i].slate;
    }
    SA_TRY(reserve_workspace(agent, arms, scores, slate));
    SA_TRY(sa_grow_array(&agent->contests, &contests, count, sizeof *agent->contests));
    agent->contest_capacity = contests;
    return count > 1 ? sa_choices_score(agent, self->choices + first, count)
                     : sa_choice_score(agent, &self->choices[first]);
}

/* Everything but the change of the agent. */
static sa_status batch_decide(sa_agent *agent, batch *self) {
    sa_inputs_begin(&agent->inputs);
    for (size_t first = 0, count, scores; first < self->count; first += count) {
        count = batch_group(agent, self, first, &scores);
        SA_TRY(batch_score(agent, self, first, count, scores));
        for (size_t i = first; i < first + count; i++) {
            SA_TRY(decide(agent, &self->choices[i], self->decided[i], &self->pending[i]));
            fill(agent, &self->choices[i], self->decided[i]);
        }
    }
    return sa_ring_reserve(&agent->pending, self->count);
}

static int by_address(const void *a, const void *b) {
    uintptr_t one = (uintptr_t) * (sa_decision *const *)a, other = (uintptr_t) * (sa_decision *const *)b;
    return (one > other) - (one < other);
}

/* An older decision can be written over once. */
static sa_status check_places(size_t count, sa_decision *const *decisions) {
    sa_decision **sorted;
    SA_TRY(sa_alloc_array(count, sizeof(sa_decision *), &sorted));
    memcpy(sorted, decisions, count * sizeof(sa_decision *));
    qsort(sorted, count, sizeof(sa_decision *), by_address);
    bool twice = false;
    for (size_t i = 1; i < count; i++) twice = twice || (sorted[i] && sorted[i] == sorted[i - 1]);
    sa_free(sorted);
    if (!twice) return SA_OK;
    return sa_fail(SA_INVALID, "sa_agent_select_many is given one decision twice: each request needs its own, or NULL");
}

/* The caller's decision becomes this one, and this one what is to be destroyed. */
static void hand_over(sa_decision **to, sa_decision **from) {
    if (*to) {
        sa_decision older = **to;
        **to = **from;
        **from = older;
        return;
    }
    *to = *from;
    *from = NULL;
}

sa_status sa_agent_select_many(sa_agent *agent, const sa_request *const *requests, size_t count, sa_decision **decisions) {
    if (!agent || ((!requests || !decisions) && count > 0))
        return sa_fail(SA_INVALID, "sa_agent_select_many needs an agent, requests and places for the decisions");
    if (count == 0) return SA_OK;
    if (count == 1) return sa_agent_select(agent, requests[0], &decisions[0]);
    if (agent->options->count_pending && agent->confidence)
        return sa_fail(SA_INVALID, "with --count-pending each slate changes what the next one sees: select one by one");
    SA_TRY(check_places(count, decisions));
    batch self = {.count = count, .requests = requests};
    sa_status status = batch_prepare(agent, &self);
    if (status == SA_OK) status = batch_decide(agent, &self);
    if (status == SA_OK) { /* nothing can fail from here on */
        sa_inputs_accept(&agent->inputs);
        for (size_t i = 0; i < count; i++) {
            sa_ring_push(&agent->pending, &self.pending[i]);
            self.pending[i] = (sa_pending){0};
            hand_over(&decisions[i], &self.decided[i]);
        }
    }
    batch_clear(&self);
    return status;
}
