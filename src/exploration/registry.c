/* All exploration rules: a rule is a file, and a line here. */
#include <string.h>

#include "exploration/exploration.h"

/* clang-format off */
#define RULES(X)                                                                                             \
    X(ucb)                                                                                                   \
    X(theory_ucb)                                                                                            \
    X(ts)                                                                                                    \
    X(parameter_ts)                                                                                          \
    X(greedy)                                                                                                \
    X(uniform)                                                                                               \
    X(known)                                                                                                 \
    X(by_model)
/* clang-format on */

#define DECLARE(rule) extern const sa_exploration_class sa_explore_##rule;
RULES(DECLARE)

#define ADDRESS(rule) &sa_explore_##rule,
static const sa_exploration_class *const KINDS[] = {RULES(ADDRESS)};

const sa_exploration_class *sa_exploration_find(const char *name) {
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (!strcmp(KINDS[i]->name, name)) return KINDS[i];
    return NULL;
}
