/* A change of an agent on a disk that is nearly full: the agent stays as it was and goes on, and where the
 * change is in the journal already, it takes effect by itself once there is room. What the system says is
 * wrapped here. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>

#include <cmocka.h>

#include "serve_rig.h"
#include "temporary.h"

static volatile bool small, learner_has_no_room;

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_statvfs(const char *path, struct statvfs *out);
int __wrap_statvfs(const char *path, struct statvfs *out);

int __wrap_rename(const char *from, const char *to) {
    char name[17] = "";
    prctl(PR_GET_NAME, name);
    if (learner_has_no_room && !strcmp(name, "learn")) return errno = ENOSPC, -1;
    return __real_rename(from, to);
}

int __wrap_statvfs(const char *path, struct statvfs *out) {
    int result = __real_statvfs(path, out);
    if (small) out->f_bavail = 100;
    return result;
}

static const char CHANGED[] =
    "{\"options\": {\"algorithm\": \"cn-ucb\", \"dim\": 2, \"hidden\": 4, \"gamma\": 0.25}, "
    "\"slate\": 2, \"default_feedback\": 0, \"wait_seconds\": 0}";

static int decide(sv_service *service, int number) {
    char body[200];
    snprintf(body, sizeof body, "{\"event\": \"e%d\", \"contexts\": [[0, 1], [1, 0], [0.5, 0.5]]}", number);
    return rig_ask(service, "POST", "/v1/agents/home/decide", body, NULL);
}

static bool shows(sv_service *service, const char *text) {
    char *answer = NULL;
    assert_int_equal(rig_ask(service, "GET", "/v1/agents/home", NULL, &answer), 200);
    bool found = strstr(answer, text);
    free(answer);
    return found;
}

static sv_service *begin(const char *folder) {
    sv_service *service = rig_start(folder, 1000);
    assert_non_null(service);
    assert_int_equal(rig_ask(service, "PUT", "/v1/agents/home", RIG_AGENT, NULL), 201);
    assert_int_equal(decide(service, 1), 201);
    return service;
}

static void end(sv_service *service, const char *folder) {
    sv_service_stop(service);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

static void without_room_nothing_is_changed(void **state) {
    char *answer = NULL;
    (void)state;
    const char *folder = temporary_folder();
    sv_service *service = begin(folder);
    small = true;
    assert_int_equal(rig_ask(service, "PUT", "/v1/agents/home", CHANGED, &answer), 503);
    if (!strstr(answer, "disk")) fail_msg("%s", answer);
    free(answer);
    assert_true(shows(service, "\"seq\": 1,"));
    assert_false(shows(service, "\"gamma\""));
    assert_int_equal(decide(service, 2), 201);
    small = false;
    assert_int_equal(rig_ask(service, "PUT", "/v1/agents/home", CHANGED, NULL), 200);
    assert_true(shows(service, "\"gamma\""));
    end(service, folder);
}

static void a_change_waits_for_room(void **state) {
    (void)state;
    const char *folder = temporary_folder();
    sv_service *service = begin(folder);
    learner_has_no_room = true;
    assert_int_equal(rig_ask(service, "PUT", "/v1/agents/home", CHANGED, NULL), 503);
    assert_int_equal(decide(service, 2), 201); /* as it was */
    assert_true(shows(service, "\"model\": 1,"));
    learner_has_no_room = false;
    for (int i = 0; i < 1000 && !shows(service, "\"model\": 2,"); i++) usleep(10000);
    assert_true(shows(service, "\"model\": 2,"));
    assert_int_equal(decide(service, 3), 201);
    assert_int_equal(rig_ask(service, "PUT", "/v1/agents/home", CHANGED, NULL), 200);
    assert_int_equal(rig_ask(service, "GET", "/readyz", NULL, NULL), 200);
    end(service, folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_room_nothing_is_changed),
        cmocka_unit_test(a_change_waits_for_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
