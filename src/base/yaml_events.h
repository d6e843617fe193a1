/* The events of a YAML text, one after the other, as libyaml finds them. */
#ifndef SA_BASE_YAML_EVENTS_H
#define SA_BASE_YAML_EVENTS_H

#include <stddef.h>
#include <yaml.h>

#include "base/status.h"

typedef sa_status sa_yaml_event_call(void *user, const yaml_event_t *event);

/* Calls `call` with each, up to the first that fails. `name` is for sentences: SA_INVALID names it and the
 * line that is no YAML. */
sa_status sa_yaml_events(const char *text, size_t size, const char *name, sa_yaml_event_call *call,
                         void *user);

#endif
