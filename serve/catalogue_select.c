/* Which items of a catalogue a decide is about. A filter is asked once for each value that a field has, and
 * then looked up for each item. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue.h"
#include "values.h"

static bool fail_memory(sv_refusal *why) { return sv_refuse(why, 503, "memory could not be had"); }

/* ---- by id ---- */

static uint32_t find_id(const sv_catalogue *self, const sa_json *json, size_t at) {
    const sa_json_node *node = &json->nodes[at];
    char id[LIMIT_ID + 1];
    sv_refusal unread = {0};
    if (!node->escaped && node->kind == SA_JSON_STRING)
        return sv_texts_find(&self->ids, json->text + node->start, node->size);
    return sv_value_id(json, at, "", id, &unread) ? sv_texts_find(&self->ids, id, strlen(id)) : TEXTS_NONE;
}

static bool mark_named(const sv_catalogue *self, const sa_json *json, size_t items, bool *marked,
                       sv_refusal *why) {
    size_t place = 0;
    char shown[SA_PRINTABLE];
    for (size_t at = items + 1; at < json->nodes[items].next; at = json->nodes[at].next, place++) {
        uint32_t found = find_id(self, json, at);
        if (found == TEXTS_NONE)
            return sv_refuse(why, 400, "items[%zu] is %s, and no stored item has this id", place,
                             sa_json_printable(json, at, shown));
        if (marked[found])
            return sv_refuse(why, 400, "items[%zu] is %s, which is there twice", place,
                             sa_json_printable(json, at, shown));
        marked[found] = true;
    }
    return true;
}

/* ---- by fields ---- */

/* What a field may be: one value, one of a list, or a number of a range. */
typedef struct wanted {
    const sa_json *json;
    size_t node;
    bool range;
    double least, most;
    sv_texts values;
} wanted;

static bool read_bound(const sa_json *json, size_t object, const char *name, double *out, const char *field,
                       sv_refusal *why) {
    size_t at = sa_json_find(json, object, name);
    char path[100];
    snprintf(path, sizeof path, "where.%.64s.%s", field, name);
    return !at || sv_value_number(json, at, path, out, why);
}

static bool read_wanted(wanted *self, const char *field, sv_refusal *why) {
    static const char *const bounds[] = {"min", "max", NULL};
    const sa_json *json = self->json;
    sa_buffer text = {0};
    bool list = sv_value_is(json, self->node, SA_JSON_ARRAY), good = true;
    if (sv_value_is(json, self->node, SA_JSON_OBJECT)) {
        self->range = true;
        self->least = -INFINITY;
        self->most = INFINITY;
        return sv_value_fields(json, self->node, "a range", bounds, why) &&
               read_bound(json, self->node, "min", &self->least, field, why) &&
               read_bound(json, self->node, "max", &self->most, field, why);
    }
    for (size_t at = list ? self->node + 1 : self->node; good && at < json->nodes[self->node].next;
         at = json->nodes[at].next) {
        text.size = 0;
        if (!sv_value_text(json, at, &text))
            good = sv_refuse(why, 400,
                             "where.%.64s is neither a value nor a list of values nor a range, as in "
                             "{\"max\": 30}",
                             field);
        else if (text.status || sv_texts_add(&self->values, text.text, text.size) == TEXTS_NONE)
            good = fail_memory(why);
    }
    sa_buffer_clear(&text);
    return good;
}

static bool is_wanted(const wanted *self, const char *text, size_t size) {
    char *end;
    if (!self->range) return sv_texts_find(&self->values, text, size) != TEXTS_NONE;
    double number = strtod(text, &end);
    return size && !*end && number >= self->least && number <= self->most;
}

/* A list is, where one of its values is. */
static bool is_list_wanted(const wanted *self, const char *list) {
    sa_json json = {0};
    sa_buffer text = {0};
    bool found = false;
    if (sa_json_parse(&json, list, strlen(list)) == SA_OK && sv_value_is(&json, 0, SA_JSON_ARRAY))
        for (size_t at = 1; !found && at < json.nodes[0].next; at = json.nodes[at].next) {
            text.size = 0;
            found = sv_value_text(&json, at, &text) && !text.status && is_wanted(self, text.text, text.size);
        }
    sa_buffer_clear(&text);
    sa_json_clear(&json);
    return found;
}

static bool has_field(const sv_catalogue *self, const char *name) {
    sa_schema_column column;
    for (size_t i = 0; self->schema && sa_schema_column_at(self->schema, i, &column); i++)
        if (!strcmp(column.part, "item") && !strcmp(column.field, name)) return true;
    return false;
}

/* Takes the marks of items that do not have a wanted value. */
static bool filter(const sv_catalogue *self, const char *field, wanted *what, bool *marked, sv_refusal *why) {
    const sv_column *column = sv_catalogue_column(self, field);
    if (!column && !has_field(self, field))
        return sv_refuse(why, 400, "where has %.64s, which is a field of no stored item", field);
    bool *fits = calloc(column ? column->values.count + 1 : 1, sizeof *fits);
    if (!fits) return fail_memory(why);
    for (uint32_t v = 0; column && v < column->values.count; v++) {
        const char *text = sv_texts_at(&column->values, v);
        fits[v] = *text == 1 ? is_list_wanted(what, text + 1) : is_wanted(what, text, strlen(text));
    }
    for (size_t i = 0; i < self->count; i++)
        marked[i] = marked[i] && column && column->of[i] != TEXTS_NONE && fits[column->of[i]];
    free(fits);
    return true;
}

static bool mark_where(const sv_catalogue *self, const sa_json *json, size_t where, bool *marked,
                       sv_refusal *why) {
    bool good = true;
    if (!sv_value_is(json, where, SA_JSON_OBJECT))
        return sv_refuse(why, 400, "where is no object of fields, as in {\"category\": \"shoes\"}");
    for (size_t key = where + 1; good && key < json->nodes[where].next; key = json->nodes[key + 1].next) {
        wanted what = {.json = json, .node = key + 1};
        sa_buffer name = {0};
        if (!sv_value_text(json, key, &name) || name.status) good = fail_memory(why);
        good = good && read_wanted(&what, name.text, why) && filter(self, name.text, &what, marked, why);
        sv_texts_free(&what.values);
        sa_buffer_clear(&name);
    }
    return good;
}

/* ---- both ---- */

bool sv_catalogue_select(const sv_catalogue *self, const sa_json *json, size_t items, size_t where,
                         int64_t now, uint32_t **out, size_t *count, sv_refusal *why) {
    bool *marked = malloc(self->count + 1);
    size_t kept = 0;
    *out = NULL;
    if (!marked) return fail_memory(why);
    memset(marked, !items, self->count);
    bool good = !(items && where) ||
                sv_refuse(why, 400, "items and where are two ways to say which: give one of them");
    if (good && items) good = mark_named(self, json, items, marked, why);
    if (good && where) good = mark_where(self, json, where, marked, why);
    for (size_t i = 0; good && i < self->count; i++) {
        marked[i] = marked[i] && sv_item_is_open(self->items[i], now);
        kept += marked[i];
    }
    if (good && !kept)
        good = sv_refuse(why, 400, where ? "no stored item is as where says" : "no stored item is left");
    if (good && !(*out = calloc(kept, sizeof **out))) good = fail_memory(why);
    for (uint32_t i = 0, at = 0; good && i < self->count; i++)
        if (marked[i]) (*out)[at++] = i;
    *count = kept;
    free(marked);
    return good;
}
