/* Replay (Li et al. 2011): an agent chooses for each decision of a log, in order. Where it chooses the slate
 * that was logged, it is told what came of it and learns; all other decisions are passed over. Where slates
 * were logged uniformly, what agrees is a fair sample of what the agent would have seen. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "evaluate/evaluate.h"
#include "evaluate/sum.h"

typedef struct replay {
    const char *log;
    sa_target *target;
    sa_agent *agent; /* a copy of its agent, which learns */
    bool totals;     /* from the slate's total alone */
    sa_chooser *chooser;
    sa_request *request;
    sa_decision *decision;
    double *scores; /* (slate) */
    bool *seen;     /* (slate) */
    size_t scores_room, seen_room;
    uint64_t decisions, agreed;
    sa_sum rewards, squares;
} replay;

static sa_status choose(replay *self, const sa_log_entry *entry) {
    sa_policy *policy;
    const double *contexts;
    size_t dim;
    SA_TRY(sa_target_contexts(self->target, entry, &contexts, &dim));
    sa_request_contexts(self->request, contexts, entry->candidates);
    sa_request_slate(self->request, entry->slate);
    sa_request_draw(self->request, self->decisions);
    SA_TRY(sa_agent_policy(self->agent, &policy));
    sa_status status = sa_policy_select(policy, self->chooser, self->request, &self->decision);
    sa_policy_release(policy);
    return status;
}

static sa_status learn(replay *self, const sa_log_entry *entry) {
    double reward = 0;
    SA_TRY(sa_grow_array(&self->scores, &self->scores_room, entry->slate, sizeof *self->scores));
    SA_TRY(sa_grow_array(&self->seen, &self->seen_room, entry->slate, sizeof *self->seen));
    for (size_t k = 0; k < entry->slate; k++) {
        self->seen[k] = !isnan(entry->feedback[k]);
        self->scores[k] = self->seen[k] ? entry->feedback[k] : 0;
        reward += self->scores[k];
    }
    self->agreed++;
    sa_sum_add(&self->rewards, reward);
    sa_sum_add(&self->squares, reward * reward);
    SA_TRY(sa_agent_record(self->agent, self->request, self->decision));
    if (self->totals) return sa_agent_update(self->agent, sa_decision_id(self->decision), &reward, NULL, 1);
    return sa_agent_update(self->agent, sa_decision_id(self->decision), self->scores, self->seen,
                           entry->slate);
}

static sa_status see(replay *self, const sa_log_entry *entry) {
    if (!sa_is_uniform(entry))
        return sa_fail(SA_INVALID,
                       "replay needs slates that were drawn uniformly, and this one's propensity is %g",
                       entry->propensity);
    SA_TRY(choose(self, entry));
    self->decisions++;
    if (sa_decision_slate(self->decision) != entry->slate ||
        memcmp(sa_decision_arms(self->decision), entry->arms, entry->slate * sizeof *entry->arms))
        return SA_OK;
    return learn(self, entry);
}

static sa_status walk(replay *self, bool skip_bad) {
    sa_decisions decisions;
    const sa_log_entry *entry;
    sa_status status;
    SA_TRY(sa_decisions_open(self->log, skip_bad, &decisions));
    for (;;) {
        SA_TRY_OR_FAIL(sa_decisions_next(&decisions, &entry));
        if (!entry) break;
        status = see(self, entry);
        if (status != SA_OK) {
            sa_fail_prefix(status, "%s:%" PRIu64 ": ", self->log, entry->line);
            goto fail;
        }
    }
fail:
    sa_decisions_close(&decisions);
    return status;
}

static void conclude(const replay *self, sa_estimate *out) {
    double n = (double)self->agreed, mean = sa_sum_value(&self->rewards) / n;
    double variance = (sa_sum_value(&self->squares) - n * mean * mean) / (n - 1);
    *out = (sa_estimate){.value = mean,
                         .standard_error = n > 1 ? sqrt(fmax(variance, 0) / n) : NAN,
                         .bootstrap95 = {NAN, NAN},
                         .effective_sample_size = n,
                         .largest_weight = 1,
                         .no_overlap = 1 - n / (double)self->decisions};
    out->ci95[0] = mean - 1.959963984540054 * out->standard_error;
    out->ci95[1] = mean + 1.959963984540054 * out->standard_error;
}

sa_status sa_replay(const char *log, bool skip_bad, sa_target *target, sa_estimate *out) {
    replay self = {.log = log, .target = target, .chooser = sa_chooser_new(), .request = sa_request_new()};
    sa_status status;
    if (!self.chooser || !self.request) {
        status = sa_fail(SA_OUT_OF_MEMORY, "no memory for a chooser");
        goto fail;
    }
    char feedback[32] = "";
    SA_TRY_OR_FAIL(sa_agent_load(target->path, &self.agent));
    SA_TRY_OR_FAIL(sa_options_get(sa_agent_options(self.agent), "feedback", feedback, sizeof feedback));
    self.totals = !strcmp(feedback, "total");
    SA_TRY_OR_FAIL(walk(&self, skip_bad));
    if (self.agreed)
        conclude(&self, out);
    else
        status =
            sa_fail(SA_INVALID, "the agent %s chooses none of the slates of %s: there is nothing to replay",
                    target->name, log);
fail:
    sa_free(self.scores);
    sa_free(self.seen);
    sa_decision_destroy(self.decision);
    sa_request_destroy(self.request);
    sa_chooser_destroy(self.chooser);
    sa_agent_destroy(self.agent);
    return status;
}
