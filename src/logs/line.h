/* One line of a decision log: JSON text to a sa_log_entry, with every field checked. */
#ifndef SA_LOGS_LINE_H
#define SA_LOGS_LINE_H

#include "logs/fields.h"

/* Parses the text, which must live as long as the entry is looked at. SA_FORMAT with what is wrong, without
 * path and line; line->json.cut_off says whether it only stops too early. line->entry is the answer, its
 * `line` not set. */
sa_status sa_log_line_parse(sa_log_line *line, const char *text, size_t size);

#endif
