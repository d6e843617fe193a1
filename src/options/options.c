/* A set of options: its life, setting and getting by name. */
#include "options/options.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "options/gone.h"
#include "options/presets.h"

/* ---- life ---- */

/* Fills every option that was not given from the preset. */
static void fill(sa_options *options, int preset) {
    for (size_t i = 0; i < SA_SETTING_TOTAL; i++)
        if (!options->given[i])
            sa_preset_fill(preset, &sa_option_rows[i], sa_option_field(options, &sa_option_rows[i]));
}

/* Gives `options` texts of its own: those of `from`, or the defaults when it is NULL. */
static sa_status copy_texts(sa_options *options, const sa_options *from) {
    for (size_t i = 0; i < SA_SETTING_TOTAL; i++)
        if (sa_option_is_text(&sa_option_rows[i]))
            *(char **)sa_option_field(options, &sa_option_rows[i]) = NULL;
    for (size_t i = 0; i < SA_SETTING_TOTAL; i++) {
        const sa_option_row *row = &sa_option_rows[i];
        if (!sa_option_is_text(row)) continue;
        const char *text = from ? *(char **)sa_option_field(from, row) : row->text;
        SA_TRY(sa_copy_text(text, sa_option_field(options, row)));
    }
    return SA_OK;
}

sa_options *sa_options_new(const char *preset) {
    int index = SA_PRESET_TUNED;
    sa_options *options;
    if (preset && sa_preset_check(preset, &index) != SA_OK) return NULL;
    if (sa_alloc_array(1, sizeof *options, &options) != SA_OK) return NULL;
    if (copy_texts(options, NULL) != SA_OK) {
        sa_options_destroy(options);
        return NULL;
    }
    fill(options, index);
    return options;
}

sa_options *sa_options_copy(const sa_options *options) {
    if (!options) {
        sa_fail(SA_INVALID, "options to copy must not be NULL");
        return NULL;
    }
    sa_options *copy;
    if (sa_alloc_array(1, sizeof *copy, &copy) != SA_OK) return NULL;
    *copy = *options;
    if (copy_texts(copy, options) == SA_OK) return copy;
    sa_options_destroy(copy);
    return NULL;
}

void sa_options_destroy(sa_options *options) {
    if (!options) return;
    for (size_t i = 0; i < SA_SETTING_TOTAL; i++)
        if (sa_option_is_text(&sa_option_rows[i]))
            sa_free(*(char **)sa_option_field(options, &sa_option_rows[i]));
    sa_free(options);
}

/* ---- by name ---- */

static sa_status unknown(const char *name) {
    const char *nearest = NULL;
    size_t least = 1 + strlen(name) / 5;
    if (least > 3) least = 3;
    for (size_t i = 0; i < sa_option_count(); i++) {
        sa_option_info info;
        sa_option_at(i, &info);
        for (int alias = 0; alias < 2; alias++) {
            const char *candidate = alias ? info.alias : info.name;
            if (!candidate) continue;
            size_t distance = sa_edit_distance(name, candidate, least);
            if (distance > least || (nearest && distance == least)) continue;
            nearest = candidate;
            least = distance;
        }
    }
    char shown[SA_PRINTABLE];
    sa_printable(name, shown);
    if (nearest) return sa_fail(SA_INVALID, "--%s is not an option; did you mean --%s?", shown, nearest);
    return sa_fail(SA_INVALID, "--%s is not an option", shown);
}

/* One that users set; NULL for the others. */
static const sa_option_row *find_option(const char *name) {
    const sa_option_row *row = sa_option_row_find(name);
    return row && row < sa_option_rows + SA_OPTION_TOTAL ? row : NULL;
}

sa_status sa_options_set_any(sa_options *options, const char *name, const char *value) {
    const sa_option_row *row = sa_option_row_find(name);
    if (!row) return unknown(name);
    if (!value) return sa_fail(SA_INVALID, "--%s needs a value", name);
    void *field = sa_option_field(options, row);
    if (field == &options->preset)
        SA_TRY(sa_preset_check(value, field));
    else
        SA_TRY(sa_option_parse(row, name, value, field));
    options->given[row - sa_option_rows] = true;
    if (field == &options->preset) fill(options, options->preset);
    return SA_OK;
}

sa_status sa_options_set(sa_options *options, const char *name, const char *value) {
    if (!options || !name) return sa_fail(SA_INVALID, "options and the option's name must not be NULL");
    if (find_option(name)) return sa_options_set_any(options, name, value);
    return sa_gone_is_option(name) ? sa_gone_check(name, value, options->preset) : unknown(name);
}

sa_status sa_options_get(const sa_options *options, const char *name, char *buffer, size_t size) {
    if (!options || !name || !buffer || !size)
        return sa_fail(SA_INVALID, "options, the option's name and the buffer must not be NULL or empty");
    buffer[0] = 0;
    const sa_option_row *row = find_option(name);
    return row ? sa_option_print(row, sa_option_field(options, row), buffer, size) : unknown(name);
}

void sa_options_not_given(sa_options *options, const char *name) {
    const sa_option_row *row = sa_option_row_find(name);
    if (row) options->given[row - sa_option_rows] = false;
}

bool sa_options_given(const sa_options *options, const char *name) {
    const sa_option_row *row = sa_option_row_find(name);
    return options && row && options->given[row - sa_option_rows];
}

bool sa_options_changed(const sa_options *options, const char *name) {
    const sa_option_row *row = sa_option_row_find(name);
    return sa_preset_differs(options->preset, row, sa_option_field(options, row));
}
