/* A sweep: which cell is best, and which are not worse.
 *
 * Cells of one environment are compared with each other, run by run, since they see the same draws: with
 * d_r the difference of a cell to the best in run r, the cell is not worse where the 95% interval of the
 * mean of d_r reaches down to 0. */
#include <math.h>
#include <string.h>

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
    /* d is not in a sweep's options where the data have it */
    const char *environment = panel->options->environment;
    bool data = *environment != 'h' && strcmp(environment, "formula");
    sa_status status = varies ? SA_OK
                       : data ? sa_copy_text(environment, &base)
                              : sa_panel_title(panel->options, &base);
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

void sa_panel_rounds_text(const sa_report_panel *panel, sa_buffer *text) {
    if (!sa_grid_has(&panel->results.spec->grid, "rounds"))
        sa_buffer_format(text, " after %zu rounds", panel->rounds);
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

size_t sa_panel_drawn(const sa_report_panel *panel) {
    size_t drawn = 0;
    for (size_t i = 0; i < panel->agent_count; i++) drawn += sa_agent_is_drawn(panel, i);
    return drawn;
}

/* ---- the agents of all cells ---- */

bool sa_sweep_is_of(const sa_report_panel *panel, const sa_report_agent *agent, const char *base) {
    char *label = NULL;
    if (sa_grid_label(&panel->results.spec->grid, agent->of->cell, *base ? base : NULL, &label) != SA_OK)
        return false;
    bool same = !strcmp(label, agent->of->label);
    sa_free(label);
    return same;
}

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
        if (sa_sweep_is_of(panel, &panel->agents[i], *base)) *first = false;
    return SA_OK;
}
