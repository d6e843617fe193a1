#include "results/display.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "oracle/oracle.h"
#include "results/statistics.h"
#include <superarm/agent.h>

/* Labels that tell what an agent is, with that algorithm. */
static const struct {
    const char *label, *algorithm, *name;
} NAMES[] = {
    {"cn-ucb", "cn-ucb", "CN-UCB"},
    {"cn-ts", "cn-ts", "CN-TS"},
    {"cn-ts1", "cn-ts1", "CN-TS (M=1)"},
    {"cn-ucb-d", "cn-ucb-d", "CN-UCB (doubling)"},
    {"cn-ts-d", "cn-ts-d", "CN-TS (doubling)"},
    {"neural-ucb", "neural-ucb", "Neural-UCB"},
    {"neural-ts", "neural-ts", "Neural-TS"},
    {"neural-linear", "neural-linear", "neural-linear"},
    {"comblin-ucb", "comblin-ucb", "CombLinUCB"},
    {"comblin-ts", "comblin-ts", "CombLinTS"},
    {"comblin-ucb-corrected", "comblin-ucb", "CombLinUCB"},
    {"comblin-ts-corrected", "comblin-ts", "CombLinTS"},
    {"c2ucb", "c2ucb", "C2UCB"},
    {"cc-mab", "cc-mab", "CC-MAB"},
    {"acc-ucb", "acc-ucb", "ACC-UCB"},
    {"greedy", "greedy", "greedy"},
    {"cn-ucb-tuned", "cn-ucb", "CN-UCB"}, /* beside one of another preset */
    {"cn-ucb-chosen", "cn-ucb", "CN-UCB (paper, gamma and rate chosen)"},
    {"cn-ucb-alone", "cn-ucb", "CN-UCB (network alone)"},
    {"cn-ts-alone", "cn-ts", "CN-TS (network alone)"},
    {"cn-ts-m100", "cn-ts", "CN-TS (m=100)"},
    {"cn-ts-m50", "cn-ts", "CN-TS (m=50)"},
    {"cn-ts-m20", "cn-ts", "CN-TS (m=20)"},
    {"cn-ts-m10", "cn-ts", "CN-TS (m=10)"},
    {"cn-ts-m4", "cn-ts", "CN-TS (m=4)"},
};

const char *sa_paper_name(const char *label, const sa_options *options) {
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (!strcmp(label, NAMES[i].label) && !strcmp(options->algorithm, NAMES[i].algorithm))
            return NAMES[i].name;
    return NULL;
}

/* Linear agents are what --linear-form says, under whatever preset; others are their papers' unless tuned. */
static const char *mark_of(const sa_options *options) {
    if (!sa_algorithm_model(options->algorithm)) return "";
    if (sa_algorithm_is_linear(options->algorithm))
        return options->linear_form == SA_LINEAR_PUBLISHED ? "as published"
               : options->linear_form == SA_LINEAR_FITTED  ? "tuned"
                                                           : "";
    return options->preset == SA_PRESET_TUNED ? "tuned" : "";
}

sa_status sa_agent_display(const char *label, const sa_options *options, char **display) {
    static const char width[] = "cn-ts-m";
    const char *name = sa_paper_name(label, options), *mark = mark_of(options);
    char hidden[32], narrow[64];
    snprintf(hidden, sizeof hidden, "%lld", (long long)options->hidden);
    snprintf(narrow, sizeof narrow, "CN-TS (m=%s)", hidden);
    if (!name && !strncmp(label, width, sizeof width - 1) && !strcmp(label + sizeof width - 1, hidden))
        name = narrow;
    if (!name) return sa_copy_text(label, display);
    if (!*mark) return sa_copy_text(name, display);
    size_t length = strlen(name);
    if (name[length - 1] == ')') return sa_format(display, "%.*s, %s)", (int)length - 1, name, mark);
    return sa_format(display, "%s (%s)", name, mark);
}

double sa_regret_alpha(const sa_options *options, bool unproven) {
    bool clicks = options->clicks != SA_CLICKS_NONE; /* S* is then the users' */
    return unproven || clicks ? 1 : sa_oracle_of((sa_oracle_kind)options->oracle)->alpha;
}

sa_status sa_regret_note(const sa_options *options, double unproven_rounds, char **note) {
    const char *oracle = sa_oracle_of((sa_oracle_kind)options->oracle)->name;
    double alpha = sa_regret_alpha(options, unproven_rounds > 0);
    if (unproven_rounds > 0)
        return sa_format(
            note,
            "regret against the slate of the oracle %s: in %.0f rounds nobody knows the best slate for sure",
            oracle, unproven_rounds);
    if (alpha == 1) return sa_copy_text("", note);
    return sa_format(note,
                     "alpha-regret, %.3g times the best slate's reward minus the chosen one's, since the "
                     "oracle %s is sure of that share only",
                     alpha, oracle);
}

sa_status sa_agent_tell(const sa_agent_runs *agent, sa_told *told) {
    *told = (sa_told){.totals = sa_agent_totals(agent)};
    SA_TRY(sa_regret_note(agent->options, told->totals.unproven_rounds, &told->note));
    return sa_agent_display(agent->label, agent->options, &told->display);
}

void sa_told_clear(sa_told *told) {
    sa_free(told->note);
    sa_free(told->display);
    *told = (sa_told){0};
}
