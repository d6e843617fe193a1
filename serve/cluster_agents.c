/* What the database says of an agent at this moment, where what this server knows may be of before. */
#include "cluster_own.h"

static sv_store_status ask(sv_service *service, const char *name, int64_t *id, uint64_t *version,
                           sv_refusal *why) {
    sv_store *reader = sv_readers_take(&service->readers, why);
    if (!reader) return STORE_LATER;
    sv_store_status status = sv_shared_agent(reader, name, id, version);
    if (status != STORE_OK && status != STORE_NONE) sv_refuse(why, 503, "%s", sv_store_sentence(reader));
    sv_readers_give_back(&service->readers, reader);
    return status;
}

bool sv_cluster_has_settings(sv_service *service, const sv_agent *agent, uint64_t version, sv_refusal *why) {
    int64_t id = 0;
    uint64_t now = 0;
    sv_store_status status = ask(service, agent->name, &id, &now, why);
    if (status == STORE_OK && id == agent->id && now == version) return true;
    return !why->status && sv_refuse(why, 503,
                                     "agent %s was changed or deleted at another server at this moment: send "
                                     "it again",
                                     agent->name);
}

bool sv_cluster_has_agent(sv_service *service, const char *name, sv_refusal *why) {
    int64_t id;
    uint64_t version;
    return ask(service, name, &id, &version, why) == STORE_OK;
}
