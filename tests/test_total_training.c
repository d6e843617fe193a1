/* Training on sums of rows: one step of gradient descent moves along the gradient of 1/2 sum (psi sum_k
 * f(x_k) - y)^2, as finite differences of that loss have it, of a network in plain loops. And agents that are
 * told totals alone: their regret on h1 falls off. */
#include "test_model_reference.h"
#include <superarm/superarm.h>

enum { DIM = 4, SAMPLES = 240, ROWS = 760 };

typedef struct sums {
    net n;
    size_t count, end[SAMPLES];
    double *x, *v, psi[SAMPLES];
} sums;

/* Sums of 1 to 6 rows; some weigh nothing. */
static sums sums_of(net_options wanted) {
    sums s = {.n = net_of(wanted), .count = SAMPLES, .x = random_doubles(ROWS * DIM)};
    size_t row = 0;
    s.v = random_doubles(SAMPLES);
    for (size_t i = 0; i < SAMPLES; i++) {
        row += 1 + i % 6 % 5;
        s.end[i] = row;
        s.psi[i] = (double)(i % 5) / 4;
    }
    assert_true(row <= ROWS);
    return s;
}

static double loss(const sums *s, const double *theta, bool weighted, const size_t *drawn, size_t many,
                   double *nearest_kink) {
    double sum = 0;
    for (size_t i = 0; i < many; i++) {
        size_t sample = drawn ? drawn[i] : i;
        double f = 0, psi = weighted ? s->psi[sample] : 1;
        for (size_t row = sample ? s->end[sample - 1] : 0; row < s->end[sample]; row++) {
            net_pass pass = net_forward(&s->n, theta, s->x + row * DIM);
            f += pass.f;
            *nearest_kink = fmin(*nearest_kink, pass.nearest_kink);
        }
        sum += (psi * f - s->v[sample]) * (psi * f - s->v[sample]) / 2;
    }
    return sum;
}

/* batch 0: all of the samples; else the draws of the first step, from all of them. */
static void check_step(net_options wanted, bool weighted, size_t batch) {
    const double rate = 1e-7, step = 1e-6;
    sums s = sums_of(wanted);
    sa_options *options = options_of(wanted, SA_PRECISION_DOUBLE);
    options->train_steps = 1;
    options->train_batch = (int64_t)batch;
    options->rate = rate;
    sa_model *model = model_of(options);
    size_t p = net_parameters(&s.n), drawn[SAMPLES];
    double *before = doubles(p), *after = doubles(p), kink = INFINITY;
    bool diverged = true;
    sa_training training = {
        .count = SAMPLES,
        .widest = 5,
        .total = SAMPLES,
        .factor = 1,
        .all = {.inputs = s.x, .targets = s.v, .weights = weighted ? s.psi : NULL, .end = s.end},
        .stream = sa_stream_at(1, SA_PURPOSE_TRAINING, 0, 3)};
    for (size_t i = 0; i < batch; i++) drawn[i] = sa_draw_below(&training.stream, i, SAMPLES);
    read_weights(&s.n, model, "", before);
    assert_ok(train_on(model, &training, &diverged));
    assert_false(diverged);
    read_weights(&s.n, model, "", after);
    double factor = batch ? (double)SAMPLES / (double)batch : 1;
    size_t many = batch ? batch : SAMPLES;
    loss(&s, before, weighted, NULL, SAMPLES, &kink);
    for (size_t i = 0; i < p; i++) {
        double at = before[i], up, down;
        before[i] = at + step;
        up = loss(&s, before, weighted, batch ? drawn : NULL, many, &kink);
        before[i] = at - step;
        down = loss(&s, before, weighted, batch ? drawn : NULL, many, &kink);
        before[i] = at;
        double expected = factor * (up - down) / (2 * step), moved = (at - after[i]) / rate;
        assert_near(moved, expected, 1e-3 * (1 + fabs(expected)));
    }
    sa_free(before);
    sa_free(after);
    sa_free(s.x);
    sa_free(s.v);
    sa_model_destroy(model);
    sa_options_destroy(options);
}

static void steps_follow_the_loss(void **state) {
    (void)state;
    static const net_options shapes[] = {
        {.dim = DIM, .hidden = 6, .depth = 2, .root_m = true, .symmetric = true},
        {.dim = DIM, .hidden = 6, .depth = 3, .bias = true, .bypass = true}};
    for (size_t k = 0; k < 2; k++)
        for (int weighted = 0; weighted < 2; weighted++) {
            check_step(shapes[k], weighted, 0);
            check_step(shapes[k], weighted, 130); /* more rows than are taken at a time */
        }
}

/* ---- regret ---- */

/* The regret of the second half of the rounds over that of the first, and of all of them over random's, of
 * the mean of two runs. With fixed seeds: a correct program fails where its regret is another one. */
static void check_regret(const char *algorithm, const char *rounds, double most_ratio, double most) {
    static const char *const common[][2] = {{"environment", "h1"}, {"arms", "12"},  {"slate", "3"},
                                            {"dim", "8"},          {"runs", "2"},   {"quiet", "true"},
                                            {"feedback", "total"}, {"hidden", "24"}};
    double regret[2], half = 0;
    for (int which = 0; which < 2; which++) {
        sa_experiment *experiment = sa_experiment_new();
        sa_agent_result result;
        for (size_t i = 0; i < sizeof common / sizeof *common; i++)
            assert_ok(sa_experiment_set(experiment, common[i][0], common[i][1]));
        assert_ok(sa_experiment_set(experiment, "rounds", rounds));
        assert_ok(sa_experiment_set(experiment, "algorithm", which ? "random" : algorithm));
        test_experiment_share(experiment);
        assert_ok(sa_experiment_run(experiment, NULL, NULL));
        assert_ok(sa_experiment_result(experiment, 0, &result));
        regret[which] = 0;
        for (size_t run = 0; run < result.runs; run++) {
            regret[which] += result.expected_regret[(run + 1) * result.rounds - 1];
            if (!which) half += result.expected_regret[run * result.rounds + result.rounds / 2 - 1];
        }
        sa_experiment_destroy(experiment);
    }
    print_message("%s: regret %.1f, first half %.1f; random %.1f\n", algorithm, regret[0], half, regret[1]);
    assert_true(regret[0] - half < most_ratio * half);
    assert_true(regret[0] < most * regret[1]);
}

static void regret_is_sublinear(void **state) {
    (void)state;
    check_regret("comblin-ucb", "400", 0.5, 0.2);
    check_regret("cn-ucb", "400", 0.5, 0.2);
    check_regret("cn-ts", "400", 0.5, 0.2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_follow_the_loss),
        cmocka_unit_test(regret_is_sublinear),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
