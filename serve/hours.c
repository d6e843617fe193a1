#include "hours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sides.h"

sv_hour *sv_hour_new(int64_t hour) {
    sv_hour *self = calloc(1, sizeof *self);
    if (self) *self = (sv_hour){.hour = hour, .span = 1};
    return self;
}

/* ---- what happens ---- */

static sv_shown_item *find_item(sv_hour *self, const char *id) {
    for (size_t i = 0; i < self->item_count; i++)
        if (!strcmp(self->items[i].id, id)) return &self->items[i];
    return NULL;
}

static sv_shown_item *least_item(sv_hour *self) {
    sv_shown_item *least = &self->items[0];
    for (size_t i = 1; i < self->item_count; i++)
        if (self->items[i].count < least->count) least = &self->items[i];
    return least;
}

void sv_hour_show(sv_hour *self, const char *id) {
    sv_shown_item *item = find_item(self, id);
    if (!item) {
        bool room = self->item_count < HOUR_ITEMS;
        item = room ? &self->items[self->item_count++] : least_item(self);
        item->error = room ? 0 : item->count;
        if (room) item->count = 0;
        strncpy(item->id, id, LIMIT_ID);
        item->id[LIMIT_ID] = 0;
    }
    item->count++;
}

void sv_hour_learn(sv_hour *self, sv_decision_side side, double reward, const double *values, size_t count) {
    self->sides[side].learnt++;
    self->sides[side].reward += reward;
    sa_side_add(&self->since.sides[side], reward);
    if (count > HOUR_PLACES) count = HOUR_PLACES;
    if (count > self->places) self->places = count;
    for (size_t k = 0; k < count; k++) {
        if (isnan(values[k])) continue;
        self->by_place[k].seen++;
        self->by_place[k].reward += values[k];
    }
}

void sv_hour_revise(sv_hour *self, sv_decision_side side, uint64_t seq, double before, double after) {
    self->revised++;
    self->sides[side].reward += after - before;
    if (seq > self->since.seq) sa_side_replace(&self->since.sides[side], before, after);
}

static void add_agreement(sv_agreement *self, const bool *same, size_t places, double estimate) {
    bool whole = true;
    if (places > HOUR_PLACES) places = HOUR_PLACES;
    if (places > self->places) self->places = places;
    for (size_t k = 0; k < places; k++) {
        self->by_place[k] += same[k];
        whole = whole && same[k];
    }
    self->events++;
    self->whole += whole;
    self->estimate += estimate;
}

void sv_hour_compare(sv_hour *self, const bool *same, size_t places, double estimate) {
    add_agreement(&self->agreement, same, places, estimate);
    add_agreement(&self->since.agreement, same, places, estimate);
}

/* ---- hours to days ---- */

static void merge_agreement(sv_agreement *self, const sv_agreement *later) {
    self->events += later->events;
    self->whole += later->whole;
    self->estimate += later->estimate;
    if (later->places > self->places) self->places = later->places;
    for (size_t k = 0; k < later->places; k++) self->by_place[k] += later->by_place[k];
}

static int by_count(const void *one, const void *other) {
    const sv_shown_item *a = one, *b = other;
    return a->count == b->count ? strcmp(a->id, b->id) : a->count < b->count ? 1 : -1;
}

/* What one of the two does not have, it may have had as often as its least. */
static void merge_items(sv_hour *self, sv_hour *later) {
    sv_shown_item *all = calloc(2 * HOUR_ITEMS, sizeof *all);
    uint64_t mine = self->item_count == HOUR_ITEMS ? least_item(self)->count : 0,
             theirs = later->item_count == HOUR_ITEMS ? least_item(later)->count : 0;
    size_t count = 0;
    if (!all) return;
    for (size_t i = 0; i < self->item_count; i++) {
        const sv_shown_item *other = find_item(later, self->items[i].id);
        all[count] = self->items[i];
        all[count].count += other ? other->count : theirs;
        all[count++].error += other ? other->error : theirs;
    }
    for (size_t i = 0; i < later->item_count; i++) {
        if (find_item(self, later->items[i].id)) continue;
        all[count] = later->items[i];
        all[count].count += mine;
        all[count++].error += mine;
    }
    qsort(all, count, sizeof *all, by_count);
    self->item_count = count < HOUR_ITEMS ? count : HOUR_ITEMS;
    memcpy(self->items, all, self->item_count * sizeof *all);
    free(all);
}

void sv_hour_merge(sv_hour *self, const sv_hour *later) {
    for (size_t i = 0; i < SIDES; i++) {
        self->sides[i].decisions += later->sides[i].decisions;
        self->sides[i].learnt += later->sides[i].learnt;
        self->sides[i].reward += later->sides[i].reward;
    }
    self->feedback += later->feedback;
    self->late += later->late;
    self->revised += later->revised;
    self->explored += later->explored;
    if (later->places > self->places) self->places = later->places;
    for (size_t k = 0; k < later->places; k++) {
        self->by_place[k].seen += later->by_place[k].seen;
        self->by_place[k].reward += later->by_place[k].reward;
    }
    merge_agreement(&self->agreement, &later->agreement);
    merge_items(self, (sv_hour *)later);
    self->since = later->since;
}
