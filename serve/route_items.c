/* PUT, PATCH, DELETE and GET of /v1/agents/NAME/items: the stored catalogue. A change is put together here,
 * beside what is there, written in one transaction, and takes its place when it is on disk. */
#include <stdlib.h>
#include <string.h>

#include "agent_items.h"
#include "catalogue_change.h"
#include "clock.h"
#include "routes.h"
#include "service.h"

typedef struct items {
    sv_job job;
    sv_exchange *exchange;
    sv_catalogue *now; /* NULL: it has none */
    sv_store_catalogue about;
    sv_change change;
    bool holds; /* the agent's items are ours to change */
    sv_refusal why;
} sv_items;

static void free_items(void *state) {
    sv_items *self = state;
    if (self->holds) atomic_store(&self->exchange->agent->items_changing, false);
    sv_change_free(&self->change);
    sv_catalogue_release(self->now);
    free(self);
}

static void answer(sv_exchange *exchange, const sv_change *change, const sv_catalogue *now) {
    sa_buffer_format(
        &exchange->answer,
        "{\"version\": %llu, \"items\": %zu, \"added\": %zu, \"changed\": %zu, \"removed\": %zu, "
        "\"same\": %zu}\n",
        (unsigned long long)(now ? now->version : 0), now ? now->count : 0, change->added, change->changed,
        change->removed, change->same);
    sv_exchange_answer(exchange, 200);
}

/* ---- in the writer ---- */

static sv_store_status run_change(sv_job *base, sv_store *store) {
    sv_items *self = (sv_items *)base;
    sv_agent *agent = self->exchange->agent;
    if (atomic_load(&agent->deleted)) {
        sv_refuse(&self->why, 404, "there is no agent %s any longer", agent->name);
        return STORE_OK;
    }
    return sv_change_write(&self->change, store, agent->id);
}

static void end_change(sv_job *base, sv_store_status status) {
    sv_items *self = (sv_items *)base;
    sv_exchange *exchange = self->exchange;
    if (status != STORE_OK)
        sv_exchange_refuse_store(exchange, status);
    else if (self->why.status)
        sv_exchange_refuse(exchange, &self->why);
    else {
        exchange->agent->items_number = self->change.number;
        atomic_fetch_add(&exchange->agent->items_past, self->change.gone_count);
        sv_catalogue_retain(self->change.made);
        sv_agent_put_items(exchange->agent, self->change.made);
        answer(exchange, &self->change, self->change.made);
    }
    exchange->done(exchange);
}

static void submit(sv_exchange *self) { sv_exchange_submit(self, &((sv_items *)self->state)->job); }

/* ---- in a thread for admins ---- */

static bool take_items(sv_items *self, sv_refusal *why) {
    sv_agent *agent = self->exchange->agent;
    bool busy = false;
    if (!atomic_compare_exchange_strong(&agent->items_changing, &busy, true))
        return sv_refuse(why, 503, "the items of agent %s are being changed by another request: try again",
                         agent->name);
    self->holds = true;
    self->now = sv_agent_items(agent);
    self->about =
        (sv_store_catalogue){.number = agent->items_number, .past = atomic_load(&agent->items_past)};
    return true;
}

static bool check_past(const sv_items *self, sv_refusal *why) {
    uint64_t past = self->about.past + self->change.gone_count;
    return !self->change.gone_count || past <= LIMIT_STORED_PAST ||
           sv_refuse(why, 409,
                     "there would be %llu items as they were before, which decisions of that time may name, "
                     "and %d are "
                     "kept: change fewer, or set a shorter retention_days, with which they go",
                     (unsigned long long)past, LIMIT_STORED_PAST);
}

static bool make_change(sv_items *self, bool some, sv_refusal *why) {
    sv_exchange *exchange = self->exchange;
    sv_settings *settings = sv_agent_settings(exchange->agent);
    bool good =
        settings->schema ||
        sv_refuse(why, 400, "agent %s has no schema, which the fields of items are for", exchange->name);
    if (good && some && self->now) { /* those that stay need rows of the schema */
        sv_catalogue_release(self->now);
        self->now = sv_agent_items_for(exchange->agent, settings->schema, why);
        good = !why->status;
    }
    good =
        good && sv_change_lines(&self->change, self->now, self->about.number, settings, exchange->body.text,
                                exchange->body.size, some, sv_clock_milliseconds(), why);
    sv_settings_release(settings);
    return good;
}

typedef bool prepare_change(sv_items *self, sv_refusal *why);

static bool prepared(sv_items *self, prepare_change *prepare, sv_refusal *why) {
    return prepare(self, why) && check_past(self, why);
}

/* Where servers share the store it is all done here: the catalogue is locked, and what others have changed is
 * there before this change is made. */
static bool lock(sv_items *self, sv_store *store, sv_refusal *why) {
    sv_agent *agent = self->exchange->agent;
    sv_store_status status = sv_store_begin(store);
    if (status == STORE_OK) status = sv_store_items_lock(store, agent->id, &self->about);
    if (status == STORE_NONE) return sv_refuse(why, 404, "there is no agent %s any longer", agent->name);
    if (status != STORE_OK)
        return sv_refuse(why, 503,
                         "the items of agent %s cannot be changed now, perhaps by another server's "
                         "change: %s; try again",
                         agent->name, sv_store_sentence(store));
    if (!sv_cluster_can_store(store, "items cannot be stored yet", why) ||
        !sv_cluster_catch_up(store, agent, why))
        return false;
    sv_catalogue_release(self->now);
    self->now = sv_agent_items(agent);
    return true;
}

static bool write(sv_items *self, sv_store *store, sv_refusal *why) {
    sv_agent *agent = self->exchange->agent;
    if (!self->change.made) return true; /* the same content changes nothing */
    sv_store_status status = sv_change_write(&self->change, store, agent->id);
    if (status == STORE_OK) status = sv_store_commit(store);
    if (status != STORE_OK)
        return sv_refuse(why, 503, "%s: %s; try again", sv_store_sentence(store),
                         status == STORE_LOST ? "it is not known whether this was kept"
                                              : "nothing was changed");
    atomic_store(&agent->items_past, self->about.past + self->change.gone_count);
    sv_catalogue_retain(self->change.made);
    sv_agent_put_items(agent, self->change.made);
    return true;
}

static bool change_shared(sv_items *self, prepare_change *prepare, sv_refusal *why) {
    sv_readers *readers = &self->exchange->service->readers;
    sv_store *store = sv_readers_take(readers, why);
    if (!store) return false;
    bool good = lock(self, store, why) && prepared(self, prepare, why) && write(self, store, why);
    sv_store_rollback(store); /* of what was not committed */
    sv_readers_give_back(readers, store);
    return good;
}

static void change(sv_exchange *exchange, prepare_change *prepare) {
    sv_refusal why = {0};
    sv_items *self = calloc(1, sizeof *self);
    bool shared = exchange->service->cluster;
    exchange->state = self;
    exchange->state_free = free_items;
    if (self) self->exchange = exchange;
    if (!self) sv_refuse(&why, 503, "memory could not be had");
    if (why.status || !take_items(self, &why) ||
        !(shared ? change_shared(self, prepare, &why) : prepared(self, prepare, &why)))
        sv_exchange_refuse(exchange, &why);
    else if (shared || !self->change.made)
        answer(exchange, &self->change, self->change.made ? self->change.made : self->now);
    else {
        self->job = (sv_job){.run = run_change, .end = end_change, .queued = &exchange->agent->queued};
        exchange->later = submit;
    }
}

static bool put_lines(sv_items *self, sv_refusal *why) { return make_change(self, false, why); }
static bool patch_lines(sv_items *self, sv_refusal *why) { return make_change(self, true, why); }
static bool remove_all(sv_items *self, sv_refusal *why) {
    return sv_change_remove(&self->change, self->now, self->about.number, NULL, why);
}
static bool remove_one(sv_items *self, sv_refusal *why) {
    return sv_change_remove(&self->change, self->now, self->about.number, self->exchange->event, why);
}

void sv_route_put_items(sv_exchange *self) { change(self, put_lines); }
void sv_route_patch_items(sv_exchange *self) { change(self, patch_lines); }
void sv_route_delete_items(sv_exchange *self) { change(self, remove_all); }
void sv_route_delete_item(sv_exchange *self) { change(self, remove_one); }

/* ---- GET ---- */

/* A parameter of the query, decoded, into `out`; false: it is not there. */
static bool find_parameter(const char *query, const char *name, char *out, size_t room) {
    size_t size = strlen(name), used = 0;
    for (const char *at = query; at && *at; at = strchr(at, '&') ? strchr(at, '&') + 1 : NULL) {
        if (strncmp(at, name, size) || at[size] != '=') continue;
        for (at += size + 1; *at && *at != '&' && used + 1 < room; at++) {
            char hex[3] = {0};
            if (*at == '%' && at[1] && at[2]) {
                memcpy(hex, at + 1, 2);
                out[used++] = (char)strtol(hex, NULL, 16);
                at += 2;
            } else
                out[used++] = *at;
        }
        out[used] = 0;
        return true;
    }
    return false;
}

void sv_route_items(sv_exchange *self) {
    enum { PAGE = 1000, MOST = 10000 };
    sv_refusal why = {0};
    char text[LIMIT_ID + 1];
    int64_t now = sv_clock_milliseconds();
    sv_catalogue *items = sv_agent_items(self->agent);
    size_t at = 0, most = PAGE;
    if (find_parameter(self->query, "limit", text, sizeof text)) {
        most = strtoul(text, NULL, 10);
        if (most < 1 || most > MOST) sv_refuse(&why, 400, "limit is not between 1 and %d", MOST);
    }
    if (find_parameter(self->query, "after", text, sizeof text)) {
        uint32_t found = items ? sv_texts_find(&items->ids, text, strlen(text)) : TEXTS_NONE;
        if (found == TEXTS_NONE) sv_refuse(&why, 404, "there is no stored item %.64s", text);
        at = (size_t)found + 1;
    }
    for (; !why.status && items && at < items->count && most && self->answer.size < LIMIT_LOG_BYTES; at++) {
        if (!sv_item_is_open(items->items[at], now)) continue;
        sa_buffer_bytes(&self->answer, items->items[at]->text, items->items[at]->size);
        sa_buffer_bytes(&self->answer, "\n", 1);
        most--;
    }
    sv_catalogue_release(items);
    self->answer_type = "application/x-ndjson";
    if (why.status)
        sv_exchange_refuse(self, &why);
    else
        sv_exchange_answer(self, 200);
}

void sv_route_item(sv_exchange *self) {
    sv_refusal why = {0};
    sv_catalogue *items = sv_agent_items(self->agent);
    uint32_t found = items ? sv_texts_find(&items->ids, self->event, strlen(self->event)) : TEXTS_NONE;
    if (found == TEXTS_NONE || !sv_item_is_open(items->items[found], sv_clock_milliseconds())) {
        sv_refuse(&why, 404, "there is no stored item %.64s", self->event);
        sv_exchange_refuse(self, &why);
    } else {
        sa_buffer_bytes(&self->answer, items->items[found]->text, items->items[found]->size);
        sa_buffer_bytes(&self->answer, "\n", 1);
        sv_exchange_answer(self, 200);
    }
    sv_catalogue_release(items);
}
