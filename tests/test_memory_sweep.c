/* The n-th allocation fails, for n = 1, 2, ... until all succeed: no call crashes or leaks, a failing one says so and changes
 * nothing, and the agent goes on, bit for bit, as a twin for whom memory was never short.
 *
 * Linked with --wrap for the allocators, so that the library's calls come here; those inside shared libraries do not. */
#include "test_agent_rig.h"

#include <errno.h>

#include "base/npy.h"
#include <superarm/theory.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);
void __wrap_free(void *block);

static size_t allocations, fail_at; /* fail_at 0: none fails */
static long live;                   /* blocks */

static bool must_fail(void) { return ++allocations == fail_at; }

static void *counted(void *block) {
    live += block != NULL;
    return block;
}

void *__wrap_malloc(size_t size) { return must_fail() ? NULL : counted(__real_malloc(size)); }
void *__wrap_calloc(size_t count, size_t size) { return must_fail() ? NULL : counted(__real_calloc(count, size)); }
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return must_fail() ? NULL : counted(__real_aligned_alloc(alignment, size));
}
void *__wrap_realloc(void *block, size_t size) {
    if (must_fail()) return NULL;
    void *fresh = __real_realloc(block, size);
    if (!block) counted(fresh);
    return fresh;
}
int __wrap_posix_memalign(void **out, size_t alignment, size_t size) {
    if (must_fail()) return 12;
    int code = __real_posix_memalign(out, alignment, size);
    live += code == 0;
    return code;
}
void __wrap_free(void *block) {
    live -= block != NULL;
    __real_free(block);
}

static void shortage(size_t n) {
    allocations = 0;
    fail_at = n;
}

/* Did the n-th allocation come up? Then memory is plentiful again. */
static bool was_short(void) {
    bool reached = fail_at && allocations >= fail_at;
    fail_at = 0;
    return reached;
}

/* ---- one call, with the n-th allocation failing ---- */

typedef enum kind_of_call {
    CREATE,
    SELECT,
    SELECT_AGAIN,
    SELECT_MANY,
    SELECT_LARGE,
    UPDATE,
    PARTIAL,
    TRAIN,
    SAVE,
    LOAD,
    CALLS
} kind_of_call;

typedef struct stage {
    const char *text;
    sa_options *options;
    sa_agent *agent, *loaded;
    sa_decision *decision, *second, *old;
    sa_request *request;
} stage;

/* Two requests at once. */
static sa_status select_many(stage *scene) {
    const sa_request *requests[2] = {scene->request, scene->request};
    sa_decision *decisions[2] = {scene->decision, scene->second};
    sa_status status = sa_agent_select_many(scene->agent, requests, 2, decisions);
    scene->decision = decisions[0];
    scene->second = decisions[1];
    return status;
}

/* More arms than a block has. */
static sa_status select_large(stage *scene) {
    static double contexts[2 * RIG_ARMS * RIG_DIM], expected[2 * RIG_ARMS];
    for (size_t i = 0; i < 2 * RIG_ARMS * RIG_DIM; i++) contexts[i] = rig_number(301, i);
    sa_request_contexts(scene->request, contexts, 2 * RIG_ARMS);
    sa_request_expected(scene->request, expected);
    return sa_agent_select(scene->agent, scene->request, &scene->decision);
}

/* Decisions 0 to 4 of growing sets; 0 to 3 are answered, 4 waits. */
static sa_agent *bring(const sa_options *options) {
    sa_agent *agent = NULL;
    sa_decision *decision = NULL;
    assert_ok(sa_agent_create(options, &agent));
    for (uint64_t id = 0; id < 5; id++) {
        rig_select(agent, id, 4 + id, 3, &decision);
        if (id < 4) rig_answer(agent, id, 3);
    }
    sa_decision_destroy(decision);
    return agent;
}

/* To a new file: for an old one the C library makes a block that is not counted, and the library frees it. */
static sa_status save(const sa_agent *agent, const char *name) {
    assert_int_equal(remove(scratch(name)) == 0 || errno == ENOENT, 1);
    return sa_agent_save(agent, scratch(name));
}

/* Whatever a failed call leaves behind, a saved agent has it too. */
static void reload(stage *scene) {
    assert_ok(save(scene->agent, "again.npz"));
    sa_agent_destroy(scene->agent);
    scene->agent = NULL;
    assert_ok(sa_agent_load(scratch("again.npz"), &scene->agent));
}

static sa_status make(stage *scene, kind_of_call call) {
    switch (call) {
    case CREATE: return sa_agent_create(scene->options, &scene->loaded);
    case SELECT: return sa_agent_select(scene->agent, scene->request, &scene->decision);
    case SELECT_AGAIN: return sa_agent_select(scene->agent, scene->request, &scene->old);
    case SELECT_MANY: return select_many(scene);
    case SELECT_LARGE: return select_large(scene);
    case UPDATE: return rig_try_answer(scene->agent, 4, 3, NULL);
    case PARTIAL: return rig_try_answer(scene->agent, 4, 3, (bool[]){false, true, true});
    case TRAIN: return sa_agent_train(scene->agent);
    case SAVE: return save(scene->agent, "a.npz");
    case LOAD: return sa_agent_load(scratch("saved.npz"), &scene->loaded);
    default: return SA_INVALID;
    }
}

/* True once the call needs no more than n - 1 allocations. */
static bool sweep_once(const char *text, const sa_options *options, kind_of_call call, size_t n) {
    stage scene = {.text = text, .options = (sa_options *)options, .agent = bring(options)};
    sa_agent *twin = bring(options);
    sa_decision *unused = NULL;
    scene.request = sa_request_new();
    sa_request_contexts(scene.request, rig_contexts(300), 40); /* more than before: all workspace grows */
    sa_request_expected(scene.request, rig_expected(300));
    sa_request_slate(scene.request, 12);
    rig_select(twin, 5, 4, 2, &unused);
    rig_select(scene.agent, 5, 4, 2, &scene.old);
    if (call == LOAD && n == 1) assert_ok(save(scene.agent, "saved.npz"));

    long before = live;
    shortage(n);
    sa_status status = make(&scene, call);
    bool reached = was_short();
    if (reached && status != SA_OK) {
        if (status != SA_OUT_OF_MEMORY && status != SA_FILE)
            fail_msg("%s, call %d, allocation %zu: %s: %s", text, (int)call, n, sa_status_name(status), sa_last_error());
        assert_null(scene.loaded);
        assert_null(scene.decision);
        assert_null(scene.second);
        assert_true(sa_decision_id(scene.old) == 5 && sa_decision_slate(scene.old) == 2);
        rig_assert_same_decision(scene.old, unused);
        rig_assert_same_counts(scene.agent, twin);
        if (call == CREATE || call == SAVE || call == LOAD)
            if (live != before)
                fail_msg("%s, call %d, allocation %zu: %ld blocks leak", text, (int)call, n, live - before);
        /* The feedback that waits uses what was kept of its select, unless it is what was tried. */
        if (n % 2 && call != UPDATE && call != PARTIAL && call != LOAD) {
            rig_answer(scene.agent, 5, 2);
            rig_answer(twin, 5, 2);
        }
        if (n % 2 && call == UPDATE) reload(&scene);
        status = make(&scene, call); /* again, with memory */
    }
    if (status != SA_OK) fail_msg("%s, call %d, allocation %zu: %s", text, (int)call, n, sa_last_error());

    stage other = {.text = text, .options = (sa_options *)options, .agent = twin, .request = scene.request};
    if (call != LOAD && call != SAVE) assert_ok(make(&other, call));
    sa_decision *one = scene.decision ? scene.decision : call == SELECT_AGAIN ? scene.old : NULL;
    sa_decision *two = other.decision ? other.decision : other.old;
    if (one) rig_assert_same_decision(one, two);
    if (scene.second) rig_assert_same_decision(scene.second, other.second);
    rig_assert_same_counts(scene.agent, twin);
    rig_go_on_alike(call == LOAD ? scene.loaded : scene.agent, twin, 8, 5);
    sa_agent_destroy(scene.agent);
    sa_agent_destroy(scene.loaded);
    sa_agent_destroy(other.loaded);
    sa_agent_destroy(twin);
    sa_decision_destroy(scene.decision);
    sa_decision_destroy(scene.second);
    sa_decision_destroy(scene.old);
    sa_decision_destroy(other.decision);
    sa_decision_destroy(other.second);
    sa_decision_destroy(other.old);
    sa_decision_destroy(unused);
    sa_request_destroy(scene.request);
    return !reached;
}

static void sweep(const char *text) {
    sa_options *options = rig_options(text);
    bool wide = strstr(text, "normalize=standard") || strstr(text, "comblin-ts") ||
                !strcmp(text, "exact-form=dual hidden=3 train-every=1"); /* many requests and many arms take their time */
    for (kind_of_call call = 0; call < CALLS; call++) {
        long before = live;
        size_t n = 1;
        if (!wide && (call == SELECT_MANY || call == SELECT_LARGE)) continue;
        while (!sweep_once(text, options, call, n)) n++;
        if (live != before) fail_msg("%s, call %d: %ld blocks leak", text, (int)call, live - before);
        bool few = call == TRAIN || strstr(text, "cascade"); /* a scan that ends early may need nothing new */
        if (!few && n < 3) fail_msg("%s, call %d: only %zu allocations were seen", text, (int)call, n - 1);
    }
    sa_options_destroy(options);
}

static void dual(void **state) {
    (void)state;
    sweep("exact-form=dual hidden=3 train-every=1");
    sweep("exact-form=dual hidden=3 train-every=1 precision=double count-pending=true");
    sweep("exact-form=dual hidden=3 train-every=1 discount=0.9 train-batch=2");
    sweep("exact-form=dual hidden=3 train-every=1 window=20");
}

static void primal(void **state) {
    (void)state;
    sweep("exact-form=primal hidden=3 train-every=1 normalize=standard");
    sweep("exact-form=primal hidden=2 train-every=1 algorithm=cn-ts count-pending=true pending-limit=2000");
}

/* The feedback that the sweep gives ends an epoch; with decision 5 waiting. */
static void epochs(void **state) {
    (void)state;
    sweep("algorithm=cn-ucb-d epoch-length=5 exact-form=dual hidden=3 train-every=1 epoch-hidden-growth=2 "
          "epoch-replay-steps=5");
    sweep("algorithm=cn-ts-d epoch-length=5 hidden=3 train-every=2 epoch-replay=schedule count-pending=true");
}

static void linear(void **state) {
    (void)state;
    sweep("algorithm=comblin-ts");
    sweep("algorithm=comblin-ucb discount=0.9");
    sweep("algorithm=comblin-ucb linear-form=published exact-form=dual");
}

static void feedback(void **state) {
    (void)state;
    sweep("feedback=position slate=12 exact-form=dual hidden=3 train-every=1");
    sweep("feedback=cascade algorithm=cn-ts hidden=3 train-every=1");
}

static void diagonal(void **state) {
    (void)state;
    sweep("confidence=diagonal hidden=3 train-every=1");
}

/* The feedback of the sweep fills the sketch, and is folded. */
static void sketch(void **state) {
    (void)state;
    sweep("confidence=sketch sketch-size=1 hidden=3 train-every=1");
    sweep("confidence=sketch sketch-size=2 hidden=3 train-every=1 precision=double count-pending=true");
    sweep("confidence=sketch sketch-size=3 hidden=3 train-every=1 rebuild=true");
    sweep("confidence=auto sketch-size=1 hidden=3 train-every=1");
}

static void rebuilt(void **state) {
    (void)state;
    sweep("algorithm=neural-linear hidden=3 train-every=1");
    sweep("confidence=exact exact-form=dual rebuild=true hidden=3 train-every=1 count-pending=true");
    sweep("confidence=exact exact-form=dual rebuild=true hidden=3 train-every=1 discount=0.9");
}

/* A sketch that is made anew of more than it has room for, and memory that is short in the update that does so. */
static void rebuilt_sketch(void **state) {
    (void)state;
    bool reached = true;
    for (size_t n = 1; reached; n++) {
        sa_agent *agent[2];
        sa_decision *decision = NULL;
        for (int i = 0; i < 2; i++) {
            agent[i] = rig_create("confidence=sketch sketch-size=1 rebuild=true hidden=3 train-every=24 train-warmup=0");
            for (uint64_t id = 0; id < 25; id++) { /* more than are looked at at a time */
                rig_select(agent[i], id, 30, 12, &decision);
                if (id < 24) rig_answer(agent[i], id, 12);
            }
        }
        shortage(n);
        sa_status status = rig_try_answer(agent[0], 24, 12, NULL);
        reached = was_short();
        if (status != SA_OK) {
            assert_int_equal(status, SA_OUT_OF_MEMORY);
            rig_answer(agent[0], 24, 12);
        }
        rig_answer(agent[1], 24, 12);
        rig_go_on_alike(agent[0], agent[1], 40, 3);
        for (int i = 0; i < 2; i++) sa_agent_destroy(agent[i]);
        sa_decision_destroy(decision);
    }
}

static void partitions(void **state) {
    (void)state;
    sweep("algorithm=cc-mab");
    sweep("algorithm=acc-ucb acc-axes=1 acc-v1=5"); /* every observation splits its cell */
}

static void references(void **state) {
    (void)state;
    sweep("algorithm=greedy hidden=3 train-every=1");
    sweep("algorithm=random");
    sweep("algorithm=best");
}

/* Widths that go over to double precision in the very call that memory is short in. */
static void precision_guard(void **state) {
    (void)state;
    static const char *const forms[] = {"dual", "primal"};
    for (int f = 0; f < 2; f++) {
        char text[100];
        snprintf(text, sizeof text, "exact-form=%s regularization=1e-4 train=manual hidden=3", forms[f]);
        sa_agent *model = rig_create(text);
        sa_decision *decision = NULL, *other = NULL;
        uint64_t rounds = 0;
        while (!rig_counts(model).widths_in_double) { /* how many rounds until it happens? */
            rig_select(model, 1, 6, 3, &decision);
            rig_answer(model, rounds++, 3);
            assert_true(rounds < 300);
        }
        sa_agent_destroy(model);
        bool reached = true;
        for (size_t n = 1; reached; n++) {
            sa_agent *agent = rig_create(text), *twin = rig_create(text);
            for (uint64_t id = 0; id + 1 < rounds; id++) {
                rig_select(agent, 1, 6, 3, &decision);
                rig_answer(agent, id, 3);
                rig_select(twin, 1, 6, 3, &decision);
                rig_answer(twin, id, 3);
            }
            assert_false(rig_counts(agent).widths_in_double);
            shortage(n);
            sa_status status = rig_try_select(agent, 1, 6, 3, &decision);
            reached = was_short();
            if (reached) {
                assert_int_equal(status, SA_OUT_OF_MEMORY);
                rig_select(agent, 1, 6, 3, &decision);
            }
            rig_select(twin, 1, 6, 3, &other);
            rig_assert_same_decision(decision, other);
            assert_true(rig_counts(agent).widths_in_double);
            rig_go_on_alike(agent, twin, rounds, 5);
            sa_agent_destroy(agent);
            sa_agent_destroy(twin);
        }
        sa_decision_destroy(decision);
        sa_decision_destroy(other);
    }
}

static void theory(void **state) {
    (void)state;
    sa_options *options = rig_options("depth=3 slate=2");
    sa_theory_numbers numbers, whole;
    assert_int_equal(sa_npy_write(scratch("x.npy"), SA_FLOAT64, 2, (size_t[]){20, RIG_DIM}, rig_contexts(1)), SA_OK);
    assert_int_equal(sa_npy_write(scratch("v.npy"), SA_FLOAT64, 1, (size_t[]){20}, rig_expected(1)), SA_OK);
    assert_ok(sa_options_set(options, "contexts", scratch("x.npy")));
    assert_ok(sa_options_set(options, "scores", scratch("v.npy")));
    assert_ok(sa_theory_of_files(options, &whole));
    long before = live;
    bool reached = true;
    for (size_t n = 1; reached; n++) {
        memset(&numbers, 7, sizeof numbers);
        shortage(n);
        sa_status status = sa_theory_of_files(options, &numbers);
        reached = was_short();
        assert_int_equal(status, reached ? SA_OUT_OF_MEMORY : SA_OK);
        assert_true(live == before);
    }
    assert_true(numbers.norm == whole.norm && numbers.log_det == whole.log_det);
    sa_options_destroy(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(theory),          cmocka_unit_test(dual),       cmocka_unit_test(primal),
        cmocka_unit_test(epochs),          cmocka_unit_test(linear),     cmocka_unit_test(feedback),
        cmocka_unit_test(diagonal),        cmocka_unit_test(sketch),     cmocka_unit_test(rebuilt),
        cmocka_unit_test(rebuilt_sketch),  cmocka_unit_test(partitions), cmocka_unit_test(references),
        cmocka_unit_test(precision_guard),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
