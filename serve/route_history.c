/* GET /v1/agents/NAME/history?from=SECONDS&to=SECONDS: what happened by the hour, and before that by the
 * day, in order. Hours without events are not there. */
#include <stdlib.h>

#include "clock.h"
#include "query.h"
#include "routes.h"
#include "service.h"

typedef struct history {
    sa_buffer *out;
    size_t count;
    bool failed;
} sv_history;

static bool write_hour(void *user, const sv_store_hour *row) {
    sv_history *self = user;
    sv_hour *hour = sv_hour_read(row->hour, row->data);
    if (!hour) return self->failed = true, false;
    sa_buffer_format(self->out, "%s{\"time\": %lld, \"sums\": ", self->count++ ? ",\n " : "",
                     (long long)row->hour * 3600);
    sv_hour_write(hour, false, self->out);
    sa_buffer_text(self->out, "}");
    free(hour);
    return !self->out->status;
}

void sv_route_history(sv_exchange *self) {
    sv_refusal why = {0};
    uint64_t now = (uint64_t)sv_clock_milliseconds() / 1000, from = now > 14 * 86400 ? now - 14 * 86400 : 0,
             to = (uint64_t)1 << 40;
    sv_service *service = self->service;
    sv_history history = {.out = &self->answer};
    if (!sv_query_whole(self->query, "from", &from, &why) || !sv_query_whole(self->query, "to", &to, &why)) {
        sv_exchange_refuse(self, &why);
        return;
    }
    sa_buffer_text(&self->answer, "{\"history\": [");
    pthread_mutex_lock(&service->reading);
    sv_store_status status = sv_store_hours(service->reader, self->agent->id, (int64_t)(from / 3600),
                                            (int64_t)((to + 3599) / 3600), write_hour, &history);
    if (status != STORE_OK || history.failed)
        sv_refuse(&why, 503, "%s",
                  history.failed ? "a row of it is damaged" : sv_store_sentence(service->reader));
    pthread_mutex_unlock(&service->reading);
    sa_buffer_text(&self->answer, "]}\n");
    if (why.status)
        sv_exchange_refuse(self, &why);
    else
        sv_exchange_answer(self, 200);
}
