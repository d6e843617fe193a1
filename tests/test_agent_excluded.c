/* What stands in the place of an excluded arm changes nothing: a wild context there leaves the agent with the
 * same slates, scores and statistics as a harmless one, in small and large sets, one by one and together,
 * with any number of threads. */
#include "agent/agent.h"
#include "test_agent_rig.h"

enum { MOST = 1300, TURNS = 8, MANY = 3, SLATE = 3 };

typedef struct rig {
    double contexts[MANY][MOST * RIG_DIM];
    sa_request *request[MANY];
    sa_decision *decision[MANY];
    sa_agent *agent;
} rig;

static rig harmless, wild;
static bool excluded[MANY][MOST];
static size_t arms[MANY];

/* Who is excluded: a few, each at the edges of a block of arms, and in turns 3 and 6 all but a slate and one
 * more. */
static bool is_excluded(uint64_t turn, size_t arm) {
    if (turn % 3 == 0 && turn > 0) return arm > SLATE;
    return arm == 0 || arm == SA_BLOCK_ARMS - 1 || arm == SA_BLOCK_ARMS ||
           rig_number(turn, 70000 + arm) > 0.7;
}

static void draw(uint64_t turn, const char *value) {
    static const size_t sizes[MANY] = {20, MOST, 40};
    for (size_t r = 0; r < MANY; r++) {
        arms[r] = sizes[(r + turn) % MANY];
        for (size_t i = 0; i < arms[r] * RIG_DIM; i++) {
            double x = rig_number(turn * MANY + r, i);
            excluded[r][i / RIG_DIM] = is_excluded(turn, i / RIG_DIM);
            harmless.contexts[r][i] = wild.contexts[r][i] = x;
            if (excluded[r][i / RIG_DIM]) wild.contexts[r][i] = strtod(value, NULL) * (i % 2 ? 1 : -1);
        }
    }
}

static void select_all(rig *self, bool together) {
    for (size_t r = 0; r < MANY; r++) {
        sa_request_contexts(self->request[r], self->contexts[r], arms[r]);
        sa_request_slate(self->request[r], SLATE);
        sa_request_exclude(self->request[r], excluded[r]);
    }
    if (together)
        assert_ok(sa_agent_select_many(self->agent, (const sa_request *const *)self->request, MANY,
                                       self->decision));
    for (size_t r = 0; r < MANY && !together; r++)
        assert_ok(sa_agent_select(self->agent, self->request[r], &self->decision[r]));
}

static void assert_alike(const sa_decision *one, const sa_decision *other, const bool *left_out) {
    for (size_t k = 0; k < SLATE; k++) assert_int_equal(sa_decision_arms(one)[k], sa_decision_arms(other)[k]);
    for (size_t i = 0; i < sa_decision_candidates(one); i++) {
        if (left_out[i]) continue;
        assert_true(sa_decision_all_estimates(one)[i] == sa_decision_all_estimates(other)[i]);
        assert_true(sa_decision_all_scores(one)[i] == sa_decision_all_scores(other)[i]);
    }
}

static void begin(rig *self, const char *kind) {
    for (size_t r = 0; r < MANY; r++) {
        self->request[r] = sa_request_new();
        self->decision[r] = NULL;
    }
    self->agent = rig_create(kind);
}

static void end(rig *self) {
    for (size_t r = 0; r < MANY; r++) {
        sa_request_destroy(self->request[r]);
        sa_decision_destroy(self->decision[r]);
    }
    sa_agent_destroy(self->agent);
}

/* (5 + 6 dim): candidates seen, means, sums of squared differences; wild candidates of late and in all; the
 * newer half. */
static const double *statistics_of(const rig *self) {
    const sa_estimator *estimator = &self->agent->learner->policy->estimator;
    assert_non_null(estimator->statistics);
    assert_int_equal(sa_statistics_length(&estimator->inputs), 5 + 6 * RIG_DIM);
    return estimator->statistics;
}

static void play(const char *kind, const char *value, bool together) {
    begin(&harmless, kind);
    begin(&wild, kind);
    for (uint64_t turn = 0; turn < TURNS; turn++) {
        draw(turn, value);
        select_all(&harmless, together);
        select_all(&wild, together);
        for (size_t r = 0; r < MANY; r++) {
            assert_alike(harmless.decision[r], wild.decision[r], excluded[r]);
            rig_answer(harmless.agent, turn * MANY + r, SLATE);
            rig_answer(wild.agent, turn * MANY + r, SLATE);
        }
        rig_assert_same_counts(harmless.agent, wild.agent);
    }
    if (strstr(kind, "standard"))
        assert_memory_equal(statistics_of(&harmless), statistics_of(&wild),
                            (1 + 2 * RIG_DIM) * sizeof(double));
    end(&harmless);
    end(&wild);
}

static void an_excluded_arm_changes_nothing(void **state) {
    (void)state;
    static const char *const kinds[] = {
        "preset=tuned dim=5 hidden=6 train-steps=4 train-every=3",
        "normalize=standard widths=all",
        "normalize=standard algorithm=cn-ts precision=double",
        "normalize=standard algorithm=comblin-ts",
        "normalize=standard agent-threads=3 confidence=auto sketch-size=16",
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int together = 0; together <= 1; together++) play(kinds[i], "1e6", together);
}

/* Mean and squared differences are those of the others, taken in two passes. */
static void statistics_are_of_the_others(void **state) {
    (void)state;
    begin(&harmless, "normalize=standard");
    begin(&wild, "normalize=standard");
    draw(1, "1e6");
    select_all(&wild, false);
    const double *statistics = statistics_of(&wild);
    for (size_t j = 0; j < RIG_DIM; j++) {
        double count = 0, mean = 0, squares = 0;
        for (int pass = 0; pass < 2; pass++)
            for (size_t r = 0; r < MANY; r++)
                for (size_t i = 0; i < arms[r]; i++) {
                    double x = harmless.contexts[r][i * RIG_DIM + j];
                    if (excluded[r][i]) continue;
                    count += pass == 0;
                    mean += pass == 0 ? x : 0;
                    squares += pass == 0 ? 0 : (x - mean / count) * (x - mean / count);
                }
        assert_true(statistics[0] == count);
        assert_true(fabs(statistics[1 + j] - mean / count) < 1e-12);
        assert_true(fabs(statistics[1 + RIG_DIM + j] - squares) < 1e-9);
    }
    end(&harmless);
    end(&wild);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_excluded_arm_changes_nothing),
                                       cmocka_unit_test(statistics_are_of_the_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
