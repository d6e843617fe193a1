/* A disk that is full, and one whose fsync fails: nothing more is acknowledged, /readyz says so, and
 * nothing that was acknowledged is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "serve_rig.h"
#include "serve_vfs.h"
#include "temporary.h"

static const char ASK[] = "{\"event\": \"e%d\", \"contexts\": [[0, 1], [1, 0], [0.5, 0.5]]}";

static int decide(sv_service *service, int number) {
    char body[200];
    snprintf(body, sizeof body, ASK, number);
    return rig_ask(service, "POST", "/v1/agents/home/decide", body, NULL);
}

static sv_service *begin(const char *folder) {
    sv_service *service = rig_start(folder, 1000);
    assert_non_null(service);
    return service;
}

static void a_full_disk_is_waited_out(void **state) {
    char *answer = NULL;
    (void)state;
    const char *folder = temporary_folder();
    sv_service *service = begin(folder);
    assert_int_equal(rig_ask(service, "PUT", "/v1/agents/home", RIG_AGENT, NULL), 201);
    assert_int_equal(decide(service, 1), 201);
    vfs.full = true;
    assert_int_equal(decide(service, 2), 503);
    assert_int_equal(rig_ask(service, "GET", "/readyz", NULL, &answer), 503);
    assert_non_null(strstr(answer, "full"));
    free(answer);
    assert_int_equal(decide(service, 1), 200); /* it is on disk, and nothing need be written */
    assert_int_equal(rig_ask(service, "GET", "/readyz", NULL, NULL), 503);
    vfs.full = false;
    for (int i = 0; i < 400 && rig_ask(service, "GET", "/readyz", NULL, NULL) != 200; i++) usleep(10000);
    assert_int_equal(rig_ask(service, "GET", "/readyz", NULL, NULL), 200); /* by itself, without a request */
    assert_int_equal(decide(service, 1), 200);
    assert_int_equal(decide(service, 2), 201);
    sv_service_stop(service);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

/* EDQUOT is not SQLite's idea of a full disk; it is ours. */
static void a_quota_is_waited_out(void **state) {
    (void)state;
    const char *folder = temporary_folder();
    sv_service *service = begin(folder);
    assert_int_equal(rig_ask(service, "PUT", "/v1/agents/home", RIG_AGENT, NULL), 201);
    assert_int_equal(decide(service, 1), 201);
    vfs.quota = true;
    assert_int_equal(decide(service, 2), 503);
    assert_int_equal(rig_ask(service, "GET", "/readyz", NULL, NULL), 503);
    vfs.quota = false;
    for (int i = 0; i < 400 && rig_ask(service, "GET", "/readyz", NULL, NULL) != 200; i++) usleep(10000);
    assert_int_equal(rig_ask(service, "GET", "/readyz", NULL, NULL), 200); /* by itself */
    assert_int_equal(decide(service, 1), 200);
    assert_int_equal(decide(service, 2), 201);
    sv_service_stop(service);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

/* About 40 KB. */
static int decide_much(sv_service *service, int number) {
    static char body[60000];
    int size = sprintf(body, "{\"event\": \"m%d\", \"contexts\": [", number);
    for (int i = 0; i < 2000; i++) size += sprintf(body + size, "%s[0.5, 0.123456]", i ? ", " : "");
    sprintf(body + size, "]}");
    return rig_ask(service, "POST", "/v1/agents/home/decide", body, NULL);
}

/* Commits succeed, and the log cannot be folded in: the system has thrown away pages of the database. */
static void a_sync_that_fails_while_folding_is_for_good(void **state) {
    char *answer = NULL;
    int acknowledged = 0;
    (void)state;
    const char *folder = temporary_folder();
    sv_service *service = begin(folder);
    assert_int_equal(rig_ask(service, "PUT", "/v1/agents/home", RIG_AGENT, NULL), 201);
    vfs.fails_foldings = true;
    while (acknowledged < 1000 && decide_much(service, acknowledged) == 201) acknowledged++;
    assert_in_range(acknowledged, 20, 999);
    vfs.fails_foldings = false; /* the system may report it once only */
    usleep(300000);
    assert_int_equal(decide_much(service, 5000), 503);
    assert_int_equal(rig_ask(service, "GET", "/readyz", NULL, NULL), 503);
    assert_int_equal(rig_ask(service, "GET", "/metrics", NULL, &answer), 200);
    assert_non_null(strstr(answer, "superarm_disk_ready 0"));
    free(answer);
    sv_service_stop(service);
    service = begin(folder);
    for (int i = 0; i < acknowledged; i++) assert_int_equal(decide_much(service, i), 200);
    assert_int_equal(decide_much(service, 5000), 201);
    sv_service_stop(service);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

static void a_failed_sync_is_for_good(void **state) {
    char *answer = NULL;
    (void)state;
    const char *folder = temporary_folder();
    sv_service *service = begin(folder);
    assert_int_equal(rig_ask(service, "PUT", "/v1/agents/home", RIG_AGENT, NULL), 201);
    for (int i = 0; i < 20; i++) assert_int_equal(decide(service, i), 201);
    vfs.fails_syncs = true;
    assert_int_equal(decide(service, 20), 503);
    vfs.fails_syncs = false; /* the system may report an error once only: who asks again gets a lie */
    assert_int_equal(decide(service, 21), 503);
    assert_int_equal(rig_ask(service, "GET", "/readyz", NULL, &answer), 503);
    assert_non_null(strstr(answer, "SQLite"));
    free(answer);
    assert_int_equal(rig_ask(service, "GET", "/healthz", NULL, NULL), 200);
    sv_service_stop(service);
    service = begin(folder);
    for (int i = 0; i < 20; i++) assert_int_equal(decide(service, i), 200);
    assert_int_equal(decide(service, 21), 201);
    sv_service_stop(service);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_disk_is_waited_out),
        cmocka_unit_test(a_quota_is_waited_out),
        cmocka_unit_test(a_failed_sync_is_for_good),
        cmocka_unit_test(a_sync_that_fails_while_folding_is_for_good),
    };
    vfs_register(false);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
