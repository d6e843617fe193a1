/* The numbers for other programs: table.csv and curves.csv, with both kinds of regret, and clicks where there
 * are any. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/report.h"

static const char *const KINDS[SA_REPORT_KINDS] = {"expected", "realised", "clicks"};

/* In quotes where the text has a comma, a quote or a line's end (RFC 4180). */
static void add_text(sa_buffer *buffer, const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        sa_buffer_text(buffer, text);
        return;
    }
    sa_buffer_text(buffer, "\"");
    for (; *text; text++) {
        if (*text == '"') sa_buffer_text(buffer, "\"");
        sa_buffer_bytes(buffer, text, 1);
    }
    sa_buffer_text(buffer, "\"");
}

/* An empty field for what is not known, such as what one run cannot tell. */
static void add_number(sa_buffer *buffer, double number) {
    sa_buffer_text(buffer, ",");
    if (!isnan(number)) sa_buffer_number(buffer, number, 0);
}

static void add_mean(sa_buffer *buffer, const sa_mean *mean) {
    add_number(buffer, mean->mean);
    add_number(buffer, mean->sd);
    add_number(buffer, mean->low);
    add_number(buffer, mean->high);
}

static void add_who(sa_buffer *buffer, const sa_report_panel *panel, const sa_report_agent *agent) {
    add_text(buffer, panel->name);
    sa_buffer_text(buffer, ",");
    add_text(buffer, agent->label);
}

/* ---- table.csv ---- */

static void add_row(sa_buffer *buffer, const sa_report_panel *panel, const sa_report_agent *agent, int kind) {
    const sa_mean *difference = &agent->difference[kind];
    add_who(buffer, panel, agent);
    sa_buffer_text(buffer, ",");
    add_text(buffer, agent->options->algorithm);
    sa_buffer_format(buffer, ",ours,%s,%zu,%zu", KINDS[kind], agent->runs, agent->rounds);
    add_mean(buffer, &agent->final[kind]);
    add_number(buffer, difference->mean);
    add_number(buffer, difference->low);
    add_number(buffer, difference->high);
    add_number(buffer, agent->seconds);
    sa_buffer_format(buffer, ",%" PRIu64 ",%" PRIu64 ",", agent->peak_bytes, agent->diverged_trainings);
    add_number(buffer, agent->certificate);
    sa_buffer_text(buffer, "\n");
}

static void add_published(sa_buffer *buffer, const sa_report_panel *panel, const sa_report_agent *agent) {
    const sa_curve *curve = &agent->published->curve;
    int shown = sa_panel_shown(panel);
    size_t end = 0;
    sa_published_end(panel, agent->published, &end);
    sa_mean mean = sa_mean_of(curve->mean[end], curve->sd[end], agent->published->runs);
    add_who(buffer, panel, agent);
    sa_buffer_text(buffer, ",");
    add_text(buffer, agent->options->algorithm);
    sa_buffer_format(buffer, ",published,%s,%zu,%zu", KINDS[shown], agent->published->runs,
                     curve->round[end]);
    add_mean(buffer, &mean);
    sa_buffer_text(buffer, ",,,,,,");
    add_number(buffer, mean.mean / sa_mean_at(agent, shown, curve->round[end]));
    sa_buffer_text(buffer, ",\n");
}

void sa_table_csv(const sa_report *report, sa_buffer *buffer) {
    sa_buffer_text(buffer,
                   "panel,label,algorithm,source,regret,runs,round,mean,sd,ci95_low,ci95_high,difference,"
                   "difference_low,difference_high,seconds_per_run,peak_bytes,diverged_trainings,"
                   "published_by_ours,certificate\n");
    for (size_t p = 0; p < report->panel_count; p++) {
        const sa_report_panel *panel = &report->panels[p];
        for (size_t i = 0; i < panel->agent_count; i++) {
            const sa_report_agent *agent = &panel->agents[i];
            for (int kind = 0; kind < sa_panel_kinds(panel); kind++) add_row(buffer, panel, agent, kind);
            if (agent->published) add_published(buffer, panel, agent);
        }
    }
}

/* ---- curves.csv ---- */

static void add_curve(sa_buffer *buffer, const sa_report_panel *panel, const sa_report_agent *agent,
                      int kind) {
    const sa_curve *curve = &agent->curve[kind];
    for (size_t i = 0; i < curve->count; i++) {
        add_who(buffer, panel, agent);
        sa_buffer_format(buffer, ",%s,%zu", KINDS[kind], curve->round[i]);
        add_number(buffer, curve->mean[i]);
        add_number(buffer, curve->sd[i]);
        sa_buffer_text(buffer, "\n");
    }
}

void sa_curves_csv(const sa_report *report, sa_buffer *buffer) {
    sa_buffer_text(buffer, "panel,label,regret,round,mean,sd\n");
    for (size_t p = 0; p < report->panel_count; p++)
        for (size_t i = 0; i < report->panels[p].agent_count; i++)
            for (int kind = 0; kind < sa_panel_kinds(&report->panels[p]); kind++)
                add_curve(buffer, &report->panels[p], &report->panels[p].agents[i], kind);
}
