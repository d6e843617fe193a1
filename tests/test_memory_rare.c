/* Memory that is short in calls that the sweep of agents does not come to: theory, a sketch that is made
 * rebuilt, and widths that go over to double precision. */
#include "test_agent_rig.h"
#include "test_memory_short.h"

#include "base/npy.h"
#include "test_parts.h"
#include <superarm/theory.h>

/* A sketch that is made again of more than it has room for, and memory that is short in the update that does
 * so. */
static void rebuilt_sketch(void **state) {
    (void)state;
    bool reached = true;
    for (size_t n = 1; reached; n++) {
        sa_agent *agent[2];
        sa_decision *decision = NULL;
        for (int i = 0; i < 2; i++) {
            agent[i] = rig_create(
                "confidence=sketch sketch-size=1 rebuild=true hidden=3 train-every=24 train-warmup=0");
            for (uint64_t id = 0; id < 25; id++) { /* more than are looked at at a time */
                rig_select(agent[i], id, 30, 12, &decision);
                if (id < 24) rig_answer(agent[i], id, 12);
            }
        }
        shortage(n);
        sa_status status = rig_try_answer(agent[0], 24, 12, NULL);
        reached = was_short();
        bool is_over = sa_agent_oracle(agent[0], NULL) == SA_CLOSED;
        if (status != SA_OK) {
            assert_int_equal(status, SA_OUT_OF_MEMORY);
            if (is_over) assert_int_equal(rig_try_answer(agent[0], 24, 12, NULL), SA_CLOSED);
            if (!is_over) rig_answer(agent[0], 24, 12);
        }
        rig_answer(agent[1], 24, 12);
        if (!is_over) rig_go_on_alike(agent[0], agent[1], 40, 3);
        for (int i = 0; i < 2; i++) sa_agent_destroy(agent[i]);
        sa_decision_destroy(decision);
    }
}

/* A request for what its agent's policy chooses now. */
static sa_request *guard_request(void) {
    sa_request *request = sa_request_new();
    assert_non_null(request);
    sa_request_contexts(request, rig_contexts(1), 6);
    sa_request_slate(request, 3);
    return request;
}

static sa_decision *propose(sa_agent *agent) {
    sa_policy *policy = NULL;
    sa_decision *decision = NULL;
    sa_chooser *chooser = sa_chooser_new();
    sa_request *request = guard_request();
    assert_ok(sa_agent_policy(agent, &policy));
    assert_ok(sa_policy_select(policy, chooser, request, &decision));
    sa_request_destroy(request);
    sa_chooser_destroy(chooser);
    sa_policy_release(policy);
    return decision;
}

static sa_status record(sa_agent *agent, sa_decision *decision) {
    size_t at = fail_at;
    fail_at = 0; /* not of the request */
    sa_request *request = guard_request();
    shortage(at);
    sa_status status = sa_agent_record(agent, request, decision);
    sa_request_destroy(request);
    return status;
}

/* Widths that go over to double precision in the very call that memory is short in. */
static void precision_guard(void **state) {
    (void)state;
    static const char *const forms[] = {"hidden=44", "hidden=3"}; /* n x n, p x p */
    for (int f = 0; f < 4; f++) {
        char text[100];
        int way = f / 2;
        snprintf(text, sizeof text, "%s regularization=1e-4 train=manual", forms[f % 2]);
        sa_agent *model = rig_create(text);
        sa_decision *decision = NULL, *other = NULL;
        uint64_t rounds = 0;
        while (!rig_counts(model).widths_in_double) { /* how many rounds until it happens? */
            rig_select(model, 1, 6, 3, &decision);
            rig_answer(model, rounds++, 3);
            assert_true(rounds < 300);
        }
        sa_agent_destroy(model);
        bool reached = true;
        for (size_t n = 1; reached; n++) {
            sa_agent *agent = rig_create(text), *twin = rig_create(text);
            for (uint64_t id = 0; id + 1 < rounds; id++) {
                rig_select(agent, 1, 6, 3, &decision);
                rig_answer(agent, id, 3);
                rig_select(twin, 1, 6, 3, &decision);
                rig_answer(twin, id, 3);
            }
            assert_false(rig_counts(agent).widths_in_double);
            bool by_policy = way == 1;
            sa_decision *proposed = by_policy ? propose(agent) : NULL;
            shortage(n);
            sa_status status =
                by_policy ? record(agent, proposed) : rig_try_select(agent, 1, 6, 3, &decision);
            reached = was_short();
            if (reached) {
                assert_int_equal(status, SA_OUT_OF_MEMORY);
                assert_true(rig_counts(agent).decisions == rounds - 1);
                assert_ok(by_policy ? record(agent, proposed) : rig_try_select(agent, 1, 6, 3, &decision));
            }
            rig_select(twin, 1, 6, 3, &other);
            if (!by_policy)
                rig_assert_same_decision(decision, other); /* a policy's widths are still those before */
            sa_decision_destroy(proposed);
            assert_true(rig_counts(agent).widths_in_double);
            rig_go_on_alike(agent, twin, rounds, 5);
            sa_agent_destroy(agent);
            sa_agent_destroy(twin);
        }
        sa_decision_destroy(decision);
        sa_decision_destroy(other);
    }
}

static void theory(void **state) {
    (void)state;
    sa_options *options = rig_options("depth=3 slate=2");
    sa_theory_numbers numbers, whole;
    assert_int_equal(sa_npy_write(scratch("x.npy"), SA_FLOAT64, 2, (size_t[]){20, RIG_DIM}, rig_contexts(1)),
                     SA_OK);
    assert_int_equal(sa_npy_write(scratch("v.npy"), SA_FLOAT64, 1, (size_t[]){20}, rig_expected(1)), SA_OK);
    assert_ok(sa_options_set_any(options, "contexts", scratch("x.npy")));
    assert_ok(sa_options_set_any(options, "scores", scratch("v.npy")));
    assert_ok(sa_theory_of_files(options, &whole));
    long before = live;
    bool reached = true;
    for (size_t n = 1; reached; n++) {
        memset(&numbers, 7, sizeof numbers);
        shortage(n);
        sa_status status = sa_theory_of_files(options, &numbers);
        reached = was_short();
        assert_int_equal(status, reached ? SA_OUT_OF_MEMORY : SA_OK);
        assert_true(live == before);
    }
    assert_true(numbers.norm == whole.norm && numbers.log_det == whole.log_det);
    sa_options_destroy(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rebuilt_sketch), cmocka_unit_test(precision_guard),
                                       cmocka_unit_test(theory)};
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
