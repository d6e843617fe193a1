/* What could be chosen, of a request or a line of a log: "items" with their ids, or "contexts". */
#ifndef SA_BASE_CANDIDATES_H
#define SA_BASE_CANDIDATES_H

#include "base/json.h"

/* SA_FORMAT with "contexts[3][1] is "abc", and WANTED". `index` and `column`: SIZE_MAX where there is
 * none. */
sa_status sa_json_wrong(const sa_json *json, size_t at, const char *path, size_t index, size_t column,
                        const char *wanted);

/* Vectors; memory that is used again. */
typedef struct sa_contexts {
    double *numbers; /* (arms, dim) */
    size_t room, arms, dim;
} sa_contexts;

/* SA_FORMAT with a sentence unless `list` is a list of lists of finite numbers, all of one length that is not
 * 0; it may be empty. */
sa_status sa_contexts_take(sa_contexts *contexts, const sa_json *json, size_t list);
void sa_contexts_clear(sa_contexts *contexts);

/* ---- ids ---- */

enum { SA_LONGEST_ID = 256 };

/* The list "items", whose objects have an "id" each, or none; memory that is used again. */
typedef struct sa_ids {
    size_t count;       /* items */
    bool named;         /* they have ids */
    const char **names; /* (count) ended by 0; valid until the next list */
    size_t names_room;
    char *texts;
    size_t texts_room;
    uint32_t *table; /* by hash: 1 + index, 0 for an empty place; a power of two, at least twice the items */
    size_t table_size, table_room;
} sa_ids;

/* SA_FORMAT with a sentence unless `items` is a list of objects whose ids, texts of 1 to 256 bytes, all
 * differ or are not there. */
sa_status sa_ids_take(sa_ids *ids, const sa_json *json, size_t items);
/* Ids that differ, borrowed; `find`: they are going to be looked for, else none is found. */
sa_status sa_ids_borrow(sa_ids *ids, const char *const *names, size_t count, bool find);
/* The item of this name (a text of `size` bytes), or SIZE_MAX. */
size_t sa_ids_find(const sa_ids *ids, const char *name, size_t size);
/* The candidate, one of `count`, that a value names: an id where items have them, else an index from 0.
 * SA_FORMAT with "slate[2] is ..." otherwise. `ids` may be NULL: there are none. */
sa_status sa_ids_arm(const sa_ids *ids, size_t count, const sa_json *json, size_t at, const char *path,
                     size_t index, size_t *arm);
void sa_ids_clear(sa_ids *ids);

#endif
