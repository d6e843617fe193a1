/* Two designs of a sketch on the same gradients: those that an agent with exact widths counts while it learns
 * h2.
 *
 *   dictionary    --confidence sketch: B factored gradients stand for all (src/confidence/sketch.c)
 *   directions    frequent directions (Liberty 2013; Ghashami et al. 2016): B dense vectors of p numbers, the
 *                 strongest singular
 *                 directions of all so far, each weakened by what the weakest lost; Z^ <= Z <= Z^ + Delta I,
 *                     so widths are never
 *                 below the exact ones, and within sqrt(1 + Delta / lambda)
 *   robust        the same with lambda + Delta / 2 in place of lambda (Luo et al. 2019): within sqrt(1 +
 *                 Delta / (2 lambda))
 *
 * For each: the range of width / exact width over all arms of the rounds since the line before, the
 * certificate, microseconds for the width of an arm and for counting a gradient, and memory.
 *
 *     bench_sketches [size B] [counted gradients] [option=value ...]      the paper's network with d 20, m 64
 *         unless told */
#include "machine.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "env/environment.h"
#include "model/gradients_real.h"

enum { MOST_ARMS = 256 };

static void must(sa_status status) {
    if (status == SA_OK) return;
    fprintf(stderr, "bench_sketches: %s\n", sa_last_error());
    exit(1);
}

static void *zeros(size_t count, size_t size) {
    void *array = calloc(count, size);
    if (!array) exit(1);
    return array;
}

/* ---- frequent directions ---- */

typedef struct directions {
    size_t size, room, count, p;
    double lambda, delta; /* Delta, what each direction was weakened by in all */
    float *row, *spare;   /* (room, p) */
    double *gram, *value; /* (room, room); (room) */
    float *factor;        /* (room, room) lower: C C' = lambda I + rows rows' */
    float *arms, *inner;  /* (MOST_ARMS, p); (MOST_ARMS, room) */
} directions;

static directions directions_of(size_t size, size_t p, double lambda) {
    size_t room = size + size / 4;
    return (directions){.size = size,
                        .room = room,
                        .p = p,
                        .lambda = lambda,
                        .row = zeros(room * p, sizeof(float)),
                        .spare = zeros(room * p, sizeof(float)),
                        .gram = zeros(room * room, sizeof(double)),
                        .value = zeros(room, sizeof(double)),
                        .factor = zeros(room * room, sizeof(float)),
                        .arms = zeros(MOST_ARMS * p, sizeof(float)),
                        .inner = zeros(MOST_ARMS * room, sizeof(float))};
}

static double directions_bytes(const directions *self) {
    double room = (double)self->room, p = (double)self->p;
    return room * p * 2 * sizeof(float) + room * room * (sizeof(double) + sizeof(float));
}

/* factor = rows rows', in single precision */
static void find_gram(directions *self) {
    int n = (int)self->count, p = (int)self->p;
    cblas_ssyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, p, 1, self->row, p, 0, self->factor, n);
}

/* The rows become U' rows, scaled to singular values sqrt(s^2 - s_B^2). */
static void shrink(directions *self) {
    size_t n = self->count, keep = self->size;
    find_gram(self);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            self->gram[i * n + j] = self->gram[j * n + i] = (double)self->factor[i * n + j];
    if (LAPACKE_dsyevd(LAPACK_ROW_MAJOR, 'V', 'L', (int)n, self->gram, (int)n, self->value))
        exit(1); /* rising */
    double weakest = fmax(self->value[n - keep - 1], 0);
    for (size_t k = 0; k < keep; k++) {
        double value = self->value[n - 1 - k], scale = value > weakest ? sqrt((value - weakest) / value) : 0;
        for (size_t i = 0; i < n; i++)
            self->factor[k * n + i] = (float)(scale * self->gram[i * n + n - 1 - k]);
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)keep, (int)self->p, (int)n, 1, self->factor,
                (int)n, self->row, (int)self->p, 0, self->spare, (int)self->p);
    float *swap = self->row;
    self->row = self->spare;
    self->spare = swap;
    self->count = keep;
    self->delta += weakest;
}

static void directions_count(directions *self, const sa_gradients *batch) {
    for (size_t k = 0; k < batch->count; k++) {
        if (self->count == self->room) shrink(self);
        gradients_write_out_f32(batch, k, self->row + self->count++ * self->p);
    }
}

/* Each time again, so it is not counted as time: it could be brought up to date for little. */
static void find_factor(directions *self, double lambda) {
    int n = (int)self->count;
    if (n == 0) return;
    find_gram(self);
    for (int i = 0; i < n; i++) self->factor[i * n + i] += (float)lambda;
    if (LAPACKE_spotrf(LAPACK_ROW_MAJOR, 'L', n, self->factor, n)) exit(1);
}

static void directions_widths(directions *self, const sa_gradients *batch, double lambda, double *width) {
    int n = (int)self->count, p = (int)self->p, arms = (int)batch->count;
    for (int i = 0; i < arms; i++) gradients_write_out_f32(batch, (size_t)i, self->arms + i * p);
    if (n) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, arms, n, p, 1, self->arms, p, self->row, p, 0,
                    self->inner, n);
        cblas_strsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, arms, n, 1, self->factor,
                    n, self->inner, n);
    }
    for (int i = 0; i < arms; i++) {
        double rest = gradients_dot_f32(batch, (size_t)i, batch, (size_t)i);
        for (int j = 0; j < n; j++) rest -= (double)self->inner[i * n + j] * (double)self->inner[i * n + j];
        width[i] = sqrt(fmax(rest, 0) / lambda);
    }
}

/* ---- measuring ---- */

typedef struct line {
    const char *name;
    double least, most, width_seconds, count_seconds, arms, counted;
} line;

static void compare(line *self, const double *width, const double *exact, size_t arms) {
    for (size_t i = 0; i < arms; i++) {
        self->least = fmin(self->least, width[i] / exact[i]);
        self->most = fmax(self->most, width[i] / exact[i]);
    }
    self->arms += (double)arms;
}

static void print_line(line *self, size_t counted, double certificate, double bytes) {
    printf("%8zu  %-11s %8.4f %8.4f %12.3f %10.1f %10.1f %8.1f\n", counted, self->name, self->least,
           self->most, certificate, 1e6 * self->width_seconds / self->arms,
           1e6 * self->count_seconds / self->counted, bytes / 1e6);
    self->least = INFINITY;
    self->most = 0;
}

typedef struct comparison {
    sa_confidence *dictionary;
    sa_width_work work;
    sa_account *account; /* of the dictionary's memory, workspace included */
    directions directions;
    line line[3];
} comparison;

static void look(comparison *self, const sa_gradients *batch, const double *exact) {
    double width[MOST_ARMS], start = machine_seconds();
    sa_account *before = sa_account_charge(self->account);
    must(self->dictionary->kind->widths(self->dictionary, batch, NULL, batch->count, NULL, &self->work,
                                        width));
    sa_account_charge(before);
    self->line[0].width_seconds += machine_seconds() - start;
    compare(&self->line[0], width, exact, batch->count);
    for (int robust = 0; robust < 2; robust++) {
        double lambda = self->directions.lambda + (robust ? self->directions.delta / 2 : 0);
        find_factor(&self->directions, lambda);
        start = machine_seconds();
        directions_widths(&self->directions, batch, lambda, width);
        self->line[1 + robust].width_seconds += machine_seconds() - start;
        compare(&self->line[1 + robust], width, exact, batch->count);
    }
}

static void count(comparison *self, const sa_gradients *batch) {
    double start = machine_seconds(), middle;
    sa_account *before = sa_account_charge(self->account);
    must(sa_confidence_count(self->dictionary, batch, NULL, &self->work));
    sa_account_charge(before);
    middle = machine_seconds();
    directions_count(&self->directions, batch);
    double taken[3] = {middle - start, machine_seconds() - middle, machine_seconds() - middle};
    for (int i = 0; i < 3; i++) {
        self->line[i].count_seconds += taken[i];
        self->line[i].counted += (double)batch->count;
    }
}

static void print(comparison *self, size_t counted) {
    double excess = self->directions.delta / self->directions.lambda,
           bytes = directions_bytes(&self->directions);
    print_line(&self->line[0], counted, sa_confidence_certificate(self->dictionary),
               (double)sa_account_bytes(self->account));
    print_line(&self->line[1], counted, sqrt(1 + excess), bytes);
    print_line(&self->line[2], counted, sqrt(1 + excess / 2), bytes);
    fflush(stdout);
}

/* ---- the stream ---- */

static sa_options *read_options(int argc, char **argv) {
    sa_options *options = sa_options_new("paper");
    static const char *const defaults[][2] = {{"environment", "h2"}, {"dim", "20"}, {"hidden", "64"}};
    for (int i = 3; i < argc; i++) /* a preset sets all the others */
        if (!strncmp(argv[i], "preset=", 7)) must(sa_options_set(options, "preset", argv[i] + 7));
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        must(sa_options_set(options, defaults[i][0], defaults[i][1]));
    for (int i = 3; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (!value || !strncmp(argv[i], "preset=", 7)) continue;
        *value = 0;
        must(sa_options_set(options, argv[i], value + 1));
    }
    must(sa_options_set(options, "algorithm", "cn-ucb"));
    must(sa_options_set(options, "widths", "all"));
    if (argc > 1) must(sa_options_set(options, "sketch-size", argv[1]));
    return options;
}

/* One round: the agent chooses, and hears; both sketches look at all arms and count the chosen. */
static void play(sa_agent *agent, sa_environment *environment, sa_round *round, size_t t, comparison *self) {
    static sa_decision *decision;
    size_t slate = (size_t)sa_agent_options(agent)->slate;
    double *score = zeros(slate, sizeof(double));
    sa_request *request = sa_request_new();
    sa_gradients chosen;
    sa_environment_draw(environment, 0, t, round);
    sa_request_contexts(request, round->contexts, round->arms);
    sa_request_slate(request, slate);
    must(sa_agent_select(agent, request, &decision));
    const sa_gradients *all = &agent->chooser->block->gradients;
    look(self, all, sa_decision_all_widths(decision));
    const size_t *arms = sa_decision_arms(decision);
    for (size_t k = 0; k < slate; k++) score[k] = round->expected[arms[k]] + round->noise[arms[k]];
    must(sa_gradients_init_like(&chosen, all->precision, all));
    must(sa_gradients_reserve(&chosen, slate));
    sa_gradients_append(&chosen, all, arms, slate);
    count(self, &chosen);
    must(sa_agent_update(agent, sa_decision_id(decision), score, NULL, slate));
    sa_gradients_clear(&chosen);
    sa_request_destroy(request);
    free(score);
}

int main(int argc, char **argv) {
    size_t total = argc > 2 ? strtoul(argv[2], NULL, 10) : 1200;
    sa_options *options = read_options(argc, argv);
    sa_agent *agent = NULL;
    sa_environment *environment;
    sa_round round;
    openblas_set_num_threads(1);
    must(sa_environment_create(options, &environment));
    must(sa_round_init(&round, environment));
    must(sa_agent_create(options, &agent));
    size_t p = sa_gradients_parameters(&agent->learner->policy->none), slate = (size_t)options->slate;
    if (options->arms > MOST_ARMS || options->precision != SA_PRECISION_SINGLE) return 1;
    comparison self = {.directions = directions_of((size_t)options->sketch_size, p, options->regularization),
                       .line = {{.name = "dictionary", .least = INFINITY},
                                {.name = "directions", .least = INFINITY},
                                {.name = "robust", .least = INFINITY}}};
    const sa_model *model = agent->learner->policy->estimator.model;
    self.account = sa_account_open();
    if (!self.account) return 1;
    sa_account *before = sa_account_charge(self.account);
    sa_confidence_settings settings = sa_options_confidence(options);
    must(sa_confidence_sketch.create(&settings, model->pairs, model->shape, &self.dictionary));
    sa_account_charge(before);
    printf("B %lld, p %zu, N %lld: width / exact width, certificate, microseconds an arm and a counted "
           "gradient\n",
           (long long)options->sketch_size, p, (long long)options->arms);
    printf("%8s  %-11s %8s %8s %12s %10s %10s %8s\n", "counted", "design", "least", "most", "certificate",
           "us / arm", "us / grad", "MB");
    size_t next = 400;
    for (size_t t = 0; t * slate < total; t++) {
        play(agent, environment, &round, t, &self);
        size_t counted = (t + 1) * slate;
        if (counted < next && counted < total) continue;
        print(&self, counted);
        next *= 2;
    }
    return 0;
}
