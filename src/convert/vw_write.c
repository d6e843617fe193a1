/* Decisions as VW's dsjson: cb for slates of one arm, ccb for longer ones. vw_line.h has what becomes of
 * what. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text_file.h"
#include "convert/convert.h"

typedef struct vw_sink {
    sa_sink base;
    sa_text_file out;
    sa_json json, extra;
} vw_sink;

/* ---- features ---- */

/* The size of the namespace in a name: up to its dot, 0 without one. */
static size_t namespace_of(sa_span name) {
    const char *dot = memchr(name.start, '.', name.size);
    return dot && dot > name.start && dot + 1 < name.start + name.size ? (size_t)(dot - name.start) : 0;
}

static void add_value(sa_buffer *buffer, const sa_json *json, size_t key, size_t skip) {
    sa_span name = sa_json_span(json, key), value = sa_json_span(json, key + 1);
    bool quotes = json->nodes[key + 1].kind == SA_JSON_STRING;
    sa_buffer_text(buffer, "\"");
    sa_buffer_bytes(buffer, name.start + skip, name.size - skip);
    sa_buffer_text(buffer, "\":");
    sa_buffer_bytes(buffer, value.start - quotes, value.size + 2 * (size_t)quotes);
}

/* The pairs of an object, those of one namespace together. */
static void add_features(sa_buffer *buffer, const sa_json *json, size_t object, bool *first) {
    const sa_json_node *nodes = json->nodes;
    for (size_t key = object + 1; key < nodes[object].next; key = nodes[key + 1].next) {
        sa_span name = sa_json_span(json, key);
        size_t space = namespace_of(name);
        bool told = false; /* with an earlier feature of its namespace */
        for (size_t before = object + 1; space && before < key; before = nodes[before + 1].next) {
            sa_span other = sa_json_span(json, before);
            told = told || (namespace_of(other) == space && !memcmp(other.start, name.start, space));
        }
        if (told) continue;
        if (!*first) sa_buffer_text(buffer, ",");
        *first = false;
        if (!space) {
            add_value(buffer, json, key, 0);
            continue;
        }
        sa_buffer_text(buffer, "\"");
        sa_buffer_bytes(buffer, name.start, space);
        sa_buffer_text(buffer, "\":{");
        bool comma = false;
        for (size_t at = key; at < nodes[object].next; at = nodes[at + 1].next) {
            sa_span other = sa_json_span(json, at);
            if (namespace_of(other) != space || memcmp(other.start, name.start, space)) continue;
            if (comma) sa_buffer_text(buffer, ",");
            comma = true;
            add_value(buffer, json, at, space + 1);
        }
        sa_buffer_text(buffer, "}");
    }
}

static sa_status add_actions(vw_sink *self, const sa_log_entry *entry) {
    sa_buffer *buffer = &self->out.buffer;
    sa_json *json = &self->json;
    sa_buffer_text(buffer, "\"_multi\":[");
    if (entry->items) {
        SA_TRY(sa_json_parse(json, entry->items, entry->items_size));
        for (size_t at = 1; at < json->nodes[0].next; at = json->nodes[at].next) {
            bool first = true;
            sa_buffer_text(buffer, at > 1 ? ",{" : "{");
            add_features(buffer, json, at, &first);
            sa_buffer_text(buffer, "}");
        }
    } else {
        for (size_t i = 0; i < entry->candidates; i++) {
            sa_buffer_text(buffer, i ? ",{\"x\":[" : "{\"x\":[");
            for (size_t j = 0; j < entry->dim; j++) {
                if (j) sa_buffer_text(buffer, ",");
                sa_buffer_number(buffer, entry->contexts[i * entry->dim + j], 0);
            }
            sa_buffer_text(buffer, "]}");
        }
    }
    sa_buffer_text(buffer, "]");
    return buffer->status;
}

/* "_slots" as they were read, or one empty object a slot. */
static void add_slots(vw_sink *self, const sa_log_entry *entry) {
    size_t slots = entry->extra ? sa_json_find(&self->extra, 0, "_slots") : 0;
    sa_buffer_text(&self->out.buffer, ",\"_slots\":");
    if (slots) {
        sa_span text = sa_json_span(&self->extra, slots);
        sa_buffer_bytes(&self->out.buffer, text.start, text.size);
        return;
    }
    for (size_t i = 0; i < entry->slate; i++) sa_buffer_text(&self->out.buffer, i ? ",{}" : "[{}");
    sa_buffer_text(&self->out.buffer, "]");
}

/* ---- what was chosen ---- */

static void add_label(sa_buffer *buffer, double feedback) {
    if (isnan(feedback)) return;
    sa_buffer_text(buffer, "\"_label_cost\":");
    sa_buffer_number(buffer, 0 - feedback, 0);
    sa_buffer_text(buffer, ",");
}

static void add_cb(vw_sink *self, const sa_log_entry *entry) {
    sa_buffer *buffer = &self->out.buffer;
    add_label(buffer, entry->feedback ? entry->feedback[0] : NAN);
    sa_buffer_text(buffer, "\"_label_probability\":");
    sa_buffer_number(buffer, entry->propensity, 0);
    sa_buffer_format(buffer, ",\"_label_Action\":%zu,\"_labelIndex\":%zu", entry->arms[0] + 1,
                     entry->arms[0]);
    if (entry->extra && sa_json_find(&self->extra, 0, "a")) return; /* as they were read */
    sa_buffer_format(buffer, ",\"a\":[%zu],\"p\":[", entry->arms[0] + 1);
    sa_buffer_number(buffer, entry->propensity, 0);
    sa_buffer_text(buffer, "]");
}

/* The probability of arm k given those before it. */
static void add_ccb(vw_sink *self, const sa_log_entry *entry) {
    sa_buffer *buffer = &self->out.buffer;
    const double *prefix = entry->prefix_propensities;
    if (entry->extra && sa_json_find(&self->extra, 0, "_outcomes")) {
        sa_buffer_text(buffer, "\"_outcomes\":");
        sa_span text = sa_json_span(&self->extra, sa_json_find(&self->extra, 0, "_outcomes"));
        sa_buffer_bytes(buffer, text.start, text.size);
        return;
    }
    sa_buffer_text(buffer, "\"_outcomes\":[");
    for (size_t k = 0; k < entry->slate; k++) {
        double probability = k ? prefix[k] / prefix[k - 1] : prefix[k];
        sa_buffer_text(buffer, k ? ",{" : "{");
        add_label(buffer, entry->feedback ? entry->feedback[k] : NAN);
        sa_buffer_format(buffer, "\"_a\":[%zu],\"_p\":[", entry->arms[k]);
        sa_buffer_number(buffer, probability < 1 ? probability : 1, 0);
        sa_buffer_text(buffer, "]}");
    }
    sa_buffer_text(buffer, "]");
}

/* ---- lines ---- */

static void add_extra(vw_sink *self, const sa_log_entry *entry) {
    static const char *const done[] = {"_outcomes", "_slots", "Version", "run", "round"};
    const sa_json *json = &self->extra;
    sa_buffer_text(&self->out.buffer, ",\"Version\":\"1\"");
    for (size_t key = 1; entry->extra && key < json->nodes[0].next; key = json->nodes[key + 1].next) {
        size_t i = 0;
        while (i < sizeof done / sizeof *done && !sa_json_equals(json, key, done[i])) i++;
        if (i < sizeof done / sizeof *done) continue;
        sa_buffer_text(&self->out.buffer, ",");
        add_value(&self->out.buffer, json, key, 0);
    }
}

/* VW learns by the probability of what was chosen: a decision without one is of no use there. */
static bool is_known(const sa_log_entry *entry) {
    if (entry->slate == 1) return !isnan(entry->propensity);
    for (size_t k = 0; k < entry->slate; k++)
        if (!entry->prefix_propensities || isnan(entry->prefix_propensities[k])) return false;
    return entry->slate > 0;
}

static sa_status write_entry(sa_sink *sink, const sa_log_entry *entry, bool *left_out) {
    vw_sink *self = (vw_sink *)sink;
    sa_buffer *buffer = &self->out.buffer;
    bool first = true;
    *left_out = !is_known(entry);
    if (*left_out) return SA_OK;
    if (entry->extra) SA_TRY(sa_json_parse(&self->extra, entry->extra, entry->extra_size));
    sa_buffer_text(buffer, "{");
    if (entry->slate == 1)
        add_cb(self, entry);
    else
        add_ccb(self, entry);
    if (entry->time) sa_buffer_text(buffer, ",\"Timestamp\":"), sa_buffer_quote(buffer, entry->time);
    if (entry->event) sa_buffer_text(buffer, ",\"EventId\":"), sa_buffer_quote(buffer, entry->event);
    sa_buffer_text(buffer, ",\"c\":{");
    if (entry->context) {
        SA_TRY(sa_json_parse(&self->json, entry->context, entry->context_size));
        add_features(buffer, &self->json, 0, &first);
    }
    if (!first) sa_buffer_text(buffer, ",");
    SA_TRY(add_actions(self, entry));
    if (entry->slate > 1) add_slots(self, entry);
    sa_buffer_text(buffer, "}");
    add_extra(self, entry);
    sa_buffer_text(buffer, "}\n");
    return sa_text_file_line(&self->out);
}

static void abandon(sa_sink *sink) {
    vw_sink *self = (vw_sink *)sink;
    sa_text_file_abandon(&self->out);
    sa_json_clear(&self->json);
    sa_json_clear(&self->extra);
    sa_free(self);
}

static sa_status finish(sa_sink *sink) {
    vw_sink *self = (vw_sink *)sink;
    sa_status status = sa_text_file_commit(&self->out);
    abandon(sink); /* what is left of it */
    return status;
}

sa_status sa_sink_vw(const sa_conversion *conversion, sa_sink **out) {
    vw_sink *self;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base = (sa_sink){NULL, write_entry, finish, abandon};
    sa_status status = sa_text_file_begin(&self->out, conversion->out);
    if (status == SA_OK)
        *out = &self->base;
    else
        abandon(&self->base);
    return status;
}
