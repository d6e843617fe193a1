#include "personalizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "routes.h"
#include "service.h"
#include "values.h"

/* Personalizer's own defaults. Features are hashed, whatever they are called; a slot's, too. */
const char SV_PERSONALIZER_AGENT[] =
    "{\"options\": {\"algorithm\": \"cn-ucb\", \"floor\": 0.2, \"floor-by\": \"place\"}, \"slate\": 1, "
    "\"default_feedback\": 0,"
    " \"wait_seconds\": 600, \"aggregate\": \"first\", \"retention_days\": 90, \"reward_range\": [-1, 1],"
    " \"schema\": {\"context\": {\"features\": \"any 32\"},"
    " \"item\": {\"features\": \"any 32\", \"slot\": \"any 8\"},"
    " \"cross\": [[\"context.features\", \"item.features\"], [\"slot\", \"item.features\"]]}}";

/* ---- the agent ---- */

/* A PUT of its own, on behalf of the request that needs it. */
typedef struct making {
    sv_exchange put;
    sv_exchange *asked;
} sv_making;

static void finish(sv_exchange *self) {
    sv_lane lane = self->lane;
    self->lane = LANE_ANY; /* it stays in this thread, the one time */
    self->later = NULL;
    sv_routes_answer(self);
    self->lane = lane;
    if (!self->status && self->later)
        self->later(self);
    else
        self->done(self);
}

static void made(sv_exchange *put) {
    sv_making *self = (sv_making *)put;
    sv_exchange *asked = self->asked;
    asked->agent = sv_agents_find(&asked->service->agents, asked->name);
    if (asked->agent) /* this request made it, or another one at the same moment */
        finish(asked);
    else {
        sv_refusal why = {0};
        sv_refuse(&why, put->status == 409 ? 503 : put->status, "agent %s could not be made: %s", asked->name,
                  put->error);
        sv_exchange_refuse(asked, &why);
        asked->done(asked);
    }
    sv_routes_end(&self->put);
    free(self);
}

static void make(sv_exchange *self) {
    sv_refusal why = {0};
    sv_making *making = calloc(1, sizeof *making);
    if (!making) {
        sv_refuse(&why, 503, "memory could not be had");
        sv_exchange_refuse(self, &why);
        self->done(self);
        return;
    }
    making->asked = self;
    making->put = (sv_exchange){.method = "PUT", .file = -1, .done = made, .service = self->service};
    sa_buffer_text(&making->put.body, SV_PERSONALIZER_AGENT);
    strcpy(making->put.name, self->name);
    making->put.agent = sv_agents_find(&self->service->agents, self->name);
    if (!making->put.agent) sv_route_put_agent(&making->put);
    if (making->put.later)
        making->put.later(&making->put);
    else
        made(&making->put);
}

static bool has_field(const sa_schema *schema, const char *part, const char *name) {
    sa_schema_column column;
    for (size_t i = 0; schema && sa_schema_column_at(schema, i, &column); i++)
        if (!strcmp(column.part, part) && !strcmp(column.field, name)) return true;
    return false;
}

static bool has_agent(sv_exchange *self, sv_refusal *why) {
    if (!self->agent && !strcmp(self->name, SV_PERSONALIZER_OWN)) {
        self->later = make;
        return false;
    }
    if (!self->agent && sv_routes_is_new(self, why)) return false;
    if (!self->agent)
        return sv_refuse(why, 404,
                         "there is no agent %s: PUT /%s/personalizer/v1.0/configurations/service makes it",
                         self->name, self->name);
    sv_settings *settings = sv_agent_settings(self->agent);
    bool good = has_field(settings->schema, "context", "features") &&
                has_field(settings->schema, "item", "features") &&
                has_field(settings->schema, "item", "slot");
    sv_settings_release(settings);
    return good || sv_refuse(why, 409,
                             "agent %s has no schema with context.features, item.features and item.slot, "
                             "which Personalizer's routes need",
                             self->name);
}

/* ---- requests ---- */

/* The body of the request that is made of this one takes its place. */
static bool replace(sv_exchange *self, sa_buffer *body, sv_refusal *why) {
    if (body->status) return sv_refuse(why, 503, "memory could not be had");
    if (body->size > LIMIT_BODY)
        return sv_refuse(why, 413, "actions and slots with their features are more than %d bytes, multiplied",
                         LIMIT_BODY);
    sa_buffer_clear(&self->body);
    self->body = *body;
    *body = (sa_buffer){0};
    return true;
}

bool sv_personalizer_features(const sa_json *json, size_t object, const char *from, const char *name,
                              sa_buffer *out, sv_refusal *why) {
    size_t at = sa_json_find(json, object, from);
    if (!at || sv_value_is(json, at, SA_JSON_NULL)) return true;
    if (!sv_value_is(json, at, SA_JSON_ARRAY) && !sv_value_is(json, at, SA_JSON_OBJECT))
        return sv_refuse(why, 400, "%s is neither a list of objects nor an object", from);
    sa_buffer_format(out, "\"%s\": ", name);
    sa_buffer_value(out, json, at);
    return true;
}

bool sv_personalizer_event(const sa_json *json, sa_buffer *out, sv_refusal *why) {
    size_t at = sa_json_find(json, 0, "eventId");
    char event[LIMIT_ID + 1];
    if (!at || sv_value_is(json, at, SA_JSON_NULL) || sa_json_equals(json, at, "")) return true;
    if (!sv_value_id(json, at, "eventId", event, why)) return false;
    sa_buffer_text(out, "\"event\": ");
    sa_buffer_quote(out, event);
    sa_buffer_text(out, ", ");
    return true;
}

bool sv_personalizer_hold(const sa_json *json, sa_buffer *out, sv_refusal *why) {
    size_t at = sa_json_find(json, 0, "deferActivation");
    bool hold = false;
    if (!at || sv_value_is(json, at, SA_JSON_NULL)) return true;
    if (!sv_value_flag(json, at, "deferActivation", &hold, why)) return false;
    if (hold) sa_buffer_text(out, ", \"activate\": false");
    return true;
}

bool sv_personalizer_request(const sv_exchange *self, sa_buffer *out, sv_refusal *why) {
    uint8_t random[16];
    char id[33];
    if (self->request && *self->request && strlen(self->request) <= LIMIT_ID) {
        sa_buffer_text(out, ", \"id\": ");
        sa_buffer_quote(out, self->request);
        return true;
    }
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return sv_refuse(why, 503, "there are no random numbers");
    sv_hex_write(random, sizeof random, id);
    sa_buffer_format(out, ", \"id\": \"%s\"", id);
    return true;
}

void sv_personalizer_decide(sv_exchange *self, sv_personalizer_rank *translate,
                            void (*shape)(sv_exchange *self)) {
    sv_refusal why = {0};
    sa_json json = {0};
    sa_buffer body = {0};
    bool good = has_agent(self, &why);
    if (good && !self->shape) { /* not in another lane before */
        good = sv_value_parse(&json, self->body.text, self->body.size, NULL, &why) &&
               translate(&json, &body, &why) && replace(self, &body, &why);
        sa_json_clear(&json);
        sa_buffer_clear(&body);
        self->shape = shape;
    }
    if (good)
        sv_route_decide(self);
    else if (why.status)
        sv_exchange_refuse(self, &why);
}

void sv_personalizer_feedback(sv_exchange *self, sv_personalizer_reward *translate) {
    sv_refusal why = {0};
    sa_json json = {0};
    sa_buffer body = {0};
    bool good = sv_value_parse(&json, self->body.text, self->body.size, NULL, &why) &&
                translate(self, &json, &body, &why) && replace(self, &body, &why);
    sa_json_clear(&json);
    sa_buffer_clear(&body);
    if (good)
        sv_route_feedback(self);
    else
        sv_exchange_refuse(self, &why);
}
