/* Four threads choose with the latest policy while one learns, trains, publishes and saves. What they choose
 * is what one thread gets from the same policy and request, bit for bit. */
#include "test_agent_mark.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { CHOOSERS = 4, ROUNDS = 100, ARMS = 60, SLATE = 3, SAMPLE = 40 };

/* ---- the latest policy ---- */

typedef struct board {
    pthread_mutex_t lock;
    sa_policy *latest;
    atomic_bool over;
    atomic_size_t made; /* decisions */
    bool awaited;       /* is there anybody who chooses? */
} board;

static sa_policy *take(board *self) {
    pthread_mutex_lock(&self->lock);
    sa_policy *policy = sa_policy_retain(self->latest);
    pthread_mutex_unlock(&self->lock);
    return policy;
}

static void publish(board *self, sa_policy *policy) {
    pthread_mutex_lock(&self->lock);
    sa_policy *before = self->latest;
    self->latest = policy;
    pthread_mutex_unlock(&self->lock);
    sa_policy_release(before);
}

/* ---- those who choose ---- */

typedef struct chooser {
    board *from;
    uint64_t number, made;
    pthread_t thread;
    bool failed;
    /* a sample of what it chose: the policy is kept */
    size_t kept;
    sa_policy *policy[SAMPLE];
    uint64_t asked[SAMPLE], mark[SAMPLE];
} chooser;

/* Every fifteenth has more arms than a block. */
static void ask(sa_request *request, double *contexts, uint64_t number) {
    size_t arms = number % 15 == 3 ? 10 * ARMS : ARMS;
    for (size_t i = 0; i < arms * RIG_DIM; i++) contexts[i] = rig_number(number, i);
    sa_request_contexts(request, contexts, arms);
    sa_request_slate(request, SLATE);
    sa_request_draw(request, number);
}

static bool choose(const sa_policy *policy, sa_chooser *work, uint64_t number, uint64_t *mark) {
    double *contexts = malloc(10 * ARMS * RIG_DIM * sizeof *contexts);
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    ask(request, contexts, number);
    bool good = sa_policy_select(policy, work, request, &decision) == SA_OK;
    if (good) *mark = mark_decision(1, decision);
    sa_decision_destroy(decision);
    sa_request_destroy(request);
    free(contexts);
    return good;
}

/* The sample is the first decision with each policy. Nothing of cmocka here: it is for one thread. */
static void *go_on_choosing(void *user) {
    chooser *self = user;
    sa_chooser *work = sa_chooser_new();
    while (!atomic_load(&self->from->over) || self->made == 0) {
        uint64_t number = self->number + CHOOSERS * self->made, mark = 0;
        sa_policy *policy = take(self->from);
        if (!choose(policy, work, number, &mark)) self->failed = true;
        atomic_fetch_add(&self->from->made, 1);
        bool sampled = self->kept < SAMPLE && (self->kept == 0 || self->policy[self->kept - 1] != policy);
        self->made++;
        if (sampled) {
            self->policy[self->kept] = policy;
            self->asked[self->kept] = number;
            self->mark[self->kept++] = mark;
        } else {
            sa_policy_release(policy);
        }
    }
    sa_chooser_destroy(work);
    return NULL;
}

/* ---- the one who learns ---- */

static void learn(sa_agent *agent, board *to) {
    sa_decision *decision = NULL;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        sa_policy *policy = NULL;
        uint64_t id = rig_select(agent, round, 20, SLATE, &decision);
        rig_answer(agent, id, SLATE);
        if (round % 20 == 7) assert_ok(sa_agent_train(agent));
        if (round % 30 == 11) assert_ok(save(agent, "while.npz"));
        if (round % 2) continue;
        assert_ok(sa_agent_policy(agent, &policy));
        publish(to, policy);
        for (size_t before = atomic_load(&to->made); to->awaited && atomic_load(&to->made) < before + 2;)
            sched_yield();
    }
    sa_decision_destroy(decision);
}

/* An agent that nobody looked at, with the same input. */
static void assert_like_one_alone(const char *text, const sa_agent *agent) {
    sa_agent *alone = rig_create(text);
    board unseen = {.lock = PTHREAD_MUTEX_INITIALIZER};
    learn(alone, &unseen);
    sa_policy_release(unseen.latest);
    rig_assert_same_counts(agent, alone);
    assert_ok(save(agent, "a.npz"));
    assert_ok(save(alone, "b.npz"));
    assert_true(mark_file(1, "a.npz") == mark_file(1, "b.npz"));
    sa_agent_destroy(alone);
}

static size_t check(chooser *self, sa_chooser *work) {
    assert_false(self->failed);
    assert_true(self->kept > 0);
    for (size_t i = 0; i < self->kept; i++) {
        uint64_t mark = 0;
        assert_true(choose(self->policy[i], work, self->asked[i], &mark));
        if (mark != self->mark[i]) fail_msg("request %d: the thread chose otherwise", (int)self->asked[i]);
        sa_policy_release(self->policy[i]);
    }
    return self->kept;
}

static void play(const char *text) {
    sa_agent *agent = rig_create(text);
    sa_chooser *work = sa_chooser_new();
    board posts = {.lock = PTHREAD_MUTEX_INITIALIZER, .awaited = true};
    chooser self[CHOOSERS] = {0};
    assert_ok(sa_agent_policy(agent, &posts.latest));
    for (uint64_t i = 0; i < CHOOSERS; i++) {
        self[i] = (chooser){.from = &posts, .number = i};
        assert_int_equal(pthread_create(&self[i].thread, NULL, go_on_choosing, &self[i]), 0);
    }
    learn(agent, &posts);
    atomic_store(&posts.over, true);
    for (size_t i = 0; i < CHOOSERS; i++) pthread_join(self[i].thread, NULL);
    assert_like_one_alone(text, agent);
    sa_agent_destroy(agent);
    sa_policy_release(posts.latest);
    size_t checked = 0;
    for (size_t i = 0; i < CHOOSERS; i++) checked += check(&self[i], work);
    print_message("%s: %zu decisions checked\n", text, checked);
    assert_true(checked > 20); /* 50 policies were published, each after two decisions by others */
    sa_chooser_destroy(work);
}

static void exact_dual(void **state) {
    (void)state;
    play("hidden=44 train-every=10");
    play("hidden=44 train-every=10 algorithm=cn-ts nu=1 normalize=standard");
    play("hidden=44 train-every=10 discount=0.99");
}

static void sketch(void **state) {
    (void)state;
    play("confidence=sketch sketch-size=16 hidden=8 train-every=10");
    play("confidence=auto sketch-size=16 hidden=8 train-every=10 algorithm=cn-ts nu=1");
}

static void others(void **state) {
    (void)state;
    play("hidden=3 train-every=10");
    play("confidence=diagonal hidden=8 train-every=10");
    play("algorithm=comblin-ucb");
    play("algorithm=neural-linear hidden=8 train-every=10");
    play("algorithm=acc-ucb gamma=0");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_dual), cmocka_unit_test(sketch),
                                       cmocka_unit_test(others)};
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
