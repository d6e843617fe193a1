/* Each position k gets one arm, each arm at most one position; the reward sum_k s(a_k, k) is the largest: the paper's linear
 * program. Scores of one number an arm count as s(a, k) = psi_k s(a), with psi_k = 1 unless discounts are given.
 *
 * Shortest augmenting paths with potentials (Jonker and Volgenant 1987), position by position: with costs c = -s and
 * potentials u, v, c(k, a) - u_k - v_a >= 0 everywhere and = 0 on assigned pairs; a path of least reduced cost leads from the
 * new position to a free arm. O(K^2 M) for M arms.
 *
 * There is a best assignment in which every position has one of its own K best arms: were it not so for one, one of its K best
 * would be free, and no worse. So where N > 2 K^2 only those arms, at most K^2, come in: O(N K log K + K^4). */
#include "oracle/oracle.h"

#include <math.h>
#include <string.h>

typedef struct pairing {
    size_t positions, arms; /* K, M */
    size_t *arm;            /* (arms) index in the problem */
    double *cost;           /* (positions, arms) */
    double *potential;      /* (positions) u */
    double *price;          /* (arms) v */
    double *distance;       /* (arms) */
    size_t *from;           /* (arms) column before it on the path, or NONE */
    size_t *owner;          /* (arms) position, or NONE */
    bool *done;             /* (arms) */
} pairing;

#define NONE ((size_t)-1)

static double score_at(const sa_oracle_problem *problem, size_t arm, size_t position) {
    if (problem->positions) return problem->scores[arm * problem->positions + position];
    return sa_problem_has(problem, SA_DISCOUNTS) ? problem->data->discounts[position] * problem->scores[arm]
                                                 : problem->scores[arm];
}

/* ---- the K best arms of each position ---- */

typedef struct entry {
    double score;
    size_t arm;
} entry;

static bool worse(entry one, entry other) {
    return one.score < other.score || (one.score == other.score && one.arm > other.arm);
}

/* The worst is at the top. */
static void sift(entry *heap, size_t root, size_t count) {
    entry moved = heap[root];
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && worse(heap[child + 1], heap[child])) child++;
        if (!worse(heap[child], moved)) break;
        heap[root] = heap[child];
    }
    heap[root] = moved;
}

/* Marks the arms that are among the K best of a position. heap (positions, positions), least (positions). */
static void mark_best(const sa_oracle_problem *problem, entry *heap, double *least, bool *marked) {
    size_t positions = problem->slate, filled = 0;
    for (size_t arm = 0; arm < problem->arms; arm++) {
        if (!sa_problem_allows(problem, arm)) continue;
        if (filled < positions) {
            for (size_t k = 0; k < positions; k++) heap[k * positions + filled] = (entry){score_at(problem, arm, k), arm};
            if (++filled < positions) continue;
            for (size_t k = 0; k < positions; k++) {
                for (size_t root = positions / 2 + 1; root-- > 0;) sift(heap + k * positions, root, positions);
                least[k] = heap[k * positions].score;
            }
            continue;
        }
        const double *row = problem->scores + arm * positions;
        for (size_t k = 0; k < positions; k++) {
            double score = problem->positions ? row[k] : score_at(problem, arm, k);
            if (score <= least[k]) continue; /* the earlier arm stays on a tie */
            heap[k * positions] = (entry){score, arm};
            sift(heap + k * positions, 0, positions);
            least[k] = heap[k * positions].score;
        }
    }
    for (size_t i = 0; i < positions * positions; i++) marked[heap[i].arm] = true;
}

/* ---- augmenting paths ---- */

/* The least reduced cost of a path from the position to each arm, until a free one is reached; returns that arm. */
static size_t search(const pairing *self, size_t start, double *length) {
    size_t position = start, last = NONE;
    double far = 0;
    for (size_t j = 0; j < self->arms; j++) {
        self->distance[j] = INFINITY;
        self->done[j] = false;
    }
    for (;;) {
        const double *cost = self->cost + position * self->arms;
        double base = far - self->potential[position], least = INFINITY;
        size_t next = NONE;
        for (size_t j = 0; j < self->arms; j++) {
            if (self->done[j]) continue;
            double through = base + cost[j] - self->price[j];
            if (through < self->distance[j]) {
                self->distance[j] = through;
                self->from[j] = last;
            }
            if (self->distance[j] < least) {
                least = self->distance[j];
                next = j;
            }
        }
        far = least;
        self->done[next] = true;
        last = next;
        if (self->owner[next] == NONE) break;
        position = self->owner[next];
    }
    *length = far;
    return last;
}

static void assign(const pairing *self, size_t start) {
    double length;
    size_t arm = search(self, start, &length);
    for (size_t j = 0; j < self->arms; j++) {
        if (!self->done[j] || self->owner[j] == NONE) continue;
        self->potential[self->owner[j]] += length - self->distance[j];
        self->price[j] -= length - self->distance[j];
    }
    self->potential[start] += length;
    for (; arm != NONE; arm = self->from[arm])
        self->owner[arm] = self->from[arm] == NONE ? start : self->owner[self->from[arm]];
}

static sa_status check(const sa_oracle_problem *problem) {
    if (!problem->positions || !sa_problem_has(problem, SA_DISCOUNTS)) return SA_OK;
    return sa_data_fail(problem->data, SA_DISCOUNTS,
                        "--scores have a number for each position, so there is nothing to discount");
}

static sa_status solve(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate, size_t *length) {
    size_t positions = problem->slate, arms = problem->arms;
    bool filter = arms / 2 / positions > positions, *marked;
    size_t most = filter ? positions * positions : arms;
    pairing self = {.positions = positions};
    entry *heap;
    SA_TRY(SA_LAY(workspace, {&marked, arms, sizeof *marked}, {&heap, filter ? most : 0, sizeof *heap},
                  {&self.arm, most, sizeof *self.arm}, {&self.cost, positions, most * sizeof *self.cost},
                  {&self.potential, positions, sizeof(double)}, {&self.price, most, sizeof(double)},
                  {&self.distance, most, sizeof(double)}, {&self.from, most, sizeof(size_t)},
                  {&self.owner, most, sizeof(size_t)}, {&self.done, most, sizeof(bool)}));
    memset(marked, 0, arms * sizeof *marked);
    if (filter) mark_best(problem, heap, self.potential, marked);
    for (size_t arm = 0; arm < arms; arm++)
        if (filter ? marked[arm] : sa_problem_allows(problem, arm)) self.arm[self.arms++] = arm;
    for (size_t j = 0; j < self.arms; j++) {
        for (size_t k = 0; k < positions; k++) self.cost[k * self.arms + j] = -score_at(problem, self.arm[j], k);
        self.price[j] = 0;
        self.owner[j] = NONE;
    }
    for (size_t k = 0; k < positions; k++) {
        self.potential[k] = 0;
        assign(&self, k);
    }
    for (size_t j = 0; j < self.arms; j++)
        if (self.owner[j] != NONE) slate[self.owner[j]] = self.arm[j];
    *length = positions;
    return SA_OK;
}

static double reward(const sa_oracle_problem *problem, const size_t *slate, size_t length) {
    double sum = 0;
    for (size_t k = 0; k < length; k++) sum += score_at(problem, slate[k], k);
    return sum;
}

const sa_oracle sa_oracle_assignment = {
    .name = "assignment",
    .summary = "each of K positions gets one arm, no arm two; reward: the sum of s(arm, position)",
    .wants = "scores (N, K), or slate and discounts; exactly",
    .cost = "O(N K log K + K^4), at most O(K^2 N)",
    .alpha = 1,
    .exact = true,
    .size = SA_EXACTLY_K,
    .takes = SA_BIT(SA_DISCOUNTS) | SA_BIT(SA_EXACTLY),
    .positions = true,
    .check = check,
    .solve = solve,
    .reward = reward,
};
