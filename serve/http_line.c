#include "http_line.h"

#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "routes.h"

/* Text of a client's: what is not plain ASCII becomes a question mark, so that the line is JSON whatever
 * was sent. */
static void add_plain(sv_text *out, const char *client, size_t most) {
    char plain[201];
    size_t size = 0;
    for (; client[size] && size < most && size < sizeof plain - 1; size++)
        plain[size] = client[size] >= 0x20 && client[size] < 0x7f ? client[size] : '?';
    plain[size] = 0;
    text_string(out, plain);
}

void http_line_write(const sv_exchange *exchange, double seconds) {
    sv_text line = {0};
    int64_t now = clock_milliseconds();
    text_put(&line, "{\"time\": %lld.%03d, \"method\": ", (long long)(now / 1000), (int)(now % 1000));
    add_plain(&line, exchange->method, 16);
    text_put(&line, ", \"path\": ");
    add_plain(&line, exchange->path, 200);
    text_put(&line, ", \"route\": \"%s\", \"status\": %d, \"ms\": %.3f, \"received\": %zu, \"sent\": %zu}\n",
             exchange->route ? exchange->route->name : "none", exchange->status, seconds * 1e3,
             exchange->body.size, exchange->answer.size);
    if (!line.failed && write(STDERR_FILENO, line.data, line.size) < 0) { /* nobody reads it: no matter */
    }
    text_free(&line);
}
