/* A change of a catalogue: the next version beside the present one, and which rows of the journal it
 * takes. */
#ifndef SERVE_CATALOGUE_CHANGE_H
#define SERVE_CATALOGUE_CHANGE_H

#include "catalogue.h"
#include "settings.h"

typedef struct change {
    sv_catalogue *made; /* NULL: nothing changes. Its version is set when it is written */
    sv_item **fresh;    /* (fresh_count) of it, which are not in the present one */
    sv_item **gone;     /* (gone_count) of the present one, retained */
    size_t fresh_count, gone_count;
    size_t added, changed, removed, same;
    uint64_t number; /* the largest after it */
} sv_change;

void sv_change_free(sv_change *self);
/* JSON lines: all items there are to be; with `some`, items that are added, and fields that change of those
 * that are there: null takes a field away. What has expired goes either way. `now` may be NULL; `number` is
 * the largest so far. */
bool sv_change_lines(sv_change *self, const sv_catalogue *now, uint64_t number, const sv_settings *settings,
                     const char *body, size_t size, bool some, int64_t time, sv_refusal *why);
/* Without the item, or without any where `id` is NULL. false with 404. */
bool sv_change_remove(sv_change *self, const sv_catalogue *now, uint64_t number, const char *id,
                      sv_refusal *why);
/* Its rows; gives it its version. */
sv_store_status sv_change_write(sv_change *self, sv_store *store, int64_t agent);

#endif
