/* Text that grows. Memory that runs out is remembered (`failed`) and looked at once, at the end, by
 * whoever sends the text. */
#ifndef SERVE_TEXT_H
#define SERVE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct text {
    char *data; /* (size), a 0 follows; NULL while empty */
    size_t size, room;
    bool failed;
} sv_text;

void text_add(sv_text *self, const void *bytes, size_t size);
__attribute__((format(printf, 2, 3))) void text_put(sv_text *self, const char *format, ...);
/* As JSON: a string with quotes, valid UTF-8 taken as it is; a number that reads back the same, null where
 * it is not finite. */
void text_string(sv_text *self, const char *string);
void text_number(sv_text *self, double number);
void text_numbers(sv_text *self, const double *numbers, size_t count); /* [1,2] */
void text_free(sv_text *self);                                         /* empty again */

#endif
