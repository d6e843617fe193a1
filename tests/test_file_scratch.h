/* What the tests of files share: a folder that is removed afterwards, and statuses compared with their
 * sentences. */
#ifndef TEST_FILE_SCRATCH_H
#define TEST_FILE_SCRATCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"

static char scratch_folder[256];

static inline int scratch_setup(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(scratch_folder, sizeof scratch_folder, "%s/superarm-test-XXXXXX", base && *base ? base : "/tmp");
    return mkdtemp(scratch_folder) ? 0 : -1;
}

static inline int scratch_teardown(void **state) {
    (void)state;
    return sa_path_remove(scratch_folder) == SA_OK ? 0 : -1;
}

/* Valid until four more calls. */
static inline const char *scratch(const char *name) {
    static char paths[4][512];
    static int next;
    next = (next + 1) % 4;
    snprintf(paths[next], sizeof paths[next], "%s/%s", scratch_folder, name);
    return paths[next];
}

#define assert_ok(call)                                                                                      \
    do {                                                                                                     \
        sa_status assert_status = (call);                                                                    \
        if (assert_status != SA_OK) fail_msg("%s: %s", sa_status_name(assert_status), sa_last_error());      \
    } while (0)

/* The call fails with this status and a sentence that has these words. */
#define assert_fails(call, expected, words)                                                                  \
    do {                                                                                                     \
        sa_status assert_status = (call);                                                                    \
        assert_string_equal(sa_status_name(assert_status), sa_status_name(expected));                        \
        if (!strstr(sa_last_error(), words)) fail_msg("\"%s\" lacks \"%s\"", sa_last_error(), words);        \
    } while (0)

/* The whole sentence. */
#define assert_says(call, expected, sentence)                                                                \
    do {                                                                                                     \
        sa_status assert_status = (call);                                                                    \
        assert_string_equal(sa_status_name(assert_status), sa_status_name(expected));                        \
        assert_string_equal(sa_last_error(), sentence);                                                      \
    } while (0)

#endif
