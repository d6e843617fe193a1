#include "agent/older_options.h"

#include <string.h>

#include "agent/algorithms.h"
#include "base/text.h"
#include "options/gone.h"

enum { MOST = sizeof((sa_older_options *)NULL)->line / sizeof *((sa_older_options *)NULL)->line };

/* Of 0.1.0: `rate` was the constant C where it was `theory`, and trainings and inputs were of one kind. */
static const char RATE_RULE[] = "rate-rule";

sa_status sa_older_options_take(sa_older_options *self, const char *name, const char *value) {
    if (self->count == MOST || (strcmp(name, RATE_RULE) && !sa_gone_value(name, SA_PRESET_PAPER)))
        return sa_fail(SA_FORMAT, "there is no option '%s'", name);
    self->line[self->count].name = name;
    self->line[self->count++].value = value;
    return SA_OK;
}

static bool *given(sa_options *options, const char *name) {
    return &options->given[sa_option_row_find(name) - sa_option_rows];
}

/* Where the file has no line, the preset's value holds, which is there. */
static void take_presets(sa_options *options, const char *name) { *given(options, name) = true; }

static sa_status check_rate(const char *rule, sa_options *options) {
    bool theory = !strcmp(rule, "theory");
    SA_TRY(sa_options_set_any(options, "doubled-input", "true"));
    SA_TRY(sa_options_set_any(options, "train-from", "present"));
    if (theory && options->rate != 1)
        return sa_fail(SA_FORMAT, "the constant of its rate by theory is %g, and here it is always 1",
                       options->rate);
    return theory ? sa_options_set_any(options, "rate", "theory") : SA_OK;
}

/* What follows from other options in this version. */
static const char *derived(const sa_older_options *self, size_t line, const sa_options *options,
                           char text[SA_NUMBER_TEXT]) {
    const sa_algorithm *row = sa_algorithm_row(options->algorithm);
    const char *name = self->line[line].name;
    sa_model_settings shape = sa_options_model(options);
    if (!row) return NULL;
    if (!strcmp(name, "bypass")) return sa_algorithm_shape(row, options).bypass ? "true" : "false";
    if (strcmp(name, "cell-factor") || !row->family->cells) return NULL;
    sa_number_to_text(shape.cell_factor, text);
    return text;
}

static sa_status check_line(const sa_older_options *self, size_t i, sa_options *options) {
    const char *name = self->line[i].name, *value = self->line[i].value;
    const sa_algorithm *row = sa_algorithm_row(options->algorithm);
    char text[SA_NUMBER_TEXT];
    if (!strcmp(name, RATE_RULE)) return check_rate(value, options);
    if (!strcmp(name, "horizon") && row && row->family->cells)
        return sa_options_set_any(options, "rounds", value);
    const char *here = derived(self, i, options, text);
    if (here && !strcmp(here, value)) return SA_OK;
    if (here) return sa_fail(SA_FORMAT, "%s is %s, and here it would be %s", name, value, here);
    return sa_gone_check(name, value, options->preset) == SA_OK ? SA_OK : SA_FORMAT;
}

/* Versions without the option kept all rows, which are fewer than what fits now. */
static sa_status bound_rows(sa_options *options) {
    return *given(options, "keep-rows") ? SA_OK : sa_options_set_any(options, "keep-rows", "-1");
}

/* Versions without the option drew whole pages. */
static sa_status draw_pages(sa_options *options) {
    if (*given(options, "floor-by")) return SA_OK;
    return sa_options_set_any(options, "floor-by", options->floor > 0 ? "page" : "place");
}

sa_status sa_older_options_finish(const sa_older_options *self, sa_options *options) {
    SA_TRY(bound_rows(options));
    SA_TRY(draw_pages(options));
    if (self->count == 0) return SA_OK;
    take_presets(options, "rounds");
    take_presets(options, "score-deviation");
    for (size_t i = 0; i < self->count; i++) SA_TRY(check_line(self, i, options));
    return SA_OK;
}
