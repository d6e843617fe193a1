/* GET /v1/agents/NAME/log?from=SEQ&limit=N: events that have been learnt, in the order of the journal, as
 * JSON lines with "final": true; behind the last of them, as many again of those that still wait, with
 * "final": false. The next page begins after the last "seq". */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "routes.h"
#include "service.h"

typedef struct page {
    sv_exchange *exchange;
    size_t lines, most;
    uint64_t last; /* seq looked at */
    bool full;
} sv_page;

/* A parameter of the query that is a whole number. */
static bool read_parameter(const char *query, const char *name, uint64_t *out, sv_refusal *why) {
    size_t size = strlen(name);
    for (const char *at = query; at && *at; at = strchr(at, '&') ? strchr(at, '&') + 1 : NULL) {
        if (strncmp(at, name, size) || at[size] != '=') continue;
        char *end;
        if (at[size + 1] < '0' || at[size + 1] > '9')
            return sv_refuse(why, 400, "%s is no whole number", name);
        *out = strtoull(at + size + 1, &end, 10);
        if (*end && *end != '&') return sv_refuse(why, 400, "%s is no whole number", name);
        if (*out > (uint64_t)1 << 62) return sv_refuse(why, 400, "%s is too large", name);
    }
    return true;
}

static void write_time(sa_buffer *out, int64_t milliseconds) {
    time_t seconds = (time_t)(milliseconds / 1000);
    struct tm day;
    char date[40];
    gmtime_r(&seconds, &day);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &day);
    sa_buffer_format(out, "\"%s.%03dZ\"", date, (int)(milliseconds % 1000));
}

/* The fields of an object but for some. */
static void write_fields(sa_buffer *out, const char *text, size_t size, const char *const *but) {
    sa_json json = {0};
    if (sa_json_parse(&json, text, size) != SA_OK) out->status = SA_OUT_OF_MEMORY; /* it was read before */
    for (size_t key = 1; !out->status && key < json.nodes[0].next; key = json.nodes[key + 1].next) {
        size_t i = 0;
        while (but[i] && !sa_json_equals(&json, key, but[i])) i++;
        if (but[i]) continue;
        sa_buffer_bytes(out, ",", 1);
        sa_buffer_value(out, &json, key);
        sa_buffer_bytes(out, ":", 1);
        sa_buffer_value(out, &json, key + 1);
    }
    sa_json_clear(&json);
}

/* What the client sent and what it was answered, without what is written elsewhere or was for the answer
 * only. */
static void write_rest(sa_buffer *out, const sv_store_decision *of) {
    static const char *const not_of_body[] = {"event", "slate", "explain", NULL};
    static const char *const not_of_answer[] = {"event", "model", "estimates", "widths", "warnings", NULL};
    write_fields(out, of->body, of->body_size, not_of_body);
    write_fields(out, of->answer, strlen(of->answer), not_of_answer);
}

static void write_head(sv_page *self, const sv_store_decision *of, bool final) {
    sa_buffer *out = &self->exchange->answer;
    sa_buffer_format(out, "\"final\":%s,\"event\":", final ? "true" : "false");
    sa_buffer_quote(out, of->event);
    sa_buffer_format(out, ",\"time\":");
    write_time(out, of->time);
    sa_buffer_format(out, ",\"agent\":");
    sa_buffer_quote(out, self->exchange->name);
    sa_buffer_format(out, ",\"model\":%llu", (unsigned long long)of->model);
    write_rest(out, of);
}

static bool write_row(void *user, const sv_store_row *row) {
    sv_page *self = user;
    sa_buffer *out = &self->exchange->answer;
    self->last = row->seq;
    if (row->kind == ROW_LEARN && row->of.id) {
        sa_buffer_format(out, "{\"seq\":%llu,", (unsigned long long)row->seq);
        write_head(self, &row->of, true);
        sa_buffer_format(out, ",\"feedback\":%.*s}\n", (int)row->size, row->data);
        self->lines++;
    }
    self->full = self->lines >= self->most || out->size > LIMIT_LOG_BYTES;
    return !self->full && !out->status;
}

static bool write_waiting(void *user, const sv_store_decision *decision) {
    sv_page *self = user;
    sa_buffer_format(&self->exchange->answer, "{\"seq\":null,");
    write_head(self, decision, false);
    sa_buffer_format(&self->exchange->answer, "}\n");
    return self->exchange->answer.size < LIMIT_LOG_BYTES;
}

void sv_route_log(sv_exchange *self) {
    sv_refusal why = {0};
    uint64_t from = 1, most = 100;
    if (!read_parameter(self->query, "from", &from, &why) ||
        !read_parameter(self->query, "limit", &most, &why)) {
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
