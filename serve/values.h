/* JSON that came from outside: read with bounds, and each thing that is wrong with it is a sentence. */
#ifndef SERVE_VALUES_H
#define SERVE_VALUES_H

#include <jansson.h>
#include <stdint.h>

#include "hex.h"
#include "refusal.h"

/* An object; caller json_decrefs. NULL with 400. */
json_t *sv_value_parse(const char *bytes, size_t size, sv_refusal *why);
/* Every field is one of the names, which end with NULL; `what` is "decide", for the sentence. */
bool sv_value_fields(const json_t *object, const char *what, const char *const *names, sv_refusal *why);
/* The same for the same JSON, whatever the order of fields, the blanks and the way numbers are written. */
void sv_value_hash(const json_t *value, uint8_t digest[SA_SHA256_BYTES]);
/* A finite number; a whole number of at least `least` and at most `most`; a string of 1 to LIMIT_ID bytes.
 * `name` for the sentence. */
bool sv_value_number(const json_t *value, const char *name, double *out, sv_refusal *why);
bool sv_value_whole(const json_t *value, const char *name, double least, double most, size_t *out,
                    sv_refusal *why);
bool sv_value_id(const json_t *value, const char *name, const char **out, sv_refusal *why);

#endif
