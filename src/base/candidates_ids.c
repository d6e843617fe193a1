/* Ids of items, each once, and the item that an id names. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/candidates.h"
#include "base/hash.h"
#include "base/memory.h"

void sa_ids_clear(sa_ids *ids) {
    sa_free(ids->names);
    sa_free(ids->texts);
    sa_free(ids->table);
    *ids = (sa_ids){0};
}

/* The place of a name: that of the same one, or an empty one. */
static uint32_t *place_of(const sa_ids *ids, const char *name, size_t size) {
    size_t mask = ids->table_size - 1;
    for (size_t i = sa_hash_end(sa_hash_bytes(SA_HASH_BEGIN, name, size)) & mask;; i = (i + 1) & mask) {
        if (!ids->table[i]) return &ids->table[i];
        const char *there = ids->names[ids->table[i] - 1];
        if (!strncmp(there, name, size) && !there[size]) return &ids->table[i];
    }
}

size_t sa_ids_find(const sa_ids *ids, const char *name, size_t size) {
    uint32_t place = ids->named && ids->table_size ? *place_of(ids, name, size) : 0;
    return place ? place - 1 : SIZE_MAX;
}

static sa_status begin(sa_ids *ids, size_t count, size_t bytes) {
    size_t size = 8;
    while (size < 2 * count) size *= 2;
    SA_TRY(sa_grow_array(&ids->names, &ids->names_room, count, sizeof *ids->names));
    SA_TRY(sa_grow_array(&ids->texts, &ids->texts_room, bytes,
                         1)); /* ids are together shorter than what they stand in */
    SA_TRY(sa_grow_array(&ids->table, &ids->table_room, size, sizeof *ids->table));
    memset(ids->table, 0, size * sizeof *ids->table);
    ids->table_size = size;
    ids->count = count;
    ids->named = false;
    return SA_OK;
}

static sa_status take_id(sa_ids *ids, const sa_json *json, size_t at, size_t index, size_t *used) {
    const sa_json_node *node = &json->nodes[at];
    char *name = ids->texts + *used, shown[SA_PRINTABLE];
    size_t size = node->kind == SA_JSON_STRING ? sa_json_unescape(json, at, name) : 0;
    if (size == 0 || size > SA_LONGEST_ID)
        return sa_fail(SA_FORMAT, "items[%zu].id is %s, and a text of 1 to %d bytes is wanted", index,
                       sa_json_printable(json, at, shown), SA_LONGEST_ID);
    name[size] = 0;
    uint32_t *place = place_of(ids, name, size);
    if (*place)
        return sa_fail(SA_FORMAT, "items[%u] and items[%zu] have the same id, %s", *place - 1, index,
                       sa_printable(name, shown));
    ids->names[index] = name;
    *place = (uint32_t)index + 1;
    *used += size + 1;
    return SA_OK;
}

sa_status sa_ids_take(sa_ids *ids, const sa_json *json, size_t items) {
    const sa_json_node *nodes = json->nodes;
    char shown[SA_PRINTABLE];
    if (nodes[items].kind != SA_JSON_ARRAY)
        return sa_fail(SA_FORMAT, "items is %s, and a list of objects is wanted",
                       sa_json_printable(json, items, shown));
    SA_TRY(begin(ids, sa_json_count(json, items), nodes[items].size));
    size_t index = 0, named = 0, used = 0;
    for (size_t at = items + 1; at < nodes[items].next; at = nodes[at].next, index++) {
        if (nodes[at].kind != SA_JSON_OBJECT)
            return sa_fail(SA_FORMAT, "items[%zu] is %s, and an object is wanted", index,
                           sa_json_printable(json, at, shown));
        size_t id = sa_json_find(json, at, "id");
        named += id > 0;
        if (named != (id ? index + 1 : 0))
            return sa_fail(SA_FORMAT, "items[%zu] has %s, and others have %s: all have one, or none", index,
                           id ? "an id" : "no id", id ? "none" : "one");
        if (id) SA_TRY(take_id(ids, json, id, index, &used));
    }
    ids->named = named > 0;
    return SA_OK;
}

sa_status sa_ids_borrow(sa_ids *ids, const char *const *names, size_t count, bool find) {
    SA_TRY(begin(ids, find ? count : 0, 1));
    SA_TRY(sa_grow_array(&ids->names, &ids->names_room, count, sizeof *ids->names));
    if (!find) ids->table_size = 0;
    memcpy(ids->names, names, count * sizeof *names);
    for (size_t i = 0; find && i < count; i++) *place_of(ids, names[i], strlen(names[i])) = (uint32_t)i + 1;
    ids->count = count;
    ids->named = true;
    return SA_OK;
}

/* By text, without its escapes. */
static size_t find_node(const sa_ids *ids, const sa_json *json, size_t at) {
    char plain[6 * SA_LONGEST_ID]; /* no escape is longer than six times what it stands for */
    const sa_json_node *node = &json->nodes[at];
    if (!node->escaped) return sa_ids_find(ids, json->text + node->start, node->size);
    return node->size <= sizeof plain ? sa_ids_find(ids, plain, sa_json_unescape(json, at, plain)) : SIZE_MAX;
}

sa_status sa_ids_arm(const sa_ids *ids, size_t count, const sa_json *json, size_t at, const char *path,
                     size_t index, size_t *arm) {
    const sa_json_node *node = &json->nodes[at];
    if (ids && ids->named) {
        if (node->kind != SA_JSON_STRING)
            return sa_json_wrong(json, at, path, index, SIZE_MAX, "the id of an item is wanted");
        *arm = find_node(ids, json, at);
        return *arm < SIZE_MAX ? SA_OK
                               : sa_json_wrong(json, at, path, index, SIZE_MAX, "no item has this id");
    }
    double number = node->kind == SA_JSON_NUMBER ? sa_json_number(json, at) : -1;
    if (!(number >= 0 && number == floor(number)))
        return sa_json_wrong(json, at, path, index, SIZE_MAX, "a whole number from 0 is wanted");
    if (!(number < (double)count)) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "there are %zu candidates, counted from 0", count);
        return sa_json_wrong(json, at, path, index, SIZE_MAX, wanted);
    }
    *arm = (size_t)number;
    return SA_OK;
}
