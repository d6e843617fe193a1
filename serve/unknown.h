/* Fields that clients send and the agent's schema does not have, counted by name: a misspelt one is otherwise
 * silent. */
#ifndef SERVE_UNKNOWN_H
#define SERVE_UNKNOWN_H

#include <stdint.h>

#include "ask.h"

/* Names that are told apart, their bytes, and the answers of each in which a warning names it. */
enum { UNKNOWN_FIELDS = 32, UNKNOWN_NAME = 80, UNKNOWN_WARNINGS = 10 };

typedef struct unknown_field {
    char name[UNKNOWN_NAME]; /* "items.colour", "context.colour" */
    uint64_t values;         /* items that had it */
    uint64_t requests;
} sv_unknown_field;

typedef struct unknown {
    sv_unknown_field fields[UNKNOWN_FIELDS]; /* the last one is "others" when there are more */
    size_t count;
} sv_unknown;

/* Those of one request, whose encoding has left some out. */
void sv_unknown_find(sv_unknown *self, const sv_ask *ask, const sa_schema *schema);
/* Adds those of a request to those of an agent. */
void sv_unknown_add(sv_unknown *self, const sv_unknown *request);
/* A list of sentences, JSON, about those of the request that the agent has not had often before; false: there
 * is nothing to say. */
bool sv_unknown_warn(const sv_unknown *agent, const sv_unknown *request, const sa_schema *schema,
                     sa_buffer *out);
/* {"items.colour": 12, ...} */
void sv_unknown_write(const sv_unknown *self, sa_buffer *out);

#endif
