/* What a select costs over the number of arms, beside the network's forward pass alone on the same contexts.
 *
 *   bench_select [OPTION=VALUE ...]     options of the agent over tuned; also arms=N for a single row
 *
 * The agent has learnt from 100 slates of 10 (so 1000 gradients are counted: a sketch of 256 is full) and
 * trains no more. The forward pass is the model's evaluate, without gradients, on inputs that are ready in
 * its precision, in blocks as the agent takes them. Select and forward pass are timed in turn, as others use
 * the machine: medians, and the ratio of the best of each. GF/s are those of the forward pass, 2 m (d + 1)
 * operations an arm, and GB/s the contexts, read once, over the time of the select; shares are of what a
 * large matrix product and a sum over a large array reach here, on one thread. */
#include "machine.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include <superarm/superarm.h>

enum { DIM = 80, SLATE = 10, LEARNT = 100, LEARNT_ARMS = 200, MOST_ARMS = 100000 };

static void must(sa_status status) {
    if (status == SA_OK) return;
    fprintf(stderr, "bench_select: %s\n", sa_last_error());
    exit(1);
}

static void *memory(size_t bytes) {
    void *block = malloc(bytes);
    if (!block) exit(1);
    return block;
}

/* Contexts of unit length about. */
static void draw(float *x, size_t arms) {
    static unsigned state = 1;
    for (size_t i = 0; i < arms * DIM; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = ((float)(state >> 8) / (float)(1 << 23) - 1) * sqrtf(3.0f / DIM);
    }
}

/* (x'a)^2, as h2, with a = (1, 1, ...) / sqrt(d); ten times that */
static double score(const float *x) {
    double sum = 0;
    for (size_t j = 0; j < DIM; j++) sum += (double)x[j];
    return 10 * sum * sum / DIM;
}

static void choose(sa_agent *agent, const float *x, size_t arms, sa_decision **decision) {
    sa_request *request = sa_request_new();
    sa_request_contexts_float(request, x, arms);
    sa_request_slate(request, SLATE);
    must(sa_agent_select(agent, request, decision));
    sa_request_destroy(request);
}

static sa_agent *create(int count, char **settings) {
    sa_options *options = sa_options_new("tuned");
    sa_agent *agent = NULL;
    must(sa_options_set(options, "train", "manual"));
    must(sa_options_set(options, "dim", "80"));
    for (int i = 0; i < count; i++) {
        char name[64], *equals = strchr(settings[i], '=');
        if (!equals || strncmp(settings[i], "arms=", 5) == 0) continue;
        snprintf(name, sizeof name, "%.*s", (int)(equals - settings[i]), settings[i]);
        must(sa_options_set(options, name, equals + 1));
    }
    must(sa_agent_create(options, &agent));
    sa_options_destroy(options);
    return agent;
}

static void learn(sa_agent *agent, float *x) {
    sa_decision *decision = NULL;
    for (size_t t = 0; t < LEARNT; t++) {
        double scores[SLATE];
        draw(x, LEARNT_ARMS);
        choose(agent, x, LEARNT_ARMS, &decision);
        for (size_t k = 0; k < SLATE; k++) scores[k] = score(x + sa_decision_arms(decision)[k] * DIM);
        must(sa_agent_update(agent, sa_decision_id(decision), scores, NULL, SLATE));
        if (t % 10 == 9) must(sa_agent_train(agent));
    }
    sa_decision_destroy(decision);
}

/* The network alone; a linear model has no forward pass worth the name. */
static double forward(sa_agent *agent, const float *x, size_t arms, double *mean) {
    static sa_model_work work;
    const sa_model *model = agent->learner->policy->estimator.model;
    if (!model || model->precision != SA_PRECISION_SINGLE) return NAN;
    double start = machine_seconds();
    must(model->kind->evaluate(model, x, arms, 0, &work, mean, NULL));
    return machine_seconds() - start;
}

static void measure(sa_agent *agent, float *x, size_t arms, double flops, double bytes) {
    size_t repeats = arms > 10000 ? 15 : 1000;
    double *select = memory(repeats * sizeof *select), *alone = memory(repeats * sizeof *alone);
    double *mean = memory(arms * sizeof *mean);
    sa_decision *decision = NULL;
    for (size_t r = 0; r < repeats; r++) {
        draw(x, arms);
        alone[r] = forward(agent, x, arms, mean);
        double start = machine_seconds();
        choose(agent, x, arms, &decision);
        select[r] = machine_seconds() - start;
    }
    double middle = machine_quantile(select, repeats, 0.5), late = machine_quantile(select, repeats, 0.99);
    double forward_middle = machine_quantile(alone, repeats, 0.5);
    double flop = 2.0 * (double)sa_agent_options(agent)->hidden * (DIM + 1) * (double)arms;
    double rate = flop / alone[0], stream = (double)arms * DIM * sizeof *x / select[0];
    printf("%7zu %10.3f %10.3f %8.2f %10.3f %8.2f %8.1f %5.0f%% %8.2f %5.0f%%\n", arms, 1e3 * middle,
           1e3 * late, late / middle, 1e3 * forward_middle, select[0] / alone[0], 1e-9 * rate,
           100 * rate / flops, 1e-9 * stream, 100 * stream / bytes);
    fflush(stdout);
    sa_decision_destroy(decision);
    free(select);
    free(alone);
    free(mean);
}

/* The same requests one by one and together, by two agents that are alike; the best of several times. */
static void measure_many(sa_agent *one, sa_agent *other, float *x) {
    enum { MANY = 64, ARMS = 20, REPEATS = 30 };
    sa_request *requests[MANY];
    sa_decision *decisions[MANY] = {0};
    double alone = INFINITY, together = INFINITY;
    for (size_t r = 0; r < MANY; r++) {
        requests[r] = sa_request_new();
        sa_request_contexts_float(requests[r], x + r * ARMS * DIM, ARMS);
        sa_request_slate(requests[r], 4);
    }
    for (size_t round = 0; round < REPEATS; round++) {
        draw(x, MANY * ARMS);
        double start = machine_seconds();
        for (size_t r = 0; r < MANY; r++) must(sa_agent_select(one, requests[r], &decisions[r]));
        alone = fmin(alone, machine_seconds() - start);
        start = machine_seconds();
        must(sa_agent_select_many(other, (const sa_request *const *)requests, MANY, decisions));
        together = fmin(together, machine_seconds() - start);
    }
    printf("%d requests of N %d, K 4: one by one %.3f ms, together %.3f ms, %.2f times faster\n", MANY, ARMS,
           1e3 * alone, 1e3 * together, alone / together);
    for (size_t r = 0; r < MANY; r++) {
        sa_request_destroy(requests[r]);
        sa_decision_destroy(decisions[r]);
    }
}

/* On the wall, in turn; the best of several times. */
static void measure_threads(sa_agent *one, sa_agent *two, float *x) {
    enum { REPEATS = 15 };
    sa_decision *decision = NULL;
    double best[2] = {INFINITY, INFINITY};
    for (size_t round = 0; round < 2 * REPEATS; round++) {
        draw(x, MOST_ARMS);
        double start = machine_wall();
        choose(round % 2 ? two : one, x, MOST_ARMS, &decision);
        best[round % 2] = fmin(best[round % 2], machine_wall() - start);
    }
    printf("N %d with 1 thread %.1f ms, with 2 threads %.1f ms, %.2f times faster (on the wall)\n", MOST_ARMS,
           1e3 * best[0], 1e3 * best[1], best[0] / best[1]);
    sa_decision_destroy(decision);
}

/* `more` is one more setting, or NULL. */
static sa_agent *learned(int count, char **settings, char *more, float *x) {
    char *all[64];
    for (int i = 0; i < count; i++) all[i] = settings[i];
    all[count] = more;
    sa_agent *agent = create(count + (more != NULL), all);
    learn(agent, x);
    return agent;
}

int main(int count, char **settings) {
    static const size_t sizes[] = {20, 50, 200, 1000, MOST_ARMS};
    openblas_set_num_threads(1);
    float *x = memory((size_t)MOST_ARMS * DIM * sizeof *x);
    if (count > 60) return 1;
    sa_agent *agent = learned(count - 1, settings + 1, NULL, x);
    sa_agent_counts counts;
    size_t only = 0;
    for (int i = 1; i < count; i++)
        if (strncmp(settings[i], "arms=", 5) == 0) only = strtoul(settings[i] + 5, NULL, 10);
    if (only > MOST_ARMS) only = MOST_ARMS;
    double flops = machine_peak(), bytes = machine_bandwidth();
    sa_agent_count(agent, &counts);
    printf("Select: %s, d 80, m %lld, K %d, %llu gradients counted, contexts in single precision\n",
           sa_agent_options(agent)->algorithm, (long long)sa_agent_options(agent)->hidden, SLATE,
           (unsigned long long)counts.counted);
    printf("the machine, one thread: %.1f GF/s, %.1f GB/s\n", 1e-9 * flops, 1e-9 * bytes);
    printf("%7s %10s %10s %8s %10s %8s %8s %6s %8s %6s\n", "N", "median ms", "p99 ms", "p99/med",
           "forward ms", "ratio", "GF/s", "", "GB/s", "");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (!only || only == sizes[i]) measure(agent, x, sizes[i], flops, bytes);
    if (only && only != 20 && only != 50 && only != 200 && only != 1000 && only != MOST_ARMS)
        measure(agent, x, only, flops, bytes);
    sa_agent_count(agent, &counts);
    printf("the agent holds %.1f MB\n", (double)counts.bytes / 1e6);
    sa_agent_destroy(agent);
    agent = learned(count - 1, settings + 1, NULL, x);
    sa_agent *other = learned(count - 1, settings + 1, "agent-threads=2", x);
    if (!only) measure_many(agent, other, x);
    if (!only || only == MOST_ARMS) measure_threads(agent, other, x);
    sa_agent_destroy(agent);
    sa_agent_destroy(other);
    free(x);
    return 0;
}
