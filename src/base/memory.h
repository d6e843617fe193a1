/* Checked allocation: the only place where sizes are multiplied. All blocks are aligned to 64 bytes (a cache line, and
 * the widest vector register) and freed with sa_free. */
#ifndef SA_BASE_MEMORY_H
#define SA_BASE_MEMORY_H

#include <stddef.h>

#include "base/status.h"

/* SA_OUT_OF_MEMORY when so many elements are more than the machine has: for things made of many arrays, asked before the first
 * of them is touched. */
sa_status sa_memory_check(size_t count, size_t size);
/* Bytes that can be had without taking from others, as the system sees it; 0 when it does not say. */
size_t sa_memory_available(void);
/* A zeroed array; SA_OUT_OF_MEMORY, with the size in the sentence, when the product overflows or cannot be had. A count of
 * 0 gives a valid pointer. `*out` is set only on success. */
sa_status sa_alloc_array(size_t count, size_t size, void *out);
/* The same for a (rows, columns) array. */
sa_status sa_alloc_matrix(size_t rows, size_t columns, size_t size, void *out);
/* Makes `*array` hold at least `needed` elements; `*capacity` grows by half, so that appending is cheap in the mean. The first
 * `*capacity` elements stay, new ones are zero. On failure nothing changes. */
sa_status sa_grow_array(void *array, size_t *capacity, size_t needed, size_t size);
/* NULL is fine. */
void sa_free(void *block);
/* A copy of the text, freed with sa_free; NULL text gives NULL. */
sa_status sa_copy_text(const char *text, char **out);

#endif
