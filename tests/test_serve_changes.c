/* Agents that are changed while they are asked: settings and policy are published together, and whatever
 * comes at once, each answer is one of those that the moment allows. SERVE_CHANGES_SECONDS=300 hammers for so
 * long, as ThreadSanitizer wants it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clock.h"
#include "serve_rig.h"
#include "temporary.h"

enum { WIDE = 400 };

static const char NARROW_ASK[] = "{\"contexts\": [[0, 1], [1, 0], [0.5, 0.5]]}";

/* {"contexts": three rows of `dim` numbers}; from malloc. */
static char *ask_of(size_t dim, const char *event) {
    sa_buffer out = {0};
    sa_buffer_format(&out, "{");
    if (event) sa_buffer_format(&out, "\"event\": \"%s\", ", event);
    sa_buffer_format(&out, "\"contexts\": [");
    for (size_t i = 0; i < 3; i++) {
        sa_buffer_format(&out, i ? ", [" : "[");
        for (size_t j = 0; j < dim; j++)
            sa_buffer_format(&out, "%s%g", j ? ", " : "", (double)((i + j) % 7) / 7);
        sa_buffer_format(&out, "]");
    }
    sa_buffer_format(&out, "]}");
    assert_int_equal(out.status, SA_OK);
    char *text = strdup(out.text);
    sa_buffer_clear(&out);
    return text;
}

static void agent_of(size_t dim, int steps, bool reset, char out[512]) {
    snprintf(out, 512,
             "{\"options\": {\"algorithm\": \"cn-ucb\", \"dim\": %zu, \"hidden\": 8, \"train-every\": 1, "
             "\"train-steps\": %d, \"companion\": false}, \"slate\": 2, \"default_feedback\": 0, "
             "\"wait_seconds\": 0%s}",
             dim, steps, reset ? ", \"reset\": true" : "");
}

/* A number of an answer: "name": 12. */
static double number_of(const char *json, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *at = strstr(json, key);
    return at ? strtod(at + strlen(key), NULL) : -1;
}

/* ---- a reset to another dim while the learner is busy ---- */

typedef struct putter {
    sv_service *service;
    const char *body;
    atomic_int status;
} putter;

static void *put_home(void *user) {
    putter *self = user;
    atomic_store(&self->status, rig_ask(self->service, "PUT", "/v1/agents/home", self->body, NULL));
    return NULL;
}

static void what_is_served_stays_until_the_next_is_there(void **state) {
    (void)state;
    const char *folder = temporary_folder();
    sv_service *service = rig_start(folder, 300);
    char narrow[512], wide[512], *wide_ask = ask_of(WIDE, NULL), *answer = NULL;
    agent_of(2, 300000, false, narrow);
    agent_of(WIDE, 1, true, wide);
    assert_non_null(service);
    assert_int_equal(rig_ask(service, "PUT", "/v1/agents/home", narrow, NULL), 201);
    char *first = ask_of(2, "e1");
    assert_int_equal(rig_ask(service, "POST", "/v1/agents/home/decide", first, NULL), 201);
    assert_int_equal(rig_ask(service, "POST", "/v1/agents/home/feedback",
                             "{\"event\": \"e1\", \"feedback\": [1, 0]}", NULL),
                     204); /* it trains now */
    putter self = {.service = service, .body = wide};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, put_home, &self), 0);
    bool seen = false;
    while (!atomic_load(&self.status)) {
        rig_ask(service, "GET", "/v1/agents/home", NULL, &answer);
        bool written = number_of(answer, "seq") == 3, busy = number_of(answer, "model") == 1;
        free(answer);
        int new = rig_ask(service, "POST", "/v1/agents/home/decide", wide_ask, &answer);
        if (new != 201) {
            assert_int_equal(new, 400);
            assert_non_null(strstr(answer, "and the agent's dim is 2\""));
        }
        free(answer);
        int old = rig_ask(service, "POST", "/v1/agents/home/decide", NARROW_ASK, NULL);
        rig_ask(service, "GET", "/v1/agents/home", NULL, &answer);
        bool still = number_of(answer, "model") == 1;
        free(answer);
        if (still) assert_int_equal(old, 201); /* as before the PUT */
        if (still) assert_int_equal(new, 400);
        seen = seen || (written && busy && still);
    }
    pthread_join(thread, NULL);
    assert_true(seen); /* else the learner was not busy, and nothing was tried */
    assert_int_equal(atomic_load(&self.status), 200);
    assert_int_equal(rig_ask(service, "POST", "/v1/agents/home/decide", wide_ask, NULL), 201);
    assert_int_equal(rig_ask(service, "POST", "/v1/agents/home/decide", NARROW_ASK, NULL), 400);
    sv_service_stop(service);
    free(wide_ask);
    free(first);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

/* ---- everything at once ---- */

typedef struct hammer {
    sv_service *service;
    double until;
    atomic_uint decided, wrong, events;
} hammer;

static bool is_one_of(int status, const int *allowed) {
    while (*allowed && *allowed != status) allowed++;
    return *allowed;
}

static void hit(hammer *self, const char *method, const char *path, const char *body, const int *allowed) {
    char *answer = NULL;
    int status = rig_ask(self->service, method, path, body, &answer);
    bool good = is_one_of(status, allowed);
    if (status == 400 && strstr(path, "/decide")) good = strstr(answer, "and the agent's dim is ");
    if (!good) {
        fprintf(stderr, "%s %s: %d %s\n", method, path, status, answer);
        atomic_fetch_add(&self->wrong, 1);
    }
    if (status == 201) atomic_fetch_add(&self->decided, 1);
    free(answer);
}

static void *decide(void *user) {
    static const int decided[] = {201, 400, 404, 503, 0}, fed[] = {204, 400, 404, 0};
    hammer *self = user;
    while (sv_clock_seconds() < self->until) {
        char event[32], feedback[96];
        unsigned number = atomic_fetch_add(&self->events, 1);
        snprintf(event, sizeof event, "e%u", number);
        snprintf(feedback, sizeof feedback, "{\"event\": \"%s\", \"feedback\": [1, 0]}", event);
        char *ask = ask_of(number % 2 ? 2 : WIDE, event);
        const char *name = number % 3 ? "home" : "gone";
        char path[64];
        snprintf(path, sizeof path, "/v1/agents/%s/decide", name);
        hit(self, "POST", path, ask, decided);
        snprintf(path, sizeof path, "/v1/agents/%s/feedback", name);
        hit(self, "POST", path, feedback, fed);
        free(ask);
    }
    return NULL;
}

static void *change(void *user) {
    static const int put[] = {200, 201, 404, 409, 0};
    hammer *self = user;
    char body[512];
    for (unsigned i = 0; sv_clock_seconds() < self->until; i++) {
        agent_of(i % 4 < 2 ? 2 : WIDE, 5 + (int)(i % 2), i % 2 == 0, body);
        hit(self, "PUT", "/v1/agents/home", body, put);
        agent_of(i % 2 ? 2 : WIDE, 5, i % 3 == 0, body);
        hit(self, "PUT", "/v1/agents/gone", body, put);
    }
    return NULL;
}

static void *remove_and_look(void *user) {
    static const int deleted[] = {204, 404, 0}, seen[] = {200, 404, 503, 0}, all[] = {200, 0};
    hammer *self = user;
    while (sv_clock_seconds() < self->until) {
        hit(self, "GET", "/v1/agents/home/model", NULL, seen);
        hit(self, "GET", "/v1/agents", NULL, all);
        hit(self, "GET", "/metrics", NULL, all);
        hit(self, "GET", "/v1/agents/gone", NULL, seen);
        hit(self, "DELETE", "/v1/agents/gone", NULL, deleted);
        hit(self, "GET", "/readyz", NULL, all);
    }
    return NULL;
}

static void every_answer_is_one_that_the_moment_allows(void **state) {
    enum { THREADS = 6 };
    static void *(*const parts[THREADS])(void *) = {decide, decide, change, change, remove_and_look, decide};
    pthread_t threads[THREADS];
    (void)state;
    const char *folder = temporary_folder(), *seconds = getenv("SERVE_CHANGES_SECONDS");
    sv_service *service = rig_start(folder, 0.5);
    assert_non_null(service);
    hammer self = {.service = service, .until = sv_clock_seconds() + (seconds ? strtod(seconds, NULL) : 3)};
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, parts[i], &self), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    printf("%u requests with 201\n", atomic_load(&self.decided));
    assert_int_equal(atomic_load(&self.wrong), 0);
    assert_true(atomic_load(&self.decided) > 10);
    sv_service_stop(service);
    service = rig_start(folder, 300); /* and all of it is in the journal */
    assert_non_null(service);
    assert_int_equal(sv_agents_broken(&service->agents, NULL), 0);
    sv_service_stop(service);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_served_stays_until_the_next_is_there),
                                       cmocka_unit_test(every_answer_is_one_that_the_moment_allows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
