/* Any bytes as a saved agent: it is refused with a sentence, or it chooses, learns and is saved like any
 * other. */
#include <stdlib.h>

#include <superarm/agent.h>

#include "fuzz_memory_file.h"

/* One round with the loaded agent; small ones only, for a forged agent may be as large as its file allows. */
static void use(sa_agent *agent) {
    char text[32];
    if (sa_options_get(sa_agent_options(agent), "dim", text, sizeof text) != SA_OK) abort();
    size_t dim = strtoul(text, NULL, 10);
    if (dim < 1 || dim > 64) return;
    double *contexts = calloc(3 * dim, sizeof *contexts);
    for (size_t i = 0; i < 3 * dim; i++) contexts[i] = (double)(i % 5) / 5;
    sa_request *request = sa_request_new();
    sa_request_contexts(request, contexts, 3);
    sa_request_slate(request, 2);
    sa_decision *decision = NULL;
    if (sa_agent_select(agent, request, &decision) == SA_OK &&
        sa_agent_update(agent, sa_decision_id(decision), (double[]){1, 0}, NULL, 2) == SA_INVALID)
        (void)sa_agent_update(agent, sa_decision_id(decision), (double[]){1}, NULL, 1); /* a total */
    sa_decision_destroy(decision);
    sa_request_destroy(request);
    free(contexts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[32];
    sa_agent *agent = NULL;
    int file = memory_file(data, size, path);
    if (file < 0) return 0;
    if (sa_agent_load(path, &agent) == SA_OK)
        use(agent);
    else if (agent || !*sa_last_error())
        abort();
    sa_agent_destroy(agent);
    close(file);
    return 0;
}
