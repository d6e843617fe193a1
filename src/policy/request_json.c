/* Requests from JSON: all that a decide body says of them. What they need lives in the request. */
#include <math.h>
#include <string.h>

#include "base/candidates.h"
#include "base/memory.h"
#include "features/schema.h"
#include "oracle/oracle.h"
#include "policy/request.h"

struct sa_request_parts {
    sa_json json; /* of sa_request_json's text */
    sa_encoding *encoding;
    sa_contexts contexts;
    const sa_ids *ids; /* of the encoding; NULL: contexts have none */
    bool *excluded;    /* (arms) */
    size_t excluded_room;
    sa_problem *problem; /* what the JSON asks of a slate; NULL: nothing */
    bool exactly;        /* the JSON has set the request's */
};

void sa_request_parts_destroy(sa_request_parts *parts) {
    if (!parts) return;
    sa_json_clear(&parts->json);
    sa_encoding_destroy(parts->encoding);
    sa_contexts_clear(&parts->contexts);
    sa_problem_destroy(parts->problem);
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
    bool excludes, has_slate, has_exactly, exactly;
} said;

static sa_status wrong(const sa_json *json, size_t at, const char *path, const char *wanted) {
    return sa_json_wrong(json, at, path, SIZE_MAX, SIZE_MAX, wanted);
}

static sa_status take_contexts(sa_request_parts *parts, const sa_json *json, size_t object, said *out) {
    size_t list = sa_json_find(json, object, "contexts");
    if (!list) return sa_fail(SA_INVALID, "the request has no contexts, and there is no schema for items");
    parts->ids = NULL;
    SA_TRY(sa_contexts_take(&parts->contexts, json, list));
    if (parts->contexts.arms == 0) return sa_fail(SA_INVALID, "contexts is empty");
    out->arms = parts->contexts.arms;
    out->dim = parts->contexts.dim;
    out->contexts = parts->contexts.numbers;
    return SA_OK;
}

static sa_status take_items(sa_request_parts *parts, const sa_schema *schema, const sa_json *json,
                            size_t object, said *out) {
    SA_TRY(sa_schema_encode_parsed(schema, json, object, parts->encoding));
    out->arms = sa_encoding_arms(parts->encoding);
    out->dim = sa_schema_dim(schema);
    out->contexts = sa_encoding_contexts(parts->encoding);
    parts->ids = sa_encoding_id_table(parts->encoding);
    return SA_OK;
}

/* Items that were encoded before. */
typedef struct stored {
    const double *const *rows;
    const char *const *ids;
    size_t count;
} stored;

static sa_status take_stored(sa_request_parts *parts, const sa_schema *schema, const sa_json *json,
                             size_t object, const stored *items, said *out) {
    static const char *const named[] = {"exclude", "pin", "baseline"};
    bool find = false;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        find = find || sa_json_find(json, object, named[i]);
    SA_TRY(sa_schema_join(schema, json, object, items->rows, items->count, parts->encoding));
    SA_TRY(sa_encoding_name(parts->encoding, items->ids, items->count, find));
    out->arms = items->count;
    out->dim = sa_schema_dim(schema);
    out->contexts = sa_encoding_contexts(parts->encoding);
    parts->ids = sa_encoding_id_table(parts->encoding);
    return SA_OK;
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

static sa_status take_exclude(sa_request_parts *parts, const sa_json *json, size_t list, said *out) {
    size_t index = 0, arm;
    if (!list) return SA_OK;
    if (json->nodes[list].kind != SA_JSON_ARRAY) return wrong(json, list, "exclude", "a list is wanted");
    if (sa_json_count(json, list) > out->arms)
        return sa_fail(SA_INVALID, "exclude has %zu arms, and there are %zu", sa_json_count(json, list),
                       out->arms);
    SA_TRY(sa_grow_array(&parts->excluded, &parts->excluded_room, out->arms, sizeof *parts->excluded));
    memset(parts->excluded, 0, out->arms * sizeof *parts->excluded);
    for (size_t at = list + 1; at < json->nodes[list].next; at = json->nodes[at].next, index++) {
        SA_TRY(sa_ids_arm(parts->ids, out->arms, json, at, "exclude", index, &arm));
        parts->excluded[arm] = true;
    }
    out->excludes = true;
    return SA_OK;
}

static sa_status take_problem(sa_request_parts *parts, const sa_json *json, size_t object, said *out) {
    if (!object) return SA_OK;
    parts->problem = sa_problem_new();
    if (!parts->problem) return sa_fail(SA_OUT_OF_MEMORY, "no memory for a problem");
    out->has_exactly = sa_json_find(json, object, "exactly");
    return sa_problem_json(parts->problem, json, object, out->arms, &out->exactly);
}

static sa_status read_parsed(sa_request_parts *parts, const sa_schema *schema, const sa_json *json,
                             size_t object, const stored *items, said *out) {
    if (json->nodes[object].kind != SA_JSON_OBJECT)
        return sa_fail(SA_INVALID, "the request is %s, and an object is wanted",
                       sa_json_kind_name(json, object));
    if (items)
        SA_TRY(take_stored(parts, schema, json, object, items, out));
    else if (schema)
        SA_TRY(take_items(parts, schema, json, object, out));
    else
        SA_TRY(take_contexts(parts, json, object, out));
    SA_TRY(take_slate(json, sa_json_find(json, object, "slate"), out));
    SA_TRY(take_exclude(parts, json, sa_json_find(json, object, "exclude"), out));
    return take_problem(parts, json, sa_json_find(json, object, "problem"), out);
}

static sa_status keep(sa_request *request, sa_status status, const said *out) {
    if (status != SA_OK) return status == SA_FORMAT ? SA_INVALID : status;
    request->contexts = out->contexts;
    request->arms = out->arms;
    request->json_dim = out->dim;
    if (out->has_slate) sa_request_slate(request, out->slate);
    request->parts->exactly = out->has_exactly;
    if (out->has_exactly) sa_request_exactly(request, out->exactly);
    if (out->excludes) sa_request_exclude(request, request->parts->excluded);
    if (request->parts->problem) sa_request_problem(request, request->parts->problem);
    return SA_OK;
}

sa_status sa_request_parsed(sa_request *request, const sa_schema *schema, const sa_json *json,
                            size_t object) {
    said out = {0};
    if (!request || !json) return sa_fail(SA_INVALID, "sa_request_parsed needs a request and JSON");
    SA_TRY(make_parts(request));
    sa_request_contexts(request, NULL, 0); /* the arrays are about to be written over */
    return keep(request, read_parsed(request->parts, schema, json, object, NULL, &out), &out);
}

sa_status sa_request_stored(sa_request *request, const sa_schema *schema, const sa_json *json, size_t object,
                            const double *const *rows, const char *const *ids, size_t count) {
    said out = {0};
    const stored items = {rows, ids, count};
    if (!request || !schema || !json || !rows || !ids)
        return sa_fail(SA_INVALID, "sa_request_stored needs a request, a schema, JSON and items");
    SA_TRY(make_parts(request));
    sa_request_contexts(request, NULL, 0);
    return keep(request, read_parsed(request->parts, schema, json, object, &items, &out), &out);
}

sa_status sa_request_json(sa_request *request, const sa_schema *schema, const char *json, size_t size) {
    if (!request || !json) return sa_fail(SA_INVALID, "sa_request_json needs a request and JSON");
    SA_TRY(make_parts(request));
    sa_request_contexts(request, NULL, 0);
    sa_json *parsed = &request->parts->json;
    sa_status status = sa_json_parse(parsed, json, size);
    if (status != SA_OK) return status == SA_FORMAT ? SA_INVALID : status;
    return sa_request_parsed(request, schema, parsed, 0);
}

void sa_request_forget_json(sa_request *request) {
    sa_request_parts *parts = request->parts;
    if (!parts) return;
    if (request->excluded == parts->excluded) request->excluded = NULL;
    if (parts->problem && request->problem == parts->problem) request->problem = NULL;
    sa_problem_destroy(parts->problem);
    parts->problem = NULL;
    if (parts->exactly) request->exactly = false;
    parts->exactly = false;
    if (request->json_dim == 0) return;
    request->json_dim = 0;
    request->contexts = NULL;
    request->arms = 0;
    parts->ids = NULL;
}

/* ---- what it has ---- */

const char *sa_request_id(const sa_request *request, size_t arm) {
    const sa_ids *ids = request->parts && request->json_dim ? request->parts->ids : NULL;
    return ids && ids->named && arm < ids->count ? ids->names[arm] : NULL;
}

const double *sa_request_candidates(const sa_request *request, size_t *arms, size_t *dim) {
    bool json = request->json_dim > 0;
    *arms = json ? request->arms : 0;
    *dim = json ? request->json_dim : 0;
    return json ? request->contexts : NULL;
}

sa_problem *sa_request_rules(const sa_request *request) {
    return request->parts && request->json_dim ? request->parts->problem : NULL;
}

uint64_t sa_request_ignored(const sa_request *request) {
    return request->parts ? sa_encoding_ignored(request->parts->encoding) : 0;
}

sa_status sa_request_arm(const sa_request *request, const sa_json *json, size_t value, const char *name,
                         size_t *arm) {
    const sa_ids *ids = request->parts && request->json_dim ? request->parts->ids : NULL;
    sa_status status = sa_ids_arm(ids, request->arms, json, value, name, SIZE_MAX, arm);
    return status == SA_FORMAT ? SA_INVALID : status;
}
