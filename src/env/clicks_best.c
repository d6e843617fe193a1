/* The slate with the largest expected reward under a click model. With w_k the weights of the positions and p
 * = w_k a_i:
 *
 * position: R = sum_k w_k v_i, w >= 0: the K largest scores, the larger the score the larger its weight
 * (rearrangement).
 *
 * cascade: from position k on, R_k = p + c R_(k+1) with c = p (1 - stop) + (1 - p) (1 - leave). When only the
 * first click counts, or users stop at their first, stop = 1 and R <= 1, so that R_k grows with the score at
 * every position: the K largest scores are best. In which order? Swapping scores x > y of neighbouring
 * positions with weights w and w' gains, with q = 1 - leave,
 *
 *     (x - y) (w - q w' - q^2 R (w - w'))   for x before y
 *
 * where R is what comes after both.
 *   - leave = 0: the sign is that of w - w': as for position.
 *   - weights fall (w >= w'): never negative: the larger score comes first.
 *   - else it depends on R: the best order of every subset of the K, from the last position back (2^K K
 *       steps).
 *
 * cascade with --reward sum, where users may go on after a click (stop < 1): the K largest scores need not be
 * best. With weights that are all the same, p and c are the arm's own, and x before y gains p_x (1 - c_y) -
 * p_y (1 - c_x), whatever R is: the best order of any set is by falling p / (1 - c). Which K: by dynamic
 * programming over the arms in that order, from the last back. */
#include "env/clicks.h"

#include <math.h>
#include <string.h>

enum { MOST_ORDERED = 16 }; /* positions whose 2^K subsets are looked through in a millisecond */

static double chance_to_go_on(const sa_clicks *clicks, double click, double stop) {
    return click * (1 - stop) + (1 - click) * (1 - clicks->leave);
}

/* The K largest scores, larger ones to larger weights, ties to the first positions. */
static sa_status take_largest(const sa_clicks *clicks, const sa_round *round, size_t length,
                              sa_workspace *workspace, size_t *slate) {
    sa_oracle_data data = {.given = SA_BIT(SA_DISCOUNTS), .discounts = clicks->weights};
    sa_oracle_problem problem = {
        .scores = round->expected, .arms = round->arms, .slate = length, .data = &data};
    size_t count;
    return sa_oracle_cascade.solve(&problem, workspace, slate, &count);
}

/* ---- the best order of the K arms in `slate` ---- */

static sa_status order_all(const sa_clicks *clicks, const sa_round *round, size_t length,
                           sa_workspace *workspace, size_t *slate) {
    size_t subsets = (size_t)1 << length, *arms;
    double *reward;       /* (subsets) of the arms in it, in the last positions and the best order */
    unsigned char *first; /* (subsets) the arm that comes first then */
    SA_TRY(SA_LAY(workspace, {&reward, subsets, sizeof *reward}, {&first, subsets, sizeof *first},
                  {&arms, length, sizeof *arms}));
    memcpy(arms, slate, length * sizeof *arms);
    reward[0] = 0;
    for (size_t subset = 1; subset < subsets; subset++) {
        double weight = clicks->weights[length - (size_t)__builtin_popcountll(subset)];
        reward[subset] = -1;
        for (size_t i = 0; i < length; i++) {
            if (!(subset >> i & 1)) continue;
            double click = weight * sa_clicks_attraction(round, arms[i]);
            double total = click + chance_to_go_on(clicks, click, 1) * reward[subset ^ (size_t)1 << i];
            if (total <= reward[subset]) continue;
            reward[subset] = total;
            first[subset] = (unsigned char)i;
        }
    }
    for (size_t k = 0, subset = subsets - 1; k < length; k++) {
        slate[k] = arms[first[subset]];
        subset ^= (size_t)1 << first[subset];
    }
    return SA_OK;
}

/* ---- users who go on after a click ---- */

static bool goes_on(const sa_clicks *clicks, const sa_round *round) {
    for (size_t i = 0; clicks->sum && i < round->arms; i++)
        if (round->stop[i] < 1) return true;
    return false;
}

/* p / (1 - c). Arms with p = 0 and c = 1 fit anywhere. */
static double index_of(double click, double on) {
    return on < 1 ? click / (1 - on) : click > 0 ? INFINITY : 0;
}

static sa_status choose_by_index(const sa_clicks *clicks, const sa_round *round, size_t length,
                                 sa_workspace *workspace, size_t *slate) {
    size_t arms = round->arms, *order;
    double *click, *on, *index, *reward; /* reward[k]: of the best k of the arms that were looked at */
    bool *taken;                         /* (arms, length + 1) is this arm the first of those k? */
    SA_TRY(SA_LAY(workspace, {&order, arms, sizeof *order}, {&click, arms, sizeof *click},
                  {&on, arms, sizeof *on}, {&index, arms, sizeof *index},
                  {&reward, length + 1, sizeof *reward}, {&taken, arms, (length + 1) * sizeof *taken}));
    for (size_t i = 0; i < arms; i++) {
        order[i] = i;
        click[i] = clicks->weights[0] * sa_clicks_attraction(round, i);
        on[i] = chance_to_go_on(clicks, click[i], round->stop[i]);
        index[i] = index_of(click[i], on[i]);
    }
    sa_arms_sort(index, order, arms);
    reward[0] = 0;
    for (size_t k = 1; k <= length; k++) reward[k] = -INFINITY; /* so many arms were not there yet */
    for (size_t at = arms; at-- > 0;)
        for (size_t k = length; k > 0; k--) {
            double with = click[order[at]] + on[order[at]] * reward[k - 1];
            bool take = reward[k - 1] > -INFINITY &&
                        with >= reward[k]; /* a tie to the one that is earlier in the order */
            taken[at * (length + 1) + k] = take;
            if (take) reward[k] = with;
        }
    for (size_t at = 0, left = length; left > 0; at++)
        if (taken[at * (length + 1) + left]) slate[length - left--] = order[at];
    return SA_OK;
}

/* ---- which it is ---- */

static bool all_same(const double *weights, size_t count) {
    for (size_t k = 1; k < count; k++)
        if (weights[k] != weights[0]) return false;
    return true;
}

sa_status sa_clicks_best(const sa_clicks *clicks, const sa_round *round, size_t length,
                         sa_workspace *workspace, size_t *slate) {
    bool cascade = clicks->kind == SA_CLICKS_CASCADE;
    if (cascade && goes_on(clicks, round)) {
        if (all_same(clicks->weights, length))
            return choose_by_index(clicks, round, length, workspace, slate);
        return sa_fail(SA_INVALID,
                       "--reward sum with --discounts, and users who go on after a click: the best slate "
                       "takes too long to find; leave one of them out");
    }
    SA_TRY(take_largest(clicks, round, length, workspace, slate));
    if (!cascade || clicks->leave == 0 || clicks->falling) return SA_OK;
    if (length > MOST_ORDERED)
        return sa_fail(SA_INVALID,
                       "--leave %g with --discounts that do not fall from position to position: the best "
                       "order of %zu arms "
                       "takes too long to find; up to %d are fine",
                       clicks->leave, length, MOST_ORDERED);
    return order_all(clicks, round, length, workspace, slate);
}
