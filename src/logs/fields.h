/* A line while it is read: its memory, its fields, and the files that look at them, candidates.c and
 * slate.c. */
#ifndef SA_LOGS_FIELDS_H
#define SA_LOGS_FIELDS_H

#include <superarm/log.h>

#include "base/buffer.h"
#include "base/candidates.h"
#include "base/json.h"

/* Memory that is used again from line to line. */
typedef struct sa_log_line {
    sa_json json;
    sa_log_entry entry;
    char *texts; /* the entry's texts, without escapes, each ended by 0 */
    size_t texts_size, texts_room;
    sa_contexts contexts;
    sa_ids ids;
    double *lists; /* (5, slate): feedback and the probabilities */
    size_t lists_room;
    size_t *arms; /* (slate) */
    size_t arms_room;
    bool *taken; /* (candidates) */
    size_t taken_room;
    sa_buffer extra;
} sa_log_line;

void sa_log_line_clear(sa_log_line *line);

/* X(ENUMERATOR, "name"), in the order in which they are looked at. */
#define SA_LOG_FIELDS(X)                                                                                     \
    X(EVENT, "event")                                                                                        \
    X(TIME, "time")                                                                                          \
    X(AGENT, "agent")                                                                                        \
    X(SIDE, "side")                                                                                          \
    X(MODEL, "model")                                                                                        \
    X(FINAL, "final")                                                                                        \
    X(CONTEXT, "context")                                                                                    \
    X(ITEMS, "items")                                                                                        \
    X(CONTEXTS, "contexts")                                                                                  \
    X(SLATE, "slate")                                                                                        \
    X(FEEDBACK, "feedback")                                                                                  \
    X(TOTAL, "total")                                                                                        \
    X(PROPENSITY, "propensity")                                                                              \
    X(PREFIX, "prefix_propensities")                                                                         \
    X(POSITION, "position_propensities")                                                                     \
    X(TARGET, "target_propensity")                                                                           \
    X(TARGET_PREFIX, "target_prefix_propensities")                                                           \
    X(TARGET_POSITION, "target_position_propensities")

enum {
#define SA_LOG_ENUM(name, text) SA_LOG_##name,
    SA_LOG_FIELDS(SA_LOG_ENUM)
#undef SA_LOG_ENUM
        SA_LOG_FIELD_COUNT
};

/* Everywhere: field (SA_LOG_FIELD_COUNT) has the nodes of the values, 0 where a field is not in the line. */
extern const char *const sa_log_field_names[SA_LOG_FIELD_COUNT];
sa_status sa_log_take_candidates(sa_log_line *line, const size_t *field);
sa_status sa_log_take_slate(sa_log_line *line, const size_t *field);

static inline sa_json_kind sa_log_kind(const sa_log_line *line, size_t at) {
    return (sa_json_kind)line->json.nodes[at].kind;
}
/* Is a field there, and not null? */
static inline bool sa_log_has(const sa_log_line *line, size_t at) {
    return at && sa_log_kind(line, at) != SA_JSON_NULL;
}
/* SA_FORMAT with "slate[2] is "abc", and WANTED". */
sa_status sa_log_wrong(const sa_log_line *line, size_t at, const char *path, const char *wanted);
/* The same for an element of a list. */
sa_status sa_log_wrong_element(const sa_log_line *line, size_t at, const char *list, size_t index,
                               const char *wanted);
/* A string without its escapes, which lives as long as the line. */
const char *sa_log_keep_text(sa_log_line *line, size_t at);

#endif
