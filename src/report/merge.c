/* Folders of one experiment that was split by runs, joined into one. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/report.h"

/* ---- may they be joined? ---- */

static sa_status compare_options(const sa_options *one, const sa_options *other, const char *label, const char *folder,
                                 const char *other_folder) {
    char value[SA_REPORT_VALUE], other_value[SA_REPORT_VALUE];
    sa_option_info info;
    for (size_t i = 0; sa_option_at(i, &info); i++) {
        bool matters =
            label ? info.scope == SA_SCOPE_AGENT : info.scope == SA_SCOPE_ENVIRONMENT || info.scope == SA_SCOPE_EXPERIMENT;
        if (!matters || !strcmp(info.name, "runs") || !strcmp(info.name, "first-run")) continue;
        SA_TRY(sa_options_get(one, info.name, value, sizeof value));
        SA_TRY(sa_options_get(other, info.name, other_value, sizeof other_value));
        if (!strcmp(value, other_value)) continue;
        return sa_fail(SA_INVALID,
                       "%.200s and %.200s are different experiments: %s%s%s--%s is %.100s here and %.100s there", folder,
                       other_folder, label ? "agent " : "", label ? label : "", label ? ": " : "", info.name,
                       *value ? value : "\"\"", *other_value ? other_value : "\"\"");
    }
    return SA_OK;
}

static sa_status compare(const sa_report_panel *one, const sa_report_panel *other) {
    const char *folder = one->folders[0], *other_folder = other->folders[0];
    SA_TRY(compare_options(one->options, other->options, NULL, folder, other_folder));
    for (size_t i = 0; i < one->agent_count && i < other->agent_count; i++) {
        const sa_report_agent *a = &one->agents[i], *b = &other->agents[i];
        if (strcmp(a->label, b->label))
            return sa_fail(SA_INVALID, "%.200s and %.200s are different experiments: agent %zu is %s here and %s there",
                           folder, other_folder, i + 1, a->label, b->label);
        SA_TRY(compare_options(a->options, b->options, a->label, folder, other_folder));
    }
    if (one->agent_count == other->agent_count) return SA_OK;
    return sa_fail(SA_INVALID, "%.200s and %.200s are different experiments: %zu agents here and %zu there", folder,
                   other_folder, one->agent_count, other->agent_count);
}

static sa_status check_overlap(const sa_report_panel *one, const sa_report_panel *other) {
    sa_run_range a = one->range[0], b = other->range[0];
    uint64_t first = a.first > b.first ? a.first : b.first, a_end = a.first + a.count, b_end = b.first + b.count;
    uint64_t end = a_end < b_end ? a_end : b_end;
    if (first >= end) return SA_OK;
    if (end - first == 1)
        return sa_fail(SA_INVALID, "run %" PRIu64 " is in both %.300s and %.300s", first, one->folders[0],
                       other->folders[0]);
    return sa_fail(SA_INVALID, "runs %" PRIu64 " to %" PRIu64 " are in both %.300s and %.300s", first, end - 1,
                   one->folders[0], other->folders[0]);
}

/* ---- joining ---- */

static int by_first_run(const void *one, const void *other) {
    const sa_report_panel *a = *(sa_report_panel *const *)one, *b = *(sa_report_panel *const *)other;
    return (a->range[0].first > b->range[0].first) - (a->range[0].first < b->range[0].first);
}

/* The rows of agent i, in the order of the runs. */
static sa_status join_agent(sa_report_panel *const *sorted, size_t count, size_t i, size_t runs, sa_report_agent *agent) {
    size_t rounds = sorted[0]->rounds;
    agent->seconds = 0;
    agent->peak_bytes = agent->diverged_trainings = 0;
    agent->certificate = NAN;
    for (size_t part = 0; part < count; part++) {
        const sa_report_agent *from = &sorted[part]->agents[i];
        agent->seconds += from->seconds * (double)sorted[part]->runs / (double)runs;
        if (from->peak_bytes > agent->peak_bytes) agent->peak_bytes = from->peak_bytes;
        agent->diverged_trainings += from->diverged_trainings;
        agent->certificate = fmax(agent->certificate, from->certificate); /* NaN is less */
    }
    for (int kind = 0; kind < sa_panel_kinds(sorted[0]); kind++) {
        SA_TRY(sa_alloc_matrix(runs, rounds, sizeof(double), &agent->total[kind]));
        double *to = agent->total[kind];
        for (size_t part = 0; part < count; part++) {
            size_t numbers = sorted[part]->runs * rounds;
            memcpy(to, sorted[part]->agents[i].total[kind], numbers * sizeof *to);
            to += numbers;
        }
    }
    return SA_OK;
}

static sa_status join_folders(sa_report_panel *parts, size_t count, sa_report_panel *out) {
    SA_TRY(sa_alloc_array(count, sizeof *out->folders, &out->folders));
    SA_TRY(sa_alloc_array(count, sizeof *out->range, &out->range));
    for (size_t part = 0; part < count; part++) {
        SA_TRY(sa_copy_text(parts[part].folders[0], &out->folders[part]));
        out->range[part] = parts[part].range[0];
        out->folder_count++;
        out->runs += parts[part].runs;
    }
    return SA_OK;
}

static sa_status join(sa_report_panel *parts, sa_report_panel *const *sorted, size_t count, sa_report_panel *out) {
    const sa_report_panel *first = &parts[0];
    SA_TRY(join_folders(parts, count, out));
    out->rounds = first->rounds;
    SA_TRY(sa_copy_text(first->name, &out->name));
    if (!(out->options = sa_options_copy(first->options))) return SA_OUT_OF_MEMORY;
    out->options->runs = (int64_t)out->runs;
    out->options->first_run = sorted[0]->options->first_run;
    SA_TRY(sa_alloc_array(first->agent_count, sizeof *out->agents, &out->agents));
    out->agent_count = first->agent_count;
    for (size_t i = 0; i < first->agent_count; i++) {
        SA_TRY(sa_copy_text(first->agents[i].label, &out->agents[i].label));
        if (!(out->agents[i].options = sa_options_copy(first->agents[i].options))) return SA_OUT_OF_MEMORY;
        SA_TRY(join_agent(sorted, count, i, out->runs, &out->agents[i]));
    }
    return SA_OK;
}

sa_status sa_panel_merge(sa_report_panel *parts, size_t count, sa_report_panel *out) {
    if (count == 1) {
        *out = parts[0];
        parts[0] = (sa_report_panel){0};
        return SA_OK;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            SA_TRY(compare(&parts[j], &parts[i]));
            SA_TRY(check_overlap(&parts[j], &parts[i]));
        }
    sa_report_panel **sorted, panel = {0};
    SA_TRY(sa_alloc_array(count, sizeof *sorted, &sorted));
    for (size_t i = 0; i < count; i++) sorted[i] = &parts[i];
    qsort(sorted, count, sizeof *sorted, by_first_run);
    sa_status status = join(parts, sorted, count, &panel);
    sa_free(sorted);
    if (status == SA_OK)
        *out = panel;
    else
        sa_panel_clear(&panel);
    return status;
}
