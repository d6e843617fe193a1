/* table.tex: the tables for a paper, with booktabs; \input it. The least mean regret is bold. */
#include <math.h>
#include <string.h>

#include "report/report.h"

/* Those that a page is wide enough for, unless --columns chooses. */
static const sa_column USUAL[] = {SA_COLUMN_AGENT,
                                  SA_COLUMN_RUNS,
                                  SA_COLUMN_MEAN,
                                  SA_COLUMN_SD,
                                  SA_COLUMN_INTERVAL,
                                  SA_COLUMN_DIFFERENCE,
                                  SA_COLUMN_DIFFERENCE_INTERVAL,
                                  SA_COLUMN_STANDING};

/* Shorter titles than those of the terminal, where the caption says the rest; NULL: the same. */
static const char *const TITLES[SA_COLUMN_COUNT] = {
    [SA_COLUMN_MEAN] = "mean", [SA_COLUMN_DIFFERENCE] = "difference"};

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

static size_t best_row(const sa_report_panel *panel, const sa_table *table) {
    size_t row = 0, best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < panel->agent_count; i++) {
        double mean = panel->agents[i].final[sa_panel_shown(panel)].mean;
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
        sa_column column = table->shown[i];
        bool emphasised = bold && column == SA_COLUMN_MEAN;
        sa_buffer_text(buffer, i ? " & " : "");
        if (emphasised) sa_buffer_text(buffer, "{\\boldmath");
        add_cell(buffer, table->cells[row][column],
                 column == SA_COLUMN_AGENT || column == SA_COLUMN_STANDING || column == SA_COLUMN_MEMORY);
        if (emphasised) sa_buffer_text(buffer, "}");
    }
    sa_buffer_text(buffer, " \\\\\n");
}

/* The columns' alignment and titles. */
static void add_head(sa_buffer *buffer, const sa_table *table) {
    sa_buffer_text(buffer, "\\begin{tabular}{");
    for (size_t i = 0; i < table->columns; i++)
        sa_buffer_text(buffer, table->shown[i] == SA_COLUMN_AGENT ? "l" : "r");
    sa_buffer_text(buffer, "}\n\\toprule\n");
    for (size_t i = 0; i < table->columns; i++) {
        const char *title = TITLES[table->shown[i]];
        sa_buffer_text(buffer, i ? " & " : "");
        sa_latex_text(buffer, title ? title : table->cells[0][table->shown[i]]);
    }
    sa_buffer_text(buffer, " \\\\\n\\midrule\n");
}

static sa_status add_panel(sa_buffer *buffer, const sa_report *report, const sa_report_panel *panel,
                           const char *title) {
    sa_table table;
    SA_TRY(sa_table_make(report, panel, USUAL, sizeof USUAL / sizeof *USUAL, &table));
    size_t best = best_row(panel, &table);
    sa_buffer_text(buffer, "\\begin{table}\n\\centering\n\\caption{");
    sa_latex_text(buffer, *title ? title : panel->title);
    sa_buffer_format(
        buffer, ": %s regret after %zu rounds, with Student's 95\\%% intervals; differences, run by run, to ",
        sa_panel_regret(panel), panel->rounds);
    sa_latex_text(buffer, sa_panel_against(panel));
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

sa_status sa_table_latex(const sa_report *report, sa_buffer *buffer) {
    sa_buffer_format(buffer, "%% Superarm %s; needs \\usepackage{booktabs}\n", sa_version());
    for (size_t i = 0; i < report->panel_count; i++)
        SA_TRY(add_panel(buffer, report, &report->panels[i],
                         report->panel_count == 1 ? report->style.title : ""));
    return buffer->status;
}
