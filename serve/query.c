#include "query.h"

#include <stdlib.h>
#include <string.h>

bool sv_query_whole(const char *query, const char *name, uint64_t *out, sv_refusal *why) {
    size_t size = strlen(name);
    for (const char *at = query; at && *at; at = strchr(at, '&') ? strchr(at, '&') + 1 : NULL) {
        if (strncmp(at, name, size) || at[size] != '=') continue;
        char *end;
        if (at[size + 1] < '0' || at[size + 1] > '9')
            return sv_refuse(why, 400, "%s is no whole number", name);
        *out = strtoull(at + size + 1, &end, 10);
        if (*end && *end != '&') return sv_refuse(why, 400, "%s is no whole number", name);
        if (*out > (uint64_t)1 << 62) return sv_refuse(why, 400, "%s is too large", name);
    }
    return true;
}
