/* A selection in the making: from a request to a slate, in steps that change nothing but the chooser. */
#ifndef SA_POLICY_SELECTION_H
#define SA_POLICY_SELECTION_H

#include <math.h>

#include "policy/chooser.h"
#include "policy/decision.h"

typedef struct sa_selection {
    const sa_request *request;
    size_t positions;           /* 0: arms have one score each; else K, one for each place of the slate */
    size_t scores;              /* in all: arms, or arms K */
    uint64_t round;             /* from 0: decisions before it */
    sa_stream stream;           /* of the exploration's draws */
    sa_exploration exploration; /* as it is in this round */
    double bonus;               /* what a width is multiplied with, beside gamma or nu */
    double deviation;           /* the policy's: that of the scores for a width of 1; 0: not known */
    sa_oracle_data data;        /* beside the scores */
    const double *discounts;    /* (K) that are learnt with, or NULL */
    double gap;                 /* of the oracle's search, as in sa_decision_gap */
    double certificate;         /* of the widths */
    bool bounded;               /* only the widths of arms that can reach the slate are computed */
    size_t first, rows;         /* its rows of chooser->candidates; rows 0: they are gone */
    double bar;                 /* an arm is out if its score is not above */
    size_t contenders;          /* rows in its part of candidates.contender */
    /* in the chooser's workspace: */
    double *mean, *width, *score; /* (scores) */
    double *spread;               /* (scores) variance beside the widths', where `deviation` is known */
    double *draw;                 /* (scores) of the exploration */
    /* (scores), or NULL: arms that the model wants chosen before all others, by their draws */
    double *urgency;
    double *unclipped; /* (scores) before they are clipped to the oracle's domain */
    size_t *arms;      /* (slate) */
    size_t slate;      /* arms chosen; at first the most there can be */
    /* the floor of exploration: */
    bool random;         /* the slate, or an arm of it, is a uniformly random one, and not the oracle's */
    size_t *oracle_arms; /* (oracle_slate) the oracle's */
    size_t oracle_slate;
    double *prefix,
        *position; /* (slate) propensities, NaN where they are not known; the last prefix is the slate */
} sa_selection;

/* The scores of an arm are those from here on, and the arm of a score. */
static inline size_t sa_selection_score_of(const sa_selection *self, size_t arm) {
    return self->positions ? arm * self->positions : arm;
}
static inline size_t sa_selection_arm_of(const sa_selection *self, size_t score) {
    return self->positions ? score / self->positions : score;
}
/* The score of the arm in place k of the slate. */
static inline size_t sa_selection_chosen(const sa_selection *self, size_t k) {
    return self->positions ? self->arms[k] * self->positions + k : self->arms[k];
}

/* The optimistic score: what is open of it is (deviation width)^2 + spread. It is monotone in the width. */
static inline double sa_selection_score(const sa_selection *self, double mean, double width, double spread,
                                        double draw) {
    if (spread > 0) width = sqrt(width * width + spread / (self->deviation * self->deviation));
    return self->exploration.kind->score(&self->exploration, mean, width, self->bonus, draw);
}

/* The discount of place k. A path or a tree may have more than K; then the last one's holds. */
static inline double sa_selection_discount(const sa_selection *self, size_t k) {
    size_t count = self->data.count[SA_DISCOUNTS];
    return self->discounts[k < count ? k : count - 1];
}

/* Reads and checks a request, the one after `after` others of the same call; nothing is scored yet. `all`:
 * widths of all arms. */
sa_status sa_selection_read(const sa_policy *policy, const sa_request *request, size_t after, bool all,
                            sa_selection *self);
/* The same with what the oracle needs. */
sa_status sa_selection_prepare(const sa_policy *policy, const sa_request *request, size_t after,
                               sa_selection *self);
/* Memory for the selections' arrays, in the chooser. */
sa_status sa_selections_lay(sa_chooser *chooser, const sa_policy *policy, sa_selection *selections,
                            size_t count);
/* What the oracle is asked. */
sa_oracle_problem sa_selection_problem(const sa_policy *policy, const sa_selection *self);
/* The oracle's slate. */
sa_status sa_selection_solve(const sa_policy *policy, sa_chooser *chooser, sa_selection *self);
/* Puts it into a decision, without an id. */
sa_status sa_selection_decide(const sa_chooser *chooser, const sa_selection *self, sa_decision *decision);

#endif
