/* With --widths needed an agent chooses what it would with --widths all, from fewer exact widths; the others are bounds. */
#include "test_agent_rig.h"

static const char *const kinds[] = {
    "precision=double",
    "precision=double exact-form=dual gamma=0.01",
    "precision=double exact-form=dual gamma=10",
    "precision=double algorithm=cn-ts nu=2",
    "precision=double algorithm=cn-ts1 exact-form=dual",
    "precision=double preset=icml23 hidden=6 algorithm=cn-ts1",
    "precision=double exact-form=dual regularization=0.01 count-pending=true",
    "precision=double scale=true centre=true offset=-3",
};

static void compare(const sa_decision *needed, const sa_decision *all, size_t *bounds) {
    size_t slate = sa_decision_slate(all);
    assert_memory_equal(sa_decision_arms(needed), sa_decision_arms(all), slate * sizeof(size_t));
    for (size_t k = 0; k < slate; k++) {
        assert_true(fabs(sa_decision_widths(needed)[k] - sa_decision_widths(all)[k]) < 1e-9);
        assert_true(fabs(sa_decision_scores(needed)[k] - sa_decision_scores(all)[k]) < 1e-9);
    }
    for (size_t i = 0; i < sa_decision_candidates(all); i++) {
        double more = sa_decision_all_widths(needed)[i] - sa_decision_all_widths(all)[i];
        assert_true(more > -1e-9);
        assert_true(sa_decision_all_scores(needed)[i] - sa_decision_all_scores(all)[i] > -1e-9);
        *bounds += more > 1e-6;
    }
}

static void the_slate_is_the_same(void **state) {
    (void)state;
    size_t bounds = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char text[200];
        sa_agent *needed = rig_create(kinds[i]);
        snprintf(text, sizeof text, "%s widths=all", kinds[i]);
        sa_agent *all = rig_create(text);
        sa_decision *one = NULL, *other = NULL;
        for (uint64_t id = 0; id < 40; id++) {
            size_t arms = id % 7 == 0 ? 350 : 30, slate = 1 + id % 5;
            bool excluded[RIG_ARMS];
            for (size_t k = 0; k < arms; k++) excluded[k] = rig_number(id, 5000 + k) > 0.4;
            sa_request *request = sa_request_new();
            sa_request_contexts(request, rig_contexts(id), arms);
            sa_request_slate(request, slate);
            if (id % 3 == 0) sa_request_exclude(request, excluded);
            assert_ok(sa_agent_select(needed, request, &one));
            assert_ok(sa_agent_select(all, request, &other));
            sa_request_destroy(request);
            compare(one, other, &bounds);
            rig_answer(needed, id, slate);
            rig_answer(all, id, slate);
        }
        sa_decision_destroy(one);
        sa_decision_destroy(other);
        sa_agent_destroy(needed);
        sa_agent_destroy(all);
    }
    assert_true(bounds > 1000); /* else nothing was saved */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_slate_is_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
