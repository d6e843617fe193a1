/* Choosing and judging apart: the best of many cells looks better than it is on the runs that chose it. With
 * --judge J the cell is chosen by its mean over all runs but the last J, and its regret is told on these. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "report/report.h"
#include "results/statistics.h"

/* Of runs first ... first + count - 1 of the agent. */
static sa_mean mean_of(const sa_report_panel *panel, const sa_report_agent *agent, size_t first,
                       size_t count) {
    const double *curves = agent->of->curve[sa_panel_shown(panel)];
    return sa_final_mean(curves + first * agent->of->rounds, count, agent->of->rounds);
}

sa_status sa_judge_check(const sa_report *report) {
    size_t judge = report->style.judge;
    for (size_t p = 0; judge > 0 && p < report->panel_count; p++) {
        const sa_report_panel *panel = &report->panels[p];
        if (!sa_panel_is_sweep(panel))
            return sa_fail(SA_INVALID, "--judge is for a sweep, which %s is not", panel->folders[0]);
        for (size_t i = 0; i < panel->agent_count; i++)
            if (panel->agents[i].of->runs <= judge)
                return sa_fail(SA_INVALID,
                               "--judge %zu leaves none of the %zu runs of %s to choose by: give more --runs",
                               judge, panel->agents[i].of->runs, panel->agents[i].of->label);
    }
    return SA_OK;
}

/* Cells that see the same draws, and are of the same agent. */
static bool are_rivals(const sa_report_panel *panel, size_t one, size_t other, const char *base) {
    const sa_grid *grid = &panel->results.spec->grid;
    return sa_sweep_is_of(panel, &panel->agents[other], base) &&
           sa_grid_group_of(grid, panel->agents[one].of->cell) ==
               sa_grid_group_of(grid, panel->agents[other].of->cell);
}

static void add_verdict(sa_buffer *text, const sa_report_panel *panel, const sa_report_agent *best,
                        size_t judge) {
    size_t chosen = best->of->runs - judge;
    sa_mean before = mean_of(panel, best, 0, chosen), after = mean_of(panel, best, chosen, judge);
    sa_buffer_format(text, "chosen by %zu runs: ", chosen);
    sa_buffer_text(text, best->of->label);
    sa_buffer_text(text, ", mean ");
    sa_buffer_number(text, before.mean, 5);
    sa_buffer_format(text, " there; judged by %zu other%s: mean ", judge, judge == 1 ? "" : "s");
    sa_buffer_number(text, after.mean, 5);
    if (!isnan(after.low)) {
        sa_buffer_text(text, ", sd ");
        sa_buffer_number(text, after.sd, 5);
        sa_buffer_text(text, ", 95% interval ");
        sa_buffer_number(text, after.low, 5);
        sa_buffer_text(text, " to ");
        sa_buffer_number(text, after.high, 5);
    }
    sa_buffer_text(text, "\n");
}

sa_status sa_judge_text(const sa_report *report, const sa_report_panel *panel, sa_buffer *text) {
    size_t judge = report->style.judge;
    for (size_t i = 0; judge > 0 && i < panel->agent_count; i++) {
        char *base;
        bool first = true;
        size_t best = i;
        SA_TRY(sa_sweep_base(panel, i, &base, &(bool){false}));
        for (size_t k = 0; k < panel->agent_count; k++) {
            if (!are_rivals(panel, i, k, base)) continue;
            if (k < i) first = false; /* told with that one */
            const sa_report_agent *one = &panel->agents[k], *other = &panel->agents[best];
            if (mean_of(panel, one, 0, one->of->runs - judge).mean <
                mean_of(panel, other, 0, other->of->runs - judge).mean)
                best = k;
        }
        sa_free(base);
        if (first) add_verdict(text, panel, &panel->agents[best], judge);
    }
    return text->status;
}

/* ---- what a sweep cannot tell ---- */

void sa_sweep_note(const sa_report_panel *panel, sa_buffer *text) {
    bool estimates = false, varies = false;
    const sa_grid *grid = &panel->results.spec->grid;
    for (size_t i = 0; i < grid->count; i++) varies = varies || !strcmp(grid->axes[i].name, "regularization");
    for (size_t i = 0; i < panel->agent_count; i++) {
        const sa_options *options = panel->agents[i].of->options;
        estimates =
            estimates || options->bonus == SA_BONUS_POSTERIOR || options->linear_form == SA_LINEAR_FITTED;
    }
    if (varies && estimates)
        sa_buffer_text(text,
                       "lambda (regularization) is estimated from feedback by agents of the preset tuned: "
                       "the values of the sweep are where their estimates begin, and cells may be alike\n");
}
