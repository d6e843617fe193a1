/* The n-th allocation fails, for n = 1, 2, ... until all succeed: files of data give an environment or a
 * sentence, and leak nothing. Linked with --wrap for the allocators that the library calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "env/environment.h"
#include "temporary.h"
#include "test_parts.h"

void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *block);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *block);

static size_t allocations, fail_at; /* fail_at 0: none fails */
static long live;

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    if (++allocations == fail_at) return NULL;
    void *block = __real_aligned_alloc(alignment, size);
    live += block != NULL;
    return block;
}

void __wrap_free(void *block) {
    live -= block != NULL;
    __real_free(block);
}

static void sweep(const char *environment, const char *text) {
    const char *folder = temporary_folder(), *path = inside(folder, "data");
    write_text(path, text);
    sa_options *options = sa_options_new(NULL);
    assert_int_equal(sa_options_set_any(options, "environment", environment), SA_OK);
    assert_int_equal(sa_options_set_any(options, "data", path), SA_OK);
    assert_int_equal(sa_options_set_any(options, "arms", "2"), SA_OK);
    if (!strcmp(environment, "csv")) assert_int_equal(sa_options_set_any(options, "positive", "yes"), SA_OK);
    bool reached = true;
    size_t n = 0;
    while (reached) {
        sa_environment *made = NULL;
        long before = live;
        allocations = 0;
        fail_at = ++n;
        sa_status status = sa_environment_create(options, &made);
        reached = allocations >= fail_at;
        fail_at = 0;
        if (reached && (status != SA_OUT_OF_MEMORY || made))
            fail_msg("allocation %zu: %s", n, sa_last_error());
        if (!reached && status != SA_OK) fail_msg("%s", sa_last_error());
        sa_environment_destroy(made);
        if (live != before) fail_msg("allocation %zu: %ld blocks leak", n, live - before);
    }
    assert_true(n > 6);
    sa_options_destroy(options);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

static void test_csv(void **state) {
    (void)state;
    sweep("csv", "1,\"a "
                 "\"\"b\"\"\",?,yes\n2,c,3,no\n3,d,4,no\n4,e,5,no\n5,f,6,no\n6,g,7,no\n7,h,8,no\n8,i,9,no\n9,"
                 "j,1,no\n");
}

static void test_classes(void **state) {
    (void)state;
    sweep("classes", "1,a,?,yes\n2,c,3,no\n3,d,4,no\n4,e,5,no\n5,f,6,yes\n");
}

static void test_svmlight(void **state) {
    (void)state;
    sweep("svmlight", "1 qid:1 1:1 2:3\n0 qid:1 1:2\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_csv), cmocka_unit_test(test_classes),
                                       cmocka_unit_test(test_svmlight)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
