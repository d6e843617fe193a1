/* Weights of one decision: target over logged probability.
 *
 * pi, where the reward is a sum over positions. Positions logged independently: W = 1 + sum_k (w_k - 1).
 * Logged uniformly without repetition from A arms, target marginals q_k, C = sum over a in the slate and k of
 * q_k(a):
 *
 *     W = 1 + A (A - 1) / (A - K) (C / K - K / A) + (A - 1) (sum_k q_k(a_k) - C / K),   the middle term
 *         absent if A = K. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/file.h"
#include "base/memory.h"
#include "evaluate/evaluate.h"

static const char *const FIELDS[] = {"propensity", "position_propensities", "prefix_propensities"};

/* Room for the weights of the last decision of the table, which is where they go. */
static sa_status room(sa_sample *sample, sa_weight_kind kind, double **out) {
    const sa_feedback_table *table = sample->table;
    size_t last = table->count - 1, from = sa_weight_is_long(kind) ? table->first[last] : last;
    size_t count = sa_weight_is_long(kind) ? table->first[last + 1] - from : 1;
    SA_TRY(sa_grow_array(&sample->weights[kind], &sample->rooms[kind], from + count + 1,
                         sizeof **sample->weights));
    *out = sample->weights[kind] + from;
    return SA_OK;
}

/* Keeps why a kind is not known, the first time. */
static sa_status miss(sa_sample *sample, sa_weight_kind kind, const sa_log_entry *entry, const char *why) {
    if (sample->missing[kind]) return SA_OK;
    return sa_format(&sample->missing[kind], "%" PRIu64 ": %s", entry->line, why);
}

static sa_status miss_field(sa_sample *sample, sa_weight_kind kind, const sa_log_entry *entry,
                            const sa_target *target) {
    if (target && target->kind == SA_TARGET_AGENT)
        return miss(sample, kind, entry,
                    kind == SA_WEIGHT_POSITION
                        ? "the agent cannot say how likely an arm is at a position: it draws, and has no "
                          "--floor, or has one by place and another oracle than top-k"
                        : "the agent cannot say how likely it is to choose a slate: it draws, and has no "
                          "--floor");
    char why[64];
    snprintf(why, sizeof why, "%s%s is missing", target ? "target_" : "", FIELDS[kind]);
    return miss(sample, kind, entry, why);
}

static double probability(const sa_probabilities *known, sa_weight_kind kind, size_t k) {
    if (kind == SA_WEIGHT_JOINT) return sa_joint_of(known);
    return kind == SA_WEIGHT_POSITION ? sa_position_of(known, k) : sa_prefix_of(known, k);
}

static sa_status weigh_kind(const sa_log_entry *entry, const sa_probabilities *logged,
                            const sa_target *target, const sa_probabilities *asked, sa_weight_kind kind,
                            sa_sample *sample) {
    double *weights;
    if (sample->missing[kind]) return SA_OK;
    SA_TRY(room(sample, kind, &weights));
    size_t count = sa_weight_is_long(kind) ? entry->slate : 1;
    for (size_t k = 0; k < count; k++) {
        weights[k] = 1;
        if (target->kind == SA_TARGET_LOGGED) continue;
        double above = probability(asked, kind, k), below = probability(logged, kind, k);
        if (isnan(below)) return miss_field(sample, kind, entry, NULL);
        if (isnan(above)) return miss_field(sample, kind, entry, target);
        weights[k] = above / below;
    }
    return SA_OK;
}

/* ---- pi ---- */

bool sa_is_uniform(const sa_log_entry *entry) {
    const sa_probabilities logged = {.slate = entry->slate,
                                     .joint = entry->propensity,
                                     .prefix = entry->prefix_propensities,
                                     .position = entry->position_propensities};
    double uniform = 1;
    for (size_t k = 0; k < entry->slate; k++) uniform /= (double)(entry->candidates - k);
    return fabs(sa_joint_of(&logged) - uniform) <= 1e-6 * uniform;
}

static sa_status pi_of_product(const sa_log_entry *entry, const sa_probabilities *logged,
                               const sa_probabilities *asked, sa_sample *sample, double *weight) {
    *weight = 1;
    for (size_t k = 0; k < entry->slate; k++) {
        double above = sa_position_of(asked, k), below = sa_position_of(logged, k);
        if (isnan(below)) return miss(sample, SA_WEIGHT_PI, entry, "position_propensities is missing");
        if (isnan(above)) return miss(sample, SA_WEIGHT_PI, entry, "target_position_propensities is missing");
        *weight += above / below - 1;
    }
    return SA_OK;
}

static sa_status pi_of_uniform(sa_weigher *weigher, const sa_log_entry *entry, sa_target *target,
                               double *weight) {
    size_t arms = entry->candidates, slate = entry->slate;
    SA_TRY(sa_grow_array(&weigher->marginals, &weigher->marginals_room, slate * arms + 1, sizeof(double)));
    SA_TRY(sa_target_marginals(target, entry, weigher->marginals));
    double A = (double)arms, K = (double)slate, C = 0, own = 0;
    for (size_t k = 0; k < slate; k++) {
        own += weigher->marginals[k * arms + entry->arms[k]];
        for (size_t j = 0; j < slate; j++) C += weigher->marginals[k * arms + entry->arms[j]];
    }
    *weight = 1 + (A - 1) * (own - C / K);
    if (arms > slate) *weight += A * (A - 1) / (A - K) * (C / K - K / A);
    return SA_OK;
}

static sa_status weigh_pi(sa_weigher *weigher, const sa_log_entry *entry, const sa_probabilities *logged,
                          sa_target *target, const sa_probabilities *asked, sa_sample *sample) {
    double *weight;
    if (sample->missing[SA_WEIGHT_PI]) return SA_OK;
    SA_TRY(room(sample, SA_WEIGHT_PI, &weight));
    *weight = 1;
    if (target->kind == SA_TARGET_LOGGED || entry->slate == 0) return SA_OK;
    if (weigher->product || entry->slate == 1) return pi_of_product(entry, logged, asked, sample, weight);
    if (!sa_is_uniform(entry))
        return miss(sample, SA_WEIGHT_PI, entry,
                    "the slate was not drawn uniformly; say --logging product if its positions were drawn "
                    "independently");
    if (!sa_target_knows_all(target))
        return miss(sample, SA_WEIGHT_PI, entry,
                    "pi needs the probabilities of all arms where slates were drawn uniformly, and the log "
                    "has those of the "
                    "slate");
    return pi_of_uniform(weigher, entry, target, weight);
}

sa_status sa_weigh(sa_weigher *weigher, const sa_log_entry *entry, sa_target *target, sa_sample *sample) {
    sa_probabilities asked, logged = {.slate = entry->slate,
                                      .joint = entry->propensity,
                                      .prefix = entry->prefix_propensities,
                                      .position = entry->position_propensities};
    SA_TRY(sa_target_probabilities(target, entry, &asked));
    for (int kind = 0; kind < SA_WEIGHT_PI; kind++)
        if (weigher->asked[kind])
            SA_TRY(weigh_kind(entry, &logged, target, &asked, (sa_weight_kind)kind, sample));
    return weigher->asked[SA_WEIGHT_PI] ? weigh_pi(weigher, entry, &logged, target, &asked, sample) : SA_OK;
}

void sa_weigher_clear(sa_weigher *weigher) { sa_free(weigher->marginals); }
