#include "base/workspace.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"

enum { LINE = 64 };

sa_status sa_workspace_lay(sa_workspace *workspace, const sa_part *parts, size_t count) {
    size_t bytes = 0, each;
    for (size_t i = 0; i < count; i++) {
        SA_TRY(sa_memory_check(parts[i].count, parts[i].size));
        each = (parts[i].count * parts[i].size + LINE - 1) / LINE * LINE; /* checked */
        if (__builtin_add_overflow(bytes, each, &bytes)) return sa_memory_check(SIZE_MAX, LINE);
    }
    if (bytes > workspace->capacity || !workspace->block) {
        char *block;
        size_t larger = bytes + bytes / 4;
        SA_TRY(sa_alloc_array(larger, 1, &block));
        if (workspace->block) memcpy(block, workspace->block, workspace->capacity);
        sa_free(workspace->block);
        workspace->block = block;
        workspace->capacity = larger;
    }
    char *next = workspace->block;
    for (size_t i = 0; i < count; i++) {
        memcpy(parts[i].pointer, &next, sizeof next);
        next += (parts[i].count * parts[i].size + LINE - 1) / LINE * LINE;
    }
    return SA_OK;
}

void sa_workspace_clear(sa_workspace *workspace) {
    sa_free(workspace->block);
    *workspace = (sa_workspace){0};
}
