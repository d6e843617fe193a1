/* What of the machine a process may use: processors by affinity, memory by the limits of control groups,
 * versions 1 and 2. */
#define _GNU_SOURCE
#include "test_file_scratch.h"

#include <sched.h>

#include "base/machine.h"

static void processors_are_those_it_may_run_on(void **state) {
    (void)state;
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    assert_int_equal(sa_processors(), CPU_COUNT(&all));
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &all)) continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
        assert_int_equal(sa_processors(), 1);
    }
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

static void put(const char *folder, const char *name, const char *text) {
    char path[600];
    assert_ok(sa_folder_make(scratch(folder)));
    snprintf(path, sizeof path, "%s/%s", scratch(folder), name);
    assert_ok(sa_file_write(path, text, strlen(text)));
}

static size_t limit(const char *groups) {
    put("proc", "cgroup", groups);
    return sa_cgroup_memory(scratch("proc/cgroup"), scratch("sys"));
}

static void memory_is_what_the_group_may_have(void **state) {
    (void)state;
    assert_true(sa_cgroup_memory(scratch("absent"), scratch("sys")) == SIZE_MAX);
    assert_true(limit("0::/\n") == SIZE_MAX);
    put("sys/a/b", "memory.max", "max\n");
    assert_true(limit("0::/a/b\n") == SIZE_MAX);
    put("sys/a", "memory.max", "3000000\n"); /* the least of all above it */
    assert_int_equal(limit("0::/a/b\n"), 3000000);
    put("sys/a/b", "memory.max", "2000000\n");
    assert_int_equal(limit("0::/a/b\n"), 2000000);
    assert_int_equal(limit("0::/a\n"), 3000000);
    assert_true(limit("0::/c\n") == SIZE_MAX);
    put("sys", "memory.max", "5000000\n"); /* a container's own, where the path is the host's */
    assert_int_equal(limit("0::/docker/1234\n"), 5000000);
    put("sys/memory/a", "memory.limit_in_bytes", "1000000\n");
    assert_int_equal(limit("7:cpuset:/a\n4:memory:/a\n0::/a/b\n"), 1000000);
    put("sys/memory", "memory.limit_in_bytes", "9223372036854771712\n"); /* what version 1 says for none */
    assert_true(limit("4:memory:/b\n") > (size_t)1 << 60);
    assert_true(limit("no line of this kind\n::\n") == 5000000);
}

static void the_machine_has_some(void **state) {
    (void)state;
    assert_true(sa_machine_memory() > 1 << 20);
    assert_true(sa_memory_available() > 0 && sa_memory_available() <= sa_machine_memory());
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(processors_are_those_it_may_run_on),
                                       cmocka_unit_test(memory_is_what_the_group_may_have),
                                       cmocka_unit_test(the_machine_has_some)};
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
