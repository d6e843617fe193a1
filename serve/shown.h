/* POST .../shown: a slate that was shown without asking, so that yesterday's system can teach. */
#ifndef SERVE_SHOWN_H
#define SERVE_SHOWN_H

#include <stdint.h>
#include <superarm/json.h>

#include "refusal.h"

/* Its body as that of a decide whose baseline is the slate, which is what the journal keeps; `digest` of
 * the body as it came, and the slate's propensity, NaN where it is not given. false with 400. */
bool sv_shown_read(const sa_buffer *body, sa_buffer *out, uint8_t *digest, double *propensity,
                   sv_refusal *why);

#endif
