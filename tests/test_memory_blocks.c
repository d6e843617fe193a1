/* Blocks with several holders, and accounts: who frees, who copies, and whose bytes they are. */
#include "test_file_scratch.h"

#include <pthread.h>

/* ---- holders ---- */

static void the_last_holder_frees(void **state) {
    (void)state;
    sa_account *account = sa_account_open();
    assert_non_null(account);
    sa_account_charge(account);
    char *block = NULL;
    assert_ok(sa_alloc_array(100, 3, &block));
    sa_account_charge(NULL);
    assert_false(sa_is_shared(block));
    for (int holder = 0; holder < 3; holder++) {
        assert_ptr_equal(sa_hold(block), block);
        assert_true(sa_is_shared(block));
    }
    for (int holder = 0; holder < 3; holder++) {
        assert_true(sa_is_shared(block));
        sa_free(block);
        assert_int_equal(sa_account_bytes(account), 300); /* somebody holds it still */
    }
    assert_false(sa_is_shared(block));
    sa_free(block);
    assert_int_equal(sa_account_bytes(account), 0);
    sa_account_close(account);
    assert_null(sa_hold(NULL));
    sa_free(NULL);
}

/* A block that holds others: only the last holder frees those. */
static void only_the_last_holder_is_last(void **state) {
    (void)state;
    sa_account *account = sa_account_open();
    assert_non_null(account);
    sa_account_charge(account);
    struct outer {
        double *inner;
    } *outer = NULL;
    assert_ok(sa_alloc_array(1, sizeof *outer, &outer));
    assert_ok(sa_alloc_array(10, sizeof *outer->inner, &outer->inner));
    sa_account_charge(NULL);
    sa_hold(outer);
    sa_hold(outer);
    assert_false(sa_is_last(outer));
    assert_false(sa_is_last(outer));
    assert_false(sa_is_shared(outer));
    assert_true(sa_is_last(outer)); /* who is now to free all of it */
    assert_int_equal(sa_account_bytes(account), sizeof *outer + 10 * sizeof(double));
    sa_free(outer->inner);
    sa_free(outer);
    assert_int_equal(sa_account_bytes(account), 0);
    sa_account_close(account);
}

static void an_owner_copies_what_others_hold(void **state) {
    (void)state;
    int *mine = NULL;
    assert_ok(sa_alloc_array(5, sizeof *mine, &mine));
    for (int i = 0; i < 5; i++) mine[i] = i;
    int *before = mine;
    assert_ok(sa_unshare(&mine));
    assert_ptr_equal(mine, before); /* nobody else holds it */
    int *theirs = sa_hold(mine);
    assert_ok(sa_unshare(&mine));
    assert_ptr_not_equal(mine, theirs);
    assert_memory_equal(mine, theirs, 5 * sizeof *mine);
    assert_false(sa_is_shared(mine) || sa_is_shared(theirs));
    mine[2] = 7;
    assert_int_equal(theirs[2], 2);
    assert_int_equal((uintptr_t)mine % 64, 0);
    sa_free(theirs);
    sa_free(mine);
    int *none = NULL;
    assert_ok(sa_unshare(&none));
    assert_null(none);
    assert_ok(sa_alloc_array(0, sizeof *none, &none)); /* blocks of nothing have holders too */
    theirs = sa_hold(none);
    assert_ok(sa_unshare(&none));
    assert_ptr_not_equal(none, theirs);
    sa_free(none);
    sa_free(theirs);
}

/* Growing is leaving: others keep the old block. */
static void growing_gives_up_one_hold(void **state) {
    (void)state;
    int *mine = NULL;
    size_t capacity = 0;
    assert_ok(sa_grow_array(&mine, &capacity, 4, sizeof *mine));
    for (size_t i = 0; i < capacity; i++) mine[i] = (int)i;
    int *theirs = sa_hold(mine);
    size_t had = capacity;
    assert_ok(sa_grow_array(&mine, &capacity, had + 1, sizeof *mine));
    assert_ptr_not_equal(mine, theirs);
    assert_memory_equal(mine, theirs, had * sizeof *mine);
    assert_false(sa_is_shared(theirs));
    sa_free(theirs);
    sa_free(mine);
}

/* ---- accounts ---- */

static void accounts_count_what_is_charged(void **state) {
    (void)state;
    sa_account *one = sa_account_open(), *other = sa_account_open();
    assert_true(one && other);
    void *a = NULL, *b = NULL, *c = NULL, *d = NULL;
    assert_null(sa_account_charge(one));
    assert_ok(sa_alloc_array(1000, 8, &a));
    assert_ptr_equal(sa_account_charge(other), one);
    assert_ok(sa_alloc_matrix(10, 10, 4, &b));
    assert_ptr_equal(sa_account_charge(NULL), other);
    assert_ok(sa_alloc_array(1 << 20, 1, &c)); /* nobody's */
    assert_int_equal(sa_account_bytes(one), 8000);
    assert_int_equal(sa_account_bytes(other), 400);
    sa_account_charge(other);
    void *held = sa_hold(a);
    assert_int_equal(sa_account_bytes(other), 400); /* holding costs nothing */
    assert_ok(sa_unshare(&a));                      /* the copy is charged to who makes it */
    assert_int_equal(sa_account_bytes(one), 8000);
    assert_int_equal(sa_account_bytes(other), 8400);
    assert_fails(sa_alloc_array(SIZE_MAX / 2, 1, &d), SA_OUT_OF_MEMORY, "no memory");
    assert_int_equal(sa_account_bytes(other), 8400);
    sa_account_charge(NULL);
    sa_free(held);
    assert_int_equal(sa_account_bytes(one), 0);
    sa_free(a);
    sa_free(b);
    assert_int_equal(sa_account_bytes(other), 0);
    sa_free(c);
    sa_account_close(one);
    sa_account_close(other);
    sa_account_close(NULL);
}

static void growing_is_charged_once(void **state) {
    (void)state;
    sa_account *account = sa_account_open();
    assert_non_null(account);
    sa_account_charge(account);
    double *array = NULL;
    size_t capacity = 0;
    for (size_t needed = 1; needed < 5000; needed += 7) {
        assert_ok(sa_grow_array(&array, &capacity, needed, sizeof *array));
        assert_int_equal(sa_account_bytes(account), capacity * sizeof *array);
    }
    sa_account_charge(NULL);
    sa_free(array);
    assert_int_equal(sa_account_bytes(account), 0);
    sa_account_close(account);
}

/* An account that was closed lasts as long as its blocks (the sanitizers see whether it does, and whether it
 * goes). */
static void blocks_outlive_a_closed_account(void **state) {
    (void)state;
    sa_account *account = sa_account_open();
    assert_non_null(account);
    sa_account_charge(account);
    char *first = NULL, *second = NULL;
    assert_ok(sa_alloc_array(10, 1, &first));
    assert_ok(sa_alloc_array(20, 1, &second));
    sa_account_charge(NULL);
    sa_free(first);
    sa_account_close(account);
    assert_int_equal(sa_account_bytes(account), 20);
    sa_free(second);
}

/* ---- threads ---- */

enum { THREADS = 4, TIMES = 2000 };

typedef struct reader {
    pthread_t thread;
    const sa_account *before; /* that its thread charged at first */
    void *block[TIMES];
} reader;

static void *give_up(void *user) {
    reader *self = user;
    self->before = sa_account_charge(NULL);
    for (size_t i = 0; i < TIMES; i++) {
        assert_int_equal(*(size_t *)self->block[i], i);
        sa_free(self->block[i]);
    }
    return NULL;
}

/* One thread holds and rewrites, others give up what they were handed: each reads what was there, and nothing
 * stays. */
static void any_thread_may_give_up_a_hold(void **state) {
    (void)state;
    static reader readers[THREADS];
    sa_account *account = sa_account_open();
    assert_non_null(account);
    sa_account_charge(account);
    size_t *value = NULL;
    assert_ok(sa_alloc_array(1, sizeof *value, &value));
    for (size_t i = 0; i < TIMES; i++) {
        assert_ok(sa_unshare(&value));
        *value = i;
        for (size_t r = 0; r < THREADS; r++) readers[r].block[i] = sa_hold(value);
    }
    for (size_t r = 0; r < THREADS; r++)
        assert_int_equal(pthread_create(&readers[r].thread, NULL, give_up, &readers[r]), 0);
    for (size_t i = 0; i < TIMES; i++) { /* meanwhile */
        assert_ok(sa_unshare(&value));
        *value = 1000000 + i;
    }
    for (size_t r = 0; r < THREADS; r++) {
        assert_int_equal(pthread_join(readers[r].thread, NULL), 0);
        assert_null(readers[r].before); /* charging is a thread's own */
    }
    assert_false(sa_is_shared(value));
    assert_int_equal(sa_account_bytes(account), sizeof *value);
    assert_ptr_equal(sa_account_charge(NULL), account);
    sa_free(value);
    assert_int_equal(sa_account_bytes(account), 0);
    sa_account_close(account);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_holder_frees),
        cmocka_unit_test(only_the_last_holder_is_last),
        cmocka_unit_test(an_owner_copies_what_others_hold),
        cmocka_unit_test(growing_gives_up_one_hold),
        cmocka_unit_test(accounts_count_what_is_charged),
        cmocka_unit_test(growing_is_charged_once),
        cmocka_unit_test(blocks_outlive_a_closed_account),
        cmocka_unit_test(any_thread_may_give_up_a_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
