/* The n-th allocation fails, for n = 1, 2, ... until all succeed: no call crashes or leaks, and a failing one
 * says so. Choosing, recording, saving and loading then leave the agent as it was: it goes on, bit for bit,
 * as a twin for whom memory was never short. Learning does so too, or closes the agent: every later call is
 * refused, and policies that were taken before go on choosing. */
#include "test_agent_mark.h"
#include "test_memory_short.h"

#include <malloc.h>

/* ---- one call, with the n-th allocation failing ---- */

typedef enum kind_of_call {
    CREATE,
    SAVE,
    LOAD,
    SELECT, /* the others change the agent */
    SELECT_AGAIN,
    SELECT_MANY,
    SELECT_LARGE,
    RECORD,
    UPDATE, /* the others learn */
    PARTIAL,
    LEARN,
    TRAIN,
    CALLS
} kind_of_call;

typedef struct stage {
    const char *text;
    const sa_options *options;
    sa_agent *agent, *loaded;
    sa_decision *decision, *second, *old, *proposed;
    sa_request *request;
    sa_policy *policy; /* taken before the call */
    sa_chooser *chooser;
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
    for (size_t i = 0; contexts[1] == 0 && i < 2 * RIG_ARMS * RIG_DIM; i++) contexts[i] = rig_number(301, i);
    sa_request *request = sa_request_new();
    if (!request) return SA_OUT_OF_MEMORY;
    sa_request_contexts(request, contexts, 2 * RIG_ARMS);
    sa_request_expected(request, expected);
    sa_request_slate(request, 12);
    sa_status status = sa_agent_select(scene->agent, request, &scene->decision);
    sa_request_destroy(request);
    return status;
}

static sa_status learn(sa_agent *agent, const sa_request *request) {
    return sa_agent_learn(agent, request, (size_t[]){7, 0, 31}, (double[]){0, 0.25, 1}, NULL, 3);
}

static sa_status make(stage *scene, kind_of_call call) {
    switch (call) {
    case CREATE: return sa_agent_create(scene->options, &scene->loaded);
    case SAVE: return sa_agent_save(scene->agent, scratch("a.npz"));
    case LOAD: return sa_agent_load(scratch("saved.npz"), &scene->loaded);
    case SELECT: return sa_agent_select(scene->agent, scene->request, &scene->decision);
    case SELECT_AGAIN: return sa_agent_select(scene->agent, scene->request, &scene->old);
    case SELECT_MANY: return select_many(scene);
    case SELECT_LARGE: return select_large(scene);
    case RECORD: return sa_agent_record(scene->agent, scene->request, scene->proposed);
    case UPDATE: return rig_try_answer(scene->agent, 4, 3, NULL);
    case PARTIAL: return rig_try_answer(scene->agent, 4, 3, (bool[]){false, true, true});
    case LEARN: return learn(scene->agent, scene->request);
    case TRAIN: return sa_agent_train(scene->agent);
    default: return SA_INVALID;
    }
}

/* Decisions 0 to 5, of growing sets; 0 to 3 are answered, 4 and 5 wait. `held`: somebody has a policy of
 * it. */
static stage raise_stage(const char *text, const sa_options *options, kind_of_call call, bool held) {
    stage scene = {.text = text, .options = options};
    assert_ok(sa_agent_create(options, &scene.agent));
    for (uint64_t id = 0; id < 5; id++) {
        rig_select(scene.agent, id, 4 + id, 3, &scene.old);
        if (id < 4) rig_answer(scene.agent, id, 3);
    }
    rig_select(scene.agent, 5, 4, 2, &scene.old);
    scene.request = sa_request_new();
    sa_request_contexts(scene.request, rig_contexts(300), 40); /* more than before: all workspace grows */
    sa_request_expected(scene.request, rig_expected(300));
    sa_request_slate(scene.request, 12);
    scene.chooser = sa_chooser_new();
    if (held || call == RECORD) {
        assert_ok(sa_agent_policy(scene.agent, &scene.policy));
        assert_ok(sa_policy_select(scene.policy, scene.chooser, scene.request, &scene.proposed));
    }
    if (!held) {
        sa_policy_release(scene.policy);
        scene.policy = NULL;
    }
    return scene;
}

/* What the policy says is what it said before, whatever became of its agent. */
static void strike(stage *scene) {
    sa_agent_destroy(scene->agent);
    sa_agent_destroy(scene->loaded);
    if (scene->policy) {
        sa_decision *again = NULL;
        rig_contexts(300); /* others were in their place since */
        rig_expected(300);
        assert_ok(sa_policy_select(scene->policy, scene->chooser, scene->request, &again));
        sa_decision_destroy(scene->second);
        scene->second = again;
        assert_memory_equal(sa_decision_all_scores(again), sa_decision_all_scores(scene->proposed),
                            sa_decision_candidates(again) * sizeof(double));
        assert_memory_equal(sa_decision_arms(again), sa_decision_arms(scene->proposed),
                            sa_decision_slate(again) * sizeof(size_t));
    }
    sa_policy_release(scene->policy);
    sa_chooser_destroy(scene->chooser);
    sa_request_destroy(scene->request);
    sa_decision_destroy(scene->decision);
    sa_decision_destroy(scene->second);
    sa_decision_destroy(scene->old);
    sa_decision_destroy(scene->proposed);
}

static bool is_closed(sa_agent *agent) {
    sa_policy *policy = NULL;
    sa_status status = sa_agent_policy(agent, &policy);
    sa_policy_release(policy);
    assert_true(status == SA_OK || status == SA_CLOSED);
    return status == SA_CLOSED;
}

/* Every call but counting is refused. */
static void assert_closed(stage *scene) {
    uint64_t before = mark_counts(1, scene->agent);
    static const kind_of_call calls[] = {SELECT,  SELECT_AGAIN, SELECT_MANY, UPDATE,
                                         PARTIAL, LEARN,        TRAIN,       SAVE};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (calls[i] == SELECT_MANY && scene->options->count_pending) continue; /* never taken */
        assert_int_equal(make(scene, calls[i]), SA_CLOSED);
        assert_non_null(strstr(sa_last_error(), "closed"));
    }
    if (scene->proposed) assert_int_equal(make(scene, RECORD), SA_CLOSED);
    assert_int_equal(sa_agent_oracle(scene->agent, NULL), SA_CLOSED);
    assert_true(!scene->decision && !scene->second && mark_counts(1, scene->agent) == before);
    assert_int_not_equal(access(scratch("a.npz"), F_OK), 0);
}

static size_t closed, kept; /* calls that learn, and failed */

/* A call that failed has changed nothing that can be seen. */
static void assert_failed(stage *scene, kind_of_call call, size_t n, sa_status status, uint64_t counts,
                          uint64_t old) {
    if (status != SA_OUT_OF_MEMORY && status != SA_FILE)
        fail_msg("%s, call %d, allocation %zu: %s: %s", scene->text, (int)call, n, sa_status_name(status),
                 sa_last_error());
    assert_true(!scene->loaded && !scene->decision && (!scene->second || call >= UPDATE));
    if (scene->proposed) assert_true(sa_decision_id(scene->proposed) == UINT64_MAX);
    assert_true(mark_decision(1, scene->old) == old);
    if (is_closed(scene->agent)) {
        bool learns = call >= UPDATE || (call > LOAD && scene->options->count_pending);
        if (!learns) fail_msg("%s, call %d, allocation %zu: the agent is closed", scene->text, (int)call, n);
        assert_closed(scene);
        closed++;
        return;
    }
    kept += call >= UPDATE;
    if (mark_counts(1, scene->agent) != counts)
        fail_msg("%s, call %d, allocation %zu: the counts have changed", scene->text, (int)call, n);
}

/* True once the call needs no more than n - 1 allocations. `expected`: what its twin does. */
static bool sweep_once(const char *text, const sa_options *options, kind_of_call call, bool held, size_t n,
                       uint64_t expected) {
    long before = live;
    stage scene = raise_stage(text, options, call, held);
    uint64_t counts = mark_counts(1, scene.agent), old = mark_decision(1, scene.old);
    shortage(n);
    sa_status status = make(&scene, call);
    bool reached = was_short();
    if (status != SA_OK) assert_failed(&scene, call, n, status, counts, old);
    if (!is_closed(scene.agent)) {
        if (status != SA_OK) assert_ok(make(&scene, call)); /* again, with memory */
        uint64_t mark = scene.decision ? mark_decision(1, scene.decision) : mark_decision(1, scene.old);
        if (scene.second) mark = mark_decision(mark, scene.second);
        if ((mark ^ go_on(scene.agent)) != expected)
            fail_msg("%s, call %d, allocation %zu: it does not go on like its twin", text, (int)call, n);
    }
    strike(&scene);
    if (live != before)
        fail_msg("%s, call %d, allocation %zu: %ld blocks leak", text, (int)call, n, live - before);
    return !reached;
}

static uint64_t do_without_shortage(const char *text, const sa_options *options, kind_of_call call) {
    stage scene = raise_stage(text, options, call, false);
    assert_ok(make(&scene, call));
    uint64_t mark = scene.decision ? mark_decision(1, scene.decision) : mark_decision(1, scene.old);
    if (scene.second) mark = mark_decision(mark, scene.second);
    mark ^= go_on(scene.agent);
    strike(&scene);
    return mark;
}

/* Calls that leave nothing behind in the agent: one agent for all n. */
static void sweep_aside(const char *text, const sa_options *options, kind_of_call call) {
    stage scene = raise_stage(text, options, call, false), twin = raise_stage(text, options, call, false);
    uint64_t counts = mark_counts(1, scene.agent), old = mark_decision(1, scene.old);
    sa_status status = SA_INVALID;
    bool reached = true;
    if (call == LOAD) assert_ok(save(scene.agent, "saved.npz"));
    for (size_t n = 1; reached; n++) {
        remove(scratch("a.npz"));
        long before = live;
        shortage(n);
        status = make(&scene, call);
        reached = was_short();
        if (status == SA_OK) continue; /* whoever ran short could do without */
        assert_failed(&scene, call, n, status, counts, old);
        if (live != before)
            fail_msg("%s, call %d, allocation %zu: %ld blocks leak", text, (int)call, n, live - before);
        if (call == SAVE) assert_int_not_equal(access(scratch("a.npz"), F_OK), 0);
    }
    assert_ok(status);
    if (call == SAVE) assert_ok(sa_agent_load(scratch("a.npz"), &scene.loaded));
    uint64_t expected = go_on(twin.agent);
    assert_true(go_on(scene.agent) == expected);
    if (call != CREATE) assert_true(go_on(scene.loaded) == expected);
    remove(scratch("a.npz"));
    strike(&scene);
    strike(&twin);
}

typedef struct plan {
    const char *text;
    bool wide; /* with many requests and many arms, which take their time */
} plan;

static void sweep_plan(plan about) {
    const char *text = about.text;
    sa_options *options = rig_options(text);
    for (kind_of_call call = 0; call < CALLS; call++) {
        if (call < SELECT) sweep_aside(text, options, call);
        if (call < SELECT || (!about.wide && (call == SELECT_MANY || call == SELECT_LARGE))) continue;
        if (call == SELECT_MANY && options->count_pending) continue;
        uint64_t expected = do_without_shortage(text, options, call);
        bool learns = call >= UPDATE || (call == SELECT && options->count_pending);
        for (int held = 0; held <= (learns && call != PARTIAL); held++) {
            size_t n = 1;
            while (!sweep_once(text, options, call, held, n, expected)) n++;
            bool few = call == TRAIN || call == PARTIAL ||
                       options->feedback == SA_FEEDBACK_CASCADE; /* these may need nothing new */
            if (!few && n < 3)
                fail_msg("%s, call %d: only %zu allocations were seen", text, (int)call, n - 1);
        }
    }
    sa_options_destroy(options);
}

static void sweep(const char *text) { sweep_plan((plan){.text = text}); }
static void sweep_wide(const char *text) { sweep_plan((plan){.text = text, .wide = true}); }

static void dual(void **state) {
    (void)state;
    sweep_wide("hidden=44 train-every=1");
    sweep("hidden=44 train-every=1 precision=double count-pending=true");
    sweep("hidden=44 train-every=1 discount=0.9 train-batch=2");
    sweep("hidden=44 train-every=1 window=20");
}

static void primal(void **state) {
    (void)state;
    sweep_wide("hidden=3 train-every=1 normalize=standard");
    sweep("hidden=2 train-every=1 algorithm=cn-ts count-pending=true pending-limit=2000");
}

/* The feedback that the sweep gives ends an epoch; with decision 5 waiting. */
static void epochs(void **state) {
    (void)state;
    sweep("algorithm=cn-ucb-d epoch-length=5 hidden=44 train-every=1 epoch-hidden-growth=2");
    sweep("algorithm=cn-ts-d epoch-length=5 hidden=3 train-every=2 epoch-replay=schedule count-pending=true");
}

static void linear(void **state) {
    (void)state;
    sweep_wide("algorithm=comblin-ts");
    sweep("algorithm=comblin-ucb discount=0.9");
    sweep("algorithm=comblin-ucb floor=0.9");
    sweep("algorithm=comblin-ucb floor=0.9 oracle=assignment");
    sweep("algorithm=comblin-ucb linear-form=published");
}

static void feedback(void **state) {
    (void)state;
    sweep("feedback=position slate=12 hidden=44 train-every=1");
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
    sweep("confidence=exact hidden=100 rebuild=true train-every=1 count-pending=true");
    sweep("confidence=exact hidden=100 rebuild=true train-every=1 discount=0.9");
}

static void partitions(void **state) {
    (void)state;
    sweep("algorithm=cc-mab");
    sweep("algorithm=acc-ucb gamma=0"); /* every observation splits its cell */
}

static void references(void **state) {
    (void)state;
    sweep("algorithm=greedy hidden=3 train-every=1");
    sweep("algorithm=random");
    sweep("algorithm=best");
}

/* Else half of the sweep has tested nothing. */
static void both_were_seen(void **state) {
    (void)state;
    print_message("of calls that learn, %zu closed the agent and %zu left it as it was\n", closed, kept);
    assert_true(closed > 100 && kept > 100);
}

int main(void) {
    mallopt(M_MMAP_THRESHOLD,
            1 << 30); /* large blocks come and go thousands of times: from the heap they cost less */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dual),       cmocka_unit_test(primal),         cmocka_unit_test(epochs),
        cmocka_unit_test(linear),     cmocka_unit_test(feedback),       cmocka_unit_test(diagonal),
        cmocka_unit_test(sketch),     cmocka_unit_test(rebuilt),        cmocka_unit_test(partitions),
        cmocka_unit_test(references), cmocka_unit_test(both_were_seen),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
