/* Decisions as they would be in the journal had the request brought its items itself. */
#ifndef SERVE_EXPAND_H
#define SERVE_EXPAND_H

#include "store.h"

/* Of a decision with stored items the body and the answer are put together, with the items as they were then,
 * and the decision is changed to have them; of others nothing changes. `body` NULL: it is not wanted. The
 * buffers are begun again. STORE_NONE: an item is missing, or what is there is damaged. */
sv_store_status sv_expand(sv_store *store, sv_store_decision *of, sa_buffer *body, sa_buffer *answer);

#endif
