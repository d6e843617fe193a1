#include "http_line.h"

#include <string.h>

#include "clock.h"
#include "routes.h"

/* Text of a client's: what is not plain ASCII becomes a question mark, so that the line is JSON whatever
 * was sent. */
static void add_plain(sa_buffer *out, const char *client, size_t most) {
    char plain[201];
    size_t size = 0;
    for (; client[size] && size < most && size < sizeof plain - 1; size++)
        plain[size] = client[size] >= 0x20 && client[size] < 0x7f ? client[size] : '?';
    plain[size] = 0;
    sa_buffer_quote(out, plain);
}

static void add_named(sa_buffer *out, const char *name, const char *text, size_t most) {
    if (!text || !*text) return;
    sa_buffer_format(out, ", \"%s\": ", name);
    add_plain(out, text, most);
}

void sv_http_line_write(const sv_exchange *exchange, double seconds, sv_http_log *log) {
    sa_buffer line = {0};
    int64_t now = sv_clock_milliseconds();
    sa_buffer_format(&line, "{\"time\": %lld.%03d, \"method\": ", (long long)(now / 1000), (int)(now % 1000));
    add_plain(&line, exchange->method, 16);
    sa_buffer_format(&line, ", \"path\": ");
    add_plain(&line, exchange->path, 200);
    sa_buffer_format(&line,
                     ", \"route\": \"%s\", \"status\": %d, \"ms\": %.3f, \"received\": %zu, \"sent\": %zu",
                     exchange->route ? exchange->route->name : "none", exchange->status, seconds * 1e3,
                     exchange->body.size, exchange->answer.size);
    add_named(&line, "address", exchange->from, 64);
    add_named(&line, "key", exchange->key, 64);
    add_named(&line, "agent", exchange->name, 64);
    add_named(&line, "event", exchange->event, 200);
    if (exchange->status >= 400) add_named(&line, "error", exchange->error, 200);
    sa_buffer_bytes(&line, "}\n", 2);
    sv_http_log_add(log, &line);
    sa_buffer_clear(&line);
}
