#include "base/buffer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/memory.h"
#include "base/text.h"

void sa_buffer_clear(sa_buffer *buffer) {
    sa_free(buffer->text);
    *buffer = (sa_buffer){0};
}

void sa_buffer_bytes(sa_buffer *buffer, const void *bytes, size_t size) {
    if (buffer->status == SA_OK)
        buffer->status = sa_grow_array(&buffer->text, &buffer->capacity, buffer->size + size + 1, 1);
    if (buffer->status != SA_OK) return;
    memcpy(buffer->text + buffer->size, bytes, size);
    buffer->size += size;
    buffer->text[buffer->size] = 0;
}

void sa_buffer_text(sa_buffer *buffer, const char *text) { sa_buffer_bytes(buffer, text, strlen(text)); }

void sa_buffer_format(sa_buffer *buffer, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= sizeof text)
        buffer->status = sa_fail(SA_INVALID, "%.40s...: a line of text is too long", text);
    else
        sa_buffer_bytes(buffer, text, (size_t)size);
}

void sa_buffer_quote(sa_buffer *buffer, const char *text) {
    json_t *utf8 = json_string(text); /* NULL unless it is UTF-8 */
    sa_buffer_text(buffer, "\"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            sa_buffer_format(buffer, "\\%c", c);
        else if (c < 0x20 || c == 0x7f || (c > 0x7f && !utf8))
            sa_buffer_format(buffer, "\\u%04x", c > 0x7f ? 0xfffd : c);
        else
            sa_buffer_bytes(buffer, text, 1);
    }
    sa_buffer_text(buffer, "\"");
    json_decref(utf8);
}

void sa_buffer_number(sa_buffer *buffer, double number, int digits) {
    char text[SA_NUMBER_TEXT] = "null";
    if (isfinite(number) && digits == 0) {
        sa_number_to_text(number, text);
    } else if (isfinite(number)) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        for (char *c = text; *c; c++) /* the locale's decimal point */
            if (!strchr("0123456789+-e", *c)) *c = '.';
    }
    sa_buffer_text(buffer, text);
}
