/* One table for the terminal and the page: the same cells in both. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "report/report.h"

void sa_table_clear(sa_table *table) {
    for (size_t row = 0; row < table->rows; row++)
        for (size_t column = 0; column < SA_CELL_COUNT; column++) sa_free(table->cells[row][column]);
    sa_free(table->cells);
    sa_free(table->published);
    *table = (sa_table){0};
}

/* ---- cells ---- */

/* Takes what the buffer has as the text of a cell. */
static sa_status put(char **cell, sa_buffer *buffer) {
    sa_status status = buffer->status;
    if (status == SA_OK) status = sa_copy_text(buffer->text ? buffer->text : "", cell);
    sa_buffer_clear(buffer);
    return status;
}

static sa_status put_number(char **cell, double number, int digits) {
    sa_buffer buffer = {0};
    sa_buffer_number(&buffer, number, digits);
    return put(cell, &buffer);
}

/* So many decimals, whatever the locale's decimal point. */
static void add_fixed(sa_buffer *buffer, double number, int decimals) {
    char text[400];
    snprintf(text, sizeof text, "%.*f", decimals, number);
    bool point = false;
    for (const char *c = text; *c; c++) {
        bool digit = (*c >= '0' && *c <= '9') || *c == '-';
        if (digit) sa_buffer_bytes(buffer, c, 1);
        if (!digit && !point) sa_buffer_text(buffer, ".");
        point = point || !digit;
    }
}

/* A dash for what is not known, such as what one run cannot tell. */
static sa_status put_fixed(char **cell, double number, int decimals) {
    sa_buffer buffer = {0};
    if (isnan(number)) return sa_copy_text("-", cell);
    add_fixed(&buffer, number, decimals);
    return put(cell, &buffer);
}

static sa_status put_interval(char **cell, const sa_mean *mean, int decimals) {
    sa_buffer buffer = {0};
    if (isnan(mean->low)) return sa_copy_text("-", cell);
    add_fixed(&buffer, mean->low, decimals);
    sa_buffer_text(&buffer, " to ");
    add_fixed(&buffer, mean->high, decimals);
    return put(cell, &buffer);
}

/* The same in the whole table: five digits of the largest mean, and never more than eight decimals. */
static int table_decimals(const sa_report_panel *panel) {
    double largest = 0;
    int decimals = 4;
    for (size_t i = 0; i < panel->agent_count; i++)
        largest = fmax(largest, fabs(panel->agents[i].totals.final[sa_panel_shown(panel)].mean));
    for (; largest >= 10 && decimals > 0; largest /= 10) decimals--;
    for (; largest > 0 && largest < 1 && decimals < 8; largest *= 10) decimals++;
    return decimals;
}

static sa_status put_memory(char **cell, uint64_t bytes) {
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    sa_buffer buffer = {0};
    double size = (double)bytes;
    int unit = 0;
    for (; size >= 1000 && unit < 4; unit++) size /= 1000;
    sa_buffer_number(&buffer, size < 1 ? 0 : size, 3);
    sa_buffer_format(&buffer, " %s", units[unit]);
    return put(cell, &buffer);
}

static sa_status put_column(char **cell, const sa_column *column, double number) {
    switch (column->kind) {
    case SA_KIND_OF_BYTES: return put_memory(cell, (uint64_t)number);
    case SA_KIND_OF_FACTOR: return put_fixed(cell, number, 3);
    case SA_KIND_OF_KEY:
    case SA_KIND_OF_COUNT: return put_fixed(cell, number, column->over == SA_OVER_MEAN);
    case SA_KIND_OF_NUMBER: return put_fixed(cell, number, 1);
    default: return put_number(cell, number, 3);
    }
}

static sa_status put_p(char **cell, double p) {
    return p < 0.00005 ? sa_copy_text("<0.0001", cell) : put_fixed(cell, p, 4);
}

/* ---- rows ---- */

const char *sa_report_column(size_t index) {
    for (sa_cell cell = 0; cell < SA_CELL_COUNT; cell++)
        if (*sa_cell_name(cell) && index-- == 0) return sa_cell_name(cell);
    return NULL;
}

const char *sa_cell_name(sa_cell cell) {
#define NAME_OF(enumerator, name) name,
    static const char *const names[] = {SA_CELL_LIST(NAME_OF)};
#undef NAME_OF
    if (cell == SA_CELL_RATIO) return "ratio";
    return cell < SA_CELL_COLUMN ? names[cell] : sa_columns[cell - SA_CELL_COLUMN].report;
}

const char *sa_significance_marks(double holm) {
    return holm < 0.001 ? "***" : holm < 0.01 ? "**" : holm < 0.05 ? "*" : "";
}

static sa_status titles(const sa_report_panel *panel, char **cells) {
    SA_TRY(sa_copy_text("agent", &cells[SA_CELL_AGENT]));
    SA_TRY(sa_copy_text("runs", &cells[SA_CELL_RUNS]));
    SA_TRY(sa_copy_text("mean regret", &cells[SA_CELL_MEAN]));
    SA_TRY(sa_copy_text("sd", &cells[SA_CELL_SD]));
    SA_TRY(sa_copy_text("95% interval", &cells[SA_CELL_INTERVAL]));
    SA_TRY(sa_copy_text("worst", &cells[SA_CELL_WORST]));
    SA_TRY(sa_format(&cells[SA_CELL_DIFFERENCE], "minus %s", sa_panel_against(panel)));
    SA_TRY(sa_copy_text("standing", &cells[SA_CELL_STANDING]));
    SA_TRY(sa_copy_text("95% interval", &cells[SA_CELL_DIFFERENCE_INTERVAL]));
    SA_TRY(sa_copy_text("clicks", &cells[SA_CELL_CLICKS]));
    SA_TRY(sa_copy_text("95% interval", &cells[SA_CELL_CLICKS_INTERVAL]));
    SA_TRY(sa_copy_text("p", &cells[SA_CELL_P]));
    SA_TRY(sa_copy_text("p (Holm)", &cells[SA_CELL_HOLM]));
    SA_TRY(sa_copy_text("marks", &cells[SA_CELL_MARKS]));
    for (size_t k = 0; k < SA_COLUMN_COUNT; k++)
        SA_TRY(sa_copy_text(sa_columns[k].title, &cells[SA_CELL_COLUMN + k]));
    return sa_copy_text("published / ours", &cells[SA_CELL_RATIO]);
}

static sa_status agent_row(const sa_report_panel *panel, const sa_report_agent *agent, int decimals,
                           char **cells) {
    int shown = sa_panel_shown(panel);
    const sa_mean *final = &agent->totals.final[shown], *difference = &agent->difference[shown];
    SA_TRY(sa_copy_text(agent->name, &cells[SA_CELL_AGENT]));
    SA_TRY(sa_format(&cells[SA_CELL_RUNS], "%zu", agent->of->runs));
    SA_TRY(put_fixed(&cells[SA_CELL_MEAN], final->mean, decimals));
    SA_TRY(put_fixed(&cells[SA_CELL_SD], final->sd, decimals));
    SA_TRY(put_interval(&cells[SA_CELL_INTERVAL], final, decimals));
    SA_TRY(put_fixed(&cells[SA_CELL_WORST], final->worst, decimals));
    if (agent != &panel->agents[agent->against]) {
        SA_TRY(put_fixed(&cells[SA_CELL_DIFFERENCE], difference->mean, decimals));
        SA_TRY(put_interval(&cells[SA_CELL_DIFFERENCE_INTERVAL], difference, decimals));
        SA_TRY(put_p(&cells[SA_CELL_P], agent->p[shown]));
        SA_TRY(put_p(&cells[SA_CELL_HOLM], agent->holm[shown]));
        SA_TRY(sa_copy_text(sa_significance_marks(agent->holm[shown]), &cells[SA_CELL_MARKS]));
    }
    if (agent->standing != SA_NO_STANDING)
        SA_TRY(sa_copy_text(agent->standing == SA_BEST ? "best" : "not worse", &cells[SA_CELL_STANDING]));
    if (sa_panel_tells(panel, SA_CURVE_CLICKS)) {
        SA_TRY(put_fixed(&cells[SA_CELL_CLICKS], agent->totals.final[SA_CURVE_CLICKS].mean, 1));
        SA_TRY(put_interval(&cells[SA_CELL_CLICKS_INTERVAL], &agent->totals.final[SA_CURVE_CLICKS], 1));
    }
    for (size_t k = 0; k < SA_COLUMN_COUNT; k++)
        SA_TRY(put_column(&cells[SA_CELL_COLUMN + k], &sa_columns[k], agent->totals.column[k]));
    return SA_OK;
}

static sa_status published_row(const sa_report_panel *panel, const sa_report_agent *agent, int decimals,
                               char **cells) {
    const sa_published *published = agent->published;
    const sa_curve *curve = &published->curve;
    size_t end = 0;
    sa_published_end(panel, published, &end);
    sa_mean mean = sa_mean_of(curve->mean[end], curve->sd[end], published->runs);
    double ours = sa_mean_at(agent, sa_panel_shown(panel), curve->round[end]);
    if (curve->round[end] == panel->rounds)
        SA_TRY(sa_format(&cells[SA_CELL_AGENT], "%s, published", sa_published_name(agent)));
    else
        SA_TRY(sa_format(&cells[SA_CELL_AGENT], "%s, published, round %zu", sa_published_name(agent),
                         curve->round[end]));
    SA_TRY(sa_format(&cells[SA_CELL_RUNS], "%zu", published->runs));
    SA_TRY(put_fixed(&cells[SA_CELL_MEAN], mean.mean, decimals));
    SA_TRY(put_fixed(&cells[SA_CELL_SD], mean.sd, decimals));
    if (published->runs > 1) SA_TRY(put_interval(&cells[SA_CELL_INTERVAL], &mean, decimals));
    return put_fixed(&cells[SA_CELL_RATIO], mean.mean / ours, 3);
}

/* Has a column something to say of this panel? */
static bool is_told(const sa_report_panel *panel, sa_cell cell) {
    if (cell >= SA_CELL_COLUMN && cell < SA_CELL_RATIO) {
        sa_column_shown shown = sa_columns[cell - SA_CELL_COLUMN].shown;
        return shown == SA_SHOWN_ALWAYS || (shown == SA_SHOWN_INEXACT && sa_panel_is_certified(panel));
    }
    switch (cell) {
    case SA_CELL_P:
    case SA_CELL_HOLM:
    case SA_CELL_MARKS: return false; /* those who ask for them know how many comparisons there are */
    case SA_CELL_STANDING: return sa_panel_is_sweep(panel);
    case SA_CELL_CLICKS:
    case SA_CELL_CLICKS_INTERVAL: return sa_panel_tells(panel, SA_CURVE_CLICKS);
    case SA_CELL_RATIO:
        for (size_t i = 0; i < panel->agent_count; i++)
            if (panel->agents[i].published) return true;
        return false;
    default: return true;
    }
}

static void choose_columns(const sa_report *report, const sa_report_panel *panel, const sa_cell *usual,
                           size_t count, sa_table *table) {
    const sa_style *style = &report->style;
    if (style->column_count > 0) {
        memcpy(table->shown, style->columns, sizeof table->shown);
        table->columns = style->column_count;
        return;
    }
    for (size_t i = 0; i < (usual ? count : SA_CELL_COUNT); i++) {
        sa_cell cell = usual ? usual[i] : (sa_cell)i;
        if (is_told(panel, cell)) table->shown[table->columns++] = cell;
    }
}

static sa_status fill(const sa_report_panel *panel, sa_table *table) {
    int decimals = table_decimals(panel);
    SA_TRY(titles(panel, table->cells[0]));
    table->rows = 1;
    for (size_t i = 0; i < panel->agent_count; i++) {
        const sa_report_agent *agent = &panel->agents[i];
        SA_TRY(agent_row(panel, agent, decimals, table->cells[table->rows++]));
        if (!agent->published) continue;
        table->published[table->rows] = true;
        SA_TRY(published_row(panel, agent, decimals, table->cells[table->rows++]));
    }
    for (size_t row = 0; row < table->rows; row++)
        for (size_t column = 0; column < SA_CELL_COUNT; column++)
            if (!table->cells[row][column]) SA_TRY(sa_copy_text("", &table->cells[row][column]));
    return SA_OK;
}

sa_status sa_table_make(const sa_report *report, const sa_report_panel *panel, const sa_cell *usual,
                        size_t count, sa_table *out) {
    sa_table table = {0};
    size_t most = 2 * panel->agent_count + 1;
    sa_status status = sa_alloc_array(most, sizeof *table.cells, &table.cells);
    if (status == SA_OK) status = sa_alloc_array(most, sizeof *table.published, &table.published);
    if (status == SA_OK) status = fill(panel, &table);
    if (status == SA_OK) {
        choose_columns(report, panel, usual, count, &table);
        *out = table;
        return SA_OK;
    }
    table.rows = table.cells ? most : 0;
    sa_table_clear(&table);
    return status;
}

/* ---- as text ---- */

/* Characters, not bytes. */
static size_t length(const char *text) {
    size_t count = 0;
    for (; *text; text++) count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

static void add_cell(sa_buffer *buffer, const char *text, size_t width, bool left) {
    size_t blanks = width - length(text);
    if (left) sa_buffer_text(buffer, text);
    for (size_t i = 0; i < blanks; i++) sa_buffer_text(buffer, " ");
    if (!left) sa_buffer_text(buffer, text);
}

static void add_table(sa_buffer *buffer, const sa_table *table) {
    size_t width[SA_CELL_COUNT] = {0};
    for (size_t row = 0; row < table->rows; row++)
        for (size_t i = 0; i < table->columns; i++) {
            size_t needed = length(table->cells[row][table->shown[i]]);
            if (needed > width[i]) width[i] = needed;
        }
    for (size_t row = 0; row < table->rows; row++) {
        for (size_t i = 0; i < table->columns; i++) {
            if (i > 0) sa_buffer_text(buffer, "  ");
            add_cell(buffer, table->cells[row][table->shown[i]], width[i], table->shown[i] == SA_CELL_AGENT);
        }
        sa_buffer_text(buffer, "\n");
    }
}

/* What the numbers do not say. */
static void add_notes(sa_buffer *buffer, const sa_report_panel *panel) {
    for (size_t i = 0; i < panel->agent_count; i++) {
        if (!panel->agents[i].totals.alike) continue;
        sa_buffer_text(buffer, panel->agents[i].name);
        sa_buffer_format(buffer, ": its %zu runs are all alike, so they count as one, without an interval\n",
                         panel->agents[i].of->runs);
    }
    if (*panel->note) {
        sa_buffer_text(buffer, panel->note);
        sa_buffer_text(buffer, "\n");
    }
    if (!*panel->missing) return;
    sa_buffer_text(buffer, "missing: ");
    sa_buffer_text(buffer, panel->missing);
    sa_buffer_text(buffer, "\n");
}

sa_status sa_table_text(const sa_report *report, sa_buffer *buffer) {
    for (size_t i = 0; i < report->panel_count; i++) {
        const sa_report_panel *panel = &report->panels[i];
        sa_table table;
        SA_TRY(sa_table_make(report, panel, NULL, 0, &table));
        if (i > 0) sa_buffer_text(buffer, "\n");
        sa_buffer_text(buffer, panel->title);
        sa_buffer_format(buffer, ": %s regret", sa_panel_regret(panel));
        sa_panel_rounds_text(panel, buffer);
        sa_buffer_text(buffer, "\n");
        add_table(buffer, &table);
        sa_table_clear(&table);
        add_notes(buffer, panel);
        if (sa_panel_is_sweep(panel)) sa_sweep_note(panel, buffer);
        SA_TRY(sa_judge_text(report, panel, buffer));
    }
    return buffer->status;
}
