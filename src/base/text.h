/* Numbers as text, the same in every locale: a library cannot know what its caller chose. */
#ifndef SA_BASE_TEXT_H
#define SA_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <superarm/json.h>

#include "base/status.h"

enum { SA_NUMBER_TEXT = 32 }; /* SA_PRINTABLE is of <superarm/json.h> */

/* The whole text as a decimal number: no spaces, no hexadecimal. Too large gives an infinity; "inf" and "nan"
 * are not numbers. */
bool sa_text_to_number(const char *text, double *out);
/* The whole text as a decimal integer. Beyond int64_t it is the nearest one, with *clipped set (when not
 * NULL). */
bool sa_text_to_integer(const char *text, int64_t *out, bool *clipped);
/* The shortest of 15, 16 and 17 digits that reads back as the same number. Returns `text`. */
char *sa_number_to_text(double number, char text[SA_NUMBER_TEXT]);
/* Bytes of the UTF-8 character at `at`, which is not ASCII: 0 when it is none, -1 when the text ends within
 * it. */
int sa_utf8_size(const char *at, const char *end);
/* A user's text made fit for a sentence: not too long, no control characters, "" in quotes. Returns `out`. */
char *sa_printable(const char *text, char out[SA_PRINTABLE]);
/* How many single-character insertions, deletions, replacements and swaps lead from one to the other; at most
 * `limit` + 1, which is also the answer for texts of more than 60 characters. */
size_t sa_edit_distance(const char *from, const char *to, size_t limit);

/* printf into a fresh text, freed with sa_free: paths are built with it. */
__attribute__((format(printf, 2, 3))) sa_status sa_format(char **out, const char *format, ...);

#endif
