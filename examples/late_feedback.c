/* Feedback that comes late and in parts, with a restart in between.
 *
 * Every day five slates are asked for before an answer is in. With count-pending an arm counts as explored
 * when it is chosen, so that the five are not all the same. In the evening half of the feedback comes; at
 * night the process restarts and loads the agent from its file; in the morning the other half finds its
 * decisions still waiting.
 *
 *   cc late_feedback.c $(pkg-config --cflags --libs superarm) && ./a.out */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <superarm/superarm.h>
#include <unistd.h>

enum { DAYS = 3, WAITING = 5, ARMS = 12, SLATE = 4, DIM = 3 };

typedef struct shop {
    sa_agent *agent;
    sa_request *request;
    sa_decision *decision;
    double items[ARMS * DIM];
    /* of the slates that wait for feedback: */
    uint64_t ids[WAITING];
    double scores[WAITING][SLATE]; /* what will come of them */
} shop;

static double uniform(void) {
    static uint64_t state = 7;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 11) * 0x1p-52 - 1;
}

static sa_status open_shop(shop *my) {
    const char *settings[][2] = {{"algorithm", "cn-ucb"},
                                 {"dim", "3"},
                                 {"gamma", "30"},
                                 {"count-pending", "true"},
                                 {"pending-limit", "100"}};
    sa_status status = SA_OUT_OF_MEMORY;
    sa_options *options = sa_options_new("tuned");
    my->request = sa_request_new();
    if (!options || !my->request) goto done;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if ((status = sa_options_set(options, settings[i][0], settings[i][1])) != SA_OK) goto done;
    status = sa_agent_create(options, &my->agent);
    for (int i = 0; i < ARMS * DIM; i++) my->items[i] = uniform();
    sa_request_contexts(my->request, my->items, ARMS);
    sa_request_slate(my->request, SLATE);
done:
    sa_options_destroy(options);
    return status;
}

static sa_status ask(shop *my, int slot) {
    sa_status status = sa_agent_select(my->agent, my->request, &my->decision);
    if (status != SA_OK) return status;
    my->ids[slot] = sa_decision_id(my->decision);
    printf("  shown:");
    for (int i = 0; i < SLATE; i++) {
        size_t arm = sa_decision_arms(my->decision)[i];
        const double *x = my->items + arm * DIM;
        my->scores[slot][i] = x[0] * x[0] + x[1] + 0.01 * uniform();
        printf(" %2zu", arm);
    }
    printf("\n");
    return SA_OK;
}

/* Answers the arms of one half of every slate; the latest decision first, for any order will do. */
static sa_status answer(shop *my, bool second_half) {
    bool observed[SLATE];
    for (int i = 0; i < SLATE; i++) observed[i] = (i >= SLATE / 2) == second_half;
    for (int slot = WAITING - 1; slot >= 0; slot--) {
        sa_status status = sa_agent_update(my->agent, my->ids[slot], my->scores[slot], observed, SLATE);
        if (status != SA_OK) return status;
    }
    return SA_OK;
}

static sa_status restart(shop *my, const char *path) {
    sa_status status = sa_agent_save(my->agent, path);
    if (status != SA_OK) return status;
    sa_agent_destroy(my->agent);
    my->agent = NULL;
    return sa_agent_load(path, &my->agent);
}

static void report(const shop *my, const char *when) {
    sa_agent_counts counts;
    sa_agent_count(my->agent, &counts);
    printf("  %s: %" PRIu64 " decisions, %" PRIu64 " waiting, %" PRIu64 " arms learnt from\n", when,
           counts.decisions, counts.pending, counts.observations);
}

static sa_status day(shop *my, const char *path) {
    sa_status status;
    for (int slot = 0; slot < WAITING; slot++)
        if ((status = ask(my, slot)) != SA_OK) return status;
    if ((status = answer(my, false)) != SA_OK) return status;
    report(my, "evening");
    if ((status = restart(my, path)) != SA_OK) return status;
    /* The evening's feedback, delivered once more: the agent says so, and nothing changes. */
    if ((status = answer(my, false)) != SA_ALREADY_ANSWERED) return status != SA_OK ? status : SA_INVALID;
    if ((status = answer(my, true)) != SA_OK) return status;
    report(my, "morning");
    return SA_OK;
}

int main(void) {
    char path[] = "/tmp/late_feedback_XXXXXX";
    int file = mkstemp(path);
    if (file < 0) return 1;
    close(file);
    shop mine = {0};
    sa_status status = open_shop(&mine);
    for (int i = 1; i <= DAYS && status == SA_OK; i++) {
        printf("day %d\n", i);
        status = day(&mine, path);
    }
    if (status != SA_OK)
        fprintf(stderr, "late_feedback: %s: %s\n", sa_status_message(status), sa_last_error());
    sa_decision_destroy(mine.decision);
    sa_agent_destroy(mine.agent);
    sa_request_destroy(mine.request);
    remove(path);
    return status == SA_OK ? 0 : 1;
}
