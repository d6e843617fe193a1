#include "base/json.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

_Static_assert(SA_JSON_LONGEST <= UINT32_MAX, "places in the text are 32 bits");

typedef struct parser {
    sa_json *json;
    const char *text, *at, *end;
    uint32_t open[SA_JSON_DEEPEST]; /* arrays and objects that are not closed yet */
    size_t depth, deepest;
} parser;

void sa_json_clear(sa_json *json) {
    sa_free(json->nodes);
    *json = (sa_json){.deepest = json->deepest};
}

/* ---- what is wrong ---- */

/* "column 7", or in a text of several lines "line 2, column 7". Returns `out`. */
static char *place_of(const parser *p, const char *at, char out[64]) {
    size_t lines = 1;
    const char *line = p->text;
    for (const char *c = p->text; c < at; c++)
        if (*c == '\n') lines++, line = c + 1;
    size_t column = (size_t)(at - line) + 1;
    if (lines == 1)
        snprintf(out, 64, "column %zu", column);
    else
        snprintf(out, 64, "line %zu, column %zu", lines, column);
    return out;
}

/* `what` is wanted where we are. */
static sa_status wanted(parser *p, const char *what) {
    char shown[SA_PRINTABLE], place[64];
    p->json->cut_off = p->at == p->end;
    if (p->json->cut_off) return sa_fail(SA_FORMAT, "the text ends where %s is wanted", what);
    sa_span rest = {p->at, p->end - p->at < 12 ? (size_t)(p->end - p->at) : 12};
    return sa_fail(SA_FORMAT, "%s: %s is wanted, not %s", place_of(p, p->at, place), what,
                   sa_span_printable(rest, shown));
}

static sa_status wrong(parser *p, const char *at, const char *sentence) {
    char place[64];
    return sa_fail(SA_FORMAT, "%s: %s", place_of(p, at, place), sentence);
}

/* ---- strings ---- */

static int hex(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The four digits behind \u, or -1. */
static int code_unit(const char *at, const char *end) {
    int unit = 0;
    if (end - at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex(at[i]);
        if (digit < 0) return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/* Passes over the escape at p->at. */
static sa_status take_escape(parser *p) {
    const char *from = p->at;
    if (p->end - from < 2) {
        p->at = p->end;
        return wanted(p, "the rest of an escape");
    }
    if (from[1] != 'u') {
        if (!from[1] || !strchr("\"\\/bfnrt", from[1]))
            return wrong(p, from, "a backslash stands before what it cannot escape");
        p->at = from + 2;
        return SA_OK;
    }
    int unit = code_unit(from + 2, p->end);
    if (unit < 0 && p->end - from < 6) {
        p->at = p->end;
        return wanted(p, "the rest of an escape");
    }
    if (unit < 0) return wrong(p, from, "\\u is not followed by four hexadecimal digits");
    if (unit == 0) return wrong(p, from, "a text has the character 0");
    p->at = from + 6;
    if (unit < 0xd800 || unit > 0xdfff) return SA_OK;
    bool has_second = unit < 0xdc00 && p->end - p->at >= 6 && p->at[0] == '\\' && p->at[1] == 'u';
    int second = has_second ? code_unit(p->at + 2, p->end) : -1;
    if (second < 0xdc00 || second > 0xdfff)
        return wrong(p, from, "\\u is half of a pair, and its other half is not there");
    p->at += 6;
    return SA_OK;
}

/* Behind the characters of a text that mean themselves. */
static const char *pass_plain(const char *at, const char *end) {
    while (at < end && *at != '"' && *at != '\\' && (unsigned char)(*at - 0x20) < 0x60) at++;
    return at;
}

/* p->at is behind the opening quote; goes behind the closing one. */
static sa_status take_string(parser *p, sa_json_node *node) {
    const char *from = p->at;
    for (;;) {
        p->at = pass_plain(p->at, p->end);
        if (p->at == p->end) return wanted(p, "the end of a text");
        unsigned char c = (unsigned char)*p->at;
        if (c == '"') break;
        if (c == '\\') {
            node->escaped = true;
            SA_TRY(take_escape(p));
        } else if (c < 0x20) {
            return wrong(p, p->at, "a text has a control character that is not escaped");
        } else {
            int size = sa_utf8_size(p->at, p->end);
            if (size == 0) return wrong(p, p->at, "a text is not valid UTF-8");
            p->at = size < 0 ? p->end : p->at + size;
        }
    }
    node->kind = SA_JSON_STRING;
    node->start = (uint32_t)(from - p->text);
    node->size = (uint32_t)(p->at - from);
    p->at++;
    return SA_OK;
}

/* ---- numbers and words ---- */

static bool take_digits(parser *p) {
    const char *from = p->at;
    while (p->at < p->end && *p->at >= '0' && *p->at <= '9') p->at++;
    return p->at > from;
}

static sa_status take_number(parser *p, sa_json_node *node) {
    const char *from = p->at;
    p->at += *p->at == '-';
    const char *whole = p->at;
    if (!take_digits(p)) return wanted(p, "a digit");
    if (*whole == '0' && p->at > whole + 1) return wrong(p, from, "a number begins with a needless 0");
    if (p->at < p->end && *p->at == '.') {
        p->at++;
        if (!take_digits(p)) return wanted(p, "a digit");
    }
    if (p->at < p->end && (*p->at == 'e' || *p->at == 'E')) {
        p->at++;
        if (p->at < p->end && (*p->at == '+' || *p->at == '-')) p->at++;
        if (!take_digits(p)) return wanted(p, "a digit");
    }
    node->kind = SA_JSON_NUMBER;
    node->start = (uint32_t)(from - p->text);
    node->size = (uint32_t)(p->at - from);
    return SA_OK;
}

static sa_status take_word(parser *p, sa_json_node *node) {
    static const char *const words[] = {"null", "false", "true"};
    size_t left = (size_t)(p->end - p->at);
    for (int i = 0; i < 3; i++) {
        size_t size = strlen(words[i]);
        if (left < size && !memcmp(p->at, words[i], left)) {
            p->at = p->end; /* cut off */
            break;
        }
        if (left < size || memcmp(p->at, words[i], size)) continue;
        node->kind = (uint8_t)(SA_JSON_NULL + i);
        node->start = (uint32_t)(p->at - p->text);
        node->size = (uint32_t)size;
        p->at += size;
        return SA_OK;
    }
    return wanted(p, "a value");
}

/* ---- the whole ---- */

static void skip_spaces(parser *p) {
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')) p->at++;
}

/* Most values have six bytes or more of text, with what is around them: one allocation is enough for them. */
static sa_status grow(sa_json *json, size_t size) {
    size_t guess = json->capacity ? json->count + 1 : size / 6 + 8;
    return sa_grow_array(&json->nodes, &json->capacity, guess, sizeof *json->nodes);
}

static sa_status new_node(parser *p, sa_json_node **node) {
    sa_json *json = p->json;
    if (json->count == json->capacity) SA_TRY(grow(json, (size_t)(p->end - p->text)));
    *node = &json->nodes[json->count++];
    **node = (sa_json_node){.next = (uint32_t)json->count};
    return SA_OK;
}

static sa_status take_key(parser *p) {
    sa_json_node *node;
    if (p->at == p->end || *p->at != '"') return wanted(p, "a key in quotes");
    SA_TRY(new_node(p, &node));
    p->at++;
    SA_TRY(take_string(p, node));
    skip_spaces(p);
    if (p->at == p->end || *p->at != ':') return wanted(p, "a colon");
    p->at++;
    skip_spaces(p);
    return SA_OK;
}

/* One value that is whole, or the opening bracket of one. */
static sa_status take_value(parser *p) {
    sa_json_node *node;
    char c = p->at < p->end ? *p->at : 0;
    SA_TRY(new_node(p, &node));
    if (c == '"') {
        p->at++;
        return take_string(p, node);
    }
    if (c == '-' || (c >= '0' && c <= '9')) return take_number(p, node);
    if (c != '[' && c != '{') return take_word(p, node);
    if (p->depth == p->deepest) {
        char place[64];
        return sa_fail(SA_FORMAT, "%s: the text nests more than %zu deep", place_of(p, p->at, place),
                       p->deepest);
    }
    node->kind = c == '[' ? SA_JSON_ARRAY : SA_JSON_OBJECT;
    node->start = (uint32_t)(p->at - p->text);
    p->open[p->depth++] = (uint32_t)p->json->count - 1;
    p->at++;
    return SA_OK;
}

/* Behind a value: closes what ends here. `*more`: another element follows, and the comma is behind us. */
static sa_status take_end(parser *p, bool *more) {
    for (*more = false; p->depth > 0 && !*more;) {
        sa_json_node *node = &p->json->nodes[p->open[p->depth - 1]];
        bool array = node->kind == SA_JSON_ARRAY, empty = p->json->count - 1 == p->open[p->depth - 1];
        skip_spaces(p);
        char c = p->at < p->end ? *p->at : 0;
        if (c == (array ? ']' : '}')) {
            p->at++;
            node->size = (uint32_t)(p->at - p->text) - node->start;
            node->next = (uint32_t)p->json->count;
            p->depth--;
        } else if (empty) {
            *more = true;
        } else if (c == ',') {
            p->at++;
            *more = true;
        } else {
            return wanted(p, array ? "a comma or ]" : "a comma or }");
        }
    }
    return SA_OK;
}

sa_status sa_json_parse(sa_json *json, const char *text, size_t size) {
    parser p = {.json = json, .text = text, .at = text, .end = text + size, .deepest = json->deepest};
    if (!p.deepest || p.deepest > SA_JSON_DEEPEST) p.deepest = SA_JSON_DEEPEST;
    json->text = text;
    json->count = 0;
    json->cut_off = false;
    if (size > SA_JSON_LONGEST)
        return sa_fail(SA_FORMAT, "the text has %zu bytes, more than %zu", size, SA_JSON_LONGEST);
    for (bool more = true; more;) {
        skip_spaces(&p);
        if (p.depth > 0 && json->nodes[p.open[p.depth - 1]].kind == SA_JSON_OBJECT) SA_TRY(take_key(&p));
        SA_TRY(take_value(&p));
        SA_TRY(take_end(&p, &more));
    }
    skip_spaces(&p);
    return p.at < p.end ? wanted(&p, "nothing more") : SA_OK;
}
