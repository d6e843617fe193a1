/* JSON (RFC 8259): the one reader and the one writer, which requests, logs, results and the service share. */
#ifndef SUPERARM_JSON_H
#define SUPERARM_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <superarm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reading ---- */

/* A text becomes a flat list of nodes in the order of the text: no allocation a value, nothing recurses, and
 * numbers are converted only when they are asked for.
 *
 * An array's elements are the nodes after it, one to the next with `next`; an object's are pairs, a key and
 * then its value:
 *
 *   for (size_t i = at + 1; i < nodes[at].next; i = nodes[i].next)              elements of the array `at`
 *   for (size_t i = at + 1; i < nodes[at].next; i = nodes[i + 1].next)          keys i and values i + 1 of
 *       the object `at` */
typedef enum sa_json_kind {
    SA_JSON_NULL,
    SA_JSON_FALSE,
    SA_JSON_TRUE,
    SA_JSON_NUMBER,
    SA_JSON_STRING,
    SA_JSON_ARRAY,
    SA_JSON_OBJECT
} sa_json_kind;

typedef struct sa_json_node {
    uint32_t start, size; /* of its text; a string's is without the quotes, and still escaped */
    uint32_t next;        /* the node behind this one and all that is in it */
    uint8_t kind;         /* sa_json_kind */
    bool escaped;         /* a string with a backslash in it */
} sa_json_node;

enum { SA_JSON_DEEPEST = 64 };

typedef struct sa_json {
    const char *text; /* borrowed */
    sa_json_node *nodes;
    size_t count, capacity;
    size_t deepest; /* arrays and objects inside each other: as many as the caller has set, 0: the most */
    bool cut_off;   /* what was parsed last is wrong only in that it stops too early */
} sa_json;

/* Takes exactly one value, which is node 0, with spaces around it. Strings are UTF-8 without the character 0.
 * SA_FORMAT with "column C: what is wrong there" otherwise. Begin with a struct of zeros; the nodes' memory
 * is used again, and sa_json_clear frees it. */
SA_API sa_status sa_json_parse(sa_json *json, const char *text, size_t size);
SA_API void sa_json_clear(sa_json *json);
/* SA_FORMAT with the key and its column where an object has a key twice, however it is written: readers
 * would not agree on what it means. */
SA_API sa_status sa_json_check_keys(const sa_json *json);

/* Is it this string? */
SA_API bool sa_json_equals(const sa_json *json, size_t at, const char *text);
/* The value of a key of an object; 0, which is never a value inside, when it is not there, or `object` is
 * none. The first of several. */
SA_API size_t sa_json_find(const sa_json *json, size_t object, const char *key);
/* Elements of an array, or pairs of an object; else 0. */
SA_API size_t sa_json_count(const sa_json *json, size_t at);
/* A number as a double, right to the last bit; infinite when it is too large for one. */
SA_API double sa_json_number(const sa_json *json, size_t at);
/* A string without its escapes, at `to`, which has room for the node's size; no 0 is put behind it. Returns
 * its length. */
SA_API size_t sa_json_unescape(const sa_json *json, size_t at, char *to);
/* The node's text made fit for a sentence, strings in quotes. Returns `out`. */
enum { SA_PRINTABLE = 104 };
SA_API char *sa_json_printable(const sa_json *json, size_t at, char out[SA_PRINTABLE]);
/* "a number", "a text"... */
SA_API const char *sa_json_kind_name(const sa_json *json, size_t at);

/* The same bytes for the same JSON, whatever the order of keys, the blanks, the escapes and the way in which
 * numbers are written: SHA-256 of
 *
 *   object  o, pairs as 8 bytes, and for each pair by increasing key: k, size as 8 bytes, the key, the value
 *   array   a, elements as 8 bytes, the elements          string  s, size as 8 bytes, its UTF-8
 *   number  n, 8 bytes of the double (0 for -0)           true t, false f, null z
 *
 * with the lowest byte first. SA_FORMAT as sa_json_check_keys. */
SA_API sa_status sa_json_digest(const sa_json *json, uint8_t digest[32]);

/* ---- writing ---- */

/* Text that grows. Begin with a struct of zeros; sa_buffer_clear frees it. */
typedef struct sa_buffer {
    char *text; /* ended by 0 once something was added */
    size_t size, capacity;
    /* of the first addition that failed; later ones do nothing, so one check at the end is enough */
    sa_status status;
} sa_buffer;

SA_API void sa_buffer_clear(sa_buffer *buffer);
/* A capacity of so many bytes, and no more, where it is less now; one of them is for the 0 at the end. */
SA_API void sa_buffer_reserve(sa_buffer *buffer, size_t capacity);
SA_API void sa_buffer_bytes(sa_buffer *buffer, const void *bytes, size_t size);
SA_API void sa_buffer_text(sa_buffer *buffer, const char *text);
SA_API void sa_buffer_format(sa_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* In double quotes, escaped as JSON has it, which YAML reads too; what is not UTF-8 becomes U+FFFD. */
SA_API void sa_buffer_quote(sa_buffer *buffer, const char *text);
/* A number with so many digits (0: as many as it takes to read back the same), whatever the locale; null when
 * not finite. */
SA_API void sa_buffer_number(sa_buffer *buffer, double number, int digits);
SA_API void sa_buffer_numbers(sa_buffer *buffer, const double *numbers, size_t count, int digits); /* [1,2] */
/* A value of parsed JSON, or a key, as it stands in its text, without blanks between: in one line. */
SA_API void sa_buffer_value(sa_buffer *buffer, const sa_json *json, size_t at);

#ifdef __cplusplus
}
#endif

#endif
