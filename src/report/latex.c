/* table.tex: the tables for a paper, with booktabs; \input it. The least mean regret is bold. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "report/report.h"
#include <superarm/superarm.h>

/* Those that a page is wide enough for, unless --columns chooses. */
static const sa_cell USUAL[] = {SA_CELL_AGENT,
                                SA_CELL_RUNS,
                                SA_CELL_MEAN,
                                SA_CELL_SD,
                                SA_CELL_INTERVAL,
                                SA_CELL_DIFFERENCE,
                                SA_CELL_DIFFERENCE_INTERVAL,
                                SA_CELL_STANDING};

/* Shorter titles than those of the terminal, where the caption says the rest; NULL: the same. */
static const char *const TITLES[SA_CELL_COUNT] = {
    [SA_CELL_MEAN] = "mean", [SA_CELL_DIFFERENCE] = "difference"};

/* What means something to LaTeX, and the letters of our titles that its fonts have in formulas only. */
void sa_latex_text(sa_buffer *buffer, const char *text) {
    static const char *const replaced[][2] = {{"\\", "\\textbackslash{}"},
                                              {"{", "\\{"},
                                              {"}", "\\}"},
                                              {"$", "\\$"},
                                              {"&", "\\&"},
                                              {"#", "\\#"},
                                              {"%", "\\%"},
                                              {"_", "\\_"},
                                              {"^", "\\textasciicircum{}"},
                                              {"~", "\\textasciitilde{}"},
                                              {"\u00b2", "$^2$"},
                                              {"\u03c0", "$\\pi$"},
                                              {"<", "\\textless{}"},
                                              {">", "\\textgreater{}"},
                                              {"|", "\\textbar{}"},
                                              {"\"", "\\textquotedbl{}"}};
    while (*text) {
        size_t i = 0, count = sizeof replaced / sizeof *replaced;
        while (i < count && strncmp(text, replaced[i][0], strlen(replaced[i][0]))) i++;
        if (i < count)
            sa_buffer_text(buffer, replaced[i][1]);
        else
            sa_buffer_bytes(buffer, text, 1);
        text += i < count ? strlen(replaced[i][0]) : 1;
    }
}

/* The sign of a negative number is one of mathematics. */
static void add_cell(sa_buffer *buffer, const char *text, bool words) {
    if (words || !strpbrk(text, "0123456789")) {
        sa_latex_text(buffer, strcmp(text, "-") ? text : "--");
        return;
    }
    const char *to = strstr(text, " to ");
    if (!to) {
        sa_buffer_format(buffer, "$%s$", text);
        return;
    }
    sa_buffer_format(buffer, "$%.*s$ to $%s$", (int)(to - text), text, to + 4);
}

static bool is_words(sa_cell cell) {
    if (cell < SA_CELL_COLUMN || cell == SA_CELL_RATIO)
        return cell == SA_CELL_AGENT || cell == SA_CELL_STANDING || cell == SA_CELL_MARKS;
    return sa_columns[cell - SA_CELL_COLUMN].kind == SA_KIND_OF_BYTES; /* with their unit */
}

static size_t best_row(const sa_report_panel *panel, const sa_table *table) {
    size_t row = 0, best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < panel->agent_count; i++) {
        double mean = panel->agents[i].totals.final[sa_panel_shown(panel)].mean;
        for (row++; row < table->rows && table->published[row];) row++;
        if (mean < least) {
            least = mean;
            best = row;
        }
    }
    return best;
}

static void add_row(sa_buffer *buffer, const sa_table *table, size_t row, bool bold) {
    for (size_t i = 0; i < table->columns; i++) {
        sa_cell column = table->shown[i];
        bool emphasised = bold && column == SA_CELL_MEAN;
        sa_buffer_text(buffer, i ? " & " : "");
        if (emphasised) sa_buffer_text(buffer, "{\\boldmath");
        add_cell(buffer, table->cells[row][column], is_words(column));
        if (emphasised) sa_buffer_text(buffer, "}");
    }
    sa_buffer_text(buffer, " \\\\\n");
}

/* The columns' alignment and titles. */
static void add_head(sa_buffer *buffer, const sa_table *table) {
    sa_buffer_text(buffer, "\\begin{tabular}{");
    for (size_t i = 0; i < table->columns; i++)
        sa_buffer_text(buffer, table->shown[i] == SA_CELL_AGENT ? "l" : "r");
    sa_buffer_text(buffer, "}\n\\toprule\n");
    for (size_t i = 0; i < table->columns; i++) {
        const char *title = TITLES[table->shown[i]];
        sa_buffer_text(buffer, i ? " & " : "");
        sa_latex_text(buffer, title ? title : table->cells[0][table->shown[i]]);
    }
    sa_buffer_text(buffer, " \\\\\n\\midrule\n");
}

static bool shows(const sa_table *table, sa_cell cell) {
    for (size_t i = 0; i < table->columns; i++)
        if (table->shown[i] == cell) return true;
    return false;
}

/* What the columns that are there are. */
static void add_meaning(sa_buffer *buffer, const sa_report_panel *panel, const sa_table *table) {
    bool intervals = shows(table, SA_CELL_INTERVAL) || shows(table, SA_CELL_DIFFERENCE_INTERVAL);
    bool tests = shows(table, SA_CELL_P) || shows(table, SA_CELL_HOLM) || shows(table, SA_CELL_MARKS);
    bool differences = shows(table, SA_CELL_DIFFERENCE) || shows(table, SA_CELL_DIFFERENCE_INTERVAL);
    sa_buffer_format(buffer, ": %s regret", sa_panel_regret(panel));
    sa_panel_rounds_text(panel, buffer);
    if (intervals) sa_buffer_text(buffer, ", with Student's 95\\% intervals");
    if (differences || tests) {
        sa_buffer_text(buffer, differences ? "; differences, run by run, to "
                                           : "; p-values of differences, run by run, to ");
        sa_latex_text(buffer, sa_panel_against(panel));
    }
}

static sa_status add_panel(sa_buffer *buffer, const sa_report *report, const sa_report_panel *panel,
                           const char *title) {
    sa_table table;
    SA_TRY(sa_table_make(report, panel, USUAL, sizeof USUAL / sizeof *USUAL, &table));
    size_t best = best_row(panel, &table);
    sa_buffer_text(buffer, "\\begin{table}\n\\centering\n\\caption{");
    sa_latex_text(buffer, *title ? title : panel->title);
    add_meaning(buffer, panel, &table);
    sa_buffer_text(buffer, ".}\n\\smallskip\\small\n\\setlength{\\tabcolsep}{4pt}\n");
    add_head(buffer, &table);
    for (size_t row = 1; row < table.rows; row++) add_row(buffer, &table, row, row == best);
    sa_buffer_text(buffer, "\\bottomrule\n\\end{tabular}\n");
    if (*panel->note) {
        sa_buffer_text(buffer, "\n\\footnotesize Regret is, ");
        sa_latex_text(buffer, panel->note);
        sa_buffer_text(buffer, ".\n");
    }
    if (*panel->missing) {
        sa_buffer_text(buffer, "\n\\footnotesize Missing: ");
        sa_latex_text(buffer, panel->missing);
        sa_buffer_text(buffer, ".\n");
    }
    sa_buffer_text(buffer, "\\end{table}\n");
    sa_table_clear(&table);
    return buffer->status;
}

/* ---- one table of all panels ---- */

/* The row of this name; 0: the panel has none. */
static size_t row_named(const sa_table *table, const char *name) {
    for (size_t row = 1; row < table->rows; row++)
        if (!strcmp(table->cells[row][SA_CELL_AGENT], name)) return row;
    return 0;
}

/* Panels side by side under their titles: \multicolumn, then the columns' own. */
static void add_joint_head(sa_buffer *buffer, const sa_report *report, const sa_table *tables) {
    size_t at = 2;
    sa_buffer_text(buffer, "\\begin{tabular}{l");
    for (size_t p = 0; p < report->panel_count; p++)
        for (size_t i = 1; i < tables[p].columns; i++) sa_buffer_text(buffer, "r");
    sa_buffer_text(buffer, "}\n\\toprule\n");
    for (size_t p = 0; p < report->panel_count; p++) {
        sa_buffer_format(buffer, " & \\multicolumn{%zu}{c}{", tables[p].columns - 1);
        sa_latex_text(buffer, report->panels[p].title);
        sa_buffer_text(buffer, "}");
    }
    sa_buffer_text(buffer, " \\\\\n");
    for (size_t p = 0; p < report->panel_count; at += tables[p++].columns - 1)
        sa_buffer_format(buffer, "\\cmidrule(lr){%zu-%zu}", at, at + tables[p].columns - 2);
    sa_buffer_text(buffer, "\nagent");
    for (size_t p = 0; p < report->panel_count; p++)
        for (size_t i = 1; i < tables[p].columns; i++) {
            const char *title = TITLES[tables[p].shown[i]];
            sa_buffer_text(buffer, " & ");
            sa_latex_text(buffer, title ? title : tables[p].cells[0][tables[p].shown[i]]);
        }
    sa_buffer_text(buffer, " \\\\\n\\midrule\n");
}

static void add_joint_row(sa_buffer *buffer, const sa_report *report, const sa_table *tables,
                          const char *name) {
    sa_latex_text(buffer, name);
    for (size_t p = 0; p < report->panel_count; p++) {
        size_t row = row_named(&tables[p], name), best = best_row(&report->panels[p], &tables[p]);
        for (size_t i = 1; i < tables[p].columns; i++) {
            sa_cell column = tables[p].shown[i];
            bool bold = row && row == best && column == SA_CELL_MEAN;
            sa_buffer_text(buffer, bold ? " & {\\boldmath" : " & ");
            add_cell(buffer, row ? tables[p].cells[row][column] : "-", is_words(column));
            if (bold) sa_buffer_text(buffer, "}");
        }
    }
    sa_buffer_text(buffer, " \\\\\n");
}

static sa_status add_joint(sa_buffer *buffer, const sa_report *report) {
    static const sa_cell usual[] = {SA_CELL_AGENT, SA_CELL_MEAN, SA_CELL_SD};
    sa_table *tables; /* (panels) */
    sa_status status = SA_OK;
    SA_TRY(sa_alloc_array(report->panel_count, sizeof *tables, &tables));
    for (size_t p = 0; status == SA_OK && p < report->panel_count; p++)
        status = sa_table_make(report, &report->panels[p], usual, sizeof usual / sizeof *usual, &tables[p]);
    if (status == SA_OK) {
        sa_buffer_text(buffer, "% all panels in one table, two columns of a paper "
                               "wide\n\\begin{table*}\n\\centering\n\\caption{");
        sa_latex_text(buffer, *report->style.title ? report->style.title : "Regret");
        sa_buffer_format(
            buffer, " (%s), at the end of the runs.}\n\\smallskip\\small\n\\setlength{\\tabcolsep}{4pt}\n",
            sa_panel_regret(&report->panels[0]));
        add_joint_head(buffer, report, tables);
        for (size_t p = 0; p < report->panel_count; p++)
            for (size_t row = 1; row < tables[p].rows; row++) {
                const char *name = tables[p].cells[row][SA_CELL_AGENT];
                bool told = false; /* in the row that an earlier panel has of it */
                for (size_t before = 0; before < p; before++) told = told || row_named(&tables[before], name);
                if (!told) add_joint_row(buffer, report, tables, name);
            }
        sa_buffer_text(buffer, "\\bottomrule\n\\end{tabular}\n\\end{table*}\n");
    }
    for (size_t p = 0; p < report->panel_count; p++) sa_table_clear(&tables[p]);
    sa_free(tables);
    return status == SA_OK ? buffer->status : status;
}

sa_status sa_table_latex(const sa_report *report, sa_buffer *buffer) {
    sa_buffer_format(buffer, "%% Superarm %s; needs \\usepackage{booktabs}\n", sa_version());
    for (size_t i = 0; i < report->panel_count; i++)
        SA_TRY(add_panel(buffer, report, &report->panels[i],
                         report->panel_count == 1 ? report->style.title : ""));
    if (report->panel_count > 1) SA_TRY(add_joint(buffer, report));
    return buffer->status;
}
