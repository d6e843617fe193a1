/* An environment gives each round's contexts, expected scores and noise, by run and round: the same for every agent. */
#ifndef SA_ENV_ENVIRONMENT_H
#define SA_ENV_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/options.h"
#include "base/status.h"

typedef struct sa_environment sa_environment;

typedef struct sa_environment_class {
    const char *name;
    const char *summary;
    /* Checks the options, reads files. */
    sa_status (*create)(const sa_options *options, const struct sa_environment_class *kind, sa_environment **out);
    /* Fills contexts (arms, dim), expected (arms), noise (arms) for a round counted from 0. Reads the environment only, so
     * threads may share it. */
    void (*draw)(const sa_environment *environment, uint64_t run, uint64_t round, double *contexts, double *expected,
                 double *noise);
    void (*destroy)(sa_environment *environment);
} sa_environment_class;

/* Every environment begins with this. */
struct sa_environment {
    const sa_environment_class *kind;
    size_t rounds, arms, dim; /* what there is: files have their own sizes */
};

/* By options->environment; SA_INVALID with a list of names when unknown. */
sa_status sa_environment_create(const sa_options *options, sa_environment **out);
void sa_environment_destroy(sa_environment *environment); /* NULL is fine */
/* The index-th kind, NULL past the last. */
const sa_environment_class *sa_environment_class_at(size_t index);

#endif
