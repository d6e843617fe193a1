/* --copy: what servers left in a database for the one that learns (changes, revisions, sums) becomes rows. */
#ifndef SERVE_COPY_LEFT_H
#define SERVE_COPY_LEFT_H

#include "store.h"

/* In a transaction of the caller's, who rolls it back once all is read. false with a sentence. */
bool sv_copy_take_left(sv_store *database, sa_buffer *sentence);

#endif
