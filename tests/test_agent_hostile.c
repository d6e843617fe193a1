/* Two hostile first events, with values that are far from all that come later, do not ruin an agent: after
 * 300 ordinary decisions it earns what a twin earns that never saw them. The world is simulated here: a
 * score is a function of the features and noise of its own, and what a random slate would earn is counted
 * beside. */
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
#include <superarm/superarm.h>

enum { ARMS = 10, DIM = 4, SLATE = 3, NORMAL = 300, JUDGED = 100 };

static void ok(sa_status status) {
    if (status != SA_OK) fail_msg("%s: %s", sa_status_name(status), sa_last_error());
}

/* from -1 to 1 */
static double number(uint64_t seed, uint64_t i) {
    sa_stream stream = sa_stream_at(seed, SA_PURPOSE_NOISE, 0, 0);
    return 2 * sa_draw_uniform(&stream, i) - 1;
}

static sa_agent *create(const char *words) {
    sa_options *options = sa_options_new("tuned");
    sa_agent *agent = NULL;
    char text[512], *next = NULL;
    snprintf(text, sizeof text, "dim=4 hidden=16 slate=3 %s", words);
    for (char *word = strtok_r(text, " ", &next); word; word = strtok_r(NULL, " ", &next)) {
        char *equals = strchr(word, '=');
        *equals = 0;
        ok(sa_options_set(options, word, equals + 1));
    }
    ok(sa_agent_create(options, &agent));
    sa_options_destroy(options);
    return agent;
}

/* What an arm brings in the mean. */
static double value(const double *x) { return 0.5 + 0.3 * x[0] - 0.3 * x[1] + 0.2 * x[2] * x[2]; }

/* What the two first events have: features of some arms, scores of the whole slate. */
typedef struct hostility {
    const char *name;
    double feature, score; /* 0: ordinary ones */
    size_t arms;           /* that have such a feature */
} hostility;

/* One decision; returns what its slate is worth, less what a random one is. */
static double play(sa_agent *agent, uint64_t round, const hostility *hostile) {
    double contexts[ARMS * DIM], scores[SLATE], gain = 0, random = 0;
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    for (size_t i = 0; i < ARMS * DIM; i++) contexts[i] = number(round + 1, i);
    for (size_t i = 0; i < ARMS; i++) random += value(contexts + i * DIM) * SLATE / ARMS;
    for (size_t i = 0; hostile && hostile->feature > 0 && i < hostile->arms; i++)
        contexts[i * DIM + (i + round) % DIM] = hostile->feature * (i % 2 ? -1 : 1);
    sa_request_contexts(request, contexts, ARMS);
    sa_request_slate(request, SLATE);
    ok(sa_agent_select(agent, request, &decision));
    for (size_t k = 0; k < SLATE; k++) {
        const double *chosen = contexts + sa_decision_arms(decision)[k] * DIM;
        double worth = hostile ? 0 : value(chosen);
        gain += worth;
        scores[k] = hostile && hostile->score > 0 ? hostile->score * (k % 2 ? -1 : 1)
                                                  : worth + 0.1 * number(round + 9000, k);
    }
    ok(sa_agent_update(agent, sa_decision_id(decision), scores, NULL, SLATE));
    sa_decision_destroy(decision);
    sa_request_destroy(request);
    return gain - random;
}

/* The gain over random of the decisions behind the 300. */
static double life(const char *words, const hostility *hostile) {
    sa_agent *agent = create(words);
    double gain = 0;
    for (uint64_t round = 0; hostile && round < 2; round++) play(agent, 5000 + round, hostile);
    for (uint64_t round = 0; round < NORMAL; round++) play(agent, round, NULL);
    for (uint64_t round = NORMAL; round < NORMAL + JUDGED; round++) gain += play(agent, round, NULL);
    sa_agent_destroy(agent);
    return gain / JUDGED;
}

static const hostility HOSTILE[] = {
    {.name = "a feature of one arm", .feature = 1e12, .arms = 1},
    {.name = "features of all arms", .feature = 1e12, .arms = ARMS},
    {.name = "features of 1e4", .feature = 1e4, .arms = 2},
    {.name = "features of 1e3", .feature = 1e3, .arms = 2},
    {.name = "scores", .score = 1e9},
    {.name = "scores of 1e3", .score = 1e3},
    {.name = "scores of 1e2", .score = 1e2},
    {.name = "both", .feature = 1e12, .score = 1e9, .arms = 3},
};

/* Of each family the default, then other ways to forget and to hear. */
static const char *const AGENTS[] = {"algorithm=cn-ucb", "algorithm=cn-ts", "algorithm=comblin-ucb",
                                     "algorithm=neural-linear"};
static const char *const OTHERS[] = {"algorithm=cn-ucb window=150",
                                     "algorithm=cn-ucb discount=0.99",
                                     "algorithm=cn-ucb-d",
                                     "algorithm=comblin-ucb window=150",
                                     "algorithm=cn-ucb rebuild=true",
                                     "algorithm=greedy",
                                     "algorithm=comblin-ts",
                                     "algorithm=cn-ucb keep-rows=1000"};

static void judge(const char *words, const hostility *hostile, double twin) {
    double gain = life(words, hostile);
    if (!(gain >= 0.95 * twin)) fail_msg("%s, %s: %.4f, and the twin %.4f", words, hostile->name, gain, twin);
}

static void test_healed(void **state) {
    (void)state;
    for (size_t a = 0; a < sizeof AGENTS / sizeof *AGENTS; a++) {
        double twin = life(AGENTS[a], NULL);
        for (size_t i = 0; i < sizeof HOSTILE / sizeof *HOSTILE; i++) judge(AGENTS[a], &HOSTILE[i], twin);
    }
    for (size_t a = 0; a < sizeof OTHERS / sizeof *OTHERS; a++) {
        double twin = life(OTHERS[a], NULL);
        judge(OTHERS[a], &HOSTILE[sizeof HOSTILE / sizeof *HOSTILE - 1], twin);
    }
}

/* Saved and loaded before, amidst and after it is healed, an agent chooses as one that was not. */
static void test_saved(void **state) {
    (void)state;
    const char *path = inside(temporary_folder(), "agent.npz");
    const hostility *hostile = &HOSTILE[sizeof HOSTILE / sizeof *HOSTILE - 1];
    sa_agent *one = create("algorithm=cn-ts"), *other = create("algorithm=cn-ts");
    for (uint64_t round = 0; round < 40; round++) {
        const hostility *now = round < 2 ? hostile : NULL;
        double gain = play(one, round, now);
        assert_true(play(other, round, now) == gain);
        ok(sa_agent_save(other, path));
        sa_agent_destroy(other);
        ok(sa_agent_load(path, &other));
    }
    sa_agent_destroy(one);
    sa_agent_destroy(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_healed), cmocka_unit_test(test_saved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
