/* Agents whose every number goes into a hash, which is printed, for bytes_suite.sh:
 *
 *   bytes_agent through OPTION VALUE...      40 rounds, with a decision that waits for its feedback after 20
 *   bytes_agent save FILE OPTION VALUE...    the first 20, and the agent saved with the decision waiting
 *   bytes_agent go-on FILE                   the other 20 of the agent in FILE
 *   bytes_agent many OPTION VALUE...         12 requests at once and one by one, K 12: no bit may differ */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <superarm/superarm.h>

enum { ARMS = 37, DIM = 9, SLATE = 4, HALF = 20, MANY = 12 };

static uint64_t state = 1, hash = 0xcbf29ce484222325;

static double uniform(void) {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static void add(const void *data, size_t bytes) {
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ at[i]) * 0x100000001b3;
}

static void must(sa_status status) {
    if (status == SA_OK) return;
    fprintf(stderr, "bytes_agent: %s\n", sa_last_error());
    exit(1);
}

static sa_agent *create(int count, char **words, const char *slate) {
    sa_options *options = sa_options_new(NULL);
    sa_agent *agent = NULL;
    must(sa_options_set(options, "dim", "9"));
    must(sa_options_set(options, "slate", slate));
    must(sa_options_set(options, "hidden", "10"));
    for (int i = 0; i + 1 < count; i += 2) must(sa_options_set(options, words[i], words[i + 1]));
    must(sa_agent_create(options, &agent));
    sa_options_destroy(options);
    return agent;
}

static void draw(double *contexts) {
    for (int i = 0; i < ARMS * DIM; i++) contexts[i] = uniform() - 0.5;
}

static void add_decision(const sa_decision *decision, size_t slate) {
    add(sa_decision_arms(decision), slate * sizeof(size_t));
    add(sa_decision_all_estimates(decision), ARMS * sizeof(double));
    add(sa_decision_all_widths(decision), ARMS * sizeof(double));
    add(sa_decision_all_scores(decision), ARMS * sizeof(double));
}

static void answer(sa_agent *agent, const sa_decision *decision, const double *contexts) {
    double scores[SLATE];
    for (int k = 0; k < SLATE; k++) {
        const double *x = contexts + sa_decision_arms(decision)[k] * DIM;
        scores[k] = x[0] * x[1] + 0.5 * x[2];
    }
    must(sa_agent_update(agent, sa_decision_id(decision), scores, NULL, SLATE));
}

/* Rounds from ... to - 1. Feedback on round HALF - 1 comes at the beginning of the next one, so that the
 * decision waits while the agent is saved. */
static void play(sa_agent *agent, int from, int to) {
    double contexts[ARMS * DIM];
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    for (int round = from; round < to; round++) {
        if (round == HALF) {
            double scores[SLATE] = {0.1, -0.2, 0.3, 0};
            must(sa_agent_update(agent, HALF - 1, scores, NULL, SLATE)); /* ids count from 0 */
        }
        state = (uint64_t)round << 32;
        draw(contexts);
        sa_request_contexts(request, contexts, ARMS);
        sa_request_slate(request, SLATE);
        must(sa_agent_select(agent, request, &decision));
        if (round >= HALF) add_decision(decision, SLATE);
        if (round != HALF - 1) answer(agent, decision, contexts);
    }
    sa_decision_destroy(decision);
    sa_request_destroy(request);
}

/* Of two agents that are alike, since a choice may change what the next one sees (standardised contexts). */
static uint64_t choose(sa_agent *agent, int together) {
    static double contexts[MANY][ARMS * DIM];
    sa_request *requests[MANY];
    sa_decision *decisions[MANY] = {NULL};
    play(agent, 0, HALF - 1);
    for (int i = 0; i < MANY; i++) {
        draw(contexts[i]);
        requests[i] = sa_request_new();
        sa_request_contexts(requests[i], contexts[i], ARMS);
        sa_request_slate(requests[i], MANY);
    }
    if (together) must(sa_agent_select_many(agent, (const sa_request *const *)requests, MANY, decisions));
    for (int i = 0; i < MANY && !together; i++) must(sa_agent_select(agent, requests[i], &decisions[i]));
    for (int i = 0; i < MANY; i++) {
        add_decision(decisions[i], MANY);
        sa_decision_destroy(decisions[i]);
        sa_request_destroy(requests[i]);
    }
    sa_agent_destroy(agent);
    return hash;
}

static void many(int count, char **words) {
    uint64_t first = hash, together = choose(create(count, words, "12"), 1);
    hash = first;
    if (choose(create(count, words, "12"), 0) == together) return;
    fprintf(stderr, "bytes_agent: requests chosen for together and one by one differ\n");
    exit(1);
}

int main(int count, char **words) {
    sa_agent *agent = NULL;
    const char *what = count > 1 ? words[1] : "";
    if (!strcmp(what, "through")) {
        agent = create(count - 2, words + 2, "4");
        play(agent, 0, 2 * HALF);
    } else if (!strcmp(what, "save") && count > 2) {
        agent = create(count - 3, words + 3, "4");
        play(agent, 0, HALF);
        must(sa_agent_save(agent, words[2]));
    } else if (!strcmp(what, "go-on") && count > 2) {
        must(sa_agent_load(words[2], &agent));
        play(agent, HALF, 2 * HALF);
    } else if (!strcmp(what, "many")) {
        many(count - 2, words + 2);
    } else {
        return 2;
    }
    sa_agent_destroy(agent);
    printf("%016" PRIx64 "\n", hash);
    return 0;
}
