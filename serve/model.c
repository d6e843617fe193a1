#include "model.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct model {
    sa_agent *agent;
    size_t dim;
};

struct policy {
    atomic_int owners;
    uint64_t version;
    size_t dim;
    bool positions; /* it has an estimate for each place */
    sa_policy *policy;
};

void sv_choice_free(sv_choice *self) {
    free(self->arms);
    free(self->estimates);
    free(self->widths);
    free(self->prefixes);
    free(self->positions);
    free(self->scores);
    free(self->order);
    free(self->chances);
    *self = (sv_choice){0};
}

/* ---- learning ---- */

/* Does a decide have all that it asks for? */
static bool is_served(const sa_agent *agent, sv_refusal *why) {
    char value[64];
    sa_options_get(sa_agent_options(agent), "algorithm", value, sizeof value);
    if (!strcmp(value, "best"))
        return sv_refuse(why, 400,
                         "options: algorithm best knows the expected scores, which nobody does here");
    if (sa_agent_needs_oracle(agent))
        return sv_refuse(why, 400, "options: oracle own is a function of somebody's program");
    return true;
}

static bool wrap(sa_agent *agent, sv_model **out, sv_refusal *why) {
    char dim[64];
    if (!is_served(agent, why)) {
        sa_agent_destroy(agent);
        return false;
    }
    sv_model *self = calloc(1, sizeof *self);
    if (!self) {
        sa_agent_destroy(agent);
        return sv_refuse(why, 503, "memory could not be had");
    }
    sa_options_get(sa_agent_options(agent), "dim", dim, sizeof dim);
    *self = (sv_model){agent, strtoull(dim, NULL, 10)};
    *out = self;
    return true;
}

bool sv_model_create(const sv_settings *settings, sv_model **out, sv_refusal *why) {
    sa_agent *agent = NULL;
    sa_options *options = sv_settings_options(settings, why);
    if (!options) return false;
    sa_status status = settings->schema ? sa_agent_create_with_schema(options, settings->schema, &agent)
                                        : sa_agent_create(options, &agent);
    sa_options_destroy(options);
    return status == SA_OK ? wrap(agent, out, why) : sv_refuse_library(why, status);
}

sa_status sv_model_open(const char *path, sv_model **out, sv_refusal *why) {
    sa_agent *agent = NULL;
    sa_status status = sa_agent_load(path, &agent);
    if (status != SA_OK) return sv_refuse_library(why, status), status;
    return wrap(agent, out, why) ? SA_OK : why->status == 503 ? SA_OUT_OF_MEMORY : SA_INVALID;
}

bool sv_model_load(const char *path, sv_model **out, sv_refusal *why) {
    return sv_model_open(path, out, why) == SA_OK;
}

void sv_model_destroy(sv_model *self) {
    if (!self) return;
    sa_agent_destroy(self->agent);
    free(self);
}

sa_status sv_model_revise(sv_model *self, uint64_t seq, const double *scores, const bool *first,
                          const bool *changed, size_t count) {
    uint64_t decision;
    sa_status status = sa_agent_find_event(self->agent, seq, &decision);
    if (status == SA_OK && first) status = sa_agent_update(self->agent, decision, scores, first, count);
    if (status == SA_OK && changed) status = sa_agent_revise(self->agent, decision, scores, changed, count);
    return status;
}

sa_status sv_model_learn(sv_model *self, const sv_ask *ask, uint64_t seq, const size_t *arms,
                         const double *scores, const bool *observed, size_t count) {
    sa_request_slate(ask->request, count);
    sa_request_event(ask->request, seq);
    return sa_agent_learn(self->agent, ask->request, arms, scores, observed, count);
}

sa_status sv_model_save(const sv_model *self, const char *path) { return sa_agent_save(self->agent, path); }
void sv_model_count(const sv_model *self, sa_agent_counts *out) { sa_agent_count(self->agent, out); }

sa_agent *sv_model_agent(const sv_model *self) { return self->agent; }

void sv_model_replace(sv_model *self, sa_agent *agent) {
    sa_agent_destroy(self->agent);
    self->agent = agent;
}

/* ---- policies ---- */

bool sv_model_policy(sv_model *self, uint64_t version, sv_policy **out, sv_refusal *why) {
    sv_policy *made = calloc(1, sizeof *made);
    if (!made) return sv_refuse(why, 503, "memory could not be had");
    sa_status status = sa_agent_policy(self->agent, &made->policy);
    if (status != SA_OK) {
        free(made);
        return sv_refuse_library(why, status);
    }
    made->owners = 1;
    made->dim = self->dim;
    char feedback[32] = "";
    sa_options_get(sa_agent_options(self->agent), "feedback", feedback, sizeof feedback);
    made->positions = !strcmp(feedback, "position");
    made->version = version;
    *out = made;
    return true;
}

void sv_policy_retain(sv_policy *self) { atomic_fetch_add(&self->owners, 1); }

void sv_policy_release(sv_policy *self) {
    if (!self || atomic_fetch_sub(&self->owners, 1) > 1) return;
    sa_policy_release(self->policy);
    free(self);
}

uint64_t sv_policy_version(const sv_policy *self) { return self->version; }

/* Each thread has a workspace and a decision of its own, which end with it. */
typedef struct workspace {
    sa_chooser *chooser;
    sa_decision *decision;
} workspace;

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

static void end_workspace(void *user) {
    workspace *self = user;
    sa_decision_destroy(self->decision);
    sa_chooser_destroy(self->chooser);
    free(self);
}

static void make_key(void) { has_key = pthread_key_create(&key, end_workspace) == 0; }

static workspace *workspace_of_thread(void) {
    pthread_once(&once, make_key);
    workspace *self = has_key ? pthread_getspecific(key) : NULL;
    if (self || !has_key) return self;
    self = calloc(1, sizeof *self);
    if (self && (!(self->chooser = sa_chooser_new()) || pthread_setspecific(key, self))) {
        end_workspace(self);
        self = NULL;
    }
    return self;
}

/* NULL where one of them is unknown, or memory is short: then all are left out. */
static double *copy_known(const double *numbers, size_t count) {
    double *copy = numbers && count ? calloc(count, sizeof *copy) : NULL;
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = numbers[i];
        if (isfinite(numbers[i])) continue;
        free(copy);
        copy = NULL;
    }
    return copy;
}

static bool copy_choice(const sa_decision *decision, sv_choice *out, sv_refusal *why) {
    size_t count = sa_decision_slate(decision), bytes = count * sizeof(double);
    *out = (sv_choice){.length = count, .propensity = NAN};
    out->arms = calloc(count + 1, sizeof *out->arms);
    out->estimates = calloc(count + 1, sizeof(double));
    out->widths = calloc(count + 1, sizeof(double));
    if (!out->arms || !out->estimates || !out->widths) {
        sv_choice_free(out);
        return sv_refuse(why, 503, "memory could not be had");
    }
    if (count) { /* else there are no arrays */
        memcpy(out->arms, sa_decision_arms(decision), count * sizeof *out->arms);
        memcpy(out->estimates, sa_decision_estimates(decision), bytes);
        memcpy(out->widths, sa_decision_widths(decision), bytes);
    }
    out->propensity = sa_decision_propensity(decision);
    out->explored = sa_decision_explored(decision);
    out->prefixes = copy_known(sa_decision_prefix_propensities(decision), count);
    out->positions = copy_known(sa_decision_position_propensities(decision), count);
    return true;
}

static bool copy_scores(const sa_decision *decision, const sv_ask *ask, sv_choice *out, sv_refusal *why) {
    size_t positions = sa_decision_positions(decision);
    if (!ask->explain) return true;
    out->columns = positions ? positions : 1;
    size_t count = ask->arms * out->columns;
    out->scores = calloc(count, sizeof(double));
    if (!out->scores) return sv_refuse(why, 503, "memory could not be had");
    memcpy(out->scores, sa_decision_all_scores(decision), count * sizeof(double));
    return true;
}

/* The policy with this oracle (NULL: its own); caller releases it. */
static sa_status take_policy(const sv_policy *self, const char *oracle, sa_policy **out) {
    if (oracle) return sa_policy_with_oracle(self->policy, oracle, out);
    *out = sa_policy_retain(self->policy);
    return SA_OK;
}

static bool fits(const sv_policy *self, const sv_ask *ask, sv_refusal *why) {
    return ask->dim == self->dim ||
           sv_refuse(why, 503, "the request was read for dim %zu, and the policy's is %zu", ask->dim,
                     self->dim);
}

static sa_status select_with(const sa_policy *policy, workspace *own, sv_ask *ask, uint64_t draw) {
    sa_request_draw(ask->request, draw);
    sa_request_propensities(ask->request, true);
    return sa_policy_select(policy, own->chooser, ask->request, &own->decision);
}

/* ---- a ranking ---- */

/* Behind the slate, the others by decreasing score; ties, and scores that are not known, by their number. */
static void put_in_order(sv_choice *self, const double *scores) {
    size_t first = self->arms[0], count = 1;
    self->order[0] = first;
    for (size_t arm = 0; arm < self->ranked; arm++) {
        size_t at = count;
        if (arm == first) continue;
        while (at > 1 && scores[arm] > scores[self->order[at - 1]]) {
            self->order[at] = self->order[at - 1];
            at--;
        }
        self->order[at] = arm;
        count++;
    }
}

static bool rank(const sa_policy *policy, workspace *own, const sv_ask *ask, sv_choice *out,
                 sv_refusal *why) {
    double *scores = calloc(ask->arms, sizeof *scores);
    out->ranked = ask->arms;
    out->order = calloc(ask->arms, sizeof *out->order);
    out->chances = calloc(ask->arms, sizeof *out->chances);
    bool good = (scores && out->order && out->chances) || sv_refuse(why, 503, "memory could not be had");
    sa_status status = SA_OK;
    if (good) status = sa_policy_estimate(policy, own->chooser, ask->request, NULL, NULL, scores);
    if (good && status == SA_OK)
        status = sa_policy_propensities(policy, own->chooser, ask->request, out->arms, 1, NULL, NULL, NULL,
                                        out->chances, NULL);
    if (status != SA_OK) good = sv_refuse_library(why, status);
    if (good) put_in_order(out, scores);
    free(scores);
    return good;
}

bool sv_policy_choose(const sv_policy *self, sv_ask *ask, const char *oracle, uint64_t draw, sv_choice *out,
                      sv_refusal *why) {
    sa_policy *policy = NULL;
    workspace *own = workspace_of_thread();
    if (!own) return sv_refuse(why, 503, "memory could not be had");
    if (!fits(self, ask, why)) return false;
    sa_status status = take_policy(self, oracle, &policy);
    if (status == SA_OK) status = select_with(policy, own, ask, draw);
    bool good = status == SA_OK || sv_refuse_library(why, status);
    good = good && copy_choice(own->decision, out, why) && copy_scores(own->decision, ask, out, why);
    if (good && ask->ranking) good = rank(policy, own, ask, out, why);
    sa_policy_release(policy);
    return good;
}

bool sv_policy_choose_by_chance(const sv_policy *self, sv_ask *ask, const char *oracle, uint64_t draw,
                                sv_choice *out, sv_refusal *why) {
    sa_policy *policy = NULL;
    workspace *own = workspace_of_thread();
    if (!own) return sv_refuse(why, 503, "memory could not be had");
    if (!fits(self, ask, why)) return false;
    sa_status status = take_policy(self, oracle, &policy);
    for (int by_place = 0; policy && by_place < 2; by_place++) {
        sa_policy *chance = NULL;
        status = sa_policy_by_chance(policy, by_place, &chance);
        if (status == SA_OK) status = select_with(chance, own, ask, draw);
        sa_policy_release(chance);
        if (status != SA_INVALID) break;
    }
    sa_policy_release(policy);
    if (status == SA_OK) return copy_choice(own->decision, out, why);
    if (status != SA_INVALID) return sv_refuse_library(why, status);
    return sv_refuse(why, 400,
                     "this event is on the control side, and no uniform slate can be drawn for it: %.300s. "
                     "Send a baseline with each request",
                     sa_last_error());
}

bool sv_policy_verify(const sv_policy *self, sv_ask *ask, const char *oracle, const size_t *arms,
                      size_t count, sv_refusal *why) {
    sa_policy *policy = NULL;
    if (!fits(self, ask, why)) return false;
    sa_status status = take_policy(self, oracle, &policy);
    if (status == SA_OK) status = sa_policy_verify(policy, ask->request, arms, count);
    sa_policy_release(policy);
    if (status == SA_INVALID) return sv_refuse(why, 400, "baseline: %.400s", sa_last_error());
    return status == SA_OK || sv_refuse_library(why, status);
}

bool sv_policy_estimate(const sv_policy *self, const double *contexts, size_t arms, double *estimates) {
    workspace *own = workspace_of_thread();
    sa_request *request = self->positions ? NULL : sa_request_new();
    if (!own || !request) {
        sa_request_destroy(request);
        return false;
    }
    sa_request_contexts(request, contexts, arms);
    sa_request_slate(request, 1);
    sa_status status = sa_policy_estimate(self->policy, own->chooser, request, estimates, NULL, NULL);
    sa_request_destroy(request);
    return status == SA_OK;
}
