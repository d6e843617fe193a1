/* Decisions as a table: a row for each arm that was chosen, with the context's fields and the arm's own. The
 * arms that were not chosen are not in it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text_file.h"
#include "convert/convert.h"

enum { NAMES_MOST = 4096 };

typedef struct names {
    char **name;
    size_t count, room;
} names;

typedef struct csv_sink {
    sa_sink base;
    sa_text_file out;
    sa_json json, items;
    names context, item; /* fields of any decision, in the order in which they came */
    size_t dim;          /* the most features of any */
    bool header;         /* is written */
} csv_sink;

/* ---- looking ---- */

static sa_status note_names(names *known, const sa_json *json, size_t object) {
    for (size_t key = object + 1; key < json->nodes[object].next; key = json->nodes[key + 1].next) {
        size_t i = 0;
        while (i < known->count && !sa_json_equals(json, key, known->name[i])) i++;
        if (i < known->count || sa_json_equals(json, key, "id")) continue;
        if (i == NAMES_MOST) return sa_fail(SA_INVALID, "there are more than %d fields", NAMES_MOST);
        SA_TRY(sa_grow_array(&known->name, &known->room, i + 1, sizeof *known->name));
        SA_TRY(sa_alloc_array(json->nodes[key].size + 1, 1, &known->name[i]));
        sa_json_unescape(json, key, known->name[i]);
        known->count++;
    }
    return SA_OK;
}

static sa_status survey(sa_sink *sink, const sa_log_entry *entry) {
    csv_sink *self = (csv_sink *)sink;
    if (entry->contexts && !entry->items && entry->dim > self->dim) self->dim = entry->dim;
    if (entry->context) {
        SA_TRY(sa_json_parse(&self->json, entry->context, entry->context_size));
        SA_TRY(note_names(&self->context, &self->json, 0));
    }
    if (!entry->items) return SA_OK;
    SA_TRY(sa_json_parse(&self->items, entry->items, entry->items_size));
    for (size_t at = 1; at < self->items.nodes[0].next; at = self->items.nodes[at].next)
        SA_TRY(note_names(&self->item, &self->items, at));
    return SA_OK;
}

/* ---- writing ---- */

/* In quotes where it must be. */
static void add_text(sa_buffer *buffer, const char *text, size_t size) {
    bool quoted = size == 0 || *text == ' ' || text[size - 1] == ' ' || *text == '#';
    for (size_t i = 0; i < size && !quoted; i++) quoted = strchr(",\"\n\r\t", text[i]) != NULL;
    if (!quoted) {
        sa_buffer_bytes(buffer, text, size);
        return;
    }
    sa_buffer_text(buffer, "\"");
    for (size_t i = 0; i < size; i++)
        sa_buffer_bytes(buffer, text[i] == '"' ? "\"\"" : text + i, 1 + (text[i] == '"'));
    sa_buffer_text(buffer, "\"");
}

static void add_number(sa_buffer *buffer, double number) {
    if (!isnan(number)) sa_buffer_number(buffer, number, 0);
}

/* A JSON value as a cell: texts without quotes, null as nothing, lists and objects as their JSON. */
static sa_status add_value(csv_sink *self, const sa_json *json, size_t at) {
    const sa_json_node *node = &json->nodes[at];
    sa_span text = sa_json_span(json, at);
    char *plain = NULL;
    sa_buffer_text(&self->out.buffer, ",");
    if (at == 0 || node->kind == SA_JSON_NULL) return SA_OK;
    if (node->kind != SA_JSON_STRING) {
        add_text(&self->out.buffer, text.start, text.size);
        return SA_OK;
    }
    SA_TRY(sa_alloc_array(text.size + 1, 1, &plain));
    add_text(&self->out.buffer, plain, sa_json_unescape(json, at, plain));
    sa_free(plain);
    return SA_OK;
}

static bool is_of_context(const csv_sink *self, const char *name) {
    for (size_t i = 0; i < self->context.count; i++)
        if (!strcmp(self->context.name[i], name)) return true;
    return false;
}

static void add_header(csv_sink *self) {
    sa_buffer *buffer = &self->out.buffer;
    sa_buffer_text(buffer,
                   "event,time,position,item,feedback,propensity,prefix_propensity,position_propensity");
    for (size_t i = 0; i < self->context.count; i++) {
        sa_buffer_text(buffer, ",");
        add_text(buffer, self->context.name[i], strlen(self->context.name[i]));
    }
    for (size_t i = 0; i < self->item.count; i++) {
        sa_buffer_text(buffer, is_of_context(self, self->item.name[i]) ? ",item." : ",");
        add_text(buffer, self->item.name[i], strlen(self->item.name[i]));
    }
    for (size_t i = 0; i < self->dim; i++) sa_buffer_format(buffer, ",x%zu", i);
    sa_buffer_text(buffer, "\n");
    self->header = true;
}

static void add_position(csv_sink *self, const sa_log_entry *entry, size_t k) {
    sa_buffer *buffer = &self->out.buffer;
    size_t arm = entry->arms[k];
    if (entry->event) add_text(buffer, entry->event, strlen(entry->event));
    sa_buffer_text(buffer, ",");
    if (entry->time) add_text(buffer, entry->time, strlen(entry->time));
    sa_buffer_format(buffer, ",%zu,", k + 1);
    if (entry->ids)
        add_text(buffer, entry->ids[arm], strlen(entry->ids[arm]));
    else
        sa_buffer_format(buffer, "%zu", arm);
    const double cells[] = {entry->feedback ? entry->feedback[k] : NAN, entry->propensity,
                            entry->prefix_propensities ? entry->prefix_propensities[k] : NAN,
                            entry->position_propensities ? entry->position_propensities[k] : NAN};
    for (int i = 0; i < 4; i++) {
        sa_buffer_text(buffer, ",");
        add_number(buffer, cells[i]);
    }
}

static sa_status add_row(csv_sink *self, const sa_log_entry *entry, size_t k) {
    size_t arm = entry->arms[k], item = 1;
    add_position(self, entry, k);
    for (size_t i = 0; i < self->context.count; i++)
        SA_TRY(add_value(self, &self->json,
                         entry->context ? sa_json_find(&self->json, 0, self->context.name[i]) : 0));
    for (size_t i = 0; entry->items && i < arm; i++) item = self->items.nodes[item].next;
    for (size_t i = 0; i < self->item.count; i++)
        SA_TRY(add_value(self, &self->items,
                         entry->items ? sa_json_find(&self->items, item, self->item.name[i]) : 0));
    for (size_t i = 0; i < self->dim; i++) {
        sa_buffer_text(&self->out.buffer, ",");
        if (entry->contexts && i < entry->dim)
            add_number(&self->out.buffer, entry->contexts[arm * entry->dim + i]);
    }
    sa_buffer_text(&self->out.buffer, "\n");
    return self->out.buffer.status;
}

static sa_status write_entry(sa_sink *sink, const sa_log_entry *entry, bool *left_out) {
    csv_sink *self = (csv_sink *)sink;
    *left_out = entry->slate == 0;
    if (!self->header) add_header(self);
    if (entry->context) SA_TRY(sa_json_parse(&self->json, entry->context, entry->context_size));
    if (entry->items) SA_TRY(sa_json_parse(&self->items, entry->items, entry->items_size));
    for (size_t k = 0; k < entry->slate; k++) SA_TRY(add_row(self, entry, k));
    return sa_text_file_line(&self->out);
}

/* ---- life ---- */

static void abandon(sa_sink *sink) {
    csv_sink *self = (csv_sink *)sink;
    names *const lists[] = {&self->context, &self->item};
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < lists[i]->count; j++) sa_free(lists[i]->name[j]);
        sa_free(lists[i]->name);
    }
    sa_text_file_abandon(&self->out);
    sa_json_clear(&self->json);
    sa_json_clear(&self->items);
    sa_free(self);
}

static sa_status finish(sa_sink *sink) {
    csv_sink *self = (csv_sink *)sink;
    sa_status status = sa_text_file_commit(&self->out);
    abandon(sink); /* what is left of it */
    return status;
}

sa_status sa_sink_csv(const sa_conversion *conversion, sa_sink **out) {
    csv_sink *self;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base = (sa_sink){survey, write_entry, finish, abandon};
    sa_status status = sa_text_file_begin(&self->out, conversion->out);
    if (status == SA_OK)
        *out = &self->base;
    else
        abandon(&self->base);
    return status;
}
