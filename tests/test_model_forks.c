/* A model that others hold is forked before it learns: the fork learns as if there had been none, and those
 * who hold an earlier one see the scores, the gradients and the optimistic scores that they saw, to the bit.
 * Likewise the companion, and an estimator with all of it. */
#include "model/estimator.h"
#include "test_model_reference.h"
#include "test_parts.h"

enum { DIM = 4, PROBES = 30, SAMPLES = 25, ROUNDS = 14, HELD = 5, MOST_NUMBERS = PROBES * 200 };

typedef struct case_of {
    const char *name;
    sa_precision precision;
    bool adam, published;
} case_of;

static const case_of cases[] = {
    {"mlp", SA_PRECISION_SINGLE, false, false},
    {"mlp", SA_PRECISION_DOUBLE, true, false},
    {"linear", SA_PRECISION_DOUBLE, false, false},
    {"linear", SA_PRECISION_DOUBLE, false, true},
    {"neural-linear", SA_PRECISION_DOUBLE, true, false},
    {"partition", SA_PRECISION_DOUBLE, false, false},
    {"partition-tree", SA_PRECISION_DOUBLE, false, false},
};

static sa_options *options_for(const case_of *c) {
    sa_options *options = options_of(
        (net_options){.dim = DIM, .hidden = 6, .depth = 3, .root_m = true, .bias = true, .bypass = true},
        c->precision);
    options->train_steps = 5;
    options->train_batch = 8;
    options->rate = 0.01;
    options->optimizer = c->adam ? SA_OPTIMIZER_ADAM : SA_OPTIMIZER_GD;
    options->rounds = 40;
    options->linear_form = c->published ? SA_LINEAR_PUBLISHED : SA_LINEAR_DEFINED;
    return options;
}

/* Numbers of either precision. */
typedef struct numbers {
    double *wide;
    float *narrow;
} numbers;

static numbers draw(size_t count) {
    numbers out = {.wide = random_doubles(count)};
    assert_ok(sa_alloc_array(count, sizeof *out.narrow, &out.narrow));
    for (size_t i = 0; i < count; i++) out.wide[i] = out.narrow[i] = (float)out.wide[i];
    return out;
}

static void clear(numbers *self) {
    sa_free(self->wide);
    sa_free(self->narrow);
}

static const void *of(const numbers *self, sa_precision precision) {
    return precision == SA_PRECISION_DOUBLE ? (const void *)self->wide : self->narrow;
}

/* ---- what a model says ---- */

typedef struct answer {
    size_t count;
    double number[MOST_NUMBERS]; /* means; gradients; its own optimistic scores, and who is urgent */
} answer;

static void say(answer *self, double number) {
    assert_true(self->count < MOST_NUMBERS);
    self->number[self->count++] = number;
}

static void say_gradients(answer *out, const sa_gradients *batch) {
    for (size_t l = 0; l < batch->pairs; l++) {
        const sa_pair *pair = &batch->pair[l];
        for (size_t i = 0; i < batch->count * pair->shape.delta; i++)
            say(out, sa_real_get(batch->precision, pair->delta, i));
        for (size_t i = 0; i < batch->count * pair->shape.input; i++)
            say(out, sa_real_get(batch->precision, pair->input, i));
    }
}

static void answer_of(const sa_model *model, const numbers *probe, answer *out) {
    const void *x = of(probe, model->precision);
    sa_model_work work = {0};
    sa_gradients gradients = {0};
    double number[PROBES], urgency[PROBES];
    const sa_exploring_class *exploring = model->kind->exploring;
    bool graded = model->pairs > 0;
    out->count = 0;
    if (graded) assert_ok(sa_gradients_init(&gradients, model->precision, model->pairs, model->shape));
    assert_ok(model->kind->evaluate(model, x, PROBES, 0, &work, number, graded ? &gradients : NULL));
    for (size_t i = 0; i < PROBES; i++) say(out, number[i]);
    if (graded) say_gradients(out, &gradients);
    if (exploring && exploring->sample) {
        sa_stream stream = sa_stream_at(3, SA_PURPOSE_EXPLORATION, 0, 1);
        assert_ok(exploring->sample(model, &gradients, 0.7, &stream, &work, number));
        for (size_t i = 0; i < PROBES; i++) say(out, number[i]);
    }
    if (exploring && exploring->explore) {
        for (size_t i = 0; i < PROBES; i++) urgency[i] = 0.5;
        assert_ok(exploring->explore(model, x, PROBES, 9, &work, number, urgency));
        for (size_t i = 0; i < PROBES; i++) {
            say(out, number[i]);
            say(out, urgency[i]);
        }
    }
    sa_gradients_clear(&gradients);
    sa_model_work_clear(&work);
}

static bool same(const answer *a, const answer *b) {
    return a->count == b->count && memcmp(a->number, b->number, a->count * sizeof *a->number) == 0;
}

/* ---- learning ---- */

typedef struct lesson {
    numbers x, y;
    size_t round;
} lesson;

static void learn(sa_model *model, const sa_options *options, const lesson *seen) {
    const sa_training_class *training = model->kind->training;
    const sa_observing_class *observing = model->kind->observing;
    sa_precision precision = model->precision;
    if (training && training->redraw && seen->round % 6 == 5)
        assert_ok(training->redraw(model, MODEL_OF(options), 1 + seen->round));
    if (training) {
        sa_training all = {.count = SAMPLES,
                           .total = SAMPLES,
                           .factor = 1,
                           .all = {.inputs = of(&seen->x, precision), .targets = of(&seen->y, precision)},
                           .stream = sa_stream_at(1, SA_PURPOSE_TRAINING, 0, seen->round)};
        bool diverged = true;
        assert_ok(train_on(model, &all, &diverged));
        assert_false(diverged);
    }
    if (!observing) return;
    if (observing->fade && seen->round % 3 == 1) observing->fade(model, 0.6);
    if (observing->forget && (training || seen->round % 7 == 6)) observing->forget(model);
    observe(model, of(&seen->x, precision), NULL, seen->y.wide, SAMPLES);
}

typedef struct holder {
    sa_model *model;
    answer said;
} holder;

static void check(const case_of *c) {
    static holder held[HELD];
    static answer now, other;
    sa_options *options = options_for(c);
    sa_model *model = NULL, *alone = NULL;
    numbers probe = draw(PROBES * DIM);
    size_t learnt = 0;
    assert_ok(sa_model_create(c->name, MODEL_OF(options), &model));
    assert_ok(sa_model_create(c->name, MODEL_OF(options), &alone));
    for (size_t round = 0; round < ROUNDS; round++) {
        lesson seen = {.x = draw(SAMPLES * DIM), .y = draw(SAMPLES), .round = round};
        holder *slot = &held[round % HELD];
        sa_model_destroy(slot->model);
        slot->model = sa_hold(model);
        answer_of(model, &probe, &slot->said);
        assert_ok(sa_model_unshare(&model));
        assert_ptr_not_equal(model, slot->model);
        answer_of(model, &probe, &now);
        assert_true(same(&now, &slot->said));
        learn(model, options, &seen);
        learn(alone, options, &seen);
        answer_of(model, &probe, &now);
        answer_of(alone, &probe, &other);
        if (!same(&now, &other)) fail_msg("%s, round %zu: the fork learns otherwise", c->name, round);
        learnt += !same(&now, &slot->said);
        for (size_t h = 0; h < HELD; h++) {
            if (!held[h].model) continue;
            answer_of(held[h].model, &probe, &other);
            if (!same(&other, &held[h].said))
                fail_msg("%s, round %zu: a held model has changed", c->name, round);
        }
        clear(&seen.x);
        clear(&seen.y);
    }
    assert_in_range(learnt, c->published ? ROUNDS / 2 : ROUNDS,
                    ROUNDS); /* the published form is a round late */
    sa_model_destroy(model); /* before those that are held */
    for (size_t h = 0; h < HELD; h++) {
        answer_of(held[h].model, &probe, &other);
        assert_true(same(&other, &held[h].said));
        sa_model_destroy(held[h].model);
        held[h].model = NULL;
    }
    sa_model_destroy(alone);
    clear(&probe);
    sa_options_destroy(options);
}

static void held_models_stay_as_they_are(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check(&cases[i]);
}

static void there_is_no_fork_without_need(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sa_options *options = options_for(&cases[i]);
        sa_model *model = NULL, *none = NULL;
        assert_ok(sa_model_create(cases[i].name, MODEL_OF(options), &model));
        sa_model *first = model;
        assert_ok(sa_model_unshare(&model));
        assert_ptr_equal(model, first);
        assert_ok(sa_model_unshare(&none));
        assert_null(none);
        sa_model_destroy(model);
        sa_options_destroy(options);
    }
}

/* ---- the companion ---- */

static void mixed(const sa_companion *companion, const numbers *probe, double *out) {
    for (size_t i = 0; i < PROBES; i++)
        out[i] = sa_companion_mix(companion, probe->wide + i * DIM, 0.1 * (double)i);
}

static void teach(sa_companion *companion, const lesson *seen) {
    if (seen->round % 4 == 2) sa_companion_fade(companion, 0.7);
    if (seen->round % 5 == 4) sa_companion_forget(companion);
    for (size_t i = 0; i < SAMPLES; i++) {
        const double *x = seen->x.wide + i * DIM;
        sa_companion_case one = {
            .input = x, .score = 2 * x[0] - x[1] + 0.1 * seen->y.wide[i], .psi = i % 3 ? 1 : 0.5};
        if (seen->round > 1) sa_companion_judge(companion, &one, x[0]);
        sa_companion_add(companion, &one);
    }
    sa_companion_learn(companion);
}

static void held_companions_stay_as_they_are(void **state) {
    (void)state;
    sa_companion *companion = NULL, *alone = NULL, *held[ROUNDS], *none = NULL;
    double said[ROUNDS][PROBES], now[PROBES], other[PROBES];
    sa_companion_numbers numbers_then[ROUNDS];
    numbers probe = draw(PROBES * DIM);
    assert_ok(sa_companion_create(DIM, &companion));
    assert_ok(sa_companion_create(DIM, &alone));
    assert_ok(sa_companion_unshare(&none));
    for (size_t round = 0; round < ROUNDS; round++) {
        lesson seen = {.x = draw(SAMPLES * DIM), .y = draw(SAMPLES), .round = round};
        sa_companion *before = companion;
        assert_ok(sa_companion_unshare(&companion));
        assert_ptr_equal(companion, before); /* nobody else holds it */
        held[round] = sa_hold(companion);
        mixed(companion, &probe, said[round]);
        numbers_then[round] = companion->numbers;
        assert_ok(sa_companion_unshare(&companion));
        assert_ptr_not_equal(companion, held[round]);
        teach(companion, &seen);
        teach(alone, &seen);
        mixed(companion, &probe, now);
        mixed(alone, &probe, other);
        assert_memory_equal(now, other, sizeof now);
        assert_memory_equal(&companion->numbers, &alone->numbers, sizeof alone->numbers);
        for (size_t h = 0; h <= round; h++) {
            mixed(held[h], &probe, other);
            assert_memory_equal(other, said[h], sizeof other);
            assert_memory_equal(&held[h]->numbers, &numbers_then[h], sizeof numbers_then[h]);
        }
        clear(&seen.x);
        clear(&seen.y);
    }
    assert_true(companion->numbers.linear != 0 &&
                relative_error(PROBES, now, said[2]) > 1e-3); /* it has learnt */
    sa_companion_destroy(companion);
    for (size_t h = 0; h < ROUNDS; h++) sa_companion_destroy(held[h]);
    sa_companion_destroy(alone);
    clear(&probe);
}

/* ---- an estimator ---- */

/* All of it is held together, and owned together. */
static void held_estimators_stay_as_they_are(void **state) {
    (void)state;
    const case_of c = {"mlp", SA_PRECISION_DOUBLE, true, false};
    sa_options *options = options_for(&c);
    sa_estimator now = {0};
    sa_estimator_work work = {0};
    numbers probe = draw(PROBES * DIM);
    double said[PROBES], then[PROBES];
    options->normalize = SA_NORMALIZE_STANDARD;
    assert_ok(sa_estimator_create("mlp", MODEL_OF(options), true, &now));
    assert_true(now.statistics && now.companion);
    for (size_t round = 0; round < 6; round++) {
        lesson seen = {.x = draw(SAMPLES * DIM), .y = draw(SAMPLES), .round = round};
        sa_estimator held = sa_estimator_hold(&now);
        double first = held.statistics[0];
        assert_ok(sa_estimator_evaluate(&held, probe.wide, 0, PROBES, 0, &work, said, NULL, NULL));
        assert_ok(sa_estimator_unshare(&now));
        assert_true(now.model != held.model && now.companion != held.companion &&
                    now.statistics != held.statistics);
        learn(now.model, options, &seen);
        teach(now.companion, &seen);
        now.statistics[0] += 1;
        now.centre += 0.5;
        assert_ok(sa_estimator_evaluate(&held, probe.wide, 0, PROBES, 0, &work, then, NULL, NULL));
        assert_memory_equal(said, then, sizeof said);
        assert_true(held.statistics[0] == first);
        assert_ok(sa_estimator_evaluate(&now, probe.wide, 0, PROBES, 0, &work, then, NULL, NULL));
        assert_true(memcmp(said, then, sizeof said) != 0);
        sa_estimator_clear(&held);
        clear(&seen.x);
        clear(&seen.y);
    }
    sa_estimator_clear(&now);
    sa_estimator_work_clear(&work);
    clear(&probe);
    sa_options_destroy(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(held_models_stay_as_they_are),
        cmocka_unit_test(there_is_no_fork_without_need),
        cmocka_unit_test(held_companions_stay_as_they_are),
        cmocka_unit_test(held_estimators_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
