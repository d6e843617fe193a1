#include "features/schema.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/yaml_json.h"

/* ---- life ---- */

static void destroy(sa_schema *schema) {
    for (size_t i = 0; i < schema->field_count; i++) sa_field_clear(&schema->fields[i]);
    for (size_t i = 0; i < schema->cross_count; i++) {
        sa_free(schema->crosses[i].name);
        sa_free(schema->crosses[i].place);
    }
    sa_free(schema->fields);
    sa_free(schema->crosses);
    sa_free(schema->text);
    sa_free(schema);
}

void sa_schema_retain(sa_schema *schema) { atomic_fetch_add(&schema->owners, 1); }

void sa_schema_release(sa_schema *schema) {
    if (schema && atomic_fetch_sub(&schema->owners, 1) == 1) destroy(schema);
}

size_t sa_schema_dim(const sa_schema *schema) { return schema->dim; }

const char *sa_schema_text(const sa_schema *schema) { return schema->text; }

bool sa_schema_column_at(const sa_schema *schema, size_t index, sa_schema_column *column) {
    if (index < schema->field_count) {
        const sa_field *field = &schema->fields[index];
        *column = (sa_schema_column){field->of_item ? "item" : "context", field->name,
                                     sa_field_kind_names[field->kind], field->start, field->width + 1};
        return true;
    }
    index -= schema->field_count;
    if (index >= schema->cross_count) return false;
    const sa_cross *cross = &schema->crosses[index];
    *column = (sa_schema_column){"cross", cross->name, "cross", cross->start, cross->width};
    return true;
}

/* ---- fields ---- */

/* A string of the JSON, ended by 0; caller frees it. */
static sa_status text_of(const sa_json *json, size_t at, char **out) {
    SA_TRY(sa_alloc_array(json->nodes[at].size + 1, 1, out));
    sa_json_unescape(json, at, *out);
    return SA_OK;
}

static sa_status read_field(sa_schema *schema, const sa_json *json, size_t key, bool of_item) {
    char shown[SA_PRINTABLE], path[SA_PRINTABLE + 16], *kind = NULL;
    if (schema->field_count == SA_FIELDS_MOST)
        return sa_fail(SA_INVALID, "there are more than %d fields", SA_FIELDS_MOST);
    SA_TRY(
        sa_grow_array(&schema->fields, &schema->field_room, schema->field_count + 1, sizeof *schema->fields));
    sa_field *field = &schema->fields[schema->field_count];
    *field = (sa_field){.of_item = of_item};
    SA_TRY(text_of(json, key, &field->name));
    schema->field_count++; /* from here on it is freed with the schema */
    field->name_size = strlen(field->name);
    if (of_item && !strcmp(field->name, "id")) schema->has_id = true;
    snprintf(path, sizeof path, "%s.%s", of_item ? "item" : "context", sa_printable(field->name, shown));
    for (size_t i = of_item ? schema->context_fields : 0; i + 1 < schema->field_count; i++)
        if (!strcmp(schema->fields[i].name, field->name))
            return sa_fail(SA_INVALID, "%s is there twice", path);
    if (!*field->name) return sa_fail(SA_INVALID, "a field has an empty name");
    if (json->nodes[key + 1].kind != SA_JSON_STRING)
        return sa_fail(SA_INVALID, "%s is %s, and a kind is wanted, as in hashed 16", path,
                       sa_json_kind_name(json, key + 1));
    SA_TRY(text_of(json, key + 1, &kind));
    sa_status status = sa_field_read(field, path, kind);
    sa_free(kind);
    field->start = schema->dim;
    schema->dim += field->width + 1;
    return status;
}

static sa_status read_fields(sa_schema *schema, const sa_json *json, size_t part, bool of_item) {
    if (part == 0) return SA_OK;
    if (json->nodes[part].kind != SA_JSON_OBJECT)
        return sa_fail(SA_INVALID, "%s is %s, and fields with their kinds are wanted, as in {price: log}",
                       of_item ? "item" : "context", sa_json_kind_name(json, part));
    for (size_t key = part + 1; key < json->nodes[part].next; key = json->nodes[key + 1].next)
        SA_TRY(read_field(schema, json, key, of_item));
    return SA_OK;
}

/* ---- crosses ---- */

static bool is_named(const sa_field *field, const char *name) {
    const char *part = field->of_item ? "item." : "context.";
    return !strcmp(field->name, name) ||
           (!strncmp(name, part, strlen(part)) && !strcmp(field->name, name + strlen(part)));
}

static sa_status find_field(const sa_schema *schema, const sa_json *json, size_t at, size_t *out) {
    char shown[SA_PRINTABLE], *name;
    size_t found = 0;
    if (json->nodes[at].kind != SA_JSON_STRING)
        return sa_fail(SA_INVALID, "cross has %s, and the name of a field is wanted",
                       sa_json_kind_name(json, at));
    SA_TRY(text_of(json, at, &name));
    for (size_t i = 0; i < schema->field_count; i++)
        if (is_named(&schema->fields[i], name)) found++, *out = i;
    sa_printable(name, shown);
    sa_free(name);
    if (found == 0) return sa_fail(SA_INVALID, "cross has %s, which is no field", shown);
    if (found > 1)
        return sa_fail(
            SA_INVALID,
            "cross has %s, which is a field of the context and of items: say context.%s or item.%s", shown,
            shown, shown);
    return SA_OK;
}

/* Where each product goes. */
static sa_status lay_out(sa_schema *schema, sa_cross *cross) {
    const sa_field *left = &schema->fields[cross->left], *right = &schema->fields[cross->right];
    size_t products = left->width * right->width; /* widths are below 2^17 */
    if (products > SA_PRODUCTS_MOST)
        return sa_fail(SA_INVALID,
                       "cross of %s has %zu by %zu products, which is too many: hash them into fewer columns",
                       cross->name, left->width, right->width);
    cross->start = schema->dim;
    cross->width = products <= cross->most ? products : cross->most;
    schema->dim += cross->width;
    if (products == cross->width) return SA_OK;
    SA_TRY(sa_alloc_array(products, sizeof *cross->place, &cross->place));
    for (size_t i = 0; i < products; i++) {
        char number[32];
        snprintf(number, sizeof number, "%zu", i);
        uint64_t hash = sa_schema_hash(cross->name, number);
        int32_t column = (int32_t)(hash % cross->most) + 1;
        cross->place[i] = hash >> 63 ? -column : column;
    }
    return SA_OK;
}

/* YAML has its numbers as texts. */
static sa_status read_columns(const sa_json *json, size_t at, sa_cross *cross) {
    char shown[SA_PRINTABLE], digits[16];
    int64_t columns = 0;
    sa_span text = sa_json_span(json, at);
    snprintf(digits, sizeof digits, "%.*s", (int)text.size, text.start);
    if (!sa_text_to_integer(digits, &columns, NULL) || columns < 1 || columns > SA_BUCKETS_MOST)
        return sa_fail(SA_INVALID, "cross of %s has %s, and a count of columns from 1 to %d is wanted",
                       cross->name, sa_json_printable(json, at, shown), SA_BUCKETS_MOST);
    cross->most = (size_t)columns;
    return SA_OK;
}

static sa_status read_cross(sa_schema *schema, const sa_json *json, size_t pair) {
    size_t count = json->nodes[pair].kind == SA_JSON_ARRAY ? sa_json_count(json, pair) : 0;
    if (count != 2 && count != 3) {
        char shown[SA_PRINTABLE];
        return sa_fail(SA_INVALID,
                       "cross has %s, and pairs of fields are wanted, as in [[country, category]]",
                       sa_json_printable(json, pair, shown));
    }
    SA_TRY(sa_grow_array(&schema->crosses, &schema->cross_room, schema->cross_count + 1,
                         sizeof *schema->crosses));
    sa_cross *cross = &schema->crosses[schema->cross_count];
    *cross = (sa_cross){.most = SA_CROSS_MOST};
    SA_TRY(find_field(schema, json, pair + 1, &cross->left));
    SA_TRY(find_field(schema, json, pair + 2, &cross->right));
    SA_TRY(sa_format(&cross->name, "%s x %s", schema->fields[cross->left].name,
                     schema->fields[cross->right].name));
    schema->cross_count++;
    if (cross->left == cross->right)
        return sa_fail(SA_INVALID, "cross has %s: a field with itself", cross->name);
    for (size_t i = 0; i + 1 < schema->cross_count; i++)
        if (schema->crosses[i].left == cross->left && schema->crosses[i].right == cross->right)
            return sa_fail(SA_INVALID, "cross has %s twice", cross->name);
    if (count == 3) SA_TRY(read_columns(json, pair + 3, cross));
    return lay_out(schema, cross);
}

/* ---- the whole ---- */

static void write_part(const sa_schema *schema, bool of_item, sa_buffer *buffer) {
    sa_buffer kind = {0};
    bool first = true;
    sa_buffer_text(buffer, of_item ? ",\"item\":{" : "{\"context\":{");
    for (size_t i = 0; i < schema->field_count; i++) {
        if (schema->fields[i].of_item != of_item) continue;
        kind.size = 0;
        sa_field_write(&schema->fields[i], &kind);
        if (!first) sa_buffer_text(buffer, ",");
        sa_buffer_quote(buffer, schema->fields[i].name);
        sa_buffer_text(buffer, ":");
        sa_buffer_quote(buffer, kind.text ? kind.text : "");
        first = false;
    }
    sa_buffer_text(buffer, "}");
    if (kind.status != SA_OK) buffer->status = kind.status;
    sa_buffer_clear(&kind);
}

static sa_status write_text(sa_schema *schema) {
    sa_buffer buffer = {0}, name = {0};
    write_part(schema, false, &buffer);
    write_part(schema, true, &buffer);
    sa_buffer_text(&buffer, ",\"cross\":[");
    for (size_t i = 0; i < 2 * schema->cross_count; i++) {
        const sa_cross *cross = &schema->crosses[i / 2];
        const sa_field *field = &schema->fields[i % 2 ? cross->right : cross->left];
        name.size = 0;
        sa_buffer_text(&name, field->of_item ? "item." : "context.");
        sa_buffer_text(&name, field->name);
        sa_buffer_text(&buffer, i % 2 ? "," : i ? ",[" : "[");
        sa_buffer_quote(&buffer, name.text ? name.text : "");
        if (i % 2 == 0) continue;
        if (cross->most != SA_CROSS_MOST) sa_buffer_format(&buffer, ",%zu", cross->most);
        sa_buffer_text(&buffer, "]");
    }
    sa_buffer_text(&buffer, "]}");
    sa_status status = name.status != SA_OK ? name.status : buffer.status;
    sa_buffer_clear(&name);
    schema->text = buffer.text;
    return status;
}

static sa_status read_parts(sa_schema *schema, const sa_json *json) {
    size_t part[3] = {0};
    static const char *const names[3] = {"context", "item", "cross"};
    if (json->nodes[0].kind != SA_JSON_OBJECT)
        return sa_fail(SA_INVALID, "a schema has context, item and cross, and this is %s",
                       sa_json_kind_name(json, 0));
    for (size_t key = 1; key < json->nodes[0].next; key = json->nodes[key + 1].next) {
        size_t i = 0;
        char shown[SA_PRINTABLE];
        while (i < 3 && !sa_json_equals(json, key, names[i])) i++;
        if (i == 3)
            return sa_fail(SA_INVALID, "%s is none of context, item and cross",
                           sa_json_printable(json, key, shown));
        if (part[i]) return sa_fail(SA_INVALID, "%s is there twice", names[i]);
        part[i] = key + 1;
    }
    SA_TRY(read_fields(schema, json, part[0], false));
    schema->context_fields = schema->field_count;
    schema->context_dim = schema->dim;
    SA_TRY(read_fields(schema, json, part[1], true));
    if (schema->field_count == schema->context_fields)
        return sa_fail(SA_INVALID, "the schema has no fields of items, which would then be all the same");
    if (!part[2]) return SA_OK;
    if (json->nodes[part[2]].kind != SA_JSON_ARRAY)
        return sa_fail(SA_INVALID, "cross is %s, and pairs of fields are wanted, as in [[country, category]]",
                       sa_json_kind_name(json, part[2]));
    for (size_t at = part[2] + 1; at < json->nodes[part[2]].next; at = json->nodes[at].next)
        SA_TRY(read_cross(schema, json, at));
    return SA_OK;
}

/* JSON is read as it is, anything else as YAML, whose sentences have the name already. */
static sa_status to_json(const char *text, size_t size, const char *name, sa_json *json,
                         sa_buffer *converted) {
    sa_status status = sa_json_parse(json, text, size);
    if (status != SA_FORMAT) return status;
    sa_buffer quoted = {0};
    sa_schema_quote_categories(text, size, &quoted);
    status = quoted.status;
    if (status == SA_OK)
        status = sa_yaml_to_json(quoted.text ? quoted.text : "", quoted.size, name, converted);
    sa_buffer_clear(&quoted);
    SA_TRY(status);
    status = sa_json_parse(json, converted->text ? converted->text : "", converted->size);
    return status == SA_FORMAT ? sa_fail_prefix(SA_INVALID, "%s: ", name) : status;
}

sa_status sa_schema_parse(const char *text, size_t size, const char *name, sa_schema **out) {
    sa_json json = {0};
    sa_buffer converted = {0};
    sa_schema *schema = NULL;
    sa_status status;
    SA_TRY_OR_FAIL(to_json(text, size, name, &json, &converted));
    SA_TRY_OR_FAIL(sa_alloc_array(1, sizeof *schema, &schema));
    atomic_init(&schema->owners, 1);
    status = read_parts(schema, &json);
    if (status == SA_OK) status = write_text(schema);
    if (status != SA_OK) {
        sa_fail_prefix(status, "%s: ", name);
        goto fail;
    }
    sa_buffer_clear(&converted);
    sa_json_clear(&json);
    *out = schema;
    return SA_OK;
fail:
    sa_schema_release(schema);
    sa_buffer_clear(&converted);
    sa_json_clear(&json);
    return status;
}

sa_status sa_schema_load(const char *path, sa_schema **out) {
    char *text;
    size_t size;
    SA_TRY(sa_file_read(path, &text, &size));
    sa_status status = sa_schema_parse(text, size, path, out);
    sa_free(text);
    return status;
}
