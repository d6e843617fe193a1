/* Exploration: from estimates and widths to the optimistic scores that the oracle sees.
 *
 *     ucb      score = mean + scale gamma width + e_t                                   (Algorithm 1)
 *     ts       score = mean + scale nu sigma max_j z_j + e_t,   sigma = sqrt(lambda) width, z_1 ... z_M standard normal
 *                                                                                       (Algorithm 2)
 *     parameter-ts   score = x'theta~, theta~ drawn from N(theta, nu^2 Z^-1), one draw a round (linear models)
 *     greedy   score = mean
 *     uniform  score = a uniform draw: any slate is as likely as any other
 *     known    score = the expected score
 *     own      score = what the model's own rule says; the arms that it calls urgent are chosen before all others, in the order
 *              of a uniform draw
 *
 * With --gamma theory, gamma and e_t are those of Lemma 1, with --nu theory nu and e_t those of Theorem 2 and Section 4.4
 * (theory/bounds.h), anew each round. C2UCB is ucb with gamma by theory, whatever --gamma says.
 *
 * `scale` is what the model's scores were divided by. What is drawn for an arm, its luck, is drawn before its width is known,
 * so that bounds on the width are bounds on the score. */
#ifndef SA_AGENT_EXPLORATION_H
#define SA_AGENT_EXPLORATION_H

#include <stddef.h>

#include "base/options.h"
#include "rng/stream.h"
#include "theory/bounds.h"

typedef enum sa_exploration_kind {
    SA_EXPLORE_UCB,
    SA_EXPLORE_TS,
    SA_EXPLORE_PARAMETER_TS,
    SA_EXPLORE_THEORY_UCB, /* becomes ucb with gamma by theory */
    SA_EXPLORE_GREEDY,
    SA_EXPLORE_UNIFORM,
    SA_EXPLORE_KNOWN,
    SA_EXPLORE_OWN
} sa_exploration_kind;

typedef struct sa_exploration {
    sa_exploration_kind kind;
    double gamma, nu, root_lambda, offset;
    size_t samples;              /* M */
    bool variance_for_deviation; /* icml23: the deviation is (nu sigma)^2 */
    /* by theory: gamma or nu, and the offset, hold for one round */
    bool by_theory;
    sa_bounds bounds;
    double own_offset;  /* --offset */
    double rate, steps; /* C or eta, and J, of gradient descent on Eq. (4); J is 0 for other trainings */
    bool rate_falls;    /* eta = C / (n m L + m lambda) */
} sa_exploration;

/* What is known when a slate is chosen. */
typedef struct sa_exploration_round {
    double observations; /* counted into Z: (t - 1) K */
    double log_det;      /* log det Z / det(lambda I) */
    double slate;        /* K */
    double scale;
} sa_exploration_round;

/* `samples` 0: as --ts-samples says. */
sa_exploration sa_exploration_from(sa_exploration_kind kind, size_t samples, const sa_options *options);

/* Sets gamma or nu, and the offset, for this round; nothing to do unless by_theory. */
void sa_explore_by_theory(sa_exploration *exploration, const sa_exploration_round *round);
/* What is added to the mean of an arm: luck times the deviation of its width. luck (arms) of the arms from `first` on: for ts the highest of M standard
 * normals, else 1; for uniform and own the draw itself. */
void sa_explore_luck(const sa_exploration *exploration, size_t first, size_t arms, const sa_stream *stream, double *luck);
/* The optimistic score of one arm. It is monotone in the width, rising when luck is positive. */
double sa_explore_score(const sa_exploration *exploration, double mean, double width, double scale, double luck);
/* Lifts the scores of urgent arms (urgency above 0) above those of all others, so that an oracle that adds up scores would give
 * any number of others for one of them. */
void sa_explore_lift(size_t arms, const double *urgency, double *score);

#endif
