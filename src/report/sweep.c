/* A sweep: which cell is best, which are not worse, and a heat map.
 *
 * Cells of one environment are compared with each other, run by run, since they see the same draws: with
 * d_r the difference of a cell to the best in run r, the cell is not worse where the 95% interval of the
 * mean of d_r reaches down to 0. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/functions.h"
#include "base/memory.h"
#include "report/report.h"

bool sa_panel_is_sweep(const sa_report_panel *panel) { return panel->results.spec->grid.count > 0; }

/* What cells differ in is not said of all of them. */
sa_status sa_sweep_title(const sa_report_panel *panel, char **title) {
    const sa_grid *grid = &panel->results.spec->grid;
    sa_buffer text = {0};
    char *base = NULL;
    bool varies = false;
    for (size_t i = 0; i < grid->count; i++)
        varies = varies || !strcmp(grid->axes[i].name, "environment") || !strcmp(grid->axes[i].name, "dim") ||
                 !strcmp(grid->axes[i].name, "score");
    sa_status status = varies ? SA_OK : sa_panel_title(panel->options, &base);
    if (base) sa_buffer_text(&text, base);
    sa_buffer_text(&text, base ? ": sweep over " : "Sweep over ");
    for (size_t i = 0; i < grid->count; i++) {
        sa_buffer_text(&text, i ? ", " : "");
        sa_buffer_text(&text, grid->axes[i].name);
    }
    sa_free(base);
    if (status == SA_OK) status = text.status;
    if (status == SA_OK) status = sa_copy_text(text.text, title);
    sa_buffer_clear(&text);
    return status;
}

static size_t group_of(const sa_report_panel *panel, const sa_report_agent *agent) {
    return sa_grid_group_of(&panel->results.spec->grid, agent->of->cell);
}

/* The best of the agent's environment. */
static size_t best_of(const sa_report_panel *panel, const sa_report_agent *agent) {
    size_t best = SIZE_MAX;
    int shown = sa_panel_shown(panel);
    for (size_t i = 0; i < panel->agent_count; i++) {
        if (group_of(panel, &panel->agents[i]) != group_of(panel, agent)) continue;
        if (best == SIZE_MAX ||
            panel->agents[i].totals.final[shown].mean < panel->agents[best].totals.final[shown].mean)
            best = i;
    }
    return best;
}

sa_status sa_sweep_compare(sa_report_panel *panel) {
    panel->against_best = true;
    for (size_t i = 0; i < panel->agent_count; i++) {
        sa_report_agent *agent = &panel->agents[i];
        agent->against = best_of(panel, agent);
        SA_TRY(sa_agent_compare(panel, agent));
    }
    for (size_t i = 0; i < panel->agent_count; i++) {
        sa_report_agent *agent = &panel->agents[i];
        double low = agent->difference[sa_panel_shown(panel)].low;
        agent->standing = agent->against == i       ? SA_BEST
                          : !isnan(low) && low <= 0 ? SA_NOT_WORSE
                                                    : SA_NO_STANDING;
    }
    return sa_panel_correct(panel);
}

/* A figure of a hundred cells shows nothing: the best dozen do. */
bool sa_agent_is_drawn(const sa_report_panel *panel, size_t index) {
    enum { DRAWN = 12 };
    int shown = sa_panel_shown(panel);
    size_t better = 0;
    if (panel->agent_count <= DRAWN || panel->waiting || !sa_panel_is_sweep(panel)) return true;
    for (size_t i = 0; i < panel->agent_count; i++) {
        double mean = panel->agents[i].totals.final[shown].mean,
               own = panel->agents[index].totals.final[shown].mean;
        better += mean < own || (mean == own && i < index);
    }
    return better < DRAWN;
}

/* ---- the heat map ---- */

enum { CELL_WIDTH = 92, CELL_HEIGHT = 38, LEFT = 110, TOP = 58, STOPS = 5 };

/* Light where regret is small; dark to light also in grey. */
static void colour_of(double share, int colour[3]) {
    static const int stops[STOPS][3] = {
        {253, 231, 37}, {94, 201, 98}, {33, 145, 140}, {59, 82, 139}, {68, 1, 84}};
    double place = fmin(fmax(share, 0), 1) * (STOPS - 1);
    size_t low = place >= STOPS - 1 ? STOPS - 2 : (size_t)place;
    for (int i = 0; i < 3; i++)
        colour[i] = (int)lround(stops[low][i] + (place - (double)low) * (stops[low + 1][i] - stops[low][i]));
}

/* One cell that is far off must not make all others look alike. */
static bool by_logarithm(double low, double high) { return low > 0 && high > 4 * low; }

static void add_label(sa_buffer *svg, double x, double y, const char *style, const char *name,
                      const char *value) {
    sa_buffer_format(svg, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, style);
    if (*name) sa_html_text(svg, name);
    if (*name && *value) sa_buffer_text(svg, " = ");
    sa_html_text(svg, value);
    sa_buffer_text(svg, "</text>\n");
}

/* Blanks around the best, and a dot behind those that are not worse. */
static void add_cell(sa_buffer *svg, const sa_report_panel *panel, const sa_report_agent *agent, double low,
                     double high) {
    const sa_grid *grid = &panel->results.spec->grid;
    double x = LEFT + (double)sa_grid_place(grid, agent->of->cell, 1) * CELL_WIDTH;
    double y = TOP + (double)sa_grid_place(grid, agent->of->cell, 0) * CELL_HEIGHT;
    double mean = agent->totals.final[sa_panel_shown(panel)].mean,
           share = high > low ? (mean - low) / (high - low) : 0;
    if (by_logarithm(low, high)) share = sa_log(mean / low) / sa_log(high / low);
    int colour[3];
    char number[48];
    colour_of(share, colour);
    sa_buffer_format(
        svg, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"rgb(%d,%d,%d)\"></rect>\n", x, y,
        CELL_WIDTH, CELL_HEIGHT, colour[0], colour[1], colour[2]);
    if (agent->standing == SA_BEST)
        sa_buffer_format(
            svg,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#d00000\" "
            "stroke-width=\"3\"></rect>\n",
            x + 2, y + 2, CELL_WIDTH - 4, CELL_HEIGHT - 4);
    snprintf(number, sizeof number, "%.4g%s", mean, agent->standing == SA_NOT_WORSE ? " \u2022" : "");
    for (char *c = number; *c; c++)
        if (*c == ',') *c = '.'; /* the locale's decimal point */
    add_label(svg, x + CELL_WIDTH / 2.0, y + CELL_HEIGHT / 2.0 + 5,
              share > 0.45 ? "text-anchor=\"middle\" fill=\"#fff\"" : "text-anchor=\"middle\" fill=\"#000\"",
              "", number);
}

/* Of the agents whose label, without the cell, is `base`. */
static bool is_of(const sa_report_panel *panel, const sa_report_agent *agent, const char *base) {
    char *label = NULL;
    if (sa_grid_label(&panel->results.spec->grid, agent->of->cell, *base ? base : NULL, &label) != SA_OK)
        return false;
    bool same = !strcmp(label, agent->of->label);
    sa_free(label);
    return same;
}

sa_status sa_sweep_heat_map(const sa_report_panel *panel, const char *base, sa_buffer *svg) {
    const sa_grid_axis *down = &panel->results.spec->grid.axes[0],
                       *across = &panel->results.spec->grid.axes[1];
    int shown = sa_panel_shown(panel);
    double low = INFINITY, high = -INFINITY;
    size_t width = LEFT + across->count * CELL_WIDTH + 10, height = TOP + down->count * CELL_HEIGHT + 10;
    for (size_t i = 0; i < panel->agent_count; i++) {
        if (!is_of(panel, &panel->agents[i], base)) continue;
        low = fmin(low, panel->agents[i].totals.final[shown].mean);
        high = fmax(high, panel->agents[i].totals.final[shown].mean);
    }
    sa_buffer_format(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" viewBox=\"0 0 %zu %zu\" "
        "font-family=\"Helvetica,Arial,sans-serif\" font-size=\"14\">\n"
        "<rect width=\"%zu\" height=\"%zu\" fill=\"#fff\"></rect>\n",
        width, height, width, height, width, height);
    add_label(svg, LEFT, 18, "font-weight=\"bold\"", base,
              shown == SA_REGRET_REALISED ? "mean realised regret" : "mean expected regret");
    add_label(svg, LEFT - 8, TOP - 8, "text-anchor=\"end\"", "", down->name);
    for (size_t i = 0; i < across->count; i++)
        add_label(svg, LEFT + ((double)i + 0.5) * CELL_WIDTH, TOP - 8, "text-anchor=\"middle\"",
                  i ? "" : across->name, across->values[i]);
    for (size_t i = 0; i < down->count; i++)
        add_label(svg, LEFT - 8, TOP + ((double)i + 0.5) * CELL_HEIGHT + 5, "text-anchor=\"end\"", "",
                  down->values[i]);
    for (size_t i = 0; i < panel->agent_count; i++)
        if (is_of(panel, &panel->agents[i], base)) add_cell(svg, panel, &panel->agents[i], low, high);
    sa_buffer_text(svg, "</svg>\n");
    return svg->status;
}

/* ---- the agents of all cells ---- */

sa_status sa_sweep_base(const sa_report_panel *panel, size_t index, char **base, bool *first) {
    const sa_report_agent *agent = &panel->agents[index];
    char *cell;
    SA_TRY(sa_grid_label(&panel->results.spec->grid, agent->of->cell, NULL, &cell));
    size_t size = strlen(agent->of->label), tail = strlen(cell);
    sa_free(cell);
    SA_TRY(sa_copy_text(agent->of->label, base));
    (*base)[size > tail ? size - tail - 1 : 0] = 0;
    *first = panel->results.spec->grid.count == 2;
    for (size_t i = 0; i < index; i++)
        if (is_of(panel, &panel->agents[i], *base)) *first = false;
    return SA_OK;
}
