#define _DEFAULT_SOURCE /* madvise */
#include "base/memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/machine.h"

enum {
    ALIGNMENT = 64,
    LARGE_PAGE = 1 << 21,
    REGION = 4 * LARGE_PAGE,
    LEAST_IN_REGION = 1 << 17, /* smaller blocks are of things that the tables of pages have room for */
    MOST_IN_REGION = REGION / 4,
};

/* The line before each block. */
typedef struct head {
    atomic_size_t holders;
    size_t bytes;
    sa_account *account; /* NULL: charged to none */
    sa_region *region;   /* NULL: allocated alone */
} head;

_Static_assert(sizeof(head) <= ALIGNMENT, "a block's head is one line");

static head *head_of(const void *block) { return (head *)(void *)((char *)(uintptr_t)block - ALIGNMENT); }

/* ---- accounts ---- */

struct sa_account {
    atomic_size_t bytes;
    atomic_size_t holders; /* its blocks, and whoever opened it */
};

_Static_assert(sizeof(sa_account) <= ALIGNMENT, "an account is one line");

static _Thread_local sa_account *charged;

sa_account *sa_account_open(void) {
    sa_account *account = aligned_alloc(ALIGNMENT, ALIGNMENT); /* a line of its own, as threads share it */
    if (!account) return NULL;
    atomic_init(&account->bytes, 0);
    atomic_init(&account->holders, 1);
    return account;
}

static void account_release(sa_account *account) {
    if (atomic_fetch_sub_explicit(&account->holders, 1, memory_order_acq_rel) == 1) free(account);
}

void sa_account_close(sa_account *account) {
    if (account) account_release(account);
}

size_t sa_account_bytes(const sa_account *account) {
    return atomic_load_explicit(&account->bytes, memory_order_relaxed);
}

sa_account *sa_account_charge(sa_account *account) {
    sa_account *before = charged;
    charged = account;
    return before;
}

/* ---- blocks ---- */

static sa_status too_large(size_t count, size_t size) {
    return sa_fail(SA_OUT_OF_MEMORY, "no memory for %zu elements of %zu bytes", count, size);
}

/* The system may promise more than the machine has, and end the process when it is used. */
sa_status sa_memory_check(size_t count, size_t size) {
    const size_t worth_asking = (size_t)1 << 28;
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX - ALIGNMENT)
        return too_large(count, size);
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

/* The size of a block with its head: a multiple of the alignment as C17 asks, and at least two lines. */
static size_t size_with_head(size_t bytes) { return ALIGNMENT + (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT; }

/* A block of that many bytes in memory of size_with_head. */
static void begin_block(char *line, size_t bytes, sa_region *region, void *out) {
    void *block = line + ALIGNMENT;
    head *first = head_of(block);
    *first = (head){.bytes = bytes, .account = charged, .region = region};
    atomic_init(&first->holders, 1);
    if (charged) {
        atomic_fetch_add_explicit(&charged->holders, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&charged->bytes, bytes, memory_order_relaxed);
    }
    memset(block, 0, size_with_head(bytes) - ALIGNMENT);
    memcpy(out, &block, sizeof block);
}

sa_status sa_alloc_array(size_t count, size_t size, void *out) {
    SA_TRY(sa_memory_check(count, size));
    size_t bytes = count * size; /* checked */
    char *line = aligned_alloc(ALIGNMENT, size_with_head(bytes));
    if (!line) return too_large(count, size);
    begin_block(line, bytes, NULL, out);
    return SA_OK;
}

sa_status sa_alloc_matrix(size_t rows, size_t columns, size_t size, void *out) {
    size_t count;
    if (__builtin_mul_overflow(rows, columns, &count))
        return sa_fail(SA_OUT_OF_MEMORY, "no memory for %zu x %zu elements of %zu bytes", rows, columns,
                       size);
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

/* ---- regions ---- */

struct sa_region {
    atomic_size_t holders; /* its blocks, and whoever allocates in it */
    atomic_size_t used;    /* bytes from its start on, this struct among them; more than REGION: it is full */
};

_Static_assert(sizeof(sa_region) <= ALIGNMENT, "a region begins with one line");

static sa_region *open_region(void) {
    sa_region *region = aligned_alloc(LARGE_PAGE, REGION);
    if (!region) return NULL;
#ifdef MADV_HUGEPAGE
    madvise(region, REGION, MADV_HUGEPAGE); /* a wish: small pages do, too */
#endif
    atomic_init(&region->holders, 1);
    atomic_init(&region->used, ALIGNMENT);
    return region;
}

sa_region *sa_region_hold(sa_region *region) {
    if (region) atomic_fetch_add_explicit(&region->holders, 1, memory_order_relaxed);
    return region;
}

void sa_region_release(sa_region *region) {
    if (region && atomic_fetch_sub_explicit(&region->holders, 1, memory_order_acq_rel) == 1) free(region);
}

/* The next bytes of the region; NULL when it is full. */
static char *take(sa_region *region, size_t bytes) {
    if (!region) return NULL;
    size_t start = atomic_fetch_add_explicit(&region->used, bytes, memory_order_relaxed);
    return start + bytes <= REGION ? (char *)region + start : NULL;
}

sa_status sa_alloc_in_region(sa_region **region, size_t count, size_t size, void *out) {
    SA_TRY(sa_memory_check(count, size));
    size_t bytes = count * size; /* checked */
    if (bytes < LEAST_IN_REGION || bytes > MOST_IN_REGION) return sa_alloc_array(count, size, out);
    char *line = take(*region, size_with_head(bytes));
    if (!line) {
        sa_region *next = open_region();
        if (!next) return sa_alloc_array(count, size, out);
        sa_region_release(*region);
        *region = next;
        line = take(next, size_with_head(bytes));
    }
    begin_block(line, bytes, sa_region_hold(*region), out);
    return SA_OK;
}

/* ---- freeing and holding ---- */

static void free_block(head *first) {
    if (first->account) {
        atomic_fetch_sub_explicit(&first->account->bytes, first->bytes, memory_order_relaxed);
        account_release(first->account);
    }
    if (first->region)
        sa_region_release(first->region);
    else
        free(first);
}

void sa_free(void *block) {
    if (!block) return;
    head *first = head_of(block);
    if (atomic_fetch_sub_explicit(&first->holders, 1, memory_order_acq_rel) == 1) free_block(first);
}

void *sa_hold(void *block) {
    if (block) atomic_fetch_add_explicit(&head_of(block)->holders, 1, memory_order_relaxed);
    return block;
}

bool sa_is_shared(const void *block) {
    return atomic_load_explicit(&head_of(block)->holders, memory_order_acquire) > 1;
}

bool sa_is_last(void *block) {
    head *first = head_of(block);
    if (atomic_fetch_sub_explicit(&first->holders, 1, memory_order_acq_rel) > 1) return false;
    atomic_store_explicit(&first->holders, 1, memory_order_relaxed); /* for the sa_free that follows */
    return true;
}

sa_status sa_unshare(void *array) {
    void *block, *copy;
    memcpy(&block, array, sizeof block);
    if (!block || !sa_is_shared(block)) return SA_OK;
    SA_TRY(sa_alloc_array(head_of(block)->bytes, 1, &copy));
    memcpy(copy, block, head_of(block)->bytes);
    sa_free(block);
    memcpy(array, &copy, sizeof copy);
    return SA_OK;
}

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
