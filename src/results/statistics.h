#ifndef SA_RESULTS_STATISTICS_H
#define SA_RESULTS_STATISTICS_H

#include <stddef.h>

/* The 0.975 quantile of Student's t with so many degrees of freedom, at least 1. */
double sa_student_quantile(size_t degrees);

#endif
