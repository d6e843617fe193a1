/* `{device: category [phone, desktop]}` is how a schema is written, but to YAML a bracket inside a flow
 * mapping begins a list. So each `category [...]` that is not in quotes is put in double quotes before YAML
 * sees it. */
#include <ctype.h>
#include <string.h>

#include "features/schema.h"

/* Behind the text in quotes that begins at `at`. */
static const char *behind_quotes(const char *at, const char *end) {
    char quote = *at++;
    for (; at < end && *at != quote; at++) at += quote == '"' && *at == '\\' && at + 1 < end;
    return at < end ? at + 1 : end;
}

/* Behind `category [...]`, or `at` when that is not there. */
static const char *behind_category(const char *at, const char *end) {
    static const char word[] = "category";
    const char *from = at;
    if ((size_t)(end - at) < sizeof word || memcmp(at, word, sizeof word - 1)) return from;
    at += sizeof word - 1;
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    if (at == end || *at != '[') return from;
    for (at++; at < end && *at != ']';) at = *at == '"' || *at == '\'' ? behind_quotes(at, end) : at + 1;
    return at < end ? at + 1 : from;
}

static void add_quoted(const char *from, const char *to, sa_buffer *out) {
    sa_buffer_text(out, "\"");
    for (; from < to; from++) {
        if (*from == '"' || *from == '\\') sa_buffer_text(out, "\\");
        sa_buffer_bytes(out, *from == '\n' || *from == '\r' ? " " : from, 1);
    }
    sa_buffer_text(out, "\"");
}

/* Is this the end of a word, so that another may begin? */
static bool ends_word(const char *text, const char *at) {
    return at > text && (isspace((unsigned char)at[-1]) || at[-1] == ':');
}

void sa_schema_quote_categories(const char *text, size_t size, sa_buffer *out) {
    const char *at = text, *end = text + size, *next;
    while (at < end) {
        if (*at == '#' && (at == text || ends_word(text, at))) { /* a comment */
            next = memchr(at, '\n', (size_t)(end - at));
            next = next ? next : end;
            sa_buffer_bytes(out, at, (size_t)(next - at));
        } else if ((*at == '"' || *at == '\'') && (at == text || !isalnum((unsigned char)at[-1]))) {
            next = behind_quotes(at, end);
            sa_buffer_bytes(out, at, (size_t)(next - at));
        } else if (ends_word(text, at) && (next = behind_category(at, end)) > at) {
            add_quoted(at, next, out);
        } else {
            next = at + 1;
            sa_buffer_bytes(out, at, 1);
        }
        at = next;
    }
}
