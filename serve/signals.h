/* SIGTERM and SIGINT end the service, whatever it is at: while it starts, at once; else it has some seconds
 * to end by itself, after which the process ends all the same. Nothing that was acknowledged can be lost by
 * that, for it is on disk. SIGHUP is a wish of the operator's. */
#ifndef SERVE_SIGNALS_H
#define SERVE_SIGNALS_H

#include <stdbool.h>

/* `seconds`: to end by itself. false: no thread could be had. */
bool sv_signals_begin(double seconds);
/* The service is up: from here on it is asked to end, not ended. `reload` is called for a SIGHUP. */
void sv_signals_serving(void (*reload)(void *user), void *user);
/* Waits until the service shall end. */
void sv_signals_wait(void);
/* No `reload` from here on. */
void sv_signals_end(void);

#endif
