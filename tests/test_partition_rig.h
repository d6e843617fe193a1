/* Rounds of a partition agent beside a reference that is plain arrays and loops, with excluded arms and
 * feedback that comes at once, late, in parts, or never. */
#ifndef TEST_PARTITION_RIG_H
#define TEST_PARTITION_RIG_H

#include "rng/stream.h"
#include "test_agent_rig.h"

enum { GAME_ARMS = 12, GAME_SLATE = 3, GAME_ROUNDS = 300, GAME_MOST_DIM = 12 };

typedef struct game_round {
    double contexts[GAME_ARMS * GAME_MOST_DIM]; /* (arms, dim) */
    bool excluded[GAME_ARMS];
    size_t slate[GAME_SLATE];
    double scores[GAME_SLATE]; /* to answer with */
} game_round;

typedef struct game {
    size_t dim;
    double spread; /* contexts are uniform on [-spread, spread] */
    const sa_problem *problem;
    /* What the reference expects of round t from 1, and what it learns. */
    void (*expect)(void *reference, const game_round *round, uint64_t t, double *mean, double *score,
                   size_t *slate);
    void (*learn)(void *reference, size_t count, const double *const *contexts, const double *scores);
    void *reference;
} game;

/* The draws of round t from 1, in the order of which arms of equal scores are taken. */
static inline void tie_draws(uint64_t seed, uint64_t run, uint64_t t, double *draw) {
    sa_stream stream = sa_stream_at(seed, SA_PURPOSE_EXPLORATION, run, t - 1);
    for (size_t i = 0; i < GAME_ARMS; i++) draw[i] = sa_draw_uniform(&stream, i);
}

/* Arms not excluded, by decreasing rank, then score, then draw. */
static inline void best_slate(const game_round *round, const int *rank, const double *score,
                              const double *draw, size_t *slate) {
    bool taken[GAME_ARMS] = {false};
    for (size_t k = 0; k < GAME_SLATE; k++) {
        size_t best = GAME_ARMS;
        for (size_t i = 0; i < GAME_ARMS; i++) {
            if (taken[i] || round->excluded[i]) continue;
            if (best == GAME_ARMS || rank[i] > rank[best] ||
                (rank[i] == rank[best] && score[i] > score[best]) ||
                (rank[i] == rank[best] && score[i] == score[best] && draw[i] > draw[best]))
                best = i;
        }
        taken[slate[k] = best] = true;
    }
}

static inline double game_score(const double *x, size_t dim, uint64_t seed) {
    double v = sin(3 * x[0]) + 0.3 * sin(17.3 * (double)seed);
    for (size_t j = 1; j < dim; j++) v += 0.5 * x[j] * x[j - 1];
    return v;
}

static inline game_round game_draw(const game *self, uint64_t t) {
    game_round round = {.excluded = {false}};
    for (size_t i = 0; i < GAME_ARMS * self->dim; i++) round.contexts[i] = self->spread * rig_number(t, i);
    for (size_t i = 0; i < GAME_ARMS; i++) round.excluded[i] = t % 3 == 0 && (i + t) % 4 == 0;
    return round;
}

static inline void game_answer(const game *self, sa_agent *agent, const game_round *rounds, uint64_t t,
                               const bool *observed) {
    const double *contexts[GAME_SLATE];
    double scores[GAME_SLATE];
    size_t count = 0;
    for (size_t k = 0; k < GAME_SLATE; k++)
        if (observed[k]) {
            contexts[count] = rounds[t].contexts + rounds[t].slate[k] * self->dim;
            scores[count++] = rounds[t].scores[k];
        }
    assert_ok(sa_agent_update(agent, t - 1, rounds[t].scores, observed, GAME_SLATE));
    self->learn(self->reference, count, contexts, scores);
}

static inline void game_feedback(const game *self, sa_agent *agent, const game_round *rounds, uint64_t t) {
    static const bool all[] = {true, true, true}, some[] = {true, false, true}, rest[] = {false, true, false};
    if (t > 1 && (t - 1) % 5 == 1) game_answer(self, agent, rounds, t - 1, rest);
    if (t > 3 && (t - 3) % 5 == 0) game_answer(self, agent, rounds, t - 3, all);
    if (t % 5 == 1) game_answer(self, agent, rounds, t, some);
    if (t % 5 >= 2 && t % 7 != 6)
        game_answer(self, agent, rounds, t, all); /* multiples of 5 wait; some t % 7 == 6 never */
}

/* Plays; estimates, scores and slates are the reference's. */
static inline void game_play(const game *self, const char *text) {
    static game_round rounds[GAME_ROUNDS + 1];
    double mean[GAME_ARMS], score[GAME_ARMS];
    size_t slate[GAME_SLATE];
    sa_agent *agent = rig_create(text);
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    for (uint64_t t = 1; t <= GAME_ROUNDS; t++) {
        game_round *round = &rounds[t];
        *round = game_draw(self, t);
        sa_request_contexts(request, round->contexts, GAME_ARMS);
        sa_request_exclude(request, round->excluded);
        sa_request_slate(request, GAME_SLATE);
        sa_request_problem(request, self->problem);
        assert_ok(sa_agent_select(agent, request, &decision));
        self->expect(self->reference, round, t, mean, score, slate);
        for (size_t i = 0; i < GAME_ARMS; i++) {
            double m = sa_decision_all_estimates(decision)[i], s = sa_decision_all_scores(decision)[i];
            if (!(fabs(m - mean[i]) <= 1e-12 * (1 + fabs(mean[i]))))
                fail_msg("%s, round %d, arm %zu: estimate %.17g, not %.17g", text, (int)t, i, m, mean[i]);
            if (!(fabs(s - score[i]) <= 1e-12 * (1 + fabs(score[i]))))
                fail_msg("%s, round %d, arm %zu: score %.17g, not %.17g", text, (int)t, i, s, score[i]);
            assert_true(isnan(sa_decision_all_widths(decision)[i]));
        }
        for (size_t k = 0; k < GAME_SLATE; k++) {
            round->slate[k] = sa_decision_arms(decision)[k];
            if (round->slate[k] != slate[k])
                fail_msg("%s, round %d, place %zu: arm %zu, not %zu", text, (int)t, k, round->slate[k],
                         slate[k]);
            round->scores[k] = game_score(round->contexts + slate[k] * self->dim, self->dim, 100 * t + k);
        }
        game_feedback(self, agent, rounds, t);
    }
    sa_decision_destroy(decision);
    sa_request_destroy(request);
    sa_agent_destroy(agent);
}

/* One select of arms on a line (dim 1), all answered with the same score. */
static inline void line_round(sa_agent *agent, const double *contexts, size_t arms, size_t slate,
                              double answer, sa_decision **decision) {
    double scores[8];
    sa_request *request = sa_request_new();
    sa_request_contexts(request, contexts, arms);
    sa_request_slate(request, slate);
    assert_ok(sa_agent_select(agent, request, decision));
    for (size_t k = 0; k < slate; k++) scores[k] = answer;
    assert_ok(sa_agent_update(agent, sa_decision_id(*decision), scores, NULL, slate));
    sa_request_destroy(request);
}

static inline void line_check(const sa_decision *decision, const double *wanted, size_t arms) {
    for (size_t i = 0; i < arms; i++) {
        double score = sa_decision_all_scores(decision)[i];
        if (!(fabs(score - wanted[i]) <= 1e-9))
            fail_msg("decision %d, arm %zu: score %.17g, not %.17g", (int)sa_decision_id(decision), i, score,
                     wanted[i]);
    }
}

#endif
