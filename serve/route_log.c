/* GET /v1/agents/NAME/log?from=SEQ&limit=N: events that have been learnt, in the order of the journal, as
 * JSON lines with "final": true; behind the last of them, those that still wait, with "final": false. The
 * next page begins after the last "seq". */
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

static void write_time(sv_text *out, int64_t milliseconds) {
    time_t seconds = (time_t)(milliseconds / 1000);
    struct tm day;
    char date[40];
    gmtime_r(&seconds, &day);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &day);
    text_put(out, "\"%s.%03dZ\"", date, (int)(milliseconds % 1000));
}

/* What the client sent and what it was answered, without what is written elsewhere or was for the answer
 * only. */
static void write_rest(sv_text *out, const sv_store_decision *of) {
    json_t *body = json_loadb(of->body, of->body_size, 0, NULL), *answer = json_loads(of->answer, 0, NULL);
    static const char *const not_of_body[] = {"event", "slate", "explain"}, *const not_of_answer[] = {
                                                                                "event", "model", "estimates",
                                                                                "widths", "warnings"};
    for (size_t i = 0; i < 3; i++) json_object_del(body, not_of_body[i]);
    for (size_t i = 0; i < 5; i++) json_object_del(answer, not_of_answer[i]);
    char *one = body ? json_dumps(body, JSON_COMPACT | JSON_EMBED | JSON_REAL_PRECISION(17)) : NULL;
    char *other = answer ? json_dumps(answer, JSON_COMPACT | JSON_EMBED | JSON_REAL_PRECISION(17)) : NULL;
    if (!one || !other) out->failed = true;
    text_put(out, ",%s,%s", one ? one : "", other ? other : "");
    free(one);
    free(other);
    json_decref(body);
    json_decref(answer);
}

static void write_head(sv_page *self, const sv_store_decision *of, bool final) {
    sv_text *out = &self->exchange->answer;
    text_put(out, "\"final\":%s,\"event\":", final ? "true" : "false");
    text_string(out, of->event);
    text_put(out, ",\"time\":");
    write_time(out, of->time);
    text_put(out, ",\"agent\":");
    text_string(out, self->exchange->name);
    text_put(out, ",\"model\":%llu", (unsigned long long)of->model);
    write_rest(out, of);
}

static bool write_row(void *user, const sv_store_row *row) {
    sv_page *self = user;
    sv_text *out = &self->exchange->answer;
    self->last = row->seq;
    if (row->kind == ROW_LEARN && row->of.id) {
        text_put(out, "{\"seq\":%llu,", (unsigned long long)row->seq);
        write_head(self, &row->of, true);
        text_put(out, ",\"feedback\":%.*s}\n", (int)row->size, row->data);
        self->lines++;
    }
    self->full = self->lines >= self->most || out->size > LIMIT_LOG_BYTES;
    return !self->full && !out->failed;
}

static bool write_waiting(void *user, const sv_store_decision *decision) {
    sv_page *self = user;
    text_put(&self->exchange->answer, "{\"seq\":null,");
    write_head(self, decision, false);
    text_put(&self->exchange->answer, "}\n");
    self->lines++;
    return self->lines < self->most && self->exchange->answer.size < LIMIT_LOG_BYTES;
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
        status =
            sv_store_waiting(service->reader, self->agent->id, page.most - page.lines, write_waiting, &page);
    if (status != STORE_OK) sv_refuse(&why, 503, "%s", sv_store_sentence(service->reader));
    pthread_mutex_unlock(&service->reading);
    self->answer_type = "application/x-ndjson";
    if (why.status)
        sv_exchange_refuse(self, &why);
    else
        sv_exchange_answer(self, 200);
}
