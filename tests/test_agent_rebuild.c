/* Z rebuilt after trainings, and neural-linear, against plain loops: after every call, the widths must be
 * those of a dense Z of the whole history's gradients at the present weights, which are read from the agent;
 * and neural-linear's scores those of a ridge regression on the present features, with the round's normal
 * draws. */
#include "agent/agent.h"
#include "rng/stream.h"
#include "test_agent_rig.h"
#include "test_confidence_reference.h"

enum { ARMS = 12, SLATE = 3, ROUNDS = 26, MOST = ROUNDS * SLATE };

typedef struct game {
    sa_agent *agent;
    sa_decision *decision;
    net n;
    double *theta, *g;
    size_t from, q; /* the gradient's elements that Z is about: [from, from + q) */
    double lambda, nu;
    bool diagonal, count_pending;
    /* arms chosen, in order; those answered in the order of their feedback */
    double chosen[MOST][RIG_DIM], answered[MOST][RIG_DIM], score[MOST];
    bool is_answered[MOST];
    size_t chosen_count, answered_count;
} game;

static game begin(const char *text, net_options wanted, bool output_bias, bool last_layer) {
    game play = {.agent = rig_create(text), .n = net_of(wanted)};
    play.n.output_bias = output_bias;
    size_t p = net_parameters(&play.n);
    play.theta = doubles(p);
    play.g = doubles(p);
    play.from = last_layer ? net_at(&play.n, play.n.depth - 1, 0, 0) : 0;
    play.q = p - play.from;
    const sa_options *options = sa_agent_options(play.agent);
    play.lambda = options->regularization;
    play.nu = options->nu;
    play.diagonal = options->confidence == SA_CONFIDENCE_DIAGONAL;
    play.count_pending = options->count_pending;
    return play;
}

static void end(game *play) {
    sa_agent_destroy(play->agent);
    sa_decision_destroy(play->decision);
    sa_free(play->theta);
    sa_free(play->g);
}

/* The part of the gradient, over sqrt(m), that Z is about. */
static const double *gradient(game *play, const double *x) {
    net_pass pass = net_forward(&play->n, play->theta, x);
    memset(play->g, 0, net_parameters(&play->n) * sizeof *play->g);
    net_add_gradient(&play->n, play->theta, &pass, 1 / sqrt((double)play->n.hidden), play->g);
    return play->g + play->from;
}

static void add(game *play, dense *d, const double *x) {
    const double *g = gradient(play, x);
    for (size_t i = 0; i < d->p; i++)
        for (size_t j = 0; j <= i; j++)
            if (i == j || !play->diagonal) d->z[i * d->p + j] += g[i] * g[j];
    d->factored = false;
}

static void forward(const dense *d, double *y) {
    for (size_t i = 0; i < d->p; i++) {
        for (size_t j = 0; j < i; j++) y[i] -= d->factor[i * d->p + j] * y[j];
        y[i] /= d->factor[i * d->p + i];
    }
}

static void backward(const dense *d, double *y) {
    for (size_t i = d->p; i-- > 0;) {
        y[i] /= d->factor[i * d->p + i];
        for (size_t j = 0; j < i; j++) y[j] -= d->factor[i * d->p + j] * y[i];
    }
}

static double inner(const double *a, const double *b, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}

/* Selects, and compares all widths with those of the history's Z (and of what is pending, with
 * --count-pending). */
static void check_widths(game *play, uint64_t id, double tolerance) {
    read_weights(&play->n, play->agent->learner->policy->estimator.model, "", play->theta);
    dense d = dense_of(play->q, play->lambda);
    for (size_t i = 0; i < play->answered_count; i++) add(play, &d, play->answered[i]);
    for (size_t i = 0; play->count_pending && i < play->chosen_count; i++)
        if (!play->is_answered[i]) add(play, &d, play->chosen[i]);
    double *y = doubles(play->q), log_det = dense_log_det(&d);
    assert_near(rig_counts(play->agent).log_det, log_det, tolerance * (1 + log_det));
    rig_select(play->agent, id, ARMS, SLATE, &play->decision);
    for (size_t i = 0; i < ARMS; i++) {
        memcpy(y, gradient(play, rig_contexts(id) + i * RIG_DIM), play->q * sizeof *y);
        forward(&d, y);
        double width = sqrt(inner(y, y, play->q));
        assert_near(sa_decision_all_widths(play->decision)[i], width, tolerance * (width + 1e-6));
    }
    sa_free(y);
    dense_clear(&d);
}

/* After check_widths: estimates and sampled scores are those of the regression. */
static void check_regression(game *play, uint64_t id, double tolerance) {
    dense d = dense_of(play->q, play->lambda);
    const sa_estimator *estimator = &play->agent->learner->policy->estimator;
    double centre = estimator->centre, scale = estimator->scale;
    double *beta = doubles(play->q), *draw = doubles(play->q);
    const sa_options *options = sa_agent_options(play->agent);
    sa_stream stream =
        sa_stream_at((uint64_t)options->seed, SA_PURPOSE_EXPLORATION, (uint64_t)options->first_run, id);
    for (size_t i = 0; i < play->answered_count; i++) {
        add(play, &d, play->answered[i]);
        const double *phi = gradient(play, play->answered[i]);
        for (size_t j = 0; j < play->q; j++) beta[j] += phi[j] * (play->score[i] - centre) / scale;
    }
    dense_factor(&d);
    forward(&d, beta);
    backward(&d, beta);
    for (size_t j = 0; j < play->q; j++) draw[j] = sa_draw_normal(&stream, j);
    backward(&d, draw);
    for (size_t i = 0; i < ARMS; i++) {
        const double *phi = gradient(play, rig_contexts(id) + i * RIG_DIM);
        double mean = inner(phi, beta, play->q), sampled = mean + play->nu * inner(phi, draw, play->q);
        assert_near(sa_decision_all_estimates(play->decision)[i], centre + scale * mean, tolerance * scale);
        assert_near(sa_decision_all_scores(play->decision)[i], centre + scale * sampled, tolerance * scale);
    }
    sa_free(beta);
    sa_free(draw);
    dense_clear(&d);
}

static void note_choice(game *play, uint64_t id) {
    for (size_t k = 0; k < SLATE; k++)
        memcpy(play->chosen[play->chosen_count++],
               rig_contexts(id) + sa_decision_arms(play->decision)[k] * RIG_DIM, sizeof *play->chosen);
}

/* Answers the arms [first, last) of a decision. */
static void answer(game *play, uint64_t id, size_t first, size_t last) {
    bool observed[SLATE] = {false};
    for (size_t k = first; k < last; k++) {
        observed[k] = true;
        play->is_answered[id * SLATE + k] = true;
        memcpy(play->answered[play->answered_count], play->chosen[id * SLATE + k], sizeof *play->answered);
        play->score[play->answered_count++] = rig_number(id, 2000000 + k);
    }
    assert_ok(rig_try_answer(play->agent, id, SLATE, observed));
}

/* Every fourth decision is answered late, one of its arms even later, and one never. */
static void play_through(game *play, bool regression, double tolerance) {
    for (uint64_t id = 0; id < ROUNDS; id++) {
        check_widths(play, id, tolerance);
        if (regression) check_regression(play, id, 10 * tolerance);
        note_choice(play, id);
        if (id % 4 != 1) answer(play, id, 0, SLATE);
        if (id % 4 == 3) answer(play, id - 2, 1, SLATE);
        if (id % 4 == 0 && id >= 8) answer(play, id - 7, 0, 1);
    }
    assert_true(rig_counts(play->agent).trainings >= 5 && rig_counts(play->agent).diverged_trainings == 0);
    end(play);
}

static const net_options plain = {.dim = RIG_DIM, .hidden = 6, .depth = 2};
static const net_options tuned = {.dim = RIG_DIM, .hidden = 6, .depth = 2};
static const net_options deep = {
    .dim = RIG_DIM, .hidden = 6, .depth = 3, .root_m = true, .bias = true, .symmetric = true};
static const char *const plain_text = "preset=icml23 hidden=6 train-steps=20";
static const char *const tuned_text = "preset=tuned bonus=width hidden=6 train-steps=20 normalize=none";
static const char *const deep_text = "preset=paper depth=3 hidden=6 bias=all train-steps=20 rate=theory";

static game begin_kind(size_t shape, const char *more, bool last_layer) {
    char text[500];
    net_options wanted = shape == 0 ? plain : shape == 1 ? tuned : deep;
    wanted.bypass = shape == 1 && strstr(more, "neural-linear");
    snprintf(text, sizeof text, "%s train-every=3 train-warmup=0 widths=all %s",
             shape == 0   ? plain_text
             : shape == 1 ? tuned_text
                          : deep_text,
             more);
    return begin(text, wanted, shape == 1, last_layer);
}

static void a_rebuilt_z_is_that_of_the_present_weights(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool last_layer;
    } kinds[] = {
        {"confidence=exact", false},     {"confidence=diagonal", false},
        {"confidence=sketch", false},    {"confidence=auto", false},
        {"confidence=last-layer", true}, {"confidence=last-layer algorithm=cn-ts", true},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t shape = 0; shape < 3; shape++) {
            char text[200];
            snprintf(text, sizeof text,
                     "rebuild=true precision=double regularization=0.5 %s count-pending=%s", kinds[k].text,
                     (k + shape) % 2 ? "true" : "false");
            game play = begin_kind(shape, text, kinds[k].last_layer);
            play_through(&play, false, 1e-9);
        }
}

static void neural_linear_is_a_regression_on_the_last_layer(void **state) {
    (void)state;
    for (size_t shape = 0; shape < 3; shape++)
        for (int pending = 0; pending < 2; pending++) {
            char text[200];
            snprintf(text, sizeof text,
                     "algorithm=neural-linear precision=double count-pending=%s train-window=%d nu=0.7",
                     pending ? "true" : "false", pending ? 2 : 0);
            game play = begin_kind(shape, text, true);
            play_through(&play, true, 1e-8);
        }
}

/* Single precision of the network: what is left of the digits. */
static void in_single_precision_too(void **state) {
    (void)state;
    game play = begin_kind(0, "algorithm=neural-linear regularization=0.3", true);
    play_through(&play, true, 1e-3);
    play = begin_kind(2, "algorithm=neural-linear regularization=0.3", true);
    play_through(&play, true, 1e-3);
    play = begin_kind(1, "confidence=diagonal rebuild=true regularization=0.3", false);
    play_through(&play, false, 1e-3);
}

/* More history than is taken at a time (512), and than makes Z by matrix products instead of updates (64). */
static void long_histories_are_rebuilt_whole(void **state) {
    (void)state;
    static const char *const kinds[] = {"confidence=exact rebuild=true", "confidence=last-layer rebuild=true",
                                        "confidence=diagonal rebuild=true", "algorithm=neural-linear"};
    enum { DECISIONS = 120, LARGE = 10 };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        bool last_layer = strstr(kinds[k], "last-layer") || strstr(kinds[k], "neural-linear");
        char text[200];
        snprintf(text, sizeof text, "%s precision=double train=manual", kinds[k]);
        game play = begin_kind(1, text, last_layer);
        double(*seen)[RIG_DIM] = NULL;
        size_t count = 0;
        assert_ok(sa_alloc_matrix(DECISIONS * LARGE, RIG_DIM, sizeof(double), &seen));
        for (uint64_t id = 0; id < DECISIONS; id++) {
            rig_select(play.agent, id, 30, LARGE, &play.decision);
            for (size_t i = 0; i < LARGE; i++)
                memcpy(seen[count++], rig_contexts(id) + sa_decision_arms(play.decision)[i] * RIG_DIM,
                       sizeof *seen);
            rig_answer(play.agent, id, LARGE);
        }
        assert_ok(sa_agent_train(play.agent));
        assert_int_equal(rig_counts(play.agent).counted, DECISIONS * LARGE);
        read_weights(&play.n, play.agent->learner->policy->estimator.model, "", play.theta);
        dense d = dense_of(play.q, play.lambda);
        for (size_t i = 0; i < count; i++) add(&play, &d, seen[i]);
        double log_det = dense_log_det(&d);
        assert_near(rig_counts(play.agent).log_det, log_det, 1e-9 * log_det);
        dense_clear(&d);
        sa_free(seen);
        end(&play);
    }
}

/* What was made ready for rebuilding is gone after it: a large slate is counted as in an agent that was saved
 * and loaded. */
static void large_slates_after_a_rebuild(void **state) {
    (void)state;
    sa_agent *agent = rig_create("algorithm=neural-linear count-pending=true train-every=1"), *loaded = NULL;
    sa_decision *decision = NULL;
    for (uint64_t id = 0; id < 4; id++) {
        rig_select(agent, id, 70, 64, &decision);
        rig_answer(agent, id, 64);
    }
    assert_ok(sa_agent_save(agent, scratch("a.npz")));
    assert_ok(sa_agent_load(scratch("a.npz"), &loaded));
    rig_select(agent, 4, 70, 64, &decision);
    rig_select(loaded, 4, 70, 64, &decision);
    rig_assert_same_counts(agent, loaded);
    rig_go_on_alike(agent, loaded, 5, 5);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
    sa_agent_destroy(loaded);
}

/* Without --rebuild, Z keeps the gradients of their time: the two differ once the network has moved. */
static void without_rebuild_z_keeps_the_old_gradients(void **state) {
    (void)state;
    sa_agent *kept = rig_create("preset=icml23 hidden=6 confidence=last-layer");
    sa_agent *rebuilt = rig_create("preset=icml23 hidden=6 confidence=last-layer rebuild=true");
    sa_decision *decision = NULL;
    for (uint64_t id = 0; id < 8; id++) {
        rig_select(kept, id, 8, 8, &decision);
        rig_select(rebuilt, id, 8, 8, &decision); /* all arms: the same history */
        rig_answer(kept, id, 8);
        rig_answer(rebuilt, id, 8);
    }
    assert_true(rig_counts(kept).counted == rig_counts(rebuilt).counted);
    assert_true(fabs(rig_counts(kept).log_det - rig_counts(rebuilt).log_det) > 1e-4);
    sa_decision_destroy(decision);
    sa_agent_destroy(kept);
    sa_agent_destroy(rebuilt);
}

static void neural_linear_has_its_own_engine(void **state) {
    (void)state;
    sa_agent *agent = NULL;
    assert_fails(rig_try_create("algorithm=neural-linear confidence=exact", &agent), SA_INVALID,
                 "--algorithm neural-linear is defined by --confidence last-layer: leave --confidence out");
    assert_null(agent);
    agent = rig_create("algorithm=neural-linear confidence=last-layer");
    assert_true(sa_agent_options(agent)->regularization == 0.001 && sa_agent_options(agent)->nu == 0.005);
    sa_agent_destroy(agent);
    agent = rig_create("preset=icml23 algorithm=neural-linear hidden=6 nu=0.5");
    assert_int_equal(sa_agent_options(agent)->confidence, SA_CONFIDENCE_LAST_LAYER);
    assert_true(sa_agent_options(agent)->regularization == 1 && sa_agent_options(agent)->nu == 0.5);
    assert_true(agent->learner->policy->exploration.kind->from == SA_SCORES_FROM_PARAMETERS);
    sa_agent_destroy(agent);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rebuilt_z_is_that_of_the_present_weights),
        cmocka_unit_test(neural_linear_is_a_regression_on_the_last_layer),
        cmocka_unit_test(in_single_precision_too),
        cmocka_unit_test(long_histories_are_rebuilt_whole),
        cmocka_unit_test(large_slates_after_a_rebuild),
        cmocka_unit_test(without_rebuild_z_keeps_the_old_gradients),
        cmocka_unit_test(neural_linear_has_its_own_engine),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
