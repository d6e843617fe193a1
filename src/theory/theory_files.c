/* Contexts and scores from npy files. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/npy_format.h"
#include "options/options.h"
#include <superarm/theory.h>

/* An array of floats, and of a file with a run axis one run of it, as doubles. */
typedef struct numbers_file {
    sa_array array;
    size_t axes; /* without the run axis */
    const size_t *shape;
    double *numbers; /* owned */
    size_t count;
} numbers_file;

static void clear(numbers_file *file) {
    sa_free(file->numbers);
    sa_array_clear(&file->array);
}

static sa_status wrong_shape(const numbers_file *file, const char *option, const char *path,
                             const char *wanted) {
    char shape[SA_NPY_HEADER_ROOM];
    sa_npy_shape_text(file->array.axes, file->array.shape, shape);
    return sa_fail(SA_INVALID, "--%s %s has shape %s where %s is needed", option, path, shape, wanted);
}

/* With more axes than `most`, the first is that of the runs. */
static sa_status read_file(const sa_options *options, const char *option, const char *path, size_t most,
                           numbers_file *file) {
    sa_status status = sa_npy_read(path, &file->array);
    if (status != SA_OK) return sa_fail_prefix(status, "--%s: ", option);
    const sa_array *array = &file->array;
    if (array->type != SA_FLOAT32 && array->type != SA_FLOAT64)
        return sa_fail(SA_INVALID, "--%s %s holds whole numbers where float32 or float64 is needed", option,
                       path);
    bool has_runs = array->axes == most + 1;
    size_t run = has_runs ? (size_t)options->first_run : 0;
    file->axes = array->axes - has_runs;
    file->shape = array->shape + has_runs;
    if (has_runs && run >= array->shape[0])
        return sa_fail(SA_INVALID, "--%s %s has %zu runs, counted from 0, and --first-run %zu is asked for",
                       option, path, array->shape[0], run);
    file->count = sa_array_count(array) / (has_runs ? array->shape[0] : 1);
    SA_TRY(sa_alloc_array(file->count, sizeof *file->numbers, &file->numbers));
    for (size_t i = 0; i < file->count; i++) file->numbers[i] = sa_array_number(array, run * file->count + i);
    for (size_t i = 0; i < file->count; i++)
        if (!isfinite(file->numbers[i]))
            return sa_fail(SA_INVALID, "--%s %s has %s at position %zu", option, path,
                           isnan(file->numbers[i]) ? "nan" : "an infinity", i);
    return SA_OK;
}

static sa_status read_contexts(const sa_options *options, numbers_file *file) {
    const char *path = options->contexts, *wanted = "(n, d), (T, N, d) or (R, T, N, d), none of them 0,";
    if (!*path) return sa_fail(SA_INVALID, "theory needs --contexts, an npy file");
    SA_TRY(read_file(options, "contexts", path, 3, file));
    if (file->array.axes < 2 || file->array.axes > 4 || file->count == 0)
        return wrong_shape(file, "contexts", path, wanted);
    if (file->axes == 3 && (size_t)options->slate > file->shape[1])
        return sa_fail(SA_INVALID, "--slate %" PRId64 " is more than the %zu arms a round of --contexts %s",
                       options->slate, file->shape[1], path);
    return SA_OK;
}

static sa_status read_scores(const sa_options *options, size_t contexts, numbers_file *file) {
    SA_TRY(read_file(options, "scores", options->scores, 2, file));
    if (file->count == contexts) return SA_OK;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "one score for each of the %zu contexts", contexts);
    return wrong_shape(file, "scores", options->scores, wanted);
}

sa_status sa_theory_of_files(const sa_options *options, sa_theory_numbers *numbers) {
    if (!options || !numbers)
        return sa_fail(SA_INVALID, "sa_theory_of_files needs options and a place for the numbers");
    numbers_file contexts = {.count = 0}, scores = {.count = 0};
    sa_options *all = NULL;
    sa_status status;
    SA_TRY_OR_FAIL(read_contexts(options, &contexts));
    size_t dim = contexts.shape[contexts.axes - 1], count = contexts.count / dim, rounds = contexts.shape[0];
    sa_array_clear(&contexts.array); /* for the memory; `shape` was of it */
    if (*options->scores) SA_TRY_OR_FAIL(read_scores(options, count, &scores));
    all = sa_options_copy(options);
    if (!all) {
        status = SA_OUT_OF_MEMORY;
        goto fail;
    }
    if (!sa_options_given(all, "rounds")) all->rounds = (int64_t)rounds;
    SA_TRY_OR_FAIL(sa_theory_compute(all, contexts.numbers, count, dim, scores.numbers, numbers));
fail:
    sa_options_destroy(all);
    clear(&scores);
    clear(&contexts);
    return status;
}
