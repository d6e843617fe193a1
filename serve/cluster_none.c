/* A build without libpq: no server shares its store. */
#include <stdio.h>

#include "cluster.h"
#include "serve.h"
#include "store_calls.h"

static const char MISSING[] = "this build has no PostgreSQL: libpq-dev was missing";

sv_store *sv_postgres_open(const char *url, bool write, sa_buffer *sentence) {
    (void)url, (void)write;
    sa_buffer_format(sentence, "%s", MISSING);
    return NULL;
}

bool sv_postgres_migrate(const char *url, int *before, int *after, sa_buffer *sentence) {
    (void)url, (void)before, (void)after;
    sa_buffer_format(sentence, "%s", MISSING);
    return false;
}

int sv_serve_copy(const char *from, const char *to, char *message) {
    (void)from, (void)to;
    snprintf(message, 512, "%s", MISSING);
    return 2;
}

/* None of the following is called: there is no cluster. */

sv_cluster *sv_cluster_new(sv_service *service, sv_store *store, sv_learning learning, sv_refusal *why) {
    (void)service, (void)learning;
    sv_store_close(store);
    sv_refuse(why, 400, "%s", MISSING);
    return NULL;
}
bool sv_cluster_start(sv_cluster *self) { return (void)self, false; }
void sv_cluster_stop(sv_cluster *self) { (void)self; }
void sv_cluster_leave(sv_cluster *self) { (void)self; }
void sv_cluster_destroy(sv_cluster *self) { (void)self; }
void sv_cluster_set_keys(sv_cluster *self) { (void)self; }
void sv_cluster_await(sv_cluster *self, sv_cluster_wait *wait) { (void)self, (void)wait; }
bool sv_cluster_has_settings(sv_service *service, const sv_agent *agent, uint64_t version, sv_refusal *why) {
    return (void)service, (void)agent, (void)version, sv_refuse(why, 503, "%s", MISSING);
}
bool sv_cluster_has_agent(sv_service *service, const char *name, sv_refusal *why) {
    return (void)service, (void)name, (void)why, false;
}
void sv_cluster_opened(sv_cluster *self) { (void)self; }
bool sv_cluster_is_open(const sv_cluster *self) { return (void)self, false; }
bool sv_cluster_trouble(sv_cluster *self, char sentence[320]) { return (void)self, (void)sentence, false; }
bool sv_cluster_is_silent(const sv_cluster *self) { return (void)self, false; }
bool sv_cluster_scratch_trouble(sv_cluster *self, char sentence[320]) {
    return (void)self, (void)sentence, false;
}
void sv_cluster_count(sv_cluster *self, sv_cluster_counts *out) { (void)self, *out = (sv_cluster_counts){0}; }
bool sv_cluster_save(sv_cluster *self, sv_store *store, sv_agent *agent, const char *path, sv_refusal *why) {
    (void)self, (void)store, (void)agent, (void)path;
    return sv_refuse(why, 503, "%s", MISSING);
}
sv_store_status sv_cluster_cover(sv_store *store, int64_t agent, uint64_t seq) {
    return (void)store, (void)agent, (void)seq, STORE_NONE;
}
const char *sv_cluster_id(const sv_cluster *self) { return (void)self, ""; }
sv_store_status sv_cluster_begin_evaluation(sv_store *store, int64_t agent, int64_t id) {
    return (void)store, (void)agent, (void)id, STORE_NONE;
}
sv_store_status sv_cluster_stop_evaluations(sv_store *store, int64_t agent, const char *why,
                                            uint64_t *count) {
    return (void)store, (void)agent, (void)why, *count = 0, STORE_NONE;
}
bool sv_cluster_can_store(sv_store *store, const char *what, sv_refusal *why) {
    return (void)store, (void)what, sv_refuse(why, 503, "%s", MISSING);
}
bool sv_cluster_catch_up(sv_store *store, sv_agent *agent, sv_refusal *why) {
    return (void)store, (void)agent, sv_refuse(why, 503, "%s", MISSING);
}
bool sv_cluster_open(void *self, sv_store *store, sv_agent *agent) {
    return (void)self, (void)store, (void)agent, false;
}
bool sv_cluster_publish(void *self, sv_agent *agent) { return (void)self, (void)agent, false; }
bool sv_cluster_keep_newest(void *self, sv_agent *agent) { return (void)self, (void)agent, false; }
bool sv_cluster_break(void *self, sv_agent *agent, const char *why) {
    return (void)self, (void)agent, (void)why, false;
}
