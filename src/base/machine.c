#define _GNU_SOURCE /* sched_getaffinity */
#include "base/machine.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

size_t sa_processors(void) {
#ifdef __linux__
    cpu_set_t set; /* of 1024; with more, the call fails */
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return (size_t)CPU_COUNT(&set);
#endif
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 0 ? (size_t)processors : 1;
}

/* The number in a file; SIZE_MAX when there is none, as in "max". */
static size_t read_limit(const char *root, const char *controller, const char *group, const char *name) {
    char path[3 * PATH_MAX];
    unsigned long long limit;
    snprintf(path, sizeof path, "%s%s%s/%s", root, controller, group, name);
    FILE *file = fopen(path, "r");
    if (!file) return SIZE_MAX;
    bool found = fscanf(file, "%llu", &limit) == 1 && limit < SIZE_MAX;
    fclose(file);
    return found ? (size_t)limit : SIZE_MAX;
}

/* From the group upwards. A container may see its own group as the root, whatever the path says. */
static size_t least_limit(const char *root, const char *controller, char *group, const char *name) {
    size_t least = SIZE_MAX;
    for (;;) {
        size_t limit = read_limit(root, controller, group, name);
        if (limit < least) least = limit;
        char *slash = strrchr(group, '/');
        if (!slash) return least;
        *slash = '\0';
    }
}

/* Lines "0::/a/b" of version 2 and "4:memory:/a/b" of version 1. */
size_t sa_cgroup_memory(const char *groups, const char *root) {
    char line[PATH_MAX];
    size_t least = SIZE_MAX;
    FILE *file = fopen(groups, "r");
    while (file && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group) continue;
        *controllers++ = *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        size_t limit = SIZE_MAX;
        if (!*controllers) limit = least_limit(root, "", group, "memory.max");
        if (!strcmp(controllers, "memory"))
            limit = least_limit(root, "/memory", group, "memory.limit_in_bytes");
        if (limit < least) least = limit;
    }
    if (file) fclose(file);
    return least;
}

size_t sa_machine_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    size_t bytes, limit = sa_cgroup_memory("/proc/self/cgroup", "/sys/fs/cgroup");
    if (pages <= 0 || page <= 0 || __builtin_mul_overflow((size_t)pages, (size_t)page, &bytes))
        bytes = SIZE_MAX;
    if (limit < bytes) bytes = limit;
    return bytes < SIZE_MAX ? bytes : 0;
}
