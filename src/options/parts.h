/* What exploration rules and the theorems get of the options. */
#ifndef SA_OPTIONS_PARTS_H
#define SA_OPTIONS_PARTS_H

#include "exploration/exploration.h"
#include "options/options.h"
#include "theory/bounds.h"

/* What "by theory" means: the rule always is, or reads a gamma or a nu that is `theory`. NULL: any rule. */
bool sa_options_by_theory(const sa_options *options, const sa_exploration_class *rule);
sa_bounds sa_options_bounds(const sa_options *options);
/* A rule and its settings; `samples` 0: as --ts-samples says. */
sa_exploration sa_options_exploration(const sa_exploration_class *kind, size_t samples,
                                      const sa_options *options);

#endif
