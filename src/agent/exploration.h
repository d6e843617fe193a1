/* Exploration: from estimates and widths to the optimistic scores that the oracle sees.
 *
 *     ucb      score = mean + scale gamma width + e_t                                   (Algorithm 1)
 *     ts       score = mean + scale nu sigma max_j z_j + e_t,   sigma = sqrt(lambda) width, z_1 ... z_M standard normal
 *                                                                                       (Algorithm 2)
 *     parameter-ts   score = x'theta~, theta~ drawn from N(theta, nu^2 Z^-1), one draw a round (linear models)
 *     ucb by theory  ucb with gamma_t = R sqrt(log(det Z / det lambda I) + 2 log(1 / delta)) + sqrt(lambda) S
 *     greedy   score = mean
 *     uniform  score = a uniform draw: any slate is as likely as any other
 *     known    score = the expected score
 *
 * `scale` is what the model's scores were divided by. What is drawn for an arm, its luck, is drawn before its width is known,
 * so that bounds on the width are bounds on the score. */
#ifndef SA_AGENT_EXPLORATION_H
#define SA_AGENT_EXPLORATION_H

#include <stddef.h>

#include "base/options.h"
#include "rng/stream.h"

typedef enum sa_exploration_kind {
    SA_EXPLORE_UCB,
    SA_EXPLORE_TS,
    SA_EXPLORE_PARAMETER_TS,
    SA_EXPLORE_THEORY_UCB,
    SA_EXPLORE_GREEDY,
    SA_EXPLORE_UNIFORM,
    SA_EXPLORE_KNOWN
} sa_exploration_kind;

typedef struct sa_exploration {
    sa_exploration_kind kind;
    double gamma, nu, root_lambda, offset;
    double delta, norm_bound, sub_gaussian; /* of ucb by theory */
    size_t samples;                         /* M */
    bool variance_for_deviation;            /* icml23: the deviation is (nu sigma)^2 */
} sa_exploration;

/* `samples` 0: as --ts-samples says. */
sa_exploration sa_exploration_from(sa_exploration_kind kind, size_t samples, const sa_options *options);

/* gamma_t for ucb by theory; log_det is log det Z / det(lambda I). */
double sa_explore_gamma(const sa_exploration *exploration, double log_det);
/* What is added to the mean of an arm: luck times the deviation of its width. luck (arms): for ts the highest of M standard
 * normals, else 1; for uniform the draw itself. */
void sa_explore_luck(const sa_exploration *exploration, size_t arms, const sa_stream *stream, double *luck);
/* The optimistic score of one arm. It is monotone in the width, rising when luck is positive. */
double sa_explore_score(const sa_exploration *exploration, double mean, double width, double scale, double luck);

#endif
