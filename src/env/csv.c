/* Rows of a csv file as arms. Each round N different rows are drawn. With c(1) and c(0) the probabilities
 * that --user chooses a row that has the wanted label and one that has not, which are 1 and 0 by default, the
 * expected scores are c(1) where the label is --positive and c(0) where it is not, and scores are 1 or 0: the
 * noise is what that differs. With --noise, given by hand, Gaussian noise is added to that. Rows have unit
 * length. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "env/csv_read.h"
#include "env/data_file.h"
#include "rng/stream.h"

extern const sa_environment_class sa_environment_csv;

typedef struct labelled {
    sa_environment base;
    uint64_t seed;
    const sa_data_user *user;
    sa_csv_pool pool;
    bool *wanted; /* (labels of the pool) */
} labelled;

/* The same text, or the same number in other digits. */
static bool is_wanted(const char *label, const char *wanted) {
    double number, wanted_number;
    return !strcmp(label, wanted) || (sa_text_to_number(wanted, &wanted_number) &&
                                      sa_text_to_number(label, &number) && number == wanted_number);
}

static sa_status no_label_wanted(const labelled *self, const sa_options *options) {
    char list[SA_CSV_LABEL_LIST], shown[SA_PRINTABLE];
    sa_csv_pool_label_list(&self->pool, list);
    if (!*options->positive)
        return sa_fail(
            SA_INVALID,
            "--environment csv needs --positive, the label that is wanted: column %zu of %s has %s",
            self->pool.label_column + 1, options->data, list);
    return sa_fail(SA_INVALID, "--positive %s is the label of no row: column %zu of %s has %s",
                   sa_printable(options->positive, shown), self->pool.label_column + 1, options->data, list);
}

static sa_status read_pool(labelled *self, const sa_options *options) {
    size_t found = 0;
    SA_TRY(sa_csv_read(options, &self->pool));
    SA_TRY(sa_alloc_array(self->pool.labels.count, sizeof *self->wanted, &self->wanted));
    for (size_t i = 0; *options->positive && i < self->pool.labels.count; i++)
        found += self->wanted[i] = is_wanted(self->pool.labels.text[i], options->positive);
    if (!found) return no_label_wanted(self, options);
    if ((uint64_t)options->arms <= self->pool.rows)
        return sa_data_check_size(options, "dim", options->dim, "rows have", self->pool.dim);
    return sa_fail(SA_INVALID, "--arms %" PRId64 " is more than the %zu rows of --data %s", options->arms,
                   self->pool.rows, options->data);
}

static void csv_destroy(sa_environment *environment) {
    labelled *self = (labelled *)environment;
    sa_free(self->wanted);
    sa_csv_pool_clear(&self->pool);
    sa_free(self);
}

static sa_status csv_create(const sa_options *options, const sa_environment_class *kind,
                            sa_environment **out) {
    labelled *self;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base.kind = kind;
    sa_status status = read_pool(self, options);
    if (status != SA_OK) {
        csv_destroy(&self->base);
        return status;
    }
    self->base.rounds = (size_t)options->rounds;
    self->base.arms = (size_t)options->arms;
    self->base.dim = self->pool.dim;
    self->base.noise = sa_data_noise(options);
    self->seed = (uint64_t)options->seed;
    self->user = sa_data_user_of(options, 1);
    *out = &self->base;
    return SA_OK;
}

static sa_status csv_draw(const sa_environment *environment, uint64_t run, uint64_t round, sa_round *out) {
    const labelled *self = (const labelled *)environment;
    size_t arms = self->base.arms, dim = self->base.dim;
    sa_stream stream = sa_stream_at(self->seed, SA_PURPOSE_CONTEXTS, run, round);
    uint64_t *rows = sa_data_scratch(out);
    sa_draw_distinct(&stream, 0, arms, self->pool.rows, rows);
    for (size_t i = 0; i < arms; i++) {
        sa_csv_pool_row(&self->pool, (size_t)rows[i], out->contexts + i * dim);
        bool wanted = self->wanted[self->pool.label[rows[i]]];
        out->expected[i] = self->user->click[wanted];
        out->stop[i] = self->user->stop[wanted];
    }
    sa_data_unit_rows(arms, dim, out->contexts);
    sa_data_choice_noise(environment, self->seed, run, round, arms, out->expected, out->noise);
    return SA_OK;
}

const sa_environment_class sa_environment_csv = {
    .name = "csv",
    .summary = "arms are rows of a csv file, scores tell whether a row has the wanted label: --data, "
               "--label, --positive",
    .create = csv_create,
    .draw = csv_draw,
    .destroy = csv_destroy,
};
