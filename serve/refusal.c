#include "refusal.h"

#include <stdarg.h>
#include <stdio.h>

#include "utf8.h"

static const struct {
    int status;
    const char *code;
} CODES[] = {{400, "bad_request"},        {401, "unauthorized"},
             {403, "forbidden"},          {404, "not_found"},
             {405, "method_not_allowed"}, {408, "timeout"},
             {409, "conflict"},           {413, "too_large"},
             {414, "uri_too_long"},       {415, "unsupported_media_type"},
             {431, "headers_too_large"},  {505, "http_version"},
             {429, "too_many_requests"},  {500, "internal"},
             {503, "unavailable"}};

bool sv_refuse(sv_refusal *self, int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    self->status = status;
    vsnprintf(self->message, sizeof self->message, format, arguments);
    va_end(arguments);
    sv_utf8_clean(self->message);
    return false;
}

bool sv_refuse_library(sv_refusal *self, sa_status status) {
    const char *sentence = sa_last_error();
    bool input = status != SA_OUT_OF_MEMORY && status != SA_FILE && status != SA_DISK && status != SA_CLOSED;
    return sv_refuse(self, input ? 400 : 503, "%s", *sentence ? sentence : sa_status_message(status));
}

void sv_refusal_write(const sv_refusal *self, const char *code, sa_buffer *out) {
    for (size_t i = 0; !code && i < sizeof CODES / sizeof *CODES; i++)
        if (CODES[i].status == self->status) code = CODES[i].code;
    if (!code) code = "error";
    sa_buffer_format(out, "{\"error\": {\"code\": \"%s\", \"message\": ", code);
    sa_buffer_quote(out, self->message);
    sa_buffer_format(out, "}}\n");
}
