/* Checksums of rows, as functions of SQL: every table has a column `sum`.
 *
 * A step is h <- rotate(h xor word) * odd: for a given word it maps different h to different h, and for a
 * given h different words to different h. So two rows that differ in one word of 8 bytes, as by a flipped
 * bit, never have the same sum before its two highest bits are cut off; with them cut off, one in 2^62
 * has. */
#include <string.h>

#include "store_sqlite.h"

static uint64_t step(uint64_t h, uint64_t word) {
    h ^= word;
    return (h << 29 | h >> 35) * UINT64_C(0x9E3779B97F4A7C15);
}

static uint64_t add_bytes(uint64_t h, const unsigned char *bytes, size_t size) {
    h = step(h, size);
    for (; size >= 8; bytes += 8, size -= 8) {
        uint64_t word = 0;
        for (int i = 0; i < 8; i++) word |= (uint64_t)bytes[i] << 8 * i;
        h = step(h, word);
    }
    uint64_t rest = 0;
    for (size_t i = 0; i < size; i++) rest |= (uint64_t)bytes[i] << 8 * i;
    return step(h, rest);
}

static uint64_t add_value(uint64_t h, sqlite3_value *value) {
    int type = sqlite3_value_type(value);
    h = step(h, (uint64_t)type);
    if (type == SQLITE_NULL) return h;
    if (type == SQLITE_INTEGER) return step(h, (uint64_t)sqlite3_value_int64(value));
    const unsigned char *bytes =
        type == SQLITE_BLOB ? sqlite3_value_blob(value) : sqlite3_value_text(value); /* 17 digits of a real */
    return add_bytes(h, bytes, bytes ? (size_t)sqlite3_value_bytes(value) : 0);
}

static uint64_t mix(uint64_t h) {
    h ^= h >> 32;
    h *= UINT64_C(0xD6E8FEB86659FD93);
    return h ^ h >> 32;
}

/* Bit 62 is always set: each sum then takes the same room, and a row that changes is overwritten in place. */
static int64_t cut(uint64_t h) { return (int64_t)((h & ((UINT64_C(1) << 62) - 1)) | UINT64_C(1) << 62); }

static uint64_t sum_of(int count, sqlite3_value **values) {
    uint64_t h = UINT64_C(0x5341523153415231);
    for (int i = 0; i < count; i++) h = add_value(h, values[i]);
    return mix(h);
}

/* row_sum(column, ...) */
static void row_sum(sqlite3_context *context, int count, sqlite3_value **values) {
    sqlite3_result_int64(context, cut(sum_of(count, values)));
}

/* moved_sum(sum, state, seq, new state, new seq): the sum of a row with the first two in it becomes that with
 * the others, without the rest of the row. */
static void moved_sum(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    uint64_t before = (uint64_t)sqlite3_value_int64(values[0]);
    sqlite3_result_int64(context, cut(before ^ sum_of(2, values + 1) ^ sum_of(2, values + 3)));
}

int sv_sqlite_add_sums(sqlite3 *database) {
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    int result = sqlite3_create_function(database, "row_sum", -1, flags, NULL, row_sum, NULL, NULL);
    if (result != SQLITE_OK) return result;
    return sqlite3_create_function(database, "moved_sum", 5, flags, NULL, moved_sum, NULL, NULL);
}
