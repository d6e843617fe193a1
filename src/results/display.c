#include "results/display.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
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
    const char *model = sa_algorithm_model(options->algorithm);
    if (!model) return "";
    if (!strcmp(model, "linear"))
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
