/* What an agent hands to its model's training, and when: the schedule, targets centred and scaled, and how
 * well new feedback was predicted. A spy stands before the model's own training. */
#include "agent/agent.h"
#include "test_agent_rig.h"

enum { SLATE = 3, MOST = 1000 };

/* ---- the spy ---- */

static struct {
    const sa_model_class *real;
    size_t calls, count;
    double targets[MOST], inputs[MOST * RIG_DIM], total, factor;
    const sa_history *history; /* where batches are to come from; NULL: nobody looks */
    size_t batches;
} spy;

/* A batch is what the history has, by the draws of the training's stream. */
static void look_at_batches(const sa_training *training) {
    for (uint64_t first = 0; first < 12; first += 4) {
        sa_batch batch = training->draw(training->source, first, 4);
        for (size_t i = 0; i < 4; i++) {
            size_t row = (size_t)sa_draw_below(&training->stream, first + i, training->count);
            assert_true(((const double *)batch.targets)[i] == spy.history->scores[row]);
            assert_memory_equal((const double *)batch.inputs + i * RIG_DIM,
                                (const double *)spy.history->contexts + row * RIG_DIM,
                                RIG_DIM * sizeof(double));
        }
        assert_null(batch.weights);
    }
    spy.batches++;
}

static sa_status train_seen(sa_model *model, const sa_training *training, sa_model_work *work,
                            bool *diverged) {
    assert_true(training->count <= MOST && model->precision == SA_PRECISION_DOUBLE);
    spy.calls++;
    spy.count = training->count;
    spy.total = training->total;
    spy.factor = training->factor;
    if (training->draw && spy.history) look_at_batches(training);
    if (training->draw)
        return spy.real->training->train(model, training, work,
                                         diverged); /* batches are put together one by one */
    memcpy(spy.targets, training->all.targets, training->count * sizeof(double));
    memcpy(spy.inputs, training->all.inputs, training->count * RIG_DIM * sizeof(double));
    return spy.real->training->train(model, training, work, diverged);
}

static sa_agent *create_seen(const char *text) {
    static sa_model_class seen;
    static sa_training_class training;
    sa_agent *agent = rig_create(text);
    memset(&spy, 0, sizeof spy);
    sa_model *model = agent->learner->policy->estimator.model;
    spy.real = model->kind;
    seen = *spy.real;
    training = *spy.real->training;
    training.train = train_seen;
    seen.training = &training;
    model->kind = &seen;
    return agent;
}

static void near(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance * (1 + fabs(expected))))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* ---- when ---- */

static void trainings_follow_warmup_and_period(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t warmup, period;
    } cases[] = {{"train-warmup=7 train-every=5", 7, 5},
                 {"train-warmup=0 train-every=5", 0, 5},
                 {"train-warmup=5 train-every=5", 5, 5},
                 {"train-warmup=1 train-every=1000000", 1, 1000000},
                 {"train-warmup=1000000 train-every=9", 1000000, 9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text, "precision=double train-steps=1 %s", cases[i].text);
        sa_agent *agent = create_seen(text);
        sa_decision *decision = NULL;
        size_t expected = 0;
        for (uint64_t before = 0; before < 26; before++) { /* decisions answered before this one */
            rig_select(agent, before, 8, SLATE, &decision);
            assert_int_equal(spy.calls, expected);
            assert_ok(rig_try_answer(agent, before, SLATE, (bool[]){true, true, false}));
            expected += before < cases[i].warmup || before % cases[i].period == 0;
            assert_int_equal(spy.calls, expected);
            assert_ok(rig_try_answer(agent, before, SLATE,
                                     (bool[]){false, false, true})); /* the rest of it: no training */
            assert_int_equal(spy.calls, expected);
        }
        assert_true(rig_counts(agent).trainings == expected);
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
    }
}

/* ---- on what ---- */

/* targets = (v - mean) / (deviation / score-deviation) over what is trained on; the estimate undoes it. */
static void targets_are_centred_and_scaled(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double to; /* 0: neither centred nor scaled */
    } cases[] = {{"score-deviation=0.04", 0.04},
                 {"score-deviation=3", 3},
                 {"score-deviation=0", 0},
                 {"score-deviation=0.5 train-window=4", 0.5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text, "precision=double widths=all train-every=1 gamma=0.3 bonus=width %s",
                 cases[i].text);
        sa_agent *agent = create_seen(text);
        sa_decision *decision = NULL;
        size_t window = strstr(text, "window") ? 4 : MOST;
        for (uint64_t id = 0; id < 15; id++) {
            rig_select(agent, id, 8, SLATE, &decision);
            for (size_t k = 0; k < 8; k++) { /* optimistic score = mean + gamma scale width */
                double more = sa_decision_all_scores(decision)[k] - sa_decision_all_estimates(decision)[k];
                near(more,
                     0.3 * agent->learner->policy->estimator.scale * sa_decision_all_widths(decision)[k],
                     1e-12);
            }
            rig_answer(agent, id, SLATE);
            size_t first = id + 1 > window ? (size_t)id + 1 - window : 0,
                   count = ((size_t)id + 1 - first) * SLATE;
            double scores[MOST], mean = 0, square = 0;
            for (size_t k = 0; k < count; k++) scores[k] = rig_number(first + k / SLATE, 2000000 + k % SLATE);
            for (size_t k = 0; k < count; k++) mean += scores[k] / (double)count;
            for (size_t k = 0; k < count; k++)
                square += (scores[k] - mean) * (scores[k] - mean) / (double)count;
            double to = cases[i].to, centre = to > 0 ? mean : 0, scale = to > 0 ? sqrt(square) / to : 1;
            assert_int_equal(spy.count, count);
            near(agent->learner->policy->estimator.centre, centre, 1e-13);
            near(agent->learner->policy->estimator.scale, scale, 1e-13);
            for (size_t k = 0; k < count; k++) near(spy.targets[k], (scores[k] - centre) / scale, 1e-12);
        }
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
    }
}

/* Beyond as many observations as are drawn, only those are put together. */
static void batches_come_from_the_history(void **state) {
    (void)state;
    sa_agent *agent =
        create_seen("precision=double train-every=1 train-batch=4 train-steps=3 score-deviation=0 "
                    "companion=false");
    sa_decision *decision = NULL;
    spy.history = &agent->past.history;
    for (uint64_t id = 0; id < 30; id++) {
        rig_select(agent, id, 8, SLATE, &decision);
        rig_answer(agent, id, SLATE);
        assert_int_equal(spy.count, (id + 1) * SLATE);
        assert_true(spy.total == (double)spy.count);
        assert_int_equal(spy.batches, spy.count <= 12 ? 0 : id - 3);
    }
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* ---- how well it predicts ---- */

/* Observation i, from 0, of those that no training has seen: predicted by the model of the last training, or
 * by the mean before there was one. The mean square of the first 200, and from there on a 200th of each new
 * one. */
static void add_square(double *error, size_t i, double square) {
    *error += (square - *error) / (i < 200 ? (double)i + 1 : 200);
}

/* Without normalisation and with feedback at once, a decision's estimates are predictions by the model of the
 * last training. */
static void error_is_that_of_predictions(void **state) {
    (void)state;
    static const char *const kinds[] = {"train-every=1", "train-every=4",
                                        "train-every=4 train-window=2 train-warmup=6",
                                        "train-every=3 score-deviation=0", "train-every=5 train-steps=0"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char text[200];
        snprintf(text, sizeof text, "precision=double companion=false train-steps=3 %s", kinds[i]);
        sa_agent *agent = create_seen(text);
        sa_decision *decision = NULL;
        double error = 0, plain = 0, squares[MOST];
        size_t judged = 0, waiting = 0;
        for (uint64_t id = 0; id < 100; id++) {
            size_t calls = spy.calls;
            rig_select(agent, id, 8, SLATE, &decision);
            double centre = 0;
            for (size_t k = 0; k < SLATE && !strstr(text, "deviation=0"); k++)
                centre += rig_number(id, 2000000 + k) / SLATE;
            for (size_t k = 0; k < SLATE; k++) {
                double predicted = id == 0 ? centre : sa_decision_estimates(decision)[k];
                squares[waiting++] = pow(rig_number(id, 2000000 + k) - predicted, 2);
            }
            rig_answer(agent, id, SLATE);
            if (spy.calls == calls) {
                assert_true(agent->learner->judged < agent->past.history.count);
                continue;
            }
            for (; judged < waiting; judged++) add_square(&error, judged, squares[judged]);
            assert_true(agent->learner->judged == judged && judged == agent->past.history.count);
            near(agent->learner->error, error, 1e-10);
            if (judged > 200) continue;
            plain = 0; /* up to 200 of them it is their plain mean */
            for (size_t k = 0; k < judged; k++) plain += squares[k] / (double)judged;
            near(agent->learner->error, plain, 1e-10);
        }
        assert_true(judged > 250);
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
    }
}

static void where_nothing_asks_nothing_is_judged(void **state) {
    (void)state;
    sa_agent *agent = create_seen("precision=double bonus=width companion=false train-every=1");
    sa_decision *decision = NULL;
    for (uint64_t id = 0; id < 5; id++) {
        rig_select(agent, id, 8, SLATE, &decision);
        rig_answer(agent, id, SLATE);
        assert_true(agent->learner->error == 0 && agent->learner->judged == 0);
    }
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* Saved with feedback that no training has seen yet. */
static void error_and_judged_are_kept_in_the_file(void **state) {
    (void)state;
    const char *text = "train-every=4";
    sa_agent *agent = rig_create(text), *loaded = NULL;
    sa_decision *decision = NULL;
    for (uint64_t id = 0; id < 7; id++) {
        rig_select(agent, id, 8, SLATE, &decision);
        rig_answer(agent, id, SLATE);
    }
    assert_true(agent->learner->error > 0 && agent->learner->judged == 15 && agent->past.history.count == 21);
    assert_ok(sa_agent_save(agent, scratch("a.npz")));
    assert_ok(sa_agent_load(scratch("a.npz"), &loaded));
    assert_memory_equal(&loaded->learner->error, &agent->learner->error, sizeof agent->learner->error);
    assert_true(loaded->learner->judged == 15);
    rig_go_on_alike(agent, loaded, 7, 20);
    assert_memory_equal(&loaded->learner->error, &agent->learner->error, sizeof agent->learner->error);
    assert_true(loaded->learner->judged == agent->learner->judged && agent->learner->judged > 15);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
    sa_agent_destroy(loaded);
}

/* A score whose square is no number any more: once it has left the window, trainings succeed again, and the
 * agent can be saved and loaded at any time. */
static void huge_scores_do_not_spoil_the_error(void **state) {
    (void)state;
    sa_agent *agent = rig_create("train-every=1 train-window=2"), *loaded = NULL;
    sa_decision *decision = NULL;
    for (uint64_t id = 0; id < 12; id++) {
        double scores[SLATE] = {id == 3 ? 1e200 : 0.5, id == 4 ? -1e308 : 0.25, id == 5 ? 1e308 : 0};
        rig_select(agent, id, 8, SLATE, &decision);
        uint64_t diverged = rig_counts(agent).diverged_trainings;
        assert_ok(sa_agent_update(agent, id, scores, NULL, SLATE));
        if (id < 3 || id > 7) assert_true(rig_counts(agent).diverged_trainings == diverged);
        assert_true(isfinite(agent->learner->error) && agent->learner->error >= 0);
        assert_ok(sa_agent_save(agent, scratch("huge.npz")));
        assert_ok(sa_agent_load(scratch("huge.npz"), &loaded));
        sa_agent_destroy(loaded);
    }
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* A mean of tenths is rounded; the scores still have no deviation to scale by, and exploration goes on. */
static void equal_scores_are_not_scaled(void **state) {
    (void)state;
    sa_agent *agent = rig_create("train-every=1 gamma=1");
    sa_decision *decision = NULL;
    const double scores[SLATE] = {0.1, 0.1, 0.1};
    for (uint64_t id = 0; id < 12; id++) {
        rig_select(agent, id, 8, SLATE, &decision);
        assert_true(agent->learner->policy->estimator.scale == 1);
        near(sa_decision_scores(decision)[0] - sa_decision_estimates(decision)[0],
             sa_decision_widths(decision)[0], 1e-9);
        assert_ok(sa_agent_update(agent, id, scores, NULL, SLATE));
    }
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trainings_follow_warmup_and_period),
        cmocka_unit_test(targets_are_centred_and_scaled),
        cmocka_unit_test(batches_come_from_the_history),
        cmocka_unit_test(error_is_that_of_predictions),
        cmocka_unit_test(where_nothing_asks_nothing_is_judged),
        cmocka_unit_test(error_and_judged_are_kept_in_the_file),
        cmocka_unit_test(huge_scores_do_not_spoil_the_error),
        cmocka_unit_test(equal_scores_are_not_scaled),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
