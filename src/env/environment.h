/* An environment gives what can be chosen in each round and what would come of it, by run and round: the same
 * for every agent. */
#ifndef SA_ENV_ENVIRONMENT_H
#define SA_ENV_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "options/options.h"
#include <superarm/own.h>

typedef struct sa_environment sa_environment;
typedef struct sa_callback_lock sa_callback_lock;

/* One round as an environment draws it. */
typedef struct sa_round {
    size_t arms;      /* N of this round, at most the environment's */
    double *contexts; /* (arms, dim) */
    double *expected; /* (arms) expected scores */
    double *noise;    /* (arms) what is added to them */
    double *stop;     /* (arms) the probability that a user who chose this arm looks no further */
    /* of the run that was begun; NULL: none was, or the environment need not know */
    const sa_environment *environment;
    void *state; /* of that run: what `begin` made */
} sa_round;

typedef struct sa_environment_class {
    const char *name;
    const char *summary;
    /* Where arms are not as many as --arms says: what they are, "arms of --contexts", and the file that has
     * them; NULL: no file. */
    const char *arms;
    const char *(*file)(const sa_options *options);
    /* Checks the options, reads files. */
    sa_status (*create)(const sa_options *options, const struct sa_environment_class *kind,
                        sa_environment **out);
    /* Fills contexts, expected and noise for a round counted from 0; also arms and stop, where arms are fewer
     * than the environment's and stop is not 1. Reads the environment only, so threads may share it. */
    sa_status (*draw)(const sa_environment *environment, uint64_t run, uint64_t round, sa_round *out);
    void (*destroy)(sa_environment *environment);
    /* NULL, or: begin makes out->state, of a run; end: what is to be done with it. */
    sa_status (*begin)(const sa_environment *environment, uint64_t run, sa_round *out);
    void (*end)(const sa_environment *environment, sa_round *round);
    /* NULL but for the caller's own. What comes of a slate in the round that was drawn last, (length), NaN:
     * not seen; instead of expected scores and noise. */
    sa_status (*feedback)(const sa_environment *environment, uint64_t run, uint64_t round,
                          const sa_round *drawn, const size_t *slate, size_t length, double *scores);
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
/* SA_INVALID for options of other environments: what nothing looks at is a mistake. */
sa_status sa_environment_check_options(const sa_options *options);
/* The caller's own (own.c), whose callbacks wait for their turns; both are borrowed. */
sa_status sa_environment_create_own(const sa_options *options, const sa_own_environment *own,
                                    sa_callback_lock *turns, sa_environment **out);
/* Room for any round of the environment; sa_round_clear frees it, also after a failure, and ends its run. */
sa_status sa_round_init(sa_round *round, const sa_environment *environment);
void sa_round_clear(sa_round *round);
/* Begins a run, which the rounds drawn from then on must be of; ends the one before. */
sa_status sa_environment_begin(const sa_environment *environment, uint64_t run, sa_round *round);
/* Draws a round counted from 0. */
sa_status sa_environment_draw(const sa_environment *environment, uint64_t run, uint64_t round, sa_round *out);
/* The index-th kind, NULL past the last. */
const sa_environment_class *sa_environment_class_at(size_t index);

#endif
