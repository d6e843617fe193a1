/* YAML specs: a mapping of option names to values, and `agents:`, a mapping of labels to mappings. libyaml's events are
 * turned into calls; without libyaml the call is SA_UNSUPPORTED with a sentence. */
#ifndef SA_BASE_YAML_H
#define SA_BASE_YAML_H

#include <stddef.h>

#include "base/status.h"

/* `label` is NULL for a key of the top mapping, and the agent's label inside `agents:`. A sequence of scalars comes as
 * one value joined by commas. A status other than SA_OK ends the reading, with "path:line: " put before the sentence. */
typedef sa_status sa_yaml_pair(void *user, const char *label, const char *key, const char *value);

sa_status sa_yaml_parse(const char *text, size_t size, const char *name, sa_yaml_pair *pair, void *user);

#endif
