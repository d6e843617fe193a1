/* A sum that does not lose digits over a million decisions (Neumaier). */
#ifndef SA_EVALUATE_SUM_H
#define SA_EVALUATE_SUM_H

#include <math.h>

typedef struct sa_sum {
    double sum, lost;
} sa_sum;

static inline void sa_sum_add(sa_sum *self, double number) {
    double next = self->sum + number;
    self->lost += fabs(self->sum) >= fabs(number) ? self->sum - next + number : number - next + self->sum;
    self->sum = next;
}

static inline double sa_sum_value(const sa_sum *self) { return self->sum + self->lost; }

#endif
