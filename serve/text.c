#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(sv_text *self, size_t more) {
    if (self->failed || more > (size_t)1 << 40) self->failed = true;
    if (self->failed) return false;
    if (self->size + more + 1 <= self->room) return true;
    size_t room = self->room ? self->room : 256;
    while (room < self->size + more + 1) room *= 2;
    char *data = realloc(self->data, room);
    if (!data) {
        self->failed = true;
        return false;
    }
    self->data = data;
    self->room = room;
    return true;
}

void text_add(sv_text *self, const void *bytes, size_t size) {
    if (!make_room(self, size)) return;
    if (size) memcpy(self->data + self->size, bytes, size);
    self->size += size;
    self->data[self->size] = 0;
}

void text_put(sv_text *self, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (size >= 0 && make_room(self, (size_t)size)) {
        vsnprintf(self->data + self->size, (size_t)size + 1, format, again);
        self->size += (size_t)size;
    }
    va_end(again);
}

void text_string(sv_text *self, const char *string) {
    text_add(self, "\"", 1);
    const char *from = string, *at = string;
    for (; *at; at++) {
        unsigned char c = (unsigned char)*at;
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f) continue;
        text_add(self, from, (size_t)(at - from));
        if (c == '"' || c == '\\')
            text_put(self, "\\%c", c);
        else
            text_put(self, "\\u%04x", c);
        from = at + 1;
    }
    text_add(self, from, (size_t)(at - from));
    text_add(self, "\"", 1);
}

static void text_whole(sv_text *self, long long number, bool negative) {
    char digits[24], *at = digits + sizeof digits;
    unsigned long long left = negative ? (unsigned long long)-number : (unsigned long long)number;
    do *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (negative) *--at = '-';
    text_add(self, at, (size_t)(digits + sizeof digits - at));
}

void text_number(sv_text *self, double number) {
    if (!isfinite(number)) {
        text_add(self, "null", 4);
        return;
    }
    char digits[40];
    if (fabs(number) < 1e15 && number == (double)(long long)number) { /* most are, and it is quicker */
        text_whole(self, (long long)number, signbit(number));
        return;
    }
    int size = snprintf(digits, sizeof digits, "%.15g", number);
    if (strtod(digits, NULL) != number) size = snprintf(digits, sizeof digits, "%.17g", number);
    text_add(self, digits, (size_t)size);
}

void text_numbers(sv_text *self, const double *numbers, size_t count) {
    text_add(self, "[", 1);
    for (size_t i = 0; i < count; i++) {
        if (i) text_add(self, ",", 1);
        text_number(self, numbers[i]);
    }
    text_add(self, "]", 1);
}

void text_free(sv_text *self) {
    free(self->data);
    *self = (sv_text){0};
}
