/* What the tests of agents share: small agents from a line of options, contexts and feedback that depend on a
 * number only, and bit-for-bit comparison of two agents. Contexts and scores have few binary digits, so float
 * and double hold the same. */
#ifndef TEST_AGENT_RIG_H
#define TEST_AGENT_RIG_H

#include "spec/problem_option.h"
#include "test_file_scratch.h"
#include "test_parts.h"

#include <math.h>
#include <superarm/agent.h>
#include <unistd.h>

enum { RIG_DIM = 5, RIG_ARMS = 400 };

/* Saved agents are synced to the disk, which may take long: scratch files go to memory where there is such a
 * folder. */
static inline int rig_setup(void **state) {
    if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 0);
    return scratch_setup(state);
}

static inline double rig_number(uint64_t seed, uint64_t index) {
    uint64_t x = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15) + (index + 1) * UINT64_C(0xD1B54A32D192ED03);
    x = (x ^ (x >> 31)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (double)((x >> 40) & 4095) / 2048 - 1;
}

static inline const double *rig_contexts(uint64_t seed) {
    static double contexts[RIG_ARMS * RIG_DIM];
    for (size_t i = 0; i < RIG_ARMS * RIG_DIM; i++) contexts[i] = rig_number(seed, i);
    return contexts;
}

static inline const double *rig_expected(uint64_t seed) {
    static double expected[RIG_ARMS];
    for (size_t i = 0; i < RIG_ARMS; i++) expected[i] = rig_number(seed, 1000000 + i);
    return expected;
}

/* Options "name=value name=value", over small defaults; "preset=paper" first where a preset is wanted. */
static inline sa_options *rig_options(const char *text) {
    static const char *const defaults[][2] = {{"dim", "5"},         {"hidden", "6"},  {"train-steps", "4"},
                                              {"train-every", "3"}, {"rate", "0.01"}, {"normalize", "none"}};
    char copy[1024], *rest = copy;
    snprintf(copy, sizeof copy, "%s", text);
    sa_options *options = sa_options_new(NULL);
    assert_non_null(options);
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        assert_ok(sa_options_set_any(options, defaults[i][0], defaults[i][1]));
    assert_ok(sa_options_set_any(options, "train-warmup", "0"));
    if (strstr(text, "preset=paper") && !strstr(text, " rate="))
        assert_ok(sa_options_set(options, "rate", "theory"));
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        char *equals = strchr(word, '=');
        assert_non_null(equals);
        *equals = 0;
        assert_ok(sa_option_row_find(word) ? sa_options_set_any(options, word, equals + 1)
                                           : sa_spec_set(options, word, equals + 1));
    }
    return options;
}

static inline sa_status rig_try_create(const char *text, sa_agent **agent) {
    sa_options *options = rig_options(text);
    sa_status status = sa_agent_create(options, agent);
    sa_options_destroy(options);
    return status;
}

static inline sa_agent *rig_create(const char *text) {
    sa_agent *agent = NULL;
    assert_ok(rig_try_create(text, &agent));
    return agent;
}

static inline sa_status rig_try_select(sa_agent *agent, uint64_t seed, size_t arms, size_t slate,
                                       sa_decision **decision) {
    sa_request *request = sa_request_new();
    if (!request) return SA_OUT_OF_MEMORY;
    sa_request_contexts(request, rig_contexts(seed), arms);
    sa_request_expected(request, rig_expected(seed));
    sa_request_slate(request, slate);
    sa_status status = sa_agent_select(agent, request, decision);
    sa_request_destroy(request);
    return status;
}

static inline uint64_t rig_select(sa_agent *agent, uint64_t seed, size_t arms, size_t slate,
                                  sa_decision **decision) {
    assert_ok(rig_try_select(agent, seed, arms, slate, decision));
    return sa_decision_id(*decision);
}

/* Feedback for the decision of this id: any number will do, if it is the same each time. */
static inline sa_status rig_try_answer(sa_agent *agent, uint64_t id, size_t slate, const bool *observed) {
    double scores[64];
    for (size_t i = 0; i < slate; i++) scores[i] = rig_number(id, 2000000 + i);
    return sa_agent_update(agent, id, scores, observed, slate);
}

static inline void rig_answer(sa_agent *agent, uint64_t id, size_t slate) {
    assert_ok(rig_try_answer(agent, id, slate, NULL));
}

static inline sa_agent_counts rig_counts(const sa_agent *agent) {
    sa_agent_counts counts;
    sa_agent_count(agent, &counts);
    return counts;
}

static inline void rig_assert_same_decision(const sa_decision *a, const sa_decision *b) {
    size_t slate = sa_decision_slate(a), arms = sa_decision_candidates(a),
           positions = sa_decision_positions(a);
    size_t bytes = arms * (positions ? positions : 1) * sizeof(double);
    assert_true(sa_decision_id(a) == sa_decision_id(b));
    assert_true(sa_decision_event(a) == sa_decision_event(b));
    assert_int_equal(slate, sa_decision_slate(b));
    assert_int_equal(arms, sa_decision_candidates(b));
    assert_int_equal(positions, sa_decision_positions(b));
    assert_true(sa_decision_certificate(a) == sa_decision_certificate(b) ||
                isnan(sa_decision_certificate(a)));
    assert_memory_equal(sa_decision_arms(a), sa_decision_arms(b), slate * sizeof(size_t));
    assert_memory_equal(sa_decision_estimates(a), sa_decision_estimates(b), slate * sizeof(double));
    assert_memory_equal(sa_decision_widths(a), sa_decision_widths(b), slate * sizeof(double));
    assert_memory_equal(sa_decision_scores(a), sa_decision_scores(b), slate * sizeof(double));
    assert_memory_equal(sa_decision_all_estimates(a), sa_decision_all_estimates(b), bytes);
    assert_memory_equal(sa_decision_all_widths(a), sa_decision_all_widths(b), bytes);
    assert_memory_equal(sa_decision_all_scores(a), sa_decision_all_scores(b), bytes);
}

static inline void rig_assert_same_counts(const sa_agent *agent, const sa_agent *twin) {
    sa_agent_counts a = rig_counts(agent), b = rig_counts(twin);
    a.bytes = b.bytes = 0; /* workspace may differ */
    a.train_seconds = b.train_seconds = 0;
    assert_true(a.decisions == b.decisions && a.answered == b.answered && a.pending == b.pending);
    assert_true(a.forgotten == b.forgotten && a.observations == b.observations && a.counted == b.counted);
    assert_true(a.epoch == b.epoch && a.hidden == b.hidden);
    assert_true(a.trainings == b.trainings && a.diverged_trainings == b.diverged_trainings);
    assert_true(a.widths_in_double == b.widths_in_double && a.widths_from_primal == b.widths_from_primal);
    assert_memory_equal(&a.log_det, &b.log_det, sizeof a.log_det);
}

/* Rounds of both, with the same input: decisions of changing size, every fourth answered late. Bit for bit
 * the same. */
static inline void rig_go_on_alike(sa_agent *agent, sa_agent *twin, uint64_t first, size_t rounds) {
    sa_decision *one = NULL, *other = NULL;
    uint64_t late = UINT64_MAX;
    for (uint64_t round = first; round < first + rounds; round++) {
        size_t arms = 4 + round % 3 * 5;
        uint64_t id = rig_select(agent, 500 + round, arms, 3, &one);
        rig_select(twin, 500 + round, arms, 3, &other);
        rig_assert_same_decision(one, other);
        if (round % 4 == 0) {
            late = id;
            continue;
        }
        rig_answer(agent, id, 3);
        rig_answer(twin, id, 3);
        if (round % 4 == 3 && late != UINT64_MAX) {
            rig_answer(agent, late, 3);
            rig_answer(twin, late, 3);
        }
        rig_assert_same_counts(agent, twin);
    }
    sa_decision_destroy(one);
    sa_decision_destroy(other);
}

#endif
