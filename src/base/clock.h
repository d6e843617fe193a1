/* A clock that only goes forward. */
#ifndef SA_BASE_CLOCK_H
#define SA_BASE_CLOCK_H

double sa_seconds_now(void);

#endif
