/* Characters of UTF-8. */
#ifndef SERVE_UTF8_H
#define SERVE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Is the text of whole characters alone? */
bool sv_utf8_is_whole(const char *text);
/* Leaves out what is none: a name that was cut may end inside a character. */
void sv_utf8_clean(char *text);

#endif
