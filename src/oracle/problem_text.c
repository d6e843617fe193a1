/* A public problem from text: files, lists, numbers. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/text.h"
#include "oracle/oracle.h"

/* Names that are no data: scores, an array that may have two axes, and slate, a number. */
static const struct {
    const char *name, *help;
} FIRST[] = {{"scores", "the arms' scores, (N), or (N, K) for assignment"},
             {"slate", "K, arms to choose, or the most where arms may be left out"}};
enum { FIRSTS = sizeof FIRST / sizeof *FIRST };

bool sa_problem_name_at(size_t index, const char **name, const char **help) {
    if (index >= FIRSTS + SA_DATUM_COUNT) return false;
    const sa_datum_info *info = index >= FIRSTS ? sa_datum_at((sa_datum)(index - FIRSTS)) : NULL;
    *name = info ? info->name : FIRST[index].name;
    *help = info ? info->help : FIRST[index].help;
    return true;
}

/* Whole numbers from 0, from int32, int64 or whole floats. */
static sa_status to_indices(const char *name, const char *path, const sa_array *array, void **out) {
    size_t count = sa_array_count(array), *indices;
    SA_TRY(sa_alloc_array(count, sizeof *indices, &indices));
    for (size_t i = 0; i < count; i++) {
        double number = sa_array_number(array, i);
        if (number >= 0 && number < 9e15 && number == floor(number)) {
            indices[i] = (size_t)number;
            continue;
        }
        sa_free(indices);
        return sa_fail(SA_INVALID, "--%s %s: entry %zu is %g, and must be a whole number from 0", name, path,
                       i, number);
    }
    *out = indices;
    return SA_OK;
}

static sa_status to_numbers(const sa_array *array, void **out) {
    size_t count = sa_array_count(array);
    double *numbers;
    SA_TRY(sa_alloc_array(count, sizeof *numbers, &numbers));
    for (size_t i = 0; i < count; i++) numbers[i] = sa_array_number(array, i);
    *out = numbers;
    return SA_OK;
}

static sa_status check_axes(const char *name, const char *path, const sa_array *array, size_t axes,
                            bool scores) {
    if (array->axes == axes || (scores && array->axes == 2)) return SA_OK;
    return sa_fail(SA_INVALID, "--%s %s: an array of %zu axes, and %zu%s wanted", name, path, array->axes,
                   axes,
                   scores      ? " or 2 are"
                   : axes == 1 ? " is"
                               : " are");
}

/* Flags are numbers in the file: 0 is no. */
static sa_status to_flags(const char *name, const char *path, const sa_array *array, void **out) {
    size_t count = sa_array_count(array);
    bool *flags;
    SA_TRY(sa_alloc_array(count, sizeof *flags, &flags));
    for (size_t i = 0; i < count; i++) {
        double number = sa_array_number(array, i);
        flags[i] = number == 1;
        if (number == 0 || number == 1) continue;
        sa_free(flags);
        return sa_fail(SA_INVALID, "--%s %s: entry %zu is %g, and must be 0 or 1", name, path, i, number);
    }
    *out = flags;
    return SA_OK;
}

static sa_status convert(sa_data_kind kind, const char *name, const char *path, const sa_array *array,
                         void **out) {
    if (kind == SA_INDICES) return to_indices(name, path, array, out);
    if (kind == SA_FLAGS) return to_flags(name, path, array, out);
    return to_numbers(array, out);
}

/* Scores, where `info` is NULL. */
static sa_status read_array(sa_problem *problem, const sa_datum_info *info, const char *path) {
    sa_array array = {0};
    char *kept = NULL;
    void *values = NULL;
    const char *name = info ? info->name : "scores";
    size_t axes = info && info->columns != SA_EXTENT_ONE ? 2 : 1;
    sa_status status = axes == 1 ? sa_numbers_read(path, &array) : sa_rows_read(path, &array);
    if (status != SA_OK) return sa_fail_prefix(status, "--%s: ", name);
    SA_TRY_OR_FAIL(check_axes(name, path, &array, axes, !info));
    SA_TRY_OR_FAIL(sa_copy_text(path, &kept));
    SA_TRY_OR_FAIL(convert(info ? info->kind : SA_NUMBERS, name, path, &array, &values));
    if (info) {
        sa_problem_give(problem, sa_datum_find(name), values, array.shape[0],
                        array.axes > 1 ? array.shape[1] : 1, kept);
    } else {
        sa_problem_put(problem, name, SA_NUMBERS, array.shape[0], array.axes > 1 ? array.shape[1] : 0,
                       values);
        problem->owned[SA_SCORES] = values;
        problem->path[SA_SCORES] = kept;
    }
    sa_array_clear(&array);
    return SA_OK;
fail:
    sa_free(kept);
    sa_array_clear(&array);
    return status;
}

static sa_status read_index(const char *name, const char *text, int64_t least, size_t *out) {
    char shown[SA_PRINTABLE];
    int64_t number;
    bool clipped = false;
    if (!sa_text_to_integer(text, &number, &clipped) || clipped || number < least)
        return sa_fail(SA_INVALID, "--%s %s: a whole number from %d is wanted", name,
                       sa_printable(text, shown), (int)least);
    *out = (size_t)number;
    return SA_OK;
}

/* A word for each of false and true. */
static sa_status read_flag(const char *name, const char *text, const char *no, const char *yes, bool *out) {
    char shown[SA_PRINTABLE];
    *out = !strcmp(text, yes);
    if (*out || !strcmp(text, no)) return SA_OK;
    return sa_fail(SA_INVALID, "--%s %s is neither %s nor %s", name, sa_printable(text, shown),
                   *yes == 't' ? yes : no, *yes == 't' ? no : yes);
}

static sa_status set_value(sa_problem *problem, sa_datum datum, const char *name, const char *text) {
    char shown[SA_PRINTABLE];
    double number = 0;
    size_t index = 0;
    bool flag = false;
    if (datum == SA_EXACTLY) {
        SA_TRY(read_flag(name, text, "false", "true", &flag));
        sa_problem_exactly(problem, flag);
    } else if (datum == SA_REWARD) {
        SA_TRY(read_flag(name, text, "click", "sum", &flag));
        sa_problem_give_value(problem, datum, &flag);
    } else if (sa_datum_at(datum)->kind == SA_INDICES) {
        SA_TRY(read_index(name, text, 0, &index));
        sa_problem_give_value(problem, datum, &index);
    } else {
        if (!sa_text_to_number(text, &number) || !(number >= 0) || !isfinite(number))
            return sa_fail(SA_INVALID, "--%s %s: a number of 0 or more is wanted", name,
                           sa_printable(text, shown));
        sa_problem_give_value(problem, datum, &number);
    }
    return SA_OK;
}

bool sa_problem_text_next(const char **text, sa_problem_entry *entry) {
    *text += strspn(*text, "; ");
    if (!**text) return false;
    size_t size = strcspn(*text, ";"), name = strcspn(*text, "=;");
    *entry = (sa_problem_entry){.name = *text, .name_size = name, .value = *text + name, .value_size = 0};
    if (name < size) {
        entry->value++;
        entry->value_size = size - name - 1;
    }
    *text += size;
    return true;
}

/* "costs=1,2.5,3;capacity=4" */
static sa_status set_all(sa_problem *problem, const char *text) {
    char shown[SA_PRINTABLE];
    for (sa_problem_entry entry; sa_problem_text_next(&text, &entry);) {
        char *name = NULL, *value = NULL;
        sa_status status = sa_format(&name, "%.*s", (int)entry.name_size, entry.name);
        if (status == SA_OK) status = sa_format(&value, "%.*s", (int)entry.value_size, entry.value);
        if (status == SA_OK && (!*name || !*value || !strcmp(name, "problem")))
            status = sa_fail(SA_INVALID, "--problem %s is not oracle data as in costs=1,2.5,3;capacity=4",
                             sa_printable(name, shown));
        if (status == SA_OK) status = sa_problem_set(problem, name, value);
        sa_free(name);
        sa_free(value);
        SA_TRY(status);
    }
    return SA_OK;
}

sa_status sa_problem_set(sa_problem *problem, const char *name, const char *text) {
    char shown[SA_PRINTABLE];
    if (!problem || !name || !text)
        return sa_fail(SA_INVALID, "sa_problem_set needs a problem, a name and a text");
    if (!strcmp(name, "problem")) return set_all(problem, text);
    if (!strcmp(name, "scores")) return read_array(problem, NULL, text);
    if (!strcmp(name, "slate")) {
        size_t slate = 0;
        SA_TRY(read_index(name, text, 1, &slate));
        sa_problem_slate(problem, slate);
        return SA_OK;
    }
    sa_datum datum = sa_datum_find(name);
    if (datum == SA_DATUM_COUNT)
        return sa_fail(SA_INVALID, "--%s is not part of a problem", sa_printable(name, shown));
    if (sa_datum_at(datum)->single) return set_value(problem, datum, name, text);
    return read_array(problem, sa_datum_at(datum), text);
}
