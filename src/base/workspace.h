/* Memory that grows with the first calls and is used again. */
#ifndef SA_BASE_WORKSPACE_H
#define SA_BASE_WORKSPACE_H

#include <stddef.h>

#include "base/status.h"

typedef struct sa_workspace {
    char *block;
    size_t capacity; /* bytes */
    /* a search that was cut short: the best reward is at most 1 + gap times the one found. Else 0 */
    double gap;
} sa_workspace;

typedef struct sa_part {
    void *pointer; /* address of the pointer to set */
    size_t count, size;
} sa_part;

/* Sets the pointers to arrays of so many elements, 64-byte aligned, one after the other; earlier pointers are
 * no longer valid. First parts of the same sizes as before keep their contents, others have any. Allocates
 * only when it has to grow. */
sa_status sa_workspace_lay(sa_workspace *workspace, const sa_part *parts, size_t count);
#define SA_LAY(workspace, ...)                                                                               \
    sa_workspace_lay(workspace, (const sa_part[]){__VA_ARGS__},                                              \
                     sizeof((const sa_part[]){__VA_ARGS__}) / sizeof(sa_part))
void sa_workspace_clear(sa_workspace *workspace);

#endif
