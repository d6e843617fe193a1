/* What a decision costs with each confidence engine once n = 8000 gradients are counted: the time to select,
 * with N 20, K 4, d 80 and the network of `tuned`, without training; and how many times faster than exact
 * that is. Beside it how far the widths are from the exact ones: the mean of width / exact width, and their
 * correlation. */
#include "machine.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <superarm/superarm.h>

enum { ARMS = 20, SLATE = 4, DIM = 80, COUNTED = 8000, ROUNDS = 40 };

static const char *const engines[] = {"exact", "sketch", "auto", "diagonal", "last-layer"};
enum { ENGINES = sizeof engines / sizeof *engines };

static void must(sa_status status) {
    if (status == SA_OK) return;
    fprintf(stderr, "bench_engines: %s\n", sa_last_error());
    exit(1);
}

static const double *contexts(size_t arms) {
    static double x[COUNTED * DIM];
    static unsigned state = 1;
    for (size_t i = 0; i < arms * DIM; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = ((double)(state >> 8) / (1 << 23) - 1) * sqrt(3.0 / DIM);
    }
    return x;
}

static sa_agent *create(const char *engine) {
    sa_options *options = sa_options_new("tuned");
    sa_agent *agent = NULL;
    must(sa_options_set(options, "confidence", engine));
    must(sa_options_set(options, "train", "manual"));
    must(sa_options_set(options, "widths", "all"));
    must(sa_options_set(options, "normalize", "none"));
    must(sa_agent_create(options, &agent));
    sa_options_destroy(options);
    return agent;
}

/* Selects among arms; with `answer` the slate gets feedback. */
static double play(sa_agent *agent, const double *x, size_t arms, size_t slate, bool answer,
                   sa_decision **decision) {
    static double scores[COUNTED];
    sa_request *request = sa_request_new();
    sa_request_contexts(request, x, arms);
    sa_request_slate(request, slate);
    double start = machine_seconds();
    must(sa_agent_select(agent, request, decision));
    double time = machine_seconds() - start;
    if (answer) must(sa_agent_update(agent, sa_decision_id(*decision), scores, NULL, slate));
    sa_request_destroy(request);
    return time;
}

static void compare(const double *width, const double *exact, size_t count, double *ratio,
                    double *correlation) {
    double n = (double)count, sx = 0, sy = 0, xx = 0, yy = 0, xy = 0;
    *ratio = 0;
    for (size_t i = 0; i < count; i++) {
        *ratio += width[i] / exact[i] / n;
        sx += exact[i];
        sy += width[i];
        xx += exact[i] * exact[i];
        yy += width[i] * width[i];
        xy += exact[i] * width[i];
    }
    *correlation = (xy - sx * sy / n) / sqrt((xx - sx * sx / n) * (yy - sy * sy / n));
}

int main(void) {
    static double width[ENGINES][ROUNDS * ARMS];
    double time[ENGINES];
    openblas_set_num_threads(1);
    sa_agent *agent[ENGINES];
    sa_decision *decision = NULL;
    for (size_t e = 0; e < ENGINES; e++) agent[e] = create(engines[e]);
    for (size_t batch = 0; batch < COUNTED / 200;
         batch++) { /* all of a batch are chosen: the same gradients for each engine */
        const double *x = contexts(200);
        for (size_t e = 0; e < ENGINES; e++) play(agent[e], x, 200, 200, true, &decision);
    }
    for (size_t e = 0; e < ENGINES; e++) time[e] = INFINITY;
    for (size_t round = 0; round < ROUNDS; round++) {
        const double *x = contexts(ARMS);
        for (size_t e = 0; e < ENGINES; e++) {
            time[e] = fmin(time[e], play(agent[e], x, ARMS, SLATE, false, &decision));
            for (size_t i = 0; i < ARMS; i++)
                width[e][round * ARMS + i] = sa_decision_all_widths(decision)[i];
        }
    }
    printf("Select with N 20, K 4 after n = %d gradients (d 80, tuned's network, all widths, one thread, "
           "best of %d)\n",
           COUNTED, ROUNDS);
    printf("%-12s %12s %10s %10s %14s %12s\n", "confidence", "ms", "faster", "MB", "width / exact",
           "correlation");
    for (size_t e = 0; e < ENGINES; e++) {
        sa_agent_counts counts;
        double ratio, correlation;
        sa_agent_count(agent[e], &counts);
        compare(width[e], width[0], ROUNDS * ARMS, &ratio, &correlation);
        printf("%-12s %12.3f %10.1f %10.1f %14.2f %12.2f\n", engines[e], 1e3 * time[e], time[0] / time[e],
               (double)counts.bytes / 1e6, ratio, correlation);
        sa_agent_destroy(agent[e]);
    }
    sa_decision_destroy(decision);
    return 0;
}
