/* A ridge regression beside the network, and how far each is trusted.
 *
 * A network of thousands of weights takes noise for signal long before a linear model of d weights does. So
 * with --companion the estimate of a score is
 *
 *     c + a r(x) + b f(x)         r(x) = v^ + theta'(x - x^),  v^ and x^ the means of the scores and inputs
 *                                 that were answered
 *
 * where f is the network's estimate, in the caller's scores like everything here, and feedback decides all of
 * it:
 *
 *   theta    ridge regression of all feedback, with an intercept. lambda is the most likely one: it climbs
 *                -n/2 log(left) - 1/2 log det(I + G / lambda) - log(lambda)^2 / 18,
 *                G = sum (x - x^)(x - x^)',  left = what theta leaves unexplained
 *            whose last term is the prior of ridge.c.
 *   w, k     what both had predicted for feedback before they learnt from it says which is right, and whether
 *            any is:
 *                y = v^ + k ((1 - w) r + w f + off - v^),    a = k (1 - w),  b = k w
 *            w is the least squares' one, and then k, both drawn to 1 while there is little to go by. Where
 *            neither predicts, k falls to almost 0, estimates are all alike, and an agent explores until it
 *            can predict. Where scores are mostly noise, predictions are small, and few of them do not show
 *            that they are wrong.
 *
 * What is open of an estimate is the variance of a mixture of two models with the weights w and 1 - w:
 *
 *     w s_f^2 + (1 - w) s_r^2 + w (1 - w) k^2 (f - r)^2,      s_r^2 = s^2 (x - x^)'(G + lambda I)^-1 (x - x^)
 *
 * with s_f the network's deviation (learn/bonus.h) and s^2 what theta leaves of an observation; what both say
 * differs by k (f - r), as far as it is trusted. Where both agree, and the
 * regression knows the direction, little is open, however little the network knows.
 *
 * Inputs are in the units of their time (standardize.h), and sums of them move along when the units do: what
 * was added is as it would be if it were added again today.
 *
 * With discounts psi (learn/training.c) an observation is y = psi v: it has the weight psi^2, and v = y /
 * psi. */
#ifndef SA_MODEL_COMPANION_H
#define SA_MODEL_COMPANION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/npy.h"
#include "base/status.h"
#include "model/options.h"

enum { SA_COMPANION_MOST = 2000 };

/* Sums over predictions r and f and scores t, all minus a reference, with weights psi^2. */
typedef struct sa_prediction_sums {
    double weight, r, f, t, rr, rf, ff, rt, ft, tt;
} sa_prediction_sums;

/* All that is known beside vectors and matrices: saved as one array. */
typedef struct sa_companion_numbers {
    /* all feedback: weighted mean, and sum of squared deviations from it, in the caller's scores */
    double count, weight, score_mean, score_square;
    double reference; /* the first score */
    sa_prediction_sums sums;
    double lambda;
    double intercept, linear, network; /* c, a, b */
} sa_companion_numbers;

typedef struct sa_companion {
    size_t dim; /* inputs, one-hot positions included */
    sa_companion_numbers numbers;
    double *input_mean;             /* (dim), weighted */
    double *theta;                  /* (dim) */
    struct sa_companion_root *root; /* C of C C' = G + lambda I, as of theta */
    double noise;                   /* s^2, the variance that theta leaves unexplained */
    /* what only learning needs: */
    double *units;       /* (2, dim) the mean and the factor of standardised inputs; factors 0: not known */
    double *input_score; /* (dim) sums of products of deviations from the means */
    double *gram;        /* (dim, dim) likewise, lower triangle */
    double *scratch;     /* (dim) workspace: theta under another lambda */
    double *factor;      /* (dim, dim) workspace */
} sa_companion;

/* `*out` stays NULL for more than SA_COMPANION_MOST inputs: its matrix would be larger than the network. */
sa_status sa_companion_create(size_t dim, sa_companion **out);
void sa_companion_destroy(sa_companion *companion); /* gives up one hold (base/memory.h); NULL is fine */
/* Before it learns: where others hold `*companion`, it becomes a copy, to which what only learning needs goes
 * over. */
sa_status sa_companion_unshare(sa_companion **companion);

/* w: how far the network is trusted, beside the regression. */
static inline double sa_companion_share(const sa_companion *companion) {
    return companion->numbers.network / (companion->numbers.network + companion->numbers.linear);
}
/* The estimate for an input (dim) for which the network's is `network`. */
double sa_companion_mix(const sa_companion *companion, const double *input, double network);
/* The same for inputs (count, dim) of this precision: mean (count) has the network's estimates, and gets the
 * mixed ones. There are no positions. */
void sa_companion_mix_rows(const sa_companion *companion, sa_precision precision, const void *inputs,
                           size_t count, double *mean);
/* What is open of these estimates, beside the network's part w s_f^2: spread (count) =
 * (1 - w) s_r(x)^2 + w (1 - w) k^2 (f - r)^2 with f (count) of `network`. scratch: SA_SPREAD_ROWS dim,
 * 64-byte aligned. */
enum { SA_SPREAD_ROWS = 64 };
void sa_companion_spread(const sa_companion *companion, sa_precision precision, const void *inputs,
                         size_t count, const double *network, double *scratch, double *spread);
/* Inputs to come are (raw - mean) factor, of the first `features` ones: sums of those before become sums of
 * such, and what the regression says of a raw input stays. */
void sa_companion_rescale(sa_companion *companion, size_t features, const double *mean, const double *factor);
/* An answered input (dim), its score y and discount psi. */
typedef struct sa_companion_case {
    const double *input; /* (dim) */
    double score, psi;
} sa_companion_case;
/* Notes what the regression and the network, whose estimate this is, predict for it. Before any of the cases
 * that came together is added. */
void sa_companion_judge(sa_companion *companion, const sa_companion_case *seen, double network);
void sa_companion_add(sa_companion *companion, const sa_companion_case *seen);
/* A score that was added before, and counts by `weight` now beside psi^2, is another one; what was predicted
 * then stays as it was judged. False, and nothing has changed: the sums cannot tell, since they would
 * overflow, or be little but rounding. Then they are to be made again (sa_companion_forget). */
bool sa_companion_revise(sa_companion *companion, const sa_companion_case *seen, double score, double weight);
/* What was added counts by this factor from now on, from 0 to 1; what was predicted is not touched. */
void sa_companion_fade(sa_companion *companion, double factor);
/* What was predicted before counts by this factor from now on. */
void sa_companion_fade_judged(sa_companion *companion, double factor);
/* The regression forgets what was added, which is to be added again; what both have predicted stays. */
void sa_companion_forget(sa_companion *companion);
/* Sets theta, a, b and c from what was added. */
void sa_companion_learn(sa_companion *companion);

sa_status sa_companion_save(const sa_companion *companion, sa_npz_writer *writer);
sa_status sa_companion_load(sa_companion *companion, sa_npz *archive);

#endif
