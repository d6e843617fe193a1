/* DIR/figure.json: which result folders in DIR are the panels of a figure, in which order. */
#include <inttypes.h>
#include <string.h>

#include <jansson.h>

#include "base/file.h"
#include "base/memory.h"
#include "report/report.h"

enum { FORMAT = 1 };

void sa_figure_clear(sa_figure_folder *figure) {
    for (size_t i = 0; i < figure->count; i++) sa_free(figure->panels[i]);
    sa_free(figure->panels);
    sa_free(figure->command);
    sa_free(figure->title);
    sa_free(figure->name);
    *figure = (sa_figure_folder){0};
}

static sa_status path_of(const char *folder, char **path) {
    return sa_format(path, "%s/figure.json", folder);
}

bool sa_is_figure(const char *folder) {
    char *path;
    if (path_of(folder, &path) != SA_OK) return false;
    bool there = sa_file_exists(path);
    sa_free(path);
    return there;
}

/* ---- writing ---- */

sa_status sa_figure_write(const char *folder, const char *name, const char *title, const char *command,
                          const char *const *panels, size_t count) {
    sa_buffer buffer = {0};
    char *path;
    SA_TRY(path_of(folder, &path));
    sa_buffer_format(&buffer, "{\n  \"format\": %d,\n  \"figure\": ", FORMAT);
    sa_buffer_quote(&buffer, name);
    sa_buffer_text(&buffer, ",\n  \"title\": ");
    sa_buffer_quote(&buffer, title);
    sa_buffer_text(&buffer, ",\n  \"command\": ");
    sa_buffer_quote(&buffer, command);
    sa_buffer_text(&buffer, ",\n  \"panels\": [");
    for (size_t i = 0; i < count; i++) {
        if (i > 0) sa_buffer_text(&buffer, ", ");
        sa_buffer_quote(&buffer, panels[i]);
    }
    sa_buffer_text(&buffer, "]\n}\n");
    sa_status status = buffer.status;
    if (status == SA_OK) status = sa_folder_make(folder);
    if (status == SA_OK) status = sa_file_write(path, buffer.text, buffer.size);
    sa_buffer_clear(&buffer);
    sa_free(path);
    return status;
}

/* ---- reading ---- */

/* A name that leads nowhere else. */
static bool plain(const char *name) { return name && *name && !strchr(name, '/') && *name != '.'; }

static sa_status take(const json_t *object, const char *path, sa_figure_folder *figure) {
    json_int_t format = 0;
    const char *name = NULL, *title = NULL, *command = NULL;
    json_t *panels = NULL;
    if (json_unpack((json_t *)object, "{s:I}", "format", &format))
        return sa_fail(SA_FORMAT, "%s has no \"format\"", path);
    if (format > FORMAT)
        return sa_fail(SA_NEWER,
                       "%s is of format %" PRId64 ", written by a newer version; this one reads up to %d",
                       path, (int64_t)format, FORMAT);
    if (json_unpack((json_t *)object, "{s:s, s:s, s:s, s:o}", "figure", &name, "title", &title, "command",
                    &command, "panels", &panels) ||
        !plain(name) || !json_is_array(panels) || json_array_size(panels) < 1 ||
        json_array_size(panels) > SA_FIGURE_PANELS)
        return sa_fail(SA_FORMAT, "%s has no figure, title, command and panels", path);
    SA_TRY(sa_copy_text(name, &figure->name));
    SA_TRY(sa_copy_text(title, &figure->title));
    SA_TRY(sa_copy_text(command, &figure->command));
    SA_TRY(sa_alloc_array(json_array_size(panels), sizeof *figure->panels, &figure->panels));
    for (size_t i = 0; i < json_array_size(panels); i++) {
        const char *panel = json_string_value(json_array_get(panels, i));
        if (!plain(panel))
            return sa_fail(SA_FORMAT, "%s: panel %zu is not the name of a folder", path, i + 1);
        SA_TRY(sa_copy_text(panel, &figure->panels[i]));
        figure->count++;
    }
    return SA_OK;
}

sa_status sa_figure_read(const char *folder, sa_figure_folder *out) {
    sa_figure_folder figure = {0};
    char *path, *text = NULL;
    size_t size = 0;
    json_error_t error;
    SA_TRY(path_of(folder, &path));
    json_t *object = NULL;
    sa_status status = sa_file_read(path, &text, &size);
    if (status == SA_OK && !(object = json_loadb(text, size, 0, &error)))
        status = sa_fail(SA_FORMAT, "%s:%d: %s", path, error.line, error.text);
    if (status == SA_OK) status = take(object, path, &figure);
    json_decref(object);
    sa_free(text);
    sa_free(path);
    if (status == SA_OK)
        *out = figure;
    else
        sa_figure_clear(&figure);
    return status;
}
