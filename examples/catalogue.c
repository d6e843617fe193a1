/* A catalogue of 2000 items, and users who come in batches: 5 items for each.
 *
 * Items and users have features of their own. They are joined by products too, so that the agent can learn
 * who likes what, and the matrix of joined features never exists. Everything is in single precision, and
 * nothing is copied.
 *
 *   cc catalogue.c $(pkg-config --cflags --libs superarm) && ./a.out */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <superarm/superarm.h>

enum { ITEMS = 2000, ITEM_DIM = 6, USER_DIM = 3, USERS = 8, SLATE = 5, BATCHES = 12, STEP = 4 };

/* The world: features in [-1, 1]; a user likes items that point their way, which the agent does not know. */
static float uniform(void) {
    static uint64_t state = 2023;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (float)((double)(state >> 11) * 0x1p-52 - 1);
}

static double score_of(const float *item, const float *user) {
    double sum = 0;
    for (int j = 0; j < USER_DIM; j++) sum += (double)item[j] * (double)user[j];
    return sum + 0.2 * (double)item[3];
}

static float items[ITEMS * ITEM_DIM], users[USERS * USER_DIM];
static sa_request *requests[USERS];
static sa_decision *decisions[USERS];

/* The mean score of what a batch of users is shown; not a number when a call failed. */
static double serve(sa_agent *agent) {
    double sum = 0;
    for (int i = 0; i < USERS * USER_DIM; i++) users[i] = uniform();
    for (int i = 0; i < USERS; i++) {
        sa_request_items_float(requests[i], items, ITEMS, ITEM_DIM);
        sa_request_shared_float(requests[i], users + (size_t)i * USER_DIM, USER_DIM);
        sa_request_join(requests[i], SA_JOIN_BOTH);
        sa_request_slate(requests[i], SLATE);
    }
    if (sa_agent_select_many(agent, (const sa_request *const *)requests, USERS, decisions) != SA_OK)
        return NAN;
    for (int i = 0; i < USERS; i++) {
        double scores[SLATE];
        for (int k = 0; k < SLATE; k++) {
            const float *item = items + sa_decision_arms(decisions[i])[k] * ITEM_DIM;
            scores[k] = score_of(item, users + (size_t)i * USER_DIM) + 0.1 * (double)uniform();
            sum += scores[k];
        }
        if (sa_agent_update(agent, sa_decision_id(decisions[i]), scores, NULL, SLATE) != SA_OK) return NAN;
    }
    return sum / (USERS * SLATE);
}

int main(void) {
    int status = 1;
    double first = 0, last = 0;
    char dim[32];
    sa_agent *agent = NULL;
    sa_options *options = sa_options_new("tuned");
    if (!options) goto done;
    for (int i = 0; i < USERS; i++)
        if (!(requests[i] = sa_request_new())) goto done;
    snprintf(dim, sizeof dim, "%zu", sa_join_dim(SA_JOIN_BOTH, ITEM_DIM, USER_DIM));
    if (sa_options_set(options, "dim", dim) != SA_OK) goto done;
    if (sa_options_set(options, "hidden", "32") != SA_OK) goto done;
    if (sa_options_set(options, "agent-threads", "2") != SA_OK) goto done; /* the slates are the same */
    if (sa_agent_create(options, &agent) != SA_OK) goto done;

    for (int i = 0; i < ITEMS * ITEM_DIM; i++) items[i] = uniform();
    for (int batch = 1; batch <= BATCHES; batch++) {
        double mean = serve(agent);
        if (isnan(mean)) goto done;
        if (batch <= STEP) first += mean / STEP;
        last += mean / STEP;
        if (batch % STEP) continue;
        printf("users %3d to %3d: mean score %.2f\n", (batch - STEP) * USERS + 1, batch * USERS, last);
        if (batch < BATCHES) last = 0;
    }
    status = last > first ? 0 : 1;
    if (status) fprintf(stderr, "catalogue: it has not learnt\n");
done:
    if (status && sa_last_error()[0]) fprintf(stderr, "catalogue: %s\n", sa_last_error());
    for (int i = 0; i < USERS; i++) {
        sa_decision_destroy(decisions[i]);
        sa_request_destroy(requests[i]);
    }
    sa_agent_destroy(agent);
    sa_options_destroy(options);
    return status;
}
