/* Ridge regression in plain loops, which shares nothing with src: Z = lambda I + sum x x', b = sum v x, theta
 * = Z^-1 b. And rounds of a linear agent played beside it, with feedback that comes at once, late, in parts,
 * or never. */
#ifndef TEST_LINEAR_REFERENCE_H
#define TEST_LINEAR_REFERENCE_H

#include "test_agent_rig.h"

enum { RIDGE_DIM = RIG_DIM, LINEAR_ARMS = 12, LINEAR_SLATE = 3 };

typedef struct ridge {
    double z[RIDGE_DIM][RIDGE_DIM], b[RIDGE_DIM];
} ridge;

static inline ridge ridge_of(double lambda) {
    ridge r = {0};
    for (size_t i = 0; i < RIDGE_DIM; i++) r.z[i][i] = lambda;
    return r;
}

static inline void ridge_add(ridge *r, const double *x, double v) {
    for (size_t i = 0; i < RIDGE_DIM; i++) {
        for (size_t j = 0; j < RIDGE_DIM; j++) r->z[i][j] += x[i] * x[j];
        r->b[i] += v * x[i];
    }
}

/* Z = L L' */
static inline void ridge_factor(const ridge *r, double l[RIDGE_DIM][RIDGE_DIM]) {
    memset(l, 0, RIDGE_DIM * sizeof *l);
    for (size_t i = 0; i < RIDGE_DIM; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = r->z[i][j];
            for (size_t k = 0; k < j; k++) sum -= l[i][k] * l[j][k];
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
}

/* y = L^-1 y */
static inline void forward(double l[RIDGE_DIM][RIDGE_DIM], double *y) {
    for (size_t i = 0; i < RIDGE_DIM; i++) {
        for (size_t k = 0; k < i; k++) y[i] -= l[i][k] * y[k];
        y[i] /= l[i][i];
    }
}

/* y = L'^-1 y */
static inline void backward(double l[RIDGE_DIM][RIDGE_DIM], double *y) {
    for (size_t i = RIDGE_DIM; i-- > 0;) {
        for (size_t k = i + 1; k < RIDGE_DIM; k++) y[i] -= l[k][i] * y[k];
        y[i] /= l[i][i];
    }
}

static inline void ridge_theta(const ridge *r, double *theta) {
    double l[RIDGE_DIM][RIDGE_DIM];
    ridge_factor(r, l);
    memcpy(theta, r->b, sizeof r->b);
    forward(l, theta);
    backward(l, theta);
}

/* sqrt(x' Z^-1 x) */
static inline double ridge_width(const ridge *r, const double *x) {
    double l[RIDGE_DIM][RIDGE_DIM], y[RIDGE_DIM], sum = 0;
    ridge_factor(r, l);
    memcpy(y, x, sizeof y);
    forward(l, y);
    for (size_t i = 0; i < RIDGE_DIM; i++) sum += y[i] * y[i];
    return sqrt(sum);
}

static inline double ridge_log_det(const ridge *r) {
    double l[RIDGE_DIM][RIDGE_DIM], sum = 0;
    ridge_factor(r, l);
    for (size_t i = 0; i < RIDGE_DIM; i++) sum += 2 * log(l[i][i]);
    return sum;
}

static inline double dot_product(const double *x, const double *y) {
    double sum = 0;
    for (size_t i = 0; i < RIDGE_DIM; i++) sum += x[i] * y[i];
    return sum;
}

/* ---- rounds ---- */

typedef struct linear_game {
    sa_agent *agent;
    sa_decision *decision;
    bool counts_pending;
    double lambda;
    ridge learnt;  /* all feedback */
    ridge before;  /* all but that of the newest call */
    ridge counted; /* Z of the widths */
    double contexts[64][LINEAR_ARMS][RIDGE_DIM];
    size_t slates[64][LINEAR_SLATE];
} linear_game;

/* What the test expects of the decision just made; round is its id. */
typedef void linear_check(const linear_game *game, uint64_t round);

static inline void linear_answer(linear_game *game, uint64_t round, const bool *observed) {
    double scores[LINEAR_SLATE];
    for (size_t k = 0; k < LINEAR_SLATE; k++) scores[k] = rig_number(round, 77 + k) / 7;
    game->before = game->learnt;
    for (size_t k = 0; k < LINEAR_SLATE; k++) {
        const double *x = game->contexts[round][game->slates[round][k]];
        if (observed && !observed[k]) continue;
        ridge_add(&game->learnt, x, scores[k]);
        if (!game->counts_pending) ridge_add(&game->counted, x, 0);
    }
    assert_ok(sa_agent_update(game->agent, round, scores, observed, LINEAR_SLATE));
}

/* Numbers of many digits: single precision would be seen. */
static inline void linear_select(linear_game *game, uint64_t round) {
    for (size_t i = 0; i < LINEAR_ARMS; i++)
        for (size_t j = 0; j < RIDGE_DIM; j++)
            game->contexts[round][i][j] = rig_number(round, i * RIDGE_DIM + j) / 3;
    sa_request *request = sa_request_new();
    sa_request_contexts(request, &game->contexts[round][0][0], LINEAR_ARMS);
    sa_request_slate(request, LINEAR_SLATE);
    assert_ok(sa_agent_select(game->agent, request, &game->decision));
    assert_true(sa_decision_id(game->decision) == round);
    memcpy(game->slates[round], sa_decision_arms(game->decision), sizeof game->slates[round]);
    sa_request_destroy(request);
}

/* 60 rounds. Round by round: answered at once; two rounds late; in two parts, the second three rounds late;
 * never. */
static inline void linear_play(const char *text, linear_check *check) {
    linear_game game = {.agent = rig_create(text)};
    const sa_options *options = sa_agent_options(game.agent);
    char value[32];
    assert_ok(sa_options_get(options, "regularization", value, sizeof value));
    game.lambda = strtod(value, NULL);
    game.counts_pending = strstr(text, "count-pending=true");
    game.learnt = game.before = game.counted = ridge_of(game.lambda);
    for (uint64_t round = 0; round < 60; round++) {
        linear_select(&game, round);
        check(&game, round);
        for (size_t k = 0; game.counts_pending && k < LINEAR_SLATE; k++)
            ridge_add(&game.counted, game.contexts[round][game.slates[round][k]], 0);
        if (round % 5 < 2) linear_answer(&game, round, NULL);
        if (round % 5 == 3) linear_answer(&game, round, (bool[]){true, false, true});
        if (round % 5 == 4) linear_answer(&game, round - 2, NULL);
        if (round % 5 == 1 && round > 5) linear_answer(&game, round - 3, (bool[]){false, true, false});
    }
    sa_decision_destroy(game.decision);
    sa_agent_destroy(game.agent);
}

static inline void near(const char *what, uint64_t round, double value, double expected) {
    if (!(fabs(value - expected) <= 1e-12 * (1 + fabs(expected))))
        fail_msg("round %llu: %s is %.17g, not %.17g", (unsigned long long)round, what, value, expected);
}

/* The slate is the top k of `score` (arms); near ties do not occur with these seeds. */
static inline void check_slate(const linear_game *game, uint64_t round, const double *score) {
    bool chosen[LINEAR_ARMS] = {false};
    for (size_t k = 0; k < LINEAR_SLATE; k++) {
        size_t best = 0;
        while (chosen[best]) best++;
        for (size_t i = 0; i < LINEAR_ARMS; i++)
            if (!chosen[i] && score[i] > score[best]) best = i;
        chosen[best] = true;
        assert_int_equal(game->slates[round][k], best);
    }
}

#endif
