/* A linear agent that is saved and loaded after every single call goes on as one that never was; so after a
 * select, when the estimate is fresh, and after an update, when in either form it is older than the
 * feedback. */
#include "test_agent_rig.h"

static void reload(sa_agent **agent) {
    assert_ok(sa_agent_save(*agent, scratch("a.npz")));
    sa_agent_destroy(*agent);
    *agent = NULL;
    assert_ok(sa_agent_load(scratch("a.npz"), agent));
}

static void play(const char *text) {
    sa_agent *agent = rig_create(text), *twin = rig_create(text);
    sa_decision *one = NULL, *other = NULL;
    for (uint64_t id = 0; id < 12; id++) {
        rig_select(agent, id, 9, 3, &one);
        rig_select(twin, id, 9, 3, &other);
        rig_assert_same_decision(one, other);
        reload(&agent);
        static const bool parts[2][3] = {{true, false, true}, {false, true, false}};
        for (size_t part = 0; part < 2 && id % 4 != 3; part++) {
            assert_ok(rig_try_answer(agent, id, 3, parts[part]));
            assert_ok(rig_try_answer(twin, id, 3, parts[part]));
            reload(&agent);
        }
        rig_assert_same_counts(agent, twin);
    }
    rig_go_on_alike(twin, agent, 12, 10);
    sa_decision_destroy(one);
    sa_decision_destroy(other);
    sa_agent_destroy(agent);
    sa_agent_destroy(twin);
}

static void loaded_after_every_call(void **state) {
    (void)state;
    static const char *const names[] = {"comblin-ucb", "comblin-ts", "c2ucb"}, *const forms[] = {"defined",
                                                                                                 "published",
                                                                                                 "fitted"};
    static const char *const more[] = {"", "preset=paper hidden=44 precision=single", "normalize=standard"};
    for (size_t i = 0; i < 3; i++)
        for (size_t form = 0; form < (i < 2 ? 3 : 2); form++)
            for (size_t k = 0; k < 3; k++) {
                char text[200];
                snprintf(text, sizeof text, "algorithm=%s linear-form=%s %s", names[i], forms[form], more[k]);
                play(text);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(loaded_after_every_call)};
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
