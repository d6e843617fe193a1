/* YAML specs, event by event: where we are is one of a few places, so nothing recurses however deep a file
 * nests. */
#include "base/yaml.h"

#include "base/status.h"

const char sa_yaml_grid[] = "grid";

#ifndef SA_HAVE_YAML

sa_status sa_yaml_parse(const char *text, size_t size, const char *name, sa_yaml_pair *pair, void *user) {
    (void)text, (void)size, (void)pair, (void)user;
    return sa_fail(SA_UNSUPPORTED,
                   "%s cannot be read: this build has no YAML (install libyaml-dev and build again)", name);
}

#else

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/yaml_events.h"

enum { KEYS_MOST = 4096 };

typedef struct key_list { /* of one mapping, to see duplicates */
    char **keys;
    size_t count, capacity;
} key_list;

typedef enum place {
    BEFORE,    /* no document yet */
    TOP,       /* a key of the top mapping, or its end */
    TOP_VALUE, /* the value of one */
    AGENTS,    /* a label, or the end of agents: */
    AGENTS_VALUE,
    AGENT, /* a key of an agent, or its end */
    AGENT_VALUE,
    GRID,        /* an option of grid:, or its end */
    GRID_VALUE,  /* its list of values */
    GRID_VALUES, /* one of them, or the end */
    SEQUENCE,    /* an item of a value that is a sequence, or its end */
    AFTER,       /* the document has ended */
} place;

typedef struct reader {
    const char *name;
    sa_yaml_pair *pair;
    void *user;
    place place, outside; /* outside: where a sequence's end leads back to */
    key_list top, labels, own;
    size_t line, key_line;
    char *value; /* of a sequence so far */
    size_t value_length, value_capacity;
} reader;

#define WRONG(reader, format, ...)                                                                           \
    sa_fail(SA_INVALID, "%s:%zu: " format, (reader)->name, (reader)->line, ##__VA_ARGS__)

static void clear_keys(key_list *list) {
    for (size_t i = 0; i < list->count; i++) sa_free(list->keys[i]);
    sa_free(list->keys);
    *list = (key_list){0};
}

static const char *last_key(const key_list *list) { return list->count ? list->keys[list->count - 1] : ""; }

static sa_status add_key(reader *r, key_list *list, const char *key) {
    char shown[SA_PRINTABLE];
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->keys[i], key)) return WRONG(r, "%s is there twice", sa_printable(key, shown));
    if (list->count == KEYS_MOST) return WRONG(r, "a mapping has more than %d keys", KEYS_MOST);
    SA_TRY(sa_grow_array(&list->keys, &list->capacity, list->count + 1, sizeof *list->keys));
    SA_TRY(sa_copy_text(key, &list->keys[list->count]));
    list->count++;
    r->key_line = r->line;
    return SA_OK;
}

/* Hands over a finished pair. */
static sa_status give(reader *r, bool of_agent, const char *value) {
    const char *label = of_agent ? last_key(&r->labels) : NULL;
    sa_status status = r->pair(r->user, label, last_key(of_agent ? &r->own : &r->top), value);
    return status == SA_OK ? SA_OK : sa_fail_prefix(status, "%s:%zu: ", r->name, r->key_line);
}

static sa_status give_grid(reader *r, const char *value) {
    sa_status status = r->pair(r->user, sa_yaml_grid, last_key(&r->own), value);
    return status == SA_OK ? SA_OK : sa_fail_prefix(status, "%s:%zu: ", r->name, r->line);
}

/* ---- a value that is a sequence: its items joined by commas ---- */

static sa_status begin_sequence(reader *r) {
    r->outside = r->place;
    r->place = SEQUENCE;
    r->value_length = 0;
    SA_TRY(sa_grow_array(&r->value, &r->value_capacity, 1, 1));
    r->value[0] = 0;
    return SA_OK;
}

static sa_status add_item(reader *r, const char *item) {
    size_t length = strlen(item);
    SA_TRY(sa_grow_array(&r->value, &r->value_capacity, r->value_length + length + 2, 1));
    if (r->value_length) r->value[r->value_length++] = ',';
    memcpy(r->value + r->value_length, item, length + 1);
    r->value_length += length;
    return SA_OK;
}

static sa_status end_sequence(reader *r) {
    if (r->place == GRID_VALUES) {
        r->place = GRID;
        return SA_OK;
    }
    bool of_agent = r->outside == AGENT_VALUE;
    r->place = of_agent ? AGENT : TOP;
    return give(r, of_agent, r->value);
}

/* ---- events ---- */

static bool is_null(const yaml_event_t *event, const char *text) {
    return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (!strcmp(text, "~") || !strcmp(text, "null"));
}

static sa_status on_scalar(reader *r, const yaml_event_t *event) {
    const char *text = (const char *)event->data.scalar.value;
    if (strlen(text) != event->data.scalar.length) return WRONG(r, "a value has a zero character");
    if (event->data.scalar.anchor)
        return WRONG(r, "anchors are not supported (&%s)", event->data.scalar.anchor);
    if (event->data.scalar.tag) return WRONG(r, "tags are not supported (%s)", event->data.scalar.tag);
    if (is_null(event, text)) text = "";
    place now = r->place;
    switch (now) {
    case TOP: r->place = TOP_VALUE; return add_key(r, &r->top, text);
    case AGENTS: r->place = AGENTS_VALUE; return add_key(r, &r->labels, text);
    case AGENT: r->place = AGENT_VALUE; return add_key(r, &r->own, text);
    case GRID: r->place = GRID_VALUE; return add_key(r, &r->own, text);
    case TOP_VALUE:
        if (!strcmp(last_key(&r->top), "agents"))
            return WRONG(r, "agents must be a mapping of labels to options");
        if (!strcmp(last_key(&r->top), "grid")) return WRONG(r, "grid must be a mapping of options to lists");
        r->place = TOP;
        return give(r, false, text);
    case AGENT_VALUE: r->place = AGENT; return give(r, true, text);
    case AGENTS_VALUE: return WRONG(r, "agent %s must be a mapping of options", last_key(&r->labels));
    case GRID_VALUE:
        return WRONG(r, "%s in grid must be a list of values, as in [0.1, 1]", last_key(&r->own));
    case GRID_VALUES: return give_grid(r, text);
    case SEQUENCE:
        if (!*text) return WRONG(r, "a sequence has an empty item");
        return add_item(r, text);
    default: return WRONG(r, "the file must be a mapping of options to values");
    }
}

static sa_status on_mapping(reader *r, const yaml_event_t *event) {
    if (event->data.mapping_start.anchor)
        return WRONG(r, "anchors are not supported (&%s)", event->data.mapping_start.anchor);
    if (event->data.mapping_start.tag)
        return WRONG(r, "tags are not supported (%s)", event->data.mapping_start.tag);
    switch (r->place) {
    case BEFORE: r->place = TOP; return SA_OK;
    case TOP_VALUE:
        if (!strcmp(last_key(&r->top), "grid"))
            r->place = GRID;
        else if (!strcmp(last_key(&r->top), "agents"))
            r->place = AGENTS;
        else
            return WRONG(r, "%s must be a value, not a mapping", last_key(&r->top));
        return SA_OK;
    case AGENTS_VALUE: r->place = AGENT; return SA_OK;
    case AGENT_VALUE:
    case GRID_VALUE: return WRONG(r, "%s must be a value, not a mapping", last_key(&r->own));
    default: return WRONG(r, "a mapping cannot be here");
    }
}

static sa_status on_mapping_end(reader *r) {
    if (r->place == AGENT) {
        if (!r->own.count)
            return WRONG(r, "agent %s has no options; give it its algorithm", last_key(&r->labels));
        clear_keys(&r->own);
        r->place = AGENTS;
    } else if (r->place == GRID) {
        if (!r->own.count) return WRONG(r, "grid has no options");
        clear_keys(&r->own);
        r->place = TOP;
    } else if (r->place == AGENTS) {
        if (!r->labels.count) return WRONG(r, "agents has no agents");
        r->place = TOP;
    } else {
        if (!r->top.count) return WRONG(r, "the file has no options");
        r->place = AFTER;
    }
    return SA_OK;
}

static sa_status on_sequence(reader *r, const yaml_event_t *event) {
    if (event->data.sequence_start.anchor)
        return WRONG(r, "anchors are not supported (&%s)", event->data.sequence_start.anchor);
    if (event->data.sequence_start.tag)
        return WRONG(r, "tags are not supported (%s)", event->data.sequence_start.tag);
    switch (r->place) {
    case TOP_VALUE:
        if (!strcmp(last_key(&r->top), "agents"))
            return WRONG(r, "agents must be a mapping of labels to options");
        if (!strcmp(last_key(&r->top), "grid")) return WRONG(r, "grid must be a mapping of options to lists");
        return begin_sequence(r);
    case AGENT_VALUE: return begin_sequence(r);
    case GRID_VALUE: r->place = GRID_VALUES; return SA_OK;
    case AGENTS_VALUE: return WRONG(r, "agent %s must be a mapping of options", last_key(&r->labels));
    case BEFORE: return WRONG(r, "the file must be a mapping of options to values");
    default: return WRONG(r, "a sequence cannot be here");
    }
}

static sa_status on_event(void *user, const yaml_event_t *event) {
    reader *r = user;
    r->line = event->start_mark.line + 1;
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return r->place == AFTER ? WRONG(r, "a second document begins; there must be one") : SA_OK;
    case YAML_ALIAS_EVENT: return WRONG(r, "aliases are not supported (*%s)", event->data.alias.anchor);
    case YAML_SCALAR_EVENT: return on_scalar(r, event);
    case YAML_MAPPING_START_EVENT: return on_mapping(r, event);
    case YAML_MAPPING_END_EVENT: return on_mapping_end(r);
    case YAML_SEQUENCE_START_EVENT: return on_sequence(r, event);
    case YAML_SEQUENCE_END_EVENT: return end_sequence(r);
    case YAML_STREAM_END_EVENT:
        return r->place == BEFORE ? sa_fail(SA_INVALID, "%s is empty; it must have options", r->name) : SA_OK;
    default: return SA_OK;
    }
}

sa_status sa_yaml_parse(const char *text, size_t size, const char *name, sa_yaml_pair *pair, void *user) {
    reader r = {.name = name, .pair = pair, .user = user};
    sa_status status = sa_yaml_events(text, size, name, on_event, &r);
    clear_keys(&r.top);
    clear_keys(&r.labels);
    clear_keys(&r.own);
    sa_free(r.value);
    return status;
}

#endif
