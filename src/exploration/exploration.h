/* Exploration: from estimates and widths to the optimistic scores that the oracle sees. A rule is one file:
 *
 *     ucb      score = mean + scale gamma width + e_t                                   (Algorithm 1)
 *     ts       score = mean + scale nu sigma max_j z_j + e_t,   sigma = sqrt(lambda) width, z_1 ... z_M
 *         standard normal
 *                                                                                       (Algorithm 2)
 *     parameter-ts   score = x'theta~, theta~ drawn from N(theta, nu^2 Z^-1), one draw a round (linear
 *                    models)
 *     greedy   score = mean
 *     uniform  score = a uniform draw: any slate is as likely as any other
 *     known    score = the expected score
 *     by-model score = what the model's own rule says; the arms that it calls urgent are chosen before all
 *         others. Urgent arms, and arms of equal scores, are in the order of a uniform draw
 *
 * With --gamma theory, gamma and e_t are those of Lemma 1, with --nu theory nu and e_t those of Theorem 2 and
 * Section 4.4 (theory/bounds.h), computed for each round. C2UCB is ucb with gamma by theory, whatever --gamma
 * says.
 *
 * `scale` is what the model's scores were divided by. What is drawn for an arm is drawn before its width is
 * known, so that bounds on the width are bounds on the score. */
#ifndef SA_EXPLORATION_EXPLORATION_H
#define SA_EXPLORATION_EXPLORATION_H

#include <stdbool.h>
#include <stddef.h>

#include "rng/stream.h"
#include "theory/bounds.h"

typedef struct sa_exploration sa_exploration;

/* What is known when a slate is chosen. */
typedef struct sa_exploration_round {
    double observations; /* counted into Z: (t - 1) K */
    double log_det;      /* log det Z / det(lambda I) */
    double slate;        /* K */
    double scale;
} sa_exploration_round;

/* Whose scores they are. */
typedef enum sa_scores_from {
    SA_SCORES_FROM_WIDTHS,     /* `score`, of mean, width and draw */
    SA_SCORES_FROM_PARAMETERS, /* the model's, under parameters that it draws */
    SA_SCORES_FROM_MODEL,      /* the model's own rule; the draws order its urgent arms */
    SA_SCORES_FROM_CALLER,     /* the expected ones in the request */
} sa_scores_from;

/* How likely a top-k slate is, where a formula says so. */
typedef enum sa_propensity_formula {
    SA_PROPENSITY_BY_DRAWING, /* none does: it takes a floor and draws */
    SA_PROPENSITY_UNIFORM,
    SA_PROPENSITY_NORMAL, /* scores that are independent and normal: ts_propensity.h */
} sa_propensity_formula;

typedef struct sa_exploration_class {
    const char *name;
    sa_scores_from from;
    sa_propensity_formula propensity;
    bool reads_gamma, reads_nu; /* what is by theory where that option is `theory` */
    bool reads_samples;         /* M */
    bool always_by_theory;      /* whatever the options say */
    bool varies;                /* score differs from draw to draw, on every arm */
    /* draw (arms) of the arms from `first` on. NULL: all 1. */
    void (*draw)(const sa_exploration *self, size_t first, size_t arms, const sa_stream *stream,
                 double *draw);
    /* The optimistic score of one arm. It is monotone in the width, rising when the draw is positive. */
    double (*score)(const sa_exploration *self, double mean, double width, double scale, double draw);
    /* Sets gamma or nu, and the offset, for this round. NULL: the rule has none. */
    void (*follow_theory)(sa_exploration *self, const sa_exploration_round *round);
} sa_exploration_class;

/* A rule and its settings. */
struct sa_exploration {
    const sa_exploration_class *kind;
    double gamma, nu, root_lambda, offset;
    size_t samples;              /* M */
    bool variance_for_deviation; /* icml23: the deviation is (nu sigma)^2 */
    /* by theory: gamma or nu, and the offset e_t, which is 0 else, hold for one round */
    bool by_theory;
    sa_bounds bounds;
    double rate, steps; /* C or eta, and J, of gradient descent on Eq. (4); J is 0 for other trainings */
    bool rate_falls;    /* eta = C / (n m L + m lambda) */
};

/* The rule as it is in this round. */
sa_exploration sa_exploration_in(const sa_exploration *exploration, const sa_exploration_round *round);
/* What training after n observations leaves undone, (1 - eta m lambda)^(J/2). */
double sa_exploration_rest(const sa_exploration *exploration, double n);
/* draw (arms): what `kind` draws, or 1. */
void sa_explore_draw(const sa_exploration *exploration, size_t first, size_t arms, const sa_stream *stream,
                     double *draw);
/* Uniform draws, for rules that have no other. */
void sa_explore_uniform_draw(const sa_exploration *self, size_t first, size_t arms, const sa_stream *stream,
                             double *draw);
/* Lifts the scores of urgent arms (urgency above 0) above those of all others, so that an oracle that adds up
 * scores would give any number of others for one of them. */
void sa_explore_lift(size_t arms, const double *urgency, double *score);

/* Workspace of an arm. */
typedef struct sa_tie {
    double score, draw;
    size_t arm;
} sa_tie;
/* Makes scores that are equal differ by next to nothing, in the order of their draws, and leaves all others
 * in their order. */
void sa_explore_break_ties(size_t arms, const double *draw, sa_tie *ties, double *score);

/* By name; NULL when there is none. All rules: registry.c. */
const sa_exploration_class *sa_exploration_find(const char *name);

#endif
