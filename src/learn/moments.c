#include "learn/moments.h"

#include <math.h>
#include <string.h>

#include "base/functions.h"
#include "past/history.h"

static const double LEAST_REVISED = 1e-6; /* share of what a revision changes: 10 digits are right then */

static void fade(sa_moments *moments, double factor) {
    moments->count *= factor;
    moments->weight *= factor;
    moments->squares *= factor;
}

static void add(sa_moments *moments, double score, double psi) {
    if (!(psi > 0)) return;
    double off = score - psi * moments->mean, weight = moments->weight + psi * psi;
    moments->squares += off * off * (moments->weight / weight);
    moments->mean += psi * off / weight;
    moments->weight = weight;
    moments->count++;
}

void sa_moments_follow(sa_moments *moments, const sa_history *history, double factor) {
    size_t decision = (size_t)moments->decisions;
    for (size_t i = (size_t)moments->taken; i < history->count;) {
        if (decision < history->answered && history->start[decision] == (int64_t)i) {
            fade(moments, factor);
            decision++;
        }
        sa_observation seen = sa_history_observation(history, i);
        add(moments, seen.score, seen.psi);
        i += seen.rows;
    }
    moments->taken = (double)history->count;
    moments->decisions = (double)decision;
}

/* With w the weight of the observation: the mean moves by w psi d / W, the squares by w (2 (y - psi mean) d
 * + d^2) - (w psi d)^2 / W. Where next to nothing is left of them, that is their rounding, and where they
 * overflow nothing is: all is made again, of what the history has kept. */
void sa_moments_revise(sa_moments *moments, const sa_history *history, size_t row, double before,
                       double factor) {
    sa_observation now = sa_history_observation(history, row);
    double psi = now.psi, was = before / now.unit, d = now.score - was;
    if ((double)row >= moments->taken || !(psi > 0) || !(moments->weight > 0)) return;
    double age = moments->decisions - 1 - (double)sa_history_decision(history, row), w = sa_pow(factor, age);
    double off = was - psi * moments->mean, moved = w * psi * d / moments->weight;
    double change = w * (2 * off * d + d * d) - w * psi * d * moved, squares = moments->squares + change;
    if (isfinite(squares) && squares >= LEAST_REVISED * fabs(change)) {
        moments->squares = squares;
        moments->mean += moved;
        return;
    }
    *moments = (sa_moments){0};
    sa_moments_follow(moments, history, factor);
}

enum { NUMBERS = sizeof(sa_moments) / sizeof(double) };

sa_status sa_moments_save(const sa_moments *moments, sa_npz_writer *writer) {
    size_t numbers = NUMBERS;
    return sa_npz_add(writer, "score_moments", SA_FLOAT64, 1, &numbers, moments);
}

sa_status sa_moments_load(sa_moments *moments, const sa_history *history, sa_npz *archive) {
    size_t numbers = NUMBERS;
    double number[NUMBERS];
    SA_TRY(sa_npz_read_into(archive, "score_moments", SA_FLOAT64, 1, &numbers, number));
    for (size_t i = 0; i < NUMBERS; i++)
        if (isnan(number[i])) return sa_fail(SA_FORMAT, "'score_moments' has a value that is not a number");
    memcpy(moments, number, sizeof *moments);
    if (moments->taken < 0 || moments->taken > (double)history->count || moments->decisions < 0 ||
        moments->decisions > (double)history->answered)
        return sa_fail(SA_FORMAT, "'score_moments' is of more observations than the history has");
    return SA_OK;
}
