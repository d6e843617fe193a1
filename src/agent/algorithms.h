/* The table of named algorithms: each is a row of choices. */
#ifndef SA_AGENT_ALGORITHMS_H
#define SA_AGENT_ALGORITHMS_H

#include "base/status.h"
#include "options/options.h"

typedef struct sa_algorithm {
    const char *name;
    const char *model;       /* NULL: none */
    bool confidence;         /* are widths needed? */
    const char *exploration; /* a rule of src/exploration */
    size_t ts_samples;       /* 0: as --ts-samples says */
    bool doubling;           /* the horizon is unknown: learn/epochs.h */
    const char *summary;
} sa_algorithm;

/* SA_INVALID, with the known names, when there is none. */
sa_status sa_algorithm_find(const char *name, const sa_algorithm **out);
/* By name; NULL when there is none. */
const sa_algorithm *sa_algorithm_row(const char *name);
/* cc-mab and acc-ucb explore as --gamma says. */
void sa_algorithm_explore_cells(sa_options *options);

#endif
