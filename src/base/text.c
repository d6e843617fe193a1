#include "base/text.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#ifdef __APPLE__
#include <xlocale.h>
#endif

/* glibc and musl keep one constant "C" locale, so newlocale neither allocates nor fails here. */
static locale_t c_locale(void) { return newlocale(LC_ALL_MASK, "C", (locale_t)0); }

bool sa_text_to_number(const char *text, double *out) {
    if (!*text || text[strspn(text, "0123456789.eE+-")])
        return false; /* strtod would take " 1", "0x1p3", "nan", "inf" */
    locale_t locale = c_locale();
    if (!locale) return false;
    locale_t before = uselocale(locale); /* this thread's only */
    char *end;
    double number = strtod(text, &end);
    uselocale(before);
    freelocale(locale);
    if (end == text || *end) return false;
    *out = number;
    return true;
}

bool sa_text_to_integer(const char *text, int64_t *out, bool *clipped) {
    if (!*text || text[strspn(text, "0123456789+-")]) return false;
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end) return false;
    if (clipped) *clipped = errno == ERANGE;
    *out = number;
    return true;
}

char *sa_number_to_text(double number, char text[SA_NUMBER_TEXT]) {
    locale_t locale = c_locale();
    locale_t before = locale ? uselocale(locale) : (locale_t)0;
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, SA_NUMBER_TEXT, "%.*g", digits, number);
        if (strtod(text, NULL) == number) break;
    }
    if (locale) {
        uselocale(before);
        freelocale(locale);
    }
    return text;
}

int sa_utf8_size(const char *text, const char *text_end) {
    const unsigned char *at = (const unsigned char *)text, *end = (const unsigned char *)text_end;
    unsigned char first = at[0];
    int size = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    for (int i = 1; i < size; i++) {
        if (at + i == end) return -1;
        unsigned char least = 0x80, most = 0xbf;
        if (i == 1 && first == 0xe0) least = 0xa0; /* written longer than it need be */
        if (i == 1 && first == 0xed) most = 0x9f;  /* half of a pair */
        if (i == 1 && first == 0xf0) least = 0x90;
        if (i == 1 && first == 0xf4) most = 0x8f; /* beyond the last character */
        if (at[i] < least || at[i] > most) return 0;
    }
    return size;
}

char *sa_printable(const char *text, char out[SA_PRINTABLE]) {
    if (!*text) return strcpy(out, "\"\"");
    const char *end = text + strnlen(text, SA_PRINTABLE + 4);
    char *to = out, *most = out + SA_PRINTABLE - 4;
    while (*text) {
        unsigned char c = (unsigned char)*text;
        int size = c < 0x80 ? 1 : sa_utf8_size(text, end);
        if (to + (size > 0 ? size : 1) > most) break;
        if (c < 32 || c == 127 || size <= 0)
            *to++ = '?', text++;
        else
            for (; size > 0; size--) *to++ = *text++;
    }
    strcpy(to, *text ? "..." : "");
    return out;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

size_t sa_edit_distance(const char *from, const char *to, size_t limit) {
    enum { LONGEST = 60 };
    size_t m = strlen(from), n = strlen(to);
    if (m > LONGEST || n > LONGEST) return limit + 1;
    size_t
        rows[3]
            [LONGEST +
             1]; /* distances from prefixes of `from` to all prefixes of `to`, for the last three lengths */
    for (size_t j = 0; j <= n; j++) rows[0][j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *second = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t change = above[j - 1] + (from[i - 1] != to[j - 1]);
            row[j] = smaller(change, smaller(above[j], row[j - 1]) + 1);
            bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
            if (swapped) row[j] = smaller(row[j], second[j - 2] + 1);
        }
    }
    return smaller(rows[m % 3][n], limit + 1);
}

sa_status sa_format(char **out, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = NULL;
    sa_status status = length < 0 ? sa_fail(SA_INVALID, "a text cannot be formatted: %s", format)
                                  : sa_alloc_array((size_t)length + 1, 1, &text);
    if (status == SA_OK) {
        vsnprintf(text, (size_t)length + 1, format, again);
        *out = text;
    }
    va_end(again);
    va_end(arguments);
    return status;
}
