/* Each position k gets one arm, each arm at most one position; the reward sum_k s(a_k, k) is the largest: the
 * paper's linear program. Scores of one number an arm count as s(a, k) = psi_k s(a), with psi_k = 1 unless
 * discounts are given.
 *
 * Shortest augmenting paths with potentials (Jonker and Volgenant 1987), position by position: with costs c =
 * -s and potentials u, v, c(k, a) - u_k - v_a >= 0 everywhere and = 0 on assigned pairs; a path of least
 * reduced cost leads from the new position to a free arm. O(K^2 M) for M arms.
 *
 * There is a best assignment in which every position has one of its own K best arms: were it not so for one,
 * one of its K best would be free, and no worse. So where N > 2 K^2 only those arms, at most K^2, come in:
 * O(N K log K + K^4).
 *
 * Rules (groups, exclusions, places that take only some arms) make it a flow, or an integer program:
 * assignment_flow.c, assignment_program.c. */
#include "oracle/assignment.h"

#include <math.h>
#include <string.h>

typedef struct pairing {
    size_t positions, arms; /* K, M */
    size_t *arm;            /* (arms) index in the problem */
    double *cost;           /* (positions, arms) */
    double *potential;      /* (positions) u */
    double *price;          /* (arms) v */
    double *distance;       /* (arms) */
    size_t *from;           /* (arms) column before it on the path, or SA_NONE */
    size_t *owner;          /* (arms) position, or SA_NONE */
    bool *done;             /* (arms) */
} pairing;

/* ---- the K best arms of each position ---- */

static bool worse(sa_entry one, sa_entry other) {
    return one.score < other.score || (one.score == other.score && one.arm > other.arm);
}

/* The worst is at the top. */
static void sift(sa_entry *heap, size_t root, size_t count) {
    sa_entry moved = heap[root];
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && worse(heap[child + 1], heap[child])) child++;
        if (!worse(heap[child], moved)) break;
        heap[root] = heap[child];
    }
    heap[root] = moved;
}

/* Marks the arms that are among the K best of a position. heap (positions, positions), least (positions). */
static void mark_best(const sa_oracle_problem *problem, sa_entry *heap, double *least, bool *marked) {
    size_t positions = problem->slate, filled = 0;
    for (size_t arm = 0; arm < problem->arms; arm++) {
        if (!sa_problem_allows(problem, arm)) continue;
        if (filled < positions) {
            for (size_t k = 0; k < positions; k++)
                heap[k * positions + filled] = (sa_entry){sa_position_score(problem, arm, k), arm};
            if (++filled < positions) continue;
            for (size_t k = 0; k < positions; k++) {
                for (size_t root = positions / 2 + 1; root-- > 0;)
                    sift(heap + k * positions, root, positions);
                least[k] = heap[k * positions].score;
            }
            continue;
        }
        const double *row = problem->scores + arm * positions;
        for (size_t k = 0; k < positions; k++) {
            double score = problem->positions ? row[k] : sa_position_score(problem, arm, k);
            if (score <= least[k]) continue; /* the earlier arm stays on a tie */
            heap[k * positions] = (sa_entry){score, arm};
            sift(heap + k * positions, 0, positions);
            least[k] = heap[k * positions].score;
        }
    }
    for (size_t i = 0; i < positions * positions; i++) marked[heap[i].arm] = true;
}

/* ---- augmenting paths ---- */

/* The least reduced cost of a path from the position to each arm, until a free one is reached; returns that
 * arm. */
static size_t search(const pairing *self, size_t start, double *length) {
    size_t position = start, last = SA_NONE;
    double far = 0;
    for (size_t j = 0; j < self->arms; j++) {
        self->distance[j] = INFINITY;
        self->done[j] = false;
    }
    for (;;) {
        const double *cost = self->cost + position * self->arms;
        double base = far - self->potential[position], least = INFINITY;
        size_t next = SA_NONE;
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
        if (self->owner[next] == SA_NONE) break;
        position = self->owner[next];
    }
    *length = far;
    return last;
}

static void assign(const pairing *self, size_t start) {
    double length;
    size_t arm = search(self, start, &length);
    for (size_t j = 0; j < self->arms; j++) {
        if (!self->done[j] || self->owner[j] == SA_NONE) continue;
        self->potential[self->owner[j]] += length - self->distance[j];
        self->price[j] -= length - self->distance[j];
    }
    self->potential[start] += length;
    for (; arm != SA_NONE; arm = self->from[arm])
        self->owner[arm] = self->from[arm] == SA_NONE ? start : self->owner[self->from[arm]];
}

static sa_status check(const sa_oracle_problem *problem) {
    SA_TRY(sa_rules_check(problem));
    if (!problem->positions || !sa_problem_has(problem, SA_DISCOUNTS)) return SA_OK;
    return sa_data_fail(problem->data, SA_DISCOUNTS,
                        "--scores have a number for each position, so there is nothing to discount");
}

static sa_status solve_freely(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate) {
    size_t positions = problem->slate, arms = problem->arms;
    bool filter = arms / 2 / positions > positions, *marked;
    size_t most = filter ? positions * positions : arms;
    pairing self = {.positions = positions};
    sa_entry *heap;
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
        for (size_t k = 0; k < positions; k++)
            self.cost[k * self.arms + j] = -sa_position_score(problem, self.arm[j], k);
        self.price[j] = 0;
        self.owner[j] = SA_NONE;
    }
    for (size_t k = 0; k < positions; k++) {
        self.potential[k] = 0;
        assign(&self, k);
    }
    for (size_t j = 0; j < self.arms; j++)
        if (self.owner[j] != SA_NONE) slate[self.owner[j]] = self.arm[j];
    return SA_OK;
}

static bool comes_first(const sa_oracle_problem *problem, size_t one, size_t other) {
    double a = problem->scores[one], b = problem->scores[other];
    return a > b || (a == b && one < other);
}

/* Where places are worth the same, any order of the arms that they take is as good: best first, then. */
static void put_best_first(const sa_oracle_problem *problem, size_t *slate) {
    for (size_t p = 0; p < problem->slate; p++) {
        size_t best = p;
        for (size_t q = p + 1; q < problem->slate; q++)
            if (comes_first(problem, slate[q], slate[best]) && sa_position_takes(problem, slate[q], p) &&
                sa_position_takes(problem, slate[p], q))
                best = q;
        size_t moved = slate[p];
        slate[p] = slate[best];
        slate[best] = moved;
    }
}

static sa_status solve(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate,
                       size_t *length) {
    bool is_flow;
    *length = problem->slate;
    if (!sa_rules_given(problem)) return solve_freely(problem, workspace, slate);
    SA_TRY(sa_assignment_flow(problem, workspace, slate, &is_flow));
    if (!is_flow) SA_TRY(sa_assignment_program(problem, workspace, slate));
    if (problem->positions || sa_problem_has(problem, SA_DISCOUNTS)) return SA_OK;
    if (sa_problem_has(problem, SA_ELIGIBLE))
        put_best_first(problem, slate);
    else
        sa_arms_sort(problem->scores, slate, *length); /* all positions are alike */
    return SA_OK;
}

static double reward(const sa_oracle_problem *problem, const size_t *slate, size_t length) {
    double sum = 0;
    for (size_t k = 0; k < length; k++) sum += sa_position_score(problem, slate[k], k);
    return sum;
}

const sa_oracle sa_oracle_assignment = {
    .name = "assignment",
    .summary = "each of K positions gets one arm, no arm two, under rules where there are any; reward: the "
               "sum of s(arm, "
               "position)",
    .wants = "scores (N, K), or slate and discounts; groups, capacities, minimums, exclusions, eligible, "
             "matrix, bounds, "
             "seconds, "
             "exactly",
    .cost = "O(N K log K + K^4), at most O(K^2 N)",
    .alpha = 1,
    .exact = true,
    .size = SA_EXACTLY_K,
    .takes = SA_BIT(SA_DISCOUNTS) | SA_BIT(SA_EXACTLY) | SA_BIT(SA_GROUPS) | SA_BIT(SA_CAPACITIES) |
             SA_BIT(SA_MINIMUMS) | SA_BIT(SA_EXCLUSIONS) | SA_BIT(SA_ELIGIBLE) | SA_BIT(SA_MATRIX) |
             SA_BIT(SA_BOUNDS) | SA_BIT(SA_SECONDS),
    .positions = true,
    .check = check,
    .solve = solve,
    .reward = reward,
};
