/* The agent is a function of its options, its seed and the journal's rows. The witness reads the database
 * with SQLite alone, row by row, and teaches an agent of its own; the service was asked by several threads
 * at once, stopped and started again in between. Both agents are the same files, and choose the same
 * slates. */
#include <jansson.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "serve_rig.h"
#include "temporary.h"

enum { DIM = 3, ARMS = 7, THREADS = 3, EVENTS = 40, LIVES = 3 };

static const char AGENT[] = "{\"options\": {\"algorithm\": \"cn-ts\", \"dim\": 3, \"hidden\": 6, "
                            "\"train-every\": 3, \"seed\": 11}, \"slate\": 2, "
                            "\"default_feedback\": 0, \"wait_seconds\": 0}";
static const char *const OPTIONS[][2] = {{"algorithm", "cn-ts"},   {"dim", "3"},   {"hidden", "6"},
                                         {"train-every", "3"},     {"seed", "11"}, {"slate", "2"},
                                         {"pending-limit", "1000"}};

/* ---- load ---- */

typedef struct visitor {
    sv_service *service;
    int life, number;
} visitor;

static void body_of(const visitor *self, int event, char body[2000]) {
    unsigned state = (unsigned)(self->life * 1000003 + self->number * 10007 + event * 101 + 7);
    int size = sprintf(body, "{\"event\": \"l%d-t%d-%d\", \"contexts\": [", self->life, self->number, event);
    for (int i = 0; i < ARMS; i++) {
        size += sprintf(body + size, "%s[", i ? ", " : "");
        for (int j = 0; j < DIM; j++) {
            state = state * 1664525u + 1013904223u;
            size += sprintf(body + size, "%s%.17g", j ? ", " : "", (double)state / 4294967296.0 - 0.5);
        }
        size += sprintf(body + size, "]");
    }
    sprintf(body + size, "]}");
}

static void *visit(void *user) {
    visitor *self = user;
    char body[2000];
    for (int i = 0; i < EVENTS; i++) {
        body_of(self, i, body);
        if (rig_ask(self->service, "POST", "/v1/agents/home/decide", body, NULL) != 201) abort();
        snprintf(body, sizeof body, "{\"event\": \"l%d-t%d-%d\", \"feedback\": [%s, %d]}", self->life,
                 self->number, i, i % 4 ? "0.25" : "null", i % 2);
        if (i % 5 && rig_ask(self->service, "POST", "/v1/agents/home/feedback", body, NULL) != 204) abort();
    }
    return NULL;
}

static void live(const char *folder, int life) {
    pthread_t threads[THREADS];
    visitor visitors[THREADS];
    sv_service *service = rig_start(folder, life == 1 ? 1000 : 0.01);
    assert_non_null(service);
    assert_int_equal(rig_ask(service, "PUT", "/v1/agents/home", AGENT, NULL), life ? 200 : 201);
    for (int i = 0; i < THREADS; i++) {
        visitors[i] = (visitor){service, life, i};
        assert_int_equal(pthread_create(&threads[i], NULL, visit, &visitors[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    sv_service_stop(service);
}

/* ---- the witness ---- */

static sa_agent *new_agent(void) {
    sa_agent *agent = NULL;
    sa_options *options = sa_options_new(NULL);
    assert_non_null(options);
    for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++)
        assert_int_equal(sa_options_set(options, OPTIONS[i][0], OPTIONS[i][1]), SA_OK);
    assert_int_equal(sa_agent_create(options, &agent), SA_OK);
    sa_options_destroy(options);
    return agent;
}

static void read_contexts(const char *body, double contexts[ARMS * DIM]) {
    json_t *root = json_loads(body, 0, NULL);
    assert_non_null(root);
    for (size_t i = 0; i < ARMS * DIM; i++)
        contexts[i] = json_number_value(
            json_array_get(json_array_get(json_object_get(root, "contexts"), i / DIM), i % DIM));
    json_decref(root);
}

static void teach(sa_agent *agent, sqlite3_stmt *row) {
    double contexts[ARMS * DIM], scores[2] = {0};
    bool observed[2];
    char body[4000] = "", data[200] = "";
    memcpy(body, sqlite3_column_blob(row, 1), (size_t)sqlite3_column_bytes(row, 1));
    memcpy(data, sqlite3_column_blob(row, 3), (size_t)sqlite3_column_bytes(row, 3));
    read_contexts(body, contexts);
    assert_int_equal(sqlite3_column_bytes(row, 2), 2 * sizeof(uint32_t));
    const uint32_t *chosen = sqlite3_column_blob(row, 2);
    size_t arms[2] = {chosen[0], chosen[1]};
    json_t *values = json_loads(data, 0, NULL);
    for (size_t i = 0; i < 2; i++) {
        observed[i] = json_is_number(json_array_get(values, i));
        if (observed[i]) scores[i] = json_number_value(json_array_get(values, i));
    }
    json_decref(values);
    sa_request *request = sa_request_new();
    sa_request_contexts(request, contexts, ARMS);
    sa_request_slate(request, 2);
    assert_int_equal(sa_agent_learn(agent, request, arms, scores, observed, 2), SA_OK);
    sa_request_destroy(request);
}

/* The number of rows. */
static int teach_all(const char *folder, sa_agent *agent) {
    sqlite3 *database;
    sqlite3_stmt *rows;
    int count = 0;
    assert_int_equal(sqlite3_open_v2(inside(folder, "journal.db"), &database, SQLITE_OPEN_READWRITE, NULL),
                     SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(
            database,
            "SELECT kind, d.body, d.arms, r.data, r.seq FROM rows r LEFT JOIN decisions d ON d.id = "
            "r.decision ORDER BY r.seq",
            -1, &rows, NULL),
        SQLITE_OK);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        assert_int_equal(sqlite3_column_int(rows, 4), ++count);
        if (sqlite3_column_int(rows, 0) == 3) teach(agent, rows);
    }
    sqlite3_finalize(rows);
    sqlite3_close(database);
    return count;
}

/* 48 bits of SHA-256 of agent, a byte 0 and event, by another program. */
static uint64_t draw_of(const char *event) {
    char command[200], hex[13] = "";
    snprintf(command, sizeof command, "printf 'home\\000%.60s' | sha256sum", event);
    FILE *from = popen(command, "r");
    assert_non_null(from);
    assert_int_equal(fread(hex, 1, 12, from), 12);
    pclose(from);
    return strtoull(hex, NULL, 16);
}

static void compare_choices(sv_service *service, sa_agent *agent) {
    char body[2000], *answer = NULL, expected[2000];
    double contexts[ARMS * DIM];
    visitor other = {service, 77, 7};
    sa_policy *policy = NULL;
    sa_chooser *chooser = sa_chooser_new();
    sa_decision *decision = NULL;
    sa_request *request = sa_request_new();
    assert_int_equal(sa_agent_policy(agent, &policy), SA_OK);
    for (int i = 0; i < 10; i++) {
        body_of(&other, i, body);
        assert_int_equal(rig_ask(service, "POST", "/v1/agents/home/decide", body, &answer), 201);
        read_contexts(body, contexts);
        sa_request_contexts(request, contexts, ARMS);
        sa_request_slate(request, 2);
        snprintf(expected, sizeof expected, "l77-t7-%d", i);
        sa_request_draw(request, draw_of(expected));
        assert_int_equal(sa_policy_select(policy, chooser, request, &decision), SA_OK);
        snprintf(expected, sizeof expected, "\"slate\": [%zu, %zu]", sa_decision_arms(decision)[0],
                 sa_decision_arms(decision)[1]);
        if (!strstr(answer, expected)) fail_msg("%s where %s was expected", answer, expected);
        free(answer);
    }
    sa_request_destroy(request);
    sa_decision_destroy(decision);
    sa_chooser_destroy(chooser);
    sa_policy_release(policy);
}

static void the_journal_is_the_agent(void **state) {
    (void)state;
    const char *folder = temporary_folder();
    for (int life = 0; life < LIVES; life++) live(folder, life);
    sa_agent *agent = new_agent();
    int rows = teach_all(folder, agent);
    assert_int_equal(rows, 1 + LIVES * THREADS * EVENTS * 4 / 5);
    sv_service_stop(
        rig_start(folder, 1000)); /* what the last life had not learnt yet, from its checkpoint on */
    char name[64];
    snprintf(name, sizeof name, "agent-1-%d.npz", rows);
    assert_int_equal(sa_agent_save(agent, inside(folder, "witness.npz")), SA_OK);
    assert_same_file(inside(folder, "witness.npz"), inside(folder, name));
    sv_service *service = rig_start(folder, 1000);
    assert_non_null(service);
    compare_choices(service, agent);
    sv_service_stop(service);
    sa_agent_destroy(agent);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_journal_is_the_agent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
