/* All oracles, in the order of SA_ORACLES. */
#include "oracle/oracle.h"

#include <string.h>

#include "base/text.h"

static const sa_oracle *const ORACLES[sa_oracle_kind_count] = {
    [SA_ORACLE_TOP_K] = &sa_oracle_top_k,
    [SA_ORACLE_ASSIGNMENT] = &sa_oracle_assignment,
    [SA_ORACLE_CASCADE] = &sa_oracle_cascade,
    [SA_ORACLE_KNAPSACK] = &sa_oracle_knapsack,
    [SA_ORACLE_MATROID] = &sa_oracle_matroid,
    [SA_ORACLE_SHORTEST_PATH] = &sa_oracle_shortest_path,
    [SA_ORACLE_MATCHING] = &sa_oracle_matching,
    [SA_ORACLE_ASSORTMENT] = &sa_oracle_assortment,
    [SA_ORACLE_SUBMODULAR] = &sa_oracle_submodular,
    [SA_ORACLE_ILP] = &sa_oracle_ilp,
    [SA_ORACLE_OWN] = &sa_oracle_own,
};
enum { LISTED = SA_ORACLE_OWN }; /* the last, which nobody finds by its name */

const sa_oracle *sa_oracle_of(sa_oracle_kind kind) {
    return (unsigned)kind < sa_oracle_kind_count ? ORACLES[kind] : NULL;
}

bool sa_oracle_at(size_t index, sa_oracle_info *info) {
    const sa_oracle *oracle = index < LISTED ? ORACLES[index] : NULL;
    if (!oracle) return false;
    *info = (sa_oracle_info){oracle->name, oracle->summary, oracle->wants,
                             oracle->cost, oracle->alpha,   oracle->exact};
    return true;
}

const sa_oracle *sa_oracle_find(const char *name) {
    char shown[SA_PRINTABLE];
    const sa_oracle *nearest = NULL;
    size_t least = 3;
    for (int kind = 0; name && kind < LISTED; kind++) {
        size_t apart = sa_edit_distance(name, ORACLES[kind]->name, 3);
        if (apart == 0) return ORACLES[kind];
        if (apart >= least) continue;
        least = apart;
        nearest = ORACLES[kind];
    }
    sa_printable(name ? name : "", shown);
    if (nearest)
        sa_fail(SA_INVALID, "%s is not an oracle; did you mean %s?", shown, nearest->name);
    else
        sa_fail(SA_INVALID, "%s is not an oracle; superarm list oracles shows them", shown);
    return NULL;
}
