/* Items of catalogues: not stored here yet. Servers that share a store would have to tell each other of each
 * change before they choose; until then requests bring their items along, and PUT of items is refused. */
#include <stdio.h>

#include "store_postgres.h"

static sv_store_status fail(sv_store *self) {
    snprintf(self->sentence, sizeof self->sentence, "items are not stored in PostgreSQL");
    return STORE_LATER;
}

sv_store_status sv_postgres_item_put(sv_store *self, int64_t agent, const sv_store_item *item) {
    (void)agent, (void)item;
    return fail(self);
}

sv_store_status sv_postgres_item_end(sv_store *self, int64_t agent, uint64_t number, uint64_t since,
                                     uint64_t until) {
    (void)agent, (void)number, (void)since, (void)until;
    return fail(self);
}

sv_store_status sv_postgres_items(sv_store *self, int64_t agent,
                                  bool (*each)(void *user, const sv_store_item *item), void *user) {
    (void)self, (void)agent, (void)each, (void)user;
    return STORE_OK;
}

sv_store_status sv_postgres_item_at(sv_store *self, int64_t agent, uint64_t number, uint64_t version,
                                    void (*each)(void *user, const sv_store_item *item), void *user) {
    (void)self, (void)agent, (void)number, (void)version, (void)each, (void)user;
    return STORE_NONE;
}

sv_store_status sv_postgres_items_count(sv_store *self, int64_t agent, uint64_t *version, uint64_t *number,
                                        uint64_t *past) {
    (void)self, (void)agent;
    *version = *number = *past = 0;
    return STORE_OK;
}

uint64_t sv_postgres_items_version(const sv_store *self, uint64_t after) {
    (void)self;
    return after + 1;
}

sv_store_status sv_postgres_items_purge(sv_store *self, int64_t agent, int64_t wait, uint64_t before,
                                        size_t most, uint64_t *count) {
    (void)self, (void)agent, (void)wait, (void)before, (void)most;
    *count = 0;
    return STORE_OK;
}
