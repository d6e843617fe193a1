/* JSON that came from outside: read with bounds, and each thing that is wrong with it is a sentence. */
#ifndef SERVE_VALUES_H
#define SERVE_VALUES_H

#include <stdint.h>
#include <superarm/json.h>

#include "hex.h"
#include "refusal.h"

/* An object, whose keys differ; `digest`, where it is not NULL, is the same for the same JSON, whatever the
 * order of fields, the blanks and the way numbers are written. Caller sa_json_clears, also where it fails.
 * false with 400. */
bool sv_value_parse(sa_json *json, const char *bytes, size_t size, uint8_t *digest, sv_refusal *why);
/* Every field of an object is one of the names, which end with NULL; `what` is "decide", for the sentence. */
bool sv_value_fields(const sa_json *json, size_t object, const char *what, const char *const *names,
                     sv_refusal *why);

static inline bool sv_value_is(const sa_json *json, size_t at, sa_json_kind kind) {
    return json->nodes[at].kind == kind;
}
/* true or false; `name` for the sentence, here and below. */
bool sv_value_flag(const sa_json *json, size_t at, const char *name, bool *out, sv_refusal *why);
/* A finite number; a whole number of at least `least` and at most `most`; a string of 1 to LIMIT_ID bytes,
 * for which `out` has one more. */
bool sv_value_number(const sa_json *json, size_t at, const char *name, double *out, sv_refusal *why);
bool sv_value_whole(const sa_json *json, size_t at, const char *name, double least, double most, size_t *out,
                    sv_refusal *why);
bool sv_value_id(const sa_json *json, size_t at, const char *name, char *out, sv_refusal *why);
/* A text, number, true or false as the text that tells it apart from others; false for other kinds. */
bool sv_value_text(const sa_json *json, size_t at, sa_buffer *out);

#endif
