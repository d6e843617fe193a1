/* Named fields to feature vectors. A schema says how each field of a context and of an item is encoded;
 * docs/LOGS.md has the kinds.
 *
 *   context: {country: hashed 16, device: category [phone, desktop], hour: cyclic 24}
 *   item:    {category: hashed 16, price: log, tags: tags 32}
 *   cross:   [[country, category]]
 *
 * A schema never changes, and any number of threads may use it; an encoding belongs to one thread at a
 * time. */
#ifndef SUPERARM_SCHEMA_H
#define SUPERARM_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <superarm/json.h>
#include <superarm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sa_schema sa_schema;

/* Reads a schema, YAML or JSON. `*out` is set only on success; caller releases it. */
SA_API sa_status sa_schema_load(const char *path, sa_schema **out);
/* The same from text of `size` bytes; `name` is for sentences. */
SA_API sa_status sa_schema_parse(const char *text, size_t size, const char *name, sa_schema **out);
/* One more owner, who releases it, too. */
SA_API void sa_schema_retain(sa_schema *schema);
SA_API void sa_schema_release(sa_schema *schema); /* NULL is fine; from any thread */

/* Features of an arm: the agent's --dim. */
SA_API size_t sa_schema_dim(const sa_schema *schema);
/* The schema as one line of JSON, which sa_schema_parse reads; equal schemas have equal texts. Lives as long
 * as the schema. */
SA_API const char *sa_schema_text(const sa_schema *schema);

typedef struct sa_schema_column {
    const char *part;  /* "context", "item" or "cross" */
    const char *field; /* its name; of a cross "country x category" */
    const char *kind;  /* "number", "hashed"..., "cross" */
    size_t start;      /* first column of its encoding */
    size_t size;       /* columns; the last is the missing flag, which crosses do not have */
} sa_schema_column;
/* The index-th field or cross, in the order of columns; false when there is none. The texts live as long as
 * the schema. */
SA_API bool sa_schema_column_at(const sa_schema *schema, size_t index, sa_schema_column *column);

/* ---- encoding ---- */

typedef struct sa_encoding sa_encoding;

/* An empty one, used again and again; NULL when memory is short. Caller frees with sa_encoding_destroy. */
SA_API sa_encoding *sa_encoding_new(void);
SA_API void sa_encoding_destroy(sa_encoding *encoding); /* NULL is fine */

/* Encodes a request or a line of a log: JSON text of an object with "items", a list of objects, and
 * "context", an object, which may be absent; its other fields are not looked at. A field of an item or of the
 * context that the schema does not have is counted and left out, "id" apart; one that has another type than
 * its kind takes is SA_INVALID with its path: items[3].price is "abc", and a number is wanted. What an
 * earlier call gave is then gone. */
SA_API sa_status sa_schema_encode(const sa_schema *schema, const char *json, size_t size,
                                  sa_encoding *encoding);

/* The same of JSON that was parsed before; `object` is the request's node. */
SA_API sa_status sa_schema_encode_parsed(const sa_schema *schema, const sa_json *json, size_t object,
                                         sa_encoding *encoding);

/* Items that are encoded once, and joined with the context of each request: the same numbers, bit for bit, as
 * of sa_schema_encode. row (dim) gets the columns of one item, the object `object`; `index` is for sentences.
 */
SA_API sa_status sa_schema_encode_item(const sa_schema *schema, const sa_json *json, size_t object,
                                       size_t index, sa_encoding *encoding, double *row);
/* `object` is the request, of which "context" is looked at; rows (count) of items. */
SA_API sa_status sa_schema_join(const sa_schema *schema, const sa_json *json, size_t object,
                                const double *const *rows, size_t count, sa_encoding *encoding);

/* What the last call gave; valid until the next one. */
SA_API size_t sa_encoding_arms(const sa_encoding *encoding);
SA_API const double *sa_encoding_contexts(const sa_encoding *encoding); /* (arms, dim) row-major */
/* (arms), or NULL where items have no ids */
SA_API const char *const *sa_encoding_ids(const sa_encoding *encoding);
/* Values left out since the schema does not have their fields, over all calls, and the name of the first such
 * field, "items.colour" or "context.colour", "" when there was none. */
SA_API uint64_t sa_encoding_ignored(const sa_encoding *encoding);
SA_API const char *sa_encoding_ignored_name(const sa_encoding *encoding);

/* The number that hashing is made of: texts are placed by it, so it is the same in all versions. 64-bit
 * FNV-1a of the field's name, a byte 0 and the value, then the finalizer of MurmurHash3. The value goes to
 * column h mod B, with the sign + where h < 2^63. */
SA_API uint64_t sa_schema_hash(const char *field, const char *value);

/* ---- a schema from data ---- */

/* Looks at the fields of a log's items and contexts and proposes a schema, as YAML with a comment on each
 * line that says what was seen. `*text` is ended by 0; caller frees it with sa_schema_text_free. Lines that
 * are wrong: as for sa_log_reader_open. */
SA_API sa_status sa_schema_propose(const char *log, bool skip_bad, char **text);
SA_API void sa_schema_text_free(char *text); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
