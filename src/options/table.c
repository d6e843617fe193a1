/* The table of all options, and what is known of each. */
#include <string.h>

#include "options/options.h"
#include "options/presets.h"

#define SA_OPTIONS_TYPE struct sa_options
#define ROWS_OF(group, list) list(SA_OPTION_ROW)

const sa_option_row sa_option_rows[SA_SETTING_TOTAL] = {SA_OPTION_GROUPS(ROWS_OF) SA_SETTINGS(SA_OPTION_ROW)};

#define SIZE_OF(group, list) {group, 0 list(SA_OPTION_ONE)},
static const struct {
    const char *name;
    size_t size;
} groups[] = {SA_OPTION_GROUPS(SIZE_OF)};

static const struct { const char *alias, *name; } aliases[] = {{"lambda", "regularization"}};

enum { ALIAS_COUNT = sizeof aliases / sizeof aliases[0] };

const sa_option_row *sa_option_row_find(const char *name) {
    if (!name) return NULL;
    for (size_t i = 0; i < ALIAS_COUNT; i++)
        if (!strcmp(aliases[i].alias, name)) name = aliases[i].name;
    for (size_t i = 0; i < SA_SETTING_TOTAL; i++)
        if (!strcmp(sa_option_rows[i].name, name)) return &sa_option_rows[i];
    return NULL;
}

size_t sa_option_count(void) { return SA_OPTION_TOTAL; }

static const char *group_of(size_t index, sa_option_scope scope) {
    static const char *const scopes[] = {[SA_SCOPE_ENVIRONMENT] = "environment",
                                         [SA_SCOPE_EXPERIMENT] = "experiment",
                                         [SA_SCOPE_OUTPUT] = "output"};
    size_t group = 0;
    if (scope != SA_SCOPE_AGENT) return scopes[scope];
    while (index >= groups[group].size) index -= groups[group++].size;
    return groups[group].name;
}

bool sa_option_at(size_t index, sa_option_info *info) {
    static const char *const kinds[] = {"integer", "number", "choice", "flag", "text", "path"};
    if (index >= SA_OPTION_TOTAL) return false;
    const sa_option_row *row = &sa_option_rows[index];
    *info = (sa_option_info){.name = row->name,
                             .kind = kinds[row->kind],
                             .choices = sa_option_takes_theory(row) ? "theory" : row->choices,
                             .help = row->help,
                             .scope = row->scope,
                             .group = group_of(index, row->scope)};
    for (size_t i = 0; i < ALIAS_COUNT; i++)
        if (!strcmp(aliases[i].name, row->name)) info->alias = aliases[i].alias;
    return true;
}

bool sa_option_find(const char *name, sa_option_info *info) {
    const sa_option_row *row = sa_option_row_find(name);
    return row && sa_option_at((size_t)(row - sa_option_rows), info);
}

bool sa_preset_setting(int preset, size_t index, const char **name, char *value, size_t size) {
    if (index >= SA_SETTING_TOTAL - SA_OPTION_TOTAL) return false;
    const sa_option_row *row = &sa_option_rows[SA_OPTION_TOTAL + index];
    union {
        int64_t integer;
        double number;
        int choice;
        bool flag;
        const char *text;
    } field = {.text = ""};
    *name = row->name;
    if (!sa_option_is_text(row)) sa_preset_fill(preset, row, &field);
    return sa_option_print(row, &field, value, size) == SA_OK;
}
