/* The same options and inputs give the same bytes; another seed gives others. */
#include "test_agent_rig.h"
#include "test_parts.h"

static const char *const kinds[] = {
    "",
    "algorithm=cn-ts",
    "algorithm=cn-ts1 precision=double",
    "algorithm=comblin-ucb",
    "algorithm=comblin-ts count-pending=true",
    "algorithm=c2ucb normalize=standard",
    "algorithm=comblin-ucb linear-form=published",
    "algorithm=comblin-ts linear-form=published",
    "algorithm=cc-mab rounds=200",
    "algorithm=acc-ucb normalize=standard",
    "preset=paper algorithm=acc-ucb rounds=500",
    "algorithm=greedy",
    "algorithm=random",
    "algorithm=best",
    "preset=paper hidden=6",
    "preset=icml23 hidden=6 algorithm=cn-ts",
    "hidden=44 normalize=standard score-deviation=1",
    "count-pending=true",
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void equal_inputs_give_equal_bytes(void **state) {
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        sa_agent *agent = rig_create(kinds[i]), *twin = rig_create(kinds[i]);
        rig_go_on_alike(agent, twin, 0, 30);
        assert_ok(sa_agent_save(agent, scratch("one.npz")));
        assert_ok(sa_agent_save(twin, scratch("other.npz")));
        char *one, *other;
        size_t one_size, other_size;
        assert_ok(sa_file_read(scratch("one.npz"), &one, &one_size));
        assert_ok(sa_file_read(scratch("other.npz"), &other, &other_size));
        assert_int_equal(one_size, other_size);
        assert_memory_equal(one, other, one_size);
        sa_free(one);
        sa_free(other);
        sa_agent_destroy(agent);
        sa_agent_destroy(twin);
    }
}

static void another_seed_or_run_gives_others(void **state) {
    (void)state;
    static const char *const others[] = {"seed=2", "first-run=1", "seed=9223372036854775807"};
    for (size_t i = 0; i < KINDS; i++)
        for (size_t j = 0; j < 3; j++) {
            char text[200];
            snprintf(text, sizeof text, "%s %s", kinds[i], others[j]);
            sa_agent *agent = rig_create(kinds[i]), *other = rig_create(text);
            sa_decision *a = NULL, *b = NULL;
            size_t different = 0;
            for (uint64_t id = 0; id < 3; id++) {
                rig_select(agent, id, 20, 3, &a);
                rig_select(other, id, 20, 3, &b);
                for (size_t k = 0; k < 20; k++)
                    different += sa_decision_all_scores(a)[k] != sa_decision_all_scores(b)[k];
            }
            if (strstr(kinds[i], "best") || strstr(kinds[i], "comblin-ucb") ||
                strstr(kinds[i], "c2ucb")) /* nothing is drawn */
                assert_int_equal(different, 0);
            else if (different <= 20)
                fail_msg("%s: %zu of 60 scores differ", text, different);
            sa_decision_destroy(a);
            sa_decision_destroy(b);
            sa_agent_destroy(agent);
            sa_agent_destroy(other);
        }
}

/* What other agents do in between is no matter. */
static void agents_do_not_touch_each_other(void **state) {
    (void)state;
    sa_agent *agent = rig_create("algorithm=cn-ts"), *other = rig_create("algorithm=cn-ts hidden=10");
    sa_decision *kept[10] = {NULL}, *alone = NULL, *noise = NULL;
    for (uint64_t id = 0; id < 10; id++) {
        rig_select(other, 70 + id, 30, 4, &noise);
        rig_select(agent, id, 9, 2, &kept[id]);
        rig_answer(other, id, 4);
        rig_answer(agent, id, 2);
    }
    sa_agent_destroy(other);
    other = rig_create("algorithm=cn-ts");
    for (uint64_t id = 0; id < 10; id++) {
        rig_select(other, id, 9, 2, &alone);
        rig_answer(other, id, 2);
        rig_assert_same_decision(alone, kept[id]);
        sa_decision_destroy(kept[id]);
    }
    sa_decision_destroy(alone);
    sa_decision_destroy(noise);
    sa_agent_destroy(agent);
    sa_agent_destroy(other);
}

/* Options are copied: changing them later is no matter. */
static void options_are_copied(void **state) {
    (void)state;
    sa_options *options = rig_options("gamma=0.5");
    sa_agent *agent = NULL, *twin = rig_create("gamma=0.5");
    assert_ok(sa_agent_create(options, &agent));
    assert_ok(sa_options_set_any(options, "gamma", "40"));
    assert_ok(sa_options_set_any(options, "algorithm", "random"));
    char text[32];
    assert_ok(sa_options_get(sa_agent_options(agent), "gamma", text, sizeof text));
    assert_string_equal(text, "0.5");
    sa_options_destroy(options);
    rig_go_on_alike(agent, twin, 0, 10);
    sa_agent_destroy(agent);
    sa_agent_destroy(twin);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_inputs_give_equal_bytes),
        cmocka_unit_test(another_seed_or_run_gives_others),
        cmocka_unit_test(agents_do_not_touch_each_other),
        cmocka_unit_test(options_are_copied),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
