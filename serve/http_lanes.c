#define _GNU_SOURCE
#include "http_lanes.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "clock.h"
#include "thread_name.h"

enum { MOST_THREADS = 256, STACK = 2 << 20, LOWER = 10 };
static const double MOST_WAIT = 10; /* seconds in a lane; who has waited longer has given up */

/* Slow lanes run at a lower priority: what they do is somebody's own wish, and all the others are waiting. An
 * address has half of their places at most, and no two turns while another address waits. */
static const struct {
    const char *name;
    size_t most;      /* that wait */
    unsigned threads; /* 0: as the options say */
    bool slow;
} ABOUT[LANES] = {[LANE_QUICK] = {"quick", 4096, 0, false},
                  [LANE_LARGE] = {"large", 64, 1, true},
                  [LANE_SOLVER] = {"solver", 64, 2, true},
                  [LANE_ADMIN] = {"admin", 256, 2, false}};

typedef struct queue {
    pthread_cond_t filled;
    sv_exchange *first, **last;
    size_t count, idle; /* idle: threads that wait */
    const void *latest; /* whose turn it was */
} sv_queue;

struct http_lanes {
    sv_http_lanes_options options;
    pthread_mutex_t lock;
    sv_queue queues[LANES];
    bool stop;
    pthread_t threads[MOST_THREADS];
    size_t thread_count;
};

typedef struct start {
    sv_http_lanes *lanes;
    sv_lane lane;
} sv_start;

/* Where the next one is that is taken; of a slow lane the first of another address than the last time. */
static sv_exchange **next_of(sv_queue *queue, bool slow) {
    sv_exchange **at = &queue->first;
    while (slow && *at && (*at)->peer == queue->latest) at = &(*at)->next;
    return *at ? at : &queue->first;
}

static size_t waiting_of(const sv_queue *queue, const void *peer) {
    size_t count = 0;
    for (const sv_exchange *each = queue->first; each; each = each->next) count += each->peer == peer;
    return count;
}

static sv_exchange *take(sv_http_lanes *self, sv_lane lane) {
    sv_queue *queue = &self->queues[lane];
    pthread_mutex_lock(&self->lock);
    while (!queue->first && !self->stop) {
        queue->idle++;
        pthread_cond_wait(&queue->filled, &self->lock);
        queue->idle--;
    }
    sv_exchange **at = next_of(queue, ABOUT[lane].slow), *taken = *at;
    if (taken && !(*at = taken->next)) queue->last = at;
    if (taken) queue->latest = taken->peer;
    if (taken) queue->count--;
    pthread_mutex_unlock(&self->lock);
    return taken;
}

static void run(sv_http_lanes *self, sv_lane lane, sv_exchange *exchange) {
    sv_refusal why = {0};
    if (sv_clock_seconds() - exchange->queued > MOST_WAIT)
        sv_refuse(&why, 503, "the service was busy for %g seconds: try again later", MOST_WAIT);
    else
        self->options.answer(exchange);
    if (!why.status && !exchange->status && exchange->later) {
        exchange->later(exchange); /* somebody else's from here on */
        return;
    }
    if (!why.status && !exchange->status && exchange->lane != lane && sv_http_lanes_put(self, exchange, &why))
        return;
    if (why.status) sv_exchange_refuse(exchange, &why);
    exchange->done(exchange);
}

static void *work(void *user) {
    sv_start start = *(sv_start *)user;
    free(user);
    sv_thread_name(ABOUT[start.lane].name);
    if (ABOUT[start.lane].slow) setpriority(PRIO_PROCESS, (id_t)gettid(), LOWER);
    for (sv_exchange *each; (each = take(start.lanes, start.lane));) run(start.lanes, start.lane, each);
    return NULL;
}

static bool add_thread(sv_http_lanes *self, sv_lane lane) {
    pthread_attr_t about;
    sv_start *start = self->thread_count < MOST_THREADS ? malloc(sizeof *start) : NULL;
    if (!start) return false;
    *start = (sv_start){self, lane};
    pthread_attr_init(&about);
    pthread_attr_setstacksize(&about, STACK);
    bool made = !pthread_create(&self->threads[self->thread_count], &about, work, start);
    pthread_attr_destroy(&about);
    if (made)
        self->thread_count++;
    else
        free(start);
    return made;
}

sv_http_lanes *sv_http_lanes_start(const sv_http_lanes_options *options) {
    sv_http_lanes *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->options = *options;
    pthread_mutex_init(&self->lock, NULL);
    for (int lane = LANE_QUICK; lane < LANES; lane++) {
        pthread_cond_init(&self->queues[lane].filled, NULL);
        self->queues[lane].last = &self->queues[lane].first;
    }
    for (int lane = LANE_QUICK; lane < LANES; lane++)
        for (unsigned i = 0; i < (ABOUT[lane].threads ? ABOUT[lane].threads : options->quick); i++)
            if (!add_thread(self, (sv_lane)lane)) {
                sv_http_lanes_stop(self);
                return NULL;
            }
    return self;
}

bool sv_http_lanes_put(sv_http_lanes *self, sv_exchange *exchange, sv_refusal *why) {
    const sv_lane lane = exchange->lane; /* once it is in there, it may be answered and freed */
    sv_queue *queue = &self->queues[lane];
    exchange->next = NULL;
    exchange->queued = sv_clock_seconds();
    pthread_mutex_lock(&self->lock);
    size_t most = ABOUT[lane].most;
    bool room = queue->count < most,
         share = !ABOUT[lane].slow || !exchange->peer || waiting_of(queue, exchange->peer) < most / 2;
    if (room && share) {
        *queue->last = exchange;
        queue->last = &exchange->next;
        queue->count++;
        if (queue->idle) pthread_cond_signal(&queue->filled);
    }
    pthread_mutex_unlock(&self->lock);
    const char *name = ABOUT[lane].name;
    if (!room) return sv_refuse(why, 503, "%zu %s requests wait already: try again later", most, name);
    return share || sv_refuse(why, 503, "%zu %s requests of this address wait already: try again later",
                              most / 2, name);
}

size_t sv_http_lanes_waiting(sv_http_lanes *self, sv_lane lane) {
    pthread_mutex_lock(&self->lock);
    size_t count = self->queues[lane].count;
    pthread_mutex_unlock(&self->lock);
    return count;
}

void sv_http_lanes_stop(sv_http_lanes *self) {
    if (!self) return;
    pthread_mutex_lock(&self->lock);
    self->stop = true;
    for (int lane = LANE_QUICK; lane < LANES; lane++) pthread_cond_broadcast(&self->queues[lane].filled);
    pthread_mutex_unlock(&self->lock);
    for (size_t i = 0; i < self->thread_count; i++) pthread_join(self->threads[i], NULL);
    for (int lane = LANE_QUICK; lane < LANES; lane++) pthread_cond_destroy(&self->queues[lane].filled);
    pthread_mutex_destroy(&self->lock);
    free(self);
}
