/* An environment gives what can be chosen in each round and what would come of it, by run and round: the same for every agent. */
#ifndef SA_ENV_ENVIRONMENT_H
#define SA_ENV_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/options.h"
#include "base/status.h"

typedef struct sa_environment sa_environment;

/* One round as an environment draws it. */
typedef struct sa_round {
    size_t arms;      /* N of this round, at most the environment's */
    double *contexts; /* (arms, dim) */
    double *expected; /* (arms) expected scores */
    double *noise;    /* (arms) what is added to them */
    double *stop;     /* (arms) the probability that a user who chose this arm looks no further */
} sa_round;

typedef struct sa_environment_class {
    const char *name;
    const char *summary;
    /* Checks the options, reads files. */
    sa_status (*create)(const sa_options *options, const struct sa_environment_class *kind, sa_environment **out);
    /* Fills contexts, expected and noise for a round counted from 0; also arms and stop, where arms are fewer than the
     * environment's and stop is not 1. Reads the environment only, so threads may share it. */
    void (*draw)(const sa_environment *environment, uint64_t run, uint64_t round, sa_round *out);
    void (*destroy)(sa_environment *environment);
} sa_environment_class;

/* Every environment begins with this. */
struct sa_environment {
    const sa_environment_class *kind;
    size_t rounds, arms, dim; /* what there is: files have their own sizes */
    double noise;             /* deviation of the Gaussian noise on scores */
    bool varies;              /* arms is the most of a round, and others may have fewer */
};

/* By options->environment; SA_INVALID with a list of names when unknown. */
sa_status sa_environment_create(const sa_options *options, sa_environment **out);
void sa_environment_destroy(sa_environment *environment); /* NULL is fine */
/* Room for any round of the environment; sa_round_clear frees it, also after a failure. */
sa_status sa_round_init(sa_round *round, const sa_environment *environment);
void sa_round_clear(sa_round *round);
/* Draws a round counted from 0. */
void sa_environment_draw(const sa_environment *environment, uint64_t run, uint64_t round, sa_round *out);
/* The index-th kind, NULL past the last. */
const sa_environment_class *sa_environment_class_at(size_t index);

#endif
