/* From the folders that were given to a report. */
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "report/report.h"

void sa_report_destroy(sa_report *report) {
    if (!report) return;
    for (size_t i = 0; i < report->panel_count; i++) sa_panel_clear(&report->panels[i]);
    sa_free(report->panels);
    sa_reference_clear(report->published, report->published_count);
    sa_buffer_clear(&report->table);
    sa_free(report->style.against);
    sa_free(report->style.title);
    sa_free(report->note);
    sa_free(report->page);
    sa_free(report->command);
    sa_free(report->title);
    sa_free(report->figure);
    sa_free(report->folder);
    sa_free(report);
}

const char *sa_report_table(const sa_report *report) { return report->table.text ? report->table.text : ""; }
const char *sa_report_page(const sa_report *report) { return report->page ? report->page : ""; }
const char *sa_report_note(const sa_report *report) { return report->note ? report->note : ""; }

/* Reads folders[i] (or the panel `name` in it) of all, and merges them. */
static sa_status read_panel(const char *const *folders, size_t count, const char *name,
                            sa_report_panel *out) {
    char **paths;
    sa_status status = SA_OK;
    SA_TRY(sa_alloc_array(count, sizeof *paths, &paths));
    for (size_t i = 0; status == SA_OK && i < count; i++)
        status = name ? sa_format(&paths[i], "%s/%s", folders[i], name) : sa_copy_text(folders[i], &paths[i]);
    if (status == SA_OK) status = sa_panel_read((const char *const *)paths, count, out);
    if (status == SA_OK) status = sa_panel_summarise(out);
    for (size_t i = 0; i < count; i++) sa_free(paths[i]);
    sa_free(paths);
    return status;
}

static sa_status same_figure(const sa_figure_folder *one, const char *folder, const char *other_folder) {
    sa_figure_folder other;
    SA_TRY(sa_figure_read(other_folder, &other));
    bool same = !strcmp(one->name, other.name) && one->count == other.count;
    for (size_t i = 0; same && i < one->count; i++) same = !strcmp(one->panels[i], other.panels[i]);
    sa_status status =
        same ? SA_OK
             : sa_fail(SA_INVALID, "%.200s is %s with %zu panels and %.200s is %s with %zu, other ones",
                       folder, one->name, one->count, other_folder, other.name, other.count);
    sa_figure_clear(&other);
    return status;
}

static sa_status open_figure(const char *const *folders, size_t count, sa_report *report) {
    sa_figure_folder figure;
    SA_TRY(sa_figure_read(folders[0], &figure));
    sa_status status = SA_OK;
    for (size_t i = 1; status == SA_OK && i < count; i++)
        status = same_figure(&figure, folders[0], folders[i]);
    if (status == SA_OK) status = sa_alloc_array(figure.count, sizeof *report->panels, &report->panels);
    if (status == SA_OK) report->panel_count = figure.count;
    for (size_t i = 0; status == SA_OK && i < figure.count; i++)
        status = read_panel(folders, count, figure.panels[i], &report->panels[i]);
    if (status == SA_OK) {
        report->figure = figure.name;
        report->title = figure.title;
        report->command = figure.command;
        figure.name = figure.title = figure.command = NULL;
    }
    sa_figure_clear(&figure);
    return status;
}

static sa_status open_experiment(const char *const *folders, size_t count, sa_report *report) {
    SA_TRY(sa_copy_text("", &report->figure));
    SA_TRY(sa_alloc_array(1, sizeof *report->panels, &report->panels));
    report->panel_count = 1;
    return read_panel(folders, count, NULL, &report->panels[0]);
}

static sa_status open_all(const char *const *folders, size_t count, sa_report *report) {
    bool figure = sa_is_figure(folders[0]);
    SA_TRY(sa_copy_text(folders[0], &report->folder));
    for (size_t i = 1; i < count; i++)
        if (sa_is_figure(folders[i]) != figure)
            return sa_fail(SA_INVALID, "%.300s is the folder of %s and %.300s of %s", folders[0],
                           figure ? "a figure" : "an experiment", folders[i],
                           figure ? "an experiment" : "a figure");
    return figure ? open_figure(folders, count, report) : open_experiment(folders, count, report);
}

/* Each folder as a panel of its own. */
static sa_status open_panels(const char *const *folders, size_t count, sa_report *report) {
    SA_TRY(sa_copy_text(folders[0], &report->folder));
    SA_TRY(sa_copy_text("", &report->figure));
    if (count > SA_FIGURE_PANELS)
        return sa_fail(SA_INVALID, "%zu panels are more than %d", count, SA_FIGURE_PANELS);
    SA_TRY(sa_alloc_array(count, sizeof *report->panels, &report->panels));
    for (size_t i = 0; i < count; i++) {
        report->panel_count++;
        SA_TRY(read_panel(&folders[i], 1, NULL, &report->panels[i]));
    }
    return SA_OK;
}

static sa_status open_with(sa_status (*open)(const char *const *folders, size_t count, sa_report *report),
                           const char *const *folders, size_t count, sa_report **out) {
    sa_report *report;
    if (count == 0) return sa_fail(SA_INVALID, "a report needs a result folder");
    SA_TRY(sa_alloc_array(1, sizeof *report, &report));
    sa_status status = sa_copy_text("", &report->style.title);
    if (status == SA_OK) status = sa_copy_text("", &report->style.against);
    if (status == SA_OK) status = open(folders, count, report);
    if (status == SA_OK) status = sa_report_finish(report);
    if (status == SA_OK)
        *out = report;
    else
        sa_report_destroy(report);
    return status;
}

sa_status sa_report_open(const char *const *folders, size_t count, sa_report **out) {
    return open_with(open_all, folders, count, out);
}

sa_status sa_report_open_panels(const char *const *folders, size_t count, sa_report **out) {
    return open_with(open_panels, folders, count, out);
}

/* ---- published curves ---- */

/* The curve of the same figure if there is one, else of any: the same experiment may be in two. */
static const sa_published *find(const sa_published *all, size_t count, const char *figure,
                                const sa_report_panel *panel, const sa_report_agent *agent) {
    const sa_published *found = NULL;
    size_t index;
    for (size_t i = 0; i < count; i++) {
        const sa_published *one = &all[i];
        if (strcmp(one->score, panel->options->environment) || one->dim != (size_t)panel->options->dim ||
            strcmp(one->algorithm, agent->of->label) || !sa_published_end(panel, one, &index))
            continue;
        if (!strcmp(one->figure, figure)) return one;
        if (!found) found = one;
    }
    return found;
}

static const char *name_of(int regret) { return regret == SA_REGRET_REALISED ? "realised" : "expected"; }

/* One can be 70 more than the other, by the chance of the noise alone. */
static sa_status refuse(int published, int shown) {
    return sa_fail(
        SA_INVALID,
        "the published curves are of %s regret, and %s regret is shown: show the same (report --regret "
        "%s, reproduce --show-regret %s)",
        name_of(published), name_of(shown), name_of(published), name_of(published));
}

static sa_status match(sa_report *report, const sa_published *published, size_t count) {
    for (size_t p = 0; p < report->panel_count; p++) {
        sa_report_panel *panel = &report->panels[p];
        for (size_t i = 0; i < panel->agent_count; i++) {
            const sa_published *found = find(published, count, report->figure, panel, &panel->agents[i]);
            if (found && found->regret != panel->shown) return refuse(found->regret, panel->shown);
        }
        for (size_t i = 0; i < panel->agent_count; i++)
            panel->agents[i].published = find(published, count, report->figure, panel, &panel->agents[i]);
    }
    return SA_OK;
}

sa_status sa_report_match(sa_report *report) {
    return match(report, report->published, report->published_count);
}

sa_status sa_report_reference(sa_report *report, const char *path) {
    sa_published *published;
    size_t count;
    if (!report || !path) return sa_fail(SA_INVALID, "sa_report_reference needs a report and a file");
    SA_TRY(sa_reference_read(path, &published, &count));
    sa_status status = match(report, published, count);
    if (status != SA_OK) {
        sa_reference_clear(published, count);
        return status;
    }
    sa_reference_clear(report->published, report->published_count);
    report->published = published;
    report->published_count = count;
    return sa_report_finish(report);
}

sa_status sa_report_check_reference(const char *path, const char *regret) {
    sa_published *published;
    size_t count;
    SA_TRY(sa_reference_read(path, &published, &count));
    sa_status status = SA_OK;
    for (size_t i = 0; regret && status == SA_OK && i < count; i++)
        if (strcmp(regret, name_of(published[i].regret)))
            status = refuse(published[i].regret, !published[i].regret);
    sa_reference_clear(published, count);
    return status;
}
