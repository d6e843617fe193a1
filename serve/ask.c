#include "ask.h"

#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "values.h"

void *sv_ask_block(sv_ask *self, size_t count, size_t size, sv_refusal *why) {
    void *block = self->block_count < ASK_BLOCKS ? calloc(count ? count : 1, size) : NULL;
    if (!block)
        sv_refuse(why, 503, "memory could not be had");
    else
        self->blocks[self->block_count++] = block;
    return block;
}

void sv_ask_free(sv_ask *self) {
    for (size_t i = 0; i < self->block_count; i++) free(self->blocks[i]);
    sa_problem_destroy(self->problem);
    sa_request_destroy(self->request);
    sa_encoding_destroy(self->encoding);
    json_decref(self->body);
    *self = (sv_ask){0};
}

static bool read_row(const json_t *row, size_t arm, size_t dim, double *out, sv_refusal *why) {
    if (!json_is_array(row)) return sv_refuse(why, 400, "contexts[%zu] is no list", arm);
    if (json_array_size(row) != dim)
        return sv_refuse(why, 400, "contexts[%zu] has %zu numbers, and the agent's dim is %zu", arm,
                         json_array_size(row), dim);
    for (size_t j = 0; j < dim; j++) {
        const json_t *value = json_array_get(row, j);
        if (!json_is_number(value)) return sv_refuse(why, 400, "contexts[%zu][%zu] is no number", arm, j);
        out[j] = json_number_value(value);
    }
    return true;
}

static bool read_contexts(sv_ask *self, const json_t *rows, sv_refusal *why) {
    if (!json_is_array(rows)) return sv_refuse(why, 400, "contexts is no list");
    self->arms = json_array_size(rows);
    if (self->arms == 0 || self->arms > LIMIT_ITEMS)
        return sv_refuse(why, 400, "contexts has %zu arms, and not 1 to %d", self->arms, LIMIT_ITEMS);
    if (self->arms * self->dim > LIMIT_NUMBERS)
        return sv_refuse(why, 400, "contexts has %zu x %zu numbers, more than %d", self->arms, self->dim,
                         LIMIT_NUMBERS);
    double *contexts = sv_ask_block(self, self->arms, self->dim * sizeof(double), why);
    for (size_t i = 0; contexts && i < self->arms; i++)
        if (!read_row(json_array_get(rows, i), i, self->dim, contexts + i * self->dim, why)) return false;
    self->contexts = contexts;
    return contexts;
}

/* The arm that a JSON string or index names. */
static bool find_arm(const sv_ask *self, const json_t *name, size_t *arm, sv_refusal *why) {
    if (!self->ids) {
        if (!json_is_integer(name))
            return sv_refuse(why, 400, "exclude: arms without ids are called by their index, from 0");
        json_int_t index = json_integer_value(name);
        if (index < 0 || (size_t)index >= self->arms)
            return sv_refuse(why, 400, "exclude: there is no arm %" JSON_INTEGER_FORMAT, index);
        *arm = (size_t)index;
        return true;
    }
    const char *id = json_string_value(name);
    for (*arm = 0; id && *arm < self->arms; ++*arm)
        if (!strcmp(self->ids[*arm], id)) return true;
    return sv_refuse(why, 400, "exclude: no item has the id %.64s", id ? id : "given, which is no string");
}

static bool read_excluded(sv_ask *self, const json_t *list, sv_refusal *why) {
    size_t arm = 0;
    if (!json_is_array(list)) return sv_refuse(why, 400, "exclude is no list");
    if (json_array_size(list) > self->arms)
        return sv_refuse(why, 400, "exclude has more arms than there are");
    self->excluded = sv_ask_block(self, self->arms, sizeof(bool), why);
    for (size_t i = 0; self->excluded && i < json_array_size(list); i++) {
        if (!find_arm(self, json_array_get(list, i), &arm, why)) return false;
        self->excluded[arm] = true;
    }
    return self->excluded;
}

static int by_text(const void *one, const void *other) {
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

/* Strings of 1 to LIMIT_ID bytes, none twice. */
static bool check_ids(sv_ask *self, sv_refusal *why) {
    const char **sorted = self->ids ? sv_ask_block(self, self->arms, sizeof *sorted, why) : NULL;
    if (!self->ids) return true;
    if (!sorted) return false;
    for (size_t i = 0; i < self->arms; i++) {
        size_t size = strlen(self->ids[i]);
        if (size == 0 || size > LIMIT_ID)
            return sv_refuse(why, 400, "items[%zu]: its id has %zu bytes, and not 1 to %d", i, size,
                             LIMIT_ID);
        sorted[i] = self->ids[i];
    }
    qsort(sorted, self->arms, sizeof *sorted, by_text);
    for (size_t i = 1; i < self->arms; i++)
        if (!strcmp(sorted[i - 1], sorted[i]))
            return sv_refuse(why, 400, "two items have the id %.64s", sorted[i]);
    return true;
}

static bool read_items(sv_ask *self, const sv_settings *settings, const char *json, size_t size,
                       sv_refusal *why) {
    const json_t *items = json_object_get(self->body, "items");
    if (json_object_get(self->body, "contexts"))
        return sv_refuse(why, 400, "this agent has a schema: send \"items\", not \"contexts\"");
    if (!items) return sv_refuse(why, 400, "items is missing: a list of objects with the schema's fields");
    if (!json_is_array(items)) return sv_refuse(why, 400, "items is no list");
    self->arms = json_array_size(items);
    if (self->arms == 0 || self->arms > LIMIT_ITEMS)
        return sv_refuse(why, 400, "items has %zu arms, and not 1 to %d", self->arms, LIMIT_ITEMS);
    if (self->arms * self->dim > LIMIT_NUMBERS)
        return sv_refuse(why, 400, "%zu items of %zu features are more than %d numbers", self->arms,
                         self->dim, LIMIT_NUMBERS);
    if (!(self->encoding = sa_encoding_new())) return sv_refuse(why, 503, "memory could not be had");
    sa_status status = sa_schema_encode(settings->schema, json, size, self->encoding);
    if (status != SA_OK) return sv_refuse_library(why, status);
    self->contexts = sa_encoding_contexts(self->encoding);
    self->ids = sa_encoding_ids(self->encoding);
    return check_ids(self, why);
}

static bool read_candidates(sv_ask *self, const sv_settings *settings, const char *json, size_t size,
                            sv_refusal *why) {
    const json_t *contexts = json_object_get(self->body, "contexts"),
                 *items = json_object_get(self->body, "items");
    self->dim = settings->dim;
    if (settings->schema) return read_items(self, settings, json, size, why);
    if (items || json_object_get(self->body, "context"))
        return sv_refuse(
            why, 400, "this agent has no schema: send \"contexts\", a list of %zu numbers an arm", self->dim);
    if (!contexts) return sv_refuse(why, 400, "contexts is missing: a list of %zu numbers an arm", self->dim);
    return read_contexts(self, contexts, why);
}

/* One wild number would be in the agent's statistics for ever. */
static bool check_features(const sv_ask *self, const sv_settings *settings, sv_refusal *why) {
    const double *range = settings->feature_range;
    for (size_t i = 0; i < self->arms * self->dim; i++)
        if (!(self->contexts[i] >= range[0] && self->contexts[i] <= range[1]))
            return sv_refuse(why, 400,
                             "feature %zu of arm %zu is %g, outside the agent's feature_range, %g to %g",
                             i % self->dim, i / self->dim, self->contexts[i], range[0], range[1]);
    return true;
}

static bool fill_request(sv_ask *self, sv_refusal *why) {
    if (!(self->request = sa_request_new())) return sv_refuse(why, 503, "memory could not be had");
    sa_request_contexts(self->request, self->contexts, self->arms);
    sa_request_slate(self->request, self->slate);
    sa_request_exclude(self->request, self->excluded);
    if (self->problem) sa_request_problem(self->request, self->problem);
    sa_request_exactly(self->request, self->exactly);
    return true;
}

bool sv_ask_read(sv_ask *self, const sv_settings *settings, json_t *body, const char *json, size_t size,
                 sv_refusal *why) {
    static const char *const fields[] = {"event",   "context", "items",   "contexts", "slate",
                                         "exclude", "problem", "explain", NULL};
    const json_t *value;
    *self = (sv_ask){.body = body, .slate = settings->slate};
    if (!sv_value_fields(body, "decide", fields, why)) return false;
    if ((value = json_object_get(body, "event")) && !sv_value_id(value, "event", &self->event, why))
        return false;
    if (!read_candidates(self, settings, json, size, why) || !check_features(self, settings, why))
        return false;
    if ((value = json_object_get(body, "slate")) &&
        !sv_value_whole(value, "slate", 1, LIMIT_ITEMS, &self->slate, why))
        return false;
    if ((value = json_object_get(body, "exclude")) && !read_excluded(self, value, why)) return false;
    if ((value = json_object_get(body, "problem")) && !sv_ask_read_problem(self, value, why)) return false;
    if ((value = json_object_get(body, "explain"))) {
        if (!json_is_boolean(value)) return sv_refuse(why, 400, "explain is neither true nor false");
        self->explain = json_is_true(value);
    }
    return fill_request(self, why);
}

void sv_ask_write_arm(const sv_ask *self, size_t arm, sv_text *out) {
    if (self->ids)
        text_string(out, self->ids[arm]);
    else
        text_put(out, "%zu", arm);
}
