/* Forgetting: what an agent with --window or --discount still knows, against plain loops over what it was
 * told. */
#include "agent/agent.h"
#include "test_linear_reference.h"
#include "test_parts.h"

enum { SLATE = 3, ARMS = 8, MOST = 60 };

static void about(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance * (1 + fabs(expected))))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* ---- linear models ---- */

/* One round of a game in which decisions are answered at once, every third in two parts. */
typedef struct told {
    double x[SLATE][RIG_DIM], v[SLATE];
} told;

static void tell(sa_agent *agent, uint64_t round, sa_decision **decision, told *out) {
    const double *contexts = rig_contexts(round);
    rig_select(agent, round, ARMS, SLATE, decision);
    for (size_t k = 0; k < SLATE; k++) {
        memcpy(out->x[k], contexts + sa_decision_arms(*decision)[k] * RIG_DIM, sizeof out->x[k]);
        out->v[k] = rig_number(round, 2000000 + k);
    }
    if (round % 3) {
        rig_answer(agent, round, SLATE);
    } else {
        assert_ok(rig_try_answer(agent, round, SLATE, (bool[]){true, false, true}));
        assert_ok(rig_try_answer(agent, round, SLATE, (bool[]){false, true, false}));
    }
}

/* The decision just made was by this ridge regression; its widths are at most `wide` times too wide. */
static void assert_by(const ridge *r, const sa_decision *decision, uint64_t round, double lambda,
                      double wide) {
    double theta[RIG_DIM];
    ridge_theta(r, theta);
    for (size_t i = 0; i < ARMS; i++) {
        const double *x = rig_contexts(round) + i * RIG_DIM;
        double width = ridge_width(r, x), most = fmin(wide * width, sqrt(dot_product(x, x) / lambda));
        about(sa_decision_all_estimates(decision)[i], dot_product(x, theta), 1e-9);
        assert_true(sa_decision_all_widths(decision)[i] >= width * (1 - 1e-9));
        assert_true(sa_decision_all_widths(decision)[i] <= most * (1 + 1e-9));
    }
}

static void linear_models_discount(void **state) {
    (void)state;
    static const double factors[] = {0.97, 0.6};
    for (int f = 0; f < 2; f++) {
        char text[200];
        snprintf(text, sizeof text,
                 "algorithm=comblin-ucb linear-form=defined lambda=0.5 widths=all discount=%g", factors[f]);
        sa_agent *agent = rig_create(text);
        sa_decision *decision = NULL;
        told all[MOST];
        for (uint64_t round = 0; round < MOST; round++) {
            tell(agent, round, &decision, &all[round]);
            ridge r = ridge_of(0.5);
            for (uint64_t i = 0; i < round; i++) {
                double root = pow(factors[f], 0.5 * (double)(round - 1 - i));
                for (size_t k = 0; k < SLATE; k++) {
                    double x[RIG_DIM];
                    for (size_t j = 0; j < RIG_DIM; j++) x[j] = root * all[i].x[k][j];
                    ridge_add(&r, x, root * all[i].v[k]);
                }
            }
            assert_by(&r, decision, round, 0.5, factors[f] < 0.8 ? 1 : 1 / sqrt(0.8));
        }
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
    }
}

/* Between W and W + W / 4 of the last decisions, and which is known. */
static void linear_models_have_windows(void **state) {
    (void)state;
    enum { W = 9 };
    sa_agent *agent = rig_create("algorithm=comblin-ucb linear-form=defined lambda=0.5 widths=all window=9");
    sa_decision *decision = NULL;
    told all[MOST];
    size_t oldest = 0, most = 0;
    for (uint64_t round = 0; round < MOST; round++) {
        tell(agent, round, &decision, &all[round]);
        ridge r = ridge_of(0.5);
        for (uint64_t i = oldest; i < round; i++)
            for (size_t k = 0; k < SLATE; k++) ridge_add(&r, all[i].x[k], all[i].v[k]);
        assert_by(&r, decision, round, 0.5, 1);
        if (round + 1 - oldest > W + W / 4) oldest = (size_t)round + 1 - W;
        most = most < round + 1 - oldest ? (size_t)round + 1 - oldest : most;
        assert_int_equal(rig_counts(agent).counted, SLATE * (round + 1 - oldest));
    }
    assert_int_equal(most, W + W / 4);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* ---- the network's training ---- */

static struct {
    const sa_model_class *real;
    size_t calls, count;
    double total, factor, targets[MOST * SLATE], weights[MOST * SLATE];
    /* of batches: */
    size_t drawn, of_age[MOST];
    double weight_sum[MOST];
} spy;

static sa_agent *seen; /* the agent spied on */

/* The decision whose observation has this target, times the root of its factor. */
static size_t age_of(double target, double weight) {
    const sa_history *history = &seen->past.history;
    for (size_t i = 0; i < history->count; i++)
        if (fabs(weight * history->scores[i] - target) < 1e-12)
            return history->answered - 1 - sa_history_decision(history, i);
    fail_msg("no observation has the target %g", target);
    return 0;
}

static sa_status train_seen(sa_model *model, const sa_training *training, sa_model_work *work,
                            bool *diverged) {
    spy.calls++;
    spy.count = training->count;
    spy.total = training->total;
    spy.factor = training->factor;
    if (!training->draw) {
        memcpy(spy.targets, training->all.targets, training->count * sizeof(double));
        if (training->all.weights)
            memcpy(spy.weights, training->all.weights, training->count * sizeof(double));
    } else if (seen->past.history.answered == 30) {
        for (uint64_t first = 0; first < 20000; first += 500) {
            sa_batch batch = training->draw(training->source, first, 500);
            for (size_t i = 0; i < 500; i++) {
                double weight = ((const double *)batch.weights)[i];
                size_t age = age_of(((const double *)batch.targets)[i], weight);
                spy.of_age[age]++;
                spy.weight_sum[age] += weight * weight;
            }
            spy.drawn += 500;
        }
    }
    return spy.real->training->train(model, training, work, diverged);
}

static sa_agent *create_seen(const char *text) {
    static sa_model_class spied;
    static sa_training_class training;
    seen = rig_create(text);
    memset(&spy, 0, sizeof spy);
    sa_model *model = seen->learner->policy->estimator.model;
    spy.real = model->kind;
    spied = *spy.real;
    training = *spy.real->training;
    training.train = train_seen;
    spied.training = &training;
    model->kind = &spied;
    return seen;
}

/* Without batches: every sample of the last log(0.001) / log F decisions, times the root of what it
 * weighs. */
static void whole_losses_are_weighed(void **state) {
    (void)state;
    sa_agent *agent =
        create_seen("precision=double train-every=1 train-batch=0 score-deviation=1 discount=0.8");
    sa_decision *decision = NULL;
    told all[MOST];
    for (uint64_t round = 0; round < 45; round++) {
        double weight = 0, mean = 0, reach = ceil(log(0.001) / log(0.8));
        tell(agent, round, &decision, &all[round]);
        if (round % 3 == 0) continue; /* trained before its last part came */
        size_t first = round + 1 > (uint64_t)reach ? (size_t)(round + 1) - (size_t)reach : 0, n = 0;
        for (uint64_t i = 0; i <= round; i++)
            for (size_t k = 0; k < SLATE; k++) {
                double w = pow(0.8, (double)(round - i));
                weight += w;
                mean += w * all[i].v[k];
            }
        mean /= weight;
        double square = 0, scale = agent->learner->policy->estimator.scale;
        for (uint64_t i = 0; i <= round; i++)
            for (size_t k = 0; k < SLATE; k++)
                square += pow(0.8, (double)(round - i)) / weight * pow(all[i].v[k] - mean, 2);
        about(agent->learner->policy->estimator.centre, mean, 1e-12);
        about(scale, sqrt(square), 1e-12);
        assert_true(spy.factor == 1);
        double total = 0;
        for (uint64_t i = first; i <= round; i++)
            for (size_t k = 0; k < SLATE; k++, n++) {
                static const size_t in_parts[SLATE] = {0, 2, 1}; /* the order in which they came */
                double root = pow(0.8, 0.5 * (double)(round - i)), v = all[i].v[i % 3 ? k : in_parts[k]];
                about(spy.weights[n], root, 1e-12);
                about(spy.targets[n], root * (v - mean) / scale, 1e-12);
                total += root * root;
            }
        assert_int_equal(spy.count, n);
        about(spy.total, total, 1e-12);
    }
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* With batches: decisions come up by what they weigh. 20000 draws: a share p has the deviation sqrt(p (1 - p)
 * / 20000); five of them, for 30 shares, fail once in 60,000 seeds. Decisions have 3 observations or 2, and
 * those of the smaller ones come up as often as they weigh, too: share times factor is what F^age n_age is of
 * the total. */
static void batches_are_drawn_by_weight(void **state) {
    (void)state;
    sa_agent *agent = create_seen(
        "precision=double train-every=1 train-batch=8 score-deviation=0 discount=0.9 companion=false");
    sa_decision *decision = NULL;
    double mass[30], decisions = 0, total = 0;
    for (uint64_t round = 0; round < 30; round++) {
        rig_select(agent, round, ARMS, SLATE, &decision);
        assert_ok(rig_try_answer(agent, round, SLATE, (bool[]){true, round % 4 > 0, true}));
    }
    for (int age = 0; age < 30; age++) {
        mass[age] = pow(0.9, age) * (2 + ((29 - age) % 4 > 0));
        total += mass[age];
        decisions += pow(0.9, age);
    }
    about(spy.total, total, 1e-12);
    assert_int_equal(spy.drawn, 20000);
    for (int age = 0; age < 30; age++) {
        double p = pow(0.9, age) / decisions, share = (double)spy.of_age[age] / 20000;
        assert_true(fabs(share - p) < 5 * sqrt(p * (1 - p) / 20000));
        if (spy.of_age[age])
            about(p * spy.weight_sum[age] / (double)spy.of_age[age], mass[age] / total, 1e-9);
    }
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* The loss's window is exact, and the shorter one where there are two. */
static void windows_limit_the_loss(void **state) {
    (void)state;
    static const char *const texts[] = {"window=4", "window=9 train-window=4", "window=4 train-window=9"};
    for (int t = 0; t < 3; t++) {
        char text[200];
        snprintf(text, sizeof text, "precision=double train-every=1 train-batch=0 score-deviation=0 %s",
                 texts[t]);
        sa_agent *agent = create_seen(text);
        sa_decision *decision = NULL;
        for (uint64_t round = 0; round < 20; round++) {
            rig_select(agent, round, ARMS, SLATE, &decision);
            rig_answer(agent, round, SLATE);
            size_t decisions = round + 1 < 4 ? (size_t)round + 1 : 4;
            assert_int_equal(spy.count, SLATE * decisions);
            for (size_t i = 0; i < SLATE * decisions; i++)
                assert_true(spy.targets[i] ==
                            rig_number(round + 1 - decisions + i / SLATE, 2000000 + i % SLATE));
        }
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
    }
}

/* ---- Z of networks ---- */

/* A window as long as the game is none; a shorter one makes arms of long ago new again. */
static void windows_forget_widths(void **state) {
    (void)state;
    static const char *const engines[] = {"hidden=44", "", "confidence=diagonal", "confidence=last-layer"};
    for (int e = 0; e < 4; e++) {
        char text[200];
        snprintf(text, sizeof text, "widths=all train=manual %s", engines[e]);
        sa_agent *all = rig_create(text);
        snprintf(text, sizeof text, "widths=all train=manual window=1000 %s", engines[e]);
        sa_agent *wide = rig_create(text);
        snprintf(text, sizeof text, "widths=all train=manual window=8 %s", engines[e]);
        sa_agent *narrow = rig_create(text);
        rig_go_on_alike(all, wide, 0, 40);
        sa_decision *one = NULL, *other = NULL;
        for (uint64_t round = 0; round < 40; round++) {
            uint64_t id = rig_select(narrow, 500 + round, 10, 3, &one);
            rig_answer(narrow, id, 3);
            assert_in_range(rig_counts(narrow).counted, 1, 3 * 10);
        }
        rig_select(all, 7, 10, 3, &one);
        rig_select(narrow, 7, 10, 3, &other);
        for (size_t i = 0; i < 10; i++)
            assert_true(sa_decision_all_widths(other)[i] >= sa_decision_all_widths(one)[i] * 0.999);
        sa_decision_destroy(one);
        sa_decision_destroy(other);
        sa_agent_destroy(all);
        sa_agent_destroy(wide);
        sa_agent_destroy(narrow);
    }
}

/* Z is counted again as the window moves, and widths that had to be found in double precision still are. */
static void windows_keep_the_precision(void **state) {
    (void)state;
    static const char *const engines[] = {"exact", "sketch"};
    for (int e = 0; e < 2; e++) {
        char text[200];
        snprintf(text, sizeof text, "confidence=%s hidden=44 regularization=1e-4 train=manual window=4",
                 engines[e]);
        sa_agent *agent = rig_create(text);
        sa_decision *decision = NULL;
        bool wide = false;
        for (uint64_t round = 0; round < 30; round++) {
            rig_select(agent, 1, 6, 3, &decision);
            wide |= rig_counts(agent).widths_in_double;
            rig_answer(agent, round, 3);
            assert_true(rig_counts(agent).widths_in_double == wide);
        }
        assert_true(wide);
        sa_agent_destroy(agent);
        sa_decision_destroy(decision);
    }
}

/* ---- running moments ---- */

static void moments_are_those_of_a_pass(void **state) {
    (void)state;
    enum { DECISIONS = 40, EACH = 3 };
    for (int fading = 0; fading < 2; fading++) {
        double factor = fading ? 0.9 : 1, weight = 0, products = 0, squares = 0, count = 0;
        sa_options *options = rig_options("feedback=cascade");
        sa_history history;
        sa_moments moments = {0};
        double context[RIG_DIM] = {0};
        const sa_inputs inputs = sa_inputs_from(MODEL_OF(options));
        sa_history_init(&history, &inputs, true);
        for (uint64_t i = 0; i < DECISIONS * EACH; i++) {
            assert_ok(sa_history_reserve(&history, 1));
            if (i % EACH == 0) sa_history_begin_decision(&history);
            sa_history_add(&history, context, 1000 + rig_number(i, 1), i % EACH,
                           i % EACH == 2 && i % 2 ? 0 : 0.5 + (i % 2) / 2.0);
            if (i % 7 == 0) sa_moments_follow(&moments, &history, factor);
        }
        sa_moments_follow(&moments, &history, factor);
        for (int pass = 0; pass < 2; pass++)
            for (uint64_t i = 0; i < DECISIONS * EACH; i++) {
                double w = pow(factor, (double)(DECISIONS - 1 - i / EACH)), psi = history.psi[i];
                double rest = history.scores[i] - psi * products / weight;
                if (pass && psi > 0) squares += w * rest * rest;
                if (pass) continue;
                products += w * psi * history.scores[i];
                weight += w * psi * psi;
                count += w * (psi > 0);
            }
        about(moments.mean, products / weight, 1e-12);
        about(moments.squares / moments.count, squares / count, 1e-9);
        sa_history_clear(&history);
        sa_options_destroy(options);
    }
}

/* ---- refused ---- */

static void what_cannot_forget_is_refused(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"window=5 discount=0.9", "--window 5 and --discount 0.9 are two ways to forget: leave one out"},
        {"algorithm=cn-ucb-d window=5",
         "--window does not go with --algorithm cn-ucb-d, whose epochs begin with all feedback"},
        {"algorithm=cn-ts-d discount=0.9",
         "--discount does not go with --algorithm cn-ts-d, whose epochs begin with all feedback"},
        {"algorithm=cc-mab discount=0.9",
         "--discount does not go with --algorithm cc-mab, whose cells cannot forget"},
        {"algorithm=acc-ucb window=9",
         "--window does not go with --algorithm acc-ucb, whose cells cannot forget"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sa_agent *agent = NULL;
        assert_int_equal(rig_try_create(wrong[i][0], &agent), SA_INVALID);
        assert_string_equal(sa_last_error(), wrong[i][1]);
        assert_null(agent);
    }
    sa_options *options = sa_options_new(NULL);
    static const char *const bad[][2] = {{"discount", "0"},   {"discount", "1.1"}, {"discount", "-1"},
                                         {"discount", "nan"}, {"window", "-1"},    {"window", "2.5"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(sa_options_set_any(options, bad[i][0], bad[i][1]), SA_INVALID);
    sa_options_destroy(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_models_discount),        cmocka_unit_test(linear_models_have_windows),
        cmocka_unit_test(whole_losses_are_weighed),      cmocka_unit_test(batches_are_drawn_by_weight),
        cmocka_unit_test(windows_limit_the_loss),        cmocka_unit_test(windows_forget_widths),
        cmocka_unit_test(windows_keep_the_precision),    cmocka_unit_test(moments_are_those_of_a_pass),
        cmocka_unit_test(what_cannot_forget_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
