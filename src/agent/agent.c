/* Creating an agent, and numbers about it. Choosing: select.c; feedback: learn.c. */
#include "agent/agent.h"

#include <math.h>

#include "agent/epochs.h"
#include "agent/history_file.h"
#include "base/memory.h"

/* ---- life ---- */

void sa_agent_destroy(sa_agent *agent) {
    if (!agent) return;
    sa_model_destroy(agent->model);
    sa_confidence_destroy(agent->confidence);
    sa_confidence_destroy(agent->rebuilt);
    sa_companion_clear(&agent->companion);
    sa_free(agent->row);
    sa_inputs_clear(&agent->inputs);
    sa_history_clear(&agent->history);
    sa_ring_clear(&agent->pending);
    sa_block_clear(&agent->block);
    sa_scan_clear(&agent->scan);
    sa_gradients_clear(&agent->together);
    sa_free(agent->joint);
    sa_free(agent->contests);
    sa_gradients_clear(&agent->observed);
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
    sa_free(agent->training_weights);
    sa_free(agent->training_scores);
    sa_free(agent->training_psi);
    sa_free(agent->drawn_contexts);
    sa_forgetting_clear(&agent->forgetting);
    sa_options_destroy(agent->base);
    sa_options_destroy(agent->options);
    sa_free(agent);
}

/* Where the model tells positions apart, so must the rest. */
static sa_status check_positions(const sa_agent *agent) {
    const char *form =
        agent->options->feedback == SA_FEEDBACK_POSITION ? "position" : "cascade with --cascade-form unknown";
    if (agent->inputs.positions == 0) return SA_OK;
    if (!agent->oracle->positions)
        return sa_fail(SA_INVALID,
                       "--oracle %s takes one score an arm, and --feedback %s gives one for each position: "
                       "--oracle assignment takes those",
                       agent->oracle->name, form);
    if (agent->model && !agent->model->kind->evaluate_positions)
        return sa_fail(SA_INVALID, "--algorithm %s cannot tell positions apart, as --feedback %s needs",
                       agent->algorithm->name, form);
    return SA_OK;
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
    if (agent->model && !agent->model->kind->train) /* it learns exactly, and is as wide as it is said to be */
        agent->exploration.bounds.approximation = 0;
    agent->oracle = sa_oracle_of((sa_oracle_kind)options->oracle);
    if (agent->oracle->missing) return sa_fail(SA_UNSUPPORTED, "%s", agent->oracle->missing);
    agent->feedback = sa_feedback_of((sa_feedback_kind)options->feedback);
    agent->pending.limit = (size_t)options->pending_limit;
    agent->pending.discounted = sa_options_discounted(options);
    agent->scale = 1;
    agent->forgetting.factor = 1;
    sa_history_init(&agent->history, options);
    SA_TRY(sa_inputs_init(&agent->inputs, options));
    SA_TRY(check_positions(agent));
    const sa_model *model = agent->model;
    if (!model) return SA_OK;
    if (options->companion && !model->kind->observe && !agent->exploration.by_theory) { /* theory speaks of the network */
        size_t inputs = agent->inputs.dim + agent->inputs.positions;
        SA_TRY(sa_alloc_array(inputs, sizeof(double), &agent->row));
        SA_TRY(sa_companion_init(&agent->companion, inputs));
    }
    SA_TRY(sa_gradients_init(&agent->block.gradients, model->precision, model->pairs, model->shape));
    SA_TRY(sa_gradients_init(&agent->observed, model->precision, model->pairs, model->shape));
    if (algorithm->confidence) SA_TRY(sa_confidence_create(options, model->pairs, model->shape, &agent->confidence));
    return sa_forgetting_init(agent);
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
    if (status != SA_OK) {
        sa_options_destroy(copy);
        return status;
    }
    sa_agent *agent;
    SA_TRY(sa_agent_assemble(copy, 0, &agent));
    if (*options->history && options->history_new) status = sa_history_file_make_way(options->history, true);
    if (*options->history && status == SA_OK) status = sa_history_file_create(&agent->history, options->history);
    if (status != SA_OK) {
        sa_agent_destroy(agent);
        return status;
    }
    *out = agent;
    return SA_OK;
}

sa_status sa_agent_oracle(sa_agent *agent, const sa_oracle_callbacks *oracle) {
    if (!agent) return sa_fail(SA_INVALID, "sa_agent_oracle needs an agent");
    if (!oracle) {
        agent->own = (sa_oracle_callbacks){0};
        agent->oracle = sa_oracle_of((sa_oracle_kind)agent->options->oracle);
        return SA_OK;
    }
    if (!oracle->solve) return sa_fail(SA_INVALID, "an oracle of your own needs a solve callback");
    if (!(oracle->alpha > 0 && oracle->alpha <= 1))
        return sa_fail(SA_INVALID, "alpha of your oracle is %g, and must be more than 0 and at most 1", oracle->alpha);
    if (oracle->positions != (agent->inputs.positions > 0))
        return sa_fail(SA_INVALID, "your oracle takes %s, and the agent's --feedback gives %s",
                       oracle->positions ? "a score for each position" : "one score an arm",
                       oracle->positions ? "one an arm" : "one for each position");
    agent->own = *oracle;
    agent->oracle = &sa_oracle_own;
    return SA_OK;
}

bool sa_agent_needs_oracle(const sa_agent *agent) { return agent->oracle == &sa_oracle_own && !agent->own.solve; }

const sa_options *sa_agent_options(const sa_agent *agent) { return agent->options; }

/* ---- numbers about it ---- */

void sa_agent_count(const sa_agent *agent, sa_agent_counts *counts) {
    sa_confidence_state state = {.log_det = NAN};
    if (agent->confidence) agent->confidence->kind->state(agent->confidence, &state);
    size_t real = sa_precision_bytes(agent->inputs.precision), row = agent->inputs.dim * real;
    size_t sample = row + (agent->inputs.positions + 1) * real + sizeof(double);
    if (agent->training_weights) sample += real + sizeof(double);
    *counts = (sa_agent_counts){
        .decisions = agent->pending.next,
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
                 sa_block_bytes(&agent->block, &agent->inputs) + sa_scan_bytes(&agent->scan, &agent->inputs) +
                 sa_gradients_bytes(&agent->observed) + sa_companion_bytes(&agent->companion) +
                 sa_gradients_bytes(&agent->together) + agent->contender_capacity * (2 * sizeof(size_t) + sizeof(bool)) +
                 agent->score_capacity * 5 * sizeof(double) + agent->training_capacity * sample +
                 (agent->drawn_contexts ? SA_TRAINING_CHUNK * row : 0) + sa_forgetting_bytes(&agent->forgetting),
        .widths_in_double = state.in_double,
        .widths_from_primal = state.from_primal,
        .log_det = state.log_det,
        .certificate = sa_confidence_certificate(agent->confidence),
        .train_seconds = agent->train_seconds,
        .epoch = agent->epoch,
        .hidden = agent->model && agent->model->kind->train ? (uint64_t)agent->options->hidden : 0,
        .replay_seconds = agent->replay_seconds,
    };
}
