/* What comes of a slate: job.c has the equations. */
#include <math.h>

#include "experiment/job.h"

double *sa_job_feedback(const sa_job *self, size_t round) {
    return self->feedback + round % (self->delay + 1) * self->most;
}

static sa_oracle_problem problem_with(sa_job *self, const double *scores) {
    return sa_benchmark_problem(&self->benchmark, scores, self->round.arms, self->slate,
                                sa_problem_data(self->problem));
}

/* What regret is measured against under these scores, and what the chosen slate earns. */
static sa_status rewards(sa_job *self, const double *scores, double *best, double *reward) {
    sa_oracle_problem problem = problem_with(self, scores);
    SA_TRY(sa_benchmark_best(&self->benchmark, &problem, best));
    *reward = self->oracle->reward(&problem, self->chosen.arms, self->chosen.slate);
    return isfinite(*reward) ? SA_OK : sa_fail(SA_INVALID, "the reward of a slate is %g", *reward);
}

/* Every score is seen. */
static sa_status answer_with_scores(sa_job *self, size_t round, double gain[SA_CURVE_COUNT]) {
    double best, reward;
    for (size_t i = 0; i < self->chosen.slate; i++)
        sa_job_feedback(self, round)[i] = self->realised[self->mispaired ? i : self->chosen.arms[i]];
    SA_TRY(rewards(self, self->round.expected, &best, &reward));
    gain[SA_CURVE_EXPECTED] = best - reward;
    SA_TRY(rewards(self, self->realised, &best, &reward));
    gain[SA_CURVE_REALISED] = best - reward;
    gain[SA_CURVE_REWARD] = reward;
    return SA_OK;
}

/* The caller's environment decides what is seen. */
static sa_status answer_with_feedback(sa_job *self, uint64_t run, size_t round, double gain[SA_CURVE_COUNT]) {
    const sa_environment *environment = self->plan->environment;
    const size_t *arms = self->chosen.arms, length = self->chosen.slate;
    double *seen = sa_job_feedback(self, round), best, reward;
    SA_TRY(environment->kind->feedback(environment, run, round, &self->round, arms, length, seen));
    SA_TRY(rewards(self, self->round.expected, &best, &reward));
    gain[SA_CURVE_EXPECTED] = best - reward;
    for (size_t i = 0; i < length; i++) self->realised[arms[i]] = isnan(seen[i]) ? 0 : seen[i];
    sa_oracle_problem problem = problem_with(self, self->realised);
    gain[SA_CURVE_REWARD] = self->oracle->reward(&problem, arms, length);
    gain[SA_CURVE_REALISED] = best - gain[SA_CURVE_REWARD];
    return SA_OK;
}

/* A user decides what is seen. */
static void answer_with_clicks(sa_job *self, uint64_t run, size_t round, double gain[SA_CURVE_COUNT]) {
    const sa_clicks *clicks = self->plan->clicks;
    const size_t *arms = self->chosen.arms, length = self->chosen.slate;
    sa_visit visit =
        sa_clicks_visit(clicks, &self->round, run, round, arms, length, sa_job_feedback(self, round));
    sa_visit best =
        sa_clicks_visit(clicks, &self->round, run, round, self->benchmark.best, self->slate, NULL);
    gain[SA_CURVE_EXPECTED] =
        sa_clicks_expected_reward(clicks, &self->round, self->benchmark.best, self->slate) -
        sa_clicks_expected_reward(clicks, &self->round, arms, length);
    gain[SA_CURVE_REALISED] = best.reward - visit.reward;
    gain[SA_CURVE_REWARD] = visit.reward;
    gain[SA_CURVE_CLICKS] = visit.clicks;
}

sa_status sa_job_find_best(sa_job *self) {
    double worth;
    if (self->plan->clicks)
        return sa_benchmark_liked(&self->benchmark, self->plan->clicks, &self->round, self->slate,
                                  sa_problem_data(self->problem));
    if (!self->knows) return SA_OK;
    sa_oracle_problem problem = problem_with(self, self->round.expected);
    return sa_benchmark_best(&self->benchmark, &problem, &worth);
}

sa_status sa_job_answer(sa_job *self, uint64_t run, size_t round, double gain[SA_CURVE_COUNT]) {
    if (!self->plan->clicks)
        return self->plan->environment->kind->feedback ? answer_with_feedback(self, run, round, gain)
                                                       : answer_with_scores(self, round, gain);
    answer_with_clicks(self, run, round, gain);
    return SA_OK;
}
