/* The policy in question: how likely is it to choose a logged slate? */
#include <math.h>
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

double sa_prefix_of(const sa_probabilities *known, size_t position) { return at(known, known->prefix, position); }
double sa_position_of(const sa_probabilities *known, size_t position) { return at(known, known->position, position); }

/* ---- targets ---- */

static const struct {
    const char *name;
    sa_target_kind kind;
} KINDS[] = {{"given", SA_TARGET_GIVEN}, {"uniform", SA_TARGET_UNIFORM}, {"logged", SA_TARGET_LOGGED}};

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
    return sa_fail(SA_INVALID, "--policy %s is not given, uniform or logged", sa_printable(name, printable));
}

void sa_target_clear(sa_target *target) {
    sa_free(target->name);
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

sa_status sa_target_probabilities(sa_target *target, const sa_log_entry *entry, sa_probabilities *out) {
    *out = (sa_probabilities){.slate = entry->slate, .joint = NAN};
    switch (target->kind) {
    case SA_TARGET_GIVEN:
        out->joint = entry->target_propensity;
        out->prefix = entry->target_prefix_propensities;
        out->position = entry->target_position_propensities;
        return SA_OK;
    case SA_TARGET_UNIFORM: return uniform(target, entry, out);
    case SA_TARGET_LOGGED:
        out->joint = entry->propensity;
        out->prefix = entry->prefix_propensities;
        out->position = entry->position_propensities;
        return SA_OK;
    }
    return SA_OK;
}

bool sa_target_knows_all(const sa_target *target) { return target->kind == SA_TARGET_UNIFORM; }

sa_status sa_target_marginals(sa_target *target, const sa_log_entry *entry, double *out) {
    (void)target; /* uniform */
    for (size_t i = 0; i < entry->slate * entry->candidates; i++) out[i] = 1 / (double)entry->candidates;
    return SA_OK;
}

sa_status sa_target_conditionals(sa_target *target, const sa_log_entry *entry, double *out) {
    (void)target;
    size_t arms = entry->candidates;
    for (size_t k = 0; k < entry->slate; k++) {
        for (size_t a = 0; a < arms; a++) out[k * arms + a] = 1 / (double)(arms - k);
        for (size_t j = 0; j < k; j++) out[k * arms + entry->arms[j]] = 0;
    }
    return SA_OK;
}
