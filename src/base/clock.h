/* Clocks that only go forward: of the day, and of the processor time of the calling thread. */
#ifndef SA_BASE_CLOCK_H
#define SA_BASE_CLOCK_H

double sa_seconds_now(void);
double sa_clock_of_thread(void);

#endif
