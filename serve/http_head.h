/* The head of an HTTP/1.1 request, read strictly: what two programs could understand differently (two
 * lengths, a length and chunks, a space before a colon, a lone line feed) is refused, never guessed. */
#ifndef SERVE_HTTP_HEAD_H
#define SERVE_HTTP_HEAD_H

#include <stdint.h>

#include "refusal.h"

typedef enum head_result { HEAD_WHOLE, HEAD_UNFINISHED, HEAD_REFUSED } sv_head_result;

/* Texts are inside the bytes that were read, which are changed: each is ended by a 0. */
typedef struct http_head {
    size_t size; /* bytes of the head, with the empty line */
    const char *method, *path;
    const char *query;                       /* NULL: none */
    const char *type, *authorization, *host; /* NULL: not sent */
    const char *subscription, *request;      /* as Personalizer's clients send them: a key; an id */
    uint64_t length;                         /* of the body, where it is not in chunks */
    bool has_length, chunked;
    bool close;          /* the client wants, or gets, no other request on this connection */
    bool wants_to_go_on; /* Expect: 100-continue */
} sv_http_head;

/* Looks at bytes (size), of which the first is the first of a request line. HEAD_REFUSED with a refusal: what
 * follows on the connection cannot be understood. HEAD_UNFINISHED: there is more to come, and nothing was
 * changed. */
sv_head_result sv_http_head_read(char *bytes, size_t size, sv_http_head *out, sv_refusal *why);

#endif
