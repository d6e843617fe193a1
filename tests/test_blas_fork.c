/* A fork while other threads are inside of BLAS: the child can multiply, and so can the parent. */
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

static float product(void) {
    float a[SIDE * SIDE], c[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) a[i] = 1;
    gemm_nt_f32(SIDE, SIDE, SIDE, 1, a, SIDE, a, SIDE, 0, c, SIDE);
    return c[0];
}

static void *multiply(void *unused) {
    (void)unused;
    while (!atomic_load(&stop)) product();
    return NULL;
}

static void test_a_forked_process_can_multiply(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, multiply, NULL), 0);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(PATIENCE);
            _exit(product() == SIDE ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        assert_true(product() == SIDE);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_forked_process_can_multiply)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
