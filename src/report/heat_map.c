/* The heat map of a sweep over two options: a cell for each pair of values, light where the regret is small,
 * with its number, a colour bar, a frame around the best cell and a dot above those that are not worse.
 *
 * Letters get smaller until the widest number fits its cell, and numbers have the same decimals in all of
 * them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/functions.h"
#include "base/memory.h"
#include "report/report.h"

enum { CELL_WIDTH = 92, CELL_HEIGHT = 42, LEFT = 120, RIGHT = 140, ABOVE = 50, BELOW = 60 };

/* Of one agent: which cells, and between which means. */
typedef struct heat_map {
    const sa_report_panel *panel;
    const char *base; /* the agent's label without the cell */
    double low, high;
    int decimals;
    double letters; /* of the terminal's usual size */
} heat_map;

static double mean_of(const heat_map *map, const sa_report_agent *agent) {
    return agent->totals.final[sa_panel_shown(map->panel)].mean;
}

/* One cell that is far off must not make all others look alike. */
static bool by_logarithm(const heat_map *map) { return map->low > 0 && map->high > 4 * map->low; }

/* From 0, the least regret, to 1. */
static double share_of(const heat_map *map, double mean) {
    if (!(map->high > map->low)) return 0;
    if (by_logarithm(map)) return sa_log(mean / map->low) / sa_log(map->high / map->low);
    return (mean - map->low) / (map->high - map->low);
}

static void add_fixed(sa_buffer *script, double number, int decimals) {
    char text[400];
    snprintf(text, sizeof text, "%.*f", decimals, number);
    for (char *c = text; *c; c++)
        if (*c == ',') *c = '.'; /* the locale's decimal point */
    sa_buffer_text(script, text);
}

/* ---- what is measured first ---- */

static size_t widest_number(const heat_map *map) {
    size_t most = 1;
    for (size_t i = 0; i < map->panel->agent_count; i++) {
        const sa_report_agent *agent = &map->panel->agents[i];
        if (!sa_sweep_is_of(map->panel, agent, map->base)) continue;
        size_t size = (size_t)snprintf(NULL, 0, "%.*f", map->decimals, mean_of(map, agent));
        if (size > most) most = size;
    }
    return most;
}

static size_t widest_value(const sa_grid_axis *axis) {
    size_t most = 1;
    for (size_t i = 0; i < axis->count; i++)
        if (strlen(axis->values[i]) > most) most = strlen(axis->values[i]);
    return most;
}

/* Three digits of the smallest mean, but four of the largest suffice. */
static int decimals_of(double low, double high) {
    int decimals = 2, at_most = 3;
    for (double x = low; x >= 10 && decimals > 0; x /= 10) decimals--;
    for (double x = low; x > 0 && x < 1 && decimals < 8; x *= 10) decimals++;
    for (double x = high; x >= 10 && at_most > 0; x /= 10) at_most--;
    for (double x = high; x > 0 && x < 1 && at_most < 8; x *= 10) at_most++;
    return decimals < at_most ? decimals : at_most;
}

/* So that numbers fit their cells, and values below a column do not touch. */
static double letters_of(const heat_map *map, const sa_grid_axis *across, size_t down, double width,
                         double height, bool sized) {
    double cell = (width - LEFT - RIGHT) / (double)across->count,
           row = (height - ABOVE - BELOW) / (double)down;
    size_t number = widest_number(map), value = widest_value(across), most = number > value ? number : value;
    double letters = 1;
    if (!sized) return letters;
    letters = fmin(1, fmin(width / 480, height / 300));
    letters = fmax(letters, 0.55);
    double margins = 0.75 * letters * (LEFT + RIGHT);
    cell = (width - margins) / (double)across->count;
    return fmax(0.35, fmin(letters, fmin(cell / (8.6 * (double)(most + 1)), row / 24)));
}

/* ---- the script ---- */

static void add_axis(sa_buffer *script, const sa_grid_axis *axis, const char *which) {
    sa_buffer_format(script, "set %slabel ", which);
    sa_gnuplot_quote(script, axis->name);
    sa_buffer_format(script, " noenhanced\nset %stics noenhanced scale 0 (", which);
    for (size_t i = 0; i < axis->count; i++) {
        sa_buffer_text(script, i ? ", " : "");
        sa_gnuplot_quote(script, axis->values[i]);
        sa_buffer_format(script, " %zu", i);
    }
    sa_buffer_format(script, ")\nset %srange [-0.5:%zu.5]\n", which, axis->count - 1);
}

/* The frame of the best cell lies inside it, and is drawn twice: it can be seen on every colour. */
static void add_frame(sa_buffer *script, size_t x, size_t y) {
    static const struct {
        const char *colour;
        int line;
    } lines[] = {{"#ffffff", 5}, {"#d00000", 3}};
    for (size_t i = 0; i < 2; i++)
        sa_buffer_format(script,
                         "set object rectangle front from %zu-0.46,%zu-0.45 to %zu+0.46,%zu+0.45 fillstyle "
                         "empty border lc rgb '%s' lw %d\n",
                         x, y, x, y, lines[i].colour, lines[i].line);
}

/* Does it see the same draws as another cell? */
static bool has_rivals(const heat_map *map, const sa_report_agent *agent) {
    const sa_grid *grid = &map->panel->results.spec->grid;
    size_t count = 0;
    for (size_t i = 0; i < map->panel->agent_count; i++) {
        const sa_report_agent *other = &map->panel->agents[i];
        count += sa_grid_group_of(grid, other->of->cell) == sa_grid_group_of(grid, agent->of->cell) &&
                 sa_sweep_is_of(map->panel, other, map->base);
    }
    return count > 1;
}

static void add_cells(sa_buffer *script, const heat_map *map) {
    const sa_grid *grid = &map->panel->results.spec->grid;
    sa_buffer numbers = {0};
    sa_buffer_text(script, "$cells << END_OF_DATA\n");
    for (size_t i = 0; i < map->panel->agent_count; i++) {
        const sa_report_agent *agent = &map->panel->agents[i];
        if (!sa_sweep_is_of(map->panel, agent, map->base)) continue;
        size_t x = sa_grid_place(grid, agent->of->cell, 1), y = sa_grid_place(grid, agent->of->cell, 0);
        double mean = mean_of(map, agent);
        const char *colour = share_of(map, mean) > 0.45 ? "#ffffff" : "#000000";
        sa_buffer_format(script, "%zu %zu ", x, y);
        sa_buffer_number(script, mean, 9);
        sa_buffer_text(script, "\n");
        sa_buffer_text(&numbers, "set label '");
        add_fixed(&numbers, mean, map->decimals);
        sa_buffer_format(&numbers, "' at %zu,%zu center front tc rgb '%s'\n", x, y, colour);
        if (agent->standing == SA_BEST && has_rivals(map, agent)) add_frame(&numbers, x, y);
        if (agent->standing == SA_NOT_WORSE)
            sa_buffer_format(&numbers, "set label '' at %zu,%zu-0.33 front point pt 7 ps 0.5 lc rgb '%s'\n",
                             x, y, colour);
    }
    sa_buffer_text(script, "END_OF_DATA\n");
    if (numbers.text) sa_buffer_text(script, numbers.text);
    if (numbers.status != SA_OK) script->status = numbers.status;
    sa_buffer_clear(&numbers);
}

static void add_colours(sa_buffer *script, const heat_map *map) {
    const char *regret = sa_panel_shown(map->panel) == SA_REGRET_REALISED ? "realised" : "expected";
    /* from light to dark, also in grey */
    sa_buffer_text(script,
                   "set palette defined (0 '#fde725', 1 '#5ec962', 2 '#21918c', 3 '#3b528b', 4 '#440154')\n");
    if (by_logarithm(map)) sa_buffer_text(script, "set logscale cb\n");
    sa_buffer_text(script, "set cbrange [");
    sa_buffer_number(script, map->low, 9);
    sa_buffer_text(script, ":");
    sa_buffer_number(script, map->high > map->low ? map->high : map->low + 1, 9);
    sa_buffer_text(script, "]\nset cbtics out nomirror scale 0.5 (");
    for (int i = 0; i < 5; i++) { /* evenly along the bar */
        double at = map->low + (map->high - map->low) * i / 4;
        if (by_logarithm(map)) at = map->low * sa_exp(sa_log(map->high / map->low) * i / 4);
        if (i > 0 && !(map->high > map->low)) break;
        sa_buffer_text(script, i ? ", '" : "'");
        add_fixed(script, at, map->decimals);
        sa_buffer_text(script, "' ");
        sa_buffer_number(script, at, 9);
    }
    sa_buffer_format(script, ")\nset cblabel 'mean %s regret' offset 0.6,0\n", regret);
}

/* What the marks are, where there are any. */
static void add_title(sa_buffer *script, const heat_map *map) {
    bool dots = false, frames = false;
    sa_buffer text = {0};
    for (size_t i = 0; i < map->panel->agent_count; i++) {
        const sa_report_agent *agent = &map->panel->agents[i];
        if (!sa_sweep_is_of(map->panel, agent, map->base)) continue;
        dots = dots || agent->standing == SA_NOT_WORSE;
        frames = frames || (agent->standing == SA_BEST && has_rivals(map, agent));
    }
    sa_buffer_text(&text, map->base);
    if (*map->base && frames) sa_buffer_text(&text, ": ");
    if (frames) sa_buffer_text(&text, dots ? "best framed; dot: not worse" : "best framed");
    sa_buffer_text(script, "set title ");
    sa_gnuplot_quote(script, text.text ? text.text : "");
    sa_buffer_text(script, " noenhanced offset 0,-0.4\n");
    if (text.status != SA_OK) script->status = text.status;
    sa_buffer_clear(&text);
}

static void find_range(heat_map *map) {
    map->low = INFINITY;
    map->high = -INFINITY;
    for (size_t i = 0; i < map->panel->agent_count; i++) {
        if (!sa_sweep_is_of(map->panel, &map->panel->agents[i], map->base)) continue;
        map->low = fmin(map->low, mean_of(map, &map->panel->agents[i]));
        map->high = fmax(map->high, mean_of(map, &map->panel->agents[i]));
    }
    map->decimals = decimals_of(map->low, map->high);
}

sa_status sa_heat_map(const sa_report *report, const sa_report_panel *panel, const char *base,
                      sa_picture kind, sa_buffer *out) {
    const sa_grid_axis *down = &panel->results.spec->grid.axes[0],
                       *across = &panel->results.spec->grid.axes[1];
    const sa_style *style = &report->style;
    heat_map map = {.panel = panel, .base = base};
    sa_buffer script = {0};
    find_range(&map);
    size_t width = LEFT + RIGHT + across->count * CELL_WIDTH,
           height = ABOVE + BELOW + down->count * CELL_HEIGHT;
    bool sized = style->width > 0;
    if (sized) width = (size_t)lround(96 * style->width);
    if (style->height > 0) height = (size_t)lround(96 * style->height);
    map.letters = letters_of(&map, across, down->count, (double)width, (double)height, sized);
    sa_gnuplot_terminal(&script, kind, map.letters, width, height);
    sa_buffer_text(&script, "unset key\nunset grid\nset border 0\nset style fill solid 1 noborder\n"
                            "set tmargin -1\n");
    /* in letters: the bar, its numbers, and what they are, which gnuplot forgets */
    sa_buffer_format(&script, "set rmargin %zu\n", widest_number(&map) + 7);
    add_axis(&script, across, "x");
    add_axis(&script, down, "y");
    add_colours(&script, &map);
    add_title(&script, &map);
    add_cells(&script, &map);
    sa_buffer_text(&script, "plot $cells using 1:2:3 with image pixels\n");
    sa_status status = sa_gnuplot(&script, out);
    sa_buffer_clear(&script);
    return status;
}
