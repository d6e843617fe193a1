/* The numbers for other programs: table.csv and curves.csv, with both kinds of regret, and clicks where there
 * are any. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/report.h"

/* The curves that are told of. */
static const char *const KINDS[SA_CURVE_COUNT] = {
    [SA_CURVE_EXPECTED] = "expected", [SA_CURVE_REALISED] = "realised", [SA_CURVE_CLICKS] = "clicks"};

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
    add_text(buffer, agent->of->label);
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
    double p, holm;
    double ratio;
} line;

/* Each field once, its name and what it is, so that no number can get under another's name. OURS is not said
 * of what others published, nor are COLUMNS, those of runs that are shown in this way: new ones come last. */
#define FIELD_LIST(WORD, COUNT, NUMBER, OURS, COLUMNS)                                                       \
    WORD(panel, row->panel->name)                                                                            \
    WORD(label, row->agent->of->label)                                                                       \
    WORD(algorithm, row->agent->of->options->algorithm)                                                      \
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
    COLUMNS(usual, SA_SHOWN_ALWAYS)                                                                          \
    NUMBER(published_by_ours, row->ratio)                                                                    \
    COLUMNS(inexact, SA_SHOWN_INEXACT)                                                                       \
    NUMBER(worst, row->mean.worst)                                                                           \
    WORD(against, row->difference ? row->panel->agents[row->agent->against].of->label : "")                  \
    WORD(display, row->agent->name)                                                                          \
    COLUMNS(named, SA_SHOWN_NAMED)                                                                           \
    OURS(p, row->p)                                                                                          \
    OURS(p_holm, row->holm)

#define ADD_WORD(name, text)                                                                                 \
    static void add_##name(sa_buffer *buffer, const line *row) { add_text(buffer, text); }
#define ADD_COUNT(name, count)                                                                               \
    static void add_##name(sa_buffer *buffer, const line *row) { sa_buffer_format(buffer, "%zu", count); }
#define ADD_NUMBER(name, number)                                                                             \
    static void add_##name(sa_buffer *buffer, const line *row) { add_known(buffer, number); }
#define ADD_OURS(name, number) ADD_NUMBER(name, row->difference ? (double)(number) : NAN)
#define ADD_NONE(name, shown)
FIELD_LIST(ADD_WORD, ADD_COUNT, ADD_NUMBER, ADD_OURS, ADD_NONE)

/* A field, or the columns of runs that are shown in one way. */
#define FIELD(name, value) {#name, add_##name, 0},
#define COLUMNS(name, shown) {NULL, NULL, shown},
static const struct {
    const char *name;
    void (*add)(sa_buffer *buffer, const line *row);
    sa_column_shown shown;
} FIELDS[] = {FIELD_LIST(FIELD, FIELD, FIELD, FIELD, COLUMNS)};
enum { FIELD_COUNT = sizeof FIELDS / sizeof *FIELDS };

/* The row, or, where it is NULL, the names. */
static void add_row(sa_buffer *buffer, const line *row) {
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (FIELDS[i].name) sa_buffer_text(buffer, i ? "," : "");
        if (FIELDS[i].name && row) FIELDS[i].add(buffer, row);
        if (FIELDS[i].name && !row) sa_buffer_text(buffer, FIELDS[i].name);
        for (size_t k = 0; !FIELDS[i].name && k < SA_COLUMN_COUNT; k++) {
            if (sa_columns[k].shown != FIELDS[i].shown) continue;
            if (row)
                add_number(buffer, row->difference ? row->agent->totals.column[k] : NAN);
            else
                sa_buffer_format(buffer, ",%s", sa_columns[k].json);
        }
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
    add_row(buffer, NULL);
    for (size_t p = 0; p < report->panel_count; p++) {
        const sa_report_panel *panel = &report->panels[p];
        for (size_t i = 0; i < panel->agent_count; i++) {
            const sa_report_agent *agent = &panel->agents[i];
            for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
                if (sa_panel_tells(panel, kind))
                    add_row(buffer, &(line){.panel = panel,
                                            .agent = agent,
                                            .source = "ours",
                                            .kind = kind,
                                            .runs = agent->of->runs,
                                            .round = agent->of->rounds,
                                            .mean = agent->totals.final[kind],
                                            .difference = &agent->difference[kind],
                                            .p = agent->p[kind],
                                            .holm = agent->holm[kind],
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
            for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
                if (sa_panel_tells(&report->panels[p], kind))
                    add_curve(buffer, &report->panels[p], &report->panels[p].agents[i], kind);
}
