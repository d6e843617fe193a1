/* Looking at parsed JSON. */
#include <string.h>

#include "base/json.h"

sa_span sa_json_span(const sa_json *json, size_t at) {
    return (sa_span){json->text + json->nodes[at].start, json->nodes[at].size};
}

static size_t put_utf8(unsigned code, char *to) {
    if (code < 0x80) return to[0] = (char)code, 1;
    if (code < 0x800) return to[0] = (char)(0xc0 | code >> 6), to[1] = (char)(0x80 | (code & 0x3f)), 2;
    if (code < 0x10000) {
        to[0] = (char)(0xe0 | code >> 12), to[1] = (char)(0x80 | (code >> 6 & 0x3f)),
        to[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | code >> 18), to[1] = (char)(0x80 | (code >> 12 & 0x3f));
    to[2] = (char)(0x80 | (code >> 6 & 0x3f)), to[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

/* Of four digits that were looked at before. */
static unsigned code_unit(const char *at) {
    unsigned unit = 0;
    for (int i = 0; i < 4; i++) {
        unsigned c = (unsigned char)at[i];
        unit = unit * 16 + (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return unit;
}

size_t sa_json_unescape(const sa_json *json, size_t at, char *to) {
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    sa_span span = sa_json_span(json, at);
    const char *from = span.start, *end = from + span.size;
    if (!json->nodes[at].escaped) {
        memcpy(to, from, span.size);
        return span.size;
    }
    char *begin = to;
    while (from < end) {
        if (*from != '\\') {
            *to++ = *from++;
        } else if (from[1] != 'u') {
            *to++ = meant[strchr(names, from[1]) - names];
            from += 2;
        } else {
            unsigned code = code_unit(from + 2);
            from += 6;
            if (code >= 0xd800 && code <= 0xdfff) {
                code = 0x10000 + ((code - 0xd800) << 10) + (code_unit(from + 2) - 0xdc00);
                from += 6;
            }
            to += put_utf8(code, to);
        }
    }
    return (size_t)(to - begin);
}

bool sa_json_equals(const sa_json *json, size_t at, const char *text) {
    const sa_json_node *node = &json->nodes[at];
    enum { SHORT = 256 };
    if (node->kind != SA_JSON_STRING) return false;
    if (!node->escaped) return sa_span_equals(sa_json_span(json, at), text);
    char plain[SHORT];
    if (node->size > SHORT) return false; /* a key of that many bytes is none of ours */
    size_t size = sa_json_unescape(json, at, plain);
    return sa_span_equals((sa_span){plain, size}, text);
}

size_t sa_json_find(const sa_json *json, size_t object, const char *key) {
    if (json->nodes[object].kind != SA_JSON_OBJECT) return 0;
    for (size_t i = object + 1; i < json->nodes[object].next; i = json->nodes[i + 1].next)
        if (sa_json_equals(json, i, key)) return i + 1;
    return 0;
}

size_t sa_json_count(const sa_json *json, size_t at) {
    size_t count = 0, step = json->nodes[at].kind == SA_JSON_OBJECT;
    if (json->nodes[at].kind < SA_JSON_ARRAY) return 0;
    for (size_t i = at + 1; i < json->nodes[at].next; i = json->nodes[i + step].next) count++;
    return count;
}

double sa_json_number(const sa_json *json, size_t at) {
    double number = 0;
    if (!sa_span_to_number(sa_json_span(json, at), &number)) number = __builtin_inf(); /* memory is short */
    return number;
}

char *sa_json_printable(const sa_json *json, size_t at, char out[SA_PRINTABLE]) {
    const sa_json_node *node = &json->nodes[at];
    bool string = node->kind == SA_JSON_STRING;
    return sa_span_printable((sa_span){json->text + node->start - string, node->size + 2 * (size_t)string},
                             out);
}

const char *sa_json_kind_name(const sa_json *json, size_t at) {
    static const char *const names[] = {"null", "false", "true", "a number", "a text", "a list", "an object"};
    return names[json->nodes[at].kind];
}
