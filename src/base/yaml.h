/* YAML specs: a mapping of option names to values; `agents:`, a mapping of labels to mappings; and `grid:`, a
 * mapping of option names to lists of values. libyaml's events are turned into calls; without libyaml the
 * call is SA_UNSUPPORTED with a sentence. */
#ifndef SA_BASE_YAML_H
#define SA_BASE_YAML_H

#include <stddef.h>

#include "base/status.h"

/* `label` is NULL for a key of the top mapping, the agent's label inside `agents:`, and sa_yaml_grid itself
 * inside `grid:`. A sequence of scalars comes as one value joined by commas; inside `grid:` each item is a
 * call. A status other than SA_OK ends the reading, with "path:line: " put before the sentence. */
typedef sa_status sa_yaml_pair(void *user, const char *label, const char *key, const char *value);

extern const char sa_yaml_grid[];

sa_status sa_yaml_parse(const char *text, size_t size, const char *name, sa_yaml_pair *pair, void *user);

#endif
