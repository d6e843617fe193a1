/* The bonus in the unit of a posterior deviation (--bonus posterior).
 *
 * A score is taken for f(x) and noise of deviation s, with f drawn from a Gaussian process of covariance
 * tau^2 k(x, x'), k the inner product of two gradients over m. What n observations leave open of f(x) has the
 * variance
 *
 *     tau^2 (k(x, x) - k'(K + (s^2 / tau^2) I)^-1 k) = s^2 width^2,   lambda = s^2 / tau^2 in Z
 *
 * so the deviation is s times the width that there is, and all that is needed are s and lambda:
 *
 *   s^2      the mean squared error of estimates that were made before their feedback was learnt from
 *   tau^2    the rest of the variance of scores is signal. f varies by tau^2 (k - k'), k the mean of k(x, x)
 *            and k' that of k(x, x') over arms that were counted one after the other, in a slate or in
 *            two: what all gradients have in common, such as a bias, moves all scores alike. So
 *            tau^2 (k - k') = R^2 Var(y)
 *
 * The first h = m / 2 observations show nothing of R^2: about half of the m units are on at any x, and their
 * weights in the last layer fit h scores, whatever they are. So
 *
 *     R^2 = (h + n (1 - s^2 / Var(y))) / (h + n)
 *
 * as if h observations had been predicted well: an agent explores before it has shown that nothing can be
 * learnt. Where a companion shares the estimate, with w the network's share of it, the variance is that of a
 * mixture of both (model/companion.h), of which the network's part is w s^2 width^2: so the deviation is
 * sqrt(w) s, w = 1 without a companion. w and not k w: where nothing predicts yet, k is almost 0, and the
 * bonus alone decides.
 *
 * And the estimate of a few observations is no posterior mean: it is wrong where it has not been, and slates
 * that it chose show nothing else. So at first the bonus decides, for some two observations a feature, 50 at
 * most; with n of all that was ever counted (what is forgotten is learnt again from estimates that are good
 * already), the width counts
 *
 *     sqrt(w) s + s (g min(2 d, 50) / n)^2    times,      g = log(1 + N / K) / log(6)
 *
 * and gamma and nu are those of 20 arms and 4 places: of N and K they are sqrt(g) times as large
 * (policy/selection.c).
 *
 * lambda is changed in Z when it has moved by a factor of two. */
#ifndef SA_LEARN_BONUS_H
#define SA_LEARN_BONUS_H

#include "learn/learner.h"

/* Gradients of one slate that are counted. */
sa_status sa_bonus_take(sa_learner *learner, const sa_gradients *gradients);
void sa_bonus_fade(sa_learner *learner, double factor);
/* So many of them are left, where time alone does not count them for less. */
void sa_bonus_forget(sa_learner *learner, size_t left);
/* After a training that went well: s, and Z's lambda, as they are now. */
sa_status sa_bonus_follow(sa_learner *learner);
/* `next` begins with what `now` knows; nothing is counted yet. */
sa_status sa_bonus_take_over(const sa_learner *now, sa_learner *next);

#endif
