/* Part of a text that was read whole: a field, a word. Nothing is copied, and no 0 ends it. */
#ifndef SA_BASE_SPAN_H
#define SA_BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

typedef struct sa_span {
    const char *start;
    size_t size;
} sa_span;

/* As sa_text_to_number, and the same number to the last bit, but fast: data files have millions of them. */
bool sa_span_to_number(sa_span span, double *out);
/* Is it "nan" or an infinity in words, in any case and with a sign or not? */
bool sa_span_not_finite(sa_span span);
bool sa_span_equals(sa_span span, const char *text);
/* Made fit for a sentence; returns `out`. */
char *sa_span_printable(sa_span span, char out[SA_PRINTABLE]);

#endif
