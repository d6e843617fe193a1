/* Lines of the decision log (docs/LOGS.md): what GET .../log gives, and what evaluations read. */
#ifndef SERVE_LOG_LINES_H
#define SERVE_LOG_LINES_H

#include "store.h"

/* An event that was learnt, with its decision; and one that waits. `agent` is the name. */
void sv_log_line_learnt(sa_buffer *out, const char *agent, const sv_store_row *row);
void sv_log_line_waiting(sa_buffer *out, const char *agent, const sv_store_decision *decision);

#endif
