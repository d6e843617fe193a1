/* One run of one agent. Each round, with v the expected scores, e the noise and S* the oracle's slate for given scores:
 *
 *   draw -> select S -> feedback v_i + e_i for i in S -> update, --delay rounds later
 *   expected regret = reward(S*(v); v) - reward(S; v),   realised regret = reward(S*(v + e); v + e) - reward(S; v + e)
 *
 * (alpha times the first reward of each for an oracle that is sure of that share only: the paper's alpha-regret).
 *
 * Curves add them up round by round; `reward` adds up reward(S; v + e), what was earned. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "experiment/experiment.h"

double sa_seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum { MEMORY_PERIOD = 64 }; /* rounds between two looks at the agent's memory */

/* A decision that waits for its feedback. */
typedef struct waiting {
    uint64_t id;
    size_t slate; /* arms chosen, at most K */
} waiting;

typedef struct job {
    const sa_plan *plan;
    sa_plan_agent *of;
    sa_run_stats *stats;
    sa_options *options;
    sa_agent *agent;
    sa_request *request;
    sa_decision *decision;
    sa_trace *trace;
    sa_round round;            /* as drawn */
    double *realised;          /* (arms) expected scores and noise */
    size_t slate;              /* K, or the round's arms where these are fewer and all of K are wanted */
    const sa_problem *problem; /* the oracle's data for this slate */
    sa_problem *shorter;       /* of a round with fewer arms than K */
    size_t most;               /* arms of a slate: K, unless the oracle does not look at it */
    size_t delay;              /* at most all rounds */
    double *feedback;          /* (delay + 1, most): row t mod (delay + 1) is what round t is answered with */
    waiting *asked;            /* (delay + 1) the decisions they answer */
    size_t *best;              /* (most) */
    double *clipped;           /* (arms) scores within the oracle's domain */
    sa_workspace workspace;
    bool mispaired; /* as published: the slate's i-th arm is answered with the score of arm i */
} job;

static void job_clear(job *self) {
    sa_trace_abandon(self->trace);
    sa_workspace_clear(&self->workspace);
    sa_free(self->clipped);
    sa_free(self->best);
    sa_free(self->asked);
    sa_free(self->feedback);
    sa_problem_destroy(self->shorter);
    sa_free(self->realised);
    sa_round_clear(&self->round);
    sa_decision_destroy(self->decision);
    sa_request_destroy(self->request);
    sa_agent_destroy(self->agent);
    sa_options_destroy(self->options);
}

static sa_status job_prepare(job *self, uint64_t run, const char *trace_path) {
    const sa_environment *environment = self->plan->environment;
    size_t arms = environment->arms, slate = (size_t)self->plan->options->slate,
           delay = (size_t)self->plan->options->delay;
    SA_TRY(sa_round_init(&self->round, environment));
    SA_TRY(sa_alloc_array(arms, sizeof(double), &self->realised));
    self->most = sa_oracle_most(self->of->oracle, &(sa_oracle_problem){.arms = arms, .slate = slate});
    self->delay = delay < self->plan->rounds ? delay : self->plan->rounds;
    SA_TRY(sa_alloc_matrix(self->delay + 1, self->most, sizeof(double), &self->feedback));
    SA_TRY(sa_alloc_array(self->delay + 1, sizeof *self->asked, &self->asked));
    SA_TRY(sa_alloc_array(self->most, sizeof(size_t), &self->best));
    SA_TRY(sa_alloc_array(arms, sizeof(double), &self->clipped));
    self->options = sa_options_copy(self->of->options);
    self->request = sa_request_new();
    if (!self->options || !self->request) return SA_OUT_OF_MEMORY;
    const char *model = sa_algorithm_model(self->options->algorithm);
    self->mispaired = self->options->linear_form == SA_LINEAR_PUBLISHED && model && strcmp(model, "linear") == 0;
    self->options->first_run = (int64_t)run;               /* the agent's random numbers are those of this run */
    if (trace_path) self->options->widths = SA_WIDTHS_ALL; /* a trace shows every arm's; the slates are the same */
    SA_TRY(sa_agent_create(self->options, &self->agent));
    if (environment->varies) {
        self->shorter = sa_problem_new();
        if (!self->shorter) return SA_OUT_OF_MEMORY;
    }
    if (!trace_path) return SA_OK;
    int digits = sa_agent_options(self->agent)->precision == SA_PRECISION_DOUBLE ? 17 : 9;
    return sa_trace_begin(trace_path, self->of->label, digits, &self->trace);
}

/* The reward that the chosen slate lacks to alpha times that of the oracle's, under these scores clipped into its domain; its
 * own reward in *reward. */
static sa_status regret(job *self, const double *scores, double *reward, double *lacks) {
    const sa_oracle *oracle = self->of->oracle;
    sa_oracle_problem problem = {
        .scores = self->clipped, .arms = self->round.arms, .slate = self->slate, .data = sa_problem_data(self->problem)};
    memcpy(self->clipped, scores, problem.arms * sizeof *scores);
    sa_oracle_clip(oracle, &problem, self->clipped, problem.arms);
    size_t length, slate = sa_decision_slate(self->decision);
    SA_TRY(oracle->solve(&problem, &self->workspace, self->best, &length));
    *reward = oracle->reward(&problem, sa_decision_arms(self->decision), slate);
    *lacks = oracle->alpha * oracle->reward(&problem, self->best, length) - *reward;
    return SA_OK;
}

/* What can be chosen in this round. Where its arms are fewer than K, an oracle that wants K gets them all, and the data of the
 * first positions. */
static sa_status make_request(job *self) {
    bool few = self->of->oracle->size == SA_EXACTLY_K && self->round.arms < (size_t)self->plan->options->slate;
    self->slate = few ? self->round.arms : (size_t)self->plan->options->slate;
    self->problem = few ? self->shorter : self->plan->problem;
    const sa_oracle_data *data = sa_problem_data(self->plan->problem);
    if (few && data->given & SA_BIT(SA_DISCOUNTS)) sa_problem_discounts(self->shorter, data->discounts, self->slate);
    if (few && data->given & SA_BIT(SA_REWARD))
        SA_TRY(sa_problem_set(self->shorter, "reward", data->sum ? "sum" : "click"));
    sa_request_contexts(self->request, self->round.contexts, self->round.arms);
    sa_request_slate(self->request, self->slate);
    sa_request_expected(self->request, self->round.expected);
    sa_request_problem(self->request, self->problem);
    return SA_OK;
}

/* What the slate of this round is answered with. */
static double *feedback_of(const job *self, size_t round) {
    return self->feedback + round % (self->delay + 1) * self->most;
}

static sa_status select_and_update(job *self, size_t round) {
    double start = sa_seconds_now();
    SA_TRY(sa_agent_select(self->agent, self->request, &self->decision));
    double selected = sa_seconds_now();
    size_t slate = sa_decision_slate(self->decision);
    const size_t *arms = sa_decision_arms(self->decision);
    for (size_t i = 0; i < slate; i++) feedback_of(self, round)[i] = self->realised[self->mispaired ? i : arms[i]];
    self->asked[round % (self->delay + 1)] = (waiting){sa_decision_id(self->decision), slate};
    self->stats->select_seconds += selected - start;
    if (round < self->delay) return SA_OK;
    double answered = sa_seconds_now();
    size_t old = round - self->delay;
    waiting asked = self->asked[old % (self->delay + 1)];
    SA_TRY(sa_agent_update(self->agent, asked.id, feedback_of(self, old), NULL, asked.slate));
    self->stats->update_seconds += sa_seconds_now() - answered; /* training included, until take_counts */
    return SA_OK;
}

static void take_memory(job *self) {
    sa_agent_counts counts;
    sa_agent_count(self->agent, &counts);
    if (counts.bytes > self->stats->peak_bytes) self->stats->peak_bytes = counts.bytes;
}

static void take_counts(job *self) {
    sa_agent_counts counts;
    take_memory(self);
    sa_agent_count(self->agent, &counts);
    self->stats->train_seconds = counts.train_seconds;
    self->stats->update_seconds = fmax(0, self->stats->update_seconds - counts.train_seconds);
    self->stats->diverged_trainings = counts.diverged_trainings;
}

/* Round `round` from 0; `last` has the curves' values before it, and gets those after it. */
static sa_status play_round(job *self, uint64_t run, size_t round, double last[3]) {
    const sa_environment *environment = self->plan->environment;
    double reward;
    sa_environment_draw(environment, run, round, &self->round);
    for (size_t i = 0; i < self->round.arms; i++) {
        self->realised[i] = self->round.expected[i] + self->round.noise[i];
        if (!isfinite(self->realised[i]))
            return sa_fail(SA_INVALID, "run %llu, round %zu: the score of arm %zu and its noise add up to an infinity",
                           (unsigned long long)run, round + 1, i);
    }
    SA_TRY(make_request(self));
    SA_TRY(select_and_update(self, round));
    double expected_regret, realised_regret;
    SA_TRY(regret(self, self->round.expected, &reward, &expected_regret));
    SA_TRY(regret(self, self->realised, &reward, &realised_regret));
    last[0] += expected_regret;
    last[1] += realised_regret;
    last[2] += reward;
    if (round % MEMORY_PERIOD == 0) take_memory(self);
    if (!self->trace) return SA_OK;
    return sa_trace_round(self->trace, run, round + 1, self->decision, feedback_of(self, round), expected_regret,
                          realised_regret);
}

sa_status sa_job_run(const sa_plan *plan, size_t agent, size_t run, const char *trace_path, sa_job_control *control) {
    double start = sa_seconds_now(), last[3] = {0};
    sa_plan_agent *of = &plan->agents[agent];
    job self = {.plan = plan, .of = of, .stats = &of->stats[run]};
    uint64_t number = plan->first_run + run;
    sa_status status;
    *self.stats = (sa_run_stats){0};
    SA_TRY_OR_FAIL(job_prepare(&self, number, trace_path));
    for (size_t round = 0; round < plan->rounds; round++) {
        if (atomic_load_explicit(&control->stop, memory_order_relaxed)) {
            status = sa_fail(SA_INTERRUPTED, "agent %s, run %llu: stopped", of->label, (unsigned long long)number);
            goto fail;
        }
        SA_TRY_OR_FAIL(play_round(&self, number, round, last));
        size_t place = run * plan->rounds + round;
        of->expected_regret[place] = last[0];
        of->realised_regret[place] = last[1];
        of->reward[place] = last[2];
        atomic_fetch_add_explicit(&control->rounds, 1, memory_order_relaxed);
    }
    take_counts(&self);
    if (self.trace) {
        status = sa_trace_finish(self.trace);
        self.trace = NULL;
        if (status != SA_OK) goto fail;
    }
    self.stats->seconds = sa_seconds_now() - start;
    job_clear(&self);
    return SA_OK;
fail:
    job_clear(&self);
    return status;
}
