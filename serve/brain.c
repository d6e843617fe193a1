#include "brain.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct brain {
    sa_agent *agent;
    size_t dim;
};

struct policy {
    atomic_int owners;
    uint64_t version;
    pthread_mutex_t lock;
    sa_agent *agent;
    sa_decision *decision;
};

void choice_free(sv_choice *self) {
    free(self->arms);
    free(self->estimates);
    free(self->widths);
    free(self->prefixes);
    free(self->positions);
    *self = (sv_choice){0};
}

static bool wrap(sa_agent *agent, sv_brain **out, sv_refusal *why) {
    char dim[64];
    sv_brain *self = calloc(1, sizeof *self);
    if (!self) {
        sa_agent_destroy(agent);
        return refuse(why, 503, "memory could not be had");
    }
    sa_options_get(sa_agent_options(agent), "dim", dim, sizeof dim);
    *self = (sv_brain){agent, strtoull(dim, NULL, 10)};
    *out = self;
    return true;
}

bool brain_create(const sv_settings *settings, sv_brain **out, sv_refusal *why) {
    sa_agent *agent = NULL;
    sa_options *options = settings_options(settings, why);
    if (!options) return false;
    sa_status status = sa_agent_create(options, &agent);
    sa_options_destroy(options);
    return status == SA_OK ? wrap(agent, out, why) : refuse_library(why, status);
}

bool brain_load(const char *path, sv_brain **out, sv_refusal *why) {
    sa_agent *agent = NULL;
    sa_status status = sa_agent_load(path, &agent);
    return status == SA_OK ? wrap(agent, out, why) : refuse_library(why, status);
}

bool brain_change(sv_brain **self, const sv_settings *settings, const char *scratch, sv_refusal *why) {
    (void)self, (void)settings, (void)scratch;
    return refuse(why, 409, "other options need a new agent: send \"reset\": true with them");
}

void brain_destroy(sv_brain *self) {
    if (!self) return;
    sa_agent_destroy(self->agent);
    free(self);
}

typedef struct forced {
    const size_t *arms;
    size_t count;
} forced;

static int give(void *user, const double *scores, size_t arms, const bool *excluded, size_t most, size_t *slate,
                size_t *length) {
    const forced *self = user;
    (void)scores, (void)arms, (void)excluded, (void)most;
    memcpy(slate, self->arms, self->count * sizeof *slate);
    *length = self->count;
    return 0;
}

sa_status brain_learn(sv_brain *self, const sv_ask *ask, const size_t *arms, const double *scores, const bool *observed,
                      size_t count) {
    forced slate = {arms, count};
    sa_oracle_callbacks oracle = {give, &slate, 1, false, NULL};
    sa_decision *decision = NULL;
    sa_request_slate(ask->request, count);
    sa_status status = sa_agent_oracle(self->agent, &oracle);
    if (status == SA_OK) status = sa_agent_select(self->agent, ask->request, &decision);
    if (status == SA_OK) status = sa_agent_update(self->agent, sa_decision_id(decision), scores, observed, count);
    sa_decision_destroy(decision);
    sa_agent_oracle(self->agent, NULL);
    return status;
}

sa_status brain_save(const sv_brain *self, const char *path) { return sa_agent_save(self->agent, path); }
void brain_count(const sv_brain *self, sa_agent_counts *out) { sa_agent_count(self->agent, out); }

bool brain_is_servable(const sv_brain *self, size_t dim, sv_refusal *why) {
    char value[512] = "";
    const sa_options *options = sa_agent_options(self->agent);
    if (self->dim != dim) return refuse(why, 409, "its dim is %zu, and this agent's %zu", self->dim, dim);
    sa_options_get(options, "count-pending", value, sizeof value);
    if (!strcmp(value, "true")) return refuse(why, 400, "its option count-pending is not taken by the service");
    if (sa_options_get(options, "history", value, sizeof value) != SA_OK || *value)
        return refuse(why, 400, "its option history is not taken by the service");
    if (sa_options_get(options, "oracle", value, sizeof value) == SA_OK && !strcmp(value, "own"))
        return refuse(why, 400, "its oracle is a function of somebody's program");
    return true;
}

json_t *brain_options(const sv_brain *self) {
    const sa_options *options = sa_agent_options(self->agent);
    json_t *object = json_object();
    sa_option_info info;
    char value[512];
    for (size_t i = 0; object && sa_option_at(i, &info); i++)
        if (sa_options_given(options, info.name) && strcmp(info.name, "slate") &&
            sa_options_get(options, info.name, value, sizeof value) == SA_OK)
            json_object_set_new(object, info.name, json_string(value));
    return object;
}

bool brain_policy(sv_brain *self, uint64_t version, sv_policy **out, sv_refusal *why) {
    char path[] = "/tmp/superarm-policy-XXXXXX";
    int file = mkstemp(path);
    sv_policy *made = calloc(1, sizeof *made);
    if (!made || file < 0) return refuse(why, 503, "memory could not be had");
    close(file);
    sa_status status = sa_agent_save(self->agent, path);
    if (status == SA_OK) status = sa_agent_load(path, &made->agent);
    unlink(path);
    if (status != SA_OK) {
        free(made);
        return refuse_library(why, status);
    }
    made->owners = 1;
    made->version = version;
    pthread_mutex_init(&made->lock, NULL);
    *out = made;
    return true;
}

void policy_retain(sv_policy *self) { atomic_fetch_add(&self->owners, 1); }

void policy_release(sv_policy *self) {
    if (!self || atomic_fetch_sub(&self->owners, 1) > 1) return;
    sa_decision_destroy(self->decision);
    sa_agent_destroy(self->agent);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

uint64_t policy_version(const sv_policy *self) { return self->version; }

static bool copy_choice(const sa_decision *decision, sv_choice *out, sv_refusal *why) {
    size_t count = sa_decision_slate(decision), bytes = count * sizeof(double);
    *out = (sv_choice){.length = count, .propensity = NAN};
    out->arms = calloc(count + 1, sizeof *out->arms);
    out->estimates = calloc(count + 1, sizeof(double));
    out->widths = calloc(count + 1, sizeof(double));
    if (!out->arms || !out->estimates || !out->widths) {
        choice_free(out);
        return refuse(why, 503, "memory could not be had");
    }
    memcpy(out->arms, sa_decision_arms(decision), count * sizeof *out->arms);
    memcpy(out->estimates, sa_decision_estimates(decision), bytes);
    memcpy(out->widths, sa_decision_widths(decision), bytes);
    return true;
}

bool policy_choose(sv_policy *self, sv_ask *ask, uint64_t draw, sv_choice *out, sv_refusal *why) {
    (void)draw;
    pthread_mutex_lock(&self->lock);
    sa_status status = sa_agent_select(self->agent, ask->request, &self->decision);
    bool good = status == SA_OK ? copy_choice(self->decision, out, why) : refuse_library(why, status);
    pthread_mutex_unlock(&self->lock);
    return good;
}
