/* A decision as a line of a log. */
#ifndef SA_LOGS_WRITER_H
#define SA_LOGS_WRITER_H

#include <superarm/log.h>

#include "base/buffer.h"

/* Adds the line with its end, unchecked, for those who know what they write: a run's own rounds. */
void sa_log_line_write(sa_buffer *buffer, const sa_log_entry *entry, int digits);

#endif
