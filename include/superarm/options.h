/* Options: one list for C, the command line and YAML. The names here are the program's flags without the
 * dashes. */
#ifndef SUPERARM_OPTIONS_H
#define SUPERARM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include <superarm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sa_options sa_options;

/* A full set of options: "tuned" (recommended; NULL means it too), "paper", "icml23" or "section5", each also
 * with its version, "tuned-2", which is refused where this program has another. NULL when the preset
 * is unknown or memory is short: sa_last_error() says which. Caller frees with sa_options_destroy. */
SA_API sa_options *sa_options_new(const char *preset);
SA_API sa_options *sa_options_copy(const sa_options *options);
SA_API void sa_options_destroy(sa_options *options); /* NULL is fine */

/* Sets one option from text ("gamma", "0.3"); the value is copied. Setting "preset" changes every option that
 * was not set by hand. A wrong name or value is SA_INVALID with a sentence, and changes nothing. */
SA_API sa_status sa_options_set(sa_options *options, const char *name, const char *value);
/* The value as text, as sa_options_set would take it; "" for a text that is not set. Written into `buffer`,
 * always ended; SA_INVALID for an unknown name or a buffer that is too small. */
SA_API sa_status sa_options_get(const sa_options *options, const char *name, char *buffer, size_t size);
/* Was it set by hand (true), or does it come from the preset (false)? */
SA_API bool sa_options_given(const sa_options *options, const char *name);

/* What an option belongs to: options of an agent can differ from agent to agent in one experiment. */
typedef enum sa_option_scope {
    SA_SCOPE_AGENT,
    SA_SCOPE_ENVIRONMENT,
    SA_SCOPE_EXPERIMENT,
    SA_SCOPE_OUTPUT
} sa_option_scope;

typedef struct sa_option_info {
    const char *name;
    const char *alias; /* NULL when there is none */
    const char *kind;  /* "integer", "number", "text", "path" (a file that is read), "choice" or "flag" */
    /* "single|double" for a choice; "theory" for a number that may also be that word; else NULL */
    const char *choices;
    const char *help; /* one line */
    sa_option_scope scope;
    const char *group; /* what it is listed under: "environment", "model", "exploration", ... */
} sa_option_info;

SA_API size_t sa_option_count(void);
/* The index-th option in the order of the list, from 0. false when there is none. */
SA_API bool sa_option_at(size_t index, sa_option_info *info);
/* By name or alias. */
SA_API bool sa_option_find(const char *name, sa_option_info *info);

#ifdef __cplusplus
}
#endif

#endif
