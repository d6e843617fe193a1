/* The files that an evaluation and its helper share: all begin with the same path. */
#ifndef SERVE_EVALUATION_FILES_H
#define SERVE_EVALUATION_FILES_H

#include "settings.h"
#include "store.h"

/* X(ENUMERATOR, "how the name ends") */
#define EVALUATION_FILES(X)                                                                                  \
    X(QUESTION, ".json")                                                                                     \
    X(PAST, "-past.jsonl")                                                                                   \
    X(LATER, "-later.jsonl")                                                                                 \
    X(PRESENT, "-present.npz")                                                                               \
    X(CANDIDATE, "-candidate.npz")                                                                           \
    X(RESULT, "-result.json")

typedef enum evaluation_file {
#define EVALUATION_ENUM(name, end) EVALUATION_##name,
    EVALUATION_FILES(EVALUATION_ENUM)
#undef EVALUATION_ENUM
        EVALUATION_FILE_COUNT
} sv_evaluation_file;

/* Into `out`, which is cleared first. */
void sv_evaluation_path(const char *begin, sv_evaluation_file file, sa_buffer *out);
/* A whole file, which is small: a bound is 4 MB. false: it is not there. */
bool sv_evaluation_read(const char *begin, sv_evaluation_file file, sa_buffer *out);
bool sv_evaluation_write(const char *begin, sv_evaluation_file file, const sa_buffer *text);
void sv_evaluation_remove(const char *begin);

/* ---- evaluation_events.c: from the journal to the two logs ---- */

typedef struct evaluation_span {
    int64_t agent, from, to;
    const char *name; /* of the agent */
    double split;
    double room; /* bytes that the files may take */
    const atomic_bool *stop;
    uint64_t learnt_from, judged_by; /* events */
} sv_evaluation_span;

/* Writes PAST and LATER. false with a sentence. */
bool sv_evaluation_events(sv_store *store, const char *begin, sv_evaluation_span *span, sv_refusal *why);

#endif
