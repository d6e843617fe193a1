/* What people are told of an agent: its name, marked where its settings are not its paper's (labels, folders
 * and keys stay), and what its regret is. */
#ifndef SA_RESULTS_DISPLAY_H
#define SA_RESULTS_DISPLAY_H

#include "results/table.h"

/* "CN-UCB", as its paper has it; NULL for a label that is not an algorithm's own. */
const char *sa_paper_name(const char *label, const sa_options *options);
/* "CN-UCB (tuned)", "CombLinUCB (as published)"; a label of the caller's stays as it is. Caller frees. */
sa_status sa_agent_display(const char *label, const sa_options *options, char **display);

/* What the regret of an agent is: alpha of alpha R(S*) - R(S), or 1 where it is against the oracle's slate,
 * since in some rounds nobody knew S* for sure. */
double sa_regret_alpha(const sa_options *options, bool unproven);
/* In words, where it is not plain regret against the best slate; caller frees. "": it is. */
sa_status sa_regret_note(const sa_options *options, double unproven_rounds, char **note);

/* All of it, with what the agent's runs come to. */
typedef struct sa_told {
    sa_totals totals;
    char *note, *display;
} sa_told;

/* sa_told_clear also after a failure. */
sa_status sa_agent_tell(const sa_agent_runs *agent, sa_told *told);
void sa_told_clear(sa_told *told);

#endif
