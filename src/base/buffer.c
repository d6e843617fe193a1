#include "base/buffer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"

void sa_buffer_clear(sa_buffer *buffer) {
    sa_free(buffer->text);
    *buffer = (sa_buffer){0};
}

void sa_buffer_reserve(sa_buffer *buffer, size_t capacity) {
    char *text;
    if (buffer->status != SA_OK || capacity <= buffer->capacity) return;
    buffer->status = sa_alloc_array(capacity, 1, &text);
    if (buffer->status != SA_OK) return;
    if (buffer->size) memcpy(text, buffer->text, buffer->size);
    sa_free(buffer->text);
    buffer->text = text;
    buffer->capacity = capacity;
}

/* Room for so many more bytes, and the 0 behind them. */
static bool make_room(sa_buffer *buffer, size_t more) {
    if (buffer->status == SA_OK && buffer->size + more >= buffer->capacity) {
        size_t needed = buffer->size + more + 1, wanted = 2 * buffer->capacity + 64;
        sa_buffer_reserve(buffer, needed > wanted ? needed : wanted);
    }
    return buffer->status == SA_OK;
}

void sa_buffer_bytes(sa_buffer *buffer, const void *bytes, size_t size) {
    if (!make_room(buffer, size)) return;
    if (size) memcpy(buffer->text + buffer->size, bytes, size);
    buffer->size += size;
    buffer->text[buffer->size] = 0;
}

void sa_buffer_text(sa_buffer *buffer, const char *text) { sa_buffer_bytes(buffer, text, strlen(text)); }

void sa_buffer_format(sa_buffer *buffer, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    size_t room = buffer->status == SA_OK ? buffer->capacity - buffer->size : 0;
    int size = vsnprintf(room ? buffer->text + buffer->size : NULL, room, format, arguments);
    va_end(arguments);
    if (size < 0) {
        if (buffer->status == SA_OK)
            buffer->status = sa_fail(SA_INVALID, "%.40s...: a text cannot be formatted", format);
    } else if ((size_t)size < room || make_room(buffer, (size_t)size)) {
        if ((size_t)size >= room) vsnprintf(buffer->text + buffer->size, (size_t)size + 1, format, again);
        buffer->size += (size_t)size;
    } else if (room)
        buffer->text[buffer->size] = 0; /* what did not fit is gone */
    va_end(again);
}

/* ---- JSON ---- */

/* Behind the characters that stand for themselves; `*escape` gets what stands for the one there, and `*size`
 * how many bytes of text that is. */
static const char *pass_plain(const char *at, const char *end, char escape[8], size_t *size) {
    for (; at < end; at += *size) {
        unsigned char c = (unsigned char)*at;
        *size = 1;
        if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') continue;
        if (c >= 0x80) {
            int bytes = sa_utf8_size(at, end);
            *size = bytes > 0 ? (size_t)bytes : 1;
            if (bytes > 0) continue;
        }
        if (c == '"' || c == '\\')
            snprintf(escape, 8, "\\%c", c);
        else
            snprintf(escape, 8, "\\u%04x", c >= 0x80 ? 0xfffd : c);
        return at;
    }
    *size = 0;
    return end;
}

void sa_buffer_quote(sa_buffer *buffer, const char *text) {
    const char *end = text + strlen(text);
    char escape[8] = "";
    size_t size;
    sa_buffer_bytes(buffer, "\"", 1);
    for (const char *next; text < end; text = next + size) {
        next = pass_plain(text, end, escape, &size);
        sa_buffer_bytes(buffer, text, (size_t)(next - text));
        if (size) sa_buffer_text(buffer, escape);
    }
    sa_buffer_bytes(buffer, "\"", 1);
}

/* Digits of a whole number; returns where they begin. */
static char *write_whole(double number, char text[SA_NUMBER_TEXT]) {
    char *at = &text[SA_NUMBER_TEXT - 1];
    uint64_t left = (uint64_t)fabs(number);
    *at = 0;
    do *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (signbit(number)) *--at = '-';
    return at;
}

void sa_buffer_number(sa_buffer *buffer, double number, int digits) {
    char text[SA_NUMBER_TEXT] = "null", *from = text;
    if (isfinite(number) && digits == 0) {
        bool whole = fabs(number) < 1e15 && number == floor(number); /* most are, and it is quicker */
        from = whole ? write_whole(number, text) : sa_number_to_text(number, text);
    } else if (isfinite(number)) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        for (char *c = text; *c; c++) /* the locale's decimal point */
            if (!strchr("0123456789+-e", *c)) *c = '.';
    }
    sa_buffer_text(buffer, from);
}

void sa_buffer_numbers(sa_buffer *buffer, const double *numbers, size_t count, int digits) {
    sa_buffer_bytes(buffer, "[", 1);
    for (size_t i = 0; i < count; i++) {
        if (i) sa_buffer_bytes(buffer, ",", 1);
        sa_buffer_number(buffer, numbers[i], digits);
    }
    sa_buffer_bytes(buffer, "]", 1);
}

/* Behind the blanks at `at`, or in front of the next blank that is not in quotes. */
static const char *pass(const char *at, const char *end, bool blanks, bool *quoted) {
    for (; at < end; at++) {
        bool blank = *at == ' ' || *at == '\n' || *at == '\t' || *at == '\r';
        if (!*quoted && blank != blanks) return at;
        if (*quoted && *at == '\\')
            at++;
        else if (*at == '"')
            *quoted = !*quoted;
    }
    return end;
}

void sa_buffer_value(sa_buffer *buffer, const sa_json *json, size_t at) {
    const sa_json_node *node = &json->nodes[at];
    bool string = node->kind == SA_JSON_STRING, quoted = false; /* a string's text is without its quotes */
    const char *from = json->text + node->start - string, *end = from + node->size + 2 * (size_t)string;
    while (from < end) {
        const char *next = pass(from, end, false, &quoted);
        sa_buffer_bytes(buffer, from, (size_t)(next - from));
        from = pass(next, end, true, &quoted);
    }
}
