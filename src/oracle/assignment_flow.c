/* The best assignment under rules that are sets within sets (assignment_rules.c), as a minimum-cost flow:
 *
 *   position -> arm -> unit (at most 1) -> group (least to most) -> end,   cost -s(arm, position) from
 *       position to arm
 *
 * Positions come in one by one, each by a shortest path in the residual graph (successive shortest paths), so
 * after each the flow is the cheapest for the positions so far. A path goes from position to position: p
 * takes an arm, and q must give up its own, as it is that arm, of the same unit, or of the same group. So the
 * graph has K nodes: the cost from p to q is that of the cheapest arm that does so, and the path ends with an
 * arm whose group has room. Ends in a group that lacks arms for its least come first, whatever they cost: a
 * lower limit is an edge of cost -infinity. Dijkstra with potentials, K times: O(K^2 M + K^3) for the M arms
 * that can matter (assignment_candidates.c). */
#include "oracle/assignment.h"

#include <math.h>
#include <string.h>

/* ---- the flow ---- */

typedef struct flow {
    const sa_rules *rules;
    size_t positions, arms; /* K, M */
    size_t *arm;            /* (M) index in the problem */
    double *cost;           /* (K, M); infinite: not eligible */
    size_t *at;             /* (M) position, or NONE */
    size_t *unit_at;        /* (arms of the problem) position that holds the unit, or NONE */
    size_t *has;            /* (groups) arms */
    size_t *slot;           /* (groups) place among the groups that positions hold, or NONE */
    size_t *holds;          /* (K) index in arm */
    double *potential;      /* (K) */
    bool *reached;          /* (K) by the search */
    double *way;            /* (K, K) cost from p to q */
    size_t *by;             /* (K, K) with which arm */
    double *spare;          /* (K, K) cheapest free arm of a slot */
    size_t *spare_arm;      /* (K, K) */
    double *distance;       /* (K) */
    size_t *before;         /* (K) */
    double *end_cost;       /* (K) */
    size_t *end_arm;        /* (K), or NONE */
    size_t *steps;          /* (K) positions of the path */
    size_t *takes;          /* (K) and what they take */
} flow;

static size_t group_of(const flow *self, size_t j) { return self->rules->group[self->arm[j]]; }
static size_t unit_of(const flow *self, size_t j) { return self->rules->unit[self->arm[j]]; }
static bool is_lacking(const flow *self, size_t j) {
    return self->has[group_of(self, j)] < self->rules->least[group_of(self, j)];
}

static void shorten(const flow *self, size_t from, size_t to, double cost, size_t by) {
    size_t i = from * self->positions + to;
    cost -= self->cost[to * self->arms + self->holds[to]];
    if (from == to || !(cost < self->way[i])) return;
    self->way[i] = cost;
    self->by[i] = by;
}

/* An end at this arm, instead of a worse one. */
static void end_at(const flow *self, size_t p, size_t j, double cost) {
    size_t old = self->end_arm[p];
    bool lacking = is_lacking(self, j), other = old != SA_NONE && is_lacking(self, old);
    bool better = lacking != other ? lacking : cost < self->end_cost[p];
    if (old != SA_NONE && !better) return;
    self->end_arm[p] = j;
    self->end_cost[p] = cost;
}

/* All that position p can do; positions before `count` are placed, or are p. */
static void find_ways(const flow *self, size_t p, size_t count, size_t slots) {
    size_t positions = self->positions;
    for (size_t q = 0; q < count; q++) self->way[p * positions + q] = INFINITY;
    for (size_t s = 0; s < slots; s++) self->spare[p * positions + s] = INFINITY;
    self->end_arm[p] = SA_NONE;
    for (size_t j = 0; j < self->arms; j++) {
        double cost = self->cost[p * self->arms + j];
        if (cost == INFINITY) continue;
        size_t holder = self->at[j] != SA_NONE ? self->at[j] : self->unit_at[unit_of(self, j)];
        if (holder != SA_NONE) {
            shorten(self, p, holder, cost, j);
            continue;
        }
        size_t group = group_of(self, j), slot = self->slot[group];
        if (slot != SA_NONE && cost < self->spare[p * positions + slot]) {
            self->spare[p * positions + slot] = cost;
            self->spare_arm[p * positions + slot] = j;
        }
        if (self->has[group] < self->rules->most[group]) end_at(self, p, j, cost);
    }
    for (size_t q = 0; q + 1 < count; q++) { /* the last is not placed yet */
        size_t i = p * positions + self->slot[group_of(self, self->holds[q])];
        if (self->spare[i] < INFINITY) shorten(self, p, q, self->spare[i], self->spare_arm[i]);
    }
}

/* Positions that the last search did not reach: their potentials rise until no way to the others is shorter
 * than them. */
static void lift(const flow *self, size_t count) {
    double most = 0;
    for (size_t p = 0; p < count; p++)
        for (size_t q = 0; !self->reached[p] && q < count; q++) {
            double way = self->way[p * self->positions + q];
            if (self->reached[q] && way < INFINITY)
                most = fmax(most, self->potential[q] - way - self->potential[p]);
        }
    for (size_t p = 0; p < count; p++)
        if (!self->reached[p]) self->potential[p] += most;
}

/* Distances from the new position, the last, to all that it can reach. */
static void search(const flow *self, size_t count) {
    size_t fresh = count - 1, positions = self->positions;
    self->potential[fresh] = -INFINITY;
    for (size_t q = 0; q < fresh; q++)
        if (self->way[fresh * positions + q] < INFINITY)
            self->potential[fresh] =
                fmax(self->potential[fresh], self->potential[q] - self->way[fresh * positions + q]);
    if (self->potential[fresh] == -INFINITY) self->potential[fresh] = 0;
    for (size_t p = 0; p < count; p++) {
        self->distance[p] = p == fresh ? 0 : INFINITY;
        self->before[p] = SA_NONE;
        self->reached[p] = false;
    }
    for (;;) {
        size_t next = SA_NONE;
        for (size_t p = 0; p < count; p++)
            if (!self->reached[p] && self->distance[p] < INFINITY &&
                (next == SA_NONE ||
                 self->distance[p] - self->potential[p] < self->distance[next] - self->potential[next]))
                next = p;
        if (next == SA_NONE) break;
        self->reached[next] = true;
        for (size_t q = 0; q < fresh; q++) {
            double through = self->distance[next] + self->way[next * positions + q];
            if (self->reached[q] || !(through < self->distance[q])) continue;
            self->distance[q] = through;
            self->before[q] = next;
        }
    }
    for (size_t p = 0; p < count; p++)
        if (self->reached[p]) self->potential[p] = self->distance[p];
}

/* Where the shortest path ends: a position, or NONE. */
static size_t find_end(const flow *self, size_t count) {
    size_t best = SA_NONE;
    for (size_t p = 0; p < count; p++) {
        if (!self->reached[p] || self->end_arm[p] == SA_NONE) continue;
        bool lacking = is_lacking(self, self->end_arm[p]),
             other = best != SA_NONE && is_lacking(self, self->end_arm[best]);
        if (best == SA_NONE || (lacking != other ? lacking
                                                 : self->distance[p] + self->end_cost[p] <
                                                       self->distance[best] + self->end_cost[best]))
            best = p;
    }
    return best;
}

/* Gives each position of the path its arm. Rounding may have led a path of equal length twice through a unit:
 * what lies between is left out. */
static void augment(const flow *self, size_t end, size_t count) {
    size_t length = 0, kept = 0, fresh = count - 1;
    for (size_t p = end, taken = self->end_arm[end]; p != SA_NONE; p = self->before[p]) {
        self->steps[length] = p;
        self->takes[length++] = taken;
        if (self->before[p] != SA_NONE) taken = self->by[self->before[p] * self->positions + p];
    }
    self->has[group_of(self, self->end_arm[end])]++;
    for (size_t i = length; i-- > 0; kept++) { /* from the new position on */
        size_t last = i;
        for (size_t j = 0; j < i && last == i; j++)
            if (unit_of(self, self->takes[j]) == unit_of(self, self->takes[i])) last = j;
        size_t p = self->steps[i], taken = self->takes[i];
        if (p != fresh) { /* its arm went to the one before, or into the same set */
            size_t old = self->holds[p];
            if (self->at[old] == p) self->at[old] = SA_NONE;
            if (self->unit_at[unit_of(self, old)] == p) self->unit_at[unit_of(self, old)] = SA_NONE;
        }
        self->holds[p] = taken;
        self->at[taken] = p;
        self->unit_at[unit_of(self, taken)] = p;
        i = last;
    }
}

/* `*placed` false: no slate keeps the rules. */
static sa_status place(const flow *self, const sa_oracle_problem *problem, size_t count, bool *placed) {
    size_t slots = 0;
    for (size_t g = 0; g < self->rules->groups; g++) self->slot[g] = self->has[g] > 0 ? slots++ : SA_NONE;
    for (size_t p = 0; p < count; p++) {
        find_ways(self, p, count, slots);
        if (p % 8 == 0 && sa_problem_is_late(problem)) return sa_problem_fail_late();
    }
    if (count > 1) lift(self, count - 1);
    search(self, count);
    size_t end = find_end(self, count);
    *placed = end != SA_NONE;
    if (*placed) augment(self, end, count);
    return SA_OK;
}

static void prepare(flow *self, const sa_oracle_problem *problem, const bool *marked) {
    for (size_t arm = 0; arm < problem->arms; arm++) {
        self->unit_at[arm] = SA_NONE;
        if (marked[arm]) self->arm[self->arms++] = arm;
    }
    for (size_t j = 0; j < self->arms; j++) self->at[j] = SA_NONE;
    for (size_t k = 0; k < self->positions; k++)
        for (size_t j = 0; j < self->arms; j++)
            self->cost[k * self->arms + j] = sa_position_takes(problem, self->arm[j], k)
                                                 ? -sa_position_score(problem, self->arm[j], k)
                                                 : INFINITY;
    for (size_t g = 0; g < self->rules->groups; g++) self->has[g] = 0;
}

/* `*filled` false: no slate keeps the rules. */
static sa_status fill(const flow *self, const sa_oracle_problem *problem, bool *filled) {
    *filled = true;
    for (size_t count = 1; count <= self->positions && *filled; count++)
        SA_TRY(place(self, problem, count, filled));
    for (size_t g = 0; g < self->rules->groups && *filled; g++)
        *filled = self->has[g] >= self->rules->least[g];
    return SA_OK;
}

#define RULES(rules, arms)                                                                                   \
    {&(rules)->group, arms, sizeof(size_t)}, {&(rules)->unit, arms, sizeof(size_t)},                         \
        {&(rules)->members, arms, sizeof(size_t)}, {&(rules)->least, (rules)->groups, sizeof(size_t)},       \
        {&(rules)->most, (rules)->groups, sizeof(size_t)}, {                                                 \
        &(rules)->pairs, pairs, sizeof(size_t)                                                               \
    }

sa_status sa_assignment_flow(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate,
                             bool *is_flow) {
    size_t arms = problem->arms, positions = problem->slate, square = positions * positions,
           pairs = sa_rules_pairs(problem);
    sa_rules rules = {.groups = sa_rules_groups(problem)};
    flow self = {.rules = &rules, .positions = positions};
    sa_candidates lists;
    bool *marked;
    SA_TRY(SA_LAY(workspace, RULES(&rules, arms)));
    *is_flow = sa_rules_read(problem, &rules);
    if (!*is_flow) return SA_OK;
    sa_candidates_size(&lists, &rules, positions);
    bool few = lists.entry_count < arms;
    size_t most = few ? lists.entry_count : arms, entries = few ? most : 0;
    SA_TRY(SA_LAY(workspace, RULES(&rules, arms), {&marked, arms, sizeof(bool)},
                  {&lists.lists, lists.list_count, sizeof *lists.lists},
                  {&lists.entries, entries, sizeof *lists.entries},
                  {&lists.of_group, rules.groups, sizeof(size_t)}, {&self.arm, most, sizeof(size_t)},
                  {&self.cost, positions, most * sizeof(double)}, {&self.at, most, sizeof(size_t)},
                  {&self.unit_at, arms, sizeof(size_t)}, {&self.has, rules.groups, sizeof(size_t)},
                  {&self.slot, rules.groups, sizeof(size_t)}, {&self.holds, positions, sizeof(size_t)},
                  {&self.potential, positions, sizeof(double)}, {&self.reached, positions, sizeof(bool)},
                  {&self.way, square, sizeof(double)}, {&self.by, square, sizeof(size_t)},
                  {&self.spare, square, sizeof(double)}, {&self.spare_arm, square, sizeof(size_t)},
                  {&self.distance, positions, sizeof(double)}, {&self.before, positions, sizeof(size_t)},
                  {&self.end_cost, positions, sizeof(double)}, {&self.end_arm, positions, sizeof(size_t)},
                  {&self.steps, positions, sizeof(size_t)}, {&self.takes, positions, sizeof(size_t)}));
    for (size_t arm = 0; arm < arms; arm++) marked[arm] = !few && sa_problem_allows(problem, arm);
    if (few) sa_candidates_mark(&lists, problem, &rules, marked);
    prepare(&self, problem, marked);
    bool filled;
    SA_TRY(fill(&self, problem, &filled));
    if (!filled) return sa_rules_fail(problem);
    for (size_t k = 0; k < positions; k++) slate[k] = self.arm[self.holds[k]];
    return SA_OK;
}
