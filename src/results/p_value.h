/* How likely a difference would be by chance alone. */
#ifndef SA_RESULTS_P_VALUE_H
#define SA_RESULTS_P_VALUE_H

#include <stddef.h>

/* Two-sided, of a t-test whether the mean of `count` numbers is 0, with their mean and deviation; NaN for one
 * number. */
double sa_p_value(double mean, double sd, size_t count);
/* Holm's correction for as many comparisons as there are numbers in p (count), in place; NaN is no
 * comparison. */
void sa_holm_correct(double *p, size_t count);

#endif
