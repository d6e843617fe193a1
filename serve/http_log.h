/* Lines for stderr, written by a thread of their own: whoever reads them slowly, or not at all, loses lines
 * and never keeps the service waiting. */
#ifndef SERVE_HTTP_LOG_H
#define SERVE_HTTP_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include <superarm/json.h>

typedef struct http_log sv_http_log;

sv_http_log *sv_http_log_start(void); /* NULL: no thread could be had */
/* One line with its end. false: there was no room, and it is lost. */
bool sv_http_log_add(sv_http_log *self, const sa_buffer *line);
/* Writes what is there, for a second at most. */
void sv_http_log_stop(sv_http_log *self); /* NULL is fine */

#endif
