/* Stored catalogues: changed by any server, followed by the others. */
#include <stdio.h>

#include "agent_items.h"
#include "cluster_own.h"

bool sv_cluster_can_store(sv_store *store, const char *what, sv_refusal *why) {
    sv_store_status status = sv_shared_require(store, SHARED_ITEMS);
    if (status == STORE_NONE)
        return sv_refuse(why, 409,
                         "%s: a server of an older version shares the database, and does not know it: try "
                         "again when all are of this one",
                         what);
    return status == STORE_OK || sv_refuse(why, 503, "%s", sv_store_sentence(store));
}

bool sv_cluster_catch_up(sv_store *store, sv_agent *agent, sv_refusal *why) {
    sv_catalogue *before = sv_agent_items(agent), *next = NULL;
    sv_settings *settings = sv_agent_settings(agent);
    sv_store_catalogue about = {0};
    bool good = sv_catalogue_load(store, agent->id, before, settings->schema, &next, &about, why);
    if (next) sv_agent_put_items(agent, next);
    sv_settings_release(settings);
    sv_catalogue_release(before);
    return good;
}

/* A large catalogue that changes all the time takes a fifth of the thread at most. */
void sv_cluster_follow_items(sv_cluster *self, sv_agent *agent, uint64_t version, uint64_t past) {
    static const double REST = 4, AGAIN_SECONDS = 1;
    sv_refusal why = {0};
    double begin = sv_clock_seconds();
    sv_catalogue *now = sv_agent_items(agent);
    uint64_t known = now ? now->version : 0;
    sv_catalogue_release(now);
    atomic_store(&agent->items_past, past);
    if (version <= known || begin < agent->items_next || atomic_load(&agent->unreadable)) return;
    bool good = sv_cluster_catch_up(self->store, agent, &why);
    double end = sv_clock_seconds();
    agent->items_next = end + (good ? REST * (end - begin) : AGAIN_SECONDS);
    if (!good)
        fprintf(stderr, "superarm serve: agent %s: its items could not be read again: %s\n", agent->name,
                why.message);
}
