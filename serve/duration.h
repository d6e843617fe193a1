/* Spans of time as ISO 8601 writes them: PT10M, P1DT12H, PT0.5S. */
#ifndef SERVE_DURATION_H
#define SERVE_DURATION_H

#include <stdbool.h>

#include <superarm/json.h>

/* Weeks, days, hours, minutes and seconds; a year and a month have no fixed length. false: it is none. */
bool sv_duration_read(const char *text, double *seconds);
void sv_duration_write(double seconds, sa_buffer *out);

#endif
