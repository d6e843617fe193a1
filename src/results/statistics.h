/* What runs come to: means with their intervals, and the columns over all of them. */
#ifndef SA_RESULTS_STATISTICS_H
#define SA_RESULTS_STATISTICS_H

#include "results/table.h"

/* The 0.975 quantile of Student's t with so many degrees of freedom, at least 1. */
double sa_student_quantile(size_t degrees);
sa_totals sa_agent_totals(const sa_agent_runs *agent);

#endif
