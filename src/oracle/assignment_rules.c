/* Rules for a slate: group limits, arms that exclude each other, places that take only some arms.
 *
 * Arms that exclude each other form a graph. Where each of its components is complete (all of its arms
 * exclude each other), at most one arm of a component can be chosen: the component is a unit. Units inside
 * groups inside the whole are sets within sets, which a flow can keep. */
#include "oracle/assignment.h"

#include <stdlib.h>
#include <string.h>

enum { RULES = SA_BIT(SA_GROUPS) | SA_BIT(SA_EXCLUSIONS) | SA_BIT(SA_ELIGIBLE) | SA_BIT(SA_MATRIX) };

bool sa_rules_given(const sa_oracle_problem *problem) {
    return problem->data && problem->data->given & RULES;
}

static size_t most_of(const sa_oracle_problem *problem, size_t group) {
    size_t most = sa_problem_has(problem, SA_CAPACITIES) ? problem->data->capacities[group] : problem->slate;
    return most < problem->slate ? most : problem->slate;
}

static size_t least_of(const sa_oracle_problem *problem, size_t group) {
    return sa_problem_has(problem, SA_MINIMUMS) ? problem->data->minimums[group] : 0;
}

static size_t given_groups(const sa_oracle_problem *problem) {
    const sa_oracle_data *data = problem->data;
    if (!sa_problem_has(problem, SA_GROUPS)) return 0;
    return data->count[sa_problem_has(problem, SA_CAPACITIES) ? SA_CAPACITIES : SA_MINIMUMS];
}

size_t sa_rules_groups(const sa_oracle_problem *problem) { return given_groups(problem) + 1; }

/* ---- contradictions ---- */

static sa_status check_given(const sa_oracle_problem *problem) {
    const sa_oracle_data *data = problem->data;
    bool most = sa_problem_has(problem, SA_CAPACITIES), least = sa_problem_has(problem, SA_MINIMUMS);
    if (!sa_problem_has(problem, SA_GROUPS) && (most || least))
        return sa_fail(SA_INVALID, "--%s are for --groups, which are not given",
                       most ? "capacities" : "minimums");
    if (sa_problem_has(problem, SA_GROUPS) && !most && !least)
        return sa_fail(SA_INVALID, "assignment with --groups needs --capacities or --minimums");
    if (most && least && data->count[SA_CAPACITIES] != data->count[SA_MINIMUMS])
        return sa_data_fail(data, SA_MINIMUMS, "%zu entries, and there are %zu capacities",
                            data->count[SA_MINIMUMS], data->count[SA_CAPACITIES]);
    if (sa_problem_has(problem, SA_MATRIX) != sa_problem_has(problem, SA_BOUNDS))
        return sa_fail(SA_INVALID, "--matrix and --bounds go together");
    return SA_OK;
}

static sa_status check_groups(const sa_oracle_problem *problem) {
    const sa_oracle_data *data = problem->data;
    size_t sum = 0, groups = given_groups(problem);
    for (size_t g = 0; g < groups; g++) {
        size_t least = least_of(problem, g), arms = 0;
        if (least == 0) continue;
        if (least > most_of(problem, g))
            return sa_data_fail(data, SA_MINIMUMS, "group %zu is to have at least %zu arms and at most %zu",
                                g, least, most_of(problem, g));
        for (size_t arm = 0; arm < problem->arms; arm++)
            arms += data->groups[arm] == g && sa_problem_allows(problem, arm);
        if (arms < least)
            return sa_data_fail(data, SA_MINIMUMS,
                                "group %zu is to have at least %zu arms, and %zu can be chosen", g, least,
                                arms);
        sum += least;
    }
    if (sum <= problem->slate) return SA_OK;
    return sa_data_fail(data, SA_MINIMUMS, "they add up to %zu, and --slate is %zu", sum, problem->slate);
}

static sa_status check_eligible(const sa_oracle_problem *problem) {
    for (size_t k = 0; k < problem->slate; k++) {
        bool any = false;
        for (size_t arm = 0; arm < problem->arms && !any; arm++)
            any = sa_position_takes(problem, arm, k) && sa_problem_allows(problem, arm);
        if (!any)
            return sa_data_fail(problem->data, SA_ELIGIBLE,
                                "position %zu takes none of the arms that can be chosen", k);
    }
    return SA_OK;
}

sa_status sa_rules_check(const sa_oracle_problem *problem) {
    SA_TRY(check_given(problem));
    SA_TRY(check_groups(problem));
    return sa_problem_has(problem, SA_ELIGIBLE) ? check_eligible(problem) : SA_OK;
}

sa_status sa_rules_fail(const sa_oracle_problem *problem) {
    static const sa_datum rules[] = {SA_GROUPS, SA_EXCLUSIONS, SA_ELIGIBLE, SA_MATRIX};
    char names[128] = "";
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!sa_problem_has(problem, rules[i])) continue;
        strcat(strcat(names, *names ? ", --" : "--"), sa_datum_name(rules[i]));
    }
    return sa_fail(SA_INVALID, "no slate of %zu arms keeps the rules (%s)", problem->slate, names);
}

/* ---- units ---- */

static size_t root_of(size_t *parent, size_t arm) {
    while (parent[arm] != arm) arm = parent[arm] = parent[parent[arm]];
    return arm;
}

static int by_number(const void *a, const void *b) {
    size_t one = *(const size_t *)a, other = *(const size_t *)b;
    return (one > other) - (one < other);
}

/* Joins arms that exclude each other, and returns how many different pairs there are. Arms that cannot be
 * chosen do not matter. */
static size_t join_pairs(const sa_oracle_problem *problem, sa_rules *rules) {
    const size_t *pair = problem->data ? problem->data->exclusions : NULL;
    size_t count = 0, different = 0, given = sa_rules_pairs(problem);
    for (size_t i = 0; i < given; i++, pair += 2) {
        if (!sa_problem_allows(problem, pair[0]) || !sa_problem_allows(problem, pair[1])) continue;
        size_t low = pair[0] < pair[1] ? pair[0] : pair[1], high = pair[0] < pair[1] ? pair[1] : pair[0];
        rules->pairs[count++] = low * problem->arms + high;
        size_t one = root_of(rules->unit, low), other = root_of(rules->unit, high);
        rules->unit[one > other ? one : other] = one > other ? other : one;
    }
    if (count > 0) qsort(rules->pairs, count, sizeof *rules->pairs, by_number);
    for (size_t i = 0; i < count; i++) different += i == 0 || rules->pairs[i] != rules->pairs[i - 1];
    return different;
}

/* Each component of m arms is complete if and only if there are m (m - 1) / 2 pairs for each; none can have
 * more. */
static bool find_units(const sa_oracle_problem *problem, sa_rules *rules) {
    size_t complete = 0;
    for (size_t arm = 0; arm < problem->arms; arm++) {
        rules->unit[arm] = arm;
        rules->members[arm] = 0;
    }
    size_t different = join_pairs(problem, rules);
    for (size_t arm = 0; arm < problem->arms; arm++) {
        size_t unit = rules->unit[arm] = root_of(rules->unit, arm);
        rules->members[unit]++;
        if (rules->group[arm] != rules->group[unit]) return false;
    }
    for (size_t arm = 0; arm < problem->arms; arm++)
        if (rules->members[arm] > 0) complete += rules->members[arm] * (rules->members[arm] - 1) / 2;
    return complete == different;
}

bool sa_rules_read(const sa_oracle_problem *problem, sa_rules *rules) {
    rules->groups = sa_rules_groups(problem);
    rules->least[0] = 0;
    rules->most[0] = problem->slate;
    for (size_t g = 1; g < rules->groups; g++) {
        rules->least[g] = least_of(problem, g - 1);
        rules->most[g] = most_of(problem, g - 1);
    }
    for (size_t arm = 0; arm < problem->arms; arm++) {
        size_t g = rules->groups > 1 ? problem->data->groups[arm] + 1 : 0;
        bool limited = rules->least[g] > 0 || rules->most[g] < problem->slate;
        rules->group[arm] = limited ? g : 0;
    }
    return !sa_problem_has(problem, SA_MATRIX) && find_units(problem, rules);
}
