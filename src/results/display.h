/* What people call an agent, marked where its settings are not its paper's: labels, folders and keys stay. */
#ifndef SA_RESULTS_DISPLAY_H
#define SA_RESULTS_DISPLAY_H

#include "options/options.h"

/* "CN-UCB", as its paper has it; NULL for a label that is not an algorithm's own. */
const char *sa_paper_name(const char *label, const sa_options *options);
/* "CN-UCB (tuned)", "CombLinUCB (as published)"; a label of the caller's stays as it is. Caller frees. */
sa_status sa_agent_display(const char *label, const sa_options *options, char **display);

#endif
