/* From journal rows to an agent: the same rows give the same agent, bit for bit. */
#ifndef SERVE_LEARNER_ROWS_H
#define SERVE_LEARNER_ROWS_H

#include "agents.h"
#include "store.h"

/* Takes the next rows of the agent, at most `most`, until `stop` or a twentieth of a second has passed;
 * learnt_seq says how far it came. false: it cannot go on, and why;
 * `later`: only now, since the disk takes no file. */
bool sv_learner_take_rows(sv_store *store, sv_agent *agent, const char *scratch, size_t most,
                          const atomic_bool *stop, bool *later, char sentence[480]);

#endif
