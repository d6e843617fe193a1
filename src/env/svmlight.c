/* Queries and their documents, as LETOR has them. Each round is a query, drawn anew, and its documents, in random order, are the
 * arms. A document's grade gives the probability that it is chosen once it is looked at, which is its expected score, and the
 * probability that the user then looks no further, after F. Guo, C. Liu and Y. M. Wang (WSDM 2009) as instantiated by
 * K. Hofmann, S. Whiteson and M. de Rijke (Information Retrieval 16, 2013): perfect, navigational and informational users.
 *
 * Files whose largest grade is 1 or 2 have the scales of two and three grades that are customary there: the ends, and the middle
 * where there is one. Gaussian noise is added with --noise, given by hand. Rows have unit length unless --no-unit-rows. */
#include "base/memory.h"
#include "env/data.h"
#include "env/noise.h"
#include "env/svmlight_file.h"

extern const sa_environment_class sa_environment_svmlight;

typedef struct user {
    double click[SA_LARGEST_GRADE + 1], stop[SA_LARGEST_GRADE + 1]; /* by grade */
} user;

/* In the order of SA_USERS. */
static const user TWO_GRADES[] = {{{0, 1}, {0, 0}}, {{0.05, 0.95}, {0.2, 0.9}}, {{0.4, 0.9}, {0.1, 0.5}}};
static const user THREE_GRADES[] = {
    {{0, 0.5, 1}, {0, 0, 0}}, {{0.05, 0.5, 0.95}, {0.2, 0.5, 0.9}}, {{0.4, 0.7, 0.9}, {0.1, 0.3, 0.5}}};
static const user FIVE_GRADES[] = {{{0, 0.2, 0.4, 0.8, 1}, {0, 0, 0, 0, 0}},
                                   {{0.05, 0.3, 0.5, 0.7, 0.95}, {0.2, 0.3, 0.5, 0.7, 0.9}},
                                   {{0.4, 0.6, 0.7, 0.8, 0.9}, {0.1, 0.2, 0.3, 0.4, 0.5}}};

typedef struct graded {
    sa_environment base;
    uint64_t seed;
    bool unit_rows;
    const user *user;
    sa_svmlight file;
} graded;

static sa_status read_file(graded *self, const sa_options *options) {
    char *text;
    size_t size;
    SA_TRY(sa_data_read(options, &text, &size));
    sa_status status = sa_svmlight_parse(text, size, options->data, &self->file);
    sa_free(text);
    SA_TRY(status);
    SA_TRY(sa_data_check_size(options, "arms", options->arms, self->file.most));
    return sa_data_check_size(options, "dim", options->dim, self->file.dim);
}

static void svmlight_destroy(sa_environment *environment) {
    graded *self = (graded *)environment;
    sa_svmlight_clear(&self->file);
    sa_free(self);
}

static sa_status svmlight_create(const sa_options *options, const sa_environment_class *kind, sa_environment **out) {
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
    self->unit_rows = options->unit_rows;
    int grade = self->file.largest_grade;
    self->user = &(grade <= 1 ? TWO_GRADES : grade == 2 ? THREE_GRADES : FIVE_GRADES)[options->user];
    *out = &self->base;
    return SA_OK;
}

/* The order of the documents stands in the memory of the noise until the noise is drawn. */
static void svmlight_draw(const sa_environment *environment, uint64_t run, uint64_t round, sa_round *out) {
    const graded *self = (const graded *)environment;
    const sa_svmlight *file = &self->file;
    sa_stream stream = sa_stream_at(self->seed, SA_PURPOSE_CONTEXTS, run, round);
    size_t query = (size_t)sa_draw_below(&stream, 0, file->queries), first = file->query[query];
    size_t arms = out->arms = file->query[query + 1] - first;
    uint64_t *order = (void *)out->noise;
    sa_draw_distinct(&stream, 1, arms, arms, order);
    for (size_t i = 0; i < arms; i++) {
        size_t document = first + (size_t)order[i];
        sa_svmlight_row(file, document, out->contexts + i * file->dim);
        out->expected[i] = self->user->click[file->grade[document]];
        out->stop[i] = self->user->stop[file->grade[document]];
    }
    if (self->unit_rows) sa_data_unit_rows(arms, file->dim, out->contexts);
    sa_draw_noise(self->seed, run, round, self->base.noise, arms, out->noise);
}

const sa_environment_class sa_environment_svmlight = {
    .name = "svmlight",
    .summary = "each round a query of an svmlight file, its graded documents the arms, so that N varies: --data, --user",
    .create = svmlight_create,
    .draw = svmlight_draw,
    .destroy = svmlight_destroy,
};
