#include "agent/older_options.h"

#include <string.h>

#include "base/text.h"

sa_status sa_older_options_take(sa_older_options *self, const char *name, const char *value) {
    if (strcmp(name, "rate-rule")) return sa_fail(SA_FORMAT, "there is no option '%s'", name);
    self->there = true;
    self->rate_theory = !strcmp(value, "theory");
    return SA_OK;
}

/* Versions without the option kept all rows, which are fewer than what fits now. */
static sa_status bound_rows(sa_options *options) {
    const sa_option_row *row = sa_option_row_find("keep-rows");
    if (!row || options->given[row - sa_option_rows]) return SA_OK;
    return sa_options_set_any(options, "keep-rows", "-1");
}

sa_status sa_older_options_finish(const sa_older_options *self, sa_options *options) {
    char rate[SA_NUMBER_TEXT];
    SA_TRY(bound_rows(options));
    if (!self->there) return SA_OK;
    sa_number_to_text(options->rate, rate);
    SA_TRY(sa_options_set_any(options, "rate-constant", self->rate_theory ? rate : "1"));
    if (self->rate_theory) SA_TRY(sa_options_set_any(options, "rate", "theory"));
    SA_TRY(sa_options_set_any(options, "doubled-input", "true"));
    return sa_options_set_any(options, "train-from", "present");
}
