/* A fork while other threads are inside of BLAS or LAPACK: the child can use both, and so can the parent. */
#define SA_REAL_BITS 32
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "linalg/blas.h"

enum { SIDE = 8, THREADS = 3, FORKS = 100, PATIENCE = 100 /* seconds, for a child that hangs */ };

static atomic_bool stop;

static bool multiplies(void) {
    float a[SIDE * SIDE], c[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) a[i] = 1;
    gemm_nt_f32(SIDE, SIDE, SIDE, 1, a, SIDE, a, SIDE, 0, c, SIDE);
    return c[0] == SIDE;
}

/* 4 I, from its factor 2 I */
static bool inverts(void) {
    float a[SIDE * SIDE] = {0};
    for (int i = 0; i < SIDE; i++) a[i * SIDE + i] = 2;
    return cholesky_inverse_f32(SIDE, a, SIDE) == SA_OK && a[0] == 0.25F;
}

typedef bool work(void);

static void *again_and_again(void *user) {
    work *const *what = user;
    while (!atomic_load(&stop)) (*what)();
    return NULL;
}

static void fork_during(work *what) {
    pthread_t threads[THREADS];
    atomic_store(&stop, false);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, again_and_again, &what), 0);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(PATIENCE);
            _exit(what() ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        assert_true(what());
    }
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void test_a_forked_process_can_multiply(void **state) {
    (void)state;
    fork_during(multiplies);
}

static void test_a_forked_process_can_invert(void **state) {
    (void)state;
    fork_during(inverts);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_forked_process_can_multiply),
                                       cmocka_unit_test(test_a_forked_process_can_invert)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
