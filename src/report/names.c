/* Names, titles and lines as the paper has them. Colours are those of Okabe and Ito, which colour-blind
 * people can tell apart, with a dark red and greys beside; the network widths of one figure go from dark to
 * light. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "report/report.h"
#include "results/display.h"

/* By label, where its algorithm is the one that the label tells. */
static const struct {
    const char *label, *colour;
} COLOURS[] = {
    {"cn-ucb", "#0072B2"},
    {"cn-ts", "#D55E00"},
    {"cn-ts1", "#E69F00"},
    {"comblin-ucb", "#009E73"},
    {"comblin-ts", "#CC79A7"},
    {"comblin-ucb-corrected", "#56B4E9"},
    {"comblin-ts-corrected", "#882255"},
    {"cc-mab", "#999933"},
    {"acc-ucb", "#44AA99"},
    {"greedy", "#777777"},
    {"cn-ucb-tuned", "#000000"},
    {"cn-ucb-alone", "#56B4E9"},
    {"cn-ts-alone", "#882255"},
    {"cn-ts-m100", "#440154"},
    {"cn-ts-m50", "#3B528B"},
    {"cn-ts-m20", "#21908C"},
    {"cn-ts-m10", "#5DC863"},
    {"cn-ts-m4", "#D9B800"},
};

/* For agents that the paper does not have: Okabe and Ito without their yellow, which is too light for a line,
 * and three dark ones. No two of them are alike to people who do not tell red from green, or blue from
 * yellow. */
static const char *const OTHERS[] = {"#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                     "#E69F00", "#56B4E9", "#B2182B", "#4B0092", "#003F5C"};

/* NULL: it has none of its own. */
static const char *colour_of(const sa_report_agent *agent) {
    if (!sa_paper_name(agent->of->label, agent->of->options)) return NULL;
    for (size_t i = 0; i < sizeof COLOURS / sizeof *COLOURS; i++)
        if (!strcmp(agent->of->label, COLOURS[i].label)) return COLOURS[i].colour;
    return NULL;
}

const char *sa_published_name(const sa_report_agent *agent) {
    const char *name = sa_paper_name(agent->of->label, agent->of->options);
    return name ? name : agent->name;
}

static bool is_taken(const sa_report_panel *panel, const char *colour) {
    for (size_t i = 0; i < panel->agent_count; i++) {
        const char *own = colour_of(&panel->agents[i]);
        if (own && !strcmp(own, colour)) return true;
    }
    return false;
}

/* The others get what is left, in their order: first the colours that are not taken, then all of them once
 * more with every further kind of dashes. */
sa_line sa_agent_line(const sa_report_panel *panel, size_t index) {
    const size_t colours = sizeof OTHERS / sizeof *OTHERS;
    const char *own = colour_of(&panel->agents[index]);
    size_t before = 0, k = 0;
    if (own) return (sa_line){own, 0};
    for (size_t i = 0; i < index; i++) before += !colour_of(&panel->agents[i]);
    for (;; k++) {
        if (k < colours && is_taken(panel, OTHERS[k])) continue;
        if (before-- == 0) return (sa_line){OTHERS[k % colours], k / colours};
    }
}

sa_status sa_agent_style_of(const char *const *labels, const char *const *algorithms,
                            const char *const *presets, const int64_t *hidden, size_t count, size_t index,
                            sa_agent_style *out) {
    sa_report_panel panel = {.agent_count = count};
    sa_agent_runs *agents = NULL;
    char *name = NULL;
    sa_status status;
    if (index >= count) return sa_fail(SA_INVALID, "there is no agent %zu of %zu", index, count);
    SA_TRY_OR_FAIL(sa_alloc_array(count, sizeof *panel.agents, &panel.agents));
    SA_TRY_OR_FAIL(sa_alloc_array(count, sizeof *agents, &agents));
    for (size_t i = 0; i < count; i++) {
        panel.agents[i].of = &agents[i];
        SA_TRY_OR_FAIL(sa_copy_text(labels[i], &agents[i].label));
        agents[i].options = sa_options_new(presets[i]);
        SA_TRY_OR_FAIL(agents[i].options ? SA_OK : SA_OUT_OF_MEMORY);
        SA_TRY_OR_FAIL(sa_options_set(agents[i].options, "algorithm", algorithms[i]));
        agents[i].options->hidden = hidden[i];
    }
    SA_TRY_OR_FAIL(sa_agent_display(labels[index], agents[index].options, &name));
    sa_line line = sa_agent_line(&panel, index);
    *out = (sa_agent_style){.dashes = line.dashes, .mark = sa_line_mark(line, index)};
    snprintf(out->name, sizeof out->name, "%s", name);
    snprintf(out->colour, sizeof out->colour, "%s", line.colour);
fail:
    if (agents) sa_agents_destroy(agents, count);
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
