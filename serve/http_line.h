/* One JSON line a request. */
#ifndef SERVE_HTTP_LINE_H
#define SERVE_HTTP_LINE_H

#include "exchange.h"
#include "http_log.h"

void sv_http_line_write(const sv_exchange *exchange, double seconds, sv_http_log *log);

#endif
