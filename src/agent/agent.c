/* Creating an agent, and choosing a slate. */
#include "agent/agent.h"

#include <math.h>
#include <string.h>

#include "agent/contenders.h"
#include "agent/decision.h"
#include "agent/epochs.h"
#include "agent/reals.h"
#include "base/memory.h"

/* ---- life ---- */

void sa_agent_destroy(sa_agent *agent) {
    if (!agent) return;
    sa_model_destroy(agent->model);
    sa_confidence_destroy(agent->confidence);
    sa_inputs_clear(&agent->inputs);
    sa_history_clear(&agent->history);
    sa_ring_clear(&agent->pending);
    sa_gradients_clear(&agent->gradients);
    sa_gradients_clear(&agent->observed);
    sa_free(agent->raw);
    sa_free(agent->input);
    sa_free(agent->mean);
    sa_free(agent->luck);
    sa_free(agent->contender);
    sa_free(agent->is_contender);
    sa_free(agent->group_score);
    sa_free(agent->width);
    sa_free(agent->score);
    sa_free(agent->slate);
    sa_free(agent->positions);
    sa_free(agent->rows);
    sa_workspace_clear(&agent->oracle_work);
    sa_free(agent->training_inputs);
    sa_free(agent->training_targets);
    sa_options_destroy(agent->base);
    sa_options_destroy(agent->options);
    sa_free(agent);
}

/* With epochs, the options given are a base, and those in force are made from them. */
static sa_status enter_epoch(sa_agent *agent, uint64_t epoch) {
    if (!agent->algorithm->doubling) return SA_OK;
    sa_options *options;
    SA_TRY(sa_epoch_options(agent->options, epoch, &options));
    agent->base = agent->options;
    agent->options = options;
    agent->epoch = epoch;
    return SA_OK;
}

static sa_status create_parts(sa_agent *agent, uint64_t epoch) {
    SA_TRY(sa_algorithm_find(agent->options->algorithm, &agent->algorithm));
    SA_TRY(enter_epoch(agent, epoch));
    const sa_algorithm *algorithm = agent->algorithm;
    const sa_options *options = agent->options;
    if (algorithm->model) SA_TRY(sa_model_create(algorithm->model, options, &agent->model));
    if (agent->model) agent->options->precision = (int)agent->model->precision; /* linear models are always double */
    agent->exploration = sa_exploration_from(algorithm->exploration, algorithm->ts_samples, options);
    if (agent->model && agent->model->kind->observe) /* it learns exactly, and is as wide as it is said to be */
        agent->exploration.bounds.approximation = 0;
    agent->oracle = sa_oracle_of((sa_oracle_kind)options->oracle);
    agent->feedback = sa_feedback_of((sa_feedback_kind)options->feedback);
    agent->pending.limit = (size_t)options->pending_limit;
    agent->scale = 1;
    sa_history_init(&agent->history, options);
    SA_TRY(sa_inputs_init(&agent->inputs, options));
    const sa_model *model = agent->model;
    if (!model) return SA_OK;
    SA_TRY(sa_gradients_init(&agent->gradients, model->precision, model->pairs, model->shape));
    SA_TRY(sa_gradients_init(&agent->observed, model->precision, model->pairs, model->shape));
    if (!algorithm->confidence) return SA_OK;
    return sa_confidence_create(options, model->pairs, model->shape, &agent->confidence);
}

sa_status sa_agent_assemble(sa_options *options, uint64_t epoch, sa_agent **out) {
    sa_agent *agent;
    sa_status status = sa_alloc_array(1, sizeof *agent, &agent);
    if (status != SA_OK) {
        sa_options_destroy(options);
        return status;
    }
    agent->options = options;
    status = create_parts(agent, epoch);
    if (status != SA_OK) {
        sa_agent_destroy(agent);
        return status;
    }
    *out = agent;
    return SA_OK;
}

sa_status sa_agent_create(const sa_options *options, sa_agent **out) {
    if (!options || !out) return sa_fail(SA_INVALID, "sa_agent_create needs options and a place for the agent");
    SA_TRY(sa_options_check_agent(
        options)); /* a saved agent was checked: its first weights may come from a file it has lost */
    sa_options *copy = sa_options_copy(options);
    if (!copy) return SA_OUT_OF_MEMORY;
    sa_status status = sa_algorithm_defaults(copy);
    if (status == SA_OK) return sa_agent_assemble(copy, 0, out);
    sa_options_destroy(copy);
    return status;
}

sa_status sa_agent_oracle(sa_agent *agent, const sa_oracle_callbacks *oracle) {
    if (!agent) return sa_fail(SA_INVALID, "sa_agent_oracle needs an agent");
    if (!oracle) {
        agent->oracle = sa_oracle_of((sa_oracle_kind)agent->options->oracle);
        return SA_OK;
    }
    if (!oracle->solve) return sa_fail(SA_INVALID, "an oracle of your own needs a solve callback");
    if (!(oracle->alpha > 0 && oracle->alpha <= 1))
        return sa_fail(SA_INVALID, "alpha of your oracle is %g, and must be more than 0 and at most 1", oracle->alpha);
    agent->own = *oracle;
    agent->oracle = &sa_oracle_own;
    return SA_OK;
}

const sa_options *sa_agent_options(const sa_agent *agent) { return agent->options; }

/* ---- choosing ---- */

/* Each array has its own capacity while it grows; the shared one is set when all have. */
static sa_status reserve_workspace(sa_agent *agent, const sa_request *request, size_t slate) {
    size_t arms = request->arms, row = agent->inputs.dim * sa_precision_bytes(agent->inputs.precision);
    struct {
        void *array;
        size_t size;
    } per_arm[] = {{&agent->raw, row},
                   {&agent->input, row},
                   {&agent->mean, sizeof(double)},
                   {&agent->luck, sizeof(double)},
                   {&agent->width, sizeof(double)},
                   {&agent->score, sizeof(double)},
                   {&agent->contender, sizeof(size_t)},
                   {&agent->is_contender, sizeof(bool)},
                   {&agent->group_score, sizeof(double)}};
    size_t capacity = agent->arms_capacity;
    for (size_t i = 0; i < sizeof per_arm / sizeof *per_arm; i++) {
        capacity = agent->arms_capacity;
        SA_TRY(sa_grow_array(per_arm[i].array, &capacity, arms, per_arm[i].size));
    }
    agent->arms_capacity = capacity;
    size_t **per_place[] = {&agent->slate, &agent->positions, &agent->rows};
    capacity = agent->slate_capacity;
    for (size_t i = 0; i < sizeof per_place / sizeof *per_place; i++) {
        capacity = agent->slate_capacity;
        SA_TRY(sa_grow_array(per_place[i], &capacity, slate, sizeof(size_t)));
    }
    agent->slate_capacity = capacity;
    return SA_OK;
}

/* mean (arms), and the gradients of all candidates where widths are wanted */
static sa_status estimate(sa_agent *agent, const sa_request *request) {
    size_t arms = request->arms;
    memset(agent->mean, 0, arms * sizeof *agent->mean);
    if (agent->exploration.kind == SA_EXPLORE_KNOWN) {
        if (!request->expected) return sa_fail(SA_INVALID, "the algorithm best needs the expected scores in each request");
        memcpy(agent->mean, request->expected, arms * sizeof *agent->mean);
        for (size_t i = 0; i < arms; i++)
            if (!isfinite(agent->mean[i]))
                return sa_fail(SA_INVALID, "the expected score of arm %zu is %g", i, agent->mean[i]);
    }
    if (agent->model) {
        sa_inputs_see(&agent->inputs, agent->raw, arms);
        sa_inputs_apply(&agent->inputs, agent->raw, arms, true, agent->input);
        SA_TRY(agent->model->kind->evaluate(agent->model, agent->input, arms, agent->mean,
                                            agent->confidence ? &agent->gradients : NULL));
        for (size_t i = 0; i < arms; i++) agent->mean[i] = agent->centre + agent->scale * agent->mean[i];
    }
    for (size_t i = 0; i < arms; i++)
        if (!isfinite(agent->mean[i]))
            return sa_fail(SA_INVALID, "the estimate for arm %zu is not finite: are its features too large?", i);
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

/* width and score (arms); NaN for a width that nobody computes */
static sa_status score(sa_agent *agent, const sa_request *request, uint64_t id, uint64_t *ticket) {
    size_t arms = request->arms;
    sa_stream stream =
        sa_stream_at((uint64_t)agent->options->seed, SA_PURPOSE_EXPLORATION, (uint64_t)agent->options->first_run, id);
    sa_explore_luck(&agent->exploration, arms, &stream, agent->luck);
    *ticket = 0;
    explore_by_theory(agent, request->slate);
    bool bounded = agent->exploration.kind != SA_EXPLORE_PARAMETER_TS; /* by the width: else there is nothing to save */
    if (bounded && agent->confidence && agent->confidence->kind->tighten && agent->options->widths == SA_WIDTHS_NEEDED &&
        agent->oracle == &sa_oracle_top_k) {
        SA_TRY(sa_score_contenders(agent, request, ticket));
    } else if (agent->exploration.kind == SA_EXPLORE_OWN) {
        explore_by_model(agent, arms, id + 1);
    } else {
        for (size_t i = 0; i < arms; i++) agent->width[i] = NAN;
        if (agent->confidence)
            SA_TRY(
                agent->confidence->kind->widths(agent->confidence, &agent->gradients, NULL, arms, agent->width, ticket));
        for (size_t i = 0; i < arms; i++)
            agent->score[i] =
                sa_explore_score(&agent->exploration, agent->mean[i], agent->width[i], agent->scale, agent->luck[i]);
        if (!bounded)
            agent->model->kind->sample(agent->model, agent->input, arms, agent->exploration.nu, &stream, agent->score);
    }
    for (size_t i = 0; i < arms; i++)
        if (!isfinite(agent->score[i])) return sa_fail(SA_INVALID, "the optimistic score of arm %zu is not finite", i);
    return SA_OK;
}

/* What is kept of the decision until its feedback comes. */
static sa_status keep(sa_agent *agent, size_t slate, uint64_t ticket, sa_pending *pending) {
    sa_precision precision = agent->inputs.precision;
    size_t dim = agent->inputs.dim;
    SA_TRY(sa_pending_init(pending, slate, dim, precision));
    pending->ticket = ticket;
    memcpy(pending->arms, agent->slate, slate * sizeof *pending->arms);
    for (size_t i = 0; i < slate; i++)
        memcpy(sa_real_at(precision, pending->contexts, i * dim), sa_real_at(precision, agent->raw, agent->slate[i] * dim),
               dim * sa_precision_bytes(precision));
    if (!agent->confidence) return SA_OK;
    SA_TRY(sa_gradients_init_like(&pending->gradients, agent->gradients.precision, &agent->gradients));
    SA_TRY(sa_gradients_reserve(&pending->gradients, slate));
    sa_gradients_append(&pending->gradients, &agent->gradients, agent->slate, slate);
    return SA_OK;
}

/* With --count-pending, Z hears of the chosen arms now, and their gradients need not be kept. */
static sa_status count_now(sa_agent *agent, sa_pending *pending) {
    if (!agent->confidence || !agent->options->count_pending || pending->slate == 0) return SA_OK;
    SA_TRY(agent->confidence->kind->count(agent->confidence, &pending->gradients, pending->ticket, pending->arms));
    sa_gradients_clear(&pending->gradients);
    return SA_OK;
}

sa_status sa_agent_select(sa_agent *agent, const sa_request *request, sa_decision **decision) {
    if (!agent || !decision) return sa_fail(SA_INVALID, "sa_agent_select needs an agent and a place for the decision");
    SA_TRY(sa_request_check(request, agent->oracle->size == SA_EXACTLY_K));
    uint64_t id = agent->pending.first + agent->pending.count, ticket;
    sa_oracle_problem problem = {.scores = agent->score,
                                 .arms = request->arms,
                                 .slate = request->slate,
                                 .excluded = request->excluded,
                                 .data = request->problem ? sa_problem_data(request->problem) : NULL,
                                 .own = &agent->own};
    size_t arms = request->arms, slate = sa_oracle_most(agent->oracle, &problem);
    SA_TRY(reserve_workspace(agent, request, slate));
    problem.scores = agent->score;
    SA_TRY(sa_oracle_check(agent->oracle, &problem));
    SA_TRY(sa_inputs_read(&agent->inputs, request, agent->raw));
    SA_TRY(estimate(agent, request));
    SA_TRY(score(agent, request, id, &ticket));
    memcpy(agent->group_score, agent->score, arms * sizeof *agent->score);
    problem.unclipped = agent->group_score;
    if (agent->exploration.kind == SA_EXPLORE_OWN) problem.urgency = agent->luck;
    sa_oracle_clip(agent->oracle, &problem, agent->score, arms);
    SA_TRY(agent->oracle->solve(&problem, &agent->oracle_work, agent->slate, &slate));

    sa_decision *fresh = *decision;
    sa_pending pending = {0};
    sa_status status;
    if (!fresh) SA_TRY(sa_alloc_array(1, sizeof *fresh, &fresh));
    SA_TRY_OR_FAIL(sa_decision_reserve(fresh, slate, arms));
    SA_TRY_OR_FAIL(keep(agent, slate, ticket, &pending));
    SA_TRY_OR_FAIL(sa_ring_reserve(&agent->pending));
    SA_TRY_OR_FAIL(count_now(agent, &pending));
    /* nothing can fail from here on */
    sa_inputs_accept(&agent->inputs, arms);
    sa_ring_push(&agent->pending, &pending);
    sa_decision_fill(fresh, id, request->event, slate, agent->slate, arms, agent->mean, agent->width, agent->score);
    *decision = fresh;
    return SA_OK;
fail:
    sa_pending_clear(&pending);
    if (!*decision) sa_decision_destroy(fresh);
    return status;
}

/* ---- numbers about it ---- */

void sa_agent_count(const sa_agent *agent, sa_agent_counts *counts) {
    sa_confidence_state state = {.log_det = NAN};
    if (agent->confidence) agent->confidence->kind->state(agent->confidence, &state);
    size_t row = agent->inputs.dim * sa_precision_bytes(agent->inputs.precision);
    *counts = (sa_agent_counts){
        .decisions = agent->pending.first + agent->pending.count,
        .answered = agent->history.answered,
        .pending = agent->pending.unanswered,
        .forgotten = agent->pending.forgotten,
        .observations = agent->history.count,
        .counted = state.counted,
        .trainings = agent->trainings,
        .diverged_trainings = agent->diverged_trainings,
        .bytes = sizeof *agent + state.bytes + (agent->model ? agent->model->kind->bytes(agent->model) : 0) +
                 sa_history_bytes(&agent->history) +
                 sa_ring_bytes(&agent->pending, agent->inputs.dim, agent->inputs.precision) +
                 sa_gradients_bytes(&agent->gradients) + sa_gradients_bytes(&agent->observed) +
                 agent->arms_capacity * (2 * row + 6 * sizeof(double) + sizeof(bool)) +
                 agent->training_capacity * (row + sizeof(double)),
        .widths_in_double = state.in_double,
        .widths_from_primal = state.from_primal,
        .log_det = state.log_det,
        .train_seconds = agent->train_seconds,
        .epoch = agent->epoch,
        .hidden = agent->model && !agent->model->kind->observe ? (uint64_t)agent->options->hidden : 0,
        .replay_seconds = agent->replay_seconds,
    };
}
