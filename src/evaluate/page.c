/* An evaluation as one HTML page without scripts or other files: estimates with their intervals side by
 * side, how the weights are spread, and the mean feedback of each position. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/functions.h"
#include "base/memory.h"
#include "evaluate/evaluate.h"

enum { WIDTH = 520, ROW = 22, BINS = 24 };

static const char HEAD[] =
    "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Evaluation</title><style>"
    "body{font:15px/1.45 system-ui,sans-serif;max-width:62em;margin:2em auto;padding:0 1em;color:#1c2330}"
    "table{border-collapse:collapse}td,th{padding:.15em .7em;text-align:right;white-space:nowrap}"
    "th{border-bottom:1px solid "
    "#99a;font-weight:600}td:first-child,th:first-child,td:nth-child(2),th:nth-child(2){text-align:left}"
    "tr:nth-child(even) td{background:#f4f6fa}.warn{background:#fff4dc;border-left:4px solid "
    "#d90;padding:.4em "
    ".8em;margin:.4em 0}"
    "svg{background:#fafbfd;border:1px solid #dde;display:block;margin:.5em 0}text{font-size:12px;fill:#334}"
    "</style></head><body>";

static void escape(sa_buffer *page, const char *text) {
    for (; *text; text++) {
        if (*text == '<')
            sa_buffer_text(page, "&lt;");
        else if (*text == '&')
            sa_buffer_text(page, "&amp;");
        else
            sa_buffer_bytes(page, text, 1);
    }
}

/* ---- estimates ---- */

static void table_row(sa_buffer *page, const char *policy, const char *name, const sa_estimate *estimate) {
    sa_buffer_text(page, "<tr><td>");
    escape(page, policy);
    sa_buffer_format(page, "<td>%s<td>%.6g<td>%.3g<td>[%.6g, %.6g]", name, estimate->value,
                     estimate->standard_error, estimate->ci95[0], estimate->ci95[1]);
    if (!isnan(estimate->effective_sample_size))
        sa_buffer_format(page, "<td>%.1f<td>%.4g<td>%.1f%%", estimate->effective_sample_size,
                         estimate->largest_weight, 100 * estimate->no_overlap);
    sa_buffer_text(page, "</tr>\n");
}

static void interval_row(sa_buffer *page, const sa_estimate *estimate, double low, double high, size_t row) {
    double unit = WIDTH / (high - low), y = (double)row * ROW + 14;
    double from = (estimate->ci95[0] - low) * unit, to = (estimate->ci95[1] - low) * unit;
    if (!isfinite(from)) from = to = (estimate->value - low) * unit;
    sa_buffer_format(
        page,
        "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#37b\" stroke-width=\"3\"/>"
        "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\" fill=\"#135\"/>",
        180 + from, 180 + to, y, y, 180 + (estimate->value - low) * unit, y);
}

static void bounds_of(const sa_evaluation *evaluation, double *low, double *high, size_t *rows) {
    *low = INFINITY, *high = -INFINITY, *rows = 0;
    for (size_t p = 0; p < evaluation->policy_count; p++)
        for (size_t i = 0; i < sa_estimator_count; i++) {
            const sa_estimate *estimate = &evaluation->policies[p].estimates[i];
            if (!evaluation->policies[p].computed[i]) continue;
            *low = fmin(*low, fmin(estimate->value, estimate->ci95[0]));
            *high = fmax(*high, fmax(estimate->value, estimate->ci95[1]));
            *rows += 1;
        }
    double room = *high > *low ? 0.03 * (*high - *low) : fabs(*low) + 1;
    *low -= room, *high += room;
}

static void write_intervals(sa_buffer *page, const sa_evaluation *evaluation) {
    double low, high;
    size_t rows, row = 0;
    bounds_of(evaluation, &low, &high, &rows);
    sa_buffer_format(
        page, "<svg width=\"%d\" height=\"%zu\" role=\"img\" aria-label=\"estimates and their intervals\">",
        WIDTH + 200, rows * ROW + 30);
    for (size_t p = 0; p < evaluation->policy_count; p++)
        for (size_t i = 0; i < sa_estimator_count; i++) {
            const sa_policy_result *policy = &evaluation->policies[p];
            if (!policy->computed[i]) continue;
            sa_buffer_format(page, "<text x=\"8\" y=\"%zu\">", row * ROW + 18);
            escape(page, policy->target.name);
            sa_buffer_format(page, " %s</text>", sa_estimators[i].name);
            interval_row(page, &policy->estimates[i], low, high, row++);
        }
    sa_buffer_format(page,
                     "<text x=\"180\" y=\"%zu\">%.5g</text><text x=\"%d\" y=\"%zu\" "
                     "text-anchor=\"end\">%.5g</text></svg>\n",
                     rows * ROW + 22, low, WIDTH + 180, rows * ROW + 22, high);
}

static void write_table(sa_buffer *page, const sa_evaluation *evaluation) {
    sa_buffer_text(
        page, "<table><tr><th>policy<th>estimator<th>value<th>error<th>95% interval<th>effective decisions"
              "<th>largest weight<th>no overlap</tr>\n");
    for (size_t p = 0; p < evaluation->policy_count; p++)
        for (size_t i = 0; i < sa_estimator_count; i++)
            if (evaluation->policies[p].computed[i])
                table_row(page, evaluation->policies[p].target.name, sa_estimators[i].name,
                          &evaluation->policies[p].estimates[i]);
    sa_estimate control;
    if (sa_evaluation_control(evaluation, &control)) table_row(page, "control", "measured", &control);
    sa_buffer_text(page, "</table>\n");
}

/* ---- weights ---- */

static void bar(sa_buffer *page, double x, double width, double height, const char *title) {
    sa_buffer_format(page,
                     "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                     "fill=\"#6a9bd1\"><title>%s</title></rect>",
                     x, 110 - height, width, height, title);
}

/* A histogram of the weights' decimal logarithms; those that are 0 are counted beside it. */
static void write_weights(sa_buffer *page, const sa_policy_result *policy, sa_weight_kind kind,
                          const char *title) {
    const sa_feedback_table *table = policy->sample.table;
    const double *weights = policy->sample.weights[kind];
    size_t count = sa_weight_is_long(kind) ? table->first[table->count] : table->count, bins[BINS] = {0},
           none = 0, most = 1;
    double low = INFINITY, high = -INFINITY;
    if (!weights || policy->sample.missing[kind]) return;
    for (size_t i = 0; i < count; i++)
        if (weights[i] > 0) low = fmin(low, sa_log10(weights[i])), high = fmax(high, sa_log10(weights[i]));
    if (!(high > low)) low -= 0.5, high = low + 1;
    for (size_t i = 0; i < count; i++) {
        if (!(weights[i] > 0)) {
            none++;
            continue;
        }
        size_t bin = (size_t)((sa_log10(weights[i]) - low) / (high - low) * BINS);
        bins[bin < BINS ? bin : BINS - 1]++;
    }
    for (size_t b = 0; b < BINS; b++) most = bins[b] > most ? bins[b] : most;
    sa_buffer_text(page, "<p>");
    escape(page, policy->target.name);
    sa_buffer_format(page,
                     ", %s: %zu of %zu weights are 0</p><svg width=\"%d\" height=\"135\" role=\"img\" "
                     "aria-label=\"weights\">",
                     title, none, count, WIDTH);
    for (size_t b = 0; b < BINS; b++) {
        char text[64];
        snprintf(text, sizeof text, "%zu weights", bins[b]);
        if (bins[b]) bar(page, 10 + (double)b * 20.8, 19, 100 * (double)bins[b] / (double)most, text);
    }
    sa_buffer_format(page,
                     "<text x=\"10\" y=\"128\">%.3g</text><text x=\"%d\" y=\"128\" "
                     "text-anchor=\"end\">%.3g</text></svg>\n",
                     sa_pow(10, low), WIDTH - 10, sa_pow(10, high));
}

/* ---- feedback by position ---- */

static sa_status write_positions(sa_buffer *page, const sa_feedback_table *table) {
    double *sums, largest = 0;
    SA_TRY(sa_alloc_matrix(2, table->longest + 1, sizeof *sums, &sums));
    double *counts = sums + table->longest + 1;
    for (size_t i = 0; i < table->count; i++)
        for (size_t at = table->first[i]; at < table->first[i + 1]; at++) {
            sums[at - table->first[i]] += table->feedback[at];
            counts[at - table->first[i]]++;
        }
    for (size_t k = 0; k < table->longest; k++) largest = fmax(largest, fabs(sums[k] / counts[k]));
    double step = (WIDTH - 20) / (double)(table->longest ? table->longest : 1);
    sa_buffer_format(
        page, "<svg width=\"%d\" height=\"135\" role=\"img\" aria-label=\"feedback by position\">", WIDTH);
    for (size_t k = 0; k < table->longest; k++) {
        char text[64];
        double mean = sums[k] / counts[k];
        snprintf(text, sizeof text, "position %zu: %.5g", k + 1, mean);
        bar(page, 10 + step * (double)k, 0.8 * step, largest > 0 ? 85 * fabs(mean) / largest : 0, text);
        sa_buffer_format(page, "<text x=\"%.1f\" y=\"127\">%.4g</text>", 12 + step * (double)k, mean);
    }
    sa_buffer_text(page, "</svg>\n");
    sa_free(sums);
    return SA_OK;
}

sa_status sa_evaluation_page(const sa_evaluation *evaluation, char **out) {
    static const char *const titles[] = {"whole slates", "arms at their positions", "first k arms"};
    sa_buffer page = {0};
    sa_buffer_text(&page, HEAD);
    sa_buffer_format(&page,
                     "<h1>What other policies would have earned</h1><p>%zu decisions; left out: %" PRIu64
                     " without feedback, %" PRIu64
                     " that are not final. A value is the mean a decision of the sum of its feedback.</p>\n",
                     evaluation->table.count, evaluation->without_feedback, evaluation->not_final);
    for (size_t i = 0; i < evaluation->warning_count; i++) {
        sa_buffer_text(&page, "<p class=\"warn\">");
        escape(&page, evaluation->warnings[i]);
        sa_buffer_text(&page, "</p>\n");
    }
    sa_buffer_text(&page, "<h2>Estimates and 95% intervals</h2>");
    write_intervals(&page, evaluation);
    write_table(&page, evaluation);
    sa_buffer_text(&page, "<h2>Weights</h2><p>Target over logged probability, on a logarithmic scale. A long "
                          "tail to the right: few "
                          "decisions carry the estimate.</p>");
    for (size_t p = 0; p < evaluation->policy_count; p++)
        for (int kind = 0; kind <= SA_WEIGHT_PREFIX; kind++)
            if (evaluation->policies[p].target.kind != SA_TARGET_LOGGED)
                write_weights(&page, &evaluation->policies[p], (sa_weight_kind)kind, titles[kind]);
    sa_buffer_text(&page, "<h2>Feedback by position</h2><p>The mean in the log.</p>");
    sa_status status = write_positions(&page, &evaluation->table);
    sa_buffer_text(&page, "</body></html>\n");
    if (status == SA_OK) status = page.status;
    if (status == SA_OK)
        *out = page.text;
    else
        sa_buffer_clear(&page);
    return status;
}

void sa_evaluation_text_free(char *text) { sa_free(text); }
