/* Rows of a csv file as arms. Each round N different rows are drawn. With c(1) and c(0) the probabilities
 * that --user chooses a row that has the wanted label and one that has not, which are 1 and 0 by default, the
 * expected scores are c(1) where the label is --positive and c(0) where it is not, and scores are 1 or 0: the
 * noise is what that differs. With --noise, given by hand, Gaussian noise is added to that. Rows have unit
 * length. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "env/csv_pool.h"
#include "env/data_file.h"
#include "rng/stream.h"

extern const sa_environment_class sa_environment_csv;

typedef struct labelled {
    sa_environment base;
    uint64_t seed;
    bool unit_rows;
    const sa_data_user *user;
    sa_csv_pool pool;
} labelled;

static sa_status read_separator(const char *text, char *out) {
    char shown[SA_PRINTABLE];
    *out = strcmp(text, "tab") ? *text : '\t';
    if (*text && (!text[1] || *out == '\t') && !strchr("\"\r\n #?", *out)) return SA_OK;
    return sa_fail(SA_INVALID, "--separator %s is neither a character that can stand between fields nor tab",
                   sa_printable(text, shown));
}

static sa_status read_pool(labelled *self, const sa_options *options) {
    sa_csv_format format = {
        .header = options->header, .label = options->label, .positive = options->positive};
    char *text;
    size_t size;
    SA_TRY(read_separator(options->separator, &format.separator));
    SA_TRY(sa_data_read(options, &text, &size));
    sa_status status = sa_csv_pool_parse(text, size, options->data, &format, &self->pool);
    sa_free(text);
    SA_TRY(status);
    if ((uint64_t)options->arms <= self->pool.rows)
        return sa_data_check_size(options, "dim", options->dim, "rows have", self->pool.dim);
    return sa_fail(SA_INVALID, "--arms %" PRId64 " is more than the %zu rows of --data %s", options->arms,
                   self->pool.rows, options->data);
}

static void csv_destroy(sa_environment *environment) {
    labelled *self = (labelled *)environment;
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
    self->unit_rows = options->unit_rows;
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
        bool wanted = self->pool.positive[rows[i]];
        out->expected[i] = self->user->click[wanted];
        out->stop[i] = self->user->stop[wanted];
    }
    if (self->unit_rows) sa_data_unit_rows(arms, dim, out->contexts);
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
