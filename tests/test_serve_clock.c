/* The clock of the day is wrong: before 1970, or suddenly 100 days ahead. Nothing is thrown away, no wait
 * ends early, and what was decided is not decided again. The program's clocks are wrapped here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "journal_clock.h"
#include "serve_rig.h"
#include "temporary.h"

int __real_clock_gettime(clockid_t which, struct timespec *out);
int __wrap_clock_gettime(clockid_t which, struct timespec *out);

static volatile int64_t day_shift; /* seconds */
enum { DAY = 86400 };

int __wrap_clock_gettime(clockid_t which, struct timespec *out) {
    int result = __real_clock_gettime(which, out);
    if (which == CLOCK_REALTIME) out->tv_sec += day_shift;
    return result;
}

static const char SLOW[] =
    "{\"options\": {\"algorithm\": \"cn-ucb\", \"dim\": 2, \"hidden\": 4}, \"slate\": 2, "
    "\"default_feedback\": 0, \"wait_seconds\": 600, \"retention_days\": 90}";

static int decide(sv_service *service, const char *agent, const char *event) {
    char path[100], body[200];
    snprintf(path, sizeof path, "/v1/agents/%s/decide", agent);
    snprintf(body, sizeof body, "{\"event\": \"%s\", \"contexts\": [[0, 1], [1, 0], [0.5, 0.5]]}", event);
    return rig_ask(service, "POST", path, body, NULL);
}

static int click(sv_service *service, const char *agent, const char *event) {
    char path[100], body[200];
    snprintf(path, sizeof path, "/v1/agents/%s/feedback", agent);
    snprintf(body, sizeof body, "{\"event\": \"%s\", \"feedback\": [1, 0]}", event);
    return rig_ask(service, "POST", path, body, NULL);
}

static sv_service *begin(const char *folder) {
    sv_service *service = rig_start(folder, 0.1);
    assert_non_null(service);
    return service;
}

static void assert_shows(sv_service *service, const char *path, const char *text) {
    char *answer = NULL;
    assert_int_equal(rig_ask(service, "GET", path, NULL, &answer), 200);
    if (!strstr(answer, text)) fail_msg("%s has no %s: %s", path, text, answer);
    free(answer);
}

static void before_1970_it_works(void **state) {
    (void)state;
    const char *folder = temporary_folder();
    day_shift = -(int64_t)60 * 366 * DAY;
    sv_service *service = begin(folder);
    assert_int_equal(rig_ask(service, "PUT", "/v1/agents/home", RIG_AGENT, NULL), 201);
    assert_int_equal(decide(service, "home", "e1"), 201);
    assert_int_equal(click(service, "home", "e1"), 204);
    assert_shows(service, "/v1/agents/home", "\"series\"");
    assert_shows(service, "/v1/agents/home/log", "\"e1\"");
    assert_shows(service, "/metrics", "superarm_decisions_total");
    sv_service_stop(service);
    day_shift = 0; /* it is set at last */
    service = begin(folder);
    assert_int_equal(decide(service, "home", "e1"), 200);
    usleep(1500000); /* two passes of retention */
    assert_int_equal(decide(service, "home", "e1"), 200);
    assert_int_equal(decide(service, "home", "e2"), 201);
    sv_service_stop(service);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

static void check_kept(sv_service *service) {
    assert_int_equal(decide(service, "home", "learnt"), 200);
    assert_int_equal(decide(service, "home", "open"), 200);
    assert_int_equal(decide(service, "slow", "waits"), 200);
    assert_shows(service, "/v1/agents/slow", "\"waiting\": 1");
}

static void a_jump_throws_nothing_away(void **state) {
    (void)state;
    const char *folder = temporary_folder();
    day_shift = 0;
    sv_service *service = begin(folder);
    assert_int_equal(rig_ask(service, "PUT", "/v1/agents/home", RIG_AGENT, NULL), 201);
    assert_int_equal(rig_ask(service, "PUT", "/v1/agents/slow", SLOW, NULL), 201);
    assert_int_equal(decide(service, "home", "learnt"), 201);
    assert_int_equal(click(service, "home", "learnt"), 204);
    assert_int_equal(decide(service, "home", "open"), 201);
    assert_int_equal(click(service, "home", "learnt"), 204); /* a retry */
    assert_int_equal(decide(service, "home", "last"), 201);
    assert_int_equal(click(service, "home", "last"), 204);
    assert_int_equal(decide(service, "slow", "waits"), 201);
    usleep(500000); /* its checkpoint is there: retention could go this far */
    day_shift = 100 * DAY;
    usleep(1500000);
    check_kept(service);
    sv_service_stop(service);
    service = begin(folder); /* 100 days of standing still, it seems: an hour is believed */
    assert_int_equal(decide(service, "home", "learnt"), 200);
    assert_int_equal(decide(service, "home", "open"), 200);
    assert_int_equal(decide(service, "slow", "waits"), 200);
    usleep(1500000);
    assert_int_equal(decide(service, "home", "learnt"), 200);
    assert_int_equal(decide(service, "home", "open"), 200);
    day_shift = 0; /* and it is mended */
    assert_int_equal(decide(service, "slow", "new"), 201);
    usleep(1500000);
    assert_int_equal(click(service, "slow", "new"), 204);
    assert_shows(service, "/v1/agents/slow", "\"late\": 0");
    sv_service_stop(service);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

static void the_clock_goes_its_way(void **state) {
    (void)state;
    const int64_t hour = 3600000, day = 24 * hour, start = 20000 * day;
    sv_journal_clock clock;
    sv_journal_clock_begin(&clock, start, 10);
    assert_true(clock.waits == start && clock.kept == start);
    sv_journal_clock_advance(&clock, start + 60000, 70);
    assert_true(clock.waits == start + 60000 && clock.kept == start + 60000);
    sv_journal_clock_advance(&clock, start + 100 * day,
                             130); /* a jump: retention twice as fast, waits as ever */
    assert_true(clock.waits == start + 120000 && clock.kept == start + 180000);
    sv_journal_clock_advance(&clock, start - 100 * day, 190); /* back: on and on */
    assert_true(clock.waits == start + 180000 && clock.kept == start + 240000);
    sv_journal_clock_advance(&clock, start + 1000 * day,
                             250); /* years: a clock that had not been set is not followed */
    assert_true(clock.waits == start + 240000 && clock.kept == start + 300000);
    sv_journal_clock_advance(&clock, start + 4 * hour,
                             100000); /* it slept: an hour, and retention follows an hour more */
    assert_true(clock.waits == start + 240000 + hour && clock.kept == start + 300000 + 2 * hour);
    clock = (sv_journal_clock){.waits = start, .kept = start, .day = start};
    sv_journal_clock_resume(&clock, start + 30000, 5);
    assert_true(clock.waits == start + 30000 && clock.kept == start + 30000);
    sv_journal_clock_resume(&clock, start + 100 * day, 6);
    assert_true(clock.waits == start + 30000 + hour && clock.kept == start + 30000 + hour);
    sv_journal_clock_resume(&clock, start, 7); /* set back while it was stopped */
    assert_true(clock.waits == start + 30000 + hour && clock.kept == start + 30000 + hour);
    for (int i = 1; i <= 1000; i++) sv_journal_clock_advance(&clock, start, 7 + i * 0.0015);
    assert_in_range(clock.waits - start - 30000 - hour, 1499, 1500); /* parts of milliseconds are not lost */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_goes_its_way),
        cmocka_unit_test(before_1970_it_works),
        cmocka_unit_test(a_jump_throws_nothing_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
