/* One JSON line a request on stderr. */
#ifndef SERVE_HTTP_LINE_H
#define SERVE_HTTP_LINE_H

#include "exchange.h"

void http_line_write(const sv_exchange *exchange, double seconds);

#endif
