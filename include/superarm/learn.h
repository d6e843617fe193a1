/* Learning from decision logs: what `superarm learn` does, as a call. */
#ifndef SUPERARM_LEARN_H
#define SUPERARM_LEARN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <superarm/agent.h>
#include <superarm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sa_learnt {
    uint64_t decisions; /* learnt from */
    uint64_t left_out;  /* without feedback, or not final */
    uint64_t ignored;   /* values of fields that the agent's schema does not have */
    char note[512];     /* what a user should be told of the log, as one sentence; "" when there is nothing */
} sa_learnt;

/* Called now and then with what was learnt so far; a number other than 0 stops, with SA_INTERRUPTED. */
typedef int sa_learn_progress(void *user, const sa_learnt *learnt);

/* Learns from each decision of the log in turn, as sa_agent_learn does. Where the agent has a schema, from
 * items and context; else from contexts, whose features must be the agent's --dim. `skip_bad`: lines that are
 * wrong, and those that the agent cannot take, are skipped and counted; otherwise the first ends it with
 * "path:line: ", and what came before it is learnt. `problem`, `progress` and `learnt` may be NULL; discounts
 * of cascade feedback come from `problem`. */
SA_API sa_status sa_agent_learn_log(sa_agent *agent, const char *path, bool skip_bad,
                                    const sa_problem *problem, sa_learn_progress *progress, void *user,
                                    sa_learnt *learnt);

#ifdef __cplusplus
}
#endif

#endif
