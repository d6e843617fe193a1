/* A public problem from text: files, lists, numbers. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/text.h"
#include "oracle/oracle.h"

static const struct {
    const char *name, *help;
    int which;
    size_t axes; /* 0: a number; 2: a matrix */
    bool whole;  /* numbers: from 0 on */
} NAMES[] = {
    {"scores", "the arms' scores, (N), or (N, K) for assignment", SA_SCORES, 1, false},
    {"slate", "K, arms to choose, or the most where arms may be left out", -1, 0, true},
    {"exactly", "exactly K arms, also where an oracle may leave arms out; true unless false is said",
     SA_EXACTLY, 0, false},
    {"costs", "knapsack: costs, (N), 0 or more", SA_COSTS, 1, false},
    {"capacity", "knapsack: what the costs may add up to", SA_CAPACITY, 0, false},
    {"groups", "matroid, assignment: the arms' groups, (N), counted from 0", SA_GROUPS, 1, true},
    {"capacities", "matroid, assignment: the most arms of each group", SA_CAPACITIES, 1, true},
    {"minimums", "assignment: the least arms of each group", SA_MINIMUMS, 1, true},
    {"exclusions", "assignment: pairs of arms of which at most one is chosen, (pairs, 2)", SA_EXCLUSIONS, 2,
     true},
    {"eligible", "assignment: which arms each position takes, (K, N), 0 or 1", SA_ELIGIBLE, 2, false},
    {"edges", "matroid, shortest-path, matching: the two nodes of each arm, (N, 2)", SA_EDGES, 2, true},
    {"source", "shortest-path: the node to start from", SA_SOURCE, 0, true},
    {"target", "shortest-path: the node to reach", SA_TARGET, 0, true},
    {"revenues", "assortment: revenues, (N)", SA_REVENUES, 1, false},
    {"topics", "submodular: how well each arm covers each topic, (N, topics)", SA_TOPICS, 2, false},
    {"matrix", "ilp: A in A x <= b, (rows, N)", SA_MATRIX, 2, false},
    {"bounds", "ilp: b, (rows)", SA_BOUNDS, 1, false},
    {"seconds", "ilp, assignment with rules: how long CBC may search for the best; 1 unless given",
     SA_SECONDS, 0, false},
    {"discounts", "cascade, assignment: the discounts of the positions, (K), 0 to 1", SA_DISCOUNTS, 1, false},
    {"reward", "cascade: click, 1 - prod(1 - psi_k v_k), or sum, of psi_k v_k", SA_REWARD, 0, false},
};
enum { NAME_COUNT = sizeof NAMES / sizeof *NAMES };

bool sa_problem_name_at(size_t index, const char **name, const char **help) {
    if (index >= NAME_COUNT) return false;
    *name = NAMES[index].name;
    *help = NAMES[index].help;
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

static sa_status check_axes(size_t index, const char *path, const sa_array *array) {
    size_t axes = NAMES[index].axes;
    bool scores = NAMES[index].which == SA_SCORES;
    if (array->axes == axes || (scores && array->axes == 2)) return SA_OK;
    return sa_fail(SA_INVALID, "--%s %s: an array of %zu axes, and %zu%s wanted", NAMES[index].name, path,
                   array->axes, axes,
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

static sa_status convert(const char *name, int which, const char *path, const sa_array *array, void **out) {
    sa_datum_kind kind = which == SA_SCORES ? SA_DATUM_NUMBERS : sa_datum_kind_of((sa_datum)which);
    if (kind == SA_DATUM_INDICES) return to_indices(name, path, array, out);
    if (kind == SA_DATUM_FLAGS) return to_flags(name, path, array, out);
    return to_numbers(array, out);
}

static void put(sa_problem *problem, int which, const sa_array *array, void *values, char *path) {
    size_t rows = array->shape[0], columns = array->axes > 1 ? array->shape[1] : 1;
    if (which != SA_SCORES) {
        sa_problem_give(problem, (sa_datum)which, values, rows, columns);
        problem->data.file[which] = path;
    } else if (array->axes > 1) {
        sa_problem_position_scores(problem, values, rows, columns);
    } else {
        sa_problem_scores(problem, values, rows);
    }
    problem->owned[which] = values;
    problem->path[which] = path;
}

static sa_status read_array(sa_problem *problem, size_t index, const char *path) {
    sa_array array = {0};
    char *kept = NULL;
    void *values = NULL;
    sa_status status = NAMES[index].axes == 1 ? sa_numbers_read(path, &array) : sa_rows_read(path, &array);
    if (status != SA_OK) return sa_fail_prefix(status, "--%s: ", NAMES[index].name);
    SA_TRY_OR_FAIL(check_axes(index, path, &array));
    SA_TRY_OR_FAIL(sa_copy_text(path, &kept));
    SA_TRY_OR_FAIL(convert(NAMES[index].name, NAMES[index].which, path, &array, &values));
    put(problem, NAMES[index].which, &array, values, kept);
    sa_array_clear(&array);
    return SA_OK;
fail:
    sa_free(kept);
    sa_array_clear(&array);
    return status;
}

static sa_status set_index(sa_problem *problem, int which, const char *name, const char *text) {
    char shown[SA_PRINTABLE];
    int64_t number;
    bool clipped = false;
    if (!sa_text_to_integer(text, &number, &clipped) || clipped || number < (which < 0))
        return sa_fail(SA_INVALID, "--%s %s: a whole number from %d is wanted", name,
                       sa_printable(text, shown), which < 0);
    if (which < 0) {
        sa_problem_slate(problem, (size_t)number);
        return SA_OK;
    }
    sa_problem_give(problem, (sa_datum)which, problem, 1, 1);
    *(size_t *)sa_datum_field(&problem->data, (sa_datum)which) = (size_t)number;
    return SA_OK;
}

static sa_status set_value(sa_problem *problem, int which, const char *text) {
    char shown[SA_PRINTABLE];
    double number;
    if (which == SA_EXACTLY) {
        bool no = !strcmp(text, "false");
        if (!no && strcmp(text, "true"))
            return sa_fail(SA_INVALID, "--exactly %s is neither true nor false", sa_printable(text, shown));
        sa_problem_exactly(problem, !no);
        return SA_OK;
    }
    if (which == SA_REWARD) {
        bool sum = !strcmp(text, "sum");
        if (!sum && strcmp(text, "click"))
            return sa_fail(SA_INVALID, "--reward %s is neither click nor sum", sa_printable(text, shown));
        sa_problem_give(problem, SA_REWARD, problem, 1, 1);
        problem->data.sum = sum;
        return SA_OK;
    }
    if (!sa_text_to_number(text, &number) || !(number >= 0) || !isfinite(number))
        return sa_fail(SA_INVALID, "--%s %s: a number of 0 or more is wanted", sa_datum_name((sa_datum)which),
                       sa_printable(text, shown));
    sa_problem_give(problem, (sa_datum)which, problem, 1, 1);
    *(double *)sa_datum_field(&problem->data, (sa_datum)which) = number;
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
    for (size_t i = 0; i < NAME_COUNT; i++) {
        if (strcmp(NAMES[i].name, name)) continue;
        if (NAMES[i].axes > 0) return read_array(problem, i, text);
        if (NAMES[i].whole) return set_index(problem, NAMES[i].which, name, text);
        return set_value(problem, NAMES[i].which, text);
    }
    return sa_fail(SA_INVALID, "--%s is not part of a problem", sa_printable(name, shown));
}
