/* How good an agent is that learnt from somebody else's slates: h2, d 20, N 20, K 4. In each run one agent
 * learns from 2000 uniformly random slates, and another from 2000 that it chose itself; then both are frozen,
 * and choose the arms of the highest estimates in the same 1000 fresh rounds. Printed: their expected regret
 * a round, and the ratio.
 *
 *   bench_learn [RUNS [FIRST_RUN]]      20 runs from 0 unless given, about half a minute each */
#include "machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <superarm/superarm.h>

#include "base/file.h"
#include "base/npy.h"

enum { ROUNDS = 2000, FRESH = 1000, ARMS = 20, SLATE = 4, DIM = 20 };

static void fine(sa_status status) {
    if (status == SA_OK) return;
    fprintf(stderr, "bench_learn: %s\n", sa_last_error());
    exit(1);
}

typedef struct world {
    sa_array contexts, scores, noise;
} world;

static const double *contexts_of(const world *w, size_t t) {
    return (const double *)w->contexts.data + t * ARMS * DIM;
}
static double expected(const world *w, size_t t, size_t arm) {
    return ((const double *)w->scores.data)[t * ARMS + arm];
}
static double noise(const world *w, size_t t, size_t arm) {
    return ((const double *)w->noise.data)[t * ARMS + arm];
}

static void draw(world *w, const char *folder, int run) {
    char text[32], path[512];
    sa_experiment *experiment = sa_experiment_new();
    const char *const set[][2] = {
        {"environment", "h2"}, {"rounds", "3000"}, {"arms", "20"}, {"dim", "20"}, {"runs", "1"}};
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        fine(sa_experiment_set(experiment, set[i][0], set[i][1]));
    snprintf(text, sizeof text, "%d", run);
    fine(sa_experiment_set(experiment, "first-run", text));
    snprintf(path, sizeof path, "%s/%d", folder, run);
    fine(sa_experiment_set(experiment, "out", path));
    fine(sa_experiment_draw(experiment));
    sa_experiment_destroy(experiment);
    snprintf(path, sizeof path, "%s/%d/contexts.npy", folder, run);
    fine(sa_npy_read(path, &w->contexts));
    snprintf(path, sizeof path, "%s/%d/scores.npy", folder, run);
    fine(sa_npy_read(path, &w->scores));
    snprintf(path, sizeof path, "%s/%d/noise.npy", folder, run);
    fine(sa_npy_read(path, &w->noise));
}

static sa_agent *make_agent(int run) {
    char text[32];
    sa_agent *agent;
    sa_options *options = sa_options_new(NULL);
    fine(sa_options_set(options, "algorithm", "cn-ucb"));
    fine(sa_options_set(options, "dim", "20"));
    snprintf(text, sizeof text, "%d", run);
    fine(sa_options_set(options, "first-run", text));
    fine(sa_agent_create(options, &agent));
    sa_options_destroy(options);
    return agent;
}

static unsigned long long state;
static size_t below(size_t most) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (size_t)((state >> 33) % most);
}

/* Four different arms, uniformly. */
static void random_slate(size_t *slate) {
    for (size_t k = 0; k < SLATE; k++) {
        bool again = true;
        while (again) {
            slate[k] = below(ARMS);
            again = false;
            for (size_t j = 0; j < k; j++) again = again || slate[j] == slate[k];
        }
    }
}

static void live(sa_agent *agent, const world *w, bool itself) {
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    for (size_t t = 0; t < ROUNDS; t++) {
        size_t slate[SLATE];
        double scores[SLATE];
        sa_request_contexts(request, contexts_of(w, t), ARMS);
        sa_request_slate(request, SLATE);
        if (itself) {
            fine(sa_agent_select(agent, request, &decision));
            memcpy(slate, sa_decision_arms(decision), sizeof slate);
        } else {
            random_slate(slate);
        }
        for (size_t k = 0; k < SLATE; k++) scores[k] = expected(w, t, slate[k]) + noise(w, t, slate[k]);
        fine(itself ? sa_agent_update(agent, sa_decision_id(decision), scores, NULL, SLATE)
                    : sa_agent_learn(agent, request, slate, scores, NULL, SLATE));
    }
    sa_decision_destroy(decision);
    sa_request_destroy(request);
}

/* The sum of the expected scores of the best four, by these numbers. */
static double best_four(const double *by, const world *w, size_t t) {
    bool taken[ARMS] = {false};
    double sum = 0;
    for (size_t k = 0; k < SLATE; k++) {
        size_t best = ARMS;
        for (size_t i = 0; i < ARMS; i++)
            if (!taken[i] && (best == ARMS || by[i] > by[best])) best = i;
        taken[best] = true;
        sum += expected(w, t, best);
    }
    return sum;
}

/* Expected regret a round, frozen and greedy, in the fresh rounds. */
static double regret(sa_agent *agent, const world *w) {
    sa_policy *policy;
    sa_chooser *chooser = sa_chooser_new();
    sa_request *request = sa_request_new();
    double sum = 0;
    fine(sa_agent_policy(agent, &policy));
    for (size_t t = ROUNDS; t < ROUNDS + FRESH; t++) {
        double estimates[ARMS];
        sa_request_contexts(request, contexts_of(w, t), ARMS);
        sa_request_slate(request, SLATE);
        fine(sa_policy_estimate(policy, chooser, request, estimates, NULL, NULL));
        sum += best_four((const double *)w->scores.data + t * ARMS, w, t) - best_four(estimates, w, t);
    }
    sa_request_destroy(request);
    sa_chooser_destroy(chooser);
    sa_policy_release(policy);
    return sum / FRESH;
}

/* Of a slate that is drawn uniformly. */
static double regret_by_chance(const world *w) {
    double sum = 0;
    for (size_t t = ROUNDS; t < ROUNDS + FRESH; t++) {
        sum += best_four((const double *)w->scores.data + t * ARMS, w, t);
        for (size_t i = 0; i < ARMS; i++) sum -= expected(w, t, i) * SLATE / ARMS;
    }
    return sum / FRESH;
}

int main(int count, char **arguments) {
    int runs = count > 1 ? atoi(arguments[1]) : 20, first = count > 2 ? atoi(arguments[2]) : 0;
    char folder[] = "/tmp/superarm-bench-XXXXXX";
    double sums[3] = {0};
    if (!mkdtemp(folder)) return 1;
    for (int run = first; run < first + runs; run++) {
        world w = {0};
        double got[2];
        draw(&w, folder, run);
        for (int itself = 0; itself < 2; itself++) {
            sa_agent *agent = make_agent(run);
            state = 1000 + (unsigned)run;
            live(agent, &w, itself);
            got[itself] = regret(agent, &w);
            sums[itself] += got[itself];
            sa_agent_destroy(agent);
        }
        printf("run %2d: regret a round %.5f after random slates, %.5f after its own\n", run, got[0], got[1]);
        fflush(stdout);
        sums[2] += regret_by_chance(&w);
        sa_array_clear(&w.contexts);
        sa_array_clear(&w.scores);
        sa_array_clear(&w.noise);
    }
    sa_path_remove(folder);
    printf("%d runs: %.5f and %.5f, %.2f times as much (wanted: at most 1.2); by chance %.3f\n", runs,
           sums[0] / runs, sums[1] / runs, sums[0] / sums[1], sums[2] / runs);
    return 0;
}
