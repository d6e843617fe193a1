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
static void add_known(sa_buffer *buffer, double number) {
    if (!isnan(number)) sa_buffer_number(buffer, number, 0);
}

static void add_number(sa_buffer *buffer, double number) {
    sa_buffer_text(buffer, ",");
    add_known(buffer, number);
}

static void add_who(sa_buffer *buffer, const sa_report_panel *panel, const sa_report_agent *agent) {
    add_text(buffer, panel->name);
    sa_buffer_text(buffer, ",");
    add_text(buffer, agent->label);
}

/* ---- table.csv ---- */

/* A row: what it is of, and the numbers. */
typedef struct line {
    const sa_report_panel *panel;
    const sa_report_agent *agent;
    const char *source;
    int kind;
    size_t runs, round;
    sa_mean mean;
    const sa_mean *difference; /* NULL: not an agent of ours */
    double ratio;
} line;

/* Each field once, its name and what it is, so that no number can get under another's name. OURS is not said
 * of what others published. */
#define FIELD_LIST(WORD, COUNT, NUMBER, OURS)                                                                \
    WORD(panel, row->panel->name)                                                                            \
    WORD(label, row->agent->label)                                                                           \
    WORD(algorithm, row->agent->options->algorithm)                                                          \
    WORD(source, row->source)                                                                                \
    WORD(regret, KINDS[row->kind])                                                                           \
    COUNT(runs, row->runs)                                                                                   \
    COUNT(round, row->round)                                                                                 \
    NUMBER(mean, row->mean.mean)                                                                             \
    NUMBER(sd, row->mean.sd)                                                                                 \
    NUMBER(ci95_low, row->mean.low)                                                                          \
    NUMBER(ci95_high, row->mean.high)                                                                        \
    OURS(difference, row->difference->mean)                                                                  \
    OURS(difference_low, row->difference->low)                                                               \
    OURS(difference_high, row->difference->high)                                                             \
    OURS(seconds_per_run, row->agent->seconds)                                                               \
    OURS(peak_bytes, row->agent->peak_bytes)                                                                 \
    OURS(diverged_trainings, row->agent->diverged_trainings)                                                 \
    NUMBER(published_by_ours, row->ratio)                                                                    \
    OURS(certificate, row->agent->certificate)                                                               \
    NUMBER(worst, row->mean.worst)                                                                           \
    WORD(against, row->difference ? row->panel->agents[row->agent->against].label : "")                      \
    WORD(display, row->agent->name)

#define ADD_WORD(name, text)                                                                                 \
    static void add_##name(sa_buffer *buffer, const line *row) { add_text(buffer, text); }
#define ADD_COUNT(name, count)                                                                               \
    static void add_##name(sa_buffer *buffer, const line *row) { sa_buffer_format(buffer, "%zu", count); }
#define ADD_NUMBER(name, number)                                                                             \
    static void add_##name(sa_buffer *buffer, const line *row) { add_known(buffer, number); }
#define ADD_OURS(name, number) ADD_NUMBER(name, row->difference ? (double)(number) : NAN)
FIELD_LIST(ADD_WORD, ADD_COUNT, ADD_NUMBER, ADD_OURS)

#define ENTRY(name, value) {#name, add_##name},
static const struct {
    const char *name;
    void (*add)(sa_buffer *buffer, const line *row);
} FIELDS[] = {FIELD_LIST(ENTRY, ENTRY, ENTRY, ENTRY)};
enum { FIELD_COUNT = sizeof FIELDS / sizeof *FIELDS };

static void add_row(sa_buffer *buffer, const line *row) {
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        sa_buffer_text(buffer, i ? "," : "");
        FIELDS[i].add(buffer, row);
    }
    sa_buffer_text(buffer, "\n");
}

static line published_row(const sa_report_panel *panel, const sa_report_agent *agent) {
    const sa_curve *curve = &agent->published->curve;
    int shown = sa_panel_shown(panel);
    size_t end = 0;
    sa_published_end(panel, agent->published, &end);
    return (line){.panel = panel,
                  .agent = agent,
                  .source = "published",
                  .kind = shown,
                  .runs = agent->published->runs,
                  .round = curve->round[end],
                  .mean = sa_mean_of(curve->mean[end], curve->sd[end], agent->published->runs),
                  .ratio = curve->mean[end] / sa_mean_at(agent, shown, curve->round[end])};
}

void sa_table_csv(const sa_report *report, sa_buffer *buffer) {
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        sa_buffer_text(buffer, i ? "," : "");
        sa_buffer_text(buffer, FIELDS[i].name);
    }
    sa_buffer_text(buffer, "\n");
    for (size_t p = 0; p < report->panel_count; p++) {
        const sa_report_panel *panel = &report->panels[p];
        for (size_t i = 0; i < panel->agent_count; i++) {
            const sa_report_agent *agent = &panel->agents[i];
            for (int kind = 0; kind < sa_panel_kinds(panel); kind++)
                add_row(buffer, &(line){.panel = panel,
                                        .agent = agent,
                                        .source = "ours",
                                        .kind = kind,
                                        .runs = agent->runs,
                                        .round = agent->rounds,
                                        .mean = agent->final[kind],
                                        .difference = &agent->difference[kind],
                                        .ratio = NAN});
            if (!agent->published) continue;
            line published = published_row(panel, agent);
            add_row(buffer, &published);
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
