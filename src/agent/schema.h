/* An agent's schema in its file. */
#ifndef SA_AGENT_SCHEMA_H
#define SA_AGENT_SCHEMA_H

#include "agent/agent.h"
#include "base/npy.h"

/* Nothing for an agent without one. */
sa_status sa_agent_save_schema(const sa_agent *agent, sa_npz_writer *writer);
sa_status sa_agent_load_schema(sa_agent *agent, sa_npz *archive);

#endif
