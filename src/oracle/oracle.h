/* An oracle turns scores into the slate with the largest reward. */
#ifndef SA_ORACLE_ORACLE_H
#define SA_ORACLE_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/options.h"
#include "base/status.h"

/* What an oracle may look at. */
typedef struct sa_oracle_problem {
    const double *scores;  /* (arms), finite */
    size_t arms;           /* N */
    size_t slate;          /* K */
    const bool *excluded;  /* (arms) or NULL */
} sa_oracle_problem;

typedef struct sa_oracle {
    const char *name;
    const char *summary;
    double alpha; /* the share of the best reward that a solution is sure to reach */
    /* Elements of size_t that solve needs as workspace. */
    size_t (*workspace)(size_t arms, size_t slate);
    /* Writes the chosen arms, best first, ties to the lower index. The problem was checked: 1 <= slate <= arms left. */
    void (*solve)(const sa_oracle_problem *problem, size_t *workspace, size_t *slate);
    /* The reward of a slate under scores. */
    double (*reward)(const sa_oracle_problem *problem, const size_t *slate);
} sa_oracle;

const sa_oracle *sa_oracle_of(sa_oracle_kind kind);

extern const sa_oracle sa_oracle_top_k;

#endif
