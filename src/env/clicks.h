/* Click models: what a user does with a slate, over the scores of any environment. The equations are in
 * clicks.c. */
#ifndef SA_ENV_CLICKS_H
#define SA_ENV_CLICKS_H

#include "env/environment.h"
#include "oracle/oracle.h"

typedef struct sa_clicks {
    sa_clicks_kind kind; /* position or cascade */
    bool bernoulli;      /* what is seen are clicks; else scores with noise */
    bool sum;            /* cascade: every click earns 1, not only the first */
    double leave;
    uint64_t seed;
    size_t slate;    /* K */
    double *weights; /* (slate) of the positions: chi_k or psi_k */
    bool falling;    /* no weight is larger than the one before */
} sa_clicks;

/* The model that --clicks names, `*out` NULL for none; `data` has --discounts and --reward. SA_INVALID also
 * for options of another model. */
sa_status sa_clicks_create(const sa_options *options, const sa_oracle_data *data, sa_clicks **out);
void sa_clicks_destroy(sa_clicks *clicks); /* NULL is fine */

/* The slates below are in the order of the positions, and have K arms, or all of a round with fewer. */

double sa_clicks_expected_reward(const sa_clicks *clicks, const sa_round *round, const size_t *slate,
                                 size_t length);

/* The slate with the largest expected reward (clicks_best.c). SA_INVALID where nobody knows how to find
 * it. */
sa_status sa_clicks_best(const sa_clicks *clicks, const sa_round *round, size_t length,
                         sa_workspace *workspace, size_t *slate);

/* What one user gives. */
typedef struct sa_visit {
    double reward;
    double clicks;
} sa_visit;

/* What the user of this run and round does with a slate. `seen` (length), or NULL: what is seen of each arm,
 * NaN where the user did not look. */
sa_visit sa_clicks_visit(const sa_clicks *clicks, const sa_round *round, uint64_t run, uint64_t number,
                         const size_t *slate, size_t length, double *seen);

/* v_i as a probability. */
static inline double sa_clicks_attraction(const sa_round *round, size_t arm) {
    double score = round->expected[arm];
    return score > 0 ? score < 1 ? score : 1 : 0;
}

#endif
