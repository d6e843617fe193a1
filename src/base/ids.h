/* Ids of items: the list "items" of a request or a log, whose objects have an "id" each, or none. */
#ifndef SA_BASE_IDS_H
#define SA_BASE_IDS_H

#include "base/json.h"

enum { SA_LONGEST_ID = 256 };

/* Memory that is used again from list to list. */
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
/* The item of this name (a text of `size` bytes), or SIZE_MAX. */
size_t sa_ids_find(const sa_ids *ids, const char *name, size_t size);
void sa_ids_clear(sa_ids *ids);

#endif
