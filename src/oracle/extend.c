#include "oracle/extend.h"

#include <string.h>

/* ---- the rules ---- */

/* A partition matroid: groups as they are given, and no units. */
static void read_partition(const sa_oracle_problem *problem, sa_rules *rules) {
    const sa_oracle_data *data = problem->data;
    for (size_t g = 0; g < rules->groups; g++) {
        rules->least[g] = 0;
        rules->most[g] = sa_problem_has(problem, SA_CAPACITIES) ? data->capacities[g] : 1;
    }
    for (size_t arm = 0; arm < problem->arms; arm++) {
        rules->group[arm] = data->groups[arm];
        rules->unit[arm] = arm;
    }
}

static size_t count_groups(const sa_oracle *oracle, const sa_oracle_problem *problem) {
    size_t groups = 0;
    if (oracle == &sa_oracle_assignment) return sa_rules_groups(problem);
    for (size_t arm = 0; arm < problem->arms; arm++)
        if (problem->data->groups[arm] >= groups) groups = problem->data->groups[arm] + 1;
    return groups;
}

static sa_status fail_uncounted(const sa_oracle_problem *problem) {
    return sa_fail(SA_INVALID, "--floor-by place cannot tell which arms keep the slate feasible %s",
                   sa_problem_has(problem, SA_MATRIX)
                       ? "under --matrix"
                       : "under --exclusions where arms exclude each other without all of them doing so, or "
                         "are of two groups with limits");
}

sa_status sa_extender_begin(const sa_oracle *oracle, const sa_oracle_problem *problem, sa_extender *out) {
    sa_extender self = {.oracle = oracle};
    bool assignment = oracle == &sa_oracle_assignment;
    self.ruled = assignment ? sa_rules_given(problem) : oracle == &sa_oracle_matroid;
    size_t arms = problem->arms, slate = problem->slate, most = self.ruled ? arms : 0,
           groups = self.ruled ? count_groups(oracle, problem) : 0;
    sa_rules *rules = &self.rules;
    rules->groups = groups;
    *out = self;
    SA_TRY(SA_LAY(&self.memory, {&rules->group, most, sizeof(size_t)}, {&rules->unit, most, sizeof(size_t)},
                  {&rules->members, most, sizeof(size_t)}, {&rules->least, groups, sizeof(size_t)},
                  {&rules->most, groups, sizeof(size_t)},
                  {&rules->pairs, assignment ? sa_rules_pairs(problem) : 0, sizeof(size_t)},
                  {&self.eligible, assignment ? slate : 0, arms * sizeof(bool)},
                  {&self.reached, slate, sizeof(bool)}, {&self.in_group, groups, sizeof(bool)},
                  {&self.has, groups, sizeof(size_t)}, {&self.at, arms, sizeof(size_t)},
                  {&self.unit_at, most, sizeof(size_t)}));
    *out = self;
    if (self.ruled && !assignment) read_partition(problem, &out->rules);
    if (!self.ruled || !assignment || sa_rules_read(problem, &out->rules)) return SA_OK;
    return fail_uncounted(problem);
}

void sa_extender_clear(sa_extender *self) {
    sa_workspace_clear(&self->memory);
    sa_workspace_clear(&self->solving);
}

/* ---- the arms that can come next ---- */

static bool takes(const sa_extender *self, const sa_oracle_problem *problem, size_t arm, size_t p) {
    return sa_problem_allows(problem, arm) &&
           (self->oracle != &sa_oracle_assignment || sa_position_takes(problem, arm, p));
}

static void read_slate(sa_extender *self, const sa_oracle_problem *problem, const size_t *slate) {
    for (size_t arm = 0; arm < problem->arms; arm++) self->at[arm] = SA_NONE;
    for (size_t p = 0; p < problem->slate; p++) self->at[slate[p]] = p;
    if (!self->ruled) return;
    for (size_t arm = 0; arm < problem->arms; arm++) self->unit_at[arm] = SA_NONE;
    for (size_t g = 0; g < self->rules.groups; g++) self->has[g] = 0;
    for (size_t p = 0; p < problem->slate; p++) {
        self->unit_at[self->rules.unit[slate[p]]] = p;
        self->has[self->rules.group[slate[p]]]++;
    }
}

/* Puts a place among those that are reached; `*spare`: one of these is of a group that can do with less. */
static void reach(sa_extender *self, const size_t *slate, size_t p, bool *spare) {
    size_t group = self->rules.group[slate[p]];
    self->reached[p] = true;
    self->in_group[group] = true;
    *spare = *spare || self->has[group] > self->rules.least[group];
}

/* Does an arm that comes in push out, at once, one of a place that is reached? */
static bool pushes(const sa_extender *self, size_t arm, bool spare) {
    size_t group = self->rules.group[arm], holder = self->at[arm];
    if (holder == SA_NONE) holder = self->unit_at[self->rules.unit[arm]];
    if (holder != SA_NONE) return self->reached[holder];
    return self->in_group[group] || (spare && self->has[group] < self->rules.most[group]);
}

static bool has_way(const sa_extender *self, const sa_oracle_problem *problem, size_t p, size_t holds,
                    bool spare) {
    for (size_t arm = 0; arm < problem->arms; arm++)
        if (arm != holds && takes(self, problem, arm, p) && pushes(self, arm, spare)) return true;
    return false;
}

size_t sa_extender_open(sa_extender *self, const sa_oracle_problem *problem, const size_t *slate, size_t k,
                        bool *open) {
    size_t count = 0;
    bool spare = false, more = self->ruled;
    read_slate(self, problem, slate);
    for (size_t p = 0; p < problem->slate; p++) self->reached[p] = false;
    for (size_t g = 0; g < self->rules.groups; g++) self->in_group[g] = false;
    if (self->ruled) reach(self, slate, k, &spare);
    while (more) {
        more = false;
        for (size_t p = k + 1; p < problem->slate; p++) {
            if (self->reached[p] || !has_way(self, problem, p, slate[p], spare)) continue;
            reach(self, slate, p, &spare);
            more = true;
        }
    }
    for (size_t arm = 0; arm < problem->arms; arm++) {
        bool left = self->at[arm] == SA_NONE || self->at[arm] >= k;
        open[arm] = takes(self, problem, arm, k) && (self->ruled ? pushes(self, arm, spare) : left);
        count += open[arm];
    }
    return count;
}

/* ---- the best that begins so ---- */

/* Of a matroid, the best set with given arms has no others than the best of all has: those, in its order,
 * that still fit. */
static void filter(sa_extender *self, const sa_oracle_problem *problem, const size_t *best, size_t k,
                   size_t *slate) {
    size_t length = k + 1;
    for (size_t i = 0; i < problem->arms; i++) self->at[i] = SA_NONE;
    for (size_t g = 0; g < self->rules.groups; g++) self->has[g] = 0;
    for (size_t p = 0; p <= k; p++) {
        self->at[slate[p]] = p;
        if (self->ruled) self->has[self->rules.group[slate[p]]]++;
    }
    for (size_t i = 0; i < problem->slate && length < problem->slate; i++) {
        size_t arm = best[i];
        if (self->at[arm] != SA_NONE) continue;
        if (self->ruled && self->has[self->rules.group[arm]] >= self->rules.most[self->rules.group[arm]])
            continue;
        if (self->ruled) self->has[self->rules.group[arm]]++;
        slate[length++] = arm;
    }
}

/* The first places take no arm but theirs. */
static sa_status solve_pinned(sa_extender *self, const sa_oracle_problem *problem, size_t k, size_t *slate) {
    size_t arms = problem->arms, length;
    sa_oracle_data data = problem->data ? *problem->data : (sa_oracle_data){0};
    sa_oracle_problem pinned = *problem;
    for (size_t p = 0; p < problem->slate; p++)
        for (size_t arm = 0; arm < arms; arm++)
            self->eligible[p * arms + arm] = p <= k ? arm == slate[p] : sa_position_takes(problem, arm, p);
    data.given |= SA_BIT(SA_ELIGIBLE);
    data.count[SA_ELIGIBLE] = problem->slate;
    data.columns[SA_ELIGIBLE] = arms;
    data.eligible = self->eligible;
    pinned.data = &data;
    SA_TRY(self->oracle->solve(&pinned, &self->solving, slate, &length));
    return SA_OK;
}

sa_status sa_extender_take(sa_extender *self, const sa_oracle_problem *problem, const size_t *best, size_t k,
                           size_t arm, size_t *slate) {
    if (slate[k] == arm) return SA_OK; /* the rest is the best already */
    slate[k] = arm;
    if (k + 1 == problem->slate) return SA_OK;
    if (self->oracle == &sa_oracle_assignment) return solve_pinned(self, problem, k, slate);
    filter(self, problem, best, k, slate);
    return SA_OK;
}
