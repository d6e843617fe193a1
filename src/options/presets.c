/* The presets, each with its version: whoever changes what one of them computes, by a default or by code that
 * only it runs, gives it the next number, and results say which they are of.
 *
 * Most are columns of the lists of options. One that is nearly another is that one and what differs. */
#include "options/presets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/options.h"
#include "base/text.h"

typedef struct setting {
    const char *name, *value;
} setting;

/* Section 5 of the paper as it is printed: p = m d + m, so the input is not doubled; a rate of 0.01;
 * batches of 100 super arms, which are 400 arms at K = 4. */
static const setting SECTION5[] = {
    {"rate", "0.01"}, {"doubled-input", "false"}, {"train-batch", "400"}, {NULL, NULL}};
static const setting NOTHING[] = {{NULL, NULL}};

static const struct {
    const char *name, *summary;
    int column; /* of the lists of options */
    int version;
    const setting *others; /* ended by NULL */
} PRESETS[sa_preset_count] = {
    [SA_PRESET_PAPER] = {"paper", "paper-1: the algorithms as the paper's text and theorems have them",
                         SA_PRESET_PAPER, 1, NOTHING},
    [SA_PRESET_ICML23] = {"icml23", "icml23-1: as the authors' published code runs, its mistakes included",
                          SA_PRESET_ICML23, 1, NOTHING},
    [SA_PRESET_TUNED] = {"tuned",
                         "tuned-2: what we recommend, and the default: not the papers' algorithms any more",
                         SA_PRESET_TUNED, 2, NOTHING},
    [SA_PRESET_SECTION5] =
        {"section5",
         "section5-1: the paper's experiments as its Section 5 is printed: paper, but for the rate, the "
         "batches and the input",
         SA_PRESET_PAPER, 1, SECTION5},
};

const char *sa_preset_name(int preset) { return preset < sa_preset_count ? PRESETS[preset].name : NULL; }
const char *sa_preset_summary(int preset) { return PRESETS[preset].summary; }
int sa_preset_version(int preset) { return PRESETS[preset].version; }
int sa_preset_column(int preset) { return PRESETS[preset].column; }

int sa_preset_find(const char *text, int *version) {
    *version = 0;
    for (int preset = 0; preset < sa_preset_count; preset++) {
        size_t size = strlen(PRESETS[preset].name);
        if (strncmp(text, PRESETS[preset].name, size)) continue;
        if (!text[size]) return preset;
        char *end;
        if (text[size] != '-' || text[size + 1] < '1' || text[size + 1] > '9') continue;
        unsigned long number = strtoul(text + size + 1, &end, 10);
        if (*end || number > 1000000) continue;
        *version = (int)number;
        return preset;
    }
    return -1;
}

sa_status sa_preset_check(const char *text, int *preset) {
    int version;
    char shown[SA_PRINTABLE];
    int found = sa_preset_find(text, &version);
    if (found >= 0 && (version == 0 || version == PRESETS[found].version)) {
        *preset = found;
        return SA_OK;
    }
    if (found >= 0)
        return sa_fail(SA_INVALID, "--preset %s: this program has %s-%d, which --preset %s names",
                       sa_printable(text, shown), PRESETS[found].name, PRESETS[found].version,
                       PRESETS[found].name);
    return sa_fail(SA_INVALID, "--preset %s is not one of paper, icml23, tuned, section5",
                   sa_printable(text, shown));
}

/* What the preset has otherwise than its column; NULL: the same. */
static const char *other_value(int preset, const sa_option_row *row) {
    for (const setting *other = PRESETS[preset].others; other->name; other++)
        if (!strcmp(other->name, row->name)) return other->value;
    return NULL;
}

static bool is_preset(const sa_option_row *row) { return !strcmp(row->name, "preset"); }

void sa_preset_fill(int preset, const sa_option_row *row, void *field) {
    const char *value = other_value(preset, row);
    if (is_preset(row))
        *(int *)field = preset;
    else if (!value || sa_option_parse(row, row->name, value, field) != SA_OK)
        sa_option_fill(row, PRESETS[preset].column, field);
}

bool sa_preset_differs(int preset, const sa_option_row *row, const void *field) {
    union {
        int64_t integer;
        double number;
        int choice;
        bool flag;
    } own;
    const char *value = other_value(preset, row);
    if (is_preset(row)) return *(const int *)field != preset;
    if (!value || sa_option_is_text(row) || sa_option_parse(row, row->name, value, &own) != SA_OK)
        return sa_option_differs(row, PRESETS[preset].column, field);
    switch (row->kind) {
    case SA_KIND_INTEGER: return *(const int64_t *)field != own.integer;
    case SA_KIND_NUMBER: return *(const double *)field != own.number;
    case SA_KIND_CHOICE: return *(const int *)field != own.choice;
    default: return *(const bool *)field != own.flag;
    }
}
