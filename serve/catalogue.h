/* An agent's items, encoded, as they are at one version: read-only, counted, and replaced when they change.
 * Candidates of a decide are indices into it, in its order: by number, which is that of the first PUT. */
#ifndef SERVE_CATALOGUE_H
#define SERVE_CATALOGUE_H

#include <stdatomic.h>

#include "bounds.h"
#include "refusal.h"
#include "store.h"
#include "texts.h"

/* Shared by the versions that have it as it is. */
typedef struct item {
    atomic_uint owners;
    uint32_t number;
    uint64_t since;
    int64_t expires;    /* milliseconds of the day's clock; 0: never */
    uint8_t digest[16]; /* of its fields */
    size_t size;
    double *row;      /* (dim) what the schema makes of it */
    const char *text; /* (size) its fields, JSON */
    char id[];
} sv_item;

/* What items have as a field: each value once, by number. A list or object is \1 and its JSON. */
typedef struct column {
    sv_texts values;
    uint32_t *of; /* (count) TEXTS_NONE: it has none */
} sv_column;

typedef struct catalogue {
    atomic_int owners;
    uint64_t version, replaced; /* replaced: the version after it; 0: it is the last */
    sa_schema *schema;          /* of the rows; NULL: some item does not fit the agent's */
    size_t dim, count, bytes;   /* bytes of texts */
    sv_item **items;            /* (count) by number */
    sv_texts ids;               /* numbered as the items are */
    sv_texts fields;            /* names */
    sv_column *columns;         /* (fields) */
    struct catalogue *older;    /* that this one has replaced, while it is held */
    sa_schema *misfit;          /* under the lock of its agent: one that some item does not fit, and why */
    sv_refusal misfit_why;
} sv_catalogue;

void sv_item_retain(sv_item *self);
void sv_item_release(sv_item *self); /* NULL is fine */
/* Of a parsed object; `schema` NULL: without a row. Sentences begin with "line N: " where `line` is not 0. */
sv_item *sv_item_new(const sa_schema *schema, const sa_json *json, size_t line, sa_encoding *encoding,
                     sv_refusal *why);

/* Takes the items over, (count) by number, whatever comes of it. */
sv_catalogue *sv_catalogue_new(sa_schema *schema, uint64_t version, sv_item **items, size_t count,
                               sv_refusal *why);
void sv_catalogue_retain(sv_catalogue *self);
void sv_catalogue_release(sv_catalogue *self); /* NULL is fine */
/* As the journal has it, which is read again where it changed since `before` (NULL: whole). *out is NULL
 * where there is none, or none newer. */
bool sv_catalogue_load(sv_store *store, int64_t agent, const sv_catalogue *before, sa_schema *schema,
                       sv_catalogue **out, sv_store_catalogue *about, sv_refusal *why);
/* The same items for another schema. NULL with 400 where one does not fit. */
sv_catalogue *sv_catalogue_encode(const sv_catalogue *self, sa_schema *schema, sv_refusal *why);
/* NULL: no item has the field. */
const sv_column *sv_catalogue_column(const sv_catalogue *self, const char *name);
static inline bool sv_item_is_open(const sv_item *self, int64_t now) {
    return !self->expires || self->expires > now;
}
size_t sv_catalogue_memory(const sv_catalogue *self);

/* ---- which of them ---- */

/* Those that "items" names (a node, 0: not given), or that "where" describes, or all; without those that have
 * expired. `*out` (count) is the caller's to free. false with 400. */
bool sv_catalogue_select(const sv_catalogue *self, const sa_json *json, size_t items, size_t where,
                         int64_t now, uint32_t **out, size_t *count, sv_refusal *why);

#endif
