/* One run of one agent. Each round, with v the expected scores, e the noise and S* the best slate for given
 * scores:
 *
 *   draw -> select S -> feedback v_i + e_i for i in S -> update, --delay rounds later
 *   expected regret = reward(S*(v); v) - reward(S; v),   realised regret = reward(S*(v + e); v + e) -
 *       reward(S; v + e)
 *
 * (alpha times the first reward of each for an oracle that is sure of that share only: benchmark.c).
 *
 * With --clicks a user looks at S (env/clicks.c has the models), and S* is the slate of the largest expected
 * reward:
 *
 *   draw -> select S -> what the user of this round does with S -> update, --delay rounds later
 *   expected regret = E reward(S*) - E reward(S),   realised regret = what this user gives for S* - what they
 *                                                   give for S
 *
 * The realised regret of a round may then be negative; its mean over users is the expected one.
 *
 * Where the caller's own environment answers for a slate, nobody knows what another would have got, and with
 * u the scores seen
 *
 *   draw -> select S -> feedback u_i for i in S -> update, --delay rounds later
 *   expected regret as above,   realised regret = reward(S*(v); v) - reward(S; u), where what is not seen
 *                               counts 0
 *
 * Curves add them up round by round; `reward` adds up reward(S; v + e), or what the users gave: what was
 * earned. */
#include "experiment/job.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "experiment/plan_histories.h"
#include <superarm/superarm.h>

enum { MEMORY_PERIOD = 64 }; /* rounds between two looks at the agent's memory */

static void job_clear(sa_job *self) {
    sa_text_file_abandon(&self->log.out);
    sa_trace_clear(&self->trace);
    sa_benchmark_clear(&self->benchmark);
    sa_free(self->asked);
    sa_free(self->observed);
    sa_free(self->last);
    sa_free(self->feedback);
    sa_problem_destroy(self->shorter);
    sa_free(self->realised);
    sa_round_clear(&self->round);
    sa_own_run_end(&self->own);
    sa_decision_destroy(self->decision);
    sa_request_destroy(self->request);
    sa_agent_destroy(self->agent);
    sa_options_destroy(self->options);
}

/* The oracle of the algorithm `best` with --clicks, where it knows the users too, and where the agents' own
 * oracle is not sure to find the best. */
static int give_best(void *user, const double *scores, size_t arms, const bool *excluded, size_t most,
                     size_t *slate, size_t *length) {
    const sa_job *self = user;
    (void)scores, (void)arms, (void)excluded, (void)most;
    *length = self->plan->clicks ? self->slate : self->benchmark.length;
    memcpy(slate, self->benchmark.best, *length * sizeof *slate);
    return 0;
}

/* The agent's history has a name of this run, where one that an earlier run left makes way: agents of runs
 * are never saved. */
static sa_status name_history(sa_job *self, uint64_t run) {
    char *path, **history = &self->options->history;
    if (!**history) return SA_OK;
    SA_TRY(sa_plan_history(self->of, run, &path));
    sa_free(*history);
    *history = path;
    self->options->history_anew = true;
    return SA_OK;
}

static sa_status make_agent(sa_job *self, uint64_t run, bool traced) {
    if (self->of->code.select)
        SA_TRY(sa_slate_most(self->oracle,
                             &(sa_oracle_problem){.arms = self->plan->environment->arms,
                                                  .slate = (size_t)self->plan->options->slate,
                                                  .data = sa_problem_data(self->plan->problem)},
                             &self->benchmark.workspace, &self->own_most));
    if (self->of->code.select)
        return sa_own_run_begin(&self->own, &self->of->code, self->plan->turns, run, self->delay + 1,
                                self->most, self->plan->environment->arms);
    self->options = sa_options_copy(self->of->options);
    self->request = sa_request_new();
    if (!self->options || !self->request) return SA_OUT_OF_MEMORY;
    self->has_epochs = sa_algorithm_has_epochs(self->options->algorithm);
    self->mispaired = self->options->linear_form == SA_LINEAR_PUBLISHED &&
                      sa_algorithm_is_linear(self->options->algorithm) &&
                      self->options->feedback != SA_FEEDBACK_TOTAL; /* a sum cannot be paired wrongly */
    self->options->first_run = (int64_t)run; /* the agent's random numbers are those of this run */
    if (traced)
        self->options->widths = SA_WIDTHS_ALL; /* a trace shows every arm's; the slates are the same */
    self->knows = sa_algorithm_knows(self->options->algorithm) && (self->plan->clicks || self->oracle->best);
    if (self->knows) self->options->feedback = SA_FEEDBACK_SEMI_BANDIT; /* it does not learn */
    self->totals = self->options->feedback == SA_FEEDBACK_TOTAL;
    SA_TRY(name_history(self, run));
    SA_TRY(sa_agent_create(self->options, &self->agent));
    if (self->oracle == &sa_oracle_own) SA_TRY(sa_agent_oracle(self->agent, &self->plan->oracle));
    if (!self->knows) return SA_OK;
    return sa_agent_oracle(self->agent, &(sa_oracle_callbacks){.solve = give_best, .user = self, .alpha = 1});
}

static sa_status job_prepare(sa_job *self, uint64_t run, const char *trace_path) {
    const sa_environment *environment = self->plan->environment;
    size_t arms = environment->arms, slate = (size_t)self->plan->options->slate,
           delay = (size_t)self->plan->options->delay;
    SA_TRY(sa_round_init(&self->round, environment));
    SA_TRY(sa_alloc_array(arms, sizeof(double), &self->realised));
    self->most = sa_oracle_most(self->oracle, &(sa_oracle_problem){.arms = arms, .slate = slate});
    self->delay = delay < self->plan->rounds ? delay : self->plan->rounds;
    SA_TRY(sa_alloc_matrix(self->delay + 1, self->most, sizeof(double), &self->feedback));
    SA_TRY(sa_alloc_array(self->most, sizeof *self->observed, &self->observed));
    SA_TRY(sa_alloc_array(self->most, sizeof *self->last, &self->last));
    SA_TRY(sa_alloc_array(self->delay + 1, sizeof *self->asked, &self->asked));
    SA_TRY(sa_benchmark_init(&self->benchmark, self->oracle, &self->plan->oracle, arms, self->most));
    SA_TRY(sa_environment_begin(environment, run, &self->round));
    SA_TRY(make_agent(self, run, trace_path));
    if (environment->varies) {
        self->shorter = sa_problem_new();
        if (!self->shorter) return SA_OUT_OF_MEMORY;
    }
    if (!trace_path) return SA_OK;
    bool single = self->agent && sa_agent_options(self->agent)->precision == SA_PRECISION_SINGLE;
    return sa_trace_begin(&self->trace, trace_path, self->of->label, single ? 9 : 17);
}

/* What can be chosen in this round. Where its arms are fewer than K, an oracle that wants K gets them all,
 * and the data of the first positions. */
static sa_status make_request(sa_job *self) {
    bool few = self->oracle->size == SA_EXACTLY_K && self->round.arms < (size_t)self->plan->options->slate;
    self->slate = few ? self->round.arms : (size_t)self->plan->options->slate;
    self->problem = few ? self->shorter : self->plan->problem;
    const sa_oracle_data *data = sa_problem_data(self->plan->problem);
    if (few && data->given & SA_BIT(SA_DISCOUNTS))
        sa_problem_discounts(self->shorter, data->discounts, self->slate);
    if (few && data->given & SA_BIT(SA_REWARD))
        SA_TRY(sa_problem_set(self->shorter, "reward", data->sum ? "sum" : "click"));
    if (!self->request) return SA_OK;
    sa_request_contexts(self->request, self->round.contexts, self->round.arms);
    sa_request_slate(self->request, self->slate);
    sa_request_expected(self->request, self->round.expected);
    sa_request_problem(self->request, self->problem);
    sa_request_propensities(self->request, self->log.label != NULL);
    return SA_OK;
}

/* ---- the agent's turns ---- */

static sa_status ask_agent(sa_job *self) {
    SA_TRY(sa_agent_select(self->agent, self->request, &self->decision));
    const sa_decision *decision = self->decision;
    self->chosen = (sa_chosen){.id = sa_decision_id(decision),
                               .arms = sa_decision_arms(decision),
                               .slate = sa_decision_slate(decision),
                               .candidates = sa_decision_candidates(decision),
                               .positions = sa_decision_positions(decision),
                               .mean = sa_decision_all_estimates(decision),
                               .width = sa_decision_all_widths(decision),
                               .score = sa_decision_all_scores(decision),
                               .propensity = sa_decision_propensity(decision)};
    if (!isnan(self->chosen.propensity)) {
        self->chosen.prefix = sa_decision_prefix_propensities(decision);
        self->chosen.position = sa_decision_position_propensities(decision);
    }
    self->run->certificate =
        fmax(self->run->certificate, sa_decision_certificate(self->decision)); /* NaN is less */
    return SA_OK;
}

static sa_status ask_own(sa_job *self, uint64_t run, size_t round) {
    const sa_oracle *oracle = self->oracle;
    sa_own_round seen = {.run = run,
                         .round = round,
                         .arms = self->round.arms,
                         .dim = self->plan->environment->dim,
                         .contexts = self->round.contexts};
    sa_problem view = {.problem = {.arms = seen.arms, .slate = self->slate, .own = &self->plan->oracle},
                       .data = *sa_problem_data(self->problem)};
    view.problem.data = &view.data;
    seen.problem = &view;
    seen.slate = sa_oracle_most(oracle, &view.problem);
    if (self->own_most < seen.slate) seen.slate = self->own_most;
    return sa_own_run_select(&self->own, &seen,
                             &(sa_own_rules){.oracle = oracle,
                                             .problem = &view.problem,
                                             .workspace = &self->benchmark.workspace,
                                             .broken = self->plan->options->own_slates},
                             &self->chosen);
}

/* Other arms than in the round before, or in another order? */
static void count_switches(sa_job *self, size_t round) {
    size_t slate = self->chosen.slate, bytes = slate * sizeof *self->last;
    bool other = slate != self->last_slate || (slate && memcmp(self->last, self->chosen.arms, bytes));
    if (round > 0 && other) self->run->switches++;
    if (slate) memcpy(self->last, self->chosen.arms, bytes);
    self->last_slate = slate;
}

static sa_status select_slate(sa_job *self, uint64_t run, size_t round) {
    double start = sa_clock_of_thread();
    SA_TRY(self->agent ? ask_agent(self) : ask_own(self, run, round));
    self->run->select_seconds += sa_clock_of_thread() - start;
    self->asked[round % (self->delay + 1)] = (sa_waiting){self->chosen.id, self->chosen.slate};
    count_switches(self, round);
    return SA_OK;
}

/* Answers the decision of --delay rounds ago. */
static sa_status update(sa_job *self, size_t round) {
    if (round < self->delay) return SA_OK;
    double start = sa_clock_of_thread();
    size_t old = round - self->delay;
    sa_waiting asked = self->asked[old % (self->delay + 1)];
    const double *feedback = sa_job_feedback(self, old);
    for (size_t i = 0; i < asked.slate; i++) self->observed[i] = !isnan(feedback[i]);
    bool partly = self->plan->clicks || self->plan->environment->kind->feedback;
    const bool *observed = partly ? self->observed : NULL;
    double total = 0;
    for (size_t i = 0; i < asked.slate; i++) total += self->observed[i] ? feedback[i] : 0;
    if (self->agent && self->totals)
        SA_TRY(sa_agent_update(self->agent, asked.id, &total, NULL, 1));
    else if (self->agent)
        SA_TRY(sa_agent_update(self->agent, asked.id, feedback, observed, asked.slate));
    else
        SA_TRY(sa_own_run_update(&self->own, old, feedback, observed, asked.slate));
    self->run->update_seconds +=
        sa_clock_of_thread() - start; /* training and replays included, until take_counts */
    return SA_OK;
}

static void take_memory(sa_job *self) {
    sa_agent_counts counts;
    if (!self->agent) return; /* nobody knows what the caller's own takes */
    sa_agent_count(self->agent, &counts);
    if ((int64_t)counts.bytes > self->run->peak_bytes) self->run->peak_bytes = (int64_t)counts.bytes;
}

static void take_counts(sa_job *self) {
    sa_agent_counts counts;
    if (!self->agent) return;
    take_memory(self);
    sa_agent_count(self->agent, &counts);
    self->run->train_seconds = counts.train_seconds;
    self->run->replay_seconds = counts.replay_seconds;
    self->run->update_seconds =
        fmax(0, self->run->update_seconds - counts.train_seconds - counts.replay_seconds);
    self->run->diverged_trainings = (int64_t)counts.diverged_trainings;
    self->run->a = counts.mixture.a;
    self->run->b = counts.mixture.b;
    self->run->c = counts.mixture.c;
    self->run->unit = counts.mixture.unit;
}

/* Draws the round, and what its scores come to. */
static sa_status draw(sa_job *self, uint64_t run, size_t round) {
    SA_TRY(sa_environment_draw(self->plan->environment, run, round, &self->round));
    for (size_t i = 0; i < self->round.arms; i++) {
        self->realised[i] = self->round.expected[i] + self->round.noise[i];
        if (!isfinite(self->realised[i]))
            return sa_fail(SA_INVALID, "the score of arm %zu and its noise add up to an infinity", i);
    }
    return SA_OK;
}

/* Who asked to be told of rounds is. */
static sa_status tell(sa_job *self, uint64_t run, size_t round, const double last[SA_CURVE_COUNT]) {
    const sa_experiment *experiment = self->plan->experiment;
    sa_played played = {.label = self->of->label,
                        .run = run,
                        .round = round,
                        .rounds = self->plan->rounds,
                        .arms = self->chosen.arms,
                        .feedback = sa_job_feedback(self, round),
                        .length = self->chosen.slate,
                        .expected_regret = last[SA_CURVE_EXPECTED],
                        .realised_regret = last[SA_CURVE_REALISED],
                        .reward = last[SA_CURVE_REWARD]};
    int code;
    if (!experiment->on_round) return SA_OK;
    SA_TAKE_TURN(self->plan->turns, code = experiment->on_round(experiment->on_round_user, &played));
    return code ? sa_fail(SA_CALLBACK, "what is called after each round failed with code %d", code) : SA_OK;
}

/* Round `round` from 0; `last` has the curves' values before it, and gets those after it. */
static sa_status play_round(sa_job *self, uint64_t run, size_t round, double last[SA_CURVE_COUNT]) {
    double gain[SA_CURVE_COUNT] = {0};
    uint64_t unproven = self->benchmark.unproven;
    SA_TRY(draw(self, run, round));
    SA_TRY(make_request(self));
    SA_TRY(sa_job_find_best(self));
    SA_TRY(select_slate(self, run, round));
    sa_agent_counts chooser = {
        .mixture = {NAN, NAN, NAN, NAN}}; /* before the update, which may begin an epoch */
    if (self->trace.label && self->agent) sa_agent_count(self->agent, &chooser);
    SA_TRY(sa_job_answer(self, run, round, gain));
    if (self->benchmark.unproven > unproven) self->run->unproven_rounds++;
    SA_TRY(update(self, round));
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++) last[kind] += gain[kind];
    if (round % MEMORY_PERIOD == 0) take_memory(self);
    SA_TRY(tell(self, run, round, last));
    if (self->log.label)
        SA_TRY(sa_run_log_round(&self->log, round, &self->round, &self->chosen, sa_job_feedback(self, round),
                                self->totals));
    if (!self->trace.label) return SA_OK;
    return sa_trace_round(&self->trace, run, round + 1, &self->chosen, sa_job_feedback(self, round),
                          gain[SA_CURVE_EXPECTED], gain[SA_CURVE_REALISED], &chooser.mixture,
                          self->has_epochs ? &chooser : NULL);
}

/* All rounds of the run; `*round` is the one that it is at, from 1. */
static sa_status play(sa_job *self, uint64_t number, sa_job_control *control, sa_row *row, size_t *round) {
    double last[SA_CURVE_COUNT] = {0};
    for (size_t t = 0; t < self->plan->rounds; t++) {
        *round = t + 1;
        if (atomic_load_explicit(&control->stop, memory_order_relaxed))
            return sa_fail(SA_INTERRUPTED, "stopped");
        SA_TRY(play_round(self, number, t, last));
        for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
            if (row->curve[kind]) row->curve[kind][t] = last[kind];
        atomic_fetch_add_explicit(&control->rounds, 1, memory_order_relaxed);
    }
    return SA_OK;
}

sa_status sa_job_run(const sa_plan *plan, const sa_agent_runs *agent, uint64_t number,
                     const sa_job_files *files, sa_job_control *control, sa_row *row) {
    double start = sa_clock_of_thread(), on_the_wall = sa_seconds_now();
    size_t round = 0;
    sa_job self = {.plan = plan,
                   .of = agent,
                   .oracle = sa_oracle_of_agent(agent),
                   .run = &row->run,
                   .trace = {.out = SA_NO_TEXT_FILE},
                   .log = {.out = SA_NO_TEXT_FILE, .run = number, .dim = plan->environment->dim}};
    row->run = sa_run_new(number);
    row->run.switches = 0;
    sa_status status = job_prepare(&self, number, files->trace);
    if (files->log) self.log.label = agent->label;
    if (status == SA_OK && files->log) status = sa_text_file_begin(&self.log.out, files->log);
    if (status != SA_OK) {
        sa_fail_prefix(status, "agent %s, run %llu: ", agent->label, (unsigned long long)number);
        goto fail;
    }
    status = play(&self, number, control, row, &round);
    if (status != SA_OK) {
        sa_fail_prefix(status, "agent %s, run %llu, round %zu: ", agent->label, (unsigned long long)number,
                       round);
        goto fail;
    }
    take_counts(&self);
    if (files->log) SA_TRY_OR_FAIL(sa_text_file_commit(&self.log.out));
    if (files->trace) SA_TRY_OR_FAIL(sa_text_file_commit(&self.trace.out));
    self.run->seconds = sa_clock_of_thread() - start;
    self.run->wall_seconds = sa_seconds_now() - on_the_wall;
fail:
    job_clear(&self);
    return status;
}
