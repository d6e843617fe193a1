/* The arms whose scores add up to the most while their costs fit the capacity C, at most K of them.
 *
 * Whole costs: dynamic programming. With V(k, w) the best sum of at most k arms of cost at most w, each arm
 * (score v, cost c) makes V(k, w) = max(V(k, w), V(k - 1, w - c) + v); without a limit k falls away. Of arms
 * with the same cost c only the C / c best can be in a solution. O(N C), and O(N K C) where K limits.
 *
 * Other costs, or tables too large to hold: branch and bound. For all prices p, q >= 0 the best sum is at
 * most
 *
 *   L(p, q) = p C + q K + sum_i max(0, v_i - p c_i - q)
 *
 * (Lagrange). The prices that make this least are found by bisection; arms are then decided in decreasing |v
 * - p c - q|, so that the bound, at hand as a suffix sum, cuts early. Some problems are hard whatever the
 * bound (scores that equal the costs): after PATIENCE nodes, about half a second, ways are given up that
 * promise less than 1e-9 of the reward more, then 1e-8, and so on, and the solution says how much that may
 * have missed.
 *
 * Exactly K arms: scores are moved to 2K .. 2K + 1, which orders sets of K arms as before and puts each of
 * them above all smaller sets. The K cheapest arms tell whether there is any, and the search begins with
 * them. */
#include "oracle/oracle.h"

#include <math.h>
#include <string.h>

enum {
    LARGEST_TABLE = 1 << 27 /* bytes */,
    PATIENCE = 50000000,
    MORE_PATIENCE = 5000000 /* nodes */,
    NODES = 8192
};

typedef struct items {
    size_t count;
    size_t *arm;         /* (count) by decreasing score */
    const double *score; /* (arms) */
    const double *cost;  /* (arms) */
    double capacity;
    size_t limit; /* most arms; count or more: none */
    bool all;     /* exactly that many */
    const sa_oracle_problem *problem;
    double *moved; /* (arms) then: the scores, moved */
    bool *cheap;   /* (arms) then: is it one of the K cheapest? */
} items;

static double score_of(const items *self, size_t i) { return self->score[self->arm[i]]; }
static double cost_of(const items *self, size_t i) { return self->cost[self->arm[i]]; }

/* What every step needs comes first, and keeps its contents. */
#define LAY(self, arms, workspace, ...)                                                                      \
    SA_LAY(workspace, {&(self)->arm, arms, sizeof(size_t)}, {&(self)->moved, arms, sizeof(double)},          \
           {&(self)->cheap, arms, sizeof(bool)}, __VA_ARGS__)

/* ---- exactly K ---- */

/* Marks the K cheapest arms; SA_INVALID when not even they fit. size (arms) */
static sa_status mark_cheapest(items *self, const sa_oracle_problem *problem, double *size) {
    double sum = 0;
    memset(self->cheap, 0, problem->arms * sizeof *self->cheap);
    if (self->count < self->limit)
        return sa_data_fail(problem->data, SA_COSTS,
                            "no slate of %zu arms: only %zu fit --capacity %g by themselves", self->limit,
                            self->count, self->capacity);
    for (size_t i = 0; i < self->count; i++) size[self->arm[i]] = -cost_of(self, i);
    sa_arms_select(size, self->arm, self->count, self->limit);
    for (size_t i = 0; i < self->limit; i++) {
        sum += cost_of(self, i);
        self->cheap[self->arm[i]] = true;
    }
    if (sum <= self->capacity * (1 + 1e-9)) return SA_OK;
    return sa_data_fail(problem->data, SA_COSTS,
                        "no slate of %zu arms: the cheapest cost %g, and --capacity is %g", self->limit, sum,
                        self->capacity);
}

/* From 2K for the lowest score to 2K + 1 for the highest; halves, so that no difference overflows. Returns
 * that difference. */
static double move_scores(items *self, const double *scores) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < self->count; i++) {
        low = fmin(low, scores[self->arm[i]] / 2);
        high = fmax(high, scores[self->arm[i]] / 2);
    }
    for (size_t i = 0; i < self->count; i++) {
        double above = high > low ? (scores[self->arm[i]] / 2 - low) / (high - low) : 0;
        self->moved[self->arm[i]] = 2 * (double)self->limit + above;
    }
    return 2 * (high - low);
}

/* A share of the moved sum as a share of the reward, which it is to be measured by. */
static double moved_gap(const items *self, const sa_oracle_problem *problem, const size_t *slate, double gap,
                        double range) {
    double moved = 0, reward = sa_reward_sum(problem, slate, self->limit);
    for (size_t i = 0; i < self->limit; i++) moved += self->moved[slate[i]];
    return gap == 0 ? 0 : reward > 0 ? gap * moved * range / reward : INFINITY;
}

/* ---- dynamic programming ---- */

/* target[w] = max(target[w], source[w - c] + v), and took[w] whether it is the second. */
static void step(double *restrict target, const double *restrict source, unsigned char *restrict took,
                 size_t width, size_t c, double v) {
    for (size_t w = 0; w + c < width; w++) {
        double with = source[w] + v;
        bool better = with > target[w + c];
        target[w + c] = better ? with : target[w + c];
        took[w + c] = better;
    }
}

/* took (count, rows, width), value (rows, width), spare (width) */
static size_t solve_table(const items *self, size_t rows, size_t width, unsigned char *took, double *value,
                          double *spare, size_t *slate) {
    bool limited = rows > 1;
    memset(value, 0, rows * width * sizeof *value);
    memset(spare, 0, width * sizeof *spare);
    for (size_t i = 0; i < self->count; i++) {
        unsigned char *taken = took + i * rows * width;
        size_t c = (size_t)cost_of(self, i);
        memset(taken, 0, rows * width);
        if (!limited) {
            memcpy(spare, value, width * sizeof *value);
            step(value, spare, taken, width, c, score_of(self, i));
            continue;
        }
        for (size_t k = rows; k-- > 1;) /* row 0 stays 0: no arms */
            step(value + k * width, value + (k - 1) * width, taken + k * width, width, c, score_of(self, i));
    }
    size_t w = width - 1, k = rows - 1, length = 0;
    for (size_t i = self->count; i-- > 0;) {
        if (!took[(i * rows + k) * width + w]) continue;
        slate[length++] = self->arm[i];
        w -= (size_t)cost_of(self, i);
        k -= limited;
    }
    return length;
}

/* Drops arms that better ones of the same cost leave no room for. room (width) */
static void drop_dominated(items *self, size_t width, size_t *room) {
    size_t kept = 0;
    for (size_t c = 0; c < width; c++) room[c] = c ? (width - 1) / c : self->count;
    for (size_t i = 0; i < self->count; i++) {
        size_t *left = &room[(size_t)cost_of(self, i)];
        if (*left == 0) continue;
        --*left;
        self->arm[kept++] = self->arm[i];
    }
    self->count = kept;
}

static bool are_whole(const items *self) {
    if (self->capacity >= LARGEST_TABLE / 8) return false; /* a number for each would not fit */
    for (size_t i = 0; i < self->count; i++)
        if (cost_of(self, i) != floor(cost_of(self, i)) || cost_of(self, i) > floor(self->capacity))
            return false;
    return true;
}

/* ---- branch and bound ---- */

typedef struct prices {
    double capacity, place; /* p, q */
} prices;

static double reduced(const items *self, size_t i, prices at) {
    return score_of(self, i) - at.capacity * cost_of(self, i) - at.place;
}

/* What the arms that are worth their price cost, and how many they are. */
static void demand(const items *self, prices at, double *cost, size_t *count) {
    *cost = 0;
    *count = 0;
    for (size_t i = 0; i < self->count; i++) {
        if (reduced(self, i, at) <= 0) continue;
        *cost += cost_of(self, i);
        ++*count;
    }
}

/* The price of capacity that makes L least, for a price of places. */
static prices price_capacity(const items *self, double place, double highest, size_t *count) {
    double cost, low = 0, high = highest;
    demand(self, (prices){0, place}, &cost, count);
    if (cost <= self->capacity) return (prices){0, place};
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        demand(self, (prices){middle, place}, &cost, count);
        *(cost > self->capacity ? &low : &high) = middle;
    }
    demand(self, (prices){high, place}, &cost, count);
    return (prices){high, place};
}

static prices find_prices(const items *self) {
    double highest = 0, best = 0;
    size_t count;
    for (size_t i = 0; i < self->count; i++) {
        if (cost_of(self, i) > 0) highest = fmax(highest, score_of(self, i) / cost_of(self, i));
        best = fmax(best, score_of(self, i));
    }
    if (!isfinite(highest)) highest = 1e300;
    prices at = price_capacity(self, 0, highest, &count);
    if (self->limit >= self->count || count <= self->limit) return at;
    double low = 0, high = best;
    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;
        price_capacity(self, middle, highest, &count);
        *(count > self->limit ? &low : &high) = middle;
    }
    return price_capacity(self, high, highest, &count);
}

/* What is known where i arms have been decided. */
typedef struct level {
    double left, sum; /* capacity, and score so far */
    size_t used;
    double after; /* sum of the positive reduced scores from here on */
    bool taken;   /* the i-th arm */
    bool other;   /* the other way is still to be tried */
} level;

static void decide(const items *self, level *at, size_t i, bool take) {
    at[i].taken = take;
    at[i + 1].left = at[i].left - (take ? cost_of(self, i) : 0);
    at[i + 1].sum = at[i].sum + (take ? score_of(self, i) : 0);
    at[i + 1].used = at[i].used + take;
}

/* For exactly K: the K cheapest arms, then K times the swap of one in for one out that gains most and fits.
 * Returns the sum. */
static double begin_with(const items *self, bool *taken) {
    double sum = 0, left = self->capacity * (1 + 1e-9);
    for (size_t i = 0; i < self->count; i++) {
        if (!(taken[i] = self->cheap[self->arm[i]])) continue;
        sum += score_of(self, i);
        left -= cost_of(self, i);
    }
    for (size_t swap = 0; swap < self->limit; swap++) {
        size_t out = 0, in = 0;
        double most = 0;
        for (size_t i = 0; i < self->count; i++)
            for (size_t j = 0; taken[i] && j < self->count; j++) {
                double gain = score_of(self, j) - score_of(self, i);
                if (taken[j] || !(gain > most) || cost_of(self, j) - cost_of(self, i) > left) continue;
                most = gain;
                out = i;
                in = j;
            }
        if (most == 0 || sa_problem_is_late(self->problem)) break; /* it is a slate all the same */
        taken[out] = false;
        taken[in] = true;
        sum += most;
        left -= cost_of(self, in) - cost_of(self, out);
    }
    return sum;
}

/* Arms are reordered. at (count + 1), size (arms), best (count). */
static size_t solve_tree(const items *self, level *at, double *size, bool *best_taken, size_t *slate,
                         double *gap) {
    size_t count = self->count, limit = self->limit < count ? self->limit : count, length = 0;
    double best = -1;
    long left = PATIENCE;
    prices price = find_prices(self);
    for (size_t i = 0; i < count; i++) size[self->arm[i]] = fabs(reduced(self, i, price));
    sa_arms_sort(size, self->arm, count);
    if (self->all) best = begin_with(self, best_taken);
    at[count].after = 0;
    for (size_t i = count; i-- > 0;) at[i].after = at[i + 1].after + fmax(0, reduced(self, i, price));
    at[0].left = self->capacity * (1 + 1e-9); /* 0.1 + 0.2 fits 0.3 */
    at[0].sum = 0;
    at[0].used = 0;
    double root = price.capacity * at[0].left + price.place * (double)limit + at[0].after;
    for (size_t i = 0;;) {
        while (i < count) {
            double bound = at[i].sum + price.capacity * at[i].left +
                           price.place * (double)(limit - at[i].used) + at[i].after;
            if (bound <= best + (1e-13 + *gap) * fabs(best)) break;
            if (left % NODES == 0 && best >= 0 && sa_problem_is_late(self->problem)) {
                *gap = best > 0 ? (root - best) / best : INFINITY;
                goto end;
            }
            if (--left == 0) {
                *gap = *gap > 0 ? 10 * *gap : 1e-9;
                left = MORE_PATIENCE;
            }
            bool promising =
                reduced(self, i, price) > -1e-9 * score_of(self, i); /* on a tie: full slates come first */
            bool fits = cost_of(self, i) <= at[i].left && at[i].used < limit;
            at[i].other = fits;
            decide(self, at, i, promising && fits);
            i++;
        }
        if (i == count && at[i].sum > best) {
            best = at[i].sum;
            for (size_t j = 0; j < count; j++) best_taken[j] = at[j].taken;
        }
        while (i > 0 && !at[i - 1].other) i--;
        if (i == 0) break;
        at[i - 1].other = false;
        decide(self, at, i - 1, !at[i - 1].taken);
    }
end:
    for (size_t i = 0; i < count; i++)
        if (best_taken[i]) slate[length++] = self->arm[i];
    return length;
}

/* ---- both ---- */

/* Arms of score 0 cost no reward, and there is something to learn from them. */
static size_t add_zeros(const sa_oracle_problem *problem, size_t limit, size_t *slate, size_t length) {
    const double *costs = problem->data->costs;
    double left = problem->data->capacity;
    for (size_t i = 0; i < length; i++) left -= costs[slate[i]];
    for (size_t arm = 0; arm < problem->arms && length < limit; arm++) {
        if (problem->scores[arm] != 0 || costs[arm] > left || !sa_problem_allows(problem, arm)) continue;
        left -= costs[arm];
        slate[length++] = arm;
    }
    return length;
}

/* Elements of the table. It is laid as large as it can get for so many arms, where that is not too large:
 * then the next problem of the size needs no more memory, whatever its costs. */
static size_t table_size(const items *self, size_t arms, size_t rows, size_t width) {
    size_t most = self->limit < arms ? self->limit + 1 : 1;
    bool small = (double)arms * (double)most * (double)width <= LARGEST_TABLE;
    return small ? arms * most : self->count * rows;
}

/* Tries the table; *done is false when it would be too large. The arms are sorted. */
static sa_status try_table(items *self, size_t arms, sa_workspace *workspace, size_t *slate, size_t *length,
                           bool *done) {
    size_t width = (size_t)self->capacity + 1, *room;
    SA_TRY(LAY(self, arms, workspace, {&room, width, sizeof *room}));
    if (self->all) self->score = self->moved;
    drop_dominated(self, width, room);
    size_t rows = self->limit < self->count ? self->limit + 1 : 1;
    *done = (double)self->count * (double)rows * (double)width <= LARGEST_TABLE;
    if (!*done) return SA_OK;
    unsigned char *took;
    double *value, *spare;
    SA_TRY(LAY(self, arms, workspace, {&took, table_size(self, arms, rows, width), width},
               {&value, self->limit < arms ? self->limit + 1 : 1, width * sizeof *value},
               {&spare, width, sizeof *spare}));
    if (self->all) self->score = self->moved;
    *length = solve_table(self, rows, width, took, value, spare, slate);
    return SA_OK;
}

static sa_status search(items *self, size_t arms, sa_workspace *workspace, size_t *slate, size_t *length) {
    level *at;
    double *size;
    bool *best;
    SA_TRY(LAY(self, arms, workspace, {&at, self->count + 1, sizeof *at}, {&size, arms, sizeof *size},
               {&best, self->count, sizeof *best}));
    if (self->all) self->score = self->moved;
    *length = solve_tree(self, at, size, best, slate, &workspace->gap);
    return SA_OK;
}

static sa_status solve(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate,
                       size_t *length) {
    const sa_oracle_data *data = problem->data;
    size_t arms = problem->arms;
    double *size, range = 0;
    items self = {
        .problem = problem, .score = problem->scores, .cost = data->costs, .capacity = data->capacity};
    self.limit = problem->slate ? problem->slate : arms;
    self.all = sa_problem_wants_all(problem);
    SA_TRY(LAY(&self, arms, workspace, {&size, arms, sizeof *size}));
    for (size_t i = 0; i < arms; i++)
        if ((self.all || problem->scores[i] > 0) && data->costs[i] <= data->capacity * (1 + 1e-9) &&
            sa_problem_allows(problem, i))
            self.arm[self.count++] = i;
    if (self.all) {
        SA_TRY(mark_cheapest(&self, problem, size));
        range = move_scores(&self, problem->scores);
        self.score = self.moved;
    }
    sa_arms_sort(self.score, self.arm, self.count);
    bool done = false;
    if (are_whole(&self)) SA_TRY(try_table(&self, arms, workspace, slate, length, &done));
    if (!done) SA_TRY(search(&self, arms, workspace, slate, length));
    if (self.all)
        workspace->gap = moved_gap(&self, problem, slate, workspace->gap, range);
    else
        *length = add_zeros(problem, self.limit < arms ? self.limit : arms, slate, *length);
    sa_arms_sort(problem->scores, slate, *length);
    return SA_OK;
}

const sa_oracle sa_oracle_knapsack = {
    .name = "knapsack",
    .summary = "arms whose costs fit the capacity, at most K; reward: the sum",
    .wants = "costs, capacity; slate, exactly",
    .cost = "O(N C), N K C where K limits; costs not whole: branch and bound",
    .alpha = 1,
    .exact = true,
    .size = SA_AT_MOST_K,
    .needs = SA_BIT(SA_COSTS) | SA_BIT(SA_CAPACITY),
    .takes = SA_BIT(SA_EXACTLY),
    .solve = solve,
    .reward = sa_reward_sum,
};
