#include "base/yaml_json.h"

#ifndef SA_HAVE_YAML

sa_status sa_yaml_to_json(const char *text, size_t size, const char *name, sa_buffer *json) {
    (void)text, (void)size, (void)json;
    return sa_fail(SA_UNSUPPORTED,
                   "%s cannot be read: this build has no YAML (install libyaml-dev and build again)", name);
}

#else

#include <stdbool.h>
#include <string.h>

#include "base/yaml_events.h"

enum { DEEPEST = 16 };

typedef struct converter {
    const char *name;
    sa_buffer *json;
    bool mapping[DEEPEST]; /* what is open: mappings, or sequences */
    size_t parts[DEEPEST]; /* of each so far: keys and values, or elements */
    size_t depth, documents;
} converter;

static sa_status wrong(const converter *c, const yaml_event_t *event, const char *sentence) {
    return sa_fail(SA_INVALID, "%s:%zu: %s", c->name, event->start_mark.line + 1, sentence);
}

/* What stands before the next part of a mapping or sequence. */
static void separate(converter *c) {
    if (c->depth == 0) return;
    size_t part = c->parts[c->depth - 1]++;
    if (c->mapping[c->depth - 1] && part % 2)
        sa_buffer_text(c->json, ":");
    else if (part > 0)
        sa_buffer_text(c->json, ",");
}

static sa_status open_one(converter *c, const yaml_event_t *event, bool mapping) {
    if (c->depth == DEEPEST) return wrong(c, event, "the file nests too deep");
    if (c->depth > 0 && c->mapping[c->depth - 1] && c->parts[c->depth - 1] % 2 == 0)
        return wrong(c, event, "a key is not a text");
    separate(c);
    sa_buffer_text(c->json, mapping ? "{" : "[");
    c->mapping[c->depth] = mapping;
    c->parts[c->depth++] = 0;
    return SA_OK;
}

static sa_status on_scalar(converter *c, const yaml_event_t *event) {
    const char *text = (const char *)event->data.scalar.value;
    if (strlen(text) != event->data.scalar.length) return wrong(c, event, "a value has a zero character");
    if (event->data.scalar.anchor) return wrong(c, event, "anchors are not supported");
    if (event->data.scalar.tag) return wrong(c, event, "tags are not supported");
    separate(c);
    sa_buffer_quote(c->json, text);
    return SA_OK;
}

static sa_status on_event(void *user, const yaml_event_t *event) {
    converter *c = user;
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return c->documents++ ? wrong(c, event, "a second document begins; there must be one") : SA_OK;
    case YAML_ALIAS_EVENT: return wrong(c, event, "aliases are not supported");
    case YAML_SCALAR_EVENT: return on_scalar(c, event);
    case YAML_MAPPING_START_EVENT:
        if (event->data.mapping_start.anchor) return wrong(c, event, "anchors are not supported");
        if (event->data.mapping_start.tag) return wrong(c, event, "tags are not supported");
        return open_one(c, event, true);
    case YAML_SEQUENCE_START_EVENT:
        if (event->data.sequence_start.anchor) return wrong(c, event, "anchors are not supported");
        if (event->data.sequence_start.tag) return wrong(c, event, "tags are not supported");
        return open_one(c, event, false);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT: sa_buffer_text(c->json, c->mapping[--c->depth] ? "}" : "]"); return SA_OK;
    case YAML_STREAM_END_EVENT: return c->documents ? SA_OK : sa_fail(SA_INVALID, "%s is empty", c->name);
    default: return SA_OK;
    }
}

sa_status sa_yaml_to_json(const char *text, size_t size, const char *name, sa_buffer *json) {
    converter c = {.name = name, .json = json};
    SA_TRY(sa_yaml_events(text, size, name, on_event, &c));
    return json->status;
}

#endif
