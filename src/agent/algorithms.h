/* The table of named algorithms: each is a row of choices. Whoever asks what an algorithm is asks its row,
 * and never its name. */
#ifndef SA_AGENT_ALGORITHMS_H
#define SA_AGENT_ALGORITHMS_H

#include "base/status.h"
#include "options/options.h"

typedef struct sa_algorithm sa_algorithm;

/* What algorithms with the same model share: what they learn with, and so which options they read. */
typedef struct sa_family {
    const char *model; /* of src/model; NULL: none */
    bool network;      /* it trains one, by steps */
    bool linear;       /* it is a linear regression */
    bool regression;   /* it has one, of a --linear-form */
    bool cells;        /* it cuts the contexts into cells, and explores by itself as --gamma says */
    /* What it has otherwise than the preset, where nothing was set by hand. NULL: nothing. */
    sa_status (*defaults)(const sa_algorithm *row, sa_options *options);
} sa_family;

struct sa_algorithm {
    const char *name;
    const sa_family *family;
    bool confidence;         /* are widths needed? */
    const char *exploration; /* a rule of src/exploration */
    size_t ts_samples;       /* 0: as --ts-samples says */
    bool doubling;           /* the horizon is unknown: learn/epochs.h */
    struct {                 /* for `defaults`, in the preset `tuned` */
        double gamma, nu, lambda;
        bool bypass; /* a linear term beside the network */
    } tuned;
    const char *summary;
};

/* SA_INVALID, with the known names, when there is none. */
sa_status sa_algorithm_find(const char *name, const sa_algorithm **out);
/* By name; NULL when there is none. */
const sa_algorithm *sa_algorithm_row(const char *name);
/* What its model is made of. */
sa_model_settings sa_algorithm_shape(const sa_algorithm *row, const sa_options *options);

#endif
