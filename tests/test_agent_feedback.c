/* Feedback that is late, out of order, partial, repeated or missing; decisions that wait, and those that are
 * forgotten. */
#include "test_agent_rig.h"

enum { ARMS = 9, SLATE = 3 };

/* ---- in parts ---- */

static void unseen_scores_are_not_looked_at(void **state) {
    (void)state;
    sa_agent *agent = rig_create(""), *twin = rig_create("");
    sa_decision *decision = NULL;
    for (uint64_t id = 0; id < 8; id++) {
        rig_select(agent, id, ARMS, SLATE, &decision);
        rig_select(twin, id, ARMS, SLATE, &decision);
        bool observed[SLATE] = {id % 2, true, id % 3 == 0};
        assert_ok(sa_agent_update(agent, id, (double[]){id % 2 ? 0.5 : NAN, 0.25, id % 3 ? INFINITY : 1},
                                  observed, SLATE));
        assert_ok(
            sa_agent_update(twin, id, (double[]){id % 2 ? 0.5 : -3, 0.25, id % 3 ? 7 : 1}, observed, SLATE));
    }
    rig_go_on_alike(agent, twin, 8, 12);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
    sa_agent_destroy(twin);
}

static void parts_add_up(void **state) {
    (void)state;
    sa_agent *agent = rig_create("");
    sa_decision *decision = NULL;
    rig_select(agent, 0, ARMS, SLATE, &decision);
    assert_true(rig_counts(agent).pending == 1);
    assert_ok(
        rig_try_answer(agent, 0, SLATE, (bool[]){false, false, false})); /* nothing seen: nothing happens */
    assert_true(rig_counts(agent).answered == 0 && rig_counts(agent).pending == 1 &&
                rig_counts(agent).trainings == 0);
    assert_ok(rig_try_answer(agent, 0, SLATE, (bool[]){false, true, false}));
    assert_true(rig_counts(agent).answered == 1 && rig_counts(agent).pending == 1 &&
                rig_counts(agent).observations == 1);
    assert_ok(rig_try_answer(agent, 0, SLATE, (bool[]){true, false, true}));
    assert_true(rig_counts(agent).answered == 1 && rig_counts(agent).pending == 0 &&
                rig_counts(agent).observations == 3);
    assert_true(rig_counts(agent).counted == 3);
    assert_ok(rig_try_answer(agent, 0, SLATE, (bool[]){false, false, false}));
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* ---- twice ---- */

static void feedback_given_twice_changes_nothing(void **state) {
    (void)state;
    sa_agent *agent = rig_create("train-every=1"), *twin = rig_create("train-every=1");
    sa_decision *decision = NULL;
    for (uint64_t id = 0; id < 6; id++) {
        rig_select(agent, id, ARMS, SLATE, &decision);
        rig_select(twin, id, ARMS, SLATE, &decision);
        const bool first[SLATE] = {true, false, false}, second[SLATE] = {false, true, true},
                   both[SLATE] = {true, true, false};
        assert_ok(rig_try_answer(agent, id, SLATE, first));
        assert_ok(rig_try_answer(twin, id, SLATE, first));
        char sentence[100];
        snprintf(sentence, sizeof sentence, "arm %zu of decision %llu was answered before",
                 sa_decision_arms(decision)[0], (unsigned long long)id);
        assert_says(rig_try_answer(agent, id, SLATE, first), SA_ALREADY_ANSWERED, sentence);
        assert_says(rig_try_answer(agent, id, SLATE, both), SA_ALREADY_ANSWERED,
                    sentence); /* nor the new part */
        assert_says(rig_try_answer(agent, id, SLATE, NULL), SA_ALREADY_ANSWERED, sentence);
        assert_says(sa_agent_update(agent, id, (double[]){NAN, NAN, NAN}, NULL, SLATE), SA_ALREADY_ANSWERED,
                    sentence);
        rig_assert_same_counts(agent, twin);
        assert_ok(rig_try_answer(agent, id, SLATE, second));
        assert_ok(rig_try_answer(twin, id, SLATE, second));
        for (size_t k = 0; k < SLATE; k++) {
            bool one[SLATE] = {k == 0, k == 1, k == 2};
            assert_fails(rig_try_answer(agent, id, SLATE, one), SA_ALREADY_ANSWERED, "was answered before");
        }
        rig_assert_same_counts(agent, twin);
    }
    rig_go_on_alike(agent, twin, 6, 12);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
    sa_agent_destroy(twin);
}

/* ---- late ---- */

static void late_feedback_is_counted_with_its_own_gradients(void **state) {
    (void)state;
    /* The same feedback in two orders: Z is a sum, so log det Z is the same but for rounding. Without
     * training the gradients are the same as well. */
    sa_agent *agent = rig_create("train=manual precision=double"),
             *other = rig_create("train=manual precision=double");
    sa_decision *decision = NULL;
    for (uint64_t id = 0; id < 10; id++) {
        rig_select(agent, id, ARMS, SLATE, &decision);
        rig_select(other, id, ARMS, SLATE, &decision);
    }
    for (uint64_t i = 0; i < 10; i++) {
        rig_answer(agent, i * 7 % 10, SLATE);
        rig_answer(other, 9 - i, SLATE);
        assert_true(rig_counts(agent).pending == 9 - i);
    }
    assert_true(rig_counts(agent).counted == 30 && rig_counts(other).counted == 30);
    assert_true(fabs(rig_counts(agent).log_det - rig_counts(other).log_det) < 1e-10);
    assert_true(rig_counts(agent).log_det > 0.1);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
    sa_agent_destroy(other);
}

static void slates_of_any_size_wait_together(void **state) {
    (void)state;
    sa_agent *agent = rig_create("hidden=4");
    sa_decision *decision = NULL;
    static const size_t slates[] = {2, 60, 1, 40, 3};
    for (uint64_t i = 0; i < 5; i++) rig_select(agent, i, 70, slates[i], &decision);
    for (int i = 4; i >= 0; i--) rig_answer(agent, (uint64_t)i, slates[i]);
    assert_true(rig_counts(agent).counted == 106 && rig_counts(agent).pending == 0);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* ---- forgotten ---- */

static void the_oldest_is_forgotten(void **state) {
    (void)state;
    static const size_t limits[] = {1, 2, 5, 16, 17, 20};
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        size_t limit = limits[l];
        char text[64], sentence[160];
        snprintf(text, sizeof text, "pending-limit=%zu", limit);
        sa_agent *agent = rig_create(text);
        sa_decision *decision = NULL;
        for (uint64_t id = 0; id < 45; id++) rig_select(agent, id, ARMS, SLATE, &decision);
        assert_true(rig_counts(agent).decisions == 45 && rig_counts(agent).pending == limit);
        assert_true(rig_counts(agent).forgotten == 45 - limit);
        for (uint64_t id = 0; id < 45 - limit; id++) {
            snprintf(sentence, sizeof sentence,
                     "decision %llu was forgotten: at most %zu are kept (--pending-limit)",
                     (unsigned long long)id, limit);
            assert_says(rig_try_answer(agent, id, SLATE, NULL), SA_UNKNOWN_DECISION, sentence);
        }
        for (uint64_t id = 45 - limit; id < 45; id++) rig_answer(agent, id, SLATE);
        /* Answered ones are forgotten too, but they are no loss. */
        rig_select(agent, 45, ARMS, SLATE, &decision);
        assert_true(rig_counts(agent).forgotten == 45 - limit && rig_counts(agent).pending == 1);
        assert_says(rig_try_answer(agent, 46, SLATE, NULL), SA_UNKNOWN_DECISION,
                    "decision 46 was never made");
        assert_says(rig_try_answer(agent, UINT64_MAX, SLATE, NULL), SA_UNKNOWN_DECISION,
                    "decision 18446744073709551615 was never made");
        /* Answered in part, and then forgotten: its loss counts. */
        assert_ok(rig_try_answer(agent, 45, SLATE, (bool[]){true, false, false}));
        for (uint64_t id = 46; id < 46 + limit; id++) rig_select(agent, id, ARMS, SLATE, &decision);
        assert_true(rig_counts(agent).forgotten == 46 - limit && rig_counts(agent).pending == limit);
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
    }
}

/* Against a plain list: with no room, the oldest answered decision goes, and the oldest of all where none is
 * answered. */
static void the_answered_are_forgotten_first(void **state) {
    (void)state;
    enum { MOST = 400 };
    static const size_t limits[] = {1, 3, 8, 40};
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        enum { FORGOTTEN, WAITING, ANSWERED } is[MOST] = {0};
        size_t limit = limits[l], kept = 0, waiting = 0, lost = 0;
        uint64_t random = 88172645463325252u + l;
        char text[64];
        snprintf(text, sizeof text, "algorithm=random pending-limit=%zu", limit);
        sa_agent *agent = rig_create(text);
        sa_decision *decision = NULL;
        for (size_t id = 0; id < MOST; id++) {
            if (kept == limit) {
                size_t gone = 0;
                while (gone < id && is[gone] != ANSWERED) gone++;
                for (size_t i = 0; gone == id && i < id; i++)
                    if (is[i] == WAITING) gone = i;
                lost += is[gone] == WAITING;
                waiting -= is[gone] == WAITING;
                is[gone] = FORGOTTEN;
                kept--;
            }
            rig_select(agent, id, ARMS, SLATE, &decision);
            is[id] = WAITING;
            kept++, waiting++;
            for (size_t back = 0; back <= id && back < 3 * limit;
                 back++) { /* some are answered late, some never */
                random ^= random << 13, random ^= random >> 7, random ^= random << 17;
                if (random % (2 * limit + 1) != 0) continue;
                sa_status wanted = is[id - back] == FORGOTTEN  ? SA_UNKNOWN_DECISION
                                   : is[id - back] == ANSWERED ? SA_ALREADY_ANSWERED
                                                               : SA_OK;
                assert_int_equal(rig_try_answer(agent, id - back, SLATE, NULL), wanted);
                if (wanted == SA_OK) is[id - back] = ANSWERED, waiting--;
            }
            assert_true(rig_counts(agent).pending == waiting && rig_counts(agent).forgotten == lost);
            if (id % 50 != 49) continue;
            sa_agent *loaded = NULL;
            assert_ok(sa_agent_save(agent, scratch("ring.npz")));
            assert_ok(sa_agent_load(scratch("ring.npz"), &loaded));
            sa_agent_destroy(agent);
            agent = loaded;
        }
        assert_true(lost > 0 && lost < MOST - limit);
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
    }
}

/* ---- --count-pending ---- */

static double mean_width(const sa_decision *decision) {
    double sum = 0;
    for (size_t i = 0; i < ARMS; i++) sum += sa_decision_all_widths(decision)[i];
    return sum / ARMS;
}

static void check_count_pending(const char *hidden) {
    char text[100];
    snprintf(text, sizeof text, "gamma=5 train=manual widths=all %s", hidden);
    sa_agent *without = rig_create(text);
    strcat(text, " count-pending=true");
    sa_agent *with = rig_create(text);
    sa_decision *first = NULL, *next = NULL;
    rig_select(without, 1, ARMS, SLATE, &first);
    for (int i = 0; i < 4; i++) {
        rig_select(without, 1, ARMS, SLATE, &next);
        assert_memory_equal(sa_decision_arms(first), sa_decision_arms(next), SLATE * sizeof(size_t));
        assert_memory_equal(sa_decision_all_widths(first), sa_decision_all_widths(next),
                            ARMS * sizeof(double));
    }
    assert_true(rig_counts(without).counted == 0);
    bool differ = false;
    for (uint64_t i = 0; i < 5; i++) {
        uint64_t id = rig_select(with, 1, ARMS, SLATE, &next);
        assert_true(id == i && rig_counts(with).counted == (i + 1) * SLATE);
        if (i == 0) rig_assert_same_decision(first, next);
        if (i > 0) assert_true(mean_width(next) < mean_width(first));
        if (i > 0 && memcmp(sa_decision_arms(first), sa_decision_arms(next), SLATE * sizeof(size_t)))
            differ = true;
        sa_decision *kept = first; /* compare with the slate before */
        first = next;
        next = kept;
    }
    assert_true(differ);
    double log_det = rig_counts(with).log_det;
    for (uint64_t i = 0; i < 5; i++) rig_answer(with, 4 - i, SLATE);
    assert_true(rig_counts(with).counted == 15 && rig_counts(with).observations == 15); /* not twice */
    assert_true(rig_counts(with).log_det == log_det);
    sa_decision_destroy(first);
    sa_decision_destroy(next);
    sa_agent_destroy(without);
    sa_agent_destroy(with);
}

static void chosen_arms_can_count_at_once(void **state) {
    (void)state;
    check_count_pending("hidden=44");
    check_count_pending("hidden=6");
}

/* With feedback at once and training by hand, when an arm is counted makes no difference. */
static void counting_early_or_at_once_is_the_same(void **state) {
    (void)state;
    sa_agent *early = rig_create("count-pending=true"), *late = rig_create("");
    sa_decision *one = NULL, *other = NULL;
    for (uint64_t id = 0; id < 20; id++) {
        rig_select(early, id, ARMS, SLATE, &one);
        rig_select(late, id, ARMS, SLATE, &other);
        rig_assert_same_decision(one, other);
        rig_answer(early, id, SLATE);
        rig_answer(late, id, SLATE);
        rig_assert_same_counts(early, late);
    }
    sa_decision_destroy(one);
    sa_decision_destroy(other);
    sa_agent_destroy(early);
    sa_agent_destroy(late);
}

/* ---- training by hand ---- */

static void training_by_hand(void **state) {
    (void)state;
    sa_agent *agent = rig_create("train=manual train-every=1");
    sa_decision *before = NULL, *after = NULL;
    assert_ok(sa_agent_train(agent)); /* fine without feedback */
    assert_true(rig_counts(agent).trainings == 0);
    for (uint64_t id = 0; id < 4; id++) {
        rig_select(agent, id, ARMS, SLATE, &before);
        rig_answer(agent, id, SLATE);
    }
    assert_true(rig_counts(agent).trainings == 0);
    rig_select(agent, 9, ARMS, SLATE, &before);
    assert_ok(sa_agent_train(agent));
    assert_true(rig_counts(agent).trainings == 1 && rig_counts(agent).diverged_trainings == 0);
    assert_true(rig_counts(agent).train_seconds > 0);
    rig_select(agent, 9, ARMS, SLATE, &after);
    for (size_t i = 0; i < ARMS; i++)
        assert_true(sa_decision_all_estimates(before)[i] != sa_decision_all_estimates(after)[i]);
    sa_decision_destroy(before);
    sa_decision_destroy(after);
    sa_agent_destroy(agent);
}

/* An agent that trains by the schedule is an agent that is trained by hand at the same moments. */
static void by_hand_or_by_schedule_is_the_same(void **state) {
    (void)state;
    sa_agent *manual = rig_create("train=manual"), *automatic = rig_create("train-every=4");
    sa_decision *one = NULL, *other = NULL;
    for (uint64_t id = 0; id < 20; id++) {
        rig_select(manual, id, ARMS, SLATE, &one);
        rig_select(automatic, id, ARMS, SLATE, &other);
        rig_assert_same_decision(one, other);
        rig_answer(manual, id, SLATE);
        rig_answer(automatic, id, SLATE);
        if (id % 4 == 0) assert_ok(sa_agent_train(manual));
    }
    sa_decision_destroy(one);
    sa_decision_destroy(other);
    sa_agent_destroy(manual);
    sa_agent_destroy(automatic);
}

/* Agents without a network learn nothing, and take feedback all the same. */
static void references_take_feedback(void **state) {
    (void)state;
    static const char *const names[] = {"algorithm=random", "algorithm=best", "algorithm=greedy"};
    for (int i = 0; i < 3; i++) {
        sa_agent *agent = rig_create(names[i]);
        sa_decision *decision = NULL;
        for (uint64_t id = 0; id < 5; id++) {
            rig_select(agent, id, ARMS, SLATE, &decision);
            assert_true(isnan(sa_decision_all_widths(decision)[0]));
            rig_answer(agent, id, SLATE);
        }
        assert_ok(sa_agent_train(agent));
        assert_true(rig_counts(agent).observations == 15 && rig_counts(agent).counted == 0);
        assert_true(rig_counts(agent).trainings == (i == 2 ? 3 : 0));
        assert_true(isnan(rig_counts(agent).log_det));
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unseen_scores_are_not_looked_at),
        cmocka_unit_test(parts_add_up),
        cmocka_unit_test(feedback_given_twice_changes_nothing),
        cmocka_unit_test(late_feedback_is_counted_with_its_own_gradients),
        cmocka_unit_test(slates_of_any_size_wait_together),
        cmocka_unit_test(the_oldest_is_forgotten),
        cmocka_unit_test(the_answered_are_forgotten_first),
        cmocka_unit_test(chosen_arms_can_count_at_once),
        cmocka_unit_test(counting_early_or_at_once_is_the_same),
        cmocka_unit_test(training_by_hand),
        cmocka_unit_test(by_hand_or_by_schedule_is_the_same),
        cmocka_unit_test(references_take_feedback),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
