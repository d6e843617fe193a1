/* Names, titles and lines as the paper has them. Colours are those of Okabe and Ito, which colour-blind
 * people can tell apart, with a dark red and greys beside; the network widths of one figure go from dark to
 * light. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "report/report.h"

typedef struct known {
    const char *label, *algorithm, *name, *colour;
} known;

static const known KNOWN[] = {
    {"cn-ucb", "cn-ucb", "CN-UCB", "#0072B2"},
    {"cn-ts", "cn-ts", "CN-TS", "#D55E00"},
    {"cn-ts1", "cn-ts1", "CN-TS (M=1)", "#E69F00"},
    {"comblin-ucb", "comblin-ucb", "CombLinUCB", "#009E73"},
    {"comblin-ts", "comblin-ts", "CombLinTS", "#CC79A7"},
    {"comblin-ucb-corrected", "comblin-ucb", "CombLinUCB (corrected)", "#56B4E9"},
    {"comblin-ts-corrected", "comblin-ts", "CombLinTS (corrected)", "#882255"},
    {"cc-mab", "cc-mab", "CC-MAB", "#999933"},
    {"acc-ucb", "acc-ucb", "ACC-UCB", "#44AA99"},
    {"greedy", "greedy", "greedy", "#777777"},
    {"cn-ucb-alone", "cn-ucb", "CN-UCB (network alone)", "#56B4E9"},
    {"cn-ts-alone", "cn-ts", "CN-TS (network alone)", "#882255"},
    {"cn-ts-m100", "cn-ts", "CN-TS (m=100)", "#440154"},
    {"cn-ts-m50", "cn-ts", "CN-TS (m=50)", "#3B528B"},
    {"cn-ts-m20", "cn-ts", "CN-TS (m=20)", "#21908C"},
    {"cn-ts-m10", "cn-ts", "CN-TS (m=10)", "#5DC863"},
    {"cn-ts-m4", "cn-ts", "CN-TS (m=4)", "#D9B800"},
};

/* For agents that the paper does not have: Okabe and Ito without their yellow, which is too light for a line,
 * and three dark ones. No two of them are alike to people who do not tell red from green, or blue from
 * yellow. */
static const char *const OTHERS[] = {"#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                     "#E69F00", "#56B4E9", "#B2182B", "#4B0092", "#003F5C"};

static const known *find(const char *label, const sa_options *options) {
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
        if (!strcmp(label, KNOWN[i].label) && !strcmp(options->algorithm, KNOWN[i].algorithm))
            return &KNOWN[i];
    return NULL;
}

/* As the preset tuned has it, an algorithm is not its paper's any more: "CN-UCB (tuned)", "CN-TS (M=1,
 * tuned)". */
static sa_status name_of(const char *paper, const sa_options *options, char **name) {
    size_t length = strlen(paper);
    if (options->preset != SA_PRESET_TUNED || !strcmp(paper, "greedy")) return sa_copy_text(paper, name);
    if (paper[length - 1] == ')') return sa_format(name, "%.*s, tuned)", (int)length - 1, paper);
    return sa_format(name, "%s (tuned)", paper);
}

sa_status sa_agent_name(const char *label, const sa_options *options, char **name) {
    static const char width[] = "cn-ts-m";
    const known *one = find(label, options);
    char hidden[32], narrow[64];
    snprintf(hidden, sizeof hidden, "%lld", (long long)options->hidden);
    snprintf(narrow, sizeof narrow, "CN-TS (m=%s)", hidden);
    if (!one && !strncmp(label, width, sizeof width - 1) && !strcmp(label + sizeof width - 1, hidden))
        return name_of(narrow, options, name);
    return one ? name_of(one->name, options, name) : sa_copy_text(label, name);
}

const char *sa_published_name(const sa_report_agent *agent) {
    const known *one = find(agent->label, agent->options);
    return one ? one->name : agent->name;
}

static bool is_taken(const sa_report_panel *panel, const char *colour) {
    for (size_t i = 0; i < panel->agent_count; i++) {
        const known *one = find(panel->agents[i].label, panel->agents[i].options);
        if (one && !strcmp(one->colour, colour)) return true;
    }
    return false;
}

/* The others get what is left, in their order: first the colours that are not taken, then all of them once
 * more with every further kind of dashes. */
sa_line sa_agent_line(const sa_report_panel *panel, size_t index) {
    const size_t colours = sizeof OTHERS / sizeof *OTHERS;
    const known *own = find(panel->agents[index].label, panel->agents[index].options);
    size_t before = 0, k = 0;
    if (own) return (sa_line){own->colour, 0};
    for (size_t i = 0; i < index; i++) before += !find(panel->agents[i].label, panel->agents[i].options);
    for (;; k++) {
        if (k < colours && is_taken(panel, OTHERS[k])) continue;
        if (before-- == 0) return (sa_line){OTHERS[k % colours], k / colours};
    }
}

sa_status sa_agent_style_of(const char *const *labels, const char *const *algorithms,
                            const char *const *presets, const int64_t *hidden, size_t count, size_t index,
                            sa_agent_style *out) {
    sa_report_panel panel = {.agent_count = count};
    char *name = NULL;
    sa_status status;
    if (index >= count) return sa_fail(SA_INVALID, "there is no agent %zu of %zu", index, count);
    SA_TRY_OR_FAIL(sa_alloc_array(count, sizeof *panel.agents, &panel.agents));
    for (size_t i = 0; i < count; i++) {
        sa_options *options = sa_options_new(presets[i]);
        panel.agents[i].label = labels[i];
        panel.agents[i].options = options;
        if (!options) {
            status = SA_OUT_OF_MEMORY;
            goto fail;
        }
        SA_TRY_OR_FAIL(sa_options_set(options, "algorithm", algorithms[i]));
        options->hidden = hidden[i];
    }
    SA_TRY_OR_FAIL(sa_agent_name(labels[index], panel.agents[index].options, &name));
    sa_line line = sa_agent_line(&panel, index);
    *out = (sa_agent_style){.dashes = line.dashes, .mark = sa_line_mark(line, index)};
    snprintf(out->name, sizeof out->name, "%s", name);
    snprintf(out->colour, sizeof out->colour, "%s", line.colour);
fail:
    for (size_t i = 0; panel.agents && i < count; i++)
        sa_options_destroy((sa_options *)panel.agents[i].options);
    sa_free(panel.agents);
    sa_free(name);
    return status;
}

sa_status sa_panel_title(const sa_options *options, char **title) {
    const char *score = options->environment;
    char frequency[SA_NUMBER_TEXT];
    if (!strcmp(score, "h1")) return sa_format(title, "h1(x) = x'a, d = %lld", (long long)options->dim);
    if (!strcmp(score, "h2"))
        return sa_format(title, "h2(x) = (x'a)\u00b2, d = %lld", (long long)options->dim);
    if (!strcmp(score, "h3")) {
        sa_number_to_text(options->h3_frequency, frequency);
        return sa_format(title, "h3(x) = cos(%s x'a), d = %lld",
                         options->h3_frequency == 3.14159265358979323846 ? "\u03c0" : frequency,
                         (long long)options->dim);
    }
    if (!strcmp(score, "formula"))
        return sa_format(title, "%.200s, d = %lld", options->score, (long long)options->dim);
    return sa_format(title, "%s, d = %lld", score, (long long)options->dim);
}
