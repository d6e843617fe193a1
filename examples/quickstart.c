/* A shop that shows 4 of 20 items each round and learns from what came of them.
 *
 *   cc quickstart.c $(pkg-config --cflags --libs superarm) && ./a.out */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <superarm/superarm.h>

enum { ROUNDS = 120, STEP = 20, ARMS = 20, SLATE = 4, DIM = 5 };

/* The world: features in [-1, 1], and a score that the agent does not know. */
static double uniform(void) {
    static uint64_t state = 2023;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 11) * 0x1p-52 - 1;
}

static double score_of(const double *x) { return 2 * x[0] * x[0] - x[1]; }

/* What the best slate would bring: the agent cannot know it, so this is only for the printout. */
static double best_of(const double *contexts) {
    double best[SLATE], sum = 0;
    for (int i = 0; i < SLATE; i++) best[i] = -INFINITY;
    for (int i = 0; i < ARMS; i++) {
        double score = score_of(contexts + (size_t)i * DIM);
        for (int place = 0; place < SLATE; place++)
            if (score > best[place]) {
                double lower = best[place];
                best[place] = score;
                score = lower;
            }
    }
    for (int i = 0; i < SLATE; i++) sum += best[i];
    return sum;
}

int main(void) {
    int status = 1;
    double contexts[ARMS * DIM], scores[SLATE], reward = 0, best = 0;
    sa_agent *agent = NULL;
    sa_decision *decision = NULL; /* made by the first select, used again by the next */
    sa_request *request = sa_request_new();
    sa_options *options = sa_options_new("tuned");
    if (!request || !options) goto done;
    if (sa_options_set(options, "algorithm", "cn-ucb") != SA_OK)
        goto done; /* names as in `superarm list options` */
    if (sa_options_set(options, "dim", "5") != SA_OK) goto done;
    if (sa_agent_create(options, &agent) != SA_OK) goto done;

    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < ARMS * DIM; i++) contexts[i] = uniform();
        sa_request_contexts(request, contexts, ARMS);
        sa_request_slate(request, SLATE);
        if (sa_agent_select(agent, request, &decision) != SA_OK) goto done;

        const size_t *arms = sa_decision_arms(decision);
        for (int i = 0; i < SLATE; i++) {
            scores[i] = score_of(contexts + arms[i] * DIM) + 0.01 * uniform();
            reward += scores[i];
        }
        best += best_of(contexts);
        if (sa_agent_update(agent, sa_decision_id(decision), scores, NULL, SLATE) != SA_OK) goto done;
        if (round % STEP == 0) {
            printf("rounds %3d to %3d: %.1f%% of the best reward\n", round - STEP + 1, round,
                   100 * reward / best);
            reward = best = 0;
        }
    }
    status = 0;
done:
    if (status) fprintf(stderr, "quickstart: %s\n", sa_last_error());
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
    sa_options_destroy(options);
    sa_request_destroy(request);
    return status;
}
