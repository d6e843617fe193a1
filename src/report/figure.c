/* Figures as gnuplot scripts: mean regret with a band; published curves dashed. */
#include <math.h>
#include <string.h>

#include "report/report.h"

enum {
    PANEL_WIDTH = 460,
    ALONE_WIDTH = 640,
    PANEL_HEIGHT = 350,
    KEY_LINE = 19,
    KEY_ROOM = 16,
    HEADING = 28,
    MARKS = 7
};

/* gnuplot's point types in the order of agents, and the same as paths for the page's legend. */
static const int MARK_TYPES[] = {7, 5, 9, 13, 11, 6, 4, 8, 12, 10};
enum { MARK_COUNT = sizeof MARK_TYPES / sizeof *MARK_TYPES };

/* Lines of one colour have other marks, too. */
size_t sa_line_mark(sa_line line, size_t index) { return (index + line.dashes) % MARK_COUNT; }

/* A long dash and one to three dots, in each further turn with a longer dash: none is the plain one of
 * published curves. The numbers are lengths and gaps; gnuplot takes eight of them at most. */
static void add_dashes(sa_buffer *buffer, size_t dashes, const char *between) {
    sa_buffer_format(buffer, "%zu%s3", 8 * (1 + (dashes - 1) / 3), between);
    for (size_t dot = 0; dot <= (dashes - 1) % 3; dot++) sa_buffer_format(buffer, "%s2%s3", between, between);
}

void sa_figure_swatch(sa_buffer *buffer, const sa_report_panel *panel, size_t index, bool published) {
    static const char *const shapes[] = {"M11 6a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z", "M11.5 3h6v6h-6z",
                                         "M14.5 2l4 7h-8z", "M14.5 2l4 4l-4 4l-4-4z", "M14.5 10l4-7h-8z"};
    sa_line line = sa_agent_line(panel, index);
    size_t mark = sa_line_mark(line, index);
    sa_buffer_format(buffer,
                     "<svg width=\"29\" height=\"12\" viewBox=\"0 0 29 12\" aria-hidden=\"true\">"
                     "<path d=\"M0 6h29\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"",
                     line.colour);
    if (published || line.dashes) sa_buffer_text(buffer, " stroke-dasharray=\"");
    if (published)
        sa_buffer_text(buffer, "6 4\"");
    else if (line.dashes) {
        add_dashes(buffer, line.dashes, " ");
        sa_buffer_text(buffer, "\"");
    }
    sa_buffer_text(buffer, "></path>");
    if (!published)
        sa_buffer_format(buffer, "<path d=\"%s\" fill=\"%s\" stroke=\"%s\"></path>", shapes[mark % 5],
                         mark < 5 ? line.colour : "#fff", line.colour);
    sa_buffer_text(buffer, "</svg>");
}

/* ---- words ---- */

void sa_gnuplot_quote(sa_buffer *script, const char *text) {
    sa_buffer_text(script, "'");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '\'')
            sa_buffer_text(script, "''");
        else if (c == '`')
            sa_buffer_text(script, "''"); /* in doubt: nothing that could be a command */
        else if (c < 0x20 || c == 0x7f)
            sa_buffer_text(script, " ");
        else
            sa_buffer_bytes(script, text, 1);
    }
    sa_buffer_text(script, "'");
}

/* How large letters, lines and marks are: 1 in a figure of the usual size, less in a smaller one. */
typedef struct scales {
    double all, key, mark;
} scales;

static const scales USUAL = {1, 1, 1};

/* Whatever the locale's decimal point is. */
static void add_decimal(sa_buffer *script, double number) { sa_buffer_number(script, number, 3); }

/* On paper, letters of the usual proportion would be too small in a small figure. */
static double print_factor(sa_picture kind, scales look) {
    return kind == SA_PICTURE_PDF && look.all < 1 ? 1.2 : 1;
}

/* In units of 1/96 inch. */
static void add_terminal(sa_buffer *script, sa_picture kind, scales look, size_t width, size_t height) {
    static const double letters[] = {[SA_PICTURE_SVG] = 14, [SA_PICTURE_PNG] = 20, [SA_PICTURE_PDF] = 10};
    static const char *const fonts[] = {[SA_PICTURE_SVG] = "Helvetica,Arial,sans-serif",
                                        [SA_PICTURE_PNG] = "sans",
                                        [SA_PICTURE_PDF] = "sans"};
    sa_buffer_text(script, "set encoding utf8\n");
    if (kind == SA_PICTURE_SVG)
        sa_buffer_format(script, "set terminal svg size %zu,%zu background '#ffffff'", width, height);
    else if (kind == SA_PICTURE_PNG)
        sa_buffer_format(script, "set terminal pngcairo size %zu,%zu background '#ffffff'", 2 * width,
                         2 * height);
    else
        sa_buffer_format(script, "set terminal pdfcairo size %zu.%02zuin,%zu.%02zuin", width / 96,
                         width % 96 * 100 / 96, height / 96, height % 96 * 100 / 96);
    sa_buffer_format(script, " font '%s,", fonts[kind]);
    add_decimal(script, letters[kind] * look.all * print_factor(kind, look));
    sa_buffer_text(script, "' linewidth ");
    add_decimal(script, (kind == SA_PICTURE_PNG ? 2 : kind == SA_PICTURE_PDF ? 1.2 : 1) * look.all);
    sa_buffer_text(script, "\nset rmargin 3\n");
    sa_buffer_text(script,
                   "set border 3 lc rgb '#555555'\nset tics nomirror out scale 0.6\n"
                   "set grid lc rgb '#dddddd' lt 1 lw 0.5\nset style fill transparent solid 0.14 noborder\n"
                   "set tmargin 2.5\nset xtics autofreq\n");
}

void sa_gnuplot_terminal(sa_buffer *script, sa_picture kind, double scale, size_t width, size_t height) {
    add_terminal(script, kind, (scales){scale, scale, scale}, width, height);
}

/* The legend's letters. */
static double key_font(sa_picture kind, scales look) {
    return look.key * print_factor(kind, look) *
           (kind == SA_PICTURE_SVG   ? 12
            : kind == SA_PICTURE_PNG ? 17
                                     : 9) *
           (kind == SA_PICTURE_PDF && look.all < 1 ? 1.15 : 1);
}

/* ---- data ---- */

static void add_point(sa_buffer *script, size_t round, double mean, double low, double high) {
    sa_buffer_format(script, "%zu ", round);
    sa_buffer_number(script, mean, 9);
    sa_buffer_text(script, " ");
    sa_buffer_number(script, low, 9);
    sa_buffer_text(script, " ");
    sa_buffer_number(script, high, 9);
    sa_buffer_text(script, "\n");
}

/* A logarithm has no 0: what is not above it is left out, and bands end at the least of what is drawn. */
static double least_shown(const sa_report_panel *panel) {
    double least = INFINITY;
    for (size_t i = 0; i < panel->agent_count; i++) {
        const sa_curve *curve = &panel->agents[i].curve[sa_panel_shown(panel)];
        for (size_t k = 0; k < curve->count; k++)
            if (curve->mean[k] > 0) least = fmin(least, curve->mean[k]);
    }
    return isfinite(least) ? least : 1;
}

static void add_curve(sa_buffer *script, const sa_style *style, const sa_curve *curve, size_t rounds,
                      double least) {
    bool log = style->log_x || style->log_y;
    if (!log) add_point(script, 0, 0, 0, 0);
    for (size_t k = 0; k < curve->count && curve->round[k] <= rounds; k++) {
        double mean = curve->mean[k], low = curve->low ? curve->low[k] : mean,
               high = curve->low ? curve->high[k] : mean;
        if (style->log_y && mean <= 0) continue;
        if (style->log_y && low < least) low = least;
        if (style->log_y && high < low) high = low;
        add_point(script, curve->round[k], mean, low, high);
    }
    sa_buffer_text(script, "END_OF_DATA\n");
}

static void add_data(sa_buffer *script, const sa_report *report, const sa_report_panel *panel, size_t p) {
    double least = least_shown(panel);
    for (size_t i = 0; i < panel->agent_count; i++) {
        if (!sa_agent_is_drawn(panel, i)) continue;
        sa_buffer_format(script, "$ours_%zu_%zu << END_OF_DATA\n", p, i);
        add_curve(script, &report->style, &panel->agents[i].curve[sa_panel_shown(panel)], panel->rounds,
                  least);
        if (!panel->agents[i].published) continue;
        sa_buffer_format(script, "$published_%zu_%zu << END_OF_DATA\n", p, i);
        add_curve(script, &report->style, &panel->agents[i].published->curve, panel->rounds, least);
    }
}

/* ---- curves ---- */

/* Marks along the curve tell agents apart in grey, too. */
static void add_style(sa_buffer *script, const sa_report_panel *panel, scales look, size_t i, size_t points) {
    size_t apart = points / MARKS > 0 ? points / MARKS : 1;
    sa_line line = sa_agent_line(panel, i);
    sa_buffer_format(script, "with linespoints lw %s lc rgb '%s' pt %d pi %zu ps ",
                     look.all < 1 ? "1.5" : "2", line.colour, MARK_TYPES[sa_line_mark(line, i)], apart);
    add_decimal(script, 0.8 * look.mark);
    if (line.dashes == 0) return;
    sa_buffer_text(script, " dt (");
    add_dashes(script, line.dashes, ",");
    sa_buffer_text(script, ")");
}

static void add_published_style(sa_buffer *script, const sa_report_panel *panel, size_t i) {
    sa_buffer_format(script, "with lines lw 2 dt (8,5) lc rgb '%s'", sa_agent_line(panel, i).colour);
}

static void add_title(sa_buffer *script, const char *name, const char *more, bool titled) {
    sa_buffer_text(script, titled ? " title " : " notitle");
    if (titled) sa_gnuplot_quote(script, name);
    if (titled && *more) sa_buffer_format(script, ".'%s'", more);
}

static void add_axes(sa_buffer *script, const sa_style *style, const sa_report_panel *panel) {
    size_t drawn = sa_panel_drawn(panel);
    sa_buffer_format(script, "set ylabel 'Cumulative %s regret' offset 0.6,0\n", sa_panel_regret(panel));
    sa_buffer_text(script, "set xlabel 'Round");
    if (drawn < panel->agent_count)
        sa_buffer_format(script, " (%zu of %zu cells are drawn)", drawn, panel->agent_count);
    sa_buffer_text(script, "' offset 0,0.4\n");
    sa_buffer_format(script, style->log_x ? "set logscale x\nset xrange [1:%zu]\n" : "set xrange [0:%zu]\n",
                     panel->rounds);
    sa_buffer_text(script, style->log_y ? "set logscale y\nset yrange [*:*]\n" : "set yrange [0:*]\n");
}

/* "plot ..." of a panel. */
static void add_plot(sa_buffer *script, const sa_report *report, const sa_report_panel *panel, size_t p,
                     scales look, bool titled) {
    bool alone = report->panel_count == 1 && *report->style.title;
    const char *join = "";
    add_axes(script, &report->style, panel);
    sa_buffer_text(script, "set title ");
    sa_gnuplot_quote(script, alone ? report->style.title : panel->title);
    sa_buffer_text(script, " noenhanced offset 0,-0.5\nplot \\\n");
    for (size_t i = 0; i < panel->agent_count; i++)
        if (sa_agent_is_drawn(panel, i) && panel->agents[i].curve[sa_panel_shown(panel)].low)
            sa_buffer_format(script,
                             "  $ours_%zu_%zu using 1:3:4 with filledcurves lc rgb '%s' notitle, \\\n", p, i,
                             sa_agent_line(panel, i).colour);
    for (size_t i = 0; i < panel->agent_count; i++) {
        const sa_report_agent *agent = &panel->agents[i];
        size_t points = agent->curve[sa_panel_shown(panel)].count;
        if (!sa_agent_is_drawn(panel, i)) continue;
        sa_buffer_format(script, "%s  $ours_%zu_%zu using 1:2 ", join, p, i);
        join = ", \\\n";
        add_style(script, panel, look, i, points);
        add_title(script, agent->name, "", titled);
        if (!agent->published) continue;
        sa_buffer_format(script, ", \\\n  $published_%zu_%zu using 1:2 ", p, i);
        add_published_style(script, panel, i);
        add_title(script, sa_published_name(agent), ", published", titled);
    }
    sa_buffer_text(script, "\n");
}

static size_t entries(const sa_report_panel *panel) {
    size_t count = 0;
    for (size_t i = 0; i < panel->agent_count; i++)
        if (sa_agent_is_drawn(panel, i)) count += 1 + (panel->agents[i].published != NULL);
    return count;
}

/* Names of very different lengths make wide columns, so long ones get fewer. */
static size_t key_columns(const sa_report_panel *panel, size_t width, double scale) {
    size_t longest = 1;
    for (size_t i = 0; i < panel->agent_count; i++) {
        size_t size = strlen(panel->agents[i].name) + (panel->agents[i].published ? 11 : 0);
        if (size > longest) longest = size;
    }
    size_t columns = (size_t)((double)width / (scale * ((double)longest * 7.5 + 55)));
    return columns > 0 ? columns : 1;
}

/* ---- whole figures ---- */

sa_status sa_figure_panel(const sa_report *report, const sa_report_panel *panel, sa_buffer *out) {
    sa_buffer script = {0};
    add_terminal(&script, SA_PICTURE_SVG, USUAL, PANEL_WIDTH, PANEL_HEIGHT);
    add_data(&script, report, panel, 0);
    sa_buffer_text(&script, "unset key\n");
    add_plot(&script, report, panel, 0, USUAL, false);
    sa_status status = sa_gnuplot(&script, out);
    sa_buffer_clear(&script);
    return status;
}

/* The legend of the panel with most agents below all of them: a plot of nothing. */
static void add_legend(sa_buffer *script, const sa_report_panel *panel, sa_picture kind, scales look,
                       size_t columns) {
    const char *join = "";
    sa_buffer_format(
        script,
        "unset title\nunset xlabel\nunset ylabel\nunset border\nunset tics\nunset grid\nunset logscale\n"
        "set yrange [0:1]\nset xrange [0:1]\n"
        "set key inside center center horizontal Left reverse maxcols %zu noenhanced samplen 2.5 width %d "
        "font ',",
        columns, look.all < 1 ? 0 : 2);
    add_decimal(script, key_font(kind, look));
    sa_buffer_text(script, "' spacing ");
    add_decimal(script, look.all < 1 ? 1.05 : 1.25);
    sa_buffer_text(script, "\nplot \\\n");
    for (size_t i = 0; i < panel->agent_count; i++) {
        const sa_report_agent *agent = &panel->agents[i];
        if (!sa_agent_is_drawn(panel, i)) continue;
        sa_buffer_text(script, join);
        sa_buffer_text(script, "  NaN ");
        join = ", \\\n";
        add_style(script, panel, look, i, 1);
        add_title(script, agent->name, "", true);
        if (!agent->published) continue;
        sa_buffer_text(script, ", \\\n  NaN ");
        add_published_style(script, panel, i);
        add_title(script, sa_published_name(agent), ", published", true);
    }
    sa_buffer_text(script, "\n");
}

static void add_place(sa_buffer *script, double x, double y, double width, double height) {
    const double numbers[] = {width, height, x, y};
    for (int i = 0; i < 4; i++) {
        sa_buffer_text(script, i == 0 ? "set size " : i == 2 ? "\nset origin " : ",");
        sa_buffer_number(script, numbers[i], 6);
    }
    sa_buffer_text(script, "\n");
}

/* Above several panels. */
static void add_heading(sa_buffer *script, const char *title) {
    sa_buffer_text(script, "set label 1 ");
    sa_gnuplot_quote(script, title);
    sa_buffer_text(script, " at screen 0.5,0.97 center noenhanced\n");
}

static const sa_report_panel *fullest(const sa_report *report) {
    const sa_report_panel *most = &report->panels[0];
    for (size_t i = 1; i < report->panel_count; i++)
        if (report->panels[i].agent_count > most->agent_count) most = &report->panels[i];
    return most;
}

/* A legend of this many lines and columns; in units of 1/96 inch. */
typedef struct key_shape {
    size_t columns, lines;
    double height;
} key_shape;

static key_shape legend_of(const sa_report_panel *panel, size_t width, double scale) {
    size_t columns = key_columns(panel, width, scale), lines = (entries(panel) + columns - 1) / columns;
    return (key_shape){columns, lines, scale * (double)(lines * KEY_LINE) + KEY_ROOM * (scale < 1 ? 0.5 : 1)};
}

/* Letters as large as the figure allows, and a legend of at most a fifth of its height. */
static scales look_of(const sa_report *report, const sa_report_panel *most, size_t width, size_t height) {
    const double fifth = 0.2, least = 0.4;
    double usual = report->panel_count == 1 ? ALONE_WIDTH : (double)(report->panel_count * PANEL_WIDTH);
    scales look = USUAL;
    if (report->style.width <= 0) return look;
    look.all = fmin(1, fmax(0.55, fmin((double)width / usual * 1.3, (double)height / PANEL_HEIGHT)));
    look.key = look.mark = look.all;
    while (look.key > least && legend_of(most, width, look.key).height > fifth * (double)height)
        look.key *= 0.97;
    look.mark = 0.85 * look.all;
    return look;
}

sa_status sa_figure_all(const sa_report *report, sa_picture kind, sa_buffer *out) {
    const sa_style *style = &report->style;
    const sa_report_panel *most = fullest(report);
    size_t count = report->panel_count, width = count == 1 ? ALONE_WIDTH : count * PANEL_WIDTH;
    if (style->width > 0) width = (size_t)lround(96 * style->width);
    size_t height = style->height > 0 ? (size_t)lround(96 * style->height) : 0;
    scales look = look_of(report, most, width, height);
    key_shape legend = legend_of(most, width, look.key);
    if (!height) height = PANEL_HEIGHT + (size_t)legend.height;
    double below = fmin(0.6, legend.height / (double)height);
    double above = count > 1 && *style->title ? HEADING * look.all / (double)height : 0;
    sa_buffer script = {0};
    add_terminal(&script, kind, look, width, height);
    for (size_t p = 0; p < count; p++) add_data(&script, report, &report->panels[p], p);
    sa_buffer_text(&script, "set multiplot\nunset key\n");
    for (size_t p = 0; p < count; p++) {
        add_place(&script, (double)p / (double)count, below, 1 / (double)count, 1 - below - above);
        if (p == 0 && above > 0) add_heading(&script, style->title);
        add_plot(&script, report, &report->panels[p], p, look, false);
        if (p == 0) sa_buffer_text(&script, "unset label 1\n");
    }
    add_place(&script, 0, 0, 1, below);
    sa_buffer_text(&script, "set margins 0,0,0,0\n");
    add_legend(&script, most, kind, look, legend.columns);
    sa_buffer_text(&script, "unset multiplot\n");
    sa_status status = sa_gnuplot(&script, out);
    sa_buffer_clear(&script);
    return status;
}
