/* ACC-UCB against an example worked out by hand, and against a tree of boxes with all their children written
 * out. */
#include "test_partition_rig.h"

/* ---- by hand ---- d = 1, so cells are halved: N = 2, rho = 1/2, v1 = 1, v2 = 1/2, and g = b + 4 rho^h. With
 * T = 8 and half the confidence, c = sqrt(2 log T / C) / 2 = sqrt(q / C), q = log(8) / 2 = 1.0397. The root
 * splits at q / C <= 1, C = 2; a cell of level 1 at q / C <= 1/4, C = 5; one of level 2 at q / C <= 1/16, C =
 * 17. */
static void halves_by_hand(void **state) {
    (void)state;
    sa_agent *agent = rig_create("preset=paper algorithm=acc-ucb dim=1 rounds=8 gamma=0.5");
    sa_decision *decision = NULL;
    const double q = log(8) / 2, x[] = {-0.75, -0.25, 0.25, 0.75};
    line_round(agent, x, 4, 1, 0.5, &decision); /* nothing seen: all tie, but for the draw */
    for (size_t i = 1; i < 4; i++)
        assert_true(fabs(sa_decision_all_scores(decision)[i] - sa_decision_all_scores(decision)[0]) < 1e-12);
    line_round(agent, x, 4, 1, 0.7,
               &decision); /* root: C = 1, mean 0.5; q / 1 > 1, whole. Then C = 2, and it splits */
    double root = 0.5 + sqrt(q) + 1 + 4;
    line_check(decision, (double[]){root, root, root, root}, 4);
    /* level 1, nothing seen: the parent's 0.6 + sqrt(q / 2) + 1, and 1/2 + 4/2 */
    line_round(agent, (double[]){x[0], x[3]}, 2, 2, 0.9, &decision);
    double fresh = 0.6 + sqrt(q / 2) + 1 + 0.5 + 2;
    line_check(decision, (double[]){fresh, fresh}, 2);
    assert_true(fabs(sa_decision_estimates(decision)[0] - 0.6) < 1e-15); /* its parent's */
    /* one 0.9 in each: min(0.9 + sqrt(q), 0.6 + sqrt(q / 2) + 1); the first */
    line_round(agent, (double[]){x[0], x[1]}, 2, 2, 0.1, &decision); /* both in the left */
    double once = 0.9 + sqrt(q) + 0.5 + 2;
    line_check(decision, (double[]){once, once}, 2);
    /* left: C = 3, mean (0.9 + 0.1 + 0.1) / 3; right as before */
    line_round(agent, (double[]){x[3], x[0]}, 2, 1, 0.9, &decision);
    line_check(decision, (double[]){once, 1.1 / 3 + sqrt(q / 3) + 0.5 + 2}, 2);
    /* two more in the left: C = 5, which splits; in one call, so the second is counted where the first was */
    line_round(agent, (double[]){x[0], x[1]}, 2, 2, 0.2, &decision);
    line_round(agent, (double[]){x[0], x[1], x[2]}, 3, 1, 0.3, &decision);
    double left = 1.5 / 5 + sqrt(q / 5) + 0.5 + 0.25 + 1, right = 0.9 + sqrt(q / 2) + 0.5 + 2;
    line_check(decision, (double[]){left, left, right},
               3); /* its halves: nothing seen, bounded by the parent */
    line_round(agent, (double[]){x[0]}, 1, 1, 0.3, &decision); /* one in the first quarter only */
    line_round(agent, (double[]){x[0], x[1]}, 2, 1, 0.3, &decision);
    double quarter = 0.3 + fmin(sqrt(q), sqrt(q / 5) + 0.5) + 0.25 + 1;
    line_check(decision, (double[]){quarter, left}, 2);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* ---- ties ---- */

/* Arms of one cell have one score, so that the order in which they are listed must not matter: with nothing
 * learnt, each of 5 arms is in the slate of 2 in 2/5 of 4000 rounds. A correct program fails with a
 * probability below 1e-6: five normal deviations, five times. */
static void ties_are_broken_by_a_draw(void **state) {
    (void)state;
    enum { ROUNDS = 4000 };
    static const char *const texts[] = {"preset=paper algorithm=acc-ucb dim=1",
                                        "preset=paper algorithm=cc-mab dim=1 rounds=1 gamma=0"};
    const double x[] = {-0.5, -0.5, -0.5, -0.5, -0.5}, deviation = sqrt(ROUNDS * 0.4 * 0.6);
    for (size_t a = 0; a < 2; a++) {
        size_t chosen[5] = {0};
        sa_agent *agent = rig_create(texts[a]);
        sa_request *request = sa_request_new();
        sa_decision *decision = NULL;
        line_round(agent, x, 5, 1, 0.5, &decision); /* cc-mab: the cube is not under-explored any more */
        sa_request_contexts(request, x, 5);
        sa_request_slate(request, 2);
        for (int t = 0; t < ROUNDS; t++) {
            assert_ok(sa_agent_select(agent, request, &decision));
            for (size_t k = 0; k < 2; k++) chosen[sa_decision_arms(decision)[k]]++;
        }
        for (size_t i = 0; i < 5; i++)
            if (fabs((double)chosen[i] - 0.4 * ROUNDS) > 5 * deviation)
                fail_msg("%s: arm %zu is chosen %zu times", texts[a], i, chosen[i]);
        sa_decision_destroy(decision);
        sa_request_destroy(request);
        sa_agent_destroy(agent);
    }
}

/* ---- boxes ---- */

enum { MOST_BOXES = 60000 };

typedef struct box {
    size_t level, parent;
    bool leaf;
    double low[GAME_MOST_DIM], high[GAME_MOST_DIM], seen, sum;
} box;

typedef struct reference {
    size_t dim, axes, boxes;
    double rho, v1, v2, radius, factor; /* c = sqrt(radius / C); factor: on the last term */
    box box[MOST_BOXES];
} reference;

/* v1 and v2 by looking: boxes of many levels, one feature halved after the other. */
static void measure(reference *self) {
    double side[GAME_MOST_DIM], shrink = 1;
    size_t next = 0;
    for (size_t j = 0; j < self->dim; j++) side[j] = 1;
    self->v1 = 0;
    self->v2 = INFINITY;
    for (size_t level = 0; level < 24; level++, shrink *= self->rho) {
        double squares = 0;
        for (size_t j = 0; j < self->dim; j++) {
            squares += side[j] * side[j];
            self->v2 = fmin(self->v2, side[j] / 2 / shrink);
        }
        self->v1 = fmax(self->v1, sqrt(squares) / shrink);
        for (size_t a = 0; a < self->axes; a++) side[next++ % self->dim] /= 2;
    }
}

static void start(reference *self, size_t dim, size_t axes, double radius, double factor) {
    *self = (reference){.dim = dim, .axes = axes, .boxes = 1, .radius = radius, .factor = factor};
    self->rho = pow(0.5, (double)axes / (double)dim);
    measure(self);
    self->box[0] = (box){.leaf = true};
    for (size_t j = 0; j < dim; j++) self->box[0].high[j] = 1;
}

static size_t leaf_of(const reference *self, const double *x) {
    for (size_t b = 0; b < self->boxes; b++) {
        bool inside = self->box[b].leaf;
        for (size_t j = 0; j < self->dim && inside; j++) {
            double u = fmin(fmax((x[j] + 1) / 2, 0), 1);
            inside = u >= self->box[b].low[j] && (u < self->box[b].high[j] || self->box[b].high[j] == 1);
        }
        if (inside) return b;
    }
    fail_msg("a context is in no leaf");
    return 0;
}

static double confidence(const reference *self, size_t b) {
    return self->box[b].seen > 0 ? sqrt(self->radius / self->box[b].seen) : INFINITY;
}

static double power(double x, size_t n) { return n ? x * power(x, n - 1) : 1; }
static double mean_of(const box *b) { return b->seen > 0 ? b->sum / b->seen : 0; }

static double index_of(const reference *self, size_t b) {
    const box *at = &self->box[b];
    double bound = mean_of(at) + (at->seen > 0 || at->level ? confidence(self, b) : sqrt(self->radius));
    if (at->level) {
        double parents = mean_of(&self->box[at->parent]) + confidence(self, at->parent);
        bound = fmin(bound, parents + self->v1 * power(self->rho, at->level - 1));
    }
    double diameter = self->v1 * power(self->rho, at->level);
    return bound + diameter + self->factor * power(2, self->axes) * self->v1 / self->v2 * diameter;
}

static void expect(void *user, const game_round *round, uint64_t t, double *mean, double *score,
                   size_t *slate) {
    const reference *self = user;
    int rank[GAME_ARMS] = {0};
    double draw[GAME_ARMS];
    tie_draws(1, 0, t, draw);
    for (size_t i = 0; i < GAME_ARMS; i++) {
        size_t b = leaf_of(self, round->contexts + i * self->dim);
        score[i] = index_of(self, b);
        mean[i] = mean_of(&self->box[self->box[b].seen > 0 ? b : self->box[b].parent]);
    }
    best_slate(round, rank, score, draw, slate);
}

/* A box becomes 2^axes: those features are halved that are next in turn. */
static void split(reference *self, size_t b) {
    size_t first = self->box[b].level * self->axes;
    self->box[b].leaf = false;
    for (size_t child = 0; child < (size_t)1 << self->axes; child++) {
        assert_true(self->boxes < MOST_BOXES);
        box *made = &self->box[self->boxes++];
        *made = self->box[b];
        made->level++;
        made->parent = b;
        made->leaf = true;
        made->seen = made->sum = 0;
        for (size_t a = 0; a < self->axes; a++) {
            size_t j = (first + a) % self->dim;
            double middle = (made->low[j] + made->high[j]) / 2;
            *(child >> a & 1 ? &made->low[j] : &made->high[j]) = middle;
        }
    }
}

static void learn(void *user, size_t count, const double *const *contexts, const double *scores) {
    reference *self = user;
    size_t touched[GAME_SLATE];
    for (size_t i = 0; i < count; i++) {
        touched[i] = leaf_of(self, contexts[i]);
        self->box[touched[i]].seen++;
        self->box[touched[i]].sum += scores[i];
    }
    for (size_t i = 0; i < count; i++)
        if (self->box[touched[i]].leaf &&
            confidence(self, touched[i]) <= self->v1 * power(self->rho, self->box[touched[i]].level))
            split(self, touched[i]);
}

static void slates_are_those_of_boxes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t dim, axes;
        double horizon, confidence, factor;
    } games[] = {
        {"preset=paper dim=1 rounds=300", 1, 1, 300, 1, 1},
        {"preset=paper dim=2 rounds=2000", 2, 2, 2000, 1, 1},
        {"preset=paper dim=3 rounds=50", 3, 3, 50, 1, 1},
        {"preset=paper dim=11 rounds=50 gamma=3", 11, 10, 50, 3,
         1}, /* at most ten features are halved at once */
        {"preset=icml23 dim=3 rounds=50 gamma=0.3", 3, 3, 50, 0.3, 1},
        {"dim=12 rounds=50 gamma=3", 12, 10, 50, 3, 0},
        {"dim=2 rounds=2000", 2, 2, 2000, 0.3, 0}, /* tuned */
        {"dim=2 rounds=1", 2, 2, 1, 0, 0}, /* log 1 = 0: no confidence, and every cell splits at once */
    };
    static reference boxes;
    for (size_t i = 0; i < sizeof games / sizeof *games; i++)
        for (int outside = 0; outside < (games[i].horizon > 1 ? 2 : 1);
             outside++) { /* else corners would split too often */
            char text[200];
            snprintf(text, sizeof text, "%s algorithm=acc-ucb", games[i].text);
            double radius = 2 * log(games[i].horizon) * games[i].confidence * games[i].confidence;
            start(&boxes, games[i].dim, games[i].axes, radius, games[i].factor);
            game_play(&(game){games[i].dim, outside ? 1.5 : 1, NULL, expect, learn, &boxes}, text);
            if (boxes.boxes < 8) fail_msg("%s: only %zu boxes", text, boxes.boxes);
        }
}

/* Cells end at 2^-30 of the cube's side, however sure of them the agent is. */
static void cells_do_not_split_for_ever(void **state) {
    (void)state;
    sa_agent *agent = rig_create("algorithm=acc-ucb dim=1 gamma=0"), *loaded = NULL;
    sa_decision *decision = NULL;
    for (int i = 0; i < 60; i++) line_round(agent, (double[]){0.3}, 1, 1, i % 2 ? 1 : 0.5, &decision);
    /* 30 splits, one observation each; the 31st cell has the other 29: 15 of 1 and 14 of 0.5 */
    line_round(agent, (double[]){0.3}, 1, 1, 0, &decision);
    assert_true(fabs(sa_decision_estimates(decision)[0] - 22.5 / 30) < 1e-12);
    assert_ok(sa_agent_save(agent, scratch("deep.npz")));
    assert_ok(sa_agent_load(scratch("deep.npz"), &loaded));
    sa_agent_destroy(loaded);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_by_hand),
        cmocka_unit_test(ties_are_broken_by_a_draw),
        cmocka_unit_test(slates_are_those_of_boxes),
        cmocka_unit_test(cells_do_not_split_for_ever),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
