/* Statuses: numbers that never change, a sentence per thread. */
#include "test_file_scratch.h"

#include <pthread.h>

static void numbers_never_change(void **state) {
    (void)state;
    assert_int_equal(SA_OK, 0);
    assert_int_equal(SA_OUT_OF_MEMORY, 1);
    assert_int_equal(SA_INVALID, 2);
    assert_int_equal(SA_UNKNOWN_DECISION, 3);
    assert_int_equal(SA_ALREADY_ANSWERED, 4);
    assert_int_equal(SA_FILE, 5);
    assert_int_equal(SA_FORMAT, 6);
    assert_int_equal(SA_NEWER, 7);
    assert_int_equal(SA_UNSUPPORTED, 8);
    assert_int_equal(SA_INTERRUPTED, 9);
    assert_int_equal(SA_CALLBACK, 10);
}

static void every_status_has_a_name_and_a_message(void **state) {
    (void)state;
    assert_string_equal(sa_status_name(SA_INVALID), "SA_INVALID");
    assert_string_equal(sa_status_message(SA_OK), "fine");
    assert_string_equal(sa_status_name((sa_status)1000), "unknown status");
    assert_string_equal(sa_status_message((sa_status)-1), "unknown status");
}

static void a_sentence_is_kept_and_prefixed(void **state) {
    (void)state;
    assert_int_equal(sa_fail(SA_INVALID, "--slate %d is more than --arms %d", 25, 20), SA_INVALID);
    assert_string_equal(sa_last_error(), "--slate 25 is more than --arms 20");
    assert_int_equal(sa_fail_prefix(SA_FILE, "%s: ", "spec.yaml"), SA_FILE);
    assert_string_equal(sa_last_error(), "spec.yaml: --slate 25 is more than --arms 20");
    sa_fail(SA_INVALID, "again: %s", sa_last_error()); /* an argument inside the old sentence */
    assert_string_equal(sa_last_error(), "again: spec.yaml: --slate 25 is more than --arms 20");
}

static void a_long_sentence_is_cut(void **state) {
    (void)state;
    char text[5000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    sa_fail(SA_INVALID, "%s", text);
    assert_int_equal(strlen(sa_last_error()), 1023);
    sa_fail_prefix(SA_INVALID, "%s", text);
    assert_int_equal(strlen(sa_last_error()), 1023);
}

static void *fail_elsewhere(void *before) {
    strcpy(before, sa_last_error());
    sa_fail(SA_FILE, "elsewhere");
    return NULL;
}

static void threads_have_sentences_of_their_own(void **state) {
    (void)state;
    char before[1024] = "?";
    pthread_t thread;
    sa_fail(SA_INVALID, "here");
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, before), 0);
    pthread_join(thread, NULL);
    assert_string_equal(before, "");
    assert_string_equal(sa_last_error(), "here");
}

static void memory_that_cannot_be_had_is_a_status(void **state) {
    (void)state;
    void *block = NULL;
    assert_fails(sa_alloc_array(SIZE_MAX, 8, &block), SA_OUT_OF_MEMORY,
                 "18446744073709551615 elements of 8 bytes");
    assert_fails(sa_alloc_matrix(SIZE_MAX / 2, 3, 1, &block), SA_OUT_OF_MEMORY, "x 3 elements");
    assert_null(block);
    assert_ok(sa_alloc_array(0, 8, &block));
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % 64, 0);
    sa_free(block);
}

static void a_grown_array_keeps_its_elements(void **state) {
    (void)state;
    int *array = NULL;
    size_t capacity = 0;
    for (int i = 0; i < 1000; i++) {
        assert_ok(sa_grow_array(&array, &capacity, (size_t)i + 1, sizeof *array));
        assert_int_equal(array[i], 0);
        array[i] = i;
    }
    for (int i = 0; i < 1000; i++) assert_int_equal(array[i], i);
    size_t before = capacity;
    assert_int_equal(sa_grow_array(&array, &capacity, SIZE_MAX / 2, sizeof *array), SA_OUT_OF_MEMORY);
    assert_int_equal(capacity, before);
    assert_int_equal(array[999], 999);
    sa_free(array);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_never_change),
        cmocka_unit_test(every_status_has_a_name_and_a_message),
        cmocka_unit_test(a_sentence_is_kept_and_prefixed),
        cmocka_unit_test(a_long_sentence_is_cut),
        cmocka_unit_test(threads_have_sentences_of_their_own),
        cmocka_unit_test(memory_that_cannot_be_had_is_a_status),
        cmocka_unit_test(a_grown_array_keeps_its_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
