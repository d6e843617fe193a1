/* How a report looks, by name and value: what a paper wants otherwise than a page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "report/report.h"

/* The index of a word in "a|b|c", or SA_INVALID with all of them. */
static sa_status choose(const char *name, const char *value, const char *choices, int *out) {
    char list[256], shown[SA_PRINTABLE];
    int index = 0;
    size_t size = strlen(value), used = 0;
    for (const char *word = choices; word; index++) {
        const char *bar = strchr(word, '|');
        size_t length = bar ? (size_t)(bar - word) : strlen(word);
        if (length == size && !strncmp(word, value, size)) {
            *out = index;
            return SA_OK;
        }
        word = bar ? bar + 1 : NULL;
    }
    for (const char *c = choices; *c && used + 3 < sizeof list; c++)
        used += (size_t)snprintf(list + used, sizeof list - used, *c == '|' ? ", " : "%c", *c);
    return sa_fail(SA_INVALID, "--%s %s is not one of %s", name, sa_printable(value, shown), list);
}

/* "6x3.5" */
static sa_status set_size(sa_style *style, const char *value) {
    char copy[64], shown[SA_PRINTABLE];
    double width = 0, height = 0;
    snprintf(copy, sizeof copy, "%s", value);
    char *cross = strchr(copy, 'x');
    if (cross) *cross = 0;
    if (!cross || !sa_text_to_number(copy, &width) || !sa_text_to_number(cross + 1, &height) ||
        !(width >= 1 && width <= 50) || !(height >= 1 && height <= 50))
        return sa_fail(SA_INVALID,
                       "--size %s is not a width and a height in inches from 1 to 50, as in 6x3.5",
                       sa_printable(value, shown));
    style->width = width;
    style->height = height;
    return SA_OK;
}

static sa_status find_cell(const char *word, sa_cell *out) {
    sa_buffer list = {0};
    char shown[SA_PRINTABLE];
    for (sa_cell cell = 0; cell < SA_CELL_COUNT; cell++)
        if (*word && !strcmp(sa_cell_name(cell), word)) {
            *out = cell;
            return SA_OK;
        }
    for (size_t i = 0; sa_report_column(i); i++)
        sa_buffer_format(&list, "%s%s", i ? ", " : "", sa_report_column(i));
    sa_status status = sa_fail(SA_INVALID, "--columns %s is not one of %.600s", sa_printable(word, shown),
                               list.text ? list.text : "");
    sa_buffer_clear(&list);
    return status;
}

/* "mean,sd,worst": which columns tables have, after the agents' names. */
static sa_status set_columns(sa_style *style, const char *value) {
    char word[64];
    sa_cell cell = SA_CELL_AGENT;
    style->columns[0] = SA_CELL_AGENT;
    style->column_count = 1;
    for (const char *at = value; at;) {
        const char *comma = strchr(at, ',');
        snprintf(word, sizeof word, "%.*s", comma ? (int)(comma - at) : (int)strlen(at), at);
        SA_TRY(find_cell(word, &cell));
        for (size_t i = 1; i < style->column_count; i++)
            if (style->columns[i] == cell) return sa_fail(SA_INVALID, "--columns has %s twice", word);
        if (cell != SA_CELL_AGENT) style->columns[style->column_count++] = cell;
        at = comma ? comma + 1 : NULL;
    }
    return SA_OK;
}

/* ---- agents ---- */

static bool find(const sa_report_agent *agents, size_t count, const char *label, size_t *index) {
    for (size_t i = 0; i < count; i++)
        if (!strcmp(agents[i].of->label, label)) {
            *index = i;
            return true;
        }
    return false;
}

static sa_status unknown(const sa_report *report, const char *flag, const char *label) {
    sa_buffer list = {0};
    const sa_report_panel *panel = &report->panels[0];
    for (size_t i = 0; i < panel->results.agent_count && i < 12; i++) {
        sa_buffer_text(&list, i ? ", " : "");
        sa_buffer_text(&list, panel->results.agents[i].label);
    }
    sa_status status =
        sa_fail(SA_INVALID, "--%s %.200s: there is no such agent; there are %.600s%s", flag, label,
                list.text ? list.text : "none", panel->results.agent_count > 12 ? " and others" : "");
    sa_buffer_clear(&list);
    return status;
}

/* The panel's agents wait, and come back as they are named. */
static sa_status begin_choice(sa_report_panel *panel) {
    if (panel->waiting) return SA_OK;
    panel->waiting = panel->agents;
    panel->waiting_count = panel->agent_count;
    panel->agents = NULL;
    panel->agent_count = 0;
    return sa_alloc_array(panel->waiting_count, sizeof *panel->agents, &panel->agents);
}

static sa_status take_agent(sa_report_panel *panel, size_t index, const char *name) {
    sa_report_agent agent = panel->waiting[index];
    if (name) {
        sa_free(agent.name);
        agent.name = NULL;
        panel->waiting[index].name = NULL;
        SA_TRY(sa_copy_text(name, &agent.name));
    }
    memmove(&panel->waiting[index], &panel->waiting[index + 1],
            (--panel->waiting_count - index) * sizeof agent);
    panel->agents[panel->agent_count++] = agent;
    return SA_OK;
}

/* "LABEL" or "LABEL:NAME"; a label may have a colon of its own. */
static sa_status add_agent(sa_report *report, const char *value) {
    char *label;
    const char *name = NULL;
    bool found = false;
    SA_TRY(sa_copy_text(value, &label));
    sa_status status = SA_OK;
    for (int pass = 0; status == SA_OK && !found && pass < 2; pass++) {
        char *colon = pass ? strrchr(label, ':') : NULL;
        if (pass && !colon) break;
        if (colon) {
            *colon = 0;
            name = colon + 1;
        }
        for (size_t i = 0; status == SA_OK && i < report->panel_count; i++) {
            sa_report_panel *panel = &report->panels[i];
            const sa_report_agent *list = panel->waiting ? panel->waiting : panel->agents;
            size_t index, count = panel->waiting ? panel->waiting_count : panel->agent_count;
            if (!find(list, count, label, &index)) continue;
            found = true;
            status = begin_choice(panel);
            if (status == SA_OK) status = take_agent(panel, index, name);
        }
    }
    if (status == SA_OK && !found) status = unknown(report, "agent", value);
    sa_free(label);
    return status;
}

/* Agents that were chosen are compared with each other. */
static sa_status compare_again(sa_report *report) {
    for (size_t i = 0; i < report->panel_count; i++) {
        sa_report_panel *panel = &report->panels[i];
        size_t reference = 0;
        SA_TRY(begin_choice(panel)); /* a panel without any of them is empty */
        if (panel->agent_count == 0)
            return sa_fail(SA_INVALID, "%s has none of the agents that are named", panel->folders[0]);
        if (*report->style.against &&
            !find(panel->agents, panel->agent_count, report->style.against, &reference))
            return unknown(report, "against", report->style.against);
        if (sa_panel_is_sweep(panel)) SA_TRY(sa_sweep_compare(panel)); /* for their standing */
        if (!sa_panel_is_sweep(panel) || *report->style.against) SA_TRY(sa_panel_compare(panel, reference));
    }
    return SA_OK;
}

static sa_status make_curves(sa_report *report) {
    for (size_t i = 0; i < report->panel_count; i++)
        SA_TRY(sa_panel_curves(&report->panels[i], report->style.band));
    return SA_OK;
}

static bool has_choice(const sa_report *report) {
    for (size_t i = 0; i < report->panel_count; i++)
        if (report->panels[i].waiting) return true;
    return false;
}

sa_status sa_report_finish(sa_report *report) {
    sa_buffer table = {0};
    if (has_choice(report))
        SA_TRY(compare_again(report));
    else if (*report->style.against)
        for (size_t i = 0; i < report->panel_count; i++) {
            size_t reference;
            if (!find(report->panels[i].agents, report->panels[i].agent_count, report->style.against,
                      &reference))
                return unknown(report, "against", report->style.against);
            SA_TRY(sa_panel_compare(&report->panels[i], reference));
        }
    SA_TRY(sa_judge_check(report));
    SA_TRY(make_curves(report));
    SA_TRY(sa_report_match(report));
    SA_TRY(sa_table_text(report, &table));
    sa_buffer_clear(&report->table);
    report->table = table;
    return SA_OK;
}

/* ---- by name ---- */

static sa_status set_regret(sa_report *report, const char *value) {
    int shown = 0;
    SA_TRY(choose("regret", value, "expected|realised", &shown));
    for (size_t i = 0; i < report->panel_count; i++) report->panels[i].shown = shown;
    return SA_OK;
}

static sa_status replace(char **text, const char *value) {
    char *copy;
    SA_TRY(sa_copy_text(value, &copy));
    sa_free(*text);
    *text = copy;
    return SA_OK;
}

static sa_status set_judge(sa_style *style, const char *value) {
    int64_t count;
    char shown[SA_PRINTABLE];
    if (!sa_text_to_integer(value, &count, NULL) || count < 1 || count > 1000000)
        return sa_fail(SA_INVALID, "--judge %s is not a number of runs, from 1 on",
                       sa_printable(value, shown));
    style->judge = (size_t)count;
    return SA_OK;
}

sa_status sa_report_set(sa_report *report, const char *name, const char *value) {
    sa_style *style = &report->style;
    int chosen = 0;
    if (!strcmp(name, "format")) return choose(name, value, "html|latex|csv", &style->format);
    if (!strcmp(name, "band")) return choose(name, value, "sd|se|ci95|quartiles|range|none", &style->band);
    if (!strcmp(name, "regret")) return set_regret(report, value);
    if (!strcmp(name, "size")) return set_size(style, value);
    if (!strcmp(name, "judge")) return set_judge(style, value);
    if (!strcmp(name, "columns")) return set_columns(style, value);
    if (!strcmp(name, "title")) return replace(&style->title, value);
    if (!strcmp(name, "against")) return replace(&style->against, value);
    if (!strcmp(name, "agent")) return add_agent(report, value);
    if (strcmp(name, "log")) return sa_fail(SA_INVALID, "--%s is not an option of a report", name);
    SA_TRY(choose(name, value, "none|x|y|xy", &chosen));
    style->log_x = chosen == 1 || chosen == 3;
    style->log_y = chosen >= 2;
    return SA_OK;
}
