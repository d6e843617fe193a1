/* A schema's columns: the context's fields, the items' fields, the crosses, each in the order of the file.
 *
 *   field   width columns of its kind, then its missing flag
 *   number  x                          log     log(1 + x)                 flag  0 or 1
 *   cyclic  cos(2 pi x / P), sin(2 pi x / P)
 *   category  a 1 at the value's place, or at the last for any other value
 *   hashed  +-1 at column h mod B      tags    the sum of those of its n entries, over sqrt(n)
 *   any     likewise of all that is in a value, whatever it is (any.c)
 *   cross   the products of two encodings without their flags, left by right; where they are more than W,
 *           SA_CROSS_MOST unless it is given, each product is added, with a sign, to one of W columns, by
 *           sa_schema_hash("left x right", its number) */
#ifndef SA_FEATURES_SCHEMA_H
#define SA_FEATURES_SCHEMA_H

#include <stdatomic.h>

#include <superarm/schema.h>

#include "base/buffer.h"
#include "base/candidates.h"

/* X(ENUMERATOR, "name", what it takes) */
#define SA_FIELD_KINDS(X)                                                                                    \
    X(NUMBER, "number", "a number")                                                                          \
    X(LOG, "log", "a number from 0")                                                                         \
    X(CYCLIC, "cyclic", "a number")                                                                          \
    X(FLAG, "flag", "true or false")                                                                         \
    X(CATEGORY, "category", "a text, a number, true or false")                                               \
    X(HASHED, "hashed", "a text, a number, true or false")                                                   \
    X(TAGS, "tags", "a list of texts")                                                                       \
    X(ANY, "any", "what has no numbers that are not finite")

typedef enum sa_field_kind {
#define SA_FIELD_ENUM(name, text, takes) SA_FIELD_##name,
    SA_FIELD_KINDS(SA_FIELD_ENUM)
#undef SA_FIELD_ENUM
        SA_FIELD_KIND_COUNT
} sa_field_kind;

extern const char *const sa_field_kind_names[SA_FIELD_KIND_COUNT];
extern const char *const sa_field_kind_takes[SA_FIELD_KIND_COUNT];

enum { SA_BUCKETS_MOST = 1 << 16, SA_VALUES_MOST = 1024, SA_FIELDS_MOST = 1024, SA_CROSS_MOST = 64 };
#define SA_PRODUCTS_MOST ((size_t)1 << 20)

typedef struct sa_field {
    char *name;
    size_t name_size;
    bool of_item;
    sa_field_kind kind;
    double period;  /* cyclic */
    size_t buckets; /* hashed, tags, any */
    char **values;  /* (value_count) of a category */
    uint64_t *hashes;
    size_t value_count, value_room;
    size_t start, width; /* columns, without the missing flag, which is column start + width */
    uint64_t hash;       /* of its name and a 0: where the hashes of its values begin */
} sa_field;

typedef struct sa_cross {
    size_t left, right; /* fields */
    char *name;         /* "country x category" */
    size_t most;        /* columns, where there are more products */
    size_t start, width;
    /* (left width, right width): 1 + column of a product, negative where its sign is -; NULL: not
     * hashed */
    int32_t *place;
} sa_cross;

struct sa_schema {
    atomic_size_t owners;
    sa_field *fields; /* those of the context, then those of items */
    size_t field_count, field_room, context_fields;
    bool has_id; /* a field of items is called "id" */
    sa_cross *crosses;
    size_t cross_count, cross_room;
    size_t dim, context_dim; /* the context's columns come first */
    char *text;              /* canonical */
};

/* Fills a field's kind from "hashed 16" or "category [a, b]"; `field->name` is set. SA_INVALID with a
 * sentence that begins with `path`. */
sa_status sa_field_read(sa_field *field, const char *path, const char *text);
/* Adds "hashed 16" again. */
void sa_field_write(const sa_field *field, sa_buffer *buffer);
void sa_field_clear(sa_field *field);
/* The ids that were encoded last, for those who look for one. */
/* The ids of the arms that sa_schema_join gave, borrowed; `find`: they are going to be looked for. */
sa_status sa_encoding_name(sa_encoding *encoding, const char *const *ids, size_t count, bool find);
const sa_ids *sa_encoding_id_table(const sa_encoding *encoding);
/* Puts double quotes around each `category [...]`, which a flow mapping of YAML would otherwise take
 * apart. */
void sa_schema_quote_categories(const char *text, size_t size, sa_buffer *out);
/* The encoding of the value `at`, which is neither absent nor null, into the field's `width` columns at `to`,
 * which are 0. `scratch` has room for the value's text. False when the kind does not take such a value. */
bool sa_field_encode(const sa_field *field, const sa_json *json, size_t at, char *scratch, double *to);
/* A value that names something, as text: a text as it is; whole numbers without a point, so that 3 and 3.0
 * are the same. False for lists, objects and null. */
bool sa_field_name_of(const sa_json *json, size_t at, char *scratch, sa_span *name);
/* The encoding of a field of the kind any. */
bool sa_field_encode_any(const sa_field *field, const sa_json *json, size_t at, char *scratch, double *to);

#endif
