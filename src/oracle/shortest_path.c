/* Arms are directed edges; the slate is a path from the source to the target, in order. An arm costs max(0, 1
 * - score), so that optimism never makes a cycle worth riding; the reward is minus the total cost.
 *
 * Dijkstra with a binary heap, O(N log N). Nodes count from 0 to the largest number that an arm names. */
#include "oracle/oracle.h"

#include <math.h>

#define NONE ((size_t)-1)

typedef struct search {
    const sa_oracle_problem *problem;
    size_t nodes;
    size_t *first;    /* (nodes + 1) of each node in leaving */
    size_t *leaving;  /* (arms) by the node they leave */
    double *distance; /* (nodes) */
    size_t *arm;      /* (nodes) that leads there, or NONE */
    size_t *heap;     /* (nodes) by distance */
    size_t *place;    /* (nodes) in the heap, or NONE */
    size_t waiting;   /* nodes in the heap */
} search;

static double cost_of(const sa_oracle_problem *problem, size_t arm) {
    return fmax(0, 1 - problem->scores[arm]);
}

/* ---- the heap: nearest first, ties to the lower node ---- */

static bool nearer(const search *self, size_t node, size_t other) {
    return self->distance[node] < self->distance[other] ||
           (self->distance[node] == self->distance[other] && node < other);
}

static void put(search *self, size_t at, size_t node) {
    self->heap[at] = node;
    self->place[node] = at;
}

static void rise(search *self, size_t node) {
    size_t at = self->place[node];
    for (size_t parent; at > 0 && nearer(self, node, self->heap[parent = (at - 1) / 2]); at = parent)
        put(self, at, self->heap[parent]);
    put(self, at, node);
}

static size_t take_nearest(search *self) {
    size_t nearest = self->heap[0], node = self->heap[--self->waiting], at = 0;
    for (size_t child; (child = 2 * at + 1) < self->waiting; at = child) {
        if (child + 1 < self->waiting && nearer(self, self->heap[child + 1], self->heap[child])) child++;
        if (!nearer(self, self->heap[child], node)) break;
        put(self, at, self->heap[child]);
    }
    if (self->waiting > 0) put(self, at, node);
    self->place[nearest] = NONE;
    return nearest;
}

/* ---- the path ---- */

static void list_leaving(search *self) {
    const size_t *edges = self->problem->data->edges;
    for (size_t node = 0; node <= self->nodes; node++) self->first[node] = 0;
    for (size_t arm = 0; arm < self->problem->arms; arm++) self->first[edges[2 * arm] + 1]++;
    for (size_t node = 0; node < self->nodes; node++) self->first[node + 1] += self->first[node];
    for (size_t arm = self->problem->arms; arm-- > 0;) self->leaving[--self->first[edges[2 * arm] + 1]] = arm;
    for (size_t node = 0; node < self->nodes; node++)
        self->first[node] = self->first[node + 1]; /* moved by one above */
    self->first[self->nodes] = self->problem->arms;
}

static void reach(search *self, size_t from, size_t arm) {
    size_t node = self->problem->data->edges[2 * arm + 1];
    double distance = self->distance[from] + cost_of(self->problem, arm);
    if (!(distance < self->distance[node])) return;
    if (self->distance[node] == INFINITY) self->place[node] = self->waiting++;
    self->distance[node] = distance;
    self->arm[node] = arm;
    rise(self, node);
}

static void find(search *self, size_t source, size_t target) {
    for (size_t node = 0; node < self->nodes; node++) {
        self->distance[node] = INFINITY;
        self->arm[node] = NONE;
    }
    self->distance[source] = 0;
    self->waiting = 1;
    put(self, 0, source);
    while (self->waiting > 0) {
        size_t node = take_nearest(self);
        if (node == target) return;
        for (size_t i = self->first[node]; i < self->first[node + 1]; i++)
            if (sa_problem_allows(self->problem, self->leaving[i])) reach(self, node, self->leaving[i]);
    }
}

static sa_status solve(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate,
                       size_t *length) {
    const sa_oracle_data *data = problem->data;
    search self = {.problem = problem};
    for (size_t i = 0; i < 2 * problem->arms; i++)
        if (data->edges[i] >= self.nodes) self.nodes = data->edges[i] + 1;
    if (data->source >= self.nodes)
        return sa_data_fail(data, SA_SOURCE, "no arm leads to or from node %zu", data->source);
    if (data->target >= self.nodes)
        return sa_data_fail(data, SA_TARGET, "no arm leads to or from node %zu", data->target);
    SA_TRY(SA_LAY(workspace, {&self.first, self.nodes + 1, sizeof(size_t)},
                  {&self.leaving, problem->arms, sizeof(size_t)},
                  {&self.distance, self.nodes, sizeof(double)}, {&self.arm, self.nodes, sizeof(size_t)},
                  {&self.heap, self.nodes, sizeof(size_t)}, {&self.place, self.nodes, sizeof(size_t)}));
    list_leaving(&self);
    find(&self, data->source, data->target);
    if (self.distance[data->target] == INFINITY)
        return sa_data_fail(data, SA_EDGES, "no path from --source %zu to --target %zu", data->source,
                            data->target);
    size_t count = 0;
    for (size_t node = data->target; node != data->source; node = data->edges[2 * self.arm[node]])
        slate[count++] = self.arm[node];
    for (size_t i = 0; i < count / 2; i++) {
        size_t kept = slate[i];
        slate[i] = slate[count - 1 - i];
        slate[count - 1 - i] = kept;
    }
    *length = count;
    return SA_OK;
}

static double reward(const sa_oracle_problem *problem, const size_t *slate, size_t length) {
    double total = 0;
    for (size_t i = 0; i < length; i++) total += cost_of(problem, slate[i]);
    return 0 - total; /* an empty path: 0, not -0 */
}

const sa_oracle sa_oracle_shortest_path = {
    .name = "shortest-path",
    .summary =
        "arms are directed edges; a path from source to target; reward: minus the sum of max(0, 1 - score)",
    .wants = "edges, source, target",
    .cost = "O(N log N)",
    .alpha = 1,
    .exact = true,
    .size = SA_ANY_SIZE,
    .needs = SA_BIT(SA_EDGES) | SA_BIT(SA_SOURCE) | SA_BIT(SA_TARGET),
    .solve = solve,
    .reward = reward,
};
