#include "base/span.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

/* Powers of ten that a double holds exactly. */
static const double TENS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
enum { LARGEST_TEN = 22, LONGEST = 100 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Whatever the short way leaves over: many digits, large exponents, and what is no number. */
static bool long_way(sa_span span, double *out) {
    char text[LONGEST + 1], *longer = NULL;
    if (memchr(span.start, 0, span.size)) return false;
    if (span.size > LONGEST && sa_alloc_array(span.size + 1, 1, &longer) != SA_OK) return false;
    char *copy = longer ? longer : text;
    memcpy(copy, span.start, span.size);
    copy[span.size] = 0;
    bool good = sa_text_to_number(copy, out);
    sa_free(longer);
    return good;
}

static const char *take_digits(const char *at, const char *end, uint64_t *number) {
    for (; at < end && is_digit(*at); at++) *number = *number * 10 + (uint64_t)(*at - '0');
    return at;
}

/* m x 10^e is right to the last bit when m < 2^53 and 10^|e| are both exact: one rounding, that of * or /. */
bool sa_span_to_number(sa_span span, double *out) {
    const char *at = span.start, *end = span.start + span.size;
    bool negative = at < end && *at == '-';
    uint64_t mantissa = 0;
    int exponent = 0;
    if (at < end && (*at == '-' || *at == '+')) at++;
    const char *whole = at, *point = at = take_digits(at, end, &mantissa);
    size_t digits = (size_t)(at - whole);
    if (at < end && *at == '.') {
        at = take_digits(at + 1, end, &mantissa);
        exponent = (int)(point - at + 1);
        digits += (size_t)(at - point - 1);
    }
    if (at < end && (*at == 'e' || *at == 'E') && end - at <= 4) {
        bool minus = at + 1 < end && at[1] == '-';
        const char *power = at + 1 + (at + 1 < end && (at[1] == '-' || at[1] == '+'));
        uint64_t size = 0;
        at = take_digits(power, end, &size);
        if (at == power) return false;
        exponent += minus ? -(int)size : (int)size;
    }
    if (!digits || digits > 19 || at != end || mantissa > UINT64_C(1) << 53 || exponent > LARGEST_TEN ||
        exponent < -LARGEST_TEN)
        return long_way(span, out);
    double size = exponent < 0 ? (double)mantissa / TENS[-exponent] : (double)mantissa * TENS[exponent];
    *out = negative ? -size : size;
    return true;
}

bool sa_span_equals(sa_span span, const char *text) {
    return strlen(text) == span.size && !memcmp(span.start, text, span.size);
}

bool sa_span_not_finite(sa_span span) {
    static const char *const words[] = {"nan", "inf", "infinity"};
    if (span.size > 0 && (*span.start == '-' || *span.start == '+')) span.start++, span.size--;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (span.size == strlen(words[i]) && !strncasecmp(span.start, words[i], span.size)) return true;
    return false;
}

char *sa_span_printable(sa_span span, char out[SA_PRINTABLE]) {
    char text[SA_PRINTABLE + 1];
    size_t size = span.size < SA_PRINTABLE ? span.size : SA_PRINTABLE;
    memcpy(text, span.start, size);
    for (size_t i = 0; i < size; i++)
        if (!text[i]) text[i] = '?';
    text[size] = 0;
    return sa_printable(text, out);
}
