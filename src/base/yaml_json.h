/* YAML as JSON text, for small files of any shape: mappings become objects, sequences lists, and every scalar
 * a text. Anchors, aliases, tags and second documents are refused, with "name:line: ". Without libyaml the
 * call is SA_UNSUPPORTED. */
#ifndef SA_BASE_YAML_JSON_H
#define SA_BASE_YAML_JSON_H

#include "base/buffer.h"

/* Adds the JSON to the buffer. */
sa_status sa_yaml_to_json(const char *text, size_t size, const char *name, sa_buffer *json);

#endif
