/* /metrics: everything that is counted, as Prometheus text. */
#ifndef SERVE_METRICS_PAGE_H
#define SERVE_METRICS_PAGE_H

#include "service.h"

void sv_metrics_page_write(sv_service *service, sa_buffer *out);

#endif
