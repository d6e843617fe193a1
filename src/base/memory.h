/* Checked allocation: the only place where sizes are multiplied. All blocks are aligned to 64 bytes (a cache
 * line, and the widest vector register) and freed with sa_free.
 *
 * A block has a number of holders. Whoever wants to go on reading a block that its owner may free or rewrite
 * holds it (sa_hold); sa_free then gives up one hold, and the last one frees the memory. An owner that
 * rewrites a block which others hold makes a copy first (sa_unshare). Only the owner's thread may hold or own
 * a block; any thread may free. */
#ifndef SA_BASE_MEMORY_H
#define SA_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* SA_OUT_OF_MEMORY when so many elements are more than the machine has: for things made of many arrays, asked
 * before the first of them is touched. */
sa_status sa_memory_check(size_t count, size_t size);
/* Bytes that can be had without taking from others, as the system sees it; 0 when it does not say. */
size_t sa_memory_available(void);
/* A zeroed array; SA_OUT_OF_MEMORY, with the size in the sentence, when the product overflows or cannot be
 * had. A count of 0 gives a valid pointer. `*out` is set only on success. */
sa_status sa_alloc_array(size_t count, size_t size, void *out);
/* The same for a (rows, columns) array. */
sa_status sa_alloc_matrix(size_t rows, size_t columns, size_t size, void *out);
/* Makes `*array` hold at least `needed` elements; `*capacity` grows by half, so that appending is cheap in
 * the mean. The first `*capacity` elements stay, new ones are zero. On failure nothing changes. */
sa_status sa_grow_array(void *array, size_t *capacity, size_t needed, size_t size);
/* NULL is fine. */
void sa_free(void *block);
/* A copy of the text, freed with sa_free; NULL text gives NULL. */
sa_status sa_copy_text(const char *text, char **out);

/* ---- blocks with several holders ---- */

/* One more holder, who gives it up with sa_free or sa_is_last. NULL is fine. Returns the block. */
void *sa_hold(void *block);
/* Does anybody else hold it? */
bool sa_is_shared(const void *block);
/* Gives up one hold of a block that holds others: true for the last holder, who then frees those and, with
 * sa_free, the block. */
bool sa_is_last(void *block);
/* `*array` becomes a copy that nobody else holds, where others do. */
sa_status sa_unshare(void *array);

/* ---- blocks side by side ---- */

/* A region is memory in pages of 2 MiB, where the system has them: what is read from end to end again and
 * again, and is far larger than the caches, else waits for the tables of its many small pages as well. */
typedef struct sa_region sa_region;

/* sa_alloc_array in `*region` (NULL: none yet), or in a new one, which takes its place when that is full.
 * Blocks too small or too large for it are allocated alone. */
sa_status sa_alloc_in_region(sa_region **region, size_t count, size_t size, void *out);
/* One more holder, in this thread or another; returns the region. NULL is fine. */
sa_region *sa_region_hold(sa_region *region);
/* Gives up one hold; its memory lasts until its last block is freed. NULL is fine. */
void sa_region_release(sa_region *region);

/* ---- accounts: bytes that belong together ---- */

typedef struct sa_account sa_account;

/* NULL when memory is short. It lasts until it is closed and the last block that was charged to it is
 * freed. */
sa_account *sa_account_open(void);
void sa_account_close(sa_account *account); /* NULL is fine */
size_t sa_account_bytes(const sa_account *account);
/* This thread's allocations are charged to the account (NULL: to none) until the next call. Returns the
 * account before. */
sa_account *sa_account_charge(sa_account *account);

#endif
