/* --copy: a checkpoint's file becomes the chunks of a policy, and the other way round. */
#ifndef SERVE_COPY_POLICIES_H
#define SERVE_COPY_POLICIES_H

#include "store_copy.h"

/* The file of a checkpoint of `folder`, into the database. */
sv_store_status sv_copy_policy_in(sv_store *database, const char *folder, const sv_copied_policy *from,
                                  sa_buffer *sentence);
/* A policy, into a synced file of `folder`, and into the journal there. */
sv_store_status sv_copy_policy_out(sv_store *database, sv_store *journal, const char *folder,
                                   const sv_copied_policy *from, sa_buffer *sentence);

#endif
