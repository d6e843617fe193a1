/* One line of a decision log: JSON text to a sa_log_entry, with every field checked. */
#ifndef SA_LOGS_LINE_H
#define SA_LOGS_LINE_H

#include <superarm/log.h>

#include "base/buffer.h"
#include "base/ids.h"
#include "base/json.h"

/* Memory that is used again from line to line. */
typedef struct sa_log_line {
    sa_json json;
    sa_log_entry entry;
    char *texts; /* the entry's texts, without escapes, each ended by 0 */
    size_t texts_size, texts_room;
    double *contexts; /* (candidates, dim) */
    size_t contexts_room;
    sa_ids ids;
    double *lists; /* (5, slate): feedback and the probabilities */
    size_t lists_room;
    size_t *arms; /* (slate) */
    size_t arms_room;
    bool *taken; /* (candidates) */
    size_t taken_room;
    sa_buffer extra;
} sa_log_line;

/* Parses the text, which must live as long as the entry is looked at. SA_FORMAT with what is wrong, without path and line;
 * line->json.cut_off says whether it only stops too early. line->entry is the answer, its `line` not set. */
sa_status sa_log_line_parse(sa_log_line *line, const char *text, size_t size);
void sa_log_line_clear(sa_log_line *line);

#endif
