/* One option's value: parsing and printing, each fault with a sentence that names the option and the value.
 * */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/option_rows.h"
#include "base/text.h"

int sa_selection_find(const char *choices, const char *name) {
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

/* `shown` is the value made printable. */

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
        low = row->low == OR_THEORY ? 0 : ABOVE_0;
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
    int index = sa_selection_find(row->choices, value);
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
    int index = sa_selection_find("false|true|no|yes|0|1", value);
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

sa_status sa_option_parse(const sa_option_row *row, const char *name, const char *value, void *field) {
    char shown[SA_PRINTABLE];
    sa_printable(value, shown);
    switch (row->kind) {
    case SA_KIND_INTEGER: return parse_integer(row, name, value, shown, field);
    case SA_KIND_NUMBER: return parse_number(row, name, value, shown, field);
    case SA_KIND_CHOICE: return parse_choice(row, name, value, shown, field);
    case SA_KIND_FLAG: return parse_flag(name, value, shown, field);
    case SA_KIND_TEXT:
    case SA_KIND_PATH: return replace_text(value, field);
    }
    return SA_OK;
}

static const char *choice_name(const char *choices, int index, size_t *length) {
    for (; index > 0; index--) choices = strchr(choices, '|') + 1;
    *length = strcspn(choices, "|");
    return choices;
}

sa_status sa_option_print(const sa_option_row *row, const void *field, char *buffer, size_t size) {
    char digits[SA_NUMBER_TEXT] = "";
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
    case SA_KIND_TEXT:
    case SA_KIND_PATH: text = *(char *const *)field; break;
    }
    if (!length) length = strlen(text);
    if (length >= size)
        return sa_fail(SA_INVALID, "--%s has %zu characters, more than fit into %zu bytes", row->name, length,
                       size);
    memcpy(buffer, text, length);
    buffer[length] = 0;
    return SA_OK;
}

void sa_option_fill(const sa_option_row *row, int preset, void *field) {
    switch (row->kind) {
    case SA_KIND_INTEGER: *(int64_t *)field = row->integer[preset]; break;
    case SA_KIND_NUMBER: *(double *)field = row->number[preset]; break;
    case SA_KIND_CHOICE: *(int *)field = (int)row->integer[preset]; break;
    case SA_KIND_FLAG: *(bool *)field = row->integer[preset] != 0; break;
    case SA_KIND_TEXT:
    case SA_KIND_PATH: break;
    }
}

bool sa_option_differs(const sa_option_row *row, int preset, const void *field) {
    switch (row->kind) {
    case SA_KIND_INTEGER: return *(const int64_t *)field != row->integer[preset];
    case SA_KIND_NUMBER: return *(const double *)field != row->number[preset];
    case SA_KIND_CHOICE: return *(const int *)field != row->integer[preset];
    case SA_KIND_FLAG: return *(const bool *)field != (row->integer[preset] != 0);
    case SA_KIND_TEXT:
    case SA_KIND_PATH: return strcmp(*(char *const *)field, row->text) != 0;
    }
    return false;
}
