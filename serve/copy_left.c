/* As maintenance.c does it for agents that are served. */
#include "copy_left.h"

#include <stdlib.h>
#include <string.h>

#include "closing.h"

typedef struct held_agent {
    int64_t id;
    sv_settings *settings;
} held_agent;

typedef struct holding {
    held_agent *agents; /* (count) that are not deleted */
    size_t count;
    sv_refusal why; /* of the first that failed */
} holding;

static bool take_agent(void *user, const sv_store_agent *agent) {
    holding *self = user;
    if (agent->deleted) return true;
    held_agent *more = realloc(self->agents, (self->count + 1) * sizeof *more);
    if (!more) return sv_refuse(&self->why, 503, "memory could not be had");
    self->agents = more;
    more[self->count] =
        (held_agent){agent->id, sv_settings_read_text(agent->settings, strlen(agent->settings), &self->why)};
    return more[self->count++].settings;
}

static const sv_settings *settings_of(const holding *self, int64_t agent) {
    for (size_t i = 0; i < self->count; i++)
        if (self->agents[i].id == agent) return self->agents[i].settings;
    return NULL;
}

/* An entry becomes a row; `seq` 0: there is nothing left to be done. */
static sv_store_status number_entry(sv_store *store, const holding *held, sv_sums *sums,
                                    sv_store_entry *entry, uint64_t *seq) {
    *seq = 0;
    if (!entry->row.decision) {
        sv_store_status status = sv_sums_row(sums, store, entry->agent, &entry->row);
        *seq = entry->row.seq;
        return status;
    }
    const sv_settings *settings = settings_of(held, entry->agent);
    return settings && entry->row.of.id ? sv_closing_revise(store, sums, settings, &entry->row.of, seq)
                                        : STORE_OK;
}

static sv_store_status number_entries(sv_store *store, const holding *held, sv_sums *sums) {
    sv_store_entry entry;
    sv_store_status status;
    while ((status = sv_store_inbox(store, &entry)) == STORE_OK) {
        uint64_t seq;
        status = number_entry(store, held, sums, &entry, &seq);
        if (status == STORE_OK) status = sv_store_inbox_done(store, entry.id, seq);
        if (status != STORE_OK) return status == STORE_NONE ? STORE_FAILED : status;
    }
    return status == STORE_NONE ? STORE_OK : status;
}

static sv_store_status add_sums(sv_store *store, sv_sums *sums) {
    sv_store_status status;
    uint64_t before;
    do {
        before = sv_store_changes(store);
        status = sv_sums_take_left(sums, store);
    } while (status == STORE_OK && sv_store_changes(store) != before);
    return status == STORE_OK ? sums->last.run(&sums->last, store) : status;
}

bool sv_copy_take_left(sv_store *database, sa_buffer *sentence) {
    holding held = {0};
    sv_sums sums;
    sv_sums_begin(&sums, NULL, false);
    sv_store_status status = sv_store_agents(database, take_agent, &held);
    for (size_t i = 0; i < held.count && status == STORE_OK && !held.why.status; i++)
        status = sv_store_hold(database, held.agents[i].id);
    if (status == STORE_OK && !held.why.status) status = number_entries(database, &held, &sums);
    if (status == STORE_OK && !held.why.status) status = add_sums(database, &sums);
    bool good = status == STORE_OK && !held.why.status;
    if (!good)
        sa_buffer_format(sentence, "%s", held.why.status ? held.why.message : sv_store_sentence(database));
    for (size_t i = 0; i < held.count; i++) sv_settings_release(held.agents[i].settings);
    free(held.agents);
    sv_sums_end(&sums);
    return good;
}
