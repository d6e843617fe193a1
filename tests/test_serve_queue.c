/* The writer's queue: jobs share commits, each agent has half of it, and what does not fit is refused and not
 * forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "bounds.h"
#include "temporary.h"
#include "writer.h"

typedef struct held {
    sv_job job;
    atomic_bool *gate; /* waits for it to open; NULL: runs through */
    atomic_uint *ended;
} held;

static sv_store_status run(sv_job *base, sv_store *store) {
    held *self = (held *)base;
    (void)store;
    while (self->gate && !atomic_load(self->gate)) usleep(1000);
    return STORE_OK;
}

static void end(sv_job *base, sv_store_status status) {
    assert_int_equal(status, STORE_OK);
    atomic_fetch_add(((held *)base)->ended, 1);
}

static void what_does_not_fit_is_refused(void **state) {
    enum { JOBS = LIMIT_QUEUE + 10 };
    static held jobs[JOBS];
    (void)state;
    const char *folder = temporary_folder();
    sa_buffer sentence = {0};
    sv_refusal why = {0};
    atomic_bool gate = false;
    atomic_uint ended = 0, agents[3] = {0, 0, 0};
    sv_store *store = sv_store_open(folder, true, &sentence);
    assert_non_null(store);
    sv_writer *writer = sv_writer_start(store, NULL, 0, NULL);
    assert_non_null(writer);
    held first = {.job = {.run = run, .end = end}, .gate = &gate, .ended = &ended};
    assert_true(sv_writer_submit(writer, &first.job, &why));
    while (sv_writer_queue(writer)) usleep(1000); /* it is being run */

    size_t taken = 0, too_many = 0;
    for (size_t i = 0; i < JOBS; i++) {
        atomic_uint *agent = &agents[i < LIMIT_QUEUE / 2 + 5 ? 0 : i % 2 + 1];
        jobs[i] = (held){.job = {.run = run, .end = end, .queued = agent}, .ended = &ended};
        if (sv_writer_submit(writer, &jobs[i].job, &why)) {
            taken++;
            continue;
        }
        if (agent == &agents[0]) {
            assert_int_equal(why.status, 429); /* one agent's share */
            too_many++;
        } else
            assert_int_equal(why.status, 503); /* all of it */
    }
    assert_int_equal(too_many, 5);
    assert_int_equal(taken, LIMIT_QUEUE);
    assert_int_equal(atomic_load(&agents[0]), LIMIT_QUEUE / 2);
    atomic_store(&gate, true);
    sv_writer_stop(writer); /* after all that was taken */
    assert_int_equal(atomic_load(&ended), LIMIT_QUEUE + 1);
    for (int i = 0; i < 3; i++) assert_int_equal(atomic_load(&agents[i]), 0);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

/* ---- maintenance ---- */

typedef struct looked {
    sv_maintenance base;
    atomic_uint count;
} looked;

static bool look(sv_maintenance *base, sv_store *store) {
    (void)store;
    atomic_fetch_add(&((looked *)base)->count, 1);
    return false;
}

/* It calls the learner, which is started after the writer: not a moment before it is there. */
static void maintenance_waits_for_those_whom_it_calls(void **state) {
    (void)state;
    sa_buffer sentence = {0};
    looked each = {.base = {.wanted = look}};
    atomic_uint ended = 0;
    sv_refusal why = {0};
    sv_store *store = sv_store_open(temporary_folder(), true, &sentence);
    assert_non_null(store);
    sv_writer *writer = sv_writer_start(store, (sv_maintenance *[]){&each.base}, 1, NULL);
    held job = {.job = {.run = run, .end = end}, .ended = &ended};
    assert_true(sv_writer_submit(writer, &job.job, &why));
    while (!atomic_load(&ended)) usleep(1000); /* a whole turn, and then one without jobs */
    usleep(150000);
    assert_int_equal(atomic_load(&each.count), 0);
    sv_writer_do_maintenance(writer);
    while (!atomic_load(&each.count)) usleep(1000);
    sv_writer_stop(writer);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_does_not_fit_is_refused),
                                       cmocka_unit_test(maintenance_waits_for_those_whom_it_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
