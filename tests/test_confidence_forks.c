/* An engine that others hold is forked before it counts: the fork goes on as if there had been none, and
 * those who hold an earlier one are answered as before, to the bit. */
#include "test_confidence_reference.h"

enum { ARMS = 20, SLATE = 4, HELD = 6 };

static const net_options small = {.dim = 6,
                                  .hidden = 10,
                                  .depth = 2,
                                  .root_m = true,
                                  .bypass = true,
                                  .symmetric = true}; /* p = 130 and the bypass */
static const net_options larger = {.dim = 10, .hidden = 12, .depth = 3, .root_m = true}; /* p = 276 > 256 */

typedef struct case_of {
    const char *name;
    int confidence;
    sa_exact_form form;
    const net_options *network;
    int rounds;
    double discount;
    bool from_primal, sketched; /* in the end */
} case_of;

static const case_of cases[] = {
    {"exact dual", SA_CONFIDENCE_EXACT, SA_EXACT_DUAL, &small, 40, 1, false, false},
    {"exact primal", SA_CONFIDENCE_EXACT, SA_EXACT_PRIMAL, &small, 40, 1, true, false},
    {"exact, changing over", SA_CONFIDENCE_EXACT, SA_EXACT_AUTO, &larger, 125, 1, true, false},
    {"exact dual, discounted", SA_CONFIDENCE_EXACT, SA_EXACT_DUAL, &small, 40, 0.93, false, false},
    {"exact primal, discounted", SA_CONFIDENCE_EXACT, SA_EXACT_PRIMAL, &small, 40, 0.93, true, false},
    {"sketch", SA_CONFIDENCE_SKETCH, SA_EXACT_AUTO, &small, 40, 1, false, true},
    {"sketch, discounted", SA_CONFIDENCE_SKETCH, SA_EXACT_AUTO, &small, 40, 0.93, false, true},
    {"auto, changing over", SA_CONFIDENCE_AUTO, SA_EXACT_AUTO, &small, 70, 1, false, true},
    {"auto, discounted", SA_CONFIDENCE_AUTO, SA_EXACT_AUTO, &small, 30, 0.93, false, true},
    {"diagonal", SA_CONFIDENCE_DIAGONAL, SA_EXACT_AUTO, &small, 30, 1, false, false},
    {"diagonal, discounted", SA_CONFIDENCE_DIAGONAL, SA_EXACT_AUTO, &small, 30, 0.9, false, false},
    {"last layer", SA_CONFIDENCE_LAST_LAYER, SA_EXACT_AUTO, &small, 40, 1, true, false},
    {"last layer, dual", SA_CONFIDENCE_LAST_LAYER, SA_EXACT_DUAL, &small, 40, 1, false, false},
};

/* What an engine says of the gradients in `probe`. */
typedef struct answer {
    double width[ARMS], bound[ARMS], certificate;
    sa_confidence_state state;
} answer;

static answer answer_of(const sa_confidence *engine, const sa_gradients *probe) {
    answer out = {.certificate = sa_confidence_certificate(engine), .state = state_of(engine)};
    sa_width_work work = {0};
    size_t all[ARMS];
    for (size_t i = 0; i < ARMS; i++) all[i] = i;
    assert_ok(engine->kind->widths(engine, probe, NULL, ARMS, NULL, &work, out.width));
    for (size_t i = 0; i < ARMS; i++) out.bound[i] = 1e3;
    if (engine->kind->tighten) assert_ok(engine->kind->tighten(engine, probe, all, ARMS, &work, out.bound));
    sa_width_work_clear(&work);
    return out;
}

static void assert_same(const answer *a, const answer *b, const char *name, size_t round) {
    bool states = a->state.counted == b->state.counted && a->state.log_det == b->state.log_det &&
                  a->state.in_double == b->state.in_double && a->state.from_primal == b->state.from_primal;
    if (!states || memcmp(a->width, b->width, sizeof a->width) ||
        memcmp(a->bound, b->bound, sizeof a->bound) ||
        memcmp(&a->certificate, &b->certificate, sizeof a->certificate))
        fail_msg("%s, round %zu: not the same answer", name, round);
}

/* Engines of the latest rounds that others hold, and what they said then. */
typedef struct holder {
    sa_confidence *engine;
    answer said;
    size_t round;
} holder;

static void change(sa_confidence *engine, source *s, const case_of *c, size_t round) {
    if (c->discount < 1) assert_ok(sa_confidence_fade(engine, c->discount));
    count_asked(engine, s);
    if (round % 11 == 7)
        assert_ok(sa_confidence_widen(engine)); /* where it is not in double precision from the first on */
    if (round % 13 == 9) assert_ok(sa_confidence_expect(engine, 3));
}

static void check(const case_of *c, sa_precision precision) {
    source s = source_of(*c->network, precision, 0.3, c->form);
    s.options->confidence = c->confidence;
    s.options->sketch_size = 24;
    s.options->discount = c->discount;
    sa_confidence *engine = engine_of(&s), *alone = engine_of(&s);
    holder held[HELD] = {{0}};
    sa_gradients probe;
    contexts(&s, ARMS, SLATE, 1);
    assert_ok(sa_gradients_init_like(&probe, precision, &s.batch));
    assert_ok(sa_gradients_reserve(&probe, ARMS));
    sa_gradients_append(&probe, &s.batch, NULL, ARMS);
    for (size_t round = 0; round < (size_t)c->rounds; round++) {
        contexts(&s, ARMS, SLATE, 1);
        holder *now = &held[round % HELD];
        sa_confidence_destroy(now->engine);
        *now = (holder){.engine = sa_hold(engine), .said = answer_of(engine, &probe), .round = round};
        widths_of(engine, &s, s.width); /* columns that were kept of the held one serve the fork */
        sa_confidence *before = engine;
        if (engine == now->engine) assert_ok(sa_confidence_unshare(&engine));
        assert_ptr_not_equal(engine, before);
        assert_true(engine->version == before->version);
        answer fork = answer_of(engine, &probe);
        assert_same(&fork, &now->said, c->name, round);
        if (s.asked == before) s.asked = engine;
        change(engine, &s, c, round);
        change(alone, &s, c, round); /* which solves for all of it again */
        if (round % 4 == 3) {        /* several changes of one fork */
            change(engine, &s, c, round);
            change(alone, &s, c, round);
        }
        answer one = answer_of(engine, &probe), other = answer_of(alone, &probe);
        assert_same(&one, &other, c->name, round);
        assert_true(memcmp(one.width, now->said.width, sizeof one.width) !=
                    0); /* there is something to see */
        for (size_t h = 0; h < HELD; h++) {
            if (!held[h].engine) continue;
            answer again = answer_of(held[h].engine, &probe);
            assert_same(&again, &held[h].said, c->name, round);
        }
        if (round % 3 == 0) change_weights(&s);
    }
    assert_int_equal(state_of(engine).from_primal, c->from_primal);
    if (c->sketched) assert_true(sa_confidence_certificate(engine) > 1.001);
    for (size_t h = 0; h < HELD; h++) { /* the last engine may go before those that are held */
        if (h == 2) sa_confidence_destroy(engine);
        answer again = answer_of(held[h].engine, &probe);
        assert_same(&again, &held[h].said, c->name, held[h].round);
        sa_confidence_destroy(held[h].engine);
    }
    sa_confidence_destroy(alone);
    sa_gradients_clear(&probe);
    source_clear(&s);
}

static void held_engines_stay_as_they_are(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int precision = 0; precision < 2; precision++) check(&cases[i], (sa_precision)precision);
}

/* An engine that nobody else holds is not copied; one that was given up by all others neither. */
static void there_is_no_fork_without_need(void **state) {
    (void)state;
    source s = source_of(small, SA_PRECISION_SINGLE, 1, SA_EXACT_DUAL);
    sa_confidence *engine = engine_of(&s), *first = engine, *none = NULL;
    assert_ok(sa_confidence_unshare(&engine));
    assert_ptr_equal(engine, first);
    sa_confidence *held = sa_hold(engine);
    sa_confidence_destroy(held);
    assert_ok(sa_confidence_unshare(&engine));
    assert_ptr_equal(engine, first);
    assert_ok(sa_confidence_unshare(&none));
    assert_null(none);
    sa_confidence_destroy(engine);
    source_clear(&s);
}

/* A file of the fork is that of an engine that was never forked. */
static void forks_save_all_of_it(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const case_of *c = &cases[i];
        source s = source_of(*c->network, SA_PRECISION_SINGLE, 0.3, c->form);
        s.options->confidence = c->confidence;
        s.options->sketch_size = 24;
        s.options->discount = c->discount;
        sa_confidence *engine = engine_of(&s), *loaded = engine_of(&s);
        for (size_t round = 0; round < 20; round++) {
            contexts(&s, ARMS, SLATE, 1);
            sa_confidence *held = sa_hold(engine);
            assert_ok(sa_confidence_unshare(&engine));
            change(engine, &s, c, 0);
            sa_confidence_destroy(held);
        }
        save_engine(engine, scratch("fork.npz"));
        load_engine(loaded, scratch("fork.npz"));
        for (size_t round = 0; round < 10; round++) {
            contexts(&s, ARMS, SLATE, 1);
            answer one = answer_of(engine, &s.batch), other = answer_of(loaded, &s.batch);
            assert_same(&one, &other, c->name, round);
            change(engine, &s, c, 0);
            change(loaded, &s, c, 0);
        }
        sa_confidence_destroy(engine);
        sa_confidence_destroy(loaded);
        source_clear(&s);
    }
}

/* An engine that takes the place of another has a later version, so that nothing that was kept of that one is
 * taken for its own. */
static void a_replaced_engine_has_a_later_version(void **state) {
    (void)state;
    source s = source_of(small, SA_PRECISION_SINGLE, 1, SA_EXACT_DUAL);
    sa_confidence *engine = NULL;
    sa_confidence_replace(&engine, engine_of(&s));
    for (int round = 0; round < 5; round++) {
        contexts(&s, ARMS, SLATE, 1);
        count_new(engine, &s.chosen);
    }
    uint64_t version = engine->version;
    sa_confidence *held = sa_hold(engine), *next = engine_of(&s);
    count_new(next, &s.chosen);
    sa_confidence_replace(&engine, next);
    assert_ptr_equal(engine, next);
    assert_true(engine->version > version && held->version == version);
    assert_int_equal(state_of(held).counted, 5 * SLATE); /* it lasts while it is held */
    sa_confidence_destroy(held);
    sa_confidence_destroy(engine);
    source_clear(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(held_engines_stay_as_they_are),
        cmocka_unit_test(there_is_no_fork_without_need),
        cmocka_unit_test(forks_save_all_of_it),
        cmocka_unit_test(a_replaced_engine_has_a_later_version),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
