/* What is saved by sharing the work of an arm's features between its positions: scoring N arms in K
 * positions, against the same network on N K inputs that are written out, [x, e_k] each. Once for the scores
 * alone, once with their gradients, whose copies cost the same either way.
 *
 * Each row alternates the two sides, and the best of the rounds counts for each, so that other work on the
 * machine tells on neither. */
#include "machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "model/model.h"
#include "options/options.h"

enum { ROUNDS = 25 };

static void must(sa_status status) {
    if (status == SA_OK) return;
    fprintf(stderr, "bench_positions: %s\n", sa_last_error());
    exit(1);
}

static void row(size_t arms, size_t positions, size_t dim) {
    size_t rows = arms * positions, inputs = dim + positions;
    sa_options *options = sa_options_new("tuned");
    sa_model *model;
    sa_gradients gradients;
    sa_model_work work = {0};
    float *features, *written;
    double *mean, shared[2] = {INFINITY, INFINITY}, naive[2] = {INFINITY, INFINITY};
    if (!options) must(SA_OUT_OF_MEMORY);
    options->dim = (int64_t)dim;
    options->slate = (int64_t)positions;
    options->feedback = SA_FEEDBACK_POSITION;
    sa_model_settings settings = sa_options_model(options);
    must(sa_model_create("mlp", &settings, &model));
    must(sa_gradients_init(&gradients, model->precision, model->pairs, model->shape));
    must(sa_alloc_matrix(arms, dim, sizeof *features, &features));
    must(sa_alloc_matrix(rows, inputs, sizeof *written, &written));
    must(sa_alloc_array(rows, sizeof *mean, &mean));
    for (size_t i = 0; i < arms * dim; i++) features[i] = (float)(i * 2654435761u % 1000) / 1000;
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < dim; j++) written[i * inputs + j] = features[i / positions * dim + j];
        written[i * inputs + dim + i % positions] = 1;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int full = 0; full < 2; full++) {
            sa_gradients *to = full ? &gradients : NULL;
            double start = machine_seconds();
            must(model->kind->evaluate(model, features, arms, positions, &work, mean, to));
            double between = machine_seconds();
            must(model->kind->evaluate(model, written, rows, 0, &work, mean, to));
            naive[full] = fmin(naive[full], machine_seconds() - between);
            shared[full] = fmin(shared[full], between - start);
        }
    printf("%6zu %9zu %5zu %12.1f us %10.1f us %6.2f x   %12.1f us %10.1f us %6.2f x\n", arms, positions, dim,
           1e6 * shared[0], 1e6 * naive[0], naive[0] / shared[0], 1e6 * shared[1], 1e6 * naive[1],
           naive[1] / shared[1]);
    sa_free(mean);
    sa_free(written);
    sa_free(features);
    sa_gradients_clear(&gradients);
    sa_model_work_clear(&work);
    sa_model_destroy(model);
    sa_options_destroy(options);
}

int main(void) {
    puts("arms in positions: work of the features shared, against inputs written out (network of tuned, "
         "single precision)");
    puts("  arms positions   dim   scores shared written out            gradients shared written out");
    row(20, 4, 10);
    row(20, 4, 80);
    row(200, 10, 80);
    row(1000, 10, 80);
    row(200, 10, 500);
    return 0;
}
