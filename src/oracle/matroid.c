/* The best independent set of a matroid, greedily, which is exact for matroids: arms in decreasing score,
 * each taken if it fits.
 *
 *   partition: at most capacities[g] arms of group g (1 unless given); arms with a score below 0 are left
 *       out, and at most K;
 *              with --exactly K arms whatever their scores, which is a matroid, too
 *   graphic:   arms are the edges of a graph; a spanning tree, complete whatever the scores (Kruskal) */
#include "oracle/oracle.h"

static size_t sorted_arms(const sa_oracle_problem *problem, size_t *order) {
    size_t count = 0;
    for (size_t arm = 0; arm < problem->arms; arm++)
        if (sa_problem_allows(problem, arm)) order[count++] = arm;
    sa_arms_sort(problem->scores, order, count);
    return count;
}

/* ---- partition ---- */

static sa_status solve_groups(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate,
                              size_t *length) {
    const sa_oracle_data *data = problem->data;
    size_t groups = 0, taken = 0, *order, *room, most = problem->slate ? problem->slate : problem->arms;
    bool all = sa_problem_wants_all(problem);
    for (size_t arm = 0; arm < problem->arms; arm++)
        if (data->groups[arm] >= groups) groups = data->groups[arm] + 1;
    SA_TRY(SA_LAY(workspace, {&order, problem->arms, sizeof *order}, {&room, groups, sizeof *room}));
    for (size_t g = 0; g < groups; g++)
        room[g] = sa_problem_has(problem, SA_CAPACITIES) ? data->capacities[g] : 1;
    size_t count = sorted_arms(problem, order);
    for (size_t i = 0; i < count && taken < most && (all || problem->scores[order[i]] >= 0); i++) {
        size_t *left = &room[data->groups[order[i]]];
        if (*left == 0) continue;
        --*left;
        slate[taken++] = order[i];
    }
    if (all && taken < most)
        return sa_data_fail(data, SA_GROUPS, "no slate of %zu arms: the groups have room for %zu", most,
                            taken);
    *length = taken;
    return SA_OK;
}

/* ---- graphic ---- */

static size_t root_of(size_t *parent, size_t node) {
    while (parent[node] != node) node = parent[node] = parent[parent[node]];
    return node;
}

static sa_status solve_graph(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate,
                             size_t *length) {
    const size_t *edges = problem->data->edges;
    size_t nodes = 0, taken = 0, *order, *parent;
    for (size_t i = 0; i < 2 * problem->arms; i++)
        if (edges[i] >= nodes) nodes = edges[i] + 1;
    if (nodes > problem->arms + 1)
        return sa_data_fail(problem->data, SA_EDGES, "%zu arms cannot join %zu nodes (0 to %zu) to a tree",
                            problem->arms, nodes, nodes - 1);
    SA_TRY(SA_LAY(workspace, {&order, problem->arms, sizeof *order}, {&parent, nodes, sizeof *parent}));
    for (size_t node = 0; node < nodes; node++) parent[node] = node;
    size_t count = sorted_arms(problem, order);
    for (size_t i = 0; i < count && taken + 1 < nodes; i++) {
        size_t one = root_of(parent, edges[2 * order[i]]), other = root_of(parent, edges[2 * order[i] + 1]);
        if (one == other) continue;
        parent[other] = one;
        slate[taken++] = order[i];
    }
    for (size_t node = 1; node < nodes && taken + 1 < nodes; node++)
        if (root_of(parent, node) != root_of(parent, 0))
            return sa_data_fail(problem->data, SA_EDGES,
                                "no spanning tree: nothing leads from node 0 to node %zu", node);
    *length = taken;
    return SA_OK;
}

/* ---- both ---- */

static sa_status check(const sa_oracle_problem *problem) {
    bool groups = sa_problem_has(problem, SA_GROUPS), edges = sa_problem_has(problem, SA_EDGES);
    if (groups && edges) return sa_fail(SA_INVALID, "matroid takes --groups or --edges, not both");
    if (!groups && !edges) return sa_fail(SA_INVALID, "matroid needs --groups (and --capacities) or --edges");
    if (edges && sa_problem_has(problem, SA_CAPACITIES))
        return sa_fail(SA_INVALID, "--capacities are for --groups, not for --edges");
    if (edges && sa_problem_wants_all(problem))
        return sa_fail(SA_INVALID,
                       "--exactly is for --groups: a spanning tree of --edges has one arm less than nodes");
    for (size_t arm = 0; groups && arm < problem->arms; arm++)
        if (problem->data->groups[arm] >= (size_t)1 << 31)
            return sa_data_fail(problem->data, SA_GROUPS, "arm %zu is of group %zu, and groups count from 0",
                                arm, problem->data->groups[arm]);
    return SA_OK;
}

static sa_status solve(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate,
                       size_t *length) {
    return sa_problem_has(problem, SA_GROUPS) ? solve_groups(problem, workspace, slate, length)
                                              : solve_graph(problem, workspace, slate, length);
}

const sa_oracle sa_oracle_matroid = {
    .name = "matroid",
    .summary =
        "groups: the best arms, so many a group, at most K; edges: the best spanning tree; reward: the sum",
    .wants = "groups; capacities, slate, exactly; or edges",
    .cost = "O(N log N)",
    .alpha = 1,
    .exact = true,
    .size = SA_ANY_SIZE,
    .takes = SA_BIT(SA_GROUPS) | SA_BIT(SA_CAPACITIES) | SA_BIT(SA_EDGES) | SA_BIT(SA_EXACTLY),
    .check = check,
    .solve = solve,
    .reward = sa_reward_sum,
};
