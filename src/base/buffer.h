/* Text that grows: JSON and YAML are built in it. */
#ifndef SA_BASE_BUFFER_H
#define SA_BASE_BUFFER_H

#include <stddef.h>

#include "base/status.h"

typedef struct sa_buffer {
    char *text; /* ended by 0 once something was added */
    size_t size, capacity;
    /* of the first addition that failed; later ones do nothing, so one check at the end is enough */
    sa_status status;
} sa_buffer;

void sa_buffer_clear(sa_buffer *buffer);
void sa_buffer_bytes(sa_buffer *buffer, const void *bytes, size_t size);
void sa_buffer_text(sa_buffer *buffer, const char *text);
__attribute__((format(printf, 2, 3))) void sa_buffer_format(sa_buffer *buffer, const char *format, ...);
/* In double quotes, escaped as JSON has it, which YAML reads too. */
void sa_buffer_quote(sa_buffer *buffer, const char *text);
/* A number with so many digits (0: as many as it takes to read back the same), whatever the locale; null when
 * not finite. */
void sa_buffer_number(sa_buffer *buffer, double number, int digits);

#endif
