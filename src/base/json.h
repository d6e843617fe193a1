/* JSON text (RFC 8259) as a flat list of nodes in the order of the text: no allocation a value, nothing
 * recurses, and numbers are converted only when they are asked for. Made for logs, of which there are
 * gigabytes; jansson reads the small files.
 *
 * An array's elements are the nodes after it, one to the next with `next`; an object's are pairs, a key and
 * then its value:
 *
 *   for (size_t i = at + 1; i < nodes[at].next; i = nodes[i].next)              elements of the array `at`
 *   for (size_t i = at + 1; i < nodes[at].next; i = nodes[i + 1].next)          keys i and values i + 1 of
 *       the object `at` */
#ifndef SA_BASE_JSON_H
#define SA_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "base/status.h"

enum { SA_JSON_DEEPEST = 64 };
#define SA_JSON_LONGEST ((size_t)1 << 30)

typedef enum sa_json_kind {
    SA_JSON_NULL,
    SA_JSON_FALSE,
    SA_JSON_TRUE,
    SA_JSON_NUMBER,
    SA_JSON_STRING,
    SA_JSON_ARRAY,
    SA_JSON_OBJECT,
} sa_json_kind;

typedef struct sa_json_node {
    uint32_t start, size; /* of its text; a string's is without the quotes, and still escaped */
    uint32_t next;        /* the node behind this one and all that is in it */
    uint8_t kind;         /* sa_json_kind */
    bool escaped;         /* a string with a backslash in it */
} sa_json_node;

typedef struct sa_json {
    const char *text; /* borrowed */
    sa_json_node *nodes;
    size_t count, capacity;
    bool cut_off; /* what was parsed last is wrong only in that it stops too early */
} sa_json;

/* Takes exactly one value, which is node 0, with spaces around it. Strings are UTF-8 without the character 0.
 * SA_FORMAT with "column C: what is wrong there" otherwise. The nodes' memory is used again; sa_json_clear
 * frees it. */
sa_status sa_json_parse(sa_json *json, const char *text, size_t size);
void sa_json_clear(sa_json *json);

sa_span sa_json_span(const sa_json *json, size_t at);
/* Is it this string? */
bool sa_json_equals(const sa_json *json, size_t at, const char *text);
/* The value of a key of an object; 0, which is never a value inside, when it is not there. The first of
 * several. */
size_t sa_json_find(const sa_json *json, size_t object, const char *key);
/* Elements of an array, or pairs of an object. */
size_t sa_json_count(const sa_json *json, size_t at);
/* A number as a double; infinite when it is too large for one. */
double sa_json_number(const sa_json *json, size_t at);
/* A string without its escapes, at `to`, which has room for the node's size; no 0 is put behind it. Returns
 * its length. */
size_t sa_json_unescape(const sa_json *json, size_t at, char *to);
/* The node's text made fit for a sentence, strings in quotes. Returns `out`. */
char *sa_json_printable(const sa_json *json, size_t at, char out[SA_PRINTABLE]);
/* "a number", "a text"... */
const char *sa_json_kind_name(const sa_json *json, size_t at);

#endif
