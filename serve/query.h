/* What stands behind the ? of a path. */
#ifndef SERVE_QUERY_H
#define SERVE_QUERY_H

#include "refusal.h"

/* A parameter that is a whole number; `*out` stays where it is not given. query NULL: there is none. */
bool sv_query_whole(const char *query, const char *name, uint64_t *out, sv_refusal *why);

#endif
