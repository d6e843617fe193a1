/* The numbers of a report. Final regrets: mean, deviation, Student's 95% interval. Differences are taken run
 * by run, since all agents of a run see the same draws, and then averaged likewise. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/report.h"
#include "results/p_value.h"
#include "results/statistics.h"

enum { POINTS = 80 };

void sa_curve_clear(sa_curve *curve) {
    sa_free(curve->round);
    sa_free(curve->mean);
    sa_free(curve->sd);
    sa_free(curve->low);
    sa_free(curve->high);
    *curve = (sa_curve){0};
}

sa_mean sa_mean_of(double mean, double sd, size_t runs) {
    if (runs < 2) return (sa_mean){mean, sd, NAN, NAN, NAN};
    double half = sa_student_quantile(runs - 1) * sd / sqrt((double)runs);
    return (sa_mean){mean, sd, mean - half, mean + half, NAN};
}

/* Over runs, at one round (from 1). */
static void at_round(const double *regret, size_t runs, size_t rounds, size_t round, double *mean,
                     double *sd) {
    double sum = 0, squares = 0;
    for (size_t run = 0; run < runs; run++) sum += regret[run * rounds + round - 1];
    *mean = sum / (double)runs;
    for (size_t run = 0; run < runs; run++) {
        double off = regret[run * rounds + round - 1] - *mean;
        squares += off * off;
    }
    *sd = runs > 1 ? sqrt(squares / (double)(runs - 1)) : NAN;
}

double sa_mean_at(const sa_report_agent *agent, int kind, size_t round) {
    double mean, sd;
    at_round(agent->of->curve[kind], agent->of->runs, agent->of->rounds,
             round < agent->of->rounds ? round : agent->of->rounds, &mean, &sd);
    return mean;
}

static int by_size(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* Between the two runs that it lies between, as numpy.quantile has it. */
static double quantile(const double *sorted, size_t count, double share) {
    double place = share * (double)(count - 1);
    size_t low = (size_t)place, next = low + 1 < count ? low + 1 : low;
    return sorted[low] + (place - (double)low) * (sorted[next] - sorted[low]);
}

static void set_band(const double *regret, size_t runs, size_t rounds, int band, sa_curve *curve, size_t i,
                     double *sorted) {
    double mean = curve->mean[i], half = curve->sd[i];
    if (band == SA_BAND_SE) half /= sqrt((double)runs);
    if (band == SA_BAND_CI95) half *= sa_student_quantile(runs - 1) / sqrt((double)runs);
    curve->low[i] = mean - half;
    curve->high[i] = mean + half;
    if (band != SA_BAND_QUARTILES && band != SA_BAND_RANGE) return;
    for (size_t run = 0; run < runs; run++) sorted[run] = regret[run * rounds + curve->round[i] - 1];
    qsort(sorted, runs, sizeof *sorted, by_size);
    curve->low[i] = quantile(sorted, runs, band == SA_BAND_RANGE ? 0 : 0.25);
    curve->high[i] = quantile(sorted, runs, band == SA_BAND_RANGE ? 1 : 0.75);
}

/* One run has no band. */
static sa_status make_curve(const double *regret, size_t runs, size_t rounds, int band, sa_curve *curve) {
    size_t step = rounds / POINTS > 1 ? rounds / POINTS : 1, count = (rounds + step - 1) / step;
    double *sorted; /* (runs) */
    bool banded = band != SA_BAND_NONE && runs > 1;
    sa_curve_clear(curve);
    SA_TRY(sa_alloc_array(count, sizeof *curve->round, &curve->round));
    SA_TRY(sa_alloc_array(count, sizeof *curve->mean, &curve->mean));
    SA_TRY(sa_alloc_array(count, sizeof *curve->sd, &curve->sd));
    if (banded) SA_TRY(sa_alloc_array(count, sizeof *curve->low, &curve->low));
    if (banded) SA_TRY(sa_alloc_array(count, sizeof *curve->high, &curve->high));
    SA_TRY(sa_alloc_array(runs, sizeof *sorted, &sorted));
    curve->count = count;
    for (size_t i = 0; i < count; i++) {
        curve->round[i] = (i + 1) * step < rounds ? (i + 1) * step : rounds;
        at_round(regret, runs, rounds, curve->round[i], &curve->mean[i], &curve->sd[i]);
        if (banded) set_band(regret, runs, rounds, band, curve, i, sorted);
    }
    sa_free(sorted);
    return SA_OK;
}

sa_status sa_panel_curves(sa_report_panel *panel, int band) {
    for (size_t i = 0; i < panel->agent_count; i++) {
        sa_report_agent *agent = &panel->agents[i];
        size_t runs = agent->totals.alike ? 1 : agent->of->runs;
        for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
            if (sa_panel_tells(panel, kind))
                SA_TRY(
                    make_curve(agent->of->curve[kind], runs, agent->of->rounds, band, &agent->curve[kind]));
    }
    return SA_OK;
}

/* Of the runs that both have. */
static sa_status differ(const sa_report_panel *panel, sa_report_agent *agent, int kind) {
    const sa_report_agent *first = &panel->agents[agent->against];
    const double *own = agent->of->curve[kind], *other = first->of->curve[kind];
    size_t common = 0, row;
    double *difference; /* (common) */
    SA_TRY(sa_alloc_array(agent->of->runs, sizeof *difference, &difference));
    for (size_t run = 0; run < agent->of->runs; run++)
        if (sa_agent_has(first->of, (uint64_t)agent->of->run[run].run, &row))
            difference[common++] =
                own[(run + 1) * agent->of->rounds - 1] - other[(row + 1) * first->of->rounds - 1];
    if (agent->totals.alike && first->totals.alike && common > 1) common = 1;
    agent->difference[kind] =
        common ? sa_final_mean(difference, common, 1) : (sa_mean){NAN, NAN, NAN, NAN, NAN};
    sa_free(difference);
    bool is_itself = agent == first;
    agent->p[kind] =
        is_itself ? NAN : sa_p_value(agent->difference[kind].mean, agent->difference[kind].sd, common);
    return SA_OK;
}

sa_status sa_panel_correct(sa_report_panel *panel) {
    double *p; /* (agents) */
    SA_TRY(sa_alloc_array(panel->agent_count, sizeof *p, &p));
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++) {
        if (!sa_panel_tells(panel, kind)) continue;
        for (size_t i = 0; i < panel->agent_count; i++) p[i] = panel->agents[i].p[kind];
        sa_holm_correct(p, panel->agent_count);
        for (size_t i = 0; i < panel->agent_count; i++) panel->agents[i].holm[kind] = p[i];
    }
    sa_free(p);
    return SA_OK;
}

sa_status sa_agent_compare(const sa_report_panel *panel, sa_report_agent *agent) {
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
        if (sa_panel_tells(panel, kind)) SA_TRY(differ(panel, agent, kind));
    return SA_OK;
}

sa_status sa_panel_compare(sa_report_panel *panel, size_t reference) {
    panel->reference = reference;
    panel->against_best = false;
    for (size_t i = 0; i < panel->agent_count; i++) {
        panel->agents[i].against = reference;
        SA_TRY(sa_agent_compare(panel, &panel->agents[i]));
    }
    return sa_panel_correct(panel);
}

/* Once for agents that have the same. */
static sa_status make_note(sa_report_panel *panel) {
    sa_buffer all = {0};
    char *before = NULL;
    sa_status status = SA_OK;
    sa_buffer_text(&all, "");
    for (size_t i = 0; status == SA_OK && i < panel->agent_count; i++) {
        const sa_report_agent *agent = &panel->agents[i];
        char *note = NULL;
        status = sa_regret_note(agent->of->options, agent->totals.unproven_rounds, &note);
        if (status == SA_OK && *note && (!before || strcmp(before, note)))
            sa_buffer_format(&all, "%sfrom %s on: %s", all.size ? "; " : "", agent->name, note);
        sa_free(before);
        before = note;
    }
    sa_free(before);
    if (status == SA_OK) status = all.status;
    if (status == SA_OK) status = sa_copy_text(all.text ? all.text : "", &panel->note);
    sa_buffer_clear(&all);
    return status;
}

sa_status sa_panel_summarise(sa_report_panel *panel) {
    SA_TRY(sa_panel_is_sweep(panel) ? sa_sweep_title(panel, &panel->title)
                                    : sa_panel_title(panel->options, &panel->title));
    for (size_t i = 0; i < panel->agent_count; i++) {
        sa_report_agent *agent = &panel->agents[i];
        SA_TRY(sa_agent_display(agent->of->label, agent->of->options, &agent->name));
    }
    SA_TRY(make_note(panel));
    return sa_panel_is_sweep(panel) ? sa_sweep_compare(panel) : sa_panel_compare(panel, 0);
}

bool sa_panel_is_certified(const sa_report_panel *panel) {
    for (size_t i = 0; i < panel->agent_count; i++)
        if (panel->agents[i].totals.certificate > 1) return true;
    return false;
}
