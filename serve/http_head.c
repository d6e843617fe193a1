#define _GNU_SOURCE
#include "http_head.h"

#include <string.h>
#include <strings.h>

#include "bounds.h"

enum { LENGTH_DIGITS = 15 };

static bool is_token(const char *from, const char *to) {
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (const char *c = from; c < to; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        if (!letter && (!*c || !strchr(others, *c))) return false;
    }
    return to > from;
}

static bool is_plain(const char *from, const char *to, unsigned char least) {
    for (const char *c = from; c < to; c++)
        if (((unsigned char)*c < least && *c != '\t') || *c == 0x7f) return false;
    return true;
}

/* "HTTP/1.1" */
static bool read_version(const char *text, size_t size, sv_http_head *out, sv_refusal *why) {
    bool like = size == 8 && !strncmp(text, "HTTP/", 5) && text[5] >= '0' && text[5] <= '9' &&
                text[6] == '.' && text[7] >= '0' && text[7] <= '9';
    if (!like) return sv_refuse(why, 400, "the request line does not end with HTTP/1.1");
    if (text[5] != '1') return sv_refuse(why, 505, "the version of HTTP is not 1.1 or 1.0");
    out->close = text[7] == '0';
    return true;
}

/* METHOD /path?query HTTP/1.1 */
static bool read_line(char *line, char *end, sv_http_head *out, sv_refusal *why) {
    char *path = memchr(line, ' ', (size_t)(end - line));
    char *version = path ? memchr(path + 1, ' ', (size_t)(end - path - 1)) : NULL;
    if (!version) return sv_refuse(why, 400, "the request line is not: METHOD /path HTTP/1.1");
    if (!is_token(line, path)) return sv_refuse(why, 400, "the request line has no method that is a word");
    if (!read_version(version + 1, (size_t)(end - version - 1), out, why)) return false;
    if (path[1] != '/') return sv_refuse(why, 400, "the request line's path does not begin with /");
    for (const char *c = path + 1; c < version; c++)
        if ((unsigned char)*c <= 0x20 || *c == 0x7f)
            return sv_refuse(why, 400, "the request line's path has spaces or control characters");
    *path = *version = 0;
    out->method = line;
    out->path = path + 1;
    char *query = strchr(path + 1, '?');
    if (query) *query++ = 0;
    out->query = query;
    return true;
}

static bool read_length(const char *value, sv_http_head *out, sv_refusal *why) {
    size_t digits = strspn(value, "0123456789");
    if (out->has_length) return sv_refuse(why, 400, "Content-Length is there twice");
    if (!digits || value[digits]) return sv_refuse(why, 400, "Content-Length is no number");
    out->has_length = true;
    if (digits > LENGTH_DIGITS) return sv_refuse(why, 413, "Content-Length is larger than any body taken");
    for (size_t i = 0; i < digits; i++) out->length = 10 * out->length + (uint64_t)(value[i] - '0');
    return true;
}

/* Is the word in a list "keep-alive, close"? */
static bool has_word(const char *list, const char *word) {
    for (const char *at = list; *at; at += strcspn(at, ",")) {
        at += strspn(at, ", \t");
        size_t size = strcspn(at, ", \t");
        if (size == strlen(word) && !strncasecmp(at, word, size)) return true;
    }
    return false;
}

static bool take_once(const char **into, const char *name, const char *value, sv_refusal *why) {
    if (*into) return sv_refuse(why, 400, "%s is there twice", name);
    *into = value;
    return true;
}

static bool take_field(const char *name, const char *value, sv_http_head *out, sv_refusal *why) {
    if (!strcasecmp(name, "Content-Length")) return read_length(value, out, why);
    if (!strcasecmp(name, "Transfer-Encoding")) {
        if (out->chunked) return sv_refuse(why, 400, "Transfer-Encoding is there twice");
        if (strcasecmp(value, "chunked")) return sv_refuse(why, 400, "Transfer-Encoding is not chunked");
        out->chunked = true;
        return true;
    }
    if (!strcasecmp(name, "Host")) return take_once(&out->host, "Host", value, why);
    if (!strcasecmp(name, "Content-Type")) return take_once(&out->type, "Content-Type", value, why);
    if (!strcasecmp(name, "Authorization"))
        return take_once(&out->authorization, "Authorization", value, why);
    if (!strcasecmp(name, "Ocp-Apim-Subscription-Key"))
        return take_once(&out->subscription, "Ocp-Apim-Subscription-Key", value, why);
    if (!strcasecmp(name, "x-ms-client-request-id"))
        return take_once(&out->request, "x-ms-client-request-id", value, why);
    if (!strcasecmp(name, "Connection")) out->close = out->close || has_word(value, "close");
    if (!strcasecmp(name, "Expect")) {
        if (strcasecmp(value, "100-continue")) return sv_refuse(why, 400, "Expect is not 100-continue");
        out->wants_to_go_on = true;
    }
    return true;
}

/* Name: value */
static bool read_field(char *line, char *end, sv_http_head *out, sv_refusal *why) {
    char *colon = memchr(line, ':', (size_t)(end - line));
    if (!colon || !is_token(line, colon))
        return sv_refuse(why, 400, "a header is not: Name: value, without a space before the colon");
    if (!is_plain(colon, end, 0x20)) return sv_refuse(why, 400, "a header has control characters");
    char *value = colon + 1;
    while (value < end && (*value == ' ' || *value == '\t')) value++;
    while (end > value && (end[-1] == ' ' || end[-1] == '\t')) end--;
    *colon = *end = 0;
    return take_field(line, value, out, why);
}

static bool fits_together(const sv_http_head *self, bool old, sv_refusal *why) {
    if (self->chunked && self->has_length)
        return sv_refuse(why, 400, "Content-Length and Transfer-Encoding do not go together");
    if (self->chunked && old) return sv_refuse(why, 400, "HTTP/1.0 has no Transfer-Encoding");
    return self->host || old || sv_refuse(why, 400, "the Host header is missing");
}

static sv_head_result unfinished(const char *bytes, size_t size, sv_refusal *why) {
    if (size < LIMIT_HEADERS) return HEAD_UNFINISHED;
    if (!memchr(bytes, '\n', LIMIT_HEADERS))
        sv_refuse(why, 414, "the request line is longer than %d bytes", LIMIT_HEADERS);
    else
        sv_refuse(why, 431, "request line and headers are longer than %d bytes", LIMIT_HEADERS);
    return HEAD_REFUSED;
}

sv_head_result sv_http_head_read(char *bytes, size_t size, sv_http_head *out, sv_refusal *why) {
    char *end = memmem(bytes, size, "\r\n\r\n", 4), *line = bytes, *next;
    *out = (sv_http_head){0};
    if (!end || (size_t)(end - bytes) > LIMIT_HEADERS) return unfinished(bytes, size, why);
    out->size = (size_t)(end - bytes) + 4;
    bool old = false;
    for (size_t i = 0; line < end + 2; line = next + 1, i++) {
        next = memchr(line, '\n', (size_t)(end + 2 - line));
        if (next == line || next[-1] != '\r' || memchr(line, '\r', (size_t)(next - line)) != next - 1) {
            sv_refuse(why, 400, "a line of the head does not end with CR LF");
            return HEAD_REFUSED;
        }
        if (i > LIMIT_FIELDS) {
            sv_refuse(why, 431, "there are more than %d headers", LIMIT_FIELDS);
            return HEAD_REFUSED;
        }
        bool good = i ? read_field(line, next - 1, out, why) : read_line(line, next - 1, out, why);
        if (!good) return HEAD_REFUSED;
        if (!i) old = out->close;
    }
    return fits_together(out, old, why) ? HEAD_WHOLE : HEAD_REFUSED;
}
