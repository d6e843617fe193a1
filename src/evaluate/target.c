/* The policy in question: how likely is it to choose a logged slate? */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "evaluate/evaluate.h"

/* ---- what is known of a slate ---- */

/* A slate of one arm is its own prefix and its own position: any of the three says all. */
static double of_one(const sa_probabilities *known) {
    if (!isnan(known->joint)) return known->joint;
    if (known->prefix && !isnan(known->prefix[0])) return known->prefix[0];
    return known->position ? known->position[0] : NAN;
}

static double at(const sa_probabilities *known, const double *list, size_t position) {
    double probability = list ? list[position] : NAN;
    return isnan(probability) && known->slate == 1 ? of_one(known) : probability;
}

double sa_joint_of(const sa_probabilities *known) {
    return isnan(known->joint) && known->slate == 1 ? of_one(known) : known->joint;
}

double sa_prefix_of(const sa_probabilities *known, size_t position) {
    return at(known, known->prefix, position);
}
double sa_position_of(const sa_probabilities *known, size_t position) {
    return at(known, known->position, position);
}

/* ---- targets ---- */

static const struct {
    const char *name;
    sa_target_kind kind;
} KINDS[] = {{"given", SA_TARGET_GIVEN}, {"uniform", SA_TARGET_UNIFORM}, {"logged", SA_TARGET_LOGGED}};

static sa_status open_agent(const char *path, sa_target *target) {
    SA_TRY(sa_agent_load(path, &target->agent));
    SA_TRY(sa_agent_policy(target->agent, &target->policy));
    target->chooser = sa_chooser_new();
    target->request = sa_request_new();
    target->encoding = sa_encoding_new();
    return target->chooser && target->request && target->encoding
               ? SA_OK
               : sa_fail(SA_OUT_OF_MEMORY, "no memory for a chooser");
}

sa_status sa_target_open(const char *name, sa_target *out) {
    char printable[SA_PRINTABLE];
    sa_target target = {0};
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (strcmp(name, KINDS[i].name)) continue;
        target.kind = KINDS[i].kind;
        SA_TRY(sa_copy_text(name, &target.name));
        *out = target;
        return SA_OK;
    }
    if (!strpbrk(name, "./"))
        return sa_fail(SA_INVALID, "--policy %s is not given, uniform, logged or the file of an agent",
                       sa_printable(name, printable));
    /* NAME=FILE: a name has no dot and no slash, which most files have */
    const char *path = name + strcspn(name, "=./");
    size_t named = *path == '=' && path > name ? (size_t)(path - name) : 0;
    path = named ? path + 1 : name;
    target.kind = SA_TARGET_AGENT;
    sa_status status = open_agent(path, &target);
    if (status == SA_OK) status = sa_copy_text(path, &target.path);
    if (status == SA_OK) status = sa_copy_text(name, &target.name);
    if (named && target.name) target.name[named] = 0;
    if (status == SA_OK)
        *out = target;
    else
        sa_target_clear(&target);
    return status;
}

void sa_target_clear(sa_target *target) {
    sa_encoding_destroy(target->encoding);
    sa_request_destroy(target->request);
    sa_chooser_destroy(target->chooser);
    sa_policy_release(target->policy);
    sa_agent_destroy(target->agent);
    sa_json_clear(&target->extra);
    sa_free(target->excluded);
    sa_free(target->name);
    sa_free(target->path);
    sa_free(target->lists);
}

static sa_status uniform(sa_target *target, const sa_log_entry *entry, sa_probabilities *out) {
    size_t slate = entry->slate;
    SA_TRY(sa_grow_array(&target->lists, &target->lists_room, 2 * slate + 1, sizeof *target->lists));
    double *prefix = target->lists, *position = prefix + slate, probability = 1;
    for (size_t k = 0; k < slate; k++) {
        probability /= (double)(entry->candidates - k);
        prefix[k] = probability;
        position[k] = 1 / (double)entry->candidates;
    }
    *out = (sa_probabilities){.slate = slate, .joint = probability, .prefix = prefix, .position = position};
    return SA_OK;
}

/* ---- an agent ---- */

sa_status sa_target_contexts(sa_target *target, const sa_log_entry *entry, const double **contexts,
                             size_t *dim) {
    const sa_schema *schema = target->agent ? sa_agent_schema(target->agent) : NULL;
    *contexts = entry->contexts;
    *dim = entry->dim;
    if (schema) {
        SA_TRY(sa_schema_encode(schema, entry->json, entry->json_size, target->encoding));
        *contexts = sa_encoding_contexts(target->encoding);
        *dim = sa_schema_dim(schema);
    }
    if (*contexts) return SA_OK;
    return sa_fail(SA_INVALID,
                   "items have named fields, and there is no agent with a schema to read them with");
}

static bool is_arm(const sa_log_entry *entry, const sa_json *json, size_t at, size_t arm) {
    if (entry->ids)
        return json->nodes[at].kind == SA_JSON_STRING && sa_json_equals(json, at, entry->ids[arm]);
    return json->nodes[at].kind == SA_JSON_NUMBER && sa_json_number(json, at) == (double)arm;
}

/* What the request of a service excluded is not chosen by another policy either. */
static sa_status take_excluded(sa_target *target, const sa_log_entry *entry) {
    const sa_json *json = &target->extra;
    size_t index = 0, list = 0;
    sa_request_exclude(target->request, NULL);
    if (!entry->extra) return SA_OK;
    SA_TRY(sa_json_parse(&target->extra, entry->extra, entry->extra_size));
    if (!(list = sa_json_find(json, 0, "exclude")) || json->nodes[list].kind != SA_JSON_ARRAY) return SA_OK;
    SA_TRY(sa_grow_array(&target->excluded, &target->excluded_room, entry->candidates,
                         sizeof *target->excluded));
    memset(target->excluded, 0, entry->candidates * sizeof *target->excluded);
    for (size_t at = list + 1; at < json->nodes[list].next; at = json->nodes[at].next, index++) {
        size_t arm = 0;
        while (arm < entry->candidates && !is_arm(entry, json, at, arm)) arm++;
        if (arm == entry->candidates)
            return sa_fail(SA_FORMAT, "exclude[%zu] is none of the %zu candidates", index, entry->candidates);
        target->excluded[arm] = true;
    }
    sa_request_exclude(target->request, target->excluded);
    return SA_OK;
}

/* Rules of a service's requests, in numbers and in words. */
static bool has_rules(const sa_target *target, const sa_log_entry *entry) {
    static const char *const rules[] = {"problem", "pin", "at_most", "at_least", "exactly"};
    for (size_t i = 0; entry->extra && i < sizeof rules / sizeof *rules; i++)
        if (sa_json_find(&target->extra, 0, rules[i])) return true;
    return false;
}

static sa_status ask(sa_target *target, const sa_log_entry *entry) {
    const double *contexts;
    char text[32];
    size_t dim;
    SA_TRY(sa_target_contexts(target, entry, &contexts, &dim));
    SA_TRY(sa_options_get(sa_agent_options(target->agent), "dim", text, sizeof text));
    if (strtoull(text, NULL, 10) != dim)
        return sa_fail(SA_INVALID, "the contexts have %zu numbers, and the agent %s takes %s", dim,
                       target->name, text);
    sa_request_contexts(target->request, contexts, entry->candidates);
    sa_request_slate(target->request, entry->slate);
    return take_excluded(target, entry);
}

static sa_status of_agent(sa_target *target, const sa_log_entry *entry, sa_probabilities *out) {
    size_t slate = entry->slate;
    SA_TRY(sa_grow_array(&target->lists, &target->lists_room, 2 * slate + 1, sizeof *target->lists));
    double *prefix = target->lists, *position = prefix + slate;
    *out = (sa_probabilities){.slate = slate, .joint = 1, .prefix = prefix, .position = position};
    if (slate == 0) return SA_OK;
    SA_TRY(ask(target, entry));
    target->ruled += has_rules(target, entry);
    return sa_policy_propensities(target->policy, target->chooser, target->request, entry->arms, slate,
                                  &out->joint, prefix, position, NULL, NULL);
}

sa_status sa_target_probabilities(sa_target *target, const sa_log_entry *entry, sa_probabilities *out) {
    *out = (sa_probabilities){.slate = entry->slate, .joint = NAN};
    switch (target->kind) {
    case SA_TARGET_GIVEN:
        out->joint = entry->target_propensity;
        out->prefix = entry->target_prefix_propensities;
        out->position = entry->target_position_propensities;
        return SA_OK;
    case SA_TARGET_UNIFORM: return uniform(target, entry, out);
    case SA_TARGET_AGENT: return of_agent(target, entry, out);
    case SA_TARGET_LOGGED:
        out->joint = entry->propensity;
        out->prefix = entry->prefix_propensities;
        out->position = entry->position_propensities;
        return SA_OK;
    }
    return SA_OK;
}

bool sa_target_knows_all(const sa_target *target) {
    return target->kind == SA_TARGET_UNIFORM || target->kind == SA_TARGET_AGENT;
}

sa_status sa_target_marginals(sa_target *target, const sa_log_entry *entry, double *out) {
    if (target->kind == SA_TARGET_AGENT && entry->slate) {
        SA_TRY(ask(target, entry));
        SA_TRY(sa_policy_propensities(target->policy, target->chooser, target->request, entry->arms,
                                      entry->slate, NULL, NULL, NULL, out, NULL));
        if (!isnan(out[0])) return SA_OK;
        return sa_fail(SA_INVALID,
                       "%s cannot say how likely its arms are at a position, which dm, dr and pi "
                       "ask for",
                       target->name);
    }
    for (size_t i = 0; i < entry->slate * entry->candidates; i++) out[i] = 1 / (double)entry->candidates;
    return SA_OK;
}

sa_status sa_target_conditionals(sa_target *target, const sa_log_entry *entry, double *out) {
    size_t arms = entry->candidates;
    if (target->kind == SA_TARGET_AGENT && entry->slate) {
        SA_TRY(ask(target, entry));
        return sa_policy_propensities(target->policy, target->chooser, target->request, entry->arms,
                                      entry->slate, NULL, NULL, NULL, NULL, out);
    }
    for (size_t k = 0; k < entry->slate; k++) {
        for (size_t a = 0; a < arms; a++) out[k * arms + a] = 1 / (double)(arms - k);
        for (size_t j = 0; j < k; j++) out[k * arms + entry->arms[j]] = 0;
    }
    return SA_OK;
}
