/* Whoever gives an exchange to a lane has it no longer: it may be answered and freed before that call
 * returns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <pthread.h>

#include "http_lanes.h"

static _Thread_local bool slow; /* this thread leaves a lock and is not heard of before `gone` */
static atomic_bool gone;

int __real_pthread_mutex_unlock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock) {
    int status = __real_pthread_mutex_unlock(lock);
    for (int i = 0; slow && !atomic_load(&gone) && i < 10000; i++) usleep(1000);
    return status;
}

static void answer(sv_exchange *self) { self->status = 200; }

/* What is read of it from here on leads out of any array. */
static void done(sv_exchange *self) {
    memset(self, 0xa5, sizeof *self);
    atomic_store(&gone, true);
}

static void an_exchange_may_be_gone_before_put_returns(void **state) {
    (void)state;
    sv_refusal why = {0};
    sv_exchange exchange = {.lane = LANE_QUICK, .done = done};
    sv_http_lanes *lanes = sv_http_lanes_start(&(sv_http_lanes_options){.quick = 1, .answer = answer});
    assert_non_null(lanes);
    slow = true;
    bool taken = sv_http_lanes_put(lanes, &exchange, &why);
    slow = false;
    assert_true(taken && atomic_load(&gone) && !why.status);
    sv_http_lanes_stop(lanes);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_exchange_may_be_gone_before_put_returns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
