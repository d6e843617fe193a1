/* With --widths needed an agent chooses what it would with --widths all, from fewer exact widths; the others
 * are bounds. */
#include "agent/agent.h"
#include "test_agent_rig.h"

static const char *const kinds[] = {
    "precision=double",
    "precision=double hidden=44 gamma=0.01",
    "precision=double hidden=44 gamma=10",
    "precision=double algorithm=cn-ts nu=2",
    "precision=double algorithm=cn-ts1 hidden=44",
    "precision=double preset=icml23 hidden=6 algorithm=cn-ts1",
    "precision=double hidden=44 regularization=0.01 count-pending=true",
    "precision=double score-deviation=1",
};

static void compare(const sa_decision *needed, const sa_decision *all, size_t *bounds) {
    size_t slate = sa_decision_slate(all);
    assert_memory_equal(sa_decision_arms(needed), sa_decision_arms(all), slate * sizeof(size_t));
    for (size_t k = 0; k < slate; k++) {
        assert_true(fabs(sa_decision_widths(needed)[k] - sa_decision_widths(all)[k]) < 1e-9);
        assert_true(fabs(sa_decision_scores(needed)[k] - sa_decision_scores(all)[k]) < 1e-9);
    }
    for (size_t i = 0; i < sa_decision_candidates(all); i++) {
        double more = sa_decision_all_widths(needed)[i] - sa_decision_all_widths(all)[i];
        assert_true(more > -1e-9);
        assert_true(sa_decision_all_scores(needed)[i] - sa_decision_all_scores(all)[i] > -1e-9);
        *bounds += more > 1e-6;
    }
}

static void the_slate_is_the_same(void **state) {
    (void)state;
    size_t bounds = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char text[200];
        sa_agent *needed = rig_create(kinds[i]);
        snprintf(text, sizeof text, "%s widths=all", kinds[i]);
        sa_agent *all = rig_create(text);
        sa_decision *one = NULL, *other = NULL;
        for (uint64_t id = 0; id < 40; id++) {
            size_t arms = id % 7 == 0 ? 350 : 30, slate = 1 + id % 5;
            bool excluded[RIG_ARMS];
            for (size_t k = 0; k < arms; k++) excluded[k] = rig_number(id, 5000 + k) > 0.4;
            sa_request *request = sa_request_new();
            sa_request_contexts(request, rig_contexts(id), arms);
            sa_request_slate(request, slate);
            if (id % 3 == 0) sa_request_exclude(request, excluded);
            assert_ok(sa_agent_select(needed, request, &one));
            assert_ok(sa_agent_select(all, request, &other));
            sa_request_destroy(request);
            compare(one, other, &bounds);
            rig_answer(needed, id, slate);
            rig_answer(all, id, slate);
        }
        sa_decision_destroy(one);
        sa_decision_destroy(other);
        sa_agent_destroy(needed);
        sa_agent_destroy(all);
    }
    assert_true(bounds > 1000); /* else nothing was saved */
}

/* ---- with enough gradients for tighter bounds ---- */

static struct {
    const sa_confidence_class *real;
    size_t calls, lowered, widths; /* widths: rows asked for exactly */
} spy;

static sa_status tighten_seen(const sa_confidence *confidence, const sa_gradients *batch, const size_t *rows,
                              size_t count, sa_width_work *work, double *width) {
    double before[RIG_ARMS];
    for (size_t i = 0; i < count; i++) before[i] = width[rows[i]];
    sa_status status = spy.real->tighten(confidence, batch, rows, count, work, width);
    for (size_t i = 0; i < count; i++) {
        assert_true(width[rows[i]] <= before[i]);
        spy.lowered += width[rows[i]] < before[i];
    }
    spy.calls++;
    return status;
}

static sa_status widths_seen(const sa_confidence *confidence, const sa_gradients *batch, const size_t *rows,
                             size_t count, const size_t *label, sa_width_work *work, double *width) {
    spy.widths += count;
    return spy.real->widths(confidence, batch, rows, count, label, work, width);
}

static void watch(sa_agent *agent) {
    static sa_confidence_class seen;
    memset(&spy, 0, sizeof spy);
    spy.real = agent->learner->policy->confidence->kind;
    seen = *spy.real;
    seen.tighten = tighten_seen;
    seen.widths = widths_seen;
    agent->learner->policy->confidence->kind = &seen;
}

/* Arms of round `id`: some rounds have each arm several times over, so that scores tie. */
static const double *arms_of(uint64_t id, size_t arms) {
    static double contexts[RIG_ARMS * RIG_DIM];
    size_t kinds_of_arms = id % 4 == 1 ? arms / 5 + 1 : arms;
    for (size_t i = 0; i < arms; i++)
        for (size_t j = 0; j < RIG_DIM; j++)
            contexts[i * RIG_DIM + j] = rig_number(id, (i * 7 % kinds_of_arms) * RIG_DIM + j);
    return contexts;
}

/* The same arms in the same order, and the slate's widths and scores to the bit: a column is solved alike
 * whatever the others are. */
static void compare_slates(const char *kind, const sa_decision *needed, const sa_decision *all) {
    size_t slate = sa_decision_slate(all);
    if (memcmp(sa_decision_arms(needed), sa_decision_arms(all), slate * sizeof(size_t)))
        fail_msg("%s: the slates of decision %llu differ", kind, (unsigned long long)sa_decision_id(all));
    assert_memory_equal(sa_decision_widths(needed), sa_decision_widths(all), slate * sizeof(double));
    assert_memory_equal(sa_decision_scores(needed), sa_decision_scores(all), slate * sizeof(double));
    assert_memory_equal(sa_decision_all_estimates(needed), sa_decision_all_estimates(all),
                        sa_decision_candidates(all) * sizeof(double));
}

static void play_many(const char *kind, bool tightens) {
    char text[300];
    snprintf(text, sizeof text, "confidence=exact hidden=84 bonus=width train-every=30 %s", kind);
    sa_agent *needed = rig_create(text);
    strcat(text, " widths=all");
    sa_agent *all = rig_create(text);
    sa_decision *one = NULL, *other = NULL;
    size_t offered = 0;
    watch(needed);
    for (uint64_t id = 0; id < 120; id++) {
        size_t arms = (const size_t[]){40, 25, 300, 6}[id % 4],
               slate = id % 4 == 3 ? 6 : 1 + id % 5; /* also K = N */
        bool excluded[RIG_ARMS];
        for (size_t k = 0; k < arms; k++) excluded[k] = slate < arms && rig_number(id, 5000 + k) > 0.4;
        sa_request *request = sa_request_new();
        sa_request_contexts(request, arms_of(id, arms), arms);
        sa_request_slate(request, slate);
        if (id % 3 == 0) sa_request_exclude(request, excluded);
        assert_ok(sa_agent_select(needed, request, &one));
        assert_ok(sa_agent_select(all, request, &other));
        sa_request_destroy(request);
        compare_slates(kind, one, other);
        for (size_t k = 0; k < arms; k++) {
            double more = sa_decision_all_widths(one)[k] - sa_decision_all_widths(other)[k];
            assert_true(more >= -1e-5 * sa_decision_all_widths(other)[k]);
        }
        rig_answer(needed, id, slate);
        rig_answer(all, id, slate);
        offered += arms;
    }
    assert_true(rig_counts(needed).counted > 300 && !rig_counts(needed).widths_from_primal);
    if (tightens) assert_true(spy.calls >= 20 && spy.lowered > 200);
    if (!tightens) assert_true(spy.widths < offered / 6); /* the first group mostly does */
    assert_true(spy.widths < offered);
    sa_decision_destroy(one);
    sa_decision_destroy(other);
    sa_agent_destroy(needed);
    sa_agent_destroy(all);
}

static void tighter_bounds_change_nothing(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool tightens; /* with little to explore the first bounds do, mostly */
    } many[] = {
        {"precision=double gamma=1", true},
        {"precision=double gamma=100 train-steps=0", true},
        {"precision=double companion=false gamma=0.001", false},
        {"precision=double gamma=0", false},
        {"precision=double algorithm=cn-ts nu=1", true},
        {"precision=double companion=false algorithm=cn-ts nu=0.01 ts-samples=10", false},
        {"precision=double algorithm=cn-ts1 nu=30", true},
        {"precision=double algorithm=cn-ts1 nu=0.1", true},
        {"precision=double preset=icml23 algorithm=cn-ts", false},
        {"precision=double preset=paper algorithm=cn-ucb", true},
        {"precision=double gamma=1 score-deviation=5 count-pending=true", true},
        {"precision=single gamma=1", true},
        {"precision=single algorithm=cn-ts nu=1", true},
    };
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) play_many(many[i].text, many[i].tightens);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_slate_is_the_same),
                                       cmocka_unit_test(tighter_bounds_change_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
