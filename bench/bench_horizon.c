/* The cost of a round as the rounds go by, for each confidence engine: h2, N 20, K 4, d 40, m 100, tuned,
 * training included. One line for each 250 rounds: the milliseconds of a round, of it the select, and the
 * agent's memory.
 *
 *   bench_horizon [ROUNDS [ENGINE...]]      2000 rounds and all engines unless told otherwise */
#include "machine.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <superarm/superarm.h>

enum { ARMS = 20, SLATE = 4, DIM = 40, WINDOW = 250 };

static void must(sa_status status) {
    if (status == SA_OK) return;
    fprintf(stderr, "bench_horizon: %s\n", sa_last_error());
    exit(1);
}

typedef struct world {
    unsigned state;
    double a[DIM], contexts[ARMS * DIM];
} world;

static void draw(world *self, double *vector) {
    double squared = 0;
    for (size_t j = 0; j < DIM; j++) {
        double sum = 0; /* of twelve: near enough to normal */
        for (size_t i = 0; i < 12; i++) {
            self->state = self->state * 1664525u + 1013904223u;
            sum += (double)(self->state >> 8) / (1 << 24) - 0.5;
        }
        vector[j] = sum;
        squared += sum * sum;
    }
    for (size_t j = 0; j < DIM; j++) vector[j] /= sqrt(squared);
}

static double score(const world *self, size_t arm) {
    double along = cblas_ddot(DIM, self->a, 1, self->contexts + arm * DIM, 1);
    return along * along;
}

static double play(world *self, sa_agent *agent, sa_request *request, sa_decision **decision,
                   double *select) {
    double scores[SLATE];
    for (size_t i = 0; i < ARMS; i++) draw(self, self->contexts + i * DIM);
    double start = machine_seconds();
    must(sa_agent_select(agent, request, decision));
    *select += machine_seconds() - start;
    for (size_t k = 0; k < SLATE; k++) scores[k] = score(self, sa_decision_arms(*decision)[k]);
    must(sa_agent_update(agent, sa_decision_id(*decision), scores, NULL, SLATE));
    return machine_seconds() - start;
}

static void run(const char *engine, size_t rounds) {
    world h2 = {.state = 1};
    sa_options *options = sa_options_new("tuned");
    sa_request *request = sa_request_new();
    sa_agent *agent = NULL;
    sa_decision *decision = NULL;
    sa_agent_counts counts;
    double all = 0, select = 0;
    must(sa_options_set(options, "confidence", engine));
    must(sa_options_set(options, "dim", "40"));
    must(sa_agent_create(options, &agent));
    draw(&h2, h2.a);
    sa_request_contexts(request, h2.contexts, ARMS);
    sa_request_slate(request, SLATE);
    for (size_t round = 1; round <= rounds; round++) {
        all += play(&h2, agent, request, &decision, &select);
        if (round % WINDOW) continue;
        sa_agent_count(agent, &counts);
        printf("%s,%zu,%.4f,%.4f,%.1f\n", engine, round, 1e3 * all / WINDOW, 1e3 * select / WINDOW,
               (double)counts.bytes / 0x1p20);
        fflush(stdout);
        all = select = 0;
    }
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
    sa_request_destroy(request);
    sa_options_destroy(options);
}

int main(int count, char **arguments) {
    openblas_set_num_threads(1);
    size_t rounds = count > 1 ? strtoull(arguments[1], NULL, 10) : 2000;
    const char *engine, *summary;
    printf("confidence,round,ms_a_round,of_it_select,memory_mb\n");
    for (int i = 2; i < count; i++) run(arguments[i], rounds);
    for (size_t i = 0; count <= 2 && sa_choice_at("confidence", i, &engine, &summary); i++)
        run(engine, rounds);
    return 0;
}
