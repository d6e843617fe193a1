#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"

enum { ALIGNMENT = 64 };

static sa_status too_large(size_t count, size_t size) {
    return sa_fail(SA_OUT_OF_MEMORY, "no memory for %zu elements of %zu bytes", count, size);
}

/* The system may promise more than the machine has, and end the process when it is used. */
sa_status sa_memory_check(size_t count, size_t size) {
    const size_t worth_asking = (size_t)1 << 28;
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX - ALIGNMENT) return too_large(count, size);
    if (bytes < worth_asking) return SA_OK;
    size_t machine = sa_machine_memory();
    return machine > 0 && bytes >= machine ? too_large(count, size) : SA_OK;
}

size_t sa_memory_available(void) {
    char line[128];
    unsigned long long kilobytes = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1) break;
    if (file) fclose(file);
    size_t machine = sa_machine_memory(); /* which a control group may limit */
    bool known = kilobytes > 0 && kilobytes < SIZE_MAX / 1024;
    return known && (machine == 0 || kilobytes * 1024 < machine) ? (size_t)kilobytes * 1024 : machine;
}

sa_status sa_alloc_array(size_t count, size_t size, void *out) {
    SA_TRY(sa_memory_check(count, size));
    size_t bytes = count * size;                                  /* checked */
    size_t rounded = (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT; /* at least one line, a multiple as C17 asks */
    void *block = aligned_alloc(ALIGNMENT, rounded);
    if (!block) return too_large(count, size);
    memset(block, 0, rounded);
    memcpy(out, &block, sizeof block);
    return SA_OK;
}

sa_status sa_alloc_matrix(size_t rows, size_t columns, size_t size, void *out) {
    size_t count;
    if (__builtin_mul_overflow(rows, columns, &count))
        return sa_fail(SA_OUT_OF_MEMORY, "no memory for %zu x %zu elements of %zu bytes", rows, columns, size);
    return sa_alloc_array(count, size, out);
}

sa_status sa_grow_array(void *array, size_t *capacity, size_t needed, size_t size) {
    if (needed <= *capacity) return SA_OK;
    size_t larger = *capacity < 8 ? 8 : *capacity + *capacity / 2;
    if (larger < needed) larger = needed;
    void *old, *fresh = NULL;
    memcpy(&old, array, sizeof old);
    SA_TRY(sa_alloc_array(larger, size, &fresh));
    if (old) memcpy(fresh, old, *capacity * size);
    sa_free(old);
    memcpy(array, &fresh, sizeof fresh);
    *capacity = larger;
    return SA_OK;
}

void sa_free(void *block) { free(block); }

sa_status sa_copy_text(const char *text, char **out) {
    if (!text) {
        *out = NULL;
        return SA_OK;
    }
    char *copy = NULL;
    SA_TRY(sa_alloc_array(strlen(text) + 1, 1, &copy));
    strcpy(copy, text);
    *out = copy;
    return SA_OK;
}
