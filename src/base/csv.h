/* Rows and fields of comma-separated text (RFC 4180): a field in "quotes" may hold separators, line ends and,
 * doubled, quotes. Beyond the RFC: lines end in LF or CRLF, spaces around fields do not count, and blank
 * lines and lines that begin with # are passed over. */
#ifndef SA_BASE_CSV_H
#define SA_BASE_CSV_H

#include "base/span.h"
#include "base/status.h"

typedef struct sa_csv {
    const char *path;       /* for sentences; borrowed, as the text is */
    const char *next, *end; /* what is left of the text */
    size_t line;            /* of `next`, counted from 1 */
    size_t column;          /* of the next field, counted from 1 */
    char separator;
    char *unquoted; /* a field without its doubled quotes */
    size_t unquoted_room;
} sa_csv;

/* SA_FORMAT when it cannot be text. Caller clears it. */
sa_status sa_csv_begin(sa_csv *csv, const char *text, size_t size, const char *path, char separator);
void sa_csv_clear(sa_csv *csv);
/* Goes to the next row; false after the last. */
bool sa_csv_row(sa_csv *csv);
/* The row's next field, valid until the next call; `*ends` says whether the row ends with it. */
sa_status sa_csv_field(sa_csv *csv, sa_span *field, bool *ends);

#endif
