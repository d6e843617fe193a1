/* Requests from JSON: items with named fields, or contexts; what they need lives in the request. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ids.h"
#include "base/json.h"
#include "base/memory.h"
#include "policy/request.h"

struct sa_request_parts {
    sa_json json;
    sa_ids ids;
    sa_encoding *encoding;
    double *contexts; /* (arms, dim) as the JSON has them */
    size_t contexts_room;
    bool *excluded; /* (arms) */
    size_t excluded_room;
};

void sa_request_parts_destroy(sa_request_parts *parts) {
    if (!parts) return;
    sa_json_clear(&parts->json);
    sa_ids_clear(&parts->ids);
    sa_encoding_destroy(parts->encoding);
    sa_free(parts->contexts);
    sa_free(parts->excluded);
    sa_free(parts);
}

static sa_status make_parts(sa_request *request) {
    if (request->parts) return SA_OK;
    sa_request_parts *parts;
    SA_TRY(sa_alloc_array(1, sizeof *parts, &parts));
    parts->encoding = sa_encoding_new();
    if (!parts->encoding) {
        sa_free(parts);
        return SA_OUT_OF_MEMORY;
    }
    request->parts = parts;
    return SA_OK;
}

/* What a request says; it is put into the request when all of it is right. */
typedef struct said {
    size_t arms, dim, slate;
    const double *contexts;
    bool excludes, has_slate;
} said;

static sa_status wrong(const sa_json *json, size_t at, const char *path, const char *wanted) {
    char shown[SA_PRINTABLE];
    return sa_fail(SA_INVALID, "%s is %s, and %s", path, sa_json_printable(json, at, shown), wanted);
}

static sa_status take_row(sa_request_parts *parts, size_t row, size_t index, said *out) {
    const sa_json *json = &parts->json;
    char path[64];
    size_t column = 0;
    snprintf(path, sizeof path, "contexts[%zu]", index);
    if (json->nodes[row].kind != SA_JSON_ARRAY) return wrong(json, row, path, "a list of numbers is wanted");
    size_t count = sa_json_count(json, row);
    if (index == 0) out->dim = count;
    if (count != out->dim || count == 0)
        return sa_fail(SA_INVALID, "%s has %zu numbers, and contexts[0] has %zu", path, count, out->dim);
    SA_TRY(
        sa_grow_array(&parts->contexts, &parts->contexts_room, (index + 1) * count, sizeof *parts->contexts));
    for (size_t at = row + 1; at < json->nodes[row].next; at = json->nodes[at].next, column++) {
        double number = json->nodes[at].kind == SA_JSON_NUMBER ? sa_json_number(json, at) : NAN;
        if (!isfinite(number)) {
            snprintf(path, sizeof path, "contexts[%zu][%zu]", index, column);
            return wrong(json, at, path, "a finite number is wanted");
        }
        parts->contexts[index * count + column] = number;
    }
    return SA_OK;
}

static sa_status take_contexts(sa_request_parts *parts, size_t contexts, said *out) {
    const sa_json *json = &parts->json;
    if (!contexts)
        return sa_fail(SA_INVALID, "the request has no contexts, and there is no schema for items");
    if (json->nodes[contexts].kind != SA_JSON_ARRAY)
        return wrong(json, contexts, "contexts", "a list of lists of numbers is wanted");
    for (size_t at = contexts + 1; at < json->nodes[contexts].next; at = json->nodes[at].next)
        SA_TRY(take_row(parts, at, out->arms++, out));
    if (out->arms == 0) return sa_fail(SA_INVALID, "contexts is empty");
    out->contexts = parts->contexts;
    return SA_OK;
}

static sa_status take_items(sa_request_parts *parts, const sa_schema *schema, const char *text, size_t size,
                            said *out) {
    SA_TRY(sa_schema_encode(schema, text, size, parts->encoding));
    out->arms = sa_encoding_arms(parts->encoding);
    out->dim = sa_schema_dim(schema);
    out->contexts = sa_encoding_contexts(parts->encoding);
    size_t items = sa_json_find(&parts->json, 0, "items");
    return sa_ids_take(&parts->ids, &parts->json, items);
}

static sa_status take_slate(const sa_json *json, size_t slate, said *out) {
    if (!slate) return SA_OK;
    double number = json->nodes[slate].kind == SA_JSON_NUMBER ? sa_json_number(json, slate) : -1;
    if (!(number >= 0 && number < 1e9 && number == floor(number)))
        return wrong(json, slate, "slate", "a whole number from 0 is wanted");
    out->slate = (size_t)number;
    out->has_slate = true;
    return SA_OK;
}

static sa_status find_arm(const sa_request_parts *parts, size_t at, const said *about, char *scratch,
                          size_t *arm) {
    const sa_json *json = &parts->json;
    if (parts->ids.named) {
        *arm = json->nodes[at].kind == SA_JSON_STRING
                   ? sa_ids_find(&parts->ids, scratch, sa_json_unescape(json, at, scratch))
                   : SIZE_MAX;
        return *arm < SIZE_MAX ? SA_OK : wrong(json, at, "one of exclude", "no item has this id");
    }
    double number = json->nodes[at].kind == SA_JSON_NUMBER ? sa_json_number(json, at) : -1;
    if (!(number >= 0 && number < (double)about->arms && number == floor(number)))
        return wrong(json, at, "one of exclude", "the number of a candidate, from 0, is wanted");
    *arm = (size_t)number;
    return SA_OK;
}

static sa_status take_exclude(sa_request_parts *parts, size_t list, said *out) {
    const sa_json *json = &parts->json;
    char *scratch;
    if (!list) return SA_OK;
    if (json->nodes[list].kind != SA_JSON_ARRAY) return wrong(json, list, "exclude", "a list is wanted");
    SA_TRY(sa_grow_array(&parts->excluded, &parts->excluded_room, out->arms, sizeof *parts->excluded));
    memset(parts->excluded, 0, out->arms * sizeof *parts->excluded);
    SA_TRY(sa_alloc_array(json->nodes[list].size + 1, 1, &scratch));
    sa_status status = SA_OK;
    for (size_t at = list + 1; status == SA_OK && at < json->nodes[list].next; at = json->nodes[at].next) {
        size_t arm = 0;
        status = find_arm(parts, at, out, scratch, &arm);
        if (status == SA_OK) parts->excluded[arm] = true;
    }
    sa_free(scratch);
    out->excludes = true;
    return status;
}

static sa_status read_json(sa_request_parts *parts, const sa_schema *schema, const char *text, size_t size,
                           said *out) {
    sa_json *json = &parts->json;
    SA_TRY(sa_json_parse(json, text, size));
    if (json->nodes[0].kind != SA_JSON_OBJECT)
        return sa_fail(SA_INVALID, "the request is %s, and an object is wanted", sa_json_kind_name(json, 0));
    parts->ids.named = false;
    if (schema)
        SA_TRY(take_items(parts, schema, text, size, out));
    else
        SA_TRY(take_contexts(parts, sa_json_find(json, 0, "contexts"), out));
    SA_TRY(take_slate(json, sa_json_find(json, 0, "slate"), out));
    return take_exclude(parts, sa_json_find(json, 0, "exclude"), out);
}

sa_status sa_request_json(sa_request *request, const sa_schema *schema, const char *json, size_t size) {
    said out = {0};
    if (!request || !json) return sa_fail(SA_INVALID, "sa_request_json needs a request and JSON");
    SA_TRY(make_parts(request));
    sa_request_forget_json(request); /* its arrays are about to be written over */
    sa_status status = read_json(request->parts, schema, json, size, &out);
    if (status != SA_OK) return status == SA_FORMAT ? SA_INVALID : status;
    sa_request_contexts(request, out.contexts, out.arms);
    request->json_dim = out.dim;
    if (out.has_slate) sa_request_slate(request, out.slate);
    if (out.excludes) sa_request_exclude(request, request->parts->excluded);
    return SA_OK;
}

void sa_request_forget_json(sa_request *request) {
    sa_request_parts *parts = request->parts;
    if (!parts || request->json_dim == 0) return;
    if (request->excluded == parts->excluded) request->excluded = NULL;
    request->json_dim = 0;
    request->contexts = NULL;
    request->arms = 0;
    parts->ids.named = false;
}

const char *sa_request_id(const sa_request *request, size_t arm) {
    const sa_request_parts *parts = request->parts;
    if (!parts || request->json_dim == 0 || !parts->ids.named || arm >= parts->ids.count) return NULL;
    return parts->ids.names[arm];
}
