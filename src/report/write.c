/* Everything is made first and then written, the page last: where it is, the rest is. */
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "report/report.h"

typedef struct made {
    sa_buffer *pictures; /* (panels) SVG */
    sa_buffer svg, png, table, curves, page;
} made;

static void made_clear(made *self, size_t panels) {
    for (size_t i = 0; self->pictures && i < panels; i++) sa_buffer_clear(&self->pictures[i]);
    sa_free(self->pictures);
    sa_buffer_clear(&self->svg);
    sa_buffer_clear(&self->png);
    sa_buffer_clear(&self->table);
    sa_buffer_clear(&self->curves);
    sa_buffer_clear(&self->page);
}

static sa_status draw(const sa_report *report, made *self) {
    for (size_t i = 0; i < report->panel_count; i++)
        SA_TRY(sa_figure_panel(&report->panels[i], SA_PICTURE_SVG, false, &self->pictures[i]));
    SA_TRY(sa_figure_all(report, SA_PICTURE_SVG, &self->svg));
    return sa_figure_all(report, SA_PICTURE_PNG, &self->png);
}

static sa_status make(sa_report *report, made *self) {
    SA_TRY(sa_alloc_array(report->panel_count, sizeof *self->pictures, &self->pictures));
    sa_status status = draw(report, self);
    sa_free(report->note);
    report->note = NULL;
    if (status == SA_UNSUPPORTED) { /* the tables come without figures */
        sa_buffer_clear(&self->svg);
        sa_buffer_clear(&self->png);
        status = sa_format(&report->note, "There are no figures: %s.", sa_last_error());
    }
    SA_TRY(status);
    sa_table_csv(report, &self->table);
    sa_curves_csv(report, &self->curves);
    return sa_page_make(report, self->pictures, sa_report_note(report), &self->page);
}

static sa_status write_file(const char *folder, const char *name, const char *ending, const sa_buffer *buffer) {
    char *path;
    SA_TRY(buffer->status);
    SA_TRY(sa_format(&path, "%s/%s%s", folder, name, ending));
    sa_status status = sa_file_write(path, buffer->text, buffer->size);
    sa_free(path);
    return status;
}

/* sweep.svg, or sweep-LABEL.svg where there are several agents. */
static sa_status write_heat_maps(const sa_report_panel *panel, const char *folder) {
    for (size_t i = 0; i < panel->agent_count; i++) {
        char *base, *name = NULL;
        bool first;
        sa_buffer svg = {0};
        SA_TRY(sa_sweep_base(panel, i, &base, &first));
        sa_status status = first ? sa_sweep_heat_map(panel, base, &svg) : SA_OK;
        if (status == SA_OK && first) status = sa_format(&name, "sweep%s%s", *base ? "-" : "", base);
        if (status == SA_OK && first) status = write_file(folder, name, ".svg", &svg);
        sa_buffer_clear(&svg);
        sa_free(name);
        sa_free(base);
        SA_TRY(status);
    }
    return SA_OK;
}

static sa_status write_all(const sa_report *report, const char *folder, const made *self) {
    const char *figure = *report->figure ? report->figure : "regret";
    SA_TRY(sa_folder_make(folder));
    if (self->svg.text) SA_TRY(write_file(folder, figure, ".svg", &self->svg));
    if (self->png.text) SA_TRY(write_file(folder, figure, ".png", &self->png));
    if (sa_panel_is_sweep(&report->panels[0])) SA_TRY(write_heat_maps(&report->panels[0], folder));
    SA_TRY(write_file(folder, "table", ".csv", &self->table));
    SA_TRY(write_file(folder, "curves", ".csv", &self->curves));
    return write_file(folder, "report", ".html", &self->page);
}

/* What was merged, or is still in parts, becomes an ordinary result; panels of a figure in folders of their own. */
static sa_status keep(const sa_report *report, const char *folder, char **note) {
    const char *panels[SA_FIGURE_PANELS];
    if (!*report->figure) return sa_panel_keep(&report->panels[0], folder, note);
    for (size_t i = 0; i < report->panel_count; i++) {
        char *path;
        SA_TRY(sa_format(&path, "%s/%s", folder, report->panels[i].name));
        sa_status status = *note ? SA_OK : sa_panel_keep(&report->panels[i], path, note);
        sa_free(path);
        SA_TRY(status);
        panels[i] = report->panels[i].name;
    }
    if (report->panels[0].folder_count == 1 || sa_is_figure(folder)) return SA_OK;
    return sa_figure_write(folder, report->figure, report->title, report->command, panels, report->panel_count);
}

sa_status sa_report_write(sa_report *report, const char *folder) {
    made self = {0};
    char *page, *busy = NULL;
    if (!folder) folder = report->folder;
    SA_TRY(keep(report, folder, &busy));
    sa_status status = make(report, &self);
    if (busy && !report->note)
        report->note = busy;
    else
        sa_free(busy);
    if (status == SA_OK) status = write_all(report, folder, &self);
    made_clear(&self, report->panel_count);
    SA_TRY(status);
    SA_TRY(sa_format(&page, "%s/report.html", folder));
    sa_free(report->page);
    report->page = page;
    return SA_OK;
}
