/* A request's rules ("problem"), and the oracle that reads them. */
#ifndef SERVE_RULES_H
#define SERVE_RULES_H

#include "ask.h"

/* With the agent's oracle `auto`, `*oracle` is the one that the request's rules need, NULL for the agent's
 * own. With any other, 400 where it does not read all of them. */
bool sv_rules_oracle(const sv_settings *settings, sv_ask *ask, const char **oracle, sv_refusal *why);

#endif
