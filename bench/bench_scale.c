/* What a round costs as one thing grows: N arms, n gradients counted, d features, m hidden units, L layers;
 * for each confidence engine. Median and 99th percentile of select and update (training apart), the median of
 * a training, memory.
 *
 * "forward" is the network's outputs alone for the same arms, from inputs that are ready, and "x forward" the
 * select in units of it. "least" is what the widths of all N arms take at the machine's peak or bandwidth,
 * whichever is longer, and "share" how much of that the select reaches: more than 100% where arms are dropped
 * before their width is needed.
 *
 *   bench_scale [FILTER]      only the rows of engines whose name has FILTER in it */
#include "machine.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "options/options.h"
#include <superarm/superarm.h>

typedef struct setting {
    const char *engine;
    size_t arms, counted, dim, hidden, depth;
} setting;

static const setting settings[] = {
    /* n, for each engine */
    {"exact", 20, 100, 80, 100, 2},
    {"exact", 20, 1000, 80, 100, 2},
    {"exact", 20, 8000, 80, 100, 2},
    {"sketch", 20, 100, 80, 100, 2},
    {"sketch", 20, 1000, 80, 100, 2},
    {"sketch", 20, 10000, 80, 100, 2},
    {"sketch", 20, 100000, 80, 100, 2},
    {"diagonal", 20, 1000, 80, 100, 2},
    {"diagonal", 20, 100000, 80, 100, 2},
    {"last-layer", 20, 1000, 80, 100, 2},
    {"last-layer", 20, 100000, 80, 100, 2},
    /* N */
    {"exact", 50, 1000, 80, 100, 2},
    {"exact", 200, 1000, 80, 100, 2},
    {"exact", 1000, 1000, 80, 100, 2},
    {"exact", 100000, 1000, 80, 100, 2},
    {"sketch", 50, 1000, 80, 100, 2},
    {"sketch", 200, 1000, 80, 100, 2},
    {"sketch", 1000, 1000, 80, 100, 2},
    {"sketch", 100000, 1000, 80, 100, 2},
    {"diagonal", 100000, 1000, 80, 100, 2},
    {"last-layer", 100000, 1000, 80, 100, 2},
    /* d, m, L */
    {"sketch", 200, 1000, 20, 100, 2},
    {"sketch", 200, 1000, 320, 100, 2},
    {"sketch", 200, 1000, 80, 50, 2},
    {"sketch", 200, 1000, 80, 400, 2},
    {"sketch", 200, 1000, 80, 100, 3},
    {"sketch", 200, 1000, 80, 100, 4},
};
enum {
    SETTINGS = sizeof settings / sizeof *settings,
    MOST_ROUNDS = 400,
    FILL = 100,
    ANSWER_EVERY = 10,
    SKETCH = 256
};

static size_t slate_of(size_t arms) { return arms < 200 ? 4 : 10; }
static size_t rounds_of(size_t arms) { return arms < 10000 ? MOST_ROUNDS : 30; }

static void must(sa_status status) {
    if (status == SA_OK) return;
    fprintf(stderr, "bench_scale: %s\n", sa_last_error());
    exit(1);
}

static void *room(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory) return memory;
    fprintf(stderr, "bench_scale: no memory\n");
    exit(1);
}

static float draw(void) {
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / (float)(1 << 23) - 1;
}

/* contexts (count, dim) of length about 1 */
static void draw_contexts(float *contexts, size_t count, size_t dim) {
    float scale = sqrtf(3 / (float)dim);
    for (size_t i = 0; i < count * dim; i++) contexts[i] = scale * draw();
}

static sa_options *options_of(const setting *self) {
    sa_options *options = sa_options_new("tuned");
    struct {
        const char *name;
        size_t value;
    } numbers[] = {{"dim", self->dim},
                   {"hidden", self->hidden},
                   {"depth", self->depth},
                   {"slate", slate_of(self->arms)}};
    must(sa_options_set(options, "confidence", self->engine));
    must(sa_options_set(options, "train", "manual"));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char text[32];
        snprintf(text, sizeof text, "%zu", numbers[i].value);
        must(sa_options_set(options, numbers[i].name, text));
    }
    return options;
}

typedef struct timed {
    double select, update;
} timed;

/* One round, answered or not; the score of an arm is the square of its first feature, and noise. */
static timed play(sa_agent *agent, const float *contexts, size_t arms, size_t dim, size_t slate,
                  bool answered, sa_decision **decision) {
    double scores[FILL];
    sa_request *request = sa_request_new();
    sa_request_contexts_float(request, contexts, arms);
    sa_request_slate(request, slate);
    double start = machine_seconds();
    must(sa_agent_select(agent, request, decision));
    double chosen = machine_seconds();
    sa_request_destroy(request);
    if (!answered) return (timed){.select = chosen - start};
    for (size_t k = 0; k < slate; k++) {
        double x = contexts[sa_decision_arms(*decision)[k] * dim] * sqrt((double)dim);
        scores[k] = x * x + 0.1 * draw();
    }
    double answer = machine_seconds();
    must(sa_agent_update(agent, sa_decision_id(*decision), scores, NULL, slate));
    return (timed){.select = chosen - start, .update = machine_seconds() - answer};
}

/* Seconds of the outputs alone. */
static double forward_seconds(const setting *self, const float *contexts) {
    sa_options *options = options_of(self);
    sa_model *model;
    sa_model_work work = {0};
    double *mean = room(self->arms, sizeof *mean), time[15];
    sa_model_settings shape = sa_options_model(options);
    must(sa_model_create("mlp", &shape, &model));
    for (size_t i = 0; i < 15; i++) {
        double start = machine_seconds();
        must(model->kind->evaluate(model, contexts, self->arms, 0, &work, mean, NULL));
        time[i] = machine_seconds() - start;
    }
    sa_model_work_clear(&work);
    sa_model_destroy(model);
    sa_options_destroy(options);
    free(mean);
    return machine_quantile(time, 15, 0.5);
}

/* The least seconds that widths of all arms can take; NaN where nobody has counted. */
static double least_seconds(const setting *self, double peak, double bandwidth) {
    double n = (double)self->counted, arms = (double)self->arms, d = (double)self->dim,
           m = (double)self->hidden;
    double inner = (double)self->depth - 2; /* hidden layers but the first */
    double p = m * d + inner * m * m + m, length = m + d + inner * 2 * m + m + 1;
    double flops = 2 * p * arms, numbers = p + arms * d;
    if (!strcmp(self->engine, "exact")) {
        flops += arms * (2 * n * length + n * n);
        numbers += n * length + n * n / 2;
    } else if (!strcmp(self->engine, "sketch")) {
        double size = n < SKETCH ? n : SKETCH;
        flops += arms * (2 * size * length + 2 * size * size);
        numbers += size * length + 2 * size * size; /* the squares are in double precision */
    } else if (!strcmp(self->engine, "diagonal")) {
        flops += arms * 2 * p;
        numbers += 2 * p;
    } else {
        flops += arms * m * m;
        numbers += m * m / 2;
    }
    return fmax(flops / peak, 4 * numbers / bandwidth);
}

static void measure(const setting *self, double peak, double bandwidth) {
    size_t most = self->arms > FILL ? self->arms : FILL, rounds = rounds_of(self->arms), updates = 0;
    float *contexts = room(most * self->dim, sizeof *contexts);
    static double select[MOST_ROUNDS], update[MOST_ROUNDS], train[5];
    sa_options *options = options_of(self);
    sa_agent *agent = NULL;
    sa_decision *decision = NULL;
    must(sa_agent_create(options, &agent));
    sa_options_destroy(options);
    for (size_t n = 0; n < self->counted; n += FILL) {
        draw_contexts(contexts, FILL, self->dim);
        play(agent, contexts, FILL, self->dim, FILL, true, &decision);
    }
    for (size_t i = 0; i < 5; i++) {
        double start = machine_seconds();
        must(sa_agent_train(agent));
        train[i] = machine_seconds() - start;
    }
    for (size_t round = 0; round < rounds; round++) {
        draw_contexts(contexts, self->arms, self->dim);
        bool answered = round % ANSWER_EVERY == 0; /* not each, so that n stays about what it is */
        timed time = play(agent, contexts, self->arms, self->dim, slate_of(self->arms), answered, &decision);
        select[round] = time.select;
        if (answered) update[updates++] = time.update;
    }
    double forward = forward_seconds(self, contexts), least = least_seconds(self, peak, bandwidth);
    double middle = machine_quantile(select, rounds, 0.5);
    sa_agent_counts counts;
    sa_agent_count(agent, &counts);
    printf("%-10s %6zu %6zu %4zu %4zu %2zu %9.3f %9.3f %9.3f %9.3f %8.1f %8.1f %9.4f %8.1f %9.4f %6.0f%%\n",
           self->engine, self->arms, self->counted, self->dim, self->hidden, self->depth, 1e3 * middle,
           1e3 * machine_quantile(select, rounds, 0.99), 1e3 * machine_quantile(update, updates, 0.5),
           1e3 * machine_quantile(update, updates, 0.99), 1e3 * machine_quantile(train, 5, 0.5),
           (double)counts.bytes / 0x1p20, 1e3 * forward, middle / forward, 1e3 * least, 100 * least / middle);
    fflush(stdout);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
    free(contexts);
}

int main(int count, char **arguments) {
    openblas_set_num_threads(1);
    double peak = machine_peak(), bandwidth = machine_bandwidth();
    printf("One round of cn-ucb (tuned, K 4, or 10 from N 200 on), one thread of %.0f GFLOP/s and %.1f GB/s; "
           "times in ms, "
           "memory "
           "in MB\n",
           peak / 1e9, bandwidth / 1e9);
    printf("%-10s %6s %6s %4s %4s %2s %9s %9s %9s %9s %8s %8s %9s %8s %9s %7s\n", "confidence", "N", "n", "d",
           "m", "L", "select", "p99", "update", "p99", "train", "memory", "forward", "x fwd", "least",
           "share");
    for (size_t i = 0; i < SETTINGS; i++)
        if (count < 2 || strstr(settings[i].engine, arguments[1])) measure(&settings[i], peak, bandwidth);
    return 0;
}
