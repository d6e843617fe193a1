/* A request's named fields to contexts: the context is encoded once, and each item after it. */
#include <stdio.h>
#include <string.h>

#include "base/candidates.h"
#include "base/memory.h"
#include "features/schema.h"

enum { NAME_MOST = 128 };
#define NONE SIZE_MAX /* no object: all fields are missing */

struct sa_encoding {
    sa_json json; /* of sa_schema_encode's text */
    sa_ids ids;
    double *contexts; /* (arms, dim) */
    size_t contexts_room, arms;
    double *context; /* (dim) with the columns of the context, the rest 0 */
    size_t context_room;
    char *scratch; /* a value without escapes */
    size_t scratch_room;
    bool *seen; /* (fields) of the present object */
    size_t seen_room;
    uint64_t ignored;
    char ignored_name[NAME_MOST];
};

sa_encoding *sa_encoding_new(void) {
    sa_encoding *encoding;
    return sa_alloc_array(1, sizeof *encoding, &encoding) == SA_OK ? encoding : NULL;
}

void sa_encoding_destroy(sa_encoding *encoding) {
    if (!encoding) return;
    sa_json_clear(&encoding->json);
    sa_ids_clear(&encoding->ids);
    sa_free(encoding->contexts);
    sa_free(encoding->context);
    sa_free(encoding->scratch);
    sa_free(encoding->seen);
    sa_free(encoding);
}

size_t sa_encoding_arms(const sa_encoding *encoding) { return encoding->arms; }
const double *sa_encoding_contexts(const sa_encoding *encoding) { return encoding->contexts; }
const char *const *sa_encoding_ids(const sa_encoding *encoding) {
    return encoding->arms && encoding->ids.named ? encoding->ids.names : NULL;
}
uint64_t sa_encoding_ignored(const sa_encoding *encoding) { return encoding->ignored; }
const char *sa_encoding_ignored_name(const sa_encoding *encoding) { return encoding->ignored_name; }

/* The fields of one object: those of the context, or those of an item. */
typedef struct part {
    const sa_schema *schema;
    const sa_json *json;
    sa_encoding *encoding;
    size_t first, end; /* its fields */
    size_t item;       /* SIZE_MAX for the context */
} part;

static bool is_named(const sa_json *json, size_t key, const sa_field *field) {
    const sa_json_node *node = &json->nodes[key];
    if (node->escaped) return sa_json_equals(json, key, field->name);
    return node->size == field->name_size && !memcmp(json->text + node->start, field->name, node->size);
}

/* Objects mostly have their fields in the order of the one before, so the search begins where the last one
 * ended. */
static size_t find_field(const part *p, size_t key, size_t guess) {
    const sa_json *json = p->json;
    size_t count = p->end - p->first;
    if (is_named(json, key, &p->schema->fields[guess])) return guess;
    if (p->item != SIZE_MAX && !p->schema->has_id && sa_json_equals(json, key, "id")) return SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        size_t field = p->first + (guess - p->first + i) % count;
        if (is_named(json, key, &p->schema->fields[field])) return field;
    }
    return SIZE_MAX;
}

static void ignore(const part *p, size_t key) {
    sa_encoding *encoding = p->encoding;
    char shown[SA_PRINTABLE];
    if (p->item != SIZE_MAX && sa_json_equals(p->json, key, "id")) return;
    if (encoding->ignored++ > 0) return;
    snprintf(encoding->ignored_name, NAME_MOST, "%s.%s", p->item == SIZE_MAX ? "context" : "items",
             sa_span_printable(sa_json_span(p->json, key), shown));
}

static sa_status wrong(const part *p, size_t value, const sa_field *field, const char *wanted) {
    char shown[SA_PRINTABLE], name[SA_PRINTABLE], where[32] = "context";
    if (p->item != SIZE_MAX) snprintf(where, sizeof where, "items[%zu]", p->item);
    return sa_fail(SA_INVALID, "%s.%s is %s, and %s", where, sa_printable(field->name, name),
                   sa_json_printable(p->json, value, shown), wanted);
}

/* Encodes the object's fields into the row, (dim), whose columns of them are 0. */
static sa_status encode_object(const part *p, size_t object, double *row) {
    const sa_json *json = p->json;
    bool *seen = p->encoding->seen;
    size_t guess = p->first;
    memset(seen + p->first, 0, (p->end - p->first) * sizeof *seen);
    for (size_t key = object + 1; object != NONE && key < json->nodes[object].next;
         key = json->nodes[key + 1].next) {
        size_t index = p->end > p->first ? find_field(p, key, guess) : SIZE_MAX;
        if (index == SIZE_MAX) {
            ignore(p, key);
            continue;
        }
        const sa_field *field = &p->schema->fields[index];
        guess = index + 1 < p->end ? index + 1 : p->first;
        if (seen[index]) return wrong(p, key + 1, field, "it is there twice");
        if (json->nodes[key + 1].kind == SA_JSON_NULL) continue;
        seen[index] = true;
        if (!sa_field_encode(field, json, key + 1, p->encoding->scratch, row + field->start)) {
            char wanted[64];
            snprintf(wanted, sizeof wanted, "%s is wanted", sa_field_kind_takes[field->kind]);
            return wrong(p, key + 1, field, wanted);
        }
    }
    for (size_t i = p->first; i < p->end; i++)
        if (!seen[i]) row[p->schema->fields[i].start + p->schema->fields[i].width] = 1;
    return SA_OK;
}

static void encode_cross(const sa_schema *schema, const sa_cross *cross, double *row) {
    const sa_field *left = &schema->fields[cross->left], *right = &schema->fields[cross->right];
    const double *b = row + right->start;
    double *to = row + cross->start;
    for (size_t i = 0; i < left->width; i++) {
        double a = row[left->start + i];
        if (a == 0) continue; /* most are */
        for (size_t j = 0; j < right->width; j++) {
            int32_t place = cross->place ? cross->place[i * right->width + j] : 0;
            if (place == 0)
                to[i * right->width + j] = a * b[j];
            else
                to[(place < 0 ? -place : place) - 1] += place < 0 ? -a * b[j] : a * b[j];
        }
    }
}

static sa_status encode_items(const sa_schema *schema, const sa_json *json, sa_encoding *encoding,
                              size_t items) {
    part p = {schema, json, encoding, schema->context_fields, schema->field_count, 0};
    for (size_t at = items + 1; at < json->nodes[items].next; at = json->nodes[at].next, p.item++) {
        double *row = encoding->contexts + p.item * schema->dim;
        memcpy(row, encoding->context, schema->dim * sizeof *row);
        SA_TRY(encode_object(&p, at, row));
        for (size_t i = 0; i < schema->cross_count; i++) encode_cross(schema, &schema->crosses[i], row);
    }
    return SA_OK;
}

static sa_status make_room(const sa_schema *schema, sa_encoding *encoding, size_t arms, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(arms, schema->dim, &total))
        return sa_fail(SA_OUT_OF_MEMORY, "no memory for %zu items of %zu features", arms, schema->dim);
    SA_TRY(sa_grow_array(&encoding->contexts, &encoding->contexts_room, total, sizeof(double)));
    SA_TRY(sa_grow_array(&encoding->context, &encoding->context_room, schema->dim, sizeof(double)));
    SA_TRY(sa_grow_array(&encoding->seen, &encoding->seen_room, schema->field_count, sizeof(bool)));
    SA_TRY(sa_grow_array(&encoding->scratch, &encoding->scratch_room, size + SA_NUMBER_TEXT, 1));
    memset(encoding->context, 0, schema->dim * sizeof(double));
    return SA_OK;
}

static sa_status encode(const sa_schema *schema, const sa_json *json, size_t object, sa_encoding *encoding) {
    if (json->nodes[object].kind != SA_JSON_OBJECT)
        return sa_fail(SA_INVALID, "the request is %s, and an object is wanted",
                       sa_json_kind_name(json, object));
    size_t context = sa_json_find(json, object, "context"), items = sa_json_find(json, object, "items");
    if (!items || json->nodes[items].kind == SA_JSON_NULL)
        return sa_fail(SA_INVALID, "there are no items, whose fields the schema is for");
    if (context && json->nodes[context].kind == SA_JSON_NULL) context = 0;
    if (context && json->nodes[context].kind != SA_JSON_OBJECT)
        return sa_json_wrong(json, context, "context", SIZE_MAX, SIZE_MAX, "an object is wanted");
    SA_TRY(sa_ids_take(&encoding->ids, json, items));
    if (encoding->ids.count == 0) return sa_fail(SA_INVALID, "items is empty");
    SA_TRY(make_room(schema, encoding, encoding->ids.count, json->nodes[object].size));
    part p = {schema, json, encoding, 0, schema->context_fields, SIZE_MAX};
    SA_TRY(encode_object(&p, context ? context : NONE, encoding->context));
    SA_TRY(encode_items(schema, json, encoding, items));
    encoding->arms = encoding->ids.count;
    return SA_OK;
}

sa_status sa_schema_encode_parsed(const sa_schema *schema, const sa_json *json, size_t object,
                                  sa_encoding *encoding) {
    encoding->arms = 0;
    sa_status status = encode(schema, json, object, encoding);
    return status == SA_FORMAT ? SA_INVALID : status;
}

sa_status sa_schema_encode(const sa_schema *schema, const char *json, size_t size, sa_encoding *encoding) {
    encoding->arms = 0;
    sa_status status = sa_json_parse(&encoding->json, json, size);
    if (status == SA_OK) status = encode(schema, &encoding->json, 0, encoding);
    return status == SA_FORMAT ? SA_INVALID : status;
}

/* ---- items that are encoded once ---- */

static bool crosses(const sa_schema *schema, const sa_cross *cross, bool left_of_item, bool right_of_item) {
    return schema->fields[cross->left].of_item == left_of_item &&
           schema->fields[cross->right].of_item == right_of_item;
}

sa_status sa_schema_encode_item(const sa_schema *schema, const sa_json *json, size_t object, size_t index,
                                sa_encoding *encoding, double *row) {
    part p = {schema, json, encoding, schema->context_fields, schema->field_count, index};
    if (json->nodes[object].kind != SA_JSON_OBJECT)
        return sa_fail(SA_INVALID, "items[%zu] is %s, and an object is wanted", index,
                       sa_json_kind_name(json, object));
    SA_TRY(make_room(schema, encoding, 1, json->nodes[object].size));
    memset(row, 0, schema->dim * sizeof *row);
    sa_status status = encode_object(&p, object, row);
    if (status != SA_OK) return status == SA_FORMAT ? SA_INVALID : status;
    for (size_t i = 0; i < schema->cross_count; i++)
        if (crosses(schema, &schema->crosses[i], true, true)) encode_cross(schema, &schema->crosses[i], row);
    return SA_OK;
}

/* The columns of the context's fields, and of their crosses, come from the context; those of the items are in
 * the row; crosses of both are computed. */
static void join_row(const sa_schema *schema, const double *context, double *row) {
    memcpy(row, context, schema->context_dim * sizeof *row);
    for (size_t i = 0; i < schema->cross_count; i++) {
        const sa_cross *cross = &schema->crosses[i];
        if (crosses(schema, cross, false, false))
            memcpy(row + cross->start, context + cross->start, cross->width * sizeof *row);
        else if (!crosses(schema, cross, true, true))
            encode_cross(schema, cross, row);
    }
}

sa_status sa_schema_join(const sa_schema *schema, const sa_json *json, size_t object,
                         const double *const *rows, size_t count, sa_encoding *encoding) {
    size_t context = sa_json_find(json, object, "context");
    part p = {schema, json, encoding, 0, schema->context_fields, SIZE_MAX};
    encoding->arms = 0;
    if (count == 0) return sa_fail(SA_INVALID, "there are no items");
    if (context && json->nodes[context].kind == SA_JSON_NULL) context = 0;
    if (context && json->nodes[context].kind != SA_JSON_OBJECT) {
        sa_json_wrong(json, context, "context", SIZE_MAX, SIZE_MAX, "an object is wanted");
        return SA_INVALID;
    }
    SA_TRY(make_room(schema, encoding, count, json->nodes[object].size));
    sa_status status = encode_object(&p, context ? context : NONE, encoding->context);
    if (status != SA_OK) return status == SA_FORMAT ? SA_INVALID : status;
    for (size_t i = 0; i < schema->cross_count; i++)
        if (crosses(schema, &schema->crosses[i], false, false))
            encode_cross(schema, &schema->crosses[i], encoding->context);
    for (size_t i = 0; i < count; i++) {
        double *row = encoding->contexts + i * schema->dim;
        memcpy(row, rows[i], schema->dim * sizeof *row);
        join_row(schema, encoding->context, row);
    }
    encoding->arms = count;
    return SA_OK;
}

sa_status sa_encoding_name(sa_encoding *encoding, const char *const *ids, size_t count, bool find) {
    return sa_ids_borrow(&encoding->ids, ids, count, find);
}

const sa_ids *sa_encoding_id_table(const sa_encoding *encoding) { return &encoding->ids; }
