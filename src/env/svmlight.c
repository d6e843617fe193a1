/* Queries and their documents, as LETOR has them. Each round is a query, drawn again, and its documents, in
 * random order, are the arms. A document's expected score is the probability by its grade that --user chooses
 * it when looking at it; its score is 1 or 0. With --noise, given by hand, Gaussian noise is added to that.
 * Rows have unit length. */
#include "base/memory.h"
#include "env/data_file.h"
#include "env/svmlight_file.h"
#include "rng/stream.h"

extern const sa_environment_class sa_environment_svmlight;

typedef struct graded {
    sa_environment base;
    uint64_t seed;
    const sa_data_user *user;
    sa_svmlight file;
} graded;

static sa_status read_file(graded *self, const sa_options *options) {
    char *text;
    size_t size;
    SA_TRY(sa_data_read(options, &text, &size));
    sa_status status = sa_svmlight_parse(text, size, options->data, &self->file);
    sa_free(text);
    SA_TRY(status);
    SA_TRY(sa_data_check_size(options, "arms", options->arms, "largest query has", self->file.most));
    return sa_data_check_size(options, "dim", options->dim, "largest index is", self->file.dim);
}

static void svmlight_destroy(sa_environment *environment) {
    graded *self = (graded *)environment;
    sa_svmlight_clear(&self->file);
    sa_free(self);
}

static sa_status svmlight_create(const sa_options *options, const sa_environment_class *kind,
                                 sa_environment **out) {
    graded *self;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base.kind = kind;
    sa_status status = read_file(self, options);
    if (status != SA_OK) {
        svmlight_destroy(&self->base);
        return status;
    }
    self->base.rounds = (size_t)options->rounds;
    self->base.arms = self->file.most;
    self->base.dim = self->file.dim;
    self->base.noise = sa_data_noise(options);
    self->base.varies = self->file.least < self->file.most;
    self->seed = (uint64_t)options->seed;
    self->user = sa_data_user_of(options, self->file.largest_grade);
    *out = &self->base;
    return SA_OK;
}

static sa_status svmlight_draw(const sa_environment *environment, uint64_t run, uint64_t round,
                               sa_round *out) {
    const graded *self = (const graded *)environment;
    const sa_svmlight *file = &self->file;
    sa_stream stream = sa_stream_at(self->seed, SA_PURPOSE_CONTEXTS, run, round);
    size_t query = (size_t)sa_draw_below(&stream, 0, file->queries), first = file->query[query];
    size_t arms = out->arms = file->query[query + 1] - first;
    uint64_t *order = sa_data_scratch(out);
    sa_draw_distinct(&stream, 1, arms, arms, order);
    for (size_t i = 0; i < arms; i++) {
        size_t document = first + (size_t)order[i];
        sa_svmlight_row(file, document, out->contexts + i * file->dim);
        out->expected[i] = self->user->click[file->grade[document]];
        out->stop[i] = self->user->stop[file->grade[document]];
    }
    sa_data_unit_rows(arms, file->dim, out->contexts);
    sa_data_choice_noise(environment, self->seed, run, round, arms, out->expected, out->noise);
    return SA_OK;
}

static const char *file_of(const sa_options *options) { return options->data; }

const sa_environment_class sa_environment_svmlight = {
    .name = "svmlight",
    .summary = "each round a query of an svmlight file, its graded documents the arms, so that N varies: "
               "--data, --user",
    .arms = "documents of the largest query of --data",
    .file = file_of,
    .create = svmlight_create,
    .draw = svmlight_draw,
    .destroy = svmlight_destroy,
};
