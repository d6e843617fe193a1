/* An agent in C, for test_same_bytes.py to compare with one in Python.
 *
 *   same_bytes SLATE ARMS DIM [OPTION VALUE]... <contexts >shown
 *
 * `contexts` are rounds of (ARMS, DIM) doubles, and an arm's score is its first feature. `shown` has for each
 * round the slate, as doubles, and of all arms the estimates, widths and scores. */
#include <stdio.h>
#include <stdlib.h>
#include <superarm/superarm.h>

static sa_status create(int pairs, char **pair, sa_agent **agent) {
    sa_options *options = sa_options_new(NULL);
    sa_status status = options ? SA_OK : SA_OUT_OF_MEMORY;
    for (int i = 0; status == SA_OK && i < pairs; i++)
        status = sa_options_set(options, pair[2 * i], pair[2 * i + 1]);
    if (status == SA_OK) status = sa_agent_create(options, agent);
    sa_options_destroy(options);
    return status;
}

static void show(const sa_decision *decision, size_t slate, size_t arms) {
    const size_t *chosen = sa_decision_arms(decision);
    for (size_t i = 0; i < slate; i++) fwrite(&(double){(double)chosen[i]}, sizeof(double), 1, stdout);
    fwrite(sa_decision_all_estimates(decision), sizeof(double), arms, stdout);
    fwrite(sa_decision_all_widths(decision), sizeof(double), arms, stdout);
    fwrite(sa_decision_all_scores(decision), sizeof(double), arms, stdout);
}

static sa_status play(sa_agent *agent, size_t slate, size_t arms, size_t dim) {
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    double *contexts = calloc(arms * dim, sizeof *contexts), *scores = calloc(slate, sizeof *scores);
    sa_status status = request && contexts && scores ? SA_OK : SA_OUT_OF_MEMORY;
    while (status == SA_OK && fread(contexts, sizeof *contexts, arms * dim, stdin) == arms * dim) {
        sa_request_contexts(request, contexts, arms);
        sa_request_slate(request, slate);
        status = sa_agent_select(agent, request, &decision);
        if (status != SA_OK) break;
        show(decision, slate, arms);
        for (size_t i = 0; i < slate; i++) scores[i] = contexts[sa_decision_arms(decision)[i] * dim];
        status = sa_agent_update(agent, sa_decision_id(decision), scores, NULL, slate);
    }
    sa_decision_destroy(decision);
    sa_request_destroy(request);
    free(scores);
    free(contexts);
    return status;
}

int main(int count, char **arguments) {
    sa_agent *agent = NULL;
    if (count < 4) return 2;
    size_t slate = (size_t)atoi(arguments[1]), arms = (size_t)atoi(arguments[2]),
           dim = (size_t)atoi(arguments[3]);
    sa_status status = create((count - 4) / 2, arguments + 4, &agent);
    if (status == SA_OK) status = play(agent, slate, arms, dim);
    if (status != SA_OK) fprintf(stderr, "same_bytes: %s\n", sa_last_error());
    sa_agent_destroy(agent);
    return status == SA_OK && fflush(stdout) == 0 ? 0 : 1;
}
