/* The caller's own code, by its hash, and the program's version: runs of other code are not mixed. */
#ifndef SA_RESULTS_CODE_H
#define SA_RESULTS_CODE_H

#include "experiment/experiment.h"

/* Adds "code" to the session: {"agent LABEL" | "environment" | "oracle": {"what", "sha256"}}. */
sa_status sa_session_add_code(json_t *session, const sa_work *work);
/* SA_INVALID, saying what has changed and how the agent is run again, where runs of the agent in `folder` are
 * of session `then` and the code or the version is another `now`. What one of them does not know is passed
 * over. */
sa_status sa_session_check_code(const json_t *now, const json_t *then, const char *label, const char *folder);
/* The same of two folders that are to be joined. */
sa_status sa_session_join_code(const json_t *one, const json_t *other, const char *label, const char *folder,
                               const char *other_folder);

/* --replace: is the label one of those in the list? They are separated by commas, which labels may have,
 * too. */
bool sa_replaces(const char *list, const char *label);
/* SA_INVALID where a word of the list is no agent of the work. */
sa_status sa_replace_check(const sa_work *work);

#endif
