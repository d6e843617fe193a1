#include "model/partition_cells.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* ---- the table: open addressing with linear steps ---- */

void sa_cells_clear(sa_cells *cells) {
    sa_free(cells->key);
    sa_free(cells->seen);
    sa_free(cells->mean);
    sa_free(cells->split);
    sa_free(cells->slot);
    *cells = (sa_cells){.dim = cells->dim};
}

void sa_cells_share(sa_cells *cells, const sa_cells *from) {
    *cells = *from;
    sa_hold(cells->key);
    sa_hold(cells->seen);
    sa_hold(cells->mean);
    sa_hold(cells->split);
    sa_hold(cells->slot);
}

sa_status sa_cells_unshare(sa_cells *cells) {
    SA_TRY(sa_unshare(&cells->key));
    SA_TRY(sa_unshare(&cells->seen));
    SA_TRY(sa_unshare(&cells->mean));
    SA_TRY(sa_unshare(&cells->split));
    return sa_unshare(&cells->slot);
}

static size_t width(const sa_cells *cells) { return 1 + cells->dim; }
static const int32_t *key_of(const sa_cells *cells, size_t cell) { return cells->key + cell * width(cells); }

/* The finaliser of MurmurHash3, once a number. */
static uint64_t hash(const int32_t *key, size_t length) {
    uint64_t mixed = 0;
    for (size_t i = 0; i < length; i++) {
        mixed = (mixed ^ (uint32_t)key[i]) * UINT64_C(0xFF51AFD7ED558CCD);
        mixed = (mixed ^ mixed >> 33) * UINT64_C(0xC4CEB9FE1A85EC53);
        mixed ^= mixed >> 33;
    }
    return mixed;
}

/* The slot that holds the key, or the free one where it belongs. */
static size_t slot_of(const sa_cells *cells, const int32_t *key) {
    size_t at = (size_t)hash(key, width(cells)) & (cells->slots - 1);
    while (cells->slot[at] &&
           memcmp(key_of(cells, cells->slot[at] - 1), key, width(cells) * sizeof *key) != 0)
        at = (at + 1) & (cells->slots - 1);
    return at;
}

static sa_status grow_slots(sa_cells *cells, size_t capacity) {
    size_t slots = cells->slots ? cells->slots : 16, *slot;
    while (slots / 2 < capacity) slots *= 2;
    if (slots == cells->slots) return SA_OK;
    SA_TRY(sa_alloc_array(slots, sizeof *slot, &slot));
    sa_free(cells->slot);
    cells->slot = slot;
    cells->slots = slots;
    for (size_t i = 0; i < cells->count; i++) slot[slot_of(cells, key_of(cells, i))] = i + 1;
    return SA_OK;
}

sa_status sa_cells_reserve(sa_cells *cells, size_t more) {
    size_t needed = cells->count + more;
    if (needed <= cells->capacity) return SA_OK;
    size_t keys = cells->capacity, seen = keys, mean = keys, split = keys;
    SA_TRY(sa_grow_array(&cells->key, &keys, needed, width(cells) * sizeof *cells->key));
    SA_TRY(sa_grow_array(&cells->seen, &seen, needed, sizeof *cells->seen));
    SA_TRY(sa_grow_array(&cells->mean, &mean, needed, sizeof *cells->mean));
    SA_TRY(sa_grow_array(&cells->split, &split, needed, sizeof *cells->split));
    SA_TRY(grow_slots(cells, keys));
    cells->capacity = keys;
    return SA_OK;
}

size_t sa_cells_find(const sa_cells *cells, const int32_t *key) {
    if (cells->count == 0) return SA_NO_CELL;
    size_t found = cells->slot[slot_of(cells, key)];
    return found ? found - 1 : SA_NO_CELL;
}

size_t sa_cells_take(sa_cells *cells, const int32_t *key) {
    size_t at = slot_of(cells, key);
    if (cells->slot[at]) return cells->slot[at] - 1;
    size_t cell = cells->count++;
    memcpy(cells->key + cell * width(cells), key, width(cells) * sizeof *key);
    cells->slot[at] = cell + 1;
    return cell;
}

/* The mean as a weighted mean of old and new, which cannot overflow. */
void sa_cells_observe(sa_cells *cells, size_t cell, double score) {
    double share = 1 / (double)++cells->seen[cell];
    cells->mean[cell] = cells->mean[cell] * (1 - share) + score * share;
}

bool sa_cells_undiscount(double score, double discount, double *out) {
    *out = score / discount;
    return isfinite(*out);
}

/* ---- files: the cells in their order; the table is made from them ---- */

sa_status sa_cells_save(const sa_cells *cells, sa_npz_writer *writer) {
    size_t shape[2] = {cells->count, width(cells)};
    SA_TRY(sa_npz_add(writer, "cell_key", SA_INT32, 2, shape, cells->key));
    SA_TRY(sa_npz_add(writer, "cell_seen", SA_INT64, 1, &cells->count, cells->seen));
    SA_TRY(sa_npz_add(writer, "cell_mean", SA_FLOAT64, 1, &cells->count, cells->mean));
    return sa_npz_add(writer, "cell_split", SA_UINT8, 1, &cells->count, cells->split);
}

/* Into a table that has room. Counts are far from overflow. */
static sa_status take_cells(sa_cells *cells, const sa_array *keys, const int64_t *seen, const double *mean,
                            const uint8_t *split, bool (*fits)(const void *user, const int32_t *key),
                            const void *user) {
    for (size_t i = 0; i < keys->shape[0]; i++) {
        const int32_t *key = (const int32_t *)keys->data + i * width(cells);
        if (seen[i] < 1 || seen[i] > INT64_MAX / 2 || !isfinite(mean[i]) || split[i] > 1 || !fits(user, key))
            return sa_fail(SA_FORMAT, "cell %zu of the partition makes no sense", i);
        if (sa_cells_take(cells, key) != i)
            return sa_fail(SA_FORMAT, "cell %zu of the partition is there twice", i);
        cells->seen[i] = seen[i];
        cells->mean[i] = mean[i];
        cells->split[i] = split[i];
    }
    return SA_OK;
}

sa_status sa_cells_load(sa_cells *cells, sa_npz *archive, bool (*fits)(const void *user, const int32_t *key),
                        const void *user) {
    sa_array key = {0}, seen = {0}, mean = {0}, split = {0};
    sa_status status;
    SA_TRY_OR_FAIL(sa_npz_get_exactly(archive, "cell_seen", SA_INT64, 0, NULL, &seen));
    size_t count = sa_array_count(&seen), shape[2] = {count, width(cells)};
    SA_TRY_OR_FAIL(sa_npz_get_exactly(archive, "cell_key", SA_INT32, 2, shape, &key));
    SA_TRY_OR_FAIL(sa_npz_get_exactly(archive, "cell_mean", SA_FLOAT64, 1, &count, &mean));
    SA_TRY_OR_FAIL(sa_npz_get_exactly(archive, "cell_split", SA_UINT8, 1, &count, &split));
    SA_TRY_OR_FAIL(sa_cells_reserve(cells, count));
    status = take_cells(cells, &key, seen.data, mean.data, split.data, fits, user);
fail:
    sa_array_clear(&key);
    sa_array_clear(&seen);
    sa_array_clear(&mean);
    sa_array_clear(&split);
    return status;
}

/* ---- the cube ---- */

int32_t sa_cube_part(double feature, int32_t parts) {
    double place = (feature + 1) / 2 * parts;
    if (!(place >= 1)) return 0;
    return place < parts ? (int32_t)place : parts - 1;
}
