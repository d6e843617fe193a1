/* K arms that cover topics well between them: with c(i, t) >= 0 how well arm i covers topic t,
 *
 *   R(S) = sum_t max_{i in S} score_i c(i, t),   scores 0 or more
 *
 * which is monotone and submodular. Greedy: K times the arm that adds most, which reaches 1 - 1/e of the best
 * (Nemhauser, Wolsey and Fisher 1978). Lazily (Minoux 1978): what an arm adds only falls, so an old gain is a
 * bound, and only arms at the top of a heap of bounds are looked at again. Urgent arms, where there are any,
 * are chosen before greedy goes on from them. */
#include "oracle/oracle.h"

#include <float.h>
#include <string.h>

typedef struct candidate {
    double bound;
    size_t arm, at; /* bound is exact when `at` arms were chosen */
} candidate;

static bool before(candidate one, candidate other) {
    return one.bound > other.bound || (one.bound == other.bound && one.arm < other.arm);
}

static void sift(candidate *heap, size_t root, size_t count) {
    candidate moved = heap[root];
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && before(heap[child + 1], heap[child])) child++;
        if (!before(heap[child], moved)) break;
        heap[root] = heap[child];
    }
    heap[root] = moved;
}

/* covered (topics) */
static double added(const sa_oracle_problem *problem, const double *covered, size_t arm) {
    size_t topics = problem->data->columns[SA_TOPICS];
    const double *row = problem->data->topics + arm * topics;
    double sum = 0;
    for (size_t t = 0; t < topics; t++) {
        double covers = problem->scores[arm] * row[t];
        if (covers > covered[t]) sum += covers - covered[t];
    }
    return sum;
}

static void cover(const sa_oracle_problem *problem, double *covered, size_t arm) {
    size_t topics = problem->data->columns[SA_TOPICS];
    const double *row = problem->data->topics + arm * topics;
    for (size_t t = 0; t < topics; t++)
        if (problem->scores[arm] * row[t] > covered[t]) covered[t] = problem->scores[arm] * row[t];
}

/* The urgent arms, the most urgent first and at most a slate of them; `arms` is workspace. */
static size_t choose_urgent(const sa_oracle_problem *problem, double *covered, size_t *arms, size_t *slate) {
    size_t count = 0;
    for (size_t arm = 0; problem->urgency && arm < problem->arms; arm++)
        if (problem->urgency[arm] > 0 && sa_problem_allows(problem, arm)) arms[count++] = arm;
    sa_arms_sort(problem->urgency, arms, count);
    if (count > problem->slate) count = problem->slate;
    for (size_t i = 0; i < count; i++) cover(problem, covered, slate[i] = arms[i]);
    return count;
}

static bool is_urgent(const sa_oracle_problem *problem, size_t arm) {
    return problem->urgency && problem->urgency[arm] > 0;
}

static sa_status solve(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate,
                       size_t *length) {
    size_t count = 0, *urgent, topics = problem->data->columns[SA_TOPICS];
    candidate *heap;
    double *covered;
    SA_TRY(SA_LAY(workspace, {&heap, problem->arms, sizeof *heap}, {&covered, topics, sizeof *covered},
                  {&urgent, problem->arms, sizeof *urgent}));
    memset(covered, 0, topics * sizeof *covered);
    size_t chosen = choose_urgent(problem, covered, urgent, slate);
    for (size_t arm = 0; arm < problem->arms; arm++)
        if (sa_problem_allows(problem, arm) && !is_urgent(problem, arm))
            heap[count++] = (candidate){added(problem, covered, arm), arm, chosen};
    for (size_t root = count / 2 + 1; root-- > 0;)
        if (root < count) sift(heap, root, count);
    for (size_t steps = 0; chosen < problem->slate; steps++) {
        if (steps % 16 == 0 && sa_problem_is_late(problem)) return sa_problem_fail_late();
        if (heap[0].at < chosen) {
            heap[0].bound = added(problem, covered, heap[0].arm);
            heap[0].at = chosen;
        } else {
            slate[chosen++] = heap[0].arm;
            cover(problem, covered, heap[0].arm);
            heap[0] = heap[--count];
        }
        if (count > 0) sift(heap, 0, count);
    }
    *length = chosen;
    return SA_OK;
}

/* Topic by topic, without memory of its own. */
static double reward(const sa_oracle_problem *problem, const size_t *slate, size_t length) {
    size_t topics = problem->data->columns[SA_TOPICS];
    double sum = 0;
    for (size_t t = 0; t < topics; t++) {
        double most = 0;
        for (size_t i = 0; i < length; i++) {
            double covers = problem->scores[slate[i]] * problem->data->topics[slate[i] * topics + t];
            if (covers > most) most = covers;
        }
        sum += most;
    }
    return sum;
}

const sa_oracle sa_oracle_submodular = {
    .name = "submodular",
    .summary = "K arms that cover topics; reward: sum over topics of the best score x coverage among them",
    .wants = "topics, slate; exactly",
    .cost = "O(N T) and a few gains a place",
    .alpha = 0.63212055882855768, /* 1 - 1/e */
    .exact = false,
    .size = SA_EXACTLY_K,
    .needs = SA_BIT(SA_TOPICS),
    .takes = SA_BIT(SA_EXACTLY),
    .low = 0,
    .high = DBL_MAX,
    .urgent_first = true,
    .solve = solve,
    .reward = reward,
    .best = sa_submodular_best,
};
