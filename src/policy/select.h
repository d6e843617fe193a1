/* Choosing slates: what is asked for, then scores, then the oracle's slates. */
#ifndef SA_POLICY_SELECT_H
#define SA_POLICY_SELECT_H

#include "policy/selection.h"

/* What is done with a selection when its slate is found; the chooser has what it is made of until the call
 * returns. */
typedef sa_status sa_chosen_call(void *user, size_t index, const sa_selection *selection);

/* Chooses for each request, in order, as if one by one: each sees the statistics of those before it. When one
 * cannot be answered, its number is in the sentence where there are several. */
sa_status sa_choose(const sa_policy *policy, sa_chooser *chooser, const sa_request *const *requests,
                    size_t count, sa_chosen_call *call, void *user);

#endif
