/* GET /v1/agents/NAME/log?from=SEQ&limit=N: events that have been learnt, in the order of the journal, as
 * JSON lines with "final": true; behind the last of them, as many again of those that still wait, with
 * "final": false. The next page begins after the last "seq". */
#include <stdlib.h>
#include <string.h>

#include "closing.h"
#include "log_lines.h"
#include "query.h"
#include "routes.h"
#include "service.h"

typedef struct page {
    sv_exchange *exchange;
    size_t lines, most;
    uint64_t last; /* seq looked at */
    bool full;
} sv_page;

static bool write_row(void *user, const sv_store_row *row) {
    sv_page *self = user;
    sa_buffer *out = &self->exchange->answer;
    self->last = row->seq;
    if (row->kind == ROW_LEARN && row->of.id) {
        sa_buffer learnt = {0};
        sv_store_row line = *row;
        if (sv_closing_learnt(self->exchange->service->reader, &row->of, &learnt) == STORE_OK &&
            learnt.size) {
            line.data = learnt.text;
            line.size = learnt.size;
        }
        sv_log_line_learnt(out, self->exchange->name, &line);
        sa_buffer_clear(&learnt);
        self->lines++;
    }
    self->full = self->lines >= self->most || out->size > LIMIT_LOG_BYTES;
    return !self->full && !out->status;
}

static bool write_waiting(void *user, const sv_store_decision *decision) {
    sv_page *self = user;
    sv_log_line_waiting(&self->exchange->answer, self->exchange->name, decision);
    return self->exchange->answer.size < LIMIT_LOG_BYTES;
}

void sv_route_log(sv_exchange *self) {
    sv_refusal why = {0};
    uint64_t from = 1, most = 100;
    if (!sv_query_whole(self->query, "from", &from, &why) ||
        !sv_query_whole(self->query, "limit", &most, &why)) {
        sv_exchange_refuse(self, &why);
        return;
    }
    sv_page page = {.exchange = self, .most = most < 1 ? 1 : most > LIMIT_LOG_LINES ? LIMIT_LOG_LINES : most};
    sv_service *service = self->service;
    pthread_mutex_lock(&service->reading);
    sv_store_status status =
        sv_store_rows(service->reader, self->agent->id, from, (size_t)1 << 40, write_row, &page);
    if (status == STORE_OK && !page.full)
        status = sv_store_waiting(service->reader, self->agent->id, page.most, write_waiting, &page);
    if (status != STORE_OK) sv_refuse(&why, 503, "%s", sv_store_sentence(service->reader));
    pthread_mutex_unlock(&service->reading);
    self->answer_type = "application/x-ndjson";
    if (why.status)
        sv_exchange_refuse(self, &why);
    else
        sv_exchange_answer(self, 200);
}
