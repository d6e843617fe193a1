/* Arms are the edges of a bipartite graph, each with its node on the left and its node on the right; the
 * slate is a matching of at most K of them (no node twice) with the largest sum of scores. Arms may be left
 * out.
 *
 * Augmenting paths of largest gain, from the best matching of j pairs to the best one of j + 1; gains fall
 * with j, so the first that loses ends it, unless exactly K pairs are wanted. Paths by Bellman and Ford with
 * a queue: O(K V E), mostly O(K E). */
#include "oracle/oracle.h"

#include <float.h>
#include <math.h>

#define NONE ((size_t)-1)

typedef struct graph {
    const sa_oracle_problem *problem;
    size_t side[2];     /* nodes on the left and on the right */
    size_t *first;      /* (left + 1) of each left node in leaving */
    size_t *leaving;    /* (arms) by left node */
    size_t *matched[2]; /* (left), (right): the arm, or NONE */
    double *gain[2];    /* (left), (right): of the best path that ends there */
    size_t *via;        /* (right) last arm of that path */
    size_t *queue;      /* (left) ring */
    bool *waiting;      /* (left) */
    double least;       /* smaller gains are rounding */
} graph;

static size_t end_of(const graph *self, size_t arm, int side) {
    return self->problem->data->edges[2 * arm + (size_t)side];
}

static void list_leaving(graph *self) {
    size_t left = self->side[0], arms = self->problem->arms;
    for (size_t node = 0; node <= left; node++) self->first[node] = 0;
    for (size_t arm = 0; arm < arms; arm++) self->first[end_of(self, arm, 0) + 1]++;
    for (size_t node = 0; node < left; node++) self->first[node + 1] += self->first[node];
    for (size_t arm = arms; arm-- > 0;) self->leaving[--self->first[end_of(self, arm, 0) + 1]] = arm;
    for (size_t node = 0; node < left; node++)
        self->first[node] = self->first[node + 1]; /* moved by one above */
    self->first[left] = arms;
}

/* Gains of the best alternating paths from any free left node. */
static void find_gains(graph *self) {
    const double *scores = self->problem->scores;
    size_t left = self->side[0], head = 0, count = 0;
    for (size_t node = 0; node < self->side[1]; node++) self->gain[1][node] = -INFINITY;
    for (size_t node = 0; node < left; node++) {
        bool free = self->matched[0][node] == NONE;
        self->gain[0][node] = free ? 0 : -INFINITY;
        self->waiting[node] = free;
        if (free) self->queue[count++] = node;
    }
    for (; count > 0; count--) {
        size_t node = self->queue[head];
        head = head + 1 == left ? 0 : head + 1;
        self->waiting[node] = false;
        for (size_t i = self->first[node]; i < self->first[node + 1]; i++) {
            size_t arm = self->leaving[i], other = end_of(self, arm, 1), back = self->matched[1][other];
            double gain = self->gain[0][node] + scores[arm];
            if (!sa_problem_allows(self->problem, arm) || back == arm ||
                !(gain > self->gain[1][other] + self->least))
                continue;
            self->gain[1][other] = gain;
            self->via[other] = arm;
            if (back == NONE) continue;
            size_t next = end_of(self, back, 0);
            self->gain[0][next] = gain - scores[back];
            if (self->waiting[next]) continue;
            self->waiting[next] = true;
            size_t tail = head + count - 1; /* this node still counts */
            self->queue[tail >= left ? tail - left : tail] = next;
            count++;
        }
    }
}

static bool augment(graph *self) {
    size_t best = NONE;
    find_gains(self);
    for (size_t node = 0; node < self->side[1]; node++)
        if (self->matched[1][node] == NONE && (best == NONE || self->gain[1][node] > self->gain[1][best]))
            best = node;
    double least = sa_problem_wants_all(self->problem) ? -DBL_MAX : 0; /* -infinity: no way there */
    if (best == NONE || !(self->gain[1][best] >= least)) return false;
    for (size_t node = best, before; node != NONE; node = before) {
        size_t arm = self->via[node], start = end_of(self, arm, 0), old = self->matched[0][start];
        before = old == NONE ? NONE : end_of(self, old, 1);
        self->matched[0][start] = arm;
        self->matched[1][node] = arm;
    }
    return true;
}

static sa_status solve(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate,
                       size_t *length) {
    size_t most = problem->slate ? problem->slate : problem->arms, count = 0;
    graph self = {.problem = problem};
    for (size_t arm = 0; arm < problem->arms; arm++) {
        for (int side = 0; side < 2; side++)
            if (end_of(&self, arm, side) >= self.side[side]) self.side[side] = end_of(&self, arm, side) + 1;
        self.least = fmax(self.least, 1e-14 * fabs(problem->scores[arm]));
    }
    size_t left = self.side[0], right = self.side[1];
    SA_TRY(SA_LAY(workspace, {&self.first, left + 1, sizeof(size_t)},
                  {&self.leaving, problem->arms, sizeof(size_t)}, {&self.matched[0], left, sizeof(size_t)},
                  {&self.matched[1], right, sizeof(size_t)}, {&self.gain[0], left, sizeof(double)},
                  {&self.gain[1], right, sizeof(double)}, {&self.via, right, sizeof(size_t)},
                  {&self.queue, left, sizeof(size_t)}, {&self.waiting, left, sizeof(bool)}));
    list_leaving(&self);
    for (size_t node = 0; node < left; node++) self.matched[0][node] = NONE;
    for (size_t node = 0; node < right; node++) self.matched[1][node] = NONE;
    size_t pairs = 0;
    while (pairs < most && augment(&self)) {
        pairs++;
        if (sa_problem_is_late(problem)) return sa_problem_fail_late();
    }
    if (sa_problem_wants_all(problem) && pairs < most)
        return sa_data_fail(problem->data, SA_EDGES, "no slate of %zu pairs: at most %zu share no node", most,
                            pairs);
    for (size_t node = 0; node < left; node++)
        if (self.matched[0][node] != NONE) slate[count++] = self.matched[0][node];
    sa_arms_sort(problem->scores, slate, count);
    *length = count;
    return SA_OK;
}

const sa_oracle sa_oracle_matching = {
    .name = "matching",
    .summary = "arms are pairs of a left and a right node; no node twice, at most K pairs; reward: the sum",
    .wants = "edges; slate, exactly",
    .cost = "O(K V N), mostly O(K N)",
    .alpha = 1,
    .exact = true,
    .size = SA_AT_MOST_K,
    .needs = SA_BIT(SA_EDGES),
    .takes = SA_BIT(SA_EXACTLY),
    .solve = solve,
    .reward = sa_reward_sum,
};
