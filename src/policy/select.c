#include "policy/select.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "policy/feasible.h"
#include "policy/propensity.h"
#include "policy/walk.h"

/* Scores of small requests that are walked together, so that their gradients need bounded memory. */
enum { TOGETHER = 4096 };

/* ---- requests ---- */

static sa_status prepare(const sa_policy *policy, const sa_request *const *requests, size_t count,
                         sa_selection *selections) {
    for (size_t i = 0; i < count; i++) {
        sa_status status = sa_selection_prepare(policy, requests[i], i, &selections[i]);
        if (status == SA_OK && policy->floor > 0) status = sa_selection_check_floor(policy, &selections[i]);
        if (status != SA_OK && count > 1) sa_fail_prefix(status, "request %zu: ", i);
        SA_TRY(status);
    }
    return SA_OK;
}

/* Can it be scored together with others? The scores are the same. */
static bool is_small(const sa_policy *policy, const sa_selection *selection) {
    return policy->confidence && selection->request->arms <= SA_BLOCK_ARMS && selection->positions == 0 &&
           selection->exploration.kind->from == SA_SCORES_FROM_WIDTHS;
}

/* How many selections from `first` on are scored together. The last of all is scored by itself: what was
 * solved for its widths serves when it is counted. */
static size_t group_of(const sa_policy *policy, const sa_selection *selections, size_t first, size_t end) {
    size_t count = 0, scores = 0;
    while (first + count + 1 < end && is_small(policy, &selections[first + count]) &&
           selections[first + count].bounded == selections[first].bounded) {
        scores += selections[first + count].scores;
        if (count > 0 && scores > TOGETHER) break;
        count++;
    }
    return count ? count : 1;
}

static sa_status choose_all(const sa_policy *policy, sa_chooser *chooser, sa_selection *selections,
                            size_t count, sa_chosen_call *call, void *user) {
    SA_TRY(sa_chooser_begin(chooser, policy));
    for (size_t first = 0, many; first < count; first += many) {
        many = group_of(policy, selections, first, count);
        SA_TRY(sa_selections_lay(chooser, policy, selections + first, many));
        SA_TRY(sa_selections_score(policy, chooser, selections + first, many));
        for (size_t i = first; i < first + many; i++) {
            SA_TRY(sa_selection_solve(policy, chooser, &selections[i]));
            if (selections[i].random) SA_TRY(sa_selection_draw(policy, &selections[i]));
            if (selections[i].request->propensities)
                SA_TRY(sa_selection_find_propensities(policy, &selections[i]));
            SA_TRY(call(user, i, &selections[i]));
        }
    }
    return SA_OK;
}

sa_status sa_choose(const sa_policy *policy, sa_chooser *chooser, const sa_request *const *requests,
                    size_t count, sa_chosen_call *call, void *user) {
    sa_selection one, *selections = &one;
    if (count > 1) SA_TRY(sa_alloc_array(count, sizeof *selections, &selections));
    sa_status status = prepare(policy, requests, count, selections);
    if (status == SA_OK) status = choose_all(policy, chooser, selections, count, call, user);
    if (count > 1) sa_free(selections);
    return status;
}

/* ---- a policy's own calls ---- */

typedef struct answer {
    sa_chooser *chooser;
    sa_decision **decision;
} answer;

static sa_status decide(void *user, size_t index, const sa_selection *selection) {
    const answer *self = user;
    sa_decision *decision = *self->decision;
    (void)index;
    if (!decision) SA_TRY(sa_alloc_array(1, sizeof *decision, &decision));
    sa_status status = sa_selection_decide(self->chooser, selection, decision);
    if (status == SA_OK)
        *self->decision = decision;
    else if (!*self->decision)
        sa_decision_destroy(decision);
    return status;
}

sa_status sa_policy_select(const sa_policy *policy, sa_chooser *chooser, const sa_request *request,
                           sa_decision **decision) {
    if (!policy || !chooser || !decision)
        return sa_fail(SA_INVALID, "sa_policy_select needs a policy, a chooser and a place for the decision");
    answer self = {.chooser = chooser, .decision = decision};
    return sa_choose(policy, chooser, &request, 1, decide, &self);
}

static void copy_out(const double *from, size_t count, double *to) {
    if (to) memcpy(to, from, count * sizeof *to);
}

sa_status sa_policy_estimate(const sa_policy *policy, sa_chooser *chooser, const sa_request *request,
                             double *estimates, double *widths, double *scores) {
    if (!policy || !chooser) return sa_fail(SA_INVALID, "sa_policy_estimate needs a policy and a chooser");
    sa_selection selection;
    SA_TRY(sa_selection_read(policy, request, 0, true, &selection));
    SA_TRY(sa_chooser_begin(chooser, policy));
    SA_TRY(sa_selections_lay(chooser, policy, &selection, 1));
    SA_TRY(sa_selections_score(policy, chooser, &selection, 1));
    copy_out(selection.mean, selection.scores, estimates);
    copy_out(selection.width, selection.scores, widths);
    copy_out(selection.score, selection.scores, scores);
    return SA_OK;
}
