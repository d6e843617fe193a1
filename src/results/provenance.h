/* Where results come from: what each process that made runs was, and the files that it read. */
#ifndef SA_RESULTS_PROVENANCE_H
#define SA_RESULTS_PROVENANCE_H

#include <jansson.h>

#include "options/options.h"

/* The value in one line; caller frees. */
sa_status sa_json_text(const json_t *value, char **text);

/* {"version", "commit", "date", "host", "cpu", "command", "inputs": []} of this process; caller decrefs. */
sa_status sa_session_make(json_t **session);
/* Adds the files that these options name, each once: {"option", "path", "bytes", "sha256"}. */
sa_status sa_session_add_inputs(json_t *session, const sa_options *options);
/* SA_INVALID, naming the file, where a path that both sessions have read had other contents. `folder`: whose
 * runs `then` made. */
sa_status sa_session_compare(const json_t *now, const json_t *then, const char *folder);
/* The hash of a file as one of the sessions (an array) read it; NULL: none did. */
const char *sa_session_hash(const json_t *sessions, const char *path);
/* Is this the name of an option whose value may be a file? */
bool sa_option_is_input(const char *name);

#endif
