#include "exploration/ts_propensity.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "exploration/place.h"

enum { N = SA_PANEL_NODES };

/* Rounding may leave a hair below 0 or above 1. */
static double within(double probability) { return probability < 0 ? 0 : probability > 1 ? 1 : probability; }

/* ---- slates and their prefixes ---- */

/* outside (arms): all true but the slate's. */
static sa_status mark_outside(const sa_ts_scores *scores, const size_t *slate, size_t length, bool **out) {
    SA_TRY(sa_alloc_array(scores->arms, sizeof **out, out));
    for (size_t a = 0; a < scores->arms; a++) (*out)[a] = true;
    for (size_t k = 0; k < length; k++) (*out)[slate[k]] = false;
    return SA_OK;
}

static void multiply(double *values, const double *by) {
    for (size_t i = 0; i < N; i++) values[i] *= by[i];
}

/* The product of F over the arms outside, at the nodes. */
static void product_outside(const sa_panels *panels, const bool *outside, double *product) {
    for (size_t i = 0; i < N; i++) product[i] = 1;
    for (size_t a = 0; a < panels->arms; a++)
        if (outside[a]) multiply(product, panels->below + a * N);
}

/* What the floor gives an arm of those that are left at place k. */
static double share_at(const sa_ts_scores *scores, size_t k) {
    return scores->floor / (double)(scores->arms - k);
}

/* One panel of h_count, then h_count-1 ... h_1, whose integrals so far are in total (count). `values`: the
 * product of F over the arms outside; it is overwritten. */
static void chain(const sa_ts_scores *scores, const sa_panels *panels, const size_t *slate, size_t count,
                  double *values, double *total) {
    double running[N], own[N];
    for (size_t k = count; k-- > 0;) {
        memcpy(own, values, sizeof own);
        multiply(own, panels->density + slate[k] * N);
        sa_panel_running(panels, total[k], own, running);
        total[k] += sa_panel_integral(panels, own);
        if (k == 0) break;
        if (scores->floor > 0) {
            const double *below = panels->below + slate[k] * N;
            for (size_t i = 0; i < N; i++)
                running[i] = (1 - scores->floor) * running[i] + share_at(scores, k) * below[i] * values[i];
        }
        memcpy(values, running, sizeof running);
    }
}

/* h_1(infinity), from the integrals. */
static double whole(const sa_ts_scores *scores, size_t count, const double *total) {
    double h = 1;
    if (scores->floor == 0) return within(total[0]);
    for (size_t k = count; k-- > 0;) h = (1 - scores->floor) * total[k] + share_at(scores, k) * h;
    return within(h);
}

sa_status sa_ts_prefix_propensities(const sa_ts_scores *scores, const size_t *slate, size_t length,
                                    double *prefix) {
    bool *outside = NULL;
    double *totals = NULL; /* (length, length): h of each prefix */
    sa_panels panels = {0};
    sa_status status;
    SA_TRY_OR_FAIL(mark_outside(scores, slate, length, &outside));
    SA_TRY_OR_FAIL(sa_alloc_matrix(length, length, sizeof *totals, &totals));
    SA_TRY_OR_FAIL(sa_panels_begin(scores, outside, &panels));
    while (sa_panels_next(&panels)) {
        double product[N], values[N];
        product_outside(&panels, outside, product);
        for (size_t k = length; k-- > 0;) { /* outside of the first k + 1 arms */
            memcpy(values, product, sizeof values);
            chain(scores, &panels, slate, k + 1, values, totals + k * length);
            multiply(product, panels.below + slate[k] * N);
        }
    }
    for (size_t k = 0; k < length; k++) prefix[k] = whole(scores, k + 1, totals + k * length);
fail:
    sa_panels_clear(&panels);
    sa_free(totals);
    sa_free(outside);
    return status;
}

/* ---- the next arm ---- */

/* One panel for position k: every arm that may come after the first k arms of the slate. The product leaves
 * the arm itself out. */
static void next_panel(const sa_ts_scores *scores, const sa_panels *panels, const size_t *slate, size_t k,
                       const bool *taken, double *totals, size_t *order) {
    memcpy(order, slate, k * sizeof *order);
    for (size_t a = 0; a < panels->arms; a++) {
        double values[N];
        if (taken[a]) continue;
        for (size_t i = 0; i < N; i++) values[i] = 1;
        for (size_t b = 0; b < panels->arms; b++)
            if (!taken[b] && b != a) multiply(values, panels->below + b * N);
        order[k] = a;
        chain(scores, panels, order, k + 1, values, totals + a * (k + 1));
    }
}

static sa_status next_at(const sa_ts_scores *scores, const size_t *slate, size_t k, double *out) {
    bool *taken = NULL;
    double *totals = NULL; /* (arms, k + 1) */
    size_t *order = NULL;
    sa_panels panels = {0};
    sa_status status;
    SA_TRY_OR_FAIL(mark_outside(scores, slate, k, &taken));
    for (size_t a = 0; a < scores->arms; a++) taken[a] = !taken[a];
    SA_TRY_OR_FAIL(sa_alloc_matrix(scores->arms, k + 1, sizeof *totals, &totals));
    SA_TRY_OR_FAIL(sa_alloc_array(k + 1, sizeof *order, &order));
    SA_TRY_OR_FAIL(sa_panels_begin(scores, NULL, &panels));
    while (sa_panels_next(&panels)) next_panel(scores, &panels, slate, k, taken, totals, order);
    for (size_t a = 0; a < scores->arms; a++)
        out[a] = taken[a] ? 0 : whole(scores, k + 1, totals + a * (k + 1));
fail:
    sa_panels_clear(&panels);
    sa_free(order);
    sa_free(totals);
    sa_free(taken);
    return status;
}

sa_status sa_ts_next_propensities(const sa_ts_scores *scores, const size_t *slate, size_t length,
                                  double *out) {
    for (size_t k = 0; k < length; k++) SA_TRY(next_at(scores, slate, k, out + k * scores->arms));
    return SA_OK;
}

/* ---- positions ---- */

/* The chances that 0 ... positions - 1 of the other arms are above the score at node i: Poisson-binomial. */
static void count_above(const sa_panels *panels, size_t arm, size_t i, size_t positions, double *chance) {
    memset(chance, 0, positions * sizeof *chance);
    chance[0] = 1;
    for (size_t b = 0; b < panels->arms; b++) {
        if (b == arm) continue;
        double below = panels->below[b * N + i], above = 1 - below;
        if (below == 1) continue; /* and most are */
        for (size_t k = positions; k-- > 1;) chance[k] = chance[k] * below + chance[k - 1] * above;
        chance[0] *= below;
    }
}

/* Of each count of arms above, the chance of each position: with no floor it is the position itself. */
static sa_status ranks_of(const sa_ts_scores *scores, size_t positions, double **out) {
    SA_TRY(sa_alloc_matrix(positions, positions + 1, sizeof **out, out));
    if (scores->floor == 0) return SA_OK;
    return sa_place_of_ranks(scores->floor, scores->arms, positions, *out);
}

/* The chance of position k, from those of 0 ... positions - 1 arms above. */
static double at_position(const sa_ts_scores *scores, const double *chance, const double *ranks,
                          size_t positions, size_t k) {
    double sum = 0, rest = 1;
    if (scores->floor == 0) return chance[k];
    for (size_t r = 0; r < positions; r++) {
        sum += chance[r] * ranks[k * (positions + 1) + r];
        rest -= chance[r];
    }
    return sum + fmax(rest, 0) * ranks[k * (positions + 1) + positions];
}

sa_status sa_ts_slate_positions(const sa_ts_scores *scores, const size_t *slate, size_t length, double *out) {
    double *chance = NULL, *ranks = NULL;
    sa_panels panels = {0};
    sa_status status;
    memset(out, 0, length * sizeof *out);
    SA_TRY_OR_FAIL(sa_alloc_array(length + 1, sizeof *chance, &chance));
    SA_TRY_OR_FAIL(ranks_of(scores, length, &ranks));
    SA_TRY_OR_FAIL(sa_panels_begin(scores, NULL, &panels));
    while (sa_panels_next(&panels))
        for (size_t k = 0; k < length; k++)
            for (size_t i = 0; i < N; i++) {
                double share = panels.half * panels.weight[i] * panels.density[slate[k] * N + i];
                if (share == 0) continue;
                count_above(&panels, slate[k], i, scores->floor == 0 ? k + 1 : length, chance);
                out[k] += share * at_position(scores, chance, ranks, length, k);
            }
    for (size_t k = 0; k < length; k++) out[k] = within(out[k]);
fail:
    sa_panels_clear(&panels);
    sa_free(ranks);
    sa_free(chance);
    return status;
}

sa_status sa_ts_position_propensities(const sa_ts_scores *scores, size_t positions, double *out) {
    size_t arms = scores->arms;
    double *chance = NULL, *ranks = NULL;
    sa_panels panels = {0};
    sa_status status;
    memset(out, 0, positions * arms * sizeof *out);
    SA_TRY_OR_FAIL(sa_alloc_array(positions + 1, sizeof *chance, &chance));
    SA_TRY_OR_FAIL(ranks_of(scores, positions, &ranks));
    SA_TRY_OR_FAIL(sa_panels_begin(scores, NULL, &panels));
    while (sa_panels_next(&panels))
        for (size_t a = 0; a < arms; a++)
            for (size_t i = 0; i < N; i++) {
                double share = panels.half * panels.weight[i] * panels.density[a * N + i];
                if (share == 0) continue;
                count_above(&panels, a, i, positions, chance);
                for (size_t k = 0; k < positions; k++)
                    out[k * arms + a] += share * at_position(scores, chance, ranks, positions, k);
            }
    for (size_t i = 0; i < positions * arms; i++) out[i] = within(out[i]);
fail:
    sa_panels_clear(&panels);
    sa_free(ranks);
    sa_free(chance);
    return status;
}
