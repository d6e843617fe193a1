/* The n-th allocation fails, for n = 1, 2, ... until all succeed: an experiment with the caller's own
 * algorithm, environment and oracle ends with a sentence, ends every run that it began, leaks nothing, and
 * can be run again. Linked with --wrap for the allocators that the library calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <superarm/superarm.h>

#include "test_parts.h"

void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *block);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *block);

static atomic_size_t allocations;
static size_t fail_at; /* 0: none fails */
static atomic_long live, begun;

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

static int begin(void *user, uint64_t run, void **state) {
    (void)run;
    *state = user;
    begun++;
    return 0;
}

static void end(void *state) {
    (void)state;
    begun--;
}

static int first_arms(void *state, const sa_own_round *round, size_t *arms, size_t *length) {
    (void)state, (void)round;
    for (size_t i = 0; i < *length; i++) arms[i] = i;
    return 0;
}

static int contexts(void *state, uint64_t run, uint64_t round, double *out, size_t *arms) {
    (void)state, (void)run;
    for (size_t i = 0; i < 2 * *arms; i++) out[i] = (double)(i + round);
    return 0;
}

static int expected(void *state, uint64_t run, uint64_t round, double *out, size_t arms) {
    (void)state, (void)run, (void)round;
    for (size_t i = 0; i < arms; i++) out[i] = (double)i;
    return 0;
}

static int last_arms(void *user, const double *scores, size_t arms, const bool *excluded, size_t most,
                     size_t *slate, size_t *length) {
    (void)user, (void)scores, (void)excluded;
    for (size_t i = 0; i < most; i++) slate[i] = arms - 1 - i;
    *length = most;
    return 0;
}

static sa_status give(sa_experiment *experiment) {
    const char *const options[][2] = {{"rounds", "3"}, {"runs", "2"},    {"slate", "2"},
                                      {"delay", "1"},  {"threads", "1"}, {"algorithm", "best"}};
    sa_status status = SA_OK;
    for (size_t i = 0; status == SA_OK && i < sizeof options / sizeof *options; i++)
        status = test_experiment_set(experiment, options[i][0], options[i][1]);
    if (status == SA_OK)
        status = sa_experiment_own_agent(experiment, "first",
                                         &(sa_own_agent){.begin = begin, .select = first_arms, .end = end});
    if (status == SA_OK)
        status = sa_experiment_own_environment(
            experiment,
            &(sa_own_environment){
                .arms = 4, .dim = 2, .begin = begin, .contexts = contexts, .expected = expected, .end = end});
    if (status == SA_OK)
        status = sa_experiment_own_oracle(experiment, &(sa_oracle_callbacks){.solve = last_arms, .alpha = 1});
    return status;
}

static void test_sweep(void **state) {
    (void)state;
    bool reached = true;
    for (size_t n = 1; reached; n++) {
        long before = live;
        allocations = 0;
        fail_at = n;
        sa_experiment *experiment = sa_experiment_new();
        sa_status status = experiment ? give(experiment) : SA_OUT_OF_MEMORY;
        bool given = status == SA_OK;
        if (given) status = sa_experiment_run(experiment, NULL, NULL);
        reached = allocations >= fail_at;
        fail_at = 0;
        if (status != (reached ? SA_OUT_OF_MEMORY : SA_OK))
            fail_msg("allocation %zu: %s", n, sa_last_error());
        if (given && sa_experiment_run(experiment, NULL, NULL) != SA_OK)
            fail_msg("allocation %zu: %s", n, sa_last_error());
        assert_true(begun == 0);
        sa_agent_result result;
        if (given) {
            assert_int_equal(sa_experiment_result(experiment, 1, &result), SA_OK);
            assert_true(result.mean == 3 * (3 + 2 - 0 - 1));
        }
        sa_experiment_destroy(experiment);
        if (live != before) fail_msg("allocation %zu: %ld blocks leak", n, live - before);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sweep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
