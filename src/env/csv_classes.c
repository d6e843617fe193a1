/* A table of classes as a bandit problem. With C classes a round shows R = N / C rows, and its arms are the
 * pairs of a row and a class, N = R C of them, row by row, classes in the order of their bytes; an arm is
 * worth 1 where the class is the row's own, else 0 (or what --user makes of that). Its context is, with x the
 * row's features divided by their length and e_c a vector of C that is 1 at c,
 *
 *   classes          x in the class's block of C blocks, e_c (x) x     D. Zhou, L. Li and Q. Gu, ICML 2020
 *   classes-joined   (x, e_c) / sqrt(2)
 *
 * Rows come in random order, in another one in each run; none comes twice before all rows, but for the last
 * few that are less than a round's, have come. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "env/csv_read.h"
#include "env/data_file.h"
#include "rng/stream.h"

extern const sa_environment_class sa_environment_classes, sa_environment_classes_joined;

typedef struct classified {
    sa_environment base;
    uint64_t seed;
    bool joined;
    size_t classes, rows; /* rows of a round */
    const sa_data_user *user;
    sa_csv_pool pool;
} classified;

/* Of a run: all rows of the file in the order of this pass over them. */
typedef struct row_order {
    uint64_t run, pass;
    uint64_t *order; /* (rows of the file) */
} row_order;

/* ---- making ---- */

static sa_status check_classes(const classified *self, const sa_options *options) {
    char list[SA_CSV_LABEL_LIST];
    const sa_csv_values *labels = &self->pool.labels;
    size_t column = self->pool.label_column + 1;
    for (size_t i = 0; i < labels->count; i++)
        if (!*labels->text[i] || !strcmp(labels->text[i], "?"))
            return sa_fail(SA_FORMAT,
                           "%s has rows without a class, \"%s\" in column %zu: leave them out, or choose "
                           "another column by --label",
                           options->data, labels->text[i], column);
    if (labels->count > SA_CSV_MOST_VALUES)
        return sa_fail(
            SA_INVALID,
            "column %zu of %s has %zu classes (%s ...), and at most %d are taken: is --label right?", column,
            options->data, labels->count, sa_csv_pool_label_list(&self->pool, list), SA_CSV_MOST_VALUES);
    if (labels->count > 1) return SA_OK;
    return sa_fail(SA_INVALID, "column %zu of %s has one class only, %s: is --label right?", column,
                   options->data, sa_csv_pool_label_list(&self->pool, list));
}

/* Labels go from the order of arrival to that of their bytes. */
static sa_status order_classes(sa_csv_pool *pool) {
    size_t rank[SA_CSV_MOST_VALUES];
    SA_TRY(sa_csv_values_rank(&pool->labels, rank));
    for (size_t row = 0; row < pool->rows; row++) pool->label[row] = rank[pool->label[row]];
    return SA_OK;
}

/* As many rows as the slate has places, unless --arms says otherwise. */
static sa_status choose_rows(classified *self, const sa_options *options) {
    self->rows = (size_t)options->slate;
    if (sa_options_given(options, "arms")) {
        if ((uint64_t)options->arms % self->classes)
            return sa_fail(SA_INVALID,
                           "--arms %" PRId64
                           " is not a multiple of the %zu classes of --data %s: the arms of "
                           "a round are rows with a class each",
                           options->arms, self->classes, options->data);
        self->rows = (size_t)options->arms / self->classes;
    }
    if (self->rows <= self->pool.rows) return SA_OK;
    return sa_fail(SA_INVALID, "a round of %zu rows (%s) is more than the %zu rows of --data %s", self->rows,
                   sa_options_given(options, "arms") ? "--arms over the classes" : "--slate", self->pool.rows,
                   options->data);
}

static sa_status read_table(classified *self, const sa_options *options) {
    sa_environment *base = &self->base;
    SA_TRY(sa_csv_read(options, &self->pool));
    SA_TRY(check_classes(self, options));
    SA_TRY(order_classes(&self->pool));
    self->classes = self->pool.labels.count;
    SA_TRY(choose_rows(self, options));
    if (__builtin_mul_overflow(self->rows, self->classes, &base->arms) ||
        __builtin_mul_overflow(self->pool.dim, self->classes, &base->dim))
        return sa_fail(SA_INVALID, "--data %s has too many features and classes", options->data);
    if (self->joined) base->dim = self->pool.dim + self->classes;
    return sa_data_check_size(options, "dim", options->dim, "contexts have", base->dim);
}

static void classes_destroy(sa_environment *environment) {
    classified *self = (classified *)environment;
    sa_csv_pool_clear(&self->pool);
    sa_free(self);
}

static sa_status classes_create(const sa_options *options, const sa_environment_class *kind,
                                sa_environment **out) {
    classified *self;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base.kind = kind;
    self->joined = kind == &sa_environment_classes_joined;
    sa_status status = read_table(self, options);
    if (status != SA_OK) {
        classes_destroy(&self->base);
        return status;
    }
    self->base.rounds = (size_t)options->rounds;
    self->base.noise = sa_data_noise(options);
    self->seed = (uint64_t)options->seed;
    self->user = sa_data_user_of(options, 1);
    *out = &self->base;
    return SA_OK;
}

/* ---- a run ---- */

static void shuffle(const classified *self, uint64_t run, uint64_t pass, row_order *out) {
    sa_stream stream = sa_stream_at(self->seed, SA_PURPOSE_CONTEXTS, run, pass);
    sa_draw_distinct(&stream, 0, self->pool.rows, self->pool.rows, out->order);
    out->run = run;
    out->pass = pass;
}

static sa_status classes_begin(const sa_environment *environment, uint64_t run, sa_round *out) {
    const classified *self = (const classified *)environment;
    row_order *state;
    SA_TRY(sa_alloc_array(1, sizeof *state, &state));
    sa_status status = sa_alloc_array(self->pool.rows, sizeof *state->order, &state->order);
    if (status != SA_OK) {
        sa_free(state);
        return status;
    }
    shuffle(self, run, 0, state);
    out->state = state;
    return SA_OK;
}

static void classes_end(const sa_environment *environment, sa_round *round) {
    row_order *state = round->state;
    (void)environment;
    sa_free(state->order);
    sa_free(state);
}

/* ---- a round ---- */

/* The contexts of a row with each class, (classes, dim). */
static void encode(const classified *self, size_t row, double *out) {
    size_t dim = self->base.dim, inputs = self->pool.dim, classes = self->classes;
    memset(out, 0, classes * dim * sizeof *out);
    sa_csv_pool_row(&self->pool, row, out);
    sa_data_unit_rows(1, inputs, out);
    for (size_t c = classes; c-- > 0;) { /* the first last: its block is where the features are */
        double *context = out + c * dim;
        if (c > 0) memcpy(context + (self->joined ? 0 : c * inputs), out, inputs * sizeof *out);
        if (!self->joined) continue;
        context[inputs + c] = 1;
        sa_data_unit_rows(1, dim, context);
    }
}

static sa_status classes_draw(const sa_environment *environment, uint64_t run, uint64_t round,
                              sa_round *out) {
    const classified *self = (const classified *)environment;
    row_order *state = out->state;
    uint64_t rounds_of_pass = self->pool.rows / self->rows;
    uint64_t pass = round / rounds_of_pass, first = round % rounds_of_pass * self->rows;
    if (state->run != run || state->pass != pass) shuffle(self, run, pass, state);
    for (size_t r = 0; r < self->rows; r++) {
        size_t row = (size_t)state->order[first + r], arm = r * self->classes;
        encode(self, row, out->contexts + arm * self->base.dim);
        for (size_t c = 0; c < self->classes; c++) {
            bool right = c == self->pool.label[row];
            out->expected[arm + c] = self->user->click[right];
            out->stop[arm + c] = self->user->stop[right];
        }
    }
    sa_data_choice_noise(environment, self->seed, run, round, self->base.arms, out->expected, out->noise);
    return SA_OK;
}

const sa_environment_class sa_environment_classes = {
    .name = "classes",
    .summary =
        "rows of a csv file with each class as arms, worth 1 where it is the row's own; features in the "
        "class's block: --data, --label",
    .create = classes_create,
    .draw = classes_draw,
    .destroy = classes_destroy,
    .begin = classes_begin,
    .end = classes_end,
};
const sa_environment_class sa_environment_classes_joined = {
    .name = "classes-joined",
    .summary = "the same, and an arm's context is the row's features and a 1 for the class",
    .create = classes_create,
    .draw = classes_draw,
    .destroy = classes_destroy,
    .begin = classes_begin,
    .end = classes_end,
};
