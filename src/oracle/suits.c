/* Which oracle a problem's data are for. */
#include <stdio.h>
#include <string.h>

#include "oracle/oracle.h"

/* `seconds` bounds a search and `exactly` is taken by all whose slates have a length. */
static const unsigned NO_RULES = SA_BIT(SA_SECONDS) | SA_BIT(SA_EXACTLY);

static unsigned rules_of(const sa_problem *problem) { return problem->data.given & ~NO_RULES; }

static bool reads(const sa_oracle *oracle, unsigned rules) {
    return !(rules & ~(oracle->needs | oracle->takes));
}

/* The names of the oracles that look at these, "knapsack" or "assignment or matroid"; "" for none. */
static void list_readers(unsigned rules, bool positions, char *out, size_t size) {
    sa_oracle_info info;
    size_t used = 0;
    *out = 0;
    for (size_t i = 0; sa_oracle_at(i, &info); i++) {
        const sa_oracle *oracle = sa_oracle_of((sa_oracle_kind)i);
        if (!reads(oracle, rules) || (positions && !oracle->positions)) continue;
        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? " or " : "", info.name);
        if (used >= size) return;
    }
}

sa_status sa_problem_is_read(const sa_problem *problem, const char *name) {
    char readers[256];
    const sa_oracle *oracle = problem ? sa_oracle_find(name) : NULL;
    if (!oracle) return problem ? SA_INVALID : sa_fail(SA_INVALID, "sa_problem_is_read needs a problem");
    unsigned rules = rules_of(problem), unread = rules & ~(oracle->needs | oracle->takes);
    sa_datum first = 0;
    while (unread && !(unread & SA_BIT(first))) first++;
    if (!unread) return SA_OK;
    list_readers(rules, false, readers, sizeof readers);
    if (!*readers) list_readers(SA_BIT(first), false, readers, sizeof readers);
    return sa_fail(SA_INVALID, "%s: %s does not look at it, and it would have no effect; %s does",
                   sa_datum_name(first), oracle->name, readers);
}

sa_status sa_problem_oracle(const sa_problem *problem, bool positions, const char **out) {
    /* of two that read the same, the one whose slate is the same list of K arms, and the quicker of these */
    static const sa_oracle_kind order[] = {
        SA_ORACLE_TOP_K,         SA_ORACLE_MATROID,  SA_ORACLE_ASSIGNMENT, SA_ORACLE_CASCADE,
        SA_ORACLE_KNAPSACK,      SA_ORACLE_MATCHING, SA_ORACLE_ASSORTMENT, SA_ORACLE_SUBMODULAR,
        SA_ORACLE_SHORTEST_PATH, SA_ORACLE_ILP};
    _Static_assert(sizeof order / sizeof *order == SA_ORACLE_OWN,
                   "an oracle is missing"); /* own is the last */
    if (!problem || !out) return sa_fail(SA_INVALID, "sa_problem_oracle needs a problem and a place");
    unsigned rules = rules_of(problem);
    if (rules == SA_BIT(SA_EDGES))
        return sa_fail(
            SA_INVALID,
            "edges alone are a graph without cycles to matroid, and pairs to matching: name the one "
            "that is meant as the agent's oracle");
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const sa_oracle *oracle = sa_oracle_of(order[i]);
        if (!reads(oracle, rules) || oracle->needs & ~rules || (positions && !oracle->positions)) continue;
        *out = oracle->name;
        return SA_OK;
    }
    char given[256] = "";
    size_t used = 0;
    for (sa_datum datum = 0; datum < SA_DATUM_COUNT && used < sizeof given; datum++)
        if (rules & SA_BIT(datum))
            used += (size_t)snprintf(given + used, sizeof given - used, "%s%s", used ? ", " : "",
                                     sa_datum_name(datum));
    return sa_fail(SA_INVALID, "no oracle%s takes these together, and needs no more: %s",
                   positions ? " for a score in each position" : "", given);
}
