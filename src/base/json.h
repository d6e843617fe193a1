/* JSON as the rest of the library sees it: the public reader, and its texts as spans. */
#ifndef SA_BASE_JSON_H
#define SA_BASE_JSON_H

#include <superarm/json.h>

#include "base/span.h"
#include "base/status.h"

#define SA_JSON_LONGEST ((size_t)1 << 30)

sa_span sa_json_span(const sa_json *json, size_t at);

#endif
