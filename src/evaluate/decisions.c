/* From a log to the tables: feedback, and for each policy its weights. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "evaluate/evaluate.h"

/* ---- the decisions that count ---- */

sa_status sa_decisions_open(const char *log, bool skip_bad, sa_decisions *out) {
    sa_decisions decisions = {.log = log, .skip_bad = skip_bad};
    SA_TRY(sa_log_reader_open(log, skip_bad, &decisions.reader));
    *out = decisions;
    return SA_OK;
}

void sa_decisions_close(sa_decisions *decisions) { sa_log_reader_close(decisions->reader); }

/* A longer prefix cannot be more likely. */
static sa_status check_prefixes(const char *name, const double *prefix, size_t slate) {
    for (size_t k = 1; prefix && k < slate; k++)
        if (prefix[k] > prefix[k - 1] * (1 + 1e-9))
            return sa_fail(SA_FORMAT, "%s[%zu] is %g, and %s[%zu], of fewer arms, is %g, which is less", name,
                           k, prefix[k], name, k - 1, prefix[k - 1]);
    return SA_OK;
}

/* Of position k; a total counts at the first. What was not seen is 0. */
static double feedback_at(const sa_log_entry *entry, size_t k) {
    if (!entry->feedback) return k ? 0 : entry->total;
    return isnan(entry->feedback[k]) ? 0 : entry->feedback[k];
}

/* Whose slate was shown: the agent's, whose probability the log has? */
static bool is_agents(sa_decisions *decisions, const sa_log_entry *entry) {
    double reward = 0;
    if (!entry->side || !strcmp(entry->side, "agent")) return true;
    for (size_t k = 0; k < entry->slate; k++) reward += feedback_at(entry, k);
    if (!strcmp(entry->side, "control"))
        sa_side_add(&decisions->control, reward);
    else
        decisions->other_sides++;
    return false;
}

sa_status sa_decisions_next(sa_decisions *decisions, const sa_log_entry **entry) {
    for (;;) {
        SA_TRY(sa_log_reader_next(decisions->reader, entry));
        if (!*entry) return SA_OK;
        bool known = (*entry)->feedback || (!isnan((*entry)->total) && (*entry)->slate > 0);
        if (!(*entry)->final || !known) {
            *((*entry)->final ? &decisions->without_feedback : &decisions->not_final) += 1;
            continue;
        }
        if (!is_agents(decisions, *entry)) continue;
        sa_status status =
            check_prefixes("prefix_propensities", (*entry)->prefix_propensities, (*entry)->slate);
        if (status == SA_OK)
            status = check_prefixes("target_prefix_propensities", (*entry)->target_prefix_propensities,
                                    (*entry)->slate);
        if (status == SA_OK) return SA_OK;
        if (!decisions->skip_bad)
            return sa_fail_prefix(status, "%s:%" PRIu64 ": ", decisions->log, (*entry)->line);
        decisions->contradictory++;
    }
}

/* ---- the tables ---- */

static sa_status add_feedback(sa_feedback_table *table, const sa_log_entry *entry) {
    SA_TRY(sa_grow_array(&table->first, &table->count_room, table->count + 2, sizeof *table->first));
    size_t from = table->first[table->count];
    SA_TRY(sa_grow_array(&table->feedback, &table->feedback_room, from + entry->slate + 1,
                         sizeof *table->feedback));
    for (size_t k = 0; k < entry->slate; k++) table->feedback[from + k] = feedback_at(entry, k);
    table->totals = table->totals || !entry->feedback;
    table->first[++table->count] = from + entry->slate;
    if (entry->slate > table->longest) table->longest = entry->slate;
    return SA_OK;
}

/* Slates as long as there are candidates say nothing about who decided their length. */
static void check_length(sa_evaluation *evaluation, const sa_log_entry *entry, size_t *usual) {
    if (!*usual) *usual = entry->slate;
    if (entry->slate != *usual && entry->slate < entry->candidates && !evaluation->varying_line)
        evaluation->varying_line = entry->line;
}

static sa_status add(sa_evaluation *evaluation, sa_weigher *weigher, const char *log,
                     const sa_log_entry *entry) {
    SA_TRY(add_feedback(&evaluation->table, entry));
    for (size_t i = 0; i < evaluation->policy_count; i++) {
        sa_policy_result *policy = &evaluation->policies[i];
        sa_status status = sa_weigh(weigher, entry, &policy->target, &policy->sample);
        if (status != SA_OK) return sa_fail_prefix(status, "%s:%" PRIu64 ": ", log, entry->line);
    }
    return SA_OK;
}

static sa_status after_last(sa_evaluation *evaluation, sa_decisions *decisions) {
    evaluation->without_feedback = decisions->without_feedback;
    evaluation->not_final = decisions->not_final;
    evaluation->other_sides = decisions->other_sides;
    evaluation->control = decisions->control;
    uint64_t others = decisions->other_sides + (uint64_t)decisions->control.count;
    if (!evaluation->table.count && others)
        return sa_fail(SA_INVALID,
                       "%s has no decision with final feedback that the agent chose: %" PRIu64
                       " are of other sides, %" PRIu64 " have none, %" PRIu64 " are not final",
                       decisions->log, others, decisions->without_feedback, decisions->not_final);
    if (!evaluation->table.count)
        return sa_fail(SA_INVALID,
                       "%s has no decision with final feedback: %" PRIu64 " have none, %" PRIu64
                       " are not final",
                       decisions->log, decisions->without_feedback, decisions->not_final);
    const char *warning = sa_log_reader_warning(decisions->reader);
    if (*warning) SA_TRY(sa_warn(evaluation, "%s", warning));
    if (decisions->contradictory)
        SA_TRY(sa_warn(evaluation, "%s: %" PRIu64 " decisions whose prefix probabilities rise were skipped",
                       decisions->log, decisions->contradictory));
    return SA_OK;
}

sa_status sa_read_decisions(const char *log, const sa_evaluate_settings *settings,
                            sa_evaluation *evaluation) {
    sa_decisions decisions;
    sa_weigher weigher = {.product = settings->logging && settings->logging[0] == 'p'};
    const sa_log_entry *entry;
    size_t usual = 0;
    for (size_t i = 0; i < sa_estimator_count; i++)
        if (evaluation->asked[i] && sa_estimators[i].weights != SA_WEIGHT_NONE)
            weigher.asked[sa_estimators[i].weights] = true;
    SA_TRY(sa_decisions_open(log, settings->skip_bad, &decisions));
    sa_status status;
    for (;;) {
        SA_TRY_OR_FAIL(sa_decisions_next(&decisions, &entry));
        if (!entry) break;
        check_length(evaluation, entry, &usual);
        SA_TRY_OR_FAIL(add(evaluation, &weigher, log, entry));
    }
    status = after_last(evaluation, &decisions);
fail:
    sa_weigher_clear(&weigher);
    sa_decisions_close(&decisions);
    return status;
}
