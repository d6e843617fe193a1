#include "routes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "cluster.h"
#include "personalizer_path.h"
#include "service.h"

static const sv_route ROUTES[] = {
    {"GET", "/", WHO_ANYONE, BODY_NONE, false, LANE_NOW, sv_route_page, "page"},
    {"GET", "/page.js", WHO_ANYONE, BODY_NONE, false, LANE_NOW, sv_route_script, "page"},
    {"GET", "/agent.js", WHO_ANYONE, BODY_NONE, false, LANE_NOW, sv_route_agent_script, "page"},
    {"GET", "/charts.js", WHO_ANYONE, BODY_NONE, false, LANE_NOW, sv_route_charts_script, "page"},
    {"GET", "/page.css", WHO_ANYONE, BODY_NONE, false, LANE_NOW, sv_route_style, "page"},
    {"GET", "/openapi.json", WHO_ANYONE, BODY_NONE, false, LANE_NOW, sv_route_openapi, "openapi"},
    {"GET", "/healthz", WHO_ANYONE, BODY_NONE, false, LANE_NOW, sv_route_health, "healthz"},
    {"GET", "/readyz", WHO_ANYONE, BODY_NONE, false, LANE_NOW, sv_route_ready, "readyz"},
    {"GET", "/metrics", WHO_CLIENT, BODY_NONE, false, LANE_QUICK, sv_route_metrics, "metrics"},
    {"GET", "/v1/agents", WHO_ADMIN, BODY_NONE, false, LANE_ADMIN, sv_route_agents, "agents"},
    {"GET", "/v1/agents/{name}", WHO_ADMIN, BODY_NONE, true, LANE_ADMIN, sv_route_agent, "agent"},
    {"PUT", "/v1/agents/{name}", WHO_ADMIN, BODY_JSON, false, LANE_ADMIN, sv_route_put_agent, "put_agent"},
    {"DELETE", "/v1/agents/{name}", WHO_ADMIN, BODY_NONE, true, LANE_ADMIN, sv_route_delete_agent,
     "delete_agent"},
    {"POST", "/v1/agents/{name}/decide", WHO_CLIENT, BODY_JSON, true, LANE_QUICK, sv_route_decide, "decide"},
    {"POST", "/v1/agents/{name}/shown", WHO_CLIENT, BODY_JSON, true, LANE_QUICK, sv_route_shown, "shown"},
    {"POST", "/v1/agents/{name}/feedback", WHO_CLIENT, BODY_JSON, true, LANE_QUICK, sv_route_feedback,
     "feedback"},
    {"POST", "/v1/agents/{name}/activate/{event}", WHO_CLIENT, BODY_NONE, true, LANE_QUICK, sv_route_activate,
     "activate"},
    {"GET", "/v1/agents/{name}/history", WHO_ADMIN, BODY_NONE, true, LANE_ADMIN, sv_route_history, "history"},
    {"GET", "/v1/agents/{name}/log", WHO_ADMIN, BODY_NONE, true, LANE_ADMIN, sv_route_log, "log"},
    {"GET", "/v1/agents/{name}/model", WHO_ADMIN, BODY_NONE, true, LANE_ADMIN, sv_route_get_model,
     "get_model"},
    {"PUT", "/v1/agents/{name}/model", WHO_ADMIN, BODY_NPZ, true, LANE_ADMIN, sv_route_put_model,
     "put_model"},
    {"GET", "/v1/agents/{name}/insights", WHO_ADMIN, BODY_NONE, true, LANE_ADMIN, sv_route_insights,
     "insights"},
    {"POST", "/v1/agents/{name}/evaluations", WHO_ADMIN, BODY_JSON, true, LANE_ADMIN, sv_route_evaluate,
     "evaluate"},
    {"GET", "/v1/agents/{name}/evaluations", WHO_ADMIN, BODY_NONE, true, LANE_ADMIN, sv_route_evaluations,
     "evaluations"},
    {"GET", "/v1/agents/{name}/evaluations/{id}", WHO_ADMIN, BODY_NONE, true, LANE_ADMIN, sv_route_evaluation,
     "evaluation"},
    {"DELETE", "/v1/agents/{name}/evaluations/{id}", WHO_ADMIN, BODY_NONE, true, LANE_ADMIN,
     sv_route_delete_evaluation, "delete_evaluation"},
    {"GET", "/v1/agents/{name}/items", WHO_ADMIN, BODY_NONE, true, LANE_ADMIN, sv_route_items, "items"},
    {"PUT", "/v1/agents/{name}/items", WHO_ADMIN, BODY_LINES, true, LANE_ADMIN, sv_route_put_items,
     "put_items"},
    {"PATCH", "/v1/agents/{name}/items", WHO_ADMIN, BODY_LINES, true, LANE_ADMIN, sv_route_patch_items,
     "patch_items"},
    {"DELETE", "/v1/agents/{name}/items", WHO_ADMIN, BODY_NONE, true, LANE_ADMIN, sv_route_delete_items,
     "delete_items"},
    {"GET", "/v1/agents/{name}/items/{item}", WHO_ADMIN, BODY_NONE, true, LANE_ADMIN, sv_route_item, "items"},
    {"DELETE", "/v1/agents/{name}/items/{item}", WHO_ADMIN, BODY_NONE, true, LANE_ADMIN, sv_route_delete_item,
     "delete_items"},
    {"DELETE", "/v1/agents/{name}/events/{event}", WHO_ADMIN, BODY_NONE, true, LANE_ADMIN, sv_route_erase,
     "erase"},
    {"POST", "/personalizer/{version}/rank", WHO_CLIENT, BODY_JSON, false, LANE_QUICK, sv_route_rank, "rank"},
    {"POST", "/personalizer/{version}/events/{event}/reward", WHO_CLIENT, BODY_JSON, true, LANE_QUICK,
     sv_route_reward, "reward"},
    {"POST", "/personalizer/{version}/events/{event}/activate", WHO_CLIENT, BODY_NONE, true, LANE_QUICK,
     sv_route_activate, "personalizer_activate"},
    {"POST", "/personalizer/{version}/multislot/rank", WHO_CLIENT, BODY_JSON, false, LANE_QUICK,
     sv_route_multislot_rank, "multislot_rank"},
    {"POST", "/personalizer/{version}/multislot/events/{event}/reward", WHO_CLIENT, BODY_JSON, true,
     LANE_QUICK, sv_route_multislot_reward, "multislot_reward"},
    {"POST", "/personalizer/{version}/multislot/events/{event}/activate", WHO_CLIENT, BODY_NONE, true,
     LANE_QUICK, sv_route_activate, "personalizer_activate"},
    {"GET", "/personalizer/{version}/configurations/service", WHO_ADMIN, BODY_NONE, false, LANE_ADMIN,
     sv_route_configuration, "configuration"},
    {"PUT", "/personalizer/{version}/configurations/service", WHO_ADMIN, BODY_JSON, false, LANE_ADMIN,
     sv_route_put_configuration, "put_configuration"},
    {"GET", "/personalizer/{version}/status", WHO_CLIENT, BODY_NONE, false, LANE_QUICK,
     sv_route_personalizer_status, "personalizer_status"},
    {"GET", "/personalizer/{version}/model", WHO_ADMIN, BODY_NONE, true, LANE_ADMIN, sv_route_get_model,
     "get_model"},
    {"PUT", "/personalizer/{version}/model", WHO_ADMIN, BODY_NPZ, true, LANE_ADMIN, sv_route_import_model,
     "import_model"},
    {"DELETE", "/personalizer/{version}/model", WHO_ADMIN, BODY_NONE, true, LANE_ADMIN, sv_route_reset_model,
     "reset_model"},
    {"GET", "/personalizer/{version}/model/properties", WHO_ADMIN, BODY_NONE, true, LANE_ADMIN,
     sv_route_model_properties, "model_properties"},
};

const sv_route *sv_route_at(size_t index) { return index < sv_route_count() ? &ROUTES[index] : NULL; }
size_t sv_route_count(void) { return sizeof ROUTES / sizeof *ROUTES; }

/* ---- answers ---- */

void sv_exchange_answer(sv_exchange *self, int status) {
    self->status = status;
    if (!self->answer_type) self->answer_type = "application/json";
    if (self->shape && !self->answer.status) self->shape(self);
    if (!self->answer.status) return;
    sa_buffer_clear(&self->answer);
    self->status = 503;
}

void sv_exchange_refuse(sv_exchange *self, const sv_refusal *why) {
    sa_buffer_clear(&self->answer);
    self->answer_type = NULL;
    snprintf(self->error, sizeof self->error, "%.*s", (int)sizeof self->error - 1, why->message);
    self->shape = NULL;
    if (self->route) self->code = sv_personalizer_code(self->route->path, self->route->name, why->status);
    sv_refusal_write(why, self->code, &self->answer);
    sv_exchange_answer(self, why->status);
}

void sv_exchange_refuse_store(sv_exchange *self, sv_store_status status) {
    char sentence[320] = "the journal could not be written";
    sv_refusal why = {0};
    if (status == STORE_UNFIT) {
        sv_refuse(&why, 400, "the journal does not take what this request has: nothing was changed");
        sv_exchange_refuse(self, &why);
        return;
    }
    sv_writer_trouble(self->service->writer, sentence);
    sv_refuse(&why, 503,
              status == STORE_LATER  ? "%s: nothing was changed; try again"
              : status == STORE_LOST ? "%s: it is not known whether this was kept; try again"
                                     : "%s: it is not known whether this was kept",
              sentence);
    sv_exchange_refuse(self, &why);
}

void sv_exchange_settle(sv_exchange *self) {
    if (self->state) self->state_free(self->state);
    self->state = NULL;
}

void sv_exchange_submit(sv_exchange *self, sv_job *job) {
    sv_refusal why = {0};
    if (sv_writer_submit(self->service->writer, job, &why)) return;
    sv_exchange_refuse(self, &why);
    self->done(self);
}

/* ---- paths ---- */

/* One part of a path, with %41 and the like decoded, into `out` (size). */
static bool decode(const char *from, size_t length, char *out, size_t size) {
    size_t to = 0;
    for (size_t i = 0; i < length; i++) {
        char c = from[i];
        if (c == '%') {
            if (i + 2 >= length) return false;
            char hex[3] = {from[i + 1], from[i + 2], 0};
            if (!isxdigit((unsigned char)hex[0]) || !isxdigit((unsigned char)hex[1])) return false;
            c = (char)strtol(hex, NULL, 16);
            i += 2;
        }
        if (!c || to + 1 >= size) return false;
        out[to++] = c;
    }
    out[to] = 0;
    return to > 0;
}

/* Does the path fit the pattern? Fills in name and event. */
static bool fits(const char *pattern, const char *path, sv_exchange *self) {
    *self->name = *self->event = 0;
    if (!strncmp(pattern, "/personalizer/", 14) && !sv_personalizer_prefix(&pattern, &path, self->name))
        return false;
    while (*pattern) {
        if (*pattern != '{') {
            if (*pattern++ != *path++) return false;
            continue;
        }
        bool name = pattern[1] == 'n';
        size_t length = strcspn(path, "/");
        if (!decode(path, length, name ? self->name : self->event,
                    name ? sizeof self->name : sizeof self->event))
            return false;
        path += length;
        pattern = strchr(pattern, '}') + 1;
    }
    return !*path;
}

/* "." and ".." are names of folders, and programs between a client and us take them away. */
static bool is_name(const char *name) {
    if (!strcmp(name, ".") || !strcmp(name, "..")) return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-_.", *c)) return false;
    return true;
}

static const char *allowed(const char *path) {
    sv_exchange probe = {0};
    bool get = false, put = false, post = false, delete = false, patch = false;
    for (size_t i = 0; i < sv_route_count(); i++) {
        if (!fits(ROUTES[i].path, path, &probe)) continue;
        get = get || *ROUTES[i].method == 'G';
        put = put || !strcmp(ROUTES[i].method, "PUT");
        post = post || !strcmp(ROUTES[i].method, "POST");
        delete = delete || *ROUTES[i].method == 'D';
        patch = patch || !strcmp(ROUTES[i].method, "PATCH");
    }
    if (patch) return "GET, HEAD, PUT, PATCH, DELETE";
    if (get && put && delete) return "GET, HEAD, PUT, DELETE";
    if (get && put) return "GET, HEAD, PUT";
    if (get && post) return "GET, HEAD, POST";
    if (get && delete) return "GET, HEAD, DELETE";
    if (get) return "GET, HEAD";
    return post ? "POST" : delete ? "DELETE" : NULL;
}

static bool find_route(sv_exchange *self, sv_refusal *why) {
    const char *method = !strcmp(self->method, "HEAD") ? "GET" : self->method;
    for (size_t i = 0; i < sv_route_count() && !self->route; i++)
        if (!strcmp(ROUTES[i].method, method) && fits(ROUTES[i].path, self->path, self))
            self->route = &ROUTES[i];
    if (self->route) {
        if (*self->name && !is_name(self->name))
            return sv_refuse(why, 404,
                             "names of agents are letters, digits, - _ and ., at most %d, and not . or ..",
                             LIMIT_NAME);
        return true;
    }
    self->allow = allowed(self->path);
    if (self->allow)
        return sv_refuse(why, 405, "%.16s is not a method of %.128s, which has %s", self->method, self->path,
                         self->allow);
    return sv_refuse(why, 404, "there is no %.128s; /openapi.json lists what there is", self->path);
}

/* ---- who may ---- */

/* Browsers send the name that the page was asked for; a name of somebody else's that leads to this machine
 * is not ours. */
static bool is_loopback_host(const char *host) {
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t i = 0; host && i < 3; i++) {
        size_t size = strlen(names[i]);
        if (!strncmp(host, names[i], size) && (!host[size] || host[size] == ':')) return true;
    }
    return false;
}

static bool may(sv_exchange *self, sv_refusal *why) {
    const sv_keys *keys = &self->service->keys;
    if (!keys->given)
        return is_loopback_host(self->host) ||
               sv_refuse(why, 403,
                         "the Host header is not 127.0.0.1, localhost or [::1], "
                         "which is all that is served without --keys");
    const sv_key *key = sv_keys_find(keys, self->authorization, self->subscription);
    sv_who who = key ? key->who : WHO_ANYONE;
    if (key) self->key = key->name;
    if (self->route->who == WHO_ANYONE) return true;
    if (who == WHO_ANYONE) return sv_refuse(why, 401, "this needs a key: Authorization: Bearer KEY");
    return who >= self->route->who || sv_refuse(why, 403, "this needs the admin key");
}

static bool is_type(const char *type, const char *wanted) {
    size_t size = strlen(wanted);
    return type && !strncasecmp(type, wanted, size) &&
           (!type[size] || type[size] == ';' || type[size] == ' ');
}

static bool has_type(const sv_exchange *self, sv_refusal *why) {
    const char *given = self->type ? self->type : "missing";
    if (self->route->body == BODY_JSON && !is_type(self->type, "application/json"))
        return sv_refuse(why, 415, "Content-Type is %.64s, and not application/json", given);
    if (self->route->body == BODY_LINES && !is_type(self->type, "application/x-ndjson") &&
        !is_type(self->type, "application/jsonl"))
        return sv_refuse(why, 415, "Content-Type is %.64s, and not application/x-ndjson", given);
    if (self->route->body == BODY_NPZ && !is_type(self->type, "application/octet-stream") &&
        !is_type(self->type, "application/zip"))
        return sv_refuse(why, 415, "Content-Type is %.64s, and not application/octet-stream", given);
    return true;
}

/* What can be done with an agent whose settings cannot be read. */
static bool is_for_unreadable(const sv_route *route) {
    return route->answer == sv_route_agent || route->answer == sv_route_put_agent ||
           route->answer == sv_route_delete_agent || route->answer == sv_route_log;
}

/* One of Personalizer's clients lets its endpoint have no path, which could name the agent: there a key whose
 * name is that of an agent asks that agent, as each resource had its key. */
static sv_agent *agent_of_key(sv_exchange *self) {
    if (!self->key || strncmp(self->path, "/personalizer/", 14)) return NULL;
    sv_agent *found = sv_agents_find(&self->service->agents, self->key);
    if (found) snprintf(self->name, sizeof self->name, "%s", self->key);
    return found;
}

/* Of a database that is not known yet, or hangs; one that is gone says so itself, at once. */
static bool is_reached(const sv_exchange *self, sv_refusal *why) {
    char sentence[320];
    sv_cluster *cluster = self->service->cluster;
    if (!cluster || (sv_cluster_is_open(cluster) && !sv_cluster_is_silent(cluster))) return true;
    return !sv_cluster_trouble(cluster, sentence) || sv_refuse(why, 503, "%s", sentence);
}

/* Another server may have made an agent that this one does not know yet: the database is asked, for so many
 * requests a second at most, whatever names they have. */
static bool may_ask(sv_service *service) {
    enum { A_SECOND = 20 };
    uint_fast64_t second = (uint_fast64_t)sv_clock_seconds();
    if (!service->cluster) return false;
    if (atomic_exchange(&service->unknown_second, second) != second) atomic_store(&service->unknown, 0);
    return atomic_fetch_add(&service->unknown, 1) < A_SECOND;
}

static bool refuse_unknown(const sv_exchange *self, sv_refusal *why) {
    return sv_refuse(why, 404, "there is no agent %s: PUT /v1/agents/%s makes it", self->name, self->name);
}

/* Not in the thread that admits, which waits for nobody. */
static bool is_new(const sv_exchange *self, sv_refusal *why) {
    if (!sv_cluster_has_agent(self->service, self->name, why)) return why->status;
    sv_refuse(why, 503, "agent %s was made at another server at this moment: send it again", self->name);
    return true;
}

bool sv_routes_is_new(const sv_exchange *self, sv_refusal *why) {
    return may_ask(self->service) && is_new(self, why);
}

static bool find_agent(sv_exchange *self, sv_refusal *why) {
    if (!*self->name) return true;
    if (self->service->learning == LEARNING_ONLY && self->route->who == WHO_CLIENT)
        return sv_refuse(why, 503, "this server only learns (--learn only): ask another one");
    if (!is_reached(self, why)) return false;
    self->agent = agent_of_key(self);
    if (!self->agent) self->agent = sv_agents_find(&self->service->agents, self->name);
    if (self->agent && atomic_load(&self->agent->unreadable) && !is_for_unreadable(self->route))
        return sv_agent_is_sound(self->agent, why);
    return self->agent || !self->route->needs_agent || may_ask(self->service) || refuse_unknown(self, why);
}

bool sv_routes_admit(sv_exchange *self) {
    sv_refusal why = {0};
    self->begin = sv_clock_seconds();
    if (find_route(self, &why) && may(self, &why) && has_type(self, &why) && find_agent(self, &why))
        return true;
    if (why.status == 404 && self->service->keys.given &&
        sv_keys_who(&self->service->keys, self->authorization, self->subscription) == WHO_ANYONE)
        sv_refuse(&why, 401,
                  /* who has none learns nothing about what there is */
                  "this needs a key: Authorization: Bearer KEY");
    sv_exchange_refuse(self, &why);
    return false;
}

void sv_routes_answer(sv_exchange *self) {
    sv_refusal why = {0};
    if (self->agent || !self->route->needs_agent) {
        self->route->answer(self);
        return;
    }
    if (!is_new(self, &why)) refuse_unknown(self, &why);
    sv_exchange_refuse(self, &why);
}

void sv_routes_end(sv_exchange *self) {
    sv_exchange_settle(self);
    sv_agent_release(self->agent);
    sa_buffer_clear(&self->body);
    sa_buffer_clear(&self->answer);
}
