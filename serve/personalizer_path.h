/* Personalizer's paths, and its words for what is wrong. */
#ifndef SERVE_PERSONALIZER_PATH_H
#define SERVE_PERSONALIZER_PATH_H

#include <stdbool.h>

#include "bounds.h"

/* The agent of paths that name none. */
extern const char SV_PERSONALIZER_OWN[];
/* Of a route's pattern and a path, both put behind "/personalizer/VERSION"; the name is the agent's. false:
 * it is none of Personalizer's. */
bool sv_personalizer_prefix(const char **pattern, const char **path, char name[LIMIT_NAME + 1]);
/* Its code of an error of a route, by pattern and name; NULL: it is none of Personalizer's. */
const char *sv_personalizer_code(const char *pattern, const char *route, int status);

#endif
