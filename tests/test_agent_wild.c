/* One wild value among 1000 changes nothing: a score of 1e30 is answered and not learnt from, a context with
 * 1e30 is not counted. Twins tell: the other one did not see the score, or had the arm excluded. And
 * --reward-range refuses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rng/stream.h"
#include "temporary.h"
#include "test_parts.h"
#include <superarm/superarm.h>

enum { ARMS = 10, DIM = 4, SLATE = 3 };

static double number(uint64_t seed, uint64_t i) {
    sa_stream stream = sa_stream_at(seed, SA_PURPOSE_NOISE, 0, 0);
    return 2 * sa_draw_uniform(&stream, i) - 1;
}

static void ok(sa_status status) {
    if (status != SA_OK) fail_msg("%s: %s", sa_status_name(status), sa_last_error());
}

static sa_agent *create(const char *words) {
    sa_options *options = sa_options_new("tuned");
    sa_agent *agent = NULL;
    char text[512], *next = NULL;
    snprintf(text, sizeof text, "dim=4 hidden=8 slate=3 train-steps=20 %s", words);
    for (char *word = strtok_r(text, " ", &next); word; word = strtok_r(NULL, " ", &next)) {
        char *equals = strchr(word, '=');
        *equals = 0;
        ok(sa_options_set_any(options, word, equals + 1));
    }
    ok(sa_agent_create(options, &agent));
    sa_options_destroy(options);
    return agent;
}

/* Arm 9 has a wild feature in round `context`, or is excluded there; arms 0 to 2 are shown in that round. */
typedef struct oddity {
    uint64_t context, score; /* rounds; UINT64_MAX: none */
    double value;
    bool hidden; /* this is the twin that does not get it */
} oddity;

static double click(uint64_t round, const double *contexts, size_t arm) {
    return 0.5 + 0.5 * number(round + 7000, arm) < 0.5 + 0.5 * contexts[arm * DIM];
}

static void play_wild_context(sa_agent *agent, uint64_t round, const oddity *odd, sa_request *request,
                              double *contexts) {
    const size_t arms[SLATE] = {0, 1, 2};
    const bool excluded[ARMS] = {[9] = odd->hidden};
    double scores[SLATE];
    contexts[9 * DIM + 2] = odd->value;
    for (size_t k = 0; k < SLATE; k++) scores[k] = click(round, contexts, k);
    sa_request_exclude(request, excluded);
    ok(sa_agent_learn(agent, request, arms, scores, NULL, SLATE));
}

static uint64_t play_choice(sa_agent *agent, uint64_t round, const oddity *odd, const sa_request *request,
                            const double *contexts) {
    double scores[SLATE];
    bool seen[SLATE] = {true, true, true};
    sa_decision *decision = NULL;
    uint64_t hash = 17;
    ok(sa_agent_select(agent, request, &decision));
    for (size_t k = 0; k < SLATE; k++) {
        scores[k] = click(round, contexts, sa_decision_arms(decision)[k]);
        hash = hash * 31 + sa_decision_arms(decision)[k];
    }
    if (round == odd->score) {
        scores[1] = odd->value;
        seen[1] = !odd->hidden;
    }
    ok(sa_agent_update(agent, sa_decision_id(decision), scores, seen, SLATE));
    sa_decision_destroy(decision);
    return hash;
}

/* A round: the larger the first feature, the more clicks. Returns a hash of the slate. */
static uint64_t play(sa_agent *agent, uint64_t round, const oddity *odd) {
    double contexts[ARMS * DIM];
    uint64_t hash = 0;
    sa_request *request = sa_request_new();
    for (size_t i = 0; i < ARMS * DIM; i++) contexts[i] = number(round + 1, i);
    sa_request_contexts(request, contexts, ARMS);
    sa_request_slate(request, SLATE);
    if (round == odd->context)
        play_wild_context(agent, round, odd, request, contexts);
    else
        hash = play_choice(agent, round, odd, request, contexts);
    sa_request_destroy(request);
    return hash;
}

static const char *const AGENTS[] = {"algorithm=comblin-ucb", "algorithm=cn-ucb", "algorithm=cn-ts",
                                     "algorithm=comblin-ucb normalize=standard"};

static void test_score(void **state) {
    (void)state;
    const double values[] = {1e30, -1e30, 1e308, 1000};
    for (size_t i = 0; i < 4; i++) {
        sa_agent *one = create(AGENTS[i]), *other = create(AGENTS[i]);
        oddity odd = {.context = UINT64_MAX, .score = 200, .value = values[i]}, twin = odd;
        twin.hidden = true;
        for (uint64_t round = 0; round < 340; round++)
            if (play(one, round, &odd) != play(other, round, &twin))
                fail_msg("%s: round %d", AGENTS[i], (int)round);
        sa_agent_counts counts, others;
        sa_agent_count(one, &counts);
        sa_agent_count(other, &others);
        assert_true(counts.wild_rewards == 1 && others.wild_rewards == 0 &&
                    counts.observations == others.observations);
        assert_true(counts.pending == 0 && others.pending == 1); /* it was answered all the same */
        sa_agent_destroy(one);
        sa_agent_destroy(other);
    }
}

static void test_context(void **state) {
    (void)state;
    for (size_t i = 1; i < 4; i++) {
        sa_agent *one = create(AGENTS[i]), *other = create(AGENTS[i]);
        oddity odd = {.context = 100, .score = UINT64_MAX, .value = i == 2 ? -1e25 : 1e30}, twin = odd;
        twin.hidden = true;
        for (uint64_t round = 0; round < 200; round++)
            if (play(one, round, &odd) != play(other, round, &twin))
                fail_msg("%s: round %d", AGENTS[i], (int)round);
        sa_agent_counts counts;
        sa_agent_count(one, &counts);
        assert_true(counts.wild_contexts == 1);
        sa_agent_destroy(one);
        sa_agent_destroy(other);
    }
}

/* A wild arm that is chosen is learnt from as if the feature were its mean: nothing diverges. */
static void test_chosen(void **state) {
    (void)state;
    sa_agent *agent = create("algorithm=cn-ucb");
    const oddity none = {.context = UINT64_MAX, .score = UINT64_MAX};
    double contexts[ARMS * DIM], scores[SLATE] = {1, 1, 1};
    const size_t arms[SLATE] = {9, 1, 2};
    sa_request *request = sa_request_new();
    sa_agent_counts counts;
    for (uint64_t round = 0; round < 50; round++) play(agent, round, &none);
    for (size_t i = 0; i < ARMS * DIM; i++) contexts[i] = number(77, i);
    contexts[9 * DIM + 1] = 1e30;
    sa_request_contexts(request, contexts, ARMS);
    sa_request_slate(request, SLATE);
    ok(sa_agent_learn(agent, request, arms, scores, NULL, SLATE));
    for (uint64_t round = 51; round < 100; round++) play(agent, round, &none);
    sa_agent_count(agent, &counts);
    assert_true(counts.wild_contexts == 1 && counts.trainings > 50 && counts.diverged_trainings == 0);
    sa_request_destroy(request);
    sa_agent_destroy(agent);
}

/* Where most are like that, the world has changed, and they count. */
static void test_changed_world(void **state) {
    (void)state;
    sa_agent *agent = create("algorithm=comblin-ucb");
    sa_agent_counts counts;
    double contexts[ARMS * DIM], scores[SLATE] = {0};
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    for (uint64_t round = 0; round < 400; round++) {
        for (size_t i = 0; i < ARMS * DIM; i++) contexts[i] = number(round + 1, i) * (round < 100 ? 1 : 1e5);
        for (size_t k = 0; k < SLATE; k++) scores[k] = number(round + 9, k) * (round < 100 ? 1 : 1e5);
        sa_request_contexts(request, contexts, ARMS);
        sa_request_slate(request, SLATE);
        ok(sa_agent_select(agent, request, &decision));
        ok(sa_agent_update(agent, sa_decision_id(decision), scores, NULL, SLATE));
    }
    sa_agent_count(agent, &counts);
    assert_true(counts.wild_rewards > 0 && counts.wild_rewards <= 6);
    assert_true(counts.observations >= 400 * SLATE - 6);
    sa_decision_destroy(decision);
    sa_request_destroy(request);
    sa_agent_destroy(agent);
}

static void test_saved(void **state) {
    (void)state;
    const char *path = inside(temporary_folder(), "agent.npz");
    const oddity odd = {.context = 60, .score = 70, .value = 1e20};
    sa_agent *agent = create("algorithm=cn-ts"), *loaded = NULL;
    for (uint64_t round = 0; round < 80; round++) play(agent, round, &odd);
    ok(sa_agent_save(agent, path));
    ok(sa_agent_load(path, &loaded));
    const oddity later = {.context = 90, .score = 85, .value = 1e20};
    for (uint64_t round = 80; round < 120; round++)
        assert_true(play(agent, round, &later) == play(loaded, round, &later));
    sa_agent_counts counts, others;
    sa_agent_count(agent, &counts);
    sa_agent_count(loaded, &others);
    assert_true(counts.wild_rewards == 2 && counts.wild_contexts == 2);
    assert_true(others.wild_rewards == 2 && others.wild_contexts == 2);
    sa_agent_destroy(agent);
    sa_agent_destroy(loaded);
}

/* ---- --reward-range ---- */

static void test_range(void **state) {
    (void)state;
    static const char *const bad[] = {"0",     "1,0",   "0,0", "a,b", "0,1,2",
                                      "0,inf", "nan,1", ",1",  "0,",  "0 ,1x"};
    sa_options *options = sa_options_new("tuned");
    sa_agent *agent = NULL;
    ok(sa_options_set_any(options, "dim", "4"));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ok(sa_options_set_any(options, "reward-range", bad[i]));
        assert_int_equal(sa_agent_create(options, &agent), SA_INVALID);
        if (!strstr(sa_last_error(), "--reward-range")) fail_msg("%s: %s", bad[i], sa_last_error());
    }
    sa_options_destroy(options);
    agent = create("algorithm=comblin-ucb reward-range=-1,2.5");
    const oddity none = {.context = UINT64_MAX, .score = UINT64_MAX};
    for (uint64_t round = 0; round < 30; round++) play(agent, round, &none);
    double contexts[ARMS * DIM] = {0}, scores[SLATE] = {1, 2.75, 0}, good[SLATE] = {2.5, -1, 0};
    const bool part[SLATE] = {true, false, true};
    const size_t arms[SLATE] = {0, 1, 2};
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    sa_agent_counts counts;
    sa_request_contexts(request, contexts, ARMS);
    sa_request_slate(request, SLATE);
    ok(sa_agent_select(agent, request, &decision));
    uint64_t id = sa_decision_id(decision);
    assert_int_equal(sa_agent_update(agent, id, scores, NULL, SLATE), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "is 2.75, and --reward-range is -1,2.5"));
    assert_int_equal(sa_agent_learn(agent, request, arms, scores, NULL, SLATE), SA_INVALID);
    ok(sa_agent_update(agent, id, scores, part, SLATE)); /* what was not seen may be anything */
    assert_int_equal(sa_agent_revise(agent, id, scores, NULL, SLATE), SA_OK);
    scores[0] = -7;
    assert_int_equal(sa_agent_revise(agent, id, scores, NULL, SLATE), SA_INVALID);
    ok(sa_agent_learn(agent, request, arms, good, NULL, SLATE)); /* the ends are inside */
    sa_agent_count(agent, &counts);
    assert_true(counts.refused_rewards == 3 && counts.wild_rewards == 0 &&
                counts.observations == 31 * SLATE + 2);
    sa_decision_destroy(decision);
    sa_request_destroy(request);
    sa_agent_destroy(agent);
}

/* Feedback that is wild from end to end: answered, once. */
static void test_all_wild(void **state) {
    (void)state;
    sa_agent *agent = create("algorithm=cn-ucb");
    const oddity none = {.context = UINT64_MAX, .score = UINT64_MAX};
    for (uint64_t round = 0; round < 30; round++) play(agent, round, &none);
    double contexts[ARMS * DIM] = {0}, scores[SLATE] = {1e30, -1e30, 1e30};
    const bool first[SLATE] = {true, false, false}, rest[SLATE] = {false, true, true};
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    sa_agent_counts counts;
    sa_request_contexts(request, contexts, ARMS);
    sa_request_slate(request, SLATE);
    ok(sa_agent_select(agent, request, &decision));
    uint64_t id = sa_decision_id(decision);
    ok(sa_agent_update(agent, id, scores, first, SLATE));
    assert_int_equal(sa_agent_update(agent, id, scores, first, SLATE), SA_ALREADY_ANSWERED);
    scores[1] = 1;
    ok(sa_agent_update(agent, id, scores, rest, SLATE));
    assert_int_equal(sa_agent_update(agent, id, scores, NULL, SLATE), SA_ALREADY_ANSWERED);
    assert_int_equal(sa_agent_revise(agent, id, scores, first, SLATE),
                     SA_INVALID); /* nothing was learnt from it */
    sa_agent_count(agent, &counts);
    assert_true(counts.wild_rewards == 2 && counts.answered == 31 && counts.observations == 30 * SLATE + 1);
    assert_int_equal(counts.pending, 0);
    sa_decision_destroy(decision);
    sa_request_destroy(request);
    sa_agent_destroy(agent);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_score),    cmocka_unit_test(test_context), cmocka_unit_test(test_changed_world),
        cmocka_unit_test(test_saved),    cmocka_unit_test(test_range),   cmocka_unit_test(test_chosen),
        cmocka_unit_test(test_all_wild),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
