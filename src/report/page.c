/* report.html: one file with everything in it, for the screen, the phone and paper. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "report/report.h"
#include <superarm/superarm.h>

void sa_html_text(sa_buffer *buffer, const char *text) {
    for (; *text; text++) {
        switch (*text) {
        case '&': sa_buffer_text(buffer, "&amp;"); break;
        case '<': sa_buffer_text(buffer, "&lt;"); break;
        case '>': sa_buffer_text(buffer, "&gt;"); break;
        case '"': sa_buffer_text(buffer, "&quot;"); break;
        case '\'': sa_buffer_text(buffer, "&#39;"); break;
        default: sa_buffer_bytes(buffer, text, 1);
        }
    }
}

/* ---- figures ---- */

static bool starts(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }

/* Puts the panel's number into names that must be unique in the page, and leaves out what only a file
 * needs. */
static void add_svg(sa_buffer *buffer, const char *svg, size_t panel) {
    static const char *const names[] = {" id='", " id=\"", "href='#", "href=\"#", "url(#"};
    const char *start = strstr(svg, "<svg");
    for (const char *c = start ? start : ""; *c;) {
        if (starts(c, "xmlns")) {
            const char *quote = strchr(c, '"'), *end = quote ? strchr(quote + 1, '"') : NULL;
            if (end) {
                c = end + 1;
                continue;
            }
        }
        size_t size = 1, i = 0;
        while (i < sizeof names / sizeof *names && !starts(c, names[i])) i++;
        bool named = i < sizeof names / sizeof *names;
        if (named) size = strlen(names[i]);
        sa_buffer_bytes(buffer, c, size);
        if (named) sa_buffer_format(buffer, "p%zu-", panel + 1);
        c += size;
    }
}

static void add_legend(sa_buffer *buffer, const sa_report_panel *panel) {
    for (size_t i = 0; i < panel->agent_count; i++)
        for (int published = sa_agent_is_drawn(panel, i) ? 0 : 2;
             published <= (panel->agents[i].published != NULL); published++) {
            sa_buffer_text(buffer, "<span>");
            sa_figure_swatch(buffer, panel, i, published);
            sa_html_text(buffer, published ? sa_published_name(&panel->agents[i]) : panel->agents[i].name);
            sa_buffer_text(buffer, published ? ", published</span>\n" : "</span>\n");
        }
}

/* Which curves are not there. */
static void add_left_out(sa_buffer *buffer, const sa_report *report) {
    for (size_t i = 0; i < report->panel_count; i++) {
        const sa_report_panel *panel = &report->panels[i];
        size_t drawn = sa_panel_drawn(panel);
        if (drawn == panel->agent_count) continue;
        sa_buffer_text(buffer, "<p>");
        if (report->panel_count > 1) sa_html_text(buffer, panel->title);
        sa_buffer_format(buffer,
                         "%sThe figure shows %zu of %zu cells, those with the least mean regret; the table "
                         "has all.</p>\n",
                         report->panel_count > 1 ? ". " : "", drawn, panel->agent_count);
    }
}

/* A phone shows the panels below each other, each with its legend; elsewhere one legend does for all. */
static void add_figures(sa_buffer *buffer, const sa_report *report, const sa_buffer *pictures) {
    sa_buffer_format(buffer, "<div class=\"panels%s\">\n", report->panel_count == 1 ? " one" : "");
    for (size_t i = 0; i < report->panel_count; i++) {
        if (!pictures[i].text) continue;
        sa_buffer_text(buffer, "<figure role=\"img\" aria-label=\"Cumulative regret by round: ");
        sa_html_text(buffer, report->panels[i].title);
        sa_buffer_text(buffer, "\">\n");
        add_svg(buffer, pictures[i].text, i);
        sa_buffer_text(buffer, "<figcaption class=\"legend own\">");
        add_legend(buffer, &report->panels[i]);
        sa_buffer_text(buffer, "</figcaption></figure>\n");
    }
    sa_buffer_text(buffer, "</div>\n<div class=\"legend shared\">");
    add_legend(buffer, &report->panels[0]);
    static const char *const bands[] = {
        "; bands: one standard deviation",         "; bands: one standard error of the mean",
        "; bands: the 95% interval of the mean",   "; bands: from the first to the third quartile",
        "; bands: from the best to the worst run", ""};
    sa_buffer_text(buffer, "</div>\n<p>Mean over runs");
    sa_buffer_text(buffer, bands[report->style.band]);
    sa_buffer_text(buffer, report->published_count > 0 ? "; dashed: published.</p>\n" : ".</p>\n");
    add_left_out(buffer, report);
}

/* ---- the table ---- */

static sa_status add_table(sa_buffer *buffer, const sa_report *report, const sa_report_panel *panel) {
    sa_table table;
    SA_TRY(sa_table_make(report, panel, NULL, 0, &table));
    sa_buffer_text(buffer, "<div class=\"box\"><table><thead><tr>");
    for (size_t row = 0; row < table.rows; row++) {
        if (row > 0) sa_buffer_text(buffer, table.published[row] ? "<tr class=\"published\">" : "<tr>");
        for (size_t i = 0; i < table.columns; i++) {
            bool head = row == 0 || table.shown[i] == SA_CELL_AGENT;
            sa_buffer_text(buffer, row == 0 ? "<th scope=\"col\">" : head ? "<th scope=\"row\">" : "<td>");
            sa_html_text(buffer, table.cells[row][table.shown[i]]);
            sa_buffer_text(buffer, head ? "</th>" : "</td>");
        }
        sa_buffer_text(buffer, row == 0 ? "</tr></thead><tbody>\n" : "</tr>\n");
    }
    sa_buffer_text(buffer, "</tbody></table></div>\n");
    sa_table_clear(&table);
    return SA_OK;
}

static bool is_certified(const sa_report *report) {
    for (size_t i = 0; i < report->panel_count; i++)
        if (sa_panel_is_certified(&report->panels[i])) return true;
    return false;
}

static void add_runs(sa_buffer *buffer, const sa_report_panel *panel) {
    sa_buffer_text(buffer, "<p>Runs");
    for (size_t i = 0; i < panel->folder_count; i++) {
        sa_run_range range = panel->range[i];
        sa_buffer_format(buffer, "%s %" PRIu64 " to %" PRIu64 " from <code>", i > 0 ? "," : "", range.first,
                         range.first + range.count - 1);
        sa_html_text(buffer, panel->folders[i]);
        sa_buffer_text(buffer, "</code>");
    }
    sa_buffer_text(buffer, ".</p>\n");
    if (*panel->note) {
        sa_buffer_text(buffer, "<p class=\"note\">Regret is, ");
        sa_html_text(buffer, panel->note);
        sa_buffer_text(buffer, ".</p>\n");
    }
    if (*panel->missing) {
        sa_buffer_text(buffer, "<p class=\"note\">Not all runs are there; missing: ");
        sa_html_text(buffer, panel->missing);
        sa_buffer_text(buffer, ".</p>\n");
    }
    for (size_t i = 0; i < panel->agent_count; i++) {
        if (!panel->agents[i].totals.alike) continue;
        sa_buffer_text(buffer, "<p class=\"note\">");
        sa_html_text(buffer, panel->agents[i].name);
        sa_buffer_format(buffer,
                         ": its %zu runs are all alike, so they count as one, without an interval.</p>\n",
                         panel->agents[i].of->runs);
    }
}

/* ---- the command ---- */

/* A word as the shell reads it. */
static void add_word(sa_buffer *buffer, const char *word) {
    sa_buffer quoted = {0};
    bool bare = !strpbrk(word, " \t\n'\"\\$`!*?[](){}<>|&;#~");
    if (!bare) sa_buffer_text(&quoted, "'");
    for (const char *c = word; *c; c++) {
        if (*c == '\'')
            sa_buffer_text(&quoted, "'\\''");
        else
            sa_buffer_bytes(&quoted, c, 1);
    }
    if (!bare) sa_buffer_text(&quoted, "'");
    if (quoted.status != SA_OK) buffer->status = quoted.status;
    sa_html_text(buffer, quoted.text ? quoted.text : "''");
    sa_buffer_clear(&quoted);
}

static void add_command(sa_buffer *buffer, const sa_report *report) {
    sa_buffer_text(buffer, "<h2>To repeat it</h2>\n<pre>");
    if (report->command) sa_html_text(buffer, report->command);
    for (size_t p = 0; !report->command && p < report->panel_count; p++)
        for (size_t i = 0; i < report->panels[p].folder_count; i++) {
            sa_buffer path = {0};
            sa_buffer_text(&path, report->panels[p].folders[i]);
            sa_buffer_text(&path, "/spec.yaml");
            bool sweep = sa_panel_is_sweep(&report->panels[p]);
            sa_buffer_text(buffer, sweep ? "superarm sweep " : "superarm run ");
            if (path.text) add_word(buffer, path.text);
            sa_buffer_clear(&path);
            sa_buffer_text(buffer, " --out NEW\n");
        }
    sa_buffer_text(buffer, "</pre>\n");
}

/* ---- the page ---- */

static void add_head(sa_buffer *buffer, const char *title) {
    sa_buffer_text(buffer,
                   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    sa_html_text(buffer, title);
    sa_buffer_text(buffer, "</title>\n<style>\n");
    sa_buffer_text(buffer, sa_page_style);
    sa_buffer_text(buffer, "</style>\n</head>\n<body>\n<h1>");
    sa_html_text(buffer, title);
    sa_buffer_text(buffer, "</h1>\n");
}

/* Without gnuplot there is none. */
static sa_status add_heat_map(sa_buffer *buffer, const sa_report *report, const sa_report_panel *panel,
                              const char *base, size_t number) {
    sa_buffer svg = {0};
    sa_status status = sa_heat_map(report, panel, base, SA_PICTURE_SVG, &svg);
    if (status == SA_OK) add_svg(buffer, svg.text, report->panel_count + number);
    sa_buffer_clear(&svg);
    return status == SA_UNSUPPORTED ? SA_OK : status;
}

static bool shows(const sa_report *report, sa_cell column) {
    bool shown = report->style.column_count == 0;
    for (size_t i = 0; i < report->style.column_count; i++)
        shown = shown || report->style.columns[i] == column;
    return shown;
}

/* What is told of cells beside the best: by columns that are shown, and by a heat map. */
static void add_comparison(sa_buffer *buffer, const sa_report *report, const sa_report_panel *panel) {
    static const sa_cell comparing[] = {SA_CELL_DIFFERENCE, SA_CELL_DIFFERENCE_INTERVAL, SA_CELL_P,
                                        SA_CELL_HOLM, SA_CELL_MARKS};
    bool standing = shows(report, SA_CELL_STANDING) || panel->results.spec->grid.count == 2, any = standing;
    for (size_t i = 0; i < sizeof comparing / sizeof *comparing; i++)
        any = any || shows(report, comparing[i]);
    if (!any) return;
    sa_buffer_text(buffer, "<p>Cells are compared with the best that sees the same draws, run by run");
    sa_buffer_text(buffer, standing ? ": <em>not worse</em> says that the 95% interval of the difference "
                                      "reaches 0. With many cells some are called so by chance, and some "
                                      "are the best by chance.</p>\n"
                                    : ".</p>\n");
}

static sa_status add_sweep(sa_buffer *buffer, const sa_report *report, const sa_report_panel *panel) {
    add_comparison(buffer, report, panel);
    sa_buffer_text(buffer, "<div class=\"heat\">\n");
    for (size_t i = 0; i < panel->agent_count; i++) {
        char *base;
        bool first;
        SA_TRY(sa_sweep_base(panel, i, &base, &first));
        sa_status status = first ? add_heat_map(buffer, report, panel, base, i) : SA_OK;
        sa_free(base);
        SA_TRY(status);
    }
    sa_buffer_text(buffer, "</div>\n");
    sa_buffer told = {0};
    sa_sweep_note(panel, &told);
    sa_status status = sa_judge_text(report, panel, &told);
    if (status == SA_OK && told.text) {
        sa_buffer_text(buffer, "<p>");
        sa_html_text(buffer, told.text);
        sa_buffer_text(buffer, "</p>\n");
    }
    sa_buffer_clear(&told);
    SA_TRY(status);
    return SA_OK;
}

/* What cells differ in is not said of all of them. */
static void add_sizes(sa_buffer *buffer, const sa_report_panel *panel) {
    const sa_grid *grid = &panel->results.spec->grid;
    bool slates = !sa_grid_has(grid, "slate"), arms = !sa_grid_has(grid, "arms");
    sa_buffer_format(buffer, "<p>%s regret",
                     sa_panel_shown(panel) == SA_REGRET_REALISED ? "Realised" : "Expected");
    sa_panel_rounds_text(panel, buffer);
    if (slates) sa_buffer_format(buffer, ", slates of %" PRId64, panel->options->slate);
    if (slates && arms) sa_buffer_format(buffer, " out of %" PRId64 " arms", panel->options->arms);
    if (!slates && arms) sa_buffer_format(buffer, ", slates out of %" PRId64 " arms", panel->options->arms);
    sa_buffer_text(buffer, ".</p>\n");
}

static sa_status add_panel(sa_buffer *buffer, const sa_report *report, const sa_report_panel *panel) {
    sa_buffer_text(buffer, "<h2>");
    sa_html_text(buffer, panel->title);
    sa_buffer_text(buffer, "</h2>\n");
    add_sizes(buffer, panel);
    SA_TRY(add_table(buffer, report, panel));
    if (sa_panel_is_sweep(panel)) SA_TRY(add_sweep(buffer, report, panel));
    add_runs(buffer, panel);
    sa_buffer_text(buffer, "<h3>Options</h3>\n");
    sa_page_options(buffer, panel);
    return SA_OK;
}

/* What the published linear models are needs a word. */
static void add_published_form(sa_buffer *buffer, const sa_report_panel *panel) {
    for (size_t i = 0; i < panel->agent_count; i++)
        if (strstr(panel->agents[i].name, "(as published)")) {
            sa_buffer_text(
                buffer,
                "<p>CombLinUCB (as published) and CombLinTS (as published) run as the authors&#39; code has "
                "them: the estimate lags one round behind, and features are paired with the scores of other "
                "arms. Without the mark they run as their papers define them.</p>\n");
            return;
        }
}

/* What can be compared run by run: cells of one environment, where a sweep has several. */
static void add_terms(sa_buffer *page, const sa_report *report) {
    bool several = false;
    for (size_t i = 0; i < report->panel_count; i++)
        several = several || sa_grid_groups(&report->panels[i].results.spec->grid) > 1;
    sa_buffer_text(page, "<p>Intervals are Student&#39;s, at 95%. Differences are taken run by run: ");
    sa_buffer_text(page, several ? "in a run, cells that share the environment see the same"
                                 : "all agents of a run see the same");
    sa_buffer_text(page, " contexts and scores. Diverged: trainings that ended non-finite and were "
                         "undone.</p>\n");
}

sa_status sa_page_make(const sa_report *report, const sa_buffer *pictures, const char *note,
                       sa_buffer *page) {
    add_head(page, *report->style.title ? report->style.title
                   : report->title      ? report->title
                                        : report->panels[0].title);
    if (*note) {
        sa_buffer_text(page, "<p class=\"note\">");
        sa_html_text(page, note);
        sa_buffer_text(page, "</p>\n");
    } else {
        add_figures(page, report, pictures);
    }
    add_terms(page, report);
    if (sa_panel_tells(&report->panels[0], SA_CURVE_CLICKS))
        sa_buffer_text(page, "<p>Regret is to the slate that these users like best. Clicks: how many they "
                             "made in a run.</p>\n");
    if (is_certified(report))
        sa_buffer_text(page, "<p>Certificate: by at most this factor, over all rounds and runs, an "
                             "agent&#39;s widths were off "
                             "the exact ones; 1 is exact, and a dash says that nothing bounds it.</p>\n");
    add_published_form(page, &report->panels[0]);
    for (size_t i = 0; i < report->panel_count; i++) SA_TRY(add_panel(page, report, &report->panels[i]));
    add_command(page, report);
    sa_buffer_format(page, "<footer>Superarm %s</footer>\n</body>\n</html>\n", sa_version());
    return page->status;
}
