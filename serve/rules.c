#include "rules.h"
#include "words.h"

#include <stdio.h>
#include <string.h>

static const char *option(const sv_settings *settings, const char *name) {
    const sv_option *given = sv_options_find(&settings->options, name);
    return given ? given->value : "";
}

static bool is_positional(const sv_settings *settings) {
    const char *feedback = option(settings, "feedback");
    return !strcmp(feedback, "position") ||
           (!strcmp(feedback, "cascade") && !strcmp(option(settings, "cascade-form"), "unknown"));
}

static bool has(const sv_ask *ask, const char *name) {
    return ask->rules && sa_json_find(&ask->json, ask->rules, name);
}

/* Rules that are for something else than the oracle. */
static bool has_only_discounts(const sv_ask *ask) {
    size_t others = has(ask, "exactly") + has(ask, "seconds");
    return has(ask, "discounts") && !sv_words_rule(ask->words) &&
           sa_json_count(&ask->json, ask->rules) == 1 + others;
}

static bool refuse_unread(sv_refusal *why) {
    char sentence[300];
    snprintf(sentence, sizeof sentence, "%s", sa_last_error());
    return sv_refuse(
        why, 400,
        "problem: %s. The agent's oracle is set by its option oracle, and auto takes the one that a "
        "request's rules need",
        sentence);
}

bool sv_rules_oracle(const sv_settings *settings, sv_ask *ask, const char **oracle, sv_refusal *why) {
    bool positions = is_positional(settings), cascade = !strcmp(option(settings, "feedback"), "cascade");
    const char *own = option(settings, "oracle");
    *oracle = NULL;
    if (!ask->problem) return true;
    if (positions && has(ask, "discounts"))
        return sv_refuse(why, 400,
                         "problem: discounts have no effect on this agent, which learns what a position "
                         "is worth (its feedback is by position)");
    if (cascade && has_only_discounts(ask)) return true; /* the feedback's, whatever the oracle */
    if (*own && strcmp(own, "auto"))
        return sa_problem_is_read(ask->problem, own) == SA_OK || refuse_unread(why);
    if (sa_problem_oracle(ask->problem, positions, oracle) != SA_OK)
        return sv_refuse(why, 400, "problem: %s", sa_last_error());
    if (!strcmp(*oracle, positions ? "assignment" : "top-k")) *oracle = NULL; /* the agent's own */
    if (*oracle && !strcmp(*oracle, "matroid"))
        sa_request_exactly(ask->request, true); /* as many arms as without rules */
    return true;
}
