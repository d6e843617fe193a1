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

/* ---- regions ---- */

enum { BLOCKS = 50, SMALL = 1000, LARGE = 3 << 20 };

static size_t bytes_of(size_t i) { return i % 10 == 3 ? SMALL : i % 10 == 7 ? LARGE : 150000 + 10000 * i; }

/* Blocks of all sizes: zeroed, aligned, apart from each other, and counted as all are. Regions fill up on the
 * way, are forgotten by who allocates in them before their blocks are freed, and go with the last of
 * these. */
static void blocks_of_a_region_are_blocks(void **state) {
    (void)state;
    sa_account *account = sa_account_open();
    assert_non_null(account);
    sa_account_charge(account);
    sa_region *region = NULL, *other = NULL;
    unsigned char *block[BLOCKS], *theirs;
    size_t total = 0, regions = 0;
    for (size_t i = 0; i < BLOCKS; i++) {
        const sa_region *before = region;
        assert_ok(sa_alloc_in_region(i % 2 && other ? &other : &region, bytes_of(i), 1, &block[i]));
        regions += region != before;
        if (i == 10) other = sa_region_hold(region); /* two allocate in one */
        assert_int_equal((uintptr_t)block[i] % 64, 0);
        for (size_t j = 0; j < bytes_of(i); j += 97) assert_int_equal(block[i][j], 0);
        memset(block[i], (int)i, bytes_of(i));
        total += bytes_of(i);
    }
    assert_true(regions > 1);
    sa_region_release(region);
    sa_region_release(other);
    assert_int_equal(sa_account_bytes(account), total);
    theirs = sa_hold(block[4]);
    assert_ok(sa_unshare(&block[4])); /* the copy is a block of its own */
    assert_ptr_not_equal(theirs, block[4]);
    memset(block[4], 99, bytes_of(4));
    assert_int_equal(theirs[bytes_of(4) - 1], 4);
    sa_free(theirs);
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t at = i * 7 % BLOCKS; /* in another order */
        for (size_t j = 0; j < bytes_of(at); j += 97) assert_int_equal(block[at][j], at == 4 ? 99 : at);
        sa_free(block[at]);
    }
    assert_int_equal(sa_account_bytes(account), 0);
    sa_account_charge(NULL);
    sa_account_close(account);
    assert_null(sa_region_hold(NULL));
    sa_region_release(NULL);
}

static void what_a_region_cannot_hold_changes_nothing(void **state) {
    (void)state;
    sa_region *region = NULL;
    void *block = NULL;
    assert_fails(sa_alloc_in_region(&region, SIZE_MAX / 2, 4, &block), SA_OUT_OF_MEMORY, "no memory");
    assert_fails(sa_alloc_in_region(&region, SIZE_MAX / 2, 1, &block), SA_OUT_OF_MEMORY, "no memory");
    assert_true(region == NULL && block == NULL);
    assert_ok(sa_alloc_in_region(&region, 0, 8, &block)); /* too small for one */
    assert_null(region);
    sa_free(block);
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
        cmocka_unit_test(blocks_of_a_region_are_blocks),
        cmocka_unit_test(what_a_region_cannot_hold_changes_nothing),
        cmocka_unit_test(accounts_count_what_is_charged),
        cmocka_unit_test(growing_is_charged_once),
        cmocka_unit_test(blocks_outlive_a_closed_account),
        cmocka_unit_test(any_thread_may_give_up_a_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
