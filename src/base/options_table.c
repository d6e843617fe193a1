/* The life of a set of options, and what is known of each. Setting and getting by name: options_set.c. */
#include "base/options.h"

#include <string.h>

#include "base/memory.h"
#include "base/options_table.h"

#define ROW_START(field_, name_, scope_, kind_)                                                              \
    .name = name_, .kind = SA_KIND_##kind_, .scope = SA_SCOPE_##scope_,                                      \
    .offset = offsetof(struct sa_options, field_)
#define CHOICE_WORD(enumerator, name) "|" name
#define ROW_INTEGER(field_, name_, scope_, paper, icml23, tuned, least_, most_, help_)                       \
    {ROW_START(field_, name_, scope_, INTEGER), .integer = {paper, icml23, tuned}, .least = least_,          \
     .most = most_, .help = help_},
#define ROW_NUMBER(field_, name_, scope_, paper, icml23, tuned, low_, high_, help_)                          \
    {ROW_START(field_, name_, scope_, NUMBER), .number = {paper, icml23, tuned}, .low = low_, .high = high_, \
     .help = help_},
#define ROW_CHOICE(field_, name_, scope_, paper, icml23, tuned, choices_, help_)                             \
    {ROW_START(field_, name_, scope_, CHOICE), .integer = {SA_##paper, SA_##icml23, SA_##tuned},             \
     .choices = &choices_(CHOICE_WORD)[1], .help = help_},
#define ROW_FLAG(field_, name_, scope_, paper, icml23, tuned, help_)                                         \
    {ROW_START(field_, name_, scope_, FLAG), .integer = {paper, icml23, tuned}, .help = help_},
#define ROW_TEXT(field_, name_, scope_, text_, help_)                                                        \
    {ROW_START(field_, name_, scope_, TEXT), .text = text_, .help = help_},

const sa_option_row sa_option_rows[SA_OPTION_TOTAL] = {
    SA_OPTION_LIST(ROW_INTEGER, ROW_NUMBER, ROW_CHOICE, ROW_FLAG,
                   ROW_TEXT) /* in the order of the struct's `given` */
};

#define ALIAS_PAIR(alias, name) {alias, name},
static const struct { const char *alias, *name; } aliases[] = {SA_OPTION_ALIASES(ALIAS_PAIR)};

enum { ALIAS_COUNT = sizeof aliases / sizeof aliases[0] };

const sa_option_row *sa_option_row_find(const char *name) {
    if (!name) return NULL;
    for (size_t i = 0; i < ALIAS_COUNT; i++)
        if (!strcmp(aliases[i].alias, name)) name = aliases[i].name;
    for (size_t i = 0; i < SA_OPTION_TOTAL; i++)
        if (!strcmp(sa_option_rows[i].name, name)) return &sa_option_rows[i];
    return NULL;
}

int sa_choice_find(const char *choices, const char *name) {
    size_t length = strlen(name);
    int index = 0;
    for (const char *word = choices; word; index++) {
        const char *bar = strchr(word, '|');
        size_t size = bar ? (size_t)(bar - word) : strlen(word);
        if (size == length && !memcmp(word, name, size)) return index;
        word = bar ? bar + 1 : NULL;
    }
    return -1;
}

void sa_options_fill(sa_options *options, sa_preset preset) {
    for (size_t i = 0; i < SA_OPTION_TOTAL; i++) {
        if (options->given[i]) continue;
        const sa_option_row *row = &sa_option_rows[i];
        void *field = sa_option_field(options, row);
        switch (row->kind) {
        case SA_KIND_INTEGER: *(int64_t *)field = row->integer[preset]; break;
        case SA_KIND_NUMBER: *(double *)field = row->number[preset]; break;
        case SA_KIND_CHOICE: *(int *)field = (int)row->integer[preset]; break;
        case SA_KIND_FLAG: *(bool *)field = row->integer[preset] != 0; break;
        case SA_KIND_TEXT: break;
        }
    }
}

/* Gives `options` texts of its own: those of `from`, or the defaults when it is NULL. */
static sa_status copy_texts(sa_options *options, const sa_options *from) {
    for (size_t i = 0; i < SA_OPTION_TOTAL; i++)
        if (sa_option_rows[i].kind == SA_KIND_TEXT)
            *(char **)sa_option_field(options, &sa_option_rows[i]) = NULL;
    for (size_t i = 0; i < SA_OPTION_TOTAL; i++) {
        const sa_option_row *row = &sa_option_rows[i];
        if (row->kind != SA_KIND_TEXT) continue;
        const char *text = from ? *(char **)sa_option_field(from, row) : row->text;
        SA_TRY(sa_copy_text(text, sa_option_field(options, row)));
    }
    return SA_OK;
}

sa_options *sa_options_new(const char *preset) {
    int index = preset ? sa_choice_find(sa_option_row_find("preset")->choices, preset) : SA_PRESET_TUNED;
    sa_options *options;
    if (sa_alloc_array(1, sizeof *options, &options) != SA_OK) return NULL;
    if (copy_texts(options, NULL) != SA_OK) goto fail;
    if (index < 0) {
        sa_options_set(options, "preset", preset); /* for its sentence */
        goto fail;
    }
    sa_options_fill(options, (sa_preset)index);
    return options;
fail:
    sa_options_destroy(options);
    return NULL;
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
    for (size_t i = 0; i < SA_OPTION_TOTAL; i++)
        if (sa_option_rows[i].kind == SA_KIND_TEXT)
            sa_free(*(char **)sa_option_field(options, &sa_option_rows[i]));
    sa_free(options);
}

size_t sa_option_count(void) { return SA_OPTION_TOTAL; }

bool sa_option_at(size_t index, sa_option_info *info) {
    static const char *const kinds[] = {"integer", "number", "choice", "flag", "text"};
    if (index >= SA_OPTION_TOTAL) return false;
    const sa_option_row *row = &sa_option_rows[index];
    *info = (sa_option_info){row->name, NULL, kinds[row->kind], row->choices, row->help, row->scope};
    if (sa_option_takes_theory(row)) info->choices = "theory";
    for (size_t i = 0; i < ALIAS_COUNT; i++)
        if (!strcmp(aliases[i].name, row->name)) info->alias = aliases[i].alias;
    return true;
}

bool sa_option_find(const char *name, sa_option_info *info) {
    const sa_option_row *row = sa_option_row_find(name);
    return row && sa_option_at((size_t)(row - sa_option_rows), info);
}
