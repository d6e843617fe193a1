/* Everything is made first and then written, the page last: where it is, the rest is. */
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "report/report.h"

typedef struct made {
    sa_buffer *pictures; /* (panels) SVG, for the page */
    sa_buffer svg, png, pdf, table, curves, latex, page;
} made;

static void made_clear(made *self, size_t panels) {
    for (size_t i = 0; self->pictures && i < panels; i++) sa_buffer_clear(&self->pictures[i]);
    sa_free(self->pictures);
    sa_buffer_clear(&self->svg);
    sa_buffer_clear(&self->png);
    sa_buffer_clear(&self->pdf);
    sa_buffer_clear(&self->table);
    sa_buffer_clear(&self->curves);
    sa_buffer_clear(&self->latex);
    sa_buffer_clear(&self->page);
}

static sa_status draw(const sa_report *report, made *self) {
    bool html = report->style.format == SA_FORMAT_HTML;
    for (size_t i = 0; html && i < report->panel_count; i++)
        SA_TRY(sa_figure_panel(report, &report->panels[i], &self->pictures[i]));
    SA_TRY(sa_figure_all(report, SA_PICTURE_SVG, &self->svg));
    SA_TRY(sa_figure_all(report, SA_PICTURE_PDF, &self->pdf));
    return html ? sa_figure_all(report, SA_PICTURE_PNG, &self->png) : SA_OK;
}

/* Tables come without figures, too. */
static sa_status draw_or_note(sa_report *report, made *self) {
    sa_status status = draw(report, self);
    if (status != SA_UNSUPPORTED) return status;
    sa_buffer_clear(&self->svg);
    sa_buffer_clear(&self->png);
    sa_buffer_clear(&self->pdf);
    return sa_format(&report->note, "There are no figures: %s.", sa_last_error());
}

static sa_status make(sa_report *report, made *self) {
    int format = report->style.format;
    SA_TRY(sa_alloc_array(report->panel_count, sizeof *self->pictures, &self->pictures));
    sa_free(report->note);
    report->note = NULL;
    if (format != SA_FORMAT_CSV) SA_TRY(draw_or_note(report, self));
    if (format == SA_FORMAT_LATEX) return sa_table_latex(report, &self->latex);
    sa_table_csv(report, &self->table);
    sa_curves_csv(report, &self->curves);
    return format == SA_FORMAT_CSV
               ? SA_OK
               : sa_page_make(report, self->pictures, sa_report_note(report), &self->page);
}

static sa_status write_file(const char *folder, const char *name, const char *ending,
                            const sa_buffer *buffer) {
    char *path;
    SA_TRY(buffer->status);
    SA_TRY(sa_format(&path, "%s/%s%s", folder, name, ending));
    sa_status status = sa_file_write(path, buffer->text, buffer->size);
    sa_free(path);
    return status;
}

/* sweep.svg, .pdf and .png, or sweep-LABEL.svg and so on where there are several agents. */
static sa_status write_heat_maps(const sa_report *report, const char *folder) {
    static const char *const endings[] = {
        [SA_PICTURE_SVG] = ".svg", [SA_PICTURE_PNG] = ".png", [SA_PICTURE_PDF] = ".pdf"};
    const sa_report_panel *panel = &report->panels[0];
    for (size_t i = 0; i < panel->agent_count; i++) {
        char *base, *name = NULL;
        bool first;
        SA_TRY(sa_sweep_base(panel, i, &base, &first));
        sa_status status = first ? sa_format(&name, "sweep%s%s", *base ? "-" : "", base) : SA_OK;
        for (int kind = SA_PICTURE_SVG; status == SA_OK && first && kind <= SA_PICTURE_PDF; kind++) {
            sa_buffer picture = {0};
            status = sa_heat_map(report, panel, base, kind, &picture);
            if (status == SA_OK) status = write_file(folder, name, endings[kind], &picture);
            sa_buffer_clear(&picture);
        }
        sa_free(name);
        sa_free(base);
        SA_TRY(status);
    }
    return SA_OK;
}

static sa_status write_all(const sa_report *report, const char *folder, const made *self) {
    const char *figure = *report->figure ? report->figure : "regret";
    const struct {
        const char *name, *ending;
        const sa_buffer *buffer;
    } files[] = {{figure, ".svg", &self->svg},      {figure, ".png", &self->png},
                 {figure, ".pdf", &self->pdf},      {"table", ".csv", &self->table},
                 {"curves", ".csv", &self->curves}, {"table", ".tex", &self->latex},
                 {"report", ".html", &self->page}};
    SA_TRY(sa_folder_make(folder));
    if (self->svg.text && sa_panel_is_sweep(&report->panels[0])) SA_TRY(write_heat_maps(report, folder));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i].buffer->text)
            SA_TRY(write_file(folder, files[i].name, files[i].ending, files[i].buffer));
    return SA_OK;
}

/* What was merged, or is still in parts, becomes an ordinary result; panels of a figure in folders of their
 * own. */
static sa_status keep(const sa_report *report, const char *folder, char **note) {
    const char *panels[SA_FIGURE_PANELS];
    if (!*report->figure && report->panel_count == 1) return sa_panel_keep(&report->panels[0], folder, note);
    for (size_t i = 0; i < report->panel_count; i++) {
        char *path;
        SA_TRY(sa_format(&path, "%s/%s", folder, report->panels[i].name));
        sa_status status = *note ? SA_OK : sa_panel_keep(&report->panels[i], path, note);
        sa_free(path);
        SA_TRY(status);
        panels[i] = report->panels[i].name;
    }
    if (!*report->figure || report->panels[0].folder_count == 1 || sa_is_figure(folder)) return SA_OK;
    return sa_figure_write(folder, report->figure, report->title, report->command, panels,
                           report->panel_count);
}

sa_status sa_report_write(sa_report *report, const char *folder) {
    made self = {0};
    char *page, *busy = NULL;
    static const char *const named[] = {"report.html", "table.tex", "table.csv"};
    if (!folder) folder = report->folder;
    SA_TRY(sa_report_finish(report));
    SA_TRY(keep(report, folder, &busy));
    sa_status status = make(report, &self);
    if (busy && !report->note)
        report->note = busy;
    else
        sa_free(busy);
    if (status == SA_OK) status = write_all(report, folder, &self);
    made_clear(&self, report->panel_count);
    SA_TRY(status);
    SA_TRY(sa_format(&page, "%s/%s", folder, named[report->style.format]));
    sa_free(report->page);
    report->page = page;
    return SA_OK;
}
