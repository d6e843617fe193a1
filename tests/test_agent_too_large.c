/* Sizes that overflow or that no machine has are SA_OUT_OF_MEMORY at once: nothing of that size is touched
 * first. */
#include "test_agent_rig.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static size_t peak_bytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (size_t)usage.ru_maxrss * 1024;
}

static void refuse(const char *text) {
    double start = seconds();
    sa_agent *agent = NULL;
    sa_status status = rig_try_create(text, &agent);
    if (status != SA_OUT_OF_MEMORY) fail_msg("%s: %s", text, sa_status_name(status));
    assert_null(agent);
    assert_true(strlen(sa_last_error()) > 10);
    if (peak_bytes() > (size_t)1 << 30) fail_msg("%s: %zu bytes were touched", text, peak_bytes());
    if (seconds() - start > 5) fail_msg("%s: it took %g seconds", text, seconds() - start);
}

static void networks_that_no_machine_has(void **state) {
    (void)state;
    refuse("hidden=10000000 depth=1000");
    refuse("hidden=10000000 depth=1000 precision=double preset=paper");
    refuse("hidden=10000000 depth=3");
    refuse("hidden=10000000 dim=10000000");
    refuse("hidden=1000000 dim=10000000 preset=paper");
    refuse("hidden=10000000 depth=1000 algorithm=greedy");
    refuse("algorithm=comblin-ucb dim=10000000");
}

/* Each copy of the weights alone would fit this machine, all of them together do not. */
static void networks_that_this_machine_has_not(void **state) {
    (void)state;
    double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double hidden = sqrt(machine / 2 / sizeof(float));
    if (hidden > 1e7) skip();
    char text[100];
    snprintf(text, sizeof text, "depth=3 hidden=%.0f optimizer=adam", floor(hidden / 2) * 2);
    refuse(text);
    snprintf(text, sizeof text, "algorithm=comblin-ts dim=%.0f", floor(0.7 * hidden));
    refuse(text);
    snprintf(text, sizeof text, "depth=3 hidden=%.0f optimizer=gd algorithm=greedy precision=double",
             floor(hidden / 2) * 2);
    refuse(text);
}

/* Contexts are borrowed, so a forged number of arms is found when room for them is asked for. */
static void more_arms_than_memory(void **state) {
    (void)state;
    static const size_t arms[] = {SIZE_MAX,      SIZE_MAX / 2,  SIZE_MAX / 8,
                                  SIZE_MAX / 40, SIZE_MAX / 64, (size_t)1 << 50};
    static const char *const texts[] = {"", "hidden=44", "algorithm=random",
                                        "precision=double normalize=standard"};
    for (size_t t = 0; t < 4; t++) {
        sa_agent *agent = rig_create(texts[t]), *twin = rig_create(texts[t]);
        sa_request *request = sa_request_new();
        sa_decision *decision = NULL;
        double start = seconds();
        for (size_t i = 0; i < sizeof arms / sizeof *arms; i++) {
            sa_request_contexts(request, rig_contexts(0), arms[i]);
            sa_request_expected(request, rig_expected(0));
            sa_request_slate(request, 2);
            assert_fails(sa_agent_select(agent, request, &decision), SA_OUT_OF_MEMORY, "no memory");
            sa_request_slate(request, arms[i]);
            assert_fails(sa_agent_select(agent, request, &decision), SA_OUT_OF_MEMORY, "no memory");
            assert_null(decision);
        }
        assert_true(seconds() - start < 5);
        rig_go_on_alike(agent, twin, 0, 20);
        sa_request_destroy(request);
        sa_agent_destroy(agent);
        sa_agent_destroy(twin);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_that_no_machine_has),
        cmocka_unit_test(networks_that_this_machine_has_not),
        cmocka_unit_test(more_arms_than_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
