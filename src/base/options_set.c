/* Options by name: parsing and printing values, each fault with a sentence that names the option and the
 * value. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/options_table.h"
#include "base/text.h"

/* `name` is as the user wrote it: an alias stays an alias in the sentence. `shown` is the value made
 * printable. */

static sa_status parse_integer(const sa_option_row *row, const char *name, const char *value,
                               const char *shown, int64_t *out) {
    int64_t number;
    bool clipped;
    if (!sa_text_to_integer(value, &number, &clipped))
        return sa_fail(SA_INVALID, "--%s %s is not a whole number", name, shown);
    if (number < row->least || (clipped && number < 0))
        return sa_fail(SA_INVALID, "--%s %s is less than %lld", name, shown, (long long)row->least);
    if (number > row->most || clipped)
        return sa_fail(SA_INVALID, "--%s %s is more than %lld", name, shown, (long long)row->most);
    *out = number;
    return SA_OK;
}

static sa_status parse_number(const sa_option_row *row, const char *name, const char *value,
                              const char *shown, double *out) {
    double number, low = row->low;
    char bound[SA_NUMBER_TEXT];
    bool or_theory = sa_option_takes_theory(row);
    if (or_theory) {
        low = 0;
        if (!strcmp(value, "theory")) {
            *out = SA_BY_THEORY;
            return SA_OK;
        }
    }
    if (!sa_text_to_number(value, &number)) {
        bool known = !strcasecmp(value, "nan") || !strcasecmp(value, "inf") || !strcasecmp(value, "-inf");
        return sa_fail(SA_INVALID, "--%s %s is not a %s", name, shown,
                       known       ? "finite number"
                       : or_theory ? "number or theory"
                                   : "number");
    }
    if (!isfinite(number)) return sa_fail(SA_INVALID, "--%s %s is not a finite number", name, shown);
    if (low == ABOVE_0 && number < ABOVE_0)
        return sa_fail(SA_INVALID, "--%s %s must be above 0", name, shown);
    if (number < low)
        return sa_fail(SA_INVALID, "--%s %s is less than %s", name, shown, sa_number_to_text(low, bound));
    if (number > row->high)
        return sa_fail(SA_INVALID, "--%s %s is more than %s", name, shown,
                       sa_number_to_text(row->high, bound));
    *out = number + 0.0; /* -0 becomes 0 */
    return SA_OK;
}

static sa_status parse_choice(const sa_option_row *row, const char *name, const char *value,
                              const char *shown, int *out) {
    int index = sa_choice_find(row->choices, value);
    if (index >= 0) {
        *out = index;
        return SA_OK;
    }
    if (!strchr(row->choices, '|'))
        return sa_fail(SA_INVALID, "--%s %s is not %s, the only choice", name, shown, row->choices);
    char list[256];
    size_t length = 0;
    for (const char *c = row->choices; *c && length + 3 < sizeof list; c++) {
        list[length++] = *c == '|' ? ',' : *c;
        if (*c == '|') list[length++] = ' ';
    }
    list[length] = 0;
    return sa_fail(SA_INVALID, "--%s %s is not one of %s", name, shown, list);
}

static sa_status parse_flag(const char *name, const char *value, const char *shown, bool *out) {
    int index = sa_choice_find("false|true|no|yes|0|1", value);
    if (index < 0) return sa_fail(SA_INVALID, "--%s %s is not true or false", name, shown);
    *out = index % 2;
    return SA_OK;
}

static sa_status replace_text(const char *value, char **text) {
    char *copy;
    SA_TRY(sa_copy_text(value, &copy));
    sa_free(*text);
    *text = copy;
    return SA_OK;
}

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

sa_status sa_options_set(sa_options *options, const char *name, const char *value) {
    if (!options || !name) return sa_fail(SA_INVALID, "options and the option's name must not be NULL");
    const sa_option_row *row = sa_option_row_find(name);
    if (!row) return unknown(name);
    if (!value) return sa_fail(SA_INVALID, "--%s needs a value", name);
    char shown[SA_PRINTABLE];
    sa_printable(value, shown);
    void *field = sa_option_field(options, row);
    switch (row->kind) {
    case SA_KIND_INTEGER: SA_TRY(parse_integer(row, name, value, shown, field)); break;
    case SA_KIND_NUMBER: SA_TRY(parse_number(row, name, value, shown, field)); break;
    case SA_KIND_CHOICE: SA_TRY(parse_choice(row, name, value, shown, field)); break;
    case SA_KIND_FLAG: SA_TRY(parse_flag(name, value, shown, field)); break;
    case SA_KIND_TEXT: SA_TRY(replace_text(value, field)); break;
    }
    options->given[row - sa_option_rows] = true;
    if (field == &options->preset) sa_options_fill(options, (sa_preset)options->preset);
    return SA_OK;
}

static const char *choice_name(const char *choices, int index, size_t *length) {
    for (; index > 0; index--) choices = strchr(choices, '|') + 1;
    *length = strcspn(choices, "|");
    return choices;
}

sa_status sa_options_get(const sa_options *options, const char *name, char *buffer, size_t size) {
    if (!options || !name || !buffer || !size)
        return sa_fail(SA_INVALID, "options, the option's name and the buffer must not be NULL or empty");
    buffer[0] = 0;
    const sa_option_row *row = sa_option_row_find(name);
    if (!row) return unknown(name);
    const void *field = sa_option_field(options, row);
    char digits[SA_NUMBER_TEXT];
    const char *text = digits;
    size_t length = 0;
    switch (row->kind) {
    case SA_KIND_INTEGER: snprintf(digits, sizeof digits, "%lld", (long long)*(const int64_t *)field); break;
    case SA_KIND_NUMBER:
        if (*(const double *)field == SA_BY_THEORY)
            text = "theory";
        else
            sa_number_to_text(*(const double *)field, digits);
        break;
    case SA_KIND_CHOICE: text = choice_name(row->choices, *(const int *)field, &length); break;
    case SA_KIND_FLAG: text = *(const bool *)field ? "true" : "false"; break;
    case SA_KIND_TEXT: text = *(char *const *)field; break;
    }
    if (!length) length = strlen(text);
    if (length >= size)
        return sa_fail(SA_INVALID, "--%s has %zu characters, more than fit into %zu bytes", name, length,
                       size);
    memcpy(buffer, text, length);
    buffer[length] = 0;
    return SA_OK;
}

void sa_options_not_given(sa_options *options, const char *name) {
    const sa_option_row *row = sa_option_row_find(name);
    if (row) options->given[row - sa_option_rows] = false;
}

bool sa_options_given(const sa_options *options, const char *name) {
    const sa_option_row *row = sa_option_row_find(name);
    return options && row && options->given[row - sa_option_rows];
}

sa_status sa_options_check_agent(const sa_options *options) {
    /* given weights are used as they are, so they need not come in mirrored halves */
    if (options->init == SA_INIT_SYMMETRIC && options->hidden % 2 && !*options->init_weights)
        return sa_fail(SA_INVALID, "--hidden %lld is odd, but --init symmetric needs an even number",
                       (long long)options->hidden);
    return SA_OK;
}

bool sa_options_changed(const sa_options *options, const char *name) {
    const sa_option_row *row = sa_option_row_find(name);
    const void *field = sa_option_field(options, row);
    int preset = options->preset;
    switch (row->kind) {
    case SA_KIND_INTEGER: return *(const int64_t *)field != row->integer[preset];
    case SA_KIND_NUMBER: return *(const double *)field != row->number[preset];
    case SA_KIND_CHOICE: return *(const int *)field != row->integer[preset];
    case SA_KIND_FLAG: return *(const bool *)field != (row->integer[preset] != 0);
    case SA_KIND_TEXT: return strcmp(*(char *const *)field, row->text) != 0;
    }
    return false;
}

size_t sa_options_positions(const sa_options *options) {
    bool unknown = options->feedback == SA_FEEDBACK_CASCADE && options->cascade_form == SA_CASCADE_UNKNOWN;
    return unknown || options->feedback == SA_FEEDBACK_POSITION ? (size_t)options->slate : 0;
}

bool sa_options_discounted(const sa_options *options) {
    return options->feedback == SA_FEEDBACK_CASCADE && options->cascade_form == SA_CASCADE_DISCOUNTED;
}
