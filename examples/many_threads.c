/* Many threads choose, one learns. Each visitor is served by a thread with the latest policy; what came of it
 * goes to the learner, which records it, learns and publishes the next policy.
 *
 *     gcc many_threads.c $(pkg-config --cflags --libs superarm) -lpthread */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <superarm/superarm.h>

enum { ARMS = 20, DIM = 5, SLATE = 3, SERVERS = 3, VISITORS = 300 };

/* What a server hands to the learner. */
typedef struct visit {
    double contexts[ARMS * DIM];
    sa_decision *decision;
    double clicks[SLATE];
} visit;

typedef struct shop {
    pthread_mutex_t lock;
    sa_policy *policy; /* the latest */
    visit *waiting[VISITORS];
    size_t visitors, learnt; /* so far */
    double clicks;
} shop;

static void must(sa_status status) {
    if (status == SA_OK) return;
    fprintf(stderr, "%s\n", sa_last_error());
    exit(1);
}

static double noise(unsigned *state) { /* from -1 to 1 */
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (double)(1 << 23) - 1;
}

static void wait_a_little(void) { nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); }

/* Visitors come one after the other: the next one not long before the learner is done with those before. */
static bool is_open(shop *self, size_t number) {
    pthread_mutex_lock(&self->lock);
    bool open = number < self->learnt + 2 * SERVERS;
    pthread_mutex_unlock(&self->lock);
    return open;
}

static sa_request *request_for(visit *who) {
    sa_request *request = sa_request_new();
    if (!request) exit(1);
    sa_request_contexts(request, who->contexts, ARMS);
    sa_request_slate(request, SLATE);
    return request;
}

/* A server: one chooser a thread, the latest policy for each visitor. */
static void *serve(void *argument) {
    shop *self = argument;
    sa_chooser *chooser = sa_chooser_new();
    for (;;) {
        visit *now = calloc(1, sizeof *now);
        if (!now || !chooser) exit(1);
        pthread_mutex_lock(&self->lock);
        size_t number = self->visitors++;
        pthread_mutex_unlock(&self->lock);
        while (number < VISITORS && !is_open(self, number)) wait_a_little();
        pthread_mutex_lock(&self->lock);
        sa_policy *policy = sa_policy_retain(self->policy);
        pthread_mutex_unlock(&self->lock);
        unsigned state = (unsigned)number * 2654435761u;
        for (size_t i = 0; i < ARMS * DIM; i++) now->contexts[i] = noise(&state);
        sa_request *request = request_for(now);
        if (number < VISITORS) must(sa_policy_select(policy, chooser, request, &now->decision));
        sa_request_destroy(request);
        sa_policy_release(policy);
        if (number >= VISITORS) {
            free(now);
            sa_chooser_destroy(chooser);
            return NULL;
        }
        for (size_t k = 0; k < SLATE; k++) /* visitors like the first feature */
            now->clicks[k] = now->contexts[sa_decision_arms(now->decision)[k] * DIM] > 0.3;
        pthread_mutex_lock(&self->lock);
        self->waiting[number] = now;
        pthread_mutex_unlock(&self->lock);
    }
}

/* The learner: takes visits in order, so that what is learnt does not depend on which thread was faster. */
static void learn(shop *self, sa_agent *agent) {
    while (self->learnt < VISITORS) {
        pthread_mutex_lock(&self->lock);
        visit *next = self->waiting[self->learnt];
        pthread_mutex_unlock(&self->lock);
        if (!next) {
            wait_a_little();
            continue;
        }
        sa_request *request = request_for(next);
        must(sa_agent_record(agent, request, next->decision));
        must(sa_agent_update(agent, sa_decision_id(next->decision), next->clicks, NULL, SLATE));
        sa_policy *fresh = NULL;
        must(sa_agent_policy(agent, &fresh));
        pthread_mutex_lock(&self->lock);
        sa_policy *old = self->policy;
        self->policy = fresh;
        pthread_mutex_unlock(&self->lock);
        sa_policy_release(old); /* servers that still choose with it keep it */
        if (self->learnt >= VISITORS / 2)
            for (size_t k = 0; k < SLATE; k++) self->clicks += next->clicks[k];
        sa_request_destroy(request);
        sa_decision_destroy(next->decision);
        free(next);
        pthread_mutex_lock(&self->lock);
        self->learnt++;
        pthread_mutex_unlock(&self->lock);
    }
}

int main(void) {
    shop self = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t server[SERVERS];
    sa_options *options = sa_options_new("tuned");
    sa_agent *agent = NULL;
    must(sa_options_set(options, "dim", "5"));
    must(sa_options_set(options, "confidence",
                        "sketch")); /* widths that cost the same however long the shop is open */
    must(sa_agent_create(options, &agent));
    must(sa_agent_policy(agent, &self.policy));
    for (size_t i = 0; i < SERVERS; i++) pthread_create(&server[i], NULL, serve, &self);
    learn(&self, agent);
    for (size_t i = 0; i < SERVERS; i++) pthread_join(server[i], NULL);
    printf("%zu visitors; clicks a slate in the second half: %.2f of %d\n", self.learnt,
           self.clicks / (VISITORS - VISITORS / 2), SLATE);
    sa_policy_release(self.policy);
    sa_agent_destroy(agent);
    sa_options_destroy(options);
    return 0;
}
