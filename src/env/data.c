#include "env/data.h"

#include <inttypes.h>
#include <math.h>

#include "base/file.h"

sa_status sa_data_read(const sa_options *options, char **text, size_t *size) {
    if (!*options->data) return sa_fail(SA_INVALID, "--environment %s needs --data, a file", options->environment);
    sa_status status = sa_file_read(options->data, text, size);
    return status == SA_OK ? SA_OK : sa_fail_prefix(status, "--data: ");
}

sa_status sa_data_check_size(const sa_options *options, const char *option, int64_t asked, size_t file_has) {
    if (!sa_options_given(options, option) || (uint64_t)asked == file_has) return SA_OK;
    return sa_fail(SA_INVALID, "--%s %" PRId64 " contradicts --data %s, which has %zu", option, asked, options->data,
                   file_has);
}

double sa_data_noise(const sa_options *options) { return sa_options_given(options, "noise") ? options->noise : 0; }

/* In units of the row's largest feature, so that squares neither overflow nor vanish. */
void sa_data_unit_rows(size_t rows, size_t dim, double *contexts) {
    for (size_t i = 0; i < rows; i++) {
        double *row = contexts + i * dim, largest = 0, squares = 0;
        for (size_t j = 0; j < dim; j++) largest = fmax(largest, fabs(row[j]));
        if (largest == 0) continue;
        for (size_t j = 0; j < dim; j++) row[j] /= largest;
        for (size_t j = 0; j < dim; j++) squares += row[j] * row[j];
        double length = sqrt(squares);
        for (size_t j = 0; j < dim; j++) row[j] /= length;
    }
}
