/* Checkpoints of agents: files of the folder, two of each agent, so that one may be damaged. The newest and
 * the one before it are named in the journal, each with the row up to which it has learnt. */
#ifndef SERVE_CHECKPOINTS_H
#define SERVE_CHECKPOINTS_H

#include "agents.h"
#include "store.h"
#include "writer.h"

/* What the journal says of an agent's checkpoints, kept until they are opened. false: memory is short. */
bool sv_checkpoints_note(sv_agent *agent, const sv_store_agent *from);
/* The agent as its newest checkpoint has it, or as the older one has it where that is damaged, which a line
 * of the log says; without either the agent has no model, and begins with row 1. The learner's. */
void sv_checkpoints_open(sv_agent *agent, const char *folder);
/* The agent as it is now: written, synced, renamed, the folder synced, and then named in a row. */
bool sv_checkpoints_write(sv_agent *agent, const char *folder, sv_writer *writer, sv_refusal *why);
/* A deleted agent's files. */
void sv_checkpoints_remove(sv_agent *agent, const char *folder);

#endif
