/* Users by grade: F. Guo, C. Liu and Y. M. Wang, Efficient multiple-click models in web search, WSDM 2009, as
 * K. Hofmann, S. Whiteson and M. de Rijke (Information Retrieval 16, 2013) and those after them filled it in:
 * perfect, navigational and informational users. A single user clicks as a perfect one does, and once: the
 * cascade model.
 *
 * Files whose largest grade is 1 or 2 have the scales that are customary there: the ends, and the middle
 * where there is one. */
#include "env/data_file.h"

#include <inttypes.h>
#include <math.h>

#include "base/file.h"
#include "env/noise.h"

sa_status sa_data_read(const sa_options *options, char **text, size_t *size) {
    if (!*options->data)
        return sa_fail(SA_INVALID, "--environment %s needs --data, a file", options->environment);
    sa_status status = sa_file_read(options->data, text, size);
    if (status == SA_OUT_OF_MEMORY) return sa_fail_prefix(status, "--data %s: ", options->data);
    return status == SA_OK ? SA_OK : sa_fail_prefix(status, "--data: ");
}

sa_status sa_data_check_size(const sa_options *options, const char *option, int64_t asked, const char *whose,
                             size_t has) {
    if (!sa_options_given(options, option) || (uint64_t)asked == has) return SA_OK;
    return sa_fail(SA_INVALID, "--%s %" PRId64 " contradicts --data %s, whose %s %zu", option, asked,
                   options->data, whose, has);
}

double sa_data_noise(const sa_options *options) {
    return sa_options_given(options, "noise") ? options->noise : 0;
}

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

/* ---- users ---- */

/* In the order of SA_USERS. */
static const sa_data_user TWO_GRADES[] = {
    {{0, 1}, {1, 1}}, {{0, 1}, {0, 0}}, {{0.05, 0.95}, {0.2, 0.9}}, {{0.4, 0.9}, {0.1, 0.5}}};
static const sa_data_user THREE_GRADES[] = {{{0, 0.5, 1}, {1, 1, 1}},
                                            {{0, 0.5, 1}, {0, 0, 0}},
                                            {{0.05, 0.5, 0.95}, {0.2, 0.5, 0.9}},
                                            {{0.4, 0.7, 0.9}, {0.1, 0.3, 0.5}}};
static const sa_data_user FIVE_GRADES[] = {{{0, 0.2, 0.4, 0.8, 1}, {1, 1, 1, 1, 1}},
                                           {{0, 0.2, 0.4, 0.8, 1}, {0, 0, 0, 0, 0}},
                                           {{0.05, 0.3, 0.5, 0.7, 0.95}, {0.2, 0.3, 0.5, 0.7, 0.9}},
                                           {{0.4, 0.6, 0.7, 0.8, 0.9}, {0.1, 0.2, 0.3, 0.4, 0.5}}};

const sa_data_user *sa_data_user_of(const sa_options *options, int largest_grade) {
    return &(largest_grade <= 1   ? TWO_GRADES
             : largest_grade == 2 ? THREE_GRADES
                                  : FIVE_GRADES)[options->user];
}

void sa_data_choice_noise(const sa_environment *environment, uint64_t seed, uint64_t run, uint64_t round,
                          size_t arms, const double *expected, double *noise) {
    sa_stream stream = sa_stream_at(seed, SA_PURPOSE_NOISE, run, round);
    sa_draw_noise(seed, run, round, environment->noise, arms, noise);
    for (size_t i = 0; i < arms; i++) {
        double score = sa_draw_uniform(&stream, environment->arms + i) < expected[i];
        noise[i] += score - expected[i];
    }
}
