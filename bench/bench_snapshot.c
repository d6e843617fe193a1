/* What a policy costs, and what choosing with it costs while the agent goes on learning.
 *
 *   snapshot   the agent after 2000 slates of 4 (n = 8000 gradients, exact, d 80, m 100): microseconds of
 *              sa_agent_policy and
 *              sa_policy_release, of the next feedback with and without a policy held, and the bytes that the
 *                  policy keeps which the agent
 *              has replaced by then
 *   select     sketch, N 200, d 80: the median and the 99th percentile of sa_policy_select in one thread,
 *              while another thread spins
 *              outside the library, and while it learns, trains and publishes policies
 *
 * bench_snapshot [SLATES [SELECTS]] */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <superarm/superarm.h>

enum { DIM = 80, ARMS = 20, SLATE = 4, MANY = 200 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void check(sa_status status) {
    if (status == SA_OK) return;
    fprintf(stderr, "bench_snapshot: %s\n", sa_last_error());
    exit(1);
}

static float noise(uint64_t *state) { /* from -1 to 1 */
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (float)((double)(*state >> 40) / 8388608.0 - 1);
}

static void draw(float *contexts, size_t arms, uint64_t *state) {
    for (size_t i = 0; i < arms * DIM; i++) contexts[i] = noise(state) / 9;
}

static sa_agent *make(const char *confidence, const char *train) {
    const char *const set[][2] = {
        {"algorithm", "cn-ucb"}, {"dim", "80"}, {"confidence", confidence}, {"train", train}};
    sa_options *options = sa_options_new("icml23");
    sa_agent *agent = NULL;
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        check(sa_options_set(options, set[i][0], set[i][1]));
    check(sa_agent_create(options, &agent));
    sa_options_destroy(options);
    return agent;
}

/* One slate that somebody chose, and what came of it. */
static void teach(sa_agent *agent, sa_request *request, float *contexts, uint64_t *state) {
    double scores[SLATE];
    static const size_t arms[SLATE] = {0, 1, 2, 3};
    draw(contexts, ARMS, state);
    for (size_t k = 0; k < SLATE; k++) scores[k] = contexts[k * DIM] * contexts[k * DIM] * 81;
    sa_request_contexts_float(request, contexts, ARMS);
    sa_request_slate(request, SLATE);
    check(sa_agent_learn(agent, request, arms, scores, NULL, SLATE));
}

static size_t bytes_of(const sa_agent *agent) {
    sa_agent_counts counts;
    sa_agent_count(agent, &counts);
    return counts.bytes;
}

/* ---- a policy ---- */

static void measure_snapshot(size_t slates) {
    static float contexts[ARMS * DIM];
    enum { TURNS = 9 };
    uint64_t state = 1;
    sa_agent *agent = make("exact", "manual");
    sa_request *request = sa_request_new();
    for (size_t i = 0; i < slates; i++) teach(agent, request, contexts, &state);
    double taken = 1e9, released = 1e9, plain = 1e9, held = 1e9;
    size_t kept = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        sa_policy *policy = NULL;
        double start = seconds();
        teach(agent, request, contexts, &state);
        double alone = seconds();
        check(sa_agent_policy(agent, &policy));
        double got = seconds();
        teach(agent, request, contexts, &state);
        double shared = seconds();
        size_t before = bytes_of(agent);
        double letting = seconds();
        sa_policy_release(policy);
        double end = seconds();
        size_t copied = before - bytes_of(agent);
        if (copied > kept) kept = copied;
        if (alone - start < plain) plain = alone - start;
        if (got - alone < taken) taken = got - alone;
        if (shared - got < held) held = shared - got;
        if (end - letting < released) released = end - letting;
    }
    sa_agent_counts counts;
    sa_agent_count(agent, &counts);
    printf("n %llu, exact: a policy takes %.1f us, its release %.1f us\n", (unsigned long long)counts.counted,
           1e6 * taken, 1e6 * released);
    printf("feedback on a slate: %.0f us, the first after a policy was taken %.0f us\n", 1e6 * plain,
           1e6 * held);
    printf("kept by the policy and replaced by the agent: %.3f MB, of which the weights are %.3f MB\n",
           1e-6 * (double)kept, 1e-6 * 4 * (DIM * 100 + 100));
    sa_agent_destroy(agent);
    sa_request_destroy(request);
}

/* ---- choosing while another thread is at work ---- */

typedef struct shop {
    sa_agent *agent;
    pthread_mutex_t lock;
    sa_policy *latest;
    atomic_bool stop;
    bool learns;
    size_t learnt;
} shop;

static void *learn(void *argument) {
    shop *self = argument;
    float contexts[ARMS * DIM];
    uint64_t state = 7;
    volatile double spun = 0;
    sa_request *request = sa_request_new();
    while (!atomic_load(&self->stop)) {
        if (!self->learns) {
            for (int i = 0; i < 1000; i++) spun = spun + 1e-9 * i;
            continue;
        }
        sa_policy *fresh = NULL;
        teach(self->agent, request, contexts, &state);
        check(sa_agent_policy(self->agent, &fresh));
        pthread_mutex_lock(&self->lock);
        sa_policy *old = self->latest;
        self->latest = fresh;
        pthread_mutex_unlock(&self->lock);
        sa_policy_release(old);
        self->learnt++;
    }
    sa_request_destroy(request);
    return NULL;
}

static int by_size(const void *a, const void *b) {
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* The 99th percentile, in microseconds. */
static double choose(shop *self, size_t selects, bool learns) {
    float *contexts = malloc(MANY * DIM * sizeof *contexts);
    double *took = malloc(selects * sizeof *took);
    uint64_t state = 3;
    pthread_t thread;
    sa_chooser *chooser = sa_chooser_new();
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    self->learns = learns;
    atomic_store(&self->stop, false);
    pthread_create(&thread, NULL, learn, self);
    for (size_t i = 0; i < selects; i++) {
        draw(contexts, MANY, &state);
        sa_request_contexts_float(request, contexts, MANY);
        sa_request_slate(request, SLATE);
        double start = seconds();
        pthread_mutex_lock(&self->lock);
        sa_policy *policy = sa_policy_retain(self->latest);
        pthread_mutex_unlock(&self->lock);
        check(sa_policy_select(policy, chooser, request, &decision));
        took[i] = seconds() - start;
        sa_policy_release(policy);
    }
    atomic_store(&self->stop, true);
    pthread_join(thread, NULL);
    qsort(took, selects, sizeof *took, by_size);
    double last = 1e6 * took[selects * 99 / 100];
    printf("%-40s median %6.0f us, 99%% %6.0f us\n",
           learns ? "while another thread learns and trains" : "while another thread spins",
           1e6 * took[selects / 2], last);
    sa_decision_destroy(decision);
    sa_request_destroy(request);
    sa_chooser_destroy(chooser);
    free(took);
    free(contexts);
    return last;
}

static void measure_selects(size_t selects) {
    static float contexts[ARMS * DIM];
    uint64_t state = 1;
    shop self = {.agent = make("sketch", "auto"), .lock = PTHREAD_MUTEX_INITIALIZER};
    sa_request *request = sa_request_new();
    for (size_t i = 0; i < 300; i++) teach(self.agent, request, contexts, &state);
    check(sa_agent_policy(self.agent, &self.latest));
    double spinning = choose(&self, selects, false), learning = choose(&self, selects, true);
    printf("ratio of the 99%%: %.2f; slates learnt meanwhile: %zu\n", learning / spinning, self.learnt);
    sa_policy_release(self.latest);
    sa_agent_destroy(self.agent);
    sa_request_destroy(request);
}

int main(int count, char **words) {
    measure_snapshot(count > 1 ? (size_t)atol(words[1]) : 2000);
    measure_selects(count > 2 ? (size_t)atol(words[2]) : 2000);
    return 0;
}
