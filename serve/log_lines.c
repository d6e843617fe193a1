#include "log_lines.h"

#include <string.h>
#include <time.h>

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
    static const char *const not_of_body[] = {"event",   "slate",  "explain", "activate",
                                              "ranking", "places", NULL};
    static const char *const not_of_answer[] = {"event",    "model",    "estimates", "widths",
                                                "kept_out", "warnings", NULL};
    write_fields(out, of->body, of->body_size, not_of_body);
    write_fields(out, of->answer, strlen(of->answer), not_of_answer);
}

static void write_head(sa_buffer *out, const char *agent, const sv_store_decision *of, bool final) {
    sa_buffer_format(out, "\"final\":%s,\"event\":", final ? "true" : "false");
    sa_buffer_quote(out, of->event);
    sa_buffer_format(out, ",\"time\":");
    write_time(out, of->time);
    sa_buffer_format(out, ",\"agent\":");
    sa_buffer_quote(out, agent);
    sa_buffer_format(out, ",\"model\":%llu", (unsigned long long)of->model);
    write_rest(out, of);
}

/* One value for several arms is a page's total. */
static void write_feedback(sa_buffer *out, const sv_store_row *row) {
    bool total = row->of.arm_count > 1 && !memchr(row->data, ',', row->size) && row->size > 2;
    if (total)
        sa_buffer_format(out, ",\"total\":%.*s", (int)row->size - 2, row->data + 1);
    else
        sa_buffer_format(out, ",\"feedback\":%.*s", (int)row->size, row->data);
}

void sv_log_line_learnt(sa_buffer *out, const char *agent, const sv_store_row *row) {
    sa_buffer_format(out, "{\"seq\":%llu,", (unsigned long long)row->seq);
    write_head(out, agent, &row->of, true);
    write_feedback(out, row);
    sa_buffer_text(out, "}\n");
}

void sv_log_line_waiting(sa_buffer *out, const char *agent, const sv_store_decision *decision) {
    sa_buffer_format(out, "{\"seq\":null,");
    write_head(out, agent, decision, false);
    sa_buffer_format(out, "}\n");
}
