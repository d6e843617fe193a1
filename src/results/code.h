/* The caller's own code, by its hash, and the program's version: runs of other code are not mixed. */
#ifndef SA_RESULTS_CODE_H
#define SA_RESULTS_CODE_H

#include "results/table.h"
#include <superarm/oracle.h>

/* Adds "code" to the session: {"agent LABEL" | "environment" | "oracle": {"what", "sha256"}}. */
sa_status sa_session_add_code(json_t *session, const sa_results *results,
                              const sa_own_environment *environment, const sa_oracle_callbacks *oracle);
/* SA_INVALID, saying what has changed and how the agent is run again, where runs of the agent in `folder` are
 * of session `then` and the code or the version is another `now`. What one of them does not know is passed
 * over. */
sa_status sa_session_check_code(const json_t *now, const json_t *then, const char *label, const char *folder);
/* The same of two folders that are to be joined. */
sa_status sa_session_join_code(const json_t *one, const json_t *other, const char *label, const char *folder,
                               const char *other_folder);

#endif
