/* Does a slate that somebody else chose keep the rules of a problem? Whatever the oracle looks at counts:
 *
 *   size: K arms, or at most K        costs: their sum is within the capacity
 *   groups: so many arms of each      exclusions: at most one arm of a pair
 *   eligible: arms in their places    matrix: A x <= b
 *   edges: a spanning tree, a path from source to target, a matching
 *
 * A part of a slate keeps them as far as more arms could still put right what is missing: too few arms, a
 * path that has not arrived. */
#include <math.h>
#include <string.h>

#include "oracle/oracle.h"

typedef struct slate {
    const sa_oracle *oracle;
    const sa_oracle_problem *problem;
    const size_t *arms; /* (length) */
    size_t length;
    bool whole; /* not a part of one */
} slate;

static bool looks_at(const slate *self, sa_datum datum) {
    return (self->oracle->needs | self->oracle->takes) & SA_BIT(datum) &&
           sa_problem_has(self->problem, datum);
}

/* ---- arms ---- */

static sa_status check_size(const slate *self) {
    size_t most = sa_oracle_most(self->oracle, self->problem);
    bool exactly = self->oracle->size == SA_EXACTLY_K || sa_problem_wants_all(self->problem);
    if (self->length > most || (exactly && self->whole && self->length < most))
        return sa_fail(SA_INVALID, "it chose %zu arms, and %s %zu are wanted", self->length,
                       exactly ? "exactly" : "at most", most);
    return SA_OK;
}

static sa_status check_costs(const slate *self) {
    const sa_oracle_data *data = self->problem->data;
    double sum = 0;
    if (!looks_at(self, SA_COSTS) || !looks_at(self, SA_CAPACITY)) return SA_OK;
    for (size_t i = 0; i < self->length; i++) sum += data->costs[self->arms[i]];
    if (sum <= data->capacity * (1 + 1e-9)) return SA_OK;
    return sa_fail(SA_INVALID, "its arms cost %g, and --capacity is %g", sum, data->capacity);
}

static size_t arms_of_group(const slate *self, size_t group) {
    size_t count = 0;
    for (size_t i = 0; i < self->length; i++) count += self->problem->data->groups[self->arms[i]] == group;
    return count;
}

static sa_status check_groups(const slate *self) {
    const sa_oracle_data *data = self->problem->data;
    bool limited = looks_at(self, SA_CAPACITIES), matroid = self->oracle == &sa_oracle_matroid;
    if (!looks_at(self, SA_GROUPS)) return SA_OK;
    for (size_t i = 0; (limited || matroid) && i < self->length; i++) {
        size_t group = data->groups[self->arms[i]], most = limited ? data->capacities[group] : 1;
        size_t count = arms_of_group(self, group);
        if (count > most)
            return sa_fail(SA_INVALID, "it has %zu arms of group %zu, and at most %zu are allowed", count,
                           group, most);
    }
    for (size_t g = 0; self->whole && looks_at(self, SA_MINIMUMS) && g < data->count[SA_MINIMUMS]; g++)
        if (arms_of_group(self, g) < data->minimums[g])
            return sa_fail(SA_INVALID, "it has %zu arms of group %zu, and at least %zu are wanted",
                           arms_of_group(self, g), g, data->minimums[g]);
    return SA_OK;
}

static bool has(const slate *self, size_t arm) {
    for (size_t i = 0; i < self->length; i++)
        if (self->arms[i] == arm) return true;
    return false;
}

static sa_status check_exclusions(const slate *self) {
    const size_t *pair = self->problem->data->exclusions;
    for (size_t i = 0; looks_at(self, SA_EXCLUSIONS) && i < self->problem->data->count[SA_EXCLUSIONS];
         i++, pair += 2)
        if (has(self, pair[0]) && has(self, pair[1]))
            return sa_fail(SA_INVALID, "it has arms %zu and %zu, which exclude each other", pair[0], pair[1]);
    return SA_OK;
}

static sa_status check_places(const slate *self) {
    for (size_t k = 0; looks_at(self, SA_ELIGIBLE) && k < self->length; k++)
        if (!self->problem->data->eligible[k * self->problem->arms + self->arms[k]])
            return sa_fail(SA_INVALID, "position %zu does not take arm %zu", k, self->arms[k]);
    return SA_OK;
}

static sa_status check_rows(const slate *self) {
    const sa_oracle_data *data = self->problem->data;
    if (!looks_at(self, SA_MATRIX) || !looks_at(self, SA_BOUNDS)) return SA_OK;
    for (size_t row = 0; row < data->count[SA_MATRIX]; row++) {
        const double *entries = data->matrix + row * self->problem->arms;
        double sum = 0, size = fabs(data->bounds[row]);
        bool grows = true; /* more arms cannot put it right */
        for (size_t arm = 0; !self->whole && arm < self->problem->arms; arm++)
            grows = grows && entries[arm] >= 0;
        for (size_t i = 0; i < self->length; i++) {
            sum += entries[self->arms[i]];
            size += fabs(entries[self->arms[i]]);
        }
        if (grows && sum > data->bounds[row] + 1e-6 * (1 + size))
            return sa_fail(SA_INVALID, "it breaks row %zu of --matrix: %g is more than %g", row, sum,
                           data->bounds[row]);
    }
    return SA_OK;
}

/* ---- edges ---- */

static size_t node_of(const slate *self, size_t i, int end) {
    return self->problem->data->edges[2 * self->arms[i] + (size_t)end];
}

static sa_status check_path(const slate *self) {
    size_t at = self->problem->data->source, target = self->problem->data->target;
    for (size_t i = 0; i < self->length; i++) {
        if (node_of(self, i, 0) != at)
            return sa_fail(SA_INVALID, "its path is at node %zu, and arm %zu leads from node %zu", at,
                           self->arms[i], node_of(self, i, 0));
        at = node_of(self, i, 1);
        for (size_t k = 0; k <= i; k++)
            if (node_of(self, k, 0) == at) return sa_fail(SA_INVALID, "its path comes back to node %zu", at);
    }
    if (!self->whole || at == target) return SA_OK;
    return sa_fail(SA_INVALID, "its path ends at node %zu, and --target is %zu", at, target);
}

static sa_status check_matching(const slate *self) {
    for (int end = 0; end < 2; end++)
        for (size_t i = 0; i < self->length; i++)
            for (size_t k = 0; k < i; k++)
                if (node_of(self, i, end) == node_of(self, k, end))
                    return sa_fail(SA_INVALID, "arms %zu and %zu share the %s node %zu", self->arms[k],
                                   self->arms[i], end ? "right" : "left", node_of(self, i, end));
    return SA_OK;
}

/* Whether the last arm closes a ring with those before it: who can be reached from one of its ends without
 * it? */
static bool closes(const slate *self, sa_workspace *workspace, size_t last, sa_status *status) {
    size_t from = node_of(self, last, 0), to = node_of(self, last, 1), count = 1, *reached;
    if (from == to) return true;
    *status = SA_LAY(workspace, {&reached, last + 2, sizeof *reached});
    if (*status != SA_OK) return false;
    reached[0] = from;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < last; i++) {
            bool one = false, other = false;
            for (size_t k = 0; k < count; k++) {
                one = one || reached[k] == node_of(self, i, 0);
                other = other || reached[k] == node_of(self, i, 1);
            }
            if (one == other) continue;
            reached[count++] = node_of(self, i, one);
            if (reached[count - 1] == to) return true;
            more = true;
        }
    }
    return false;
}

static sa_status check_tree(const slate *self, sa_workspace *workspace) {
    size_t nodes = 0;
    sa_status status = SA_OK;
    for (size_t i = 0; i < 2 * self->problem->arms; i++)
        if (self->problem->data->edges[i] >= nodes) nodes = self->problem->data->edges[i] + 1;
    for (size_t i = 0; i < self->length; i++)
        if (closes(self, workspace, i, &status))
            return sa_fail(SA_INVALID, "arm %zu closes a ring with those before it", self->arms[i]);
    SA_TRY(status);
    if (!self->whole || self->length + 1 == nodes) return SA_OK;
    return sa_fail(SA_INVALID, "its %zu arms do not join all %zu nodes to a tree", self->length, nodes);
}

/* ---- all of it ---- */

static sa_status verify(const slate *self, sa_workspace *workspace) {
    SA_TRY(check_size(self));
    if (!self->problem->data || self->oracle == &sa_oracle_own) return SA_OK; /* the caller knows what fits */
    SA_TRY(check_costs(self));
    SA_TRY(check_groups(self));
    SA_TRY(check_exclusions(self));
    SA_TRY(check_places(self));
    SA_TRY(check_rows(self));
    if (!looks_at(self, SA_EDGES)) return SA_OK;
    if (self->oracle == &sa_oracle_shortest_path) return check_path(self);
    return self->oracle == &sa_oracle_matching ? check_matching(self) : check_tree(self, workspace);
}

sa_status sa_slate_verify(const sa_oracle *oracle, const sa_oracle_problem *problem, sa_workspace *workspace,
                          const size_t *arms, size_t length) {
    return verify(&(slate){oracle, problem, arms, length, true}, workspace);
}

sa_status sa_slate_clip(const sa_oracle *oracle, const sa_oracle_problem *problem, sa_workspace *workspace,
                        size_t *arms, size_t *length) {
    size_t kept = 0;
    for (size_t i = 0; i < *length; i++) {
        arms[kept] = arms[i];
        sa_status status = verify(&(slate){oracle, problem, arms, kept + 1, false}, workspace);
        if (status == SA_OK)
            kept++;
        else if (status != SA_INVALID)
            return status;
    }
    *length = kept;
    return sa_slate_verify(oracle, problem, workspace, arms, kept);
}

/* ---- how long may it be? ---- */

static size_t nodes_of(const sa_oracle_problem *problem, int first, int last) {
    size_t nodes = 0;
    for (size_t arm = 0; arm < problem->arms; arm++)
        for (int end = first; end <= last; end++)
            if (problem->data->edges[2 * arm + (size_t)end] >= nodes)
                nodes = problem->data->edges[2 * arm + (size_t)end] + 1;
    return nodes;
}

static size_t most_by_edges(const sa_oracle *oracle, const sa_oracle_problem *problem) {
    if (oracle != &sa_oracle_matching)
        return nodes_of(problem, 0, 1) - 1; /* a tree, or a path without rings */
    size_t left = nodes_of(problem, 0, 0), right = nodes_of(problem, 1, 1);
    return left < right ? left : right;
}

/* Arms that fit into their groups, which need not be of one slate. */
static size_t most_by_groups(const slate *any) {
    const sa_oracle_problem *problem = any->problem;
    bool limited = looks_at(any, SA_CAPACITIES);
    size_t count = 0;
    for (size_t arm = 0; arm < problem->arms; arm++) {
        size_t group = problem->data->groups[arm], before = 0;
        for (size_t i = 0; i < arm; i++) before += problem->data->groups[i] == group;
        count += before < (limited ? problem->data->capacities[group] : 1);
    }
    return count;
}

/* As many of the cheapest as fit: costs are 0 or more. */
static sa_status most_by_costs(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *most) {
    double left = problem->data->capacity * (1 + 1e-9), *worth;
    size_t *order, count = 0;
    SA_TRY(SA_LAY(workspace, {&worth, problem->arms, sizeof *worth}, {&order, problem->arms, sizeof *order}));
    for (size_t i = 0; i < problem->arms; i++) {
        worth[i] = -problem->data->costs[i];
        order[i] = i;
    }
    sa_arms_sort(worth, order, problem->arms);
    while (count < problem->arms && (left += worth[order[count]]) >= 0) count++;
    if (count < *most) *most = count;
    return SA_OK;
}

sa_status sa_slate_most(const sa_oracle *oracle, const sa_oracle_problem *problem, sa_workspace *workspace,
                        size_t *most) {
    const slate any = {oracle, problem, NULL, 0, true};
    size_t bound = sa_oracle_most(oracle, problem);
    if (problem->data && oracle != &sa_oracle_own) {
        bool grouped =
            looks_at(&any, SA_GROUPS) && (looks_at(&any, SA_CAPACITIES) || oracle == &sa_oracle_matroid);
        size_t other = looks_at(&any, SA_EDGES) ? most_by_edges(oracle, problem)
                       : grouped                ? most_by_groups(&any)
                                                : bound;
        if (other < bound) bound = other;
        if (looks_at(&any, SA_COSTS) && looks_at(&any, SA_CAPACITY))
            SA_TRY(most_by_costs(problem, workspace, &bound));
    }
    *most = bound;
    return SA_OK;
}
