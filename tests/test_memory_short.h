/* Memory that is short when a test says so. Linked with --wrap for the allocators, so that the library's
 * calls come here; those inside shared libraries do not. */
#ifndef TEST_MEMORY_SHORT_H
#define TEST_MEMORY_SHORT_H

#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);
void __wrap_free(void *block);

static size_t allocations, fail_at; /* fail_at 0: none fails */
static long live;                   /* blocks */

static bool must_fail(void) { return ++allocations == fail_at; }

static void *counted(void *block) {
    live += block != NULL;
    return block;
}

void *__wrap_malloc(size_t size) { return must_fail() ? NULL : counted(__real_malloc(size)); }
void *__wrap_calloc(size_t count, size_t size) {
    return must_fail() ? NULL : counted(__real_calloc(count, size));
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return must_fail() ? NULL : counted(__real_aligned_alloc(alignment, size));
}
void *__wrap_realloc(void *block, size_t size) {
    if (must_fail()) return NULL;
    void *fresh = __real_realloc(block, size);
    if (!block) counted(fresh);
    return fresh;
}
int __wrap_posix_memalign(void **out, size_t alignment, size_t size) {
    if (must_fail()) return 12;
    int code = __real_posix_memalign(out, alignment, size);
    live += code == 0;
    return code;
}
void __wrap_free(void *block) {
    live -= block != NULL;
    __real_free(block);
}

static void shortage(size_t n) {
    allocations = 0;
    fail_at = n;
}

/* Did the n-th allocation come up? Then memory is plentiful again. */
static bool was_short(void) {
    bool reached = fail_at && allocations >= fail_at;
    fail_at = 0;
    return reached;
}

#endif
