/* The caller's own algorithm, environment and oracle in an experiment. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <superarm/superarm.h>

#include "program.h"
#include "test_own_folder.h"
#include "test_parts.h"

enum { RUNS = 3, ROUNDS = 30, ARMS = 8, SLATE = 3, DIM = 5 };

static void ok(sa_status status) {
    if (status != SA_OK) fail_msg("%s", sa_last_error());
}

static void set(sa_experiment *experiment, const char *name, const char *value) {
    ok(sa_experiment_set(experiment, name, value));
}

static sa_experiment *small(const char *environment) {
    sa_experiment *experiment = sa_experiment_new();
    set(experiment, "environment", environment);
    set(experiment, "runs", "3");
    set(experiment, "slate", "3");
    set(experiment, "hidden", "8");
    set(experiment, "train-steps", "5");
    set(experiment, "threads", "2");
    test_experiment_share(experiment);
    if (strcmp(environment, "h2")) return experiment;
    set(experiment, "rounds", "30");
    set(experiment, "arms", "8");
    set(experiment, "dim", "5");
    return experiment;
}

static void assert_says(sa_status status, sa_status wanted, const char *words) {
    assert_int_equal(status, wanted);
    if (!strstr(sa_last_error(), words)) fail_msg("\"%s\" has no \"%s\"", sa_last_error(), words);
}

static sa_agent_result result_of(const sa_experiment *experiment, size_t index) {
    sa_agent_result result;
    ok(sa_experiment_result(experiment, index, &result));
    return result;
}

static void assert_same_curves(const sa_agent_result *one, const sa_agent_result *other) {
    assert_true(one->runs == other->runs && one->rounds == other->rounds);
    size_t size = one->runs * one->rounds * sizeof(double);
    assert_memory_equal(one->expected_regret, other->expected_regret, size);
    assert_memory_equal(one->realised_regret, other->realised_regret, size);
    assert_memory_equal(one->reward, other->reward, size);
}

/* ---- an algorithm ---- */

/* Chooses the first K arms, and remembers what it is told. */
typedef struct first_arms {
    atomic_size_t begun, ended, selected, updated, inside, most_inside;
    size_t delay;
    double sum[RUNS]; /* of the scores of each run */
    uint64_t fail_run, fail_round;
    const char *fails; /* the callback that does */
    size_t length, repeated;
} first_arms;

typedef struct first_state {
    first_arms *of;
    uint64_t run, next_select, next_update;
} first_state;

static void come_in(first_arms *self) {
    size_t now = atomic_fetch_add(&self->inside, 1) + 1;
    if (now > self->most_inside) self->most_inside = now;
}

static void go_out(first_arms *self) { atomic_fetch_sub(&self->inside, 1); }

static int first_begin(void *user, uint64_t run, void **state) {
    first_arms *self = user;
    if (self->fails && !strcmp(self->fails, "begin")) return 5;
    first_state *made = calloc(1, sizeof *made);
    *made = (first_state){.of = self, .run = run};
    *state = made;
    self->begun++;
    return 0;
}

static int first_select(void *state, const sa_own_round *round, size_t *arms, size_t *length) {
    first_state *self = state;
    come_in(self->of);
    assert_true(round->run == self->run && round->round == self->next_select++);
    assert_true(round->arms == ARMS && round->dim == DIM && round->slate == SLATE && *length == SLATE);
    double norm = 0;
    for (size_t j = 0; j < DIM; j++)
        norm += round->contexts[(ARMS - 1) * DIM + j] * round->contexts[(ARMS - 1) * DIM + j];
    assert_true(fabs(norm - 1) < 1e-12); /* h2 has contexts of unit length */
    for (size_t i = 0; i < SLATE; i++) arms[i] = i;
    if (self->of->repeated) arms[2] = self->of->repeated;
    if (self->of->length) *length = self->of->length;
    self->of->selected++;
    if (self->of->most_inside < 2) usleep(200); /* time for another to come in */
    go_out(self->of);
    bool fails = self->of->fails && !strcmp(self->of->fails, "select");
    return fails && round->run == self->of->fail_run && round->round == self->of->fail_round ? 7 : 0;
}

static int first_update(void *state, uint64_t round, const size_t *arms, const double *scores,
                        const bool *observed, size_t length) {
    first_state *self = state;
    assert_null(observed);
    assert_true(round == self->next_update++ && self->next_select == round + 1 + self->of->delay);
    assert_true(length == SLATE);
    for (size_t i = 0; i < length; i++) {
        assert_true(arms[i] == i);
        self->of->sum[self->run] += scores[i];
    }
    self->of->updated++;
    return self->of->fails && !strcmp(self->of->fails, "update") && round == self->of->fail_round ? -3 : 0;
}

static void first_end(void *state) {
    ((first_state *)state)->of->ended++;
    free(state);
}

static sa_own_agent first_calls(first_arms *self) {
    return (sa_own_agent){
        .user = self, .begin = first_begin, .select = first_select, .update = first_update, .end = first_end};
}

/* Regret and reward as they follow from the draws, which other agents see too; the draws come through
 * sa_experiment_draw. */
static void test_algorithm(void **state) {
    (void)state;
    first_arms self = {0};
    sa_own_agent calls = first_calls(&self);
    sa_experiment *experiment = small("h2");
    set(experiment, "algorithm", "best,cn-ucb");
    set(experiment, "out", inside(folder, "first"));
    set(experiment, "trace", inside(folder, "first.jsonl"));
    ok(sa_experiment_own_agent(experiment, "first arms", &calls));
    ok(sa_experiment_run(experiment, NULL, NULL));
    sa_agent_result result = result_of(experiment, 2);
    assert_string_equal(result.label, "first arms");
    assert_string_equal(result.algorithm, "own");
    assert_true(self.begun == RUNS && self.ended == RUNS && self.selected == RUNS * ROUNDS);
    assert_true(self.updated == RUNS * ROUNDS);

    sa_experiment *draws = small("h2");
    set(draws, "out", inside(folder, "draws"));
    ok(sa_experiment_draw(draws));
    sa_array scores = {0}, noise = {0};
    ok(sa_npy_read(inside(folder, "draws/scores.npy"), &scores));
    ok(sa_npy_read(inside(folder, "draws/noise.npy"), &noise));
    for (size_t run = 0; run < RUNS; run++) {
        double regret = 0, reward = 0;
        for (size_t t = 0; t < ROUNDS; t++) {
            double v[ARMS], best = 0;
            for (size_t i = 0; i < ARMS; i++) v[i] = sa_array_number(&scores, (run * ROUNDS + t) * ARMS + i);
            for (size_t k = 0; k < SLATE; k++) regret -= v[k];
            for (size_t k = 0; k < SLATE; k++)
                reward += v[k] + sa_array_number(&noise, (run * ROUNDS + t) * ARMS + k);
            for (size_t k = 0; k < SLATE; k++) { /* the largest K, taken out one by one */
                size_t top = 0;
                for (size_t i = 1; i < ARMS; i++)
                    if (v[i] > v[top]) top = i;
                best += v[top];
                v[top] = -1;
            }
            regret += best;
            assert_true(fabs(result.expected_regret[run * ROUNDS + t] - regret) < 1e-12);
            assert_true(fabs(result.reward[run * ROUNDS + t] - reward) < 1e-12);
        }
        assert_true(fabs(self.sum[run] - reward) < 1e-12);
    }
    /* best knows the same draws */
    sa_agent_result best = result_of(experiment, 0);
    assert_true(fabs(best.realised_regret[RUNS * ROUNDS - 1] + best.reward[RUNS * ROUNDS - 1] -
                     result.realised_regret[RUNS * ROUNDS - 1] - result.reward[RUNS * ROUNDS - 1]) < 1e-12);
    sa_array_clear(&noise);
    sa_array_clear(&scores);
    sa_experiment_destroy(draws);
    sa_experiment_destroy(experiment);

    /* the folder is like any other, but for the spec */
    fine(run(folder, "report %s", inside(folder, "first")));
    refused(run(folder, "run %s --out %s", inside(folder, "first/spec.yaml"), inside(folder, "again")),
            "agent first arms: --algorithm own is the caller's own code");
    char *text;
    size_t size;
    ok(sa_file_read(inside(folder, "first.jsonl"), &text, &size));
    const char *line = strstr(text, "{\"agent\":\"first arms\",\"run\":0,\"round\":1,");
    assert_non_null(line);
    assert_non_null(strstr(line, "\"width\":[null,null,null,null,null,null,null,null],"));
    assert_non_null(strstr(line, "\"slate\":[0,1,2],"));
    sa_free(text);
}

/* Another number of threads, and others beside it, change nothing; with delay, feedback comes later. */
static void test_threads_and_delay(void **state) {
    (void)state;
    static const char *const threads[] = {"1", "2", "3"};
    first_arms self[3] = {0};
    sa_experiment *experiment[3];
    for (size_t i = 0; i < 3; i++) {
        sa_own_agent calls = first_calls(&self[i]);
        experiment[i] = small("h2");
        set(experiment[i], "threads", threads[i]);
        set(experiment[i], "delay", "2");
        self[i].delay = 2;
        if (i == 1) sa_experiment_one_at_a_time(experiment[i], true);
        ok(sa_experiment_own_agent(experiment[i], "first", &calls));
        if (i == 2) ok(sa_experiment_agent(experiment[i], "other:algorithm=random"));
        ok(sa_experiment_run(experiment[i], NULL, NULL));
        assert_true(self[i].selected == RUNS * ROUNDS && self[i].updated == RUNS * (ROUNDS - 2));
        assert_true(self[i].ended == RUNS);
    }
    assert_true(self[0].most_inside == 1 && self[1].most_inside == 1);
    if (sysconf(_SC_NPROCESSORS_ONLN) > 1) assert_true(self[2].most_inside > 1);
    for (size_t i = 1; i < 3; i++) {
        sa_agent_result one = result_of(experiment[0], 0), other = result_of(experiment[i], 0);
        assert_same_curves(&one, &other);
    }
    for (size_t i = 0; i < 3; i++) sa_experiment_destroy(experiment[i]);
}

static void test_algorithm_fails(void **state) {
    (void)state;
    static const struct {
        first_arms self;
        sa_status status;
        const char *words;
    } wrong[] = {
        {{.fails = "select", .fail_run = 1, .fail_round = 4},
         SA_CALLBACK,
         "agent first, run 1, round 5: its select failed with code 7"},
        {{.fails = "update", .fail_round = 2}, SA_CALLBACK, "round 3: its update failed with code -3"},
        {{.fails = "begin"}, SA_CALLBACK, "its begin failed with code 5"},
        {{.length = 2}, SA_INVALID, "round 1: it chose 2 arms, and exactly 3 are wanted"},
        {{.length = 4}, SA_INVALID, "it chose 4 arms, and exactly 3 are wanted"},
        {{.repeated = 1}, SA_INVALID, "it chose arm 1 twice"},
        {{.repeated = ARMS}, SA_INVALID, "it chose arm 8, and there are 8"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        first_arms self = wrong[i].self;
        sa_own_agent calls = first_calls(&self);
        sa_experiment *experiment = small("h2");
        ok(sa_experiment_own_agent(experiment, "first", &calls));
        assert_says(sa_experiment_run(experiment, NULL, NULL), wrong[i].status, wrong[i].words);
        assert_true(self.begun == self.ended);
        sa_agent_result result;
        assert_int_equal(sa_experiment_result(experiment, 0, &result), SA_INVALID);
        sa_experiment_destroy(experiment);
    }
    sa_experiment *experiment = small("h2");
    first_arms self = {0};
    sa_own_agent calls = first_calls(&self);
    ok(sa_experiment_own_agent(experiment, "first", &calls));
    assert_says(sa_experiment_own_agent(experiment, "first", &calls), SA_INVALID,
                "two agents are labelled first");
    assert_says(sa_experiment_own_agent(experiment, "a/b", &calls), SA_INVALID, "must not have a '/'");
    calls.select = NULL;
    assert_says(sa_experiment_own_agent(experiment, "second", &calls), SA_INVALID,
                "needs a label and a select callback");
    assert_says(sa_experiment_own_agent(experiment, NULL, NULL), SA_INVALID, "needs a label");
    sa_experiment_destroy(experiment);
}

/* ---- an environment ---- */

/* Replays arrays from memory. */
typedef struct recording {
    sa_array contexts, scores, noise;
    atomic_int begun, ended;
    const char *fails;
    double bad; /* instead of a number */
    bool short_slates;
    size_t fewer;
} recording;

static void recording_open(recording *self, const char *from) {
    ok(sa_npy_read(inside(from, "contexts.npy"), &self->contexts));
    ok(sa_npy_read(inside(from, "scores.npy"), &self->scores));
    ok(sa_npy_read(inside(from, "noise.npy"), &self->noise));
}

static void recording_close(recording *self) {
    sa_array_clear(&self->contexts);
    sa_array_clear(&self->scores);
    sa_array_clear(&self->noise);
}

static int play_begin(void *user, uint64_t run, void **state) {
    recording *self = user;
    (void)run;
    self->begun++;
    *state = self;
    return 0;
}

static void play_end(void *state) { ((recording *)state)->ended++; }

static int play(const recording *self, const sa_array *from, const char *name, uint64_t run, uint64_t round,
                size_t width, double *out) {
    memcpy(out, (const double *)from->data + (run * ROUNDS + round) * width, width * sizeof *out);
    bool here = self->fails && !strcmp(self->fails, name) && run == 1 && round == 2;
    if (here && self->bad != 0) out[1] = self->bad;
    return here && self->bad == 0 ? 9 : 0;
}

static int play_contexts(void *state, uint64_t run, uint64_t round, double *contexts, size_t *arms) {
    recording *self = state;
    assert_true(*arms == ARMS);
    *arms -= self->fewer;
    return play(self, &self->contexts, "contexts", run, round, ARMS * DIM, contexts);
}

static int play_expected(void *state, uint64_t run, uint64_t round, double *expected, size_t arms) {
    recording *self = state;
    assert_true(arms + self->fewer == ARMS);
    double all[ARMS];
    int code = play(self, &self->scores, "expected", run, round, ARMS, all);
    memcpy(expected, all, arms * sizeof *all);
    return code;
}

static int play_noise(void *state, uint64_t run, uint64_t round, double *noise, size_t arms) {
    recording *self = state;
    assert_true(arms == ARMS);
    return play(self, &self->noise, "noise", run, round, ARMS, noise);
}

static int play_feedback(void *state, uint64_t run, uint64_t round, const size_t *arms, size_t length,
                         double *scores) {
    recording *self = state;
    double v[ARMS], e[ARMS];
    play(self, &self->scores, "", run, round, ARMS, v);
    play(self, &self->noise, "", run, round, ARMS, e);
    for (size_t i = 0; i < length; i++) scores[i] = v[arms[i]] + e[arms[i]];
    if (self->short_slates && length > 1) scores[length - 1] = NAN; /* nobody looks at the last one */
    bool here = self->fails && !strcmp(self->fails, "feedback") && run == 1 && round == 2;
    if (here && self->bad != 0) scores[1] = self->bad;
    return here && self->bad == 0 ? 9 : 0;
}

static sa_own_environment play_calls(recording *self) {
    return (sa_own_environment){.rounds = ROUNDS,
                                .arms = ARMS,
                                .dim = DIM,
                                .user = self,
                                .begin = play_begin,
                                .contexts = play_contexts,
                                .expected = play_expected,
                                .noise = play_noise,
                                .end = play_end};
}

static const char *const AGENTS[] = {"ucb:algorithm=cn-ucb", "ts:algorithm=cn-ts",
                                     "linear:algorithm=comblin-ucb", "best:algorithm=best"};
enum { AGENT_COUNT = sizeof AGENTS / sizeof *AGENTS };

static sa_experiment *with_agents(sa_experiment *experiment) {
    for (size_t i = 0; i < AGENT_COUNT; i++) ok(sa_experiment_agent(experiment, AGENTS[i]));
    return experiment;
}

static void draw_to(const char *path) {
    sa_experiment *draws = small("h2");
    set(draws, "out", path);
    ok(sa_experiment_draw(draws));
    sa_experiment_destroy(draws);
}

static sa_experiment *replay_of(const char *path) {
    sa_experiment *experiment = with_agents(small("npy"));
    set(experiment, "contexts", inside(path, "contexts.npy"));
    set(experiment, "scores", inside(path, "scores.npy"));
    set(experiment, "noise-values", inside(path, "noise.npy"));
    return experiment;
}

/* An environment of one's own that replays files is the npy environment, bit for bit: with noise of its own,
 * with the noise of --noise, and with clicks over it. */
static void test_environment(void **state) {
    (void)state;
    const char *path = inside(folder, "played");
    draw_to(path);
    for (int kind = 0; kind < 3; kind++) {
        recording self = {0};
        recording_open(&self, path);
        sa_own_environment calls = play_calls(&self);
        sa_experiment *npy = replay_of(path), *own = with_agents(small("h1"));
        if (kind > 0) {
            set(npy, "noise-values", "");
            calls.noise = NULL;
        }
        if (kind == 2) {
            set(npy, "clicks", "cascade");
            set(own, "clicks", "cascade");
        }
        ok(sa_experiment_own_environment(own, &calls));
        ok(sa_experiment_run(npy, NULL, NULL));
        ok(sa_experiment_run(own, NULL, NULL));
        for (size_t i = 0; i < AGENT_COUNT; i++) {
            sa_agent_result one = result_of(npy, i), other = result_of(own, i);
            assert_same_curves(&one, &other);
        }
        assert_true(self.begun == RUNS * AGENT_COUNT + 2 + (kind == 2) && self.begun == self.ended);
        sa_experiment_destroy(own);
        sa_experiment_destroy(npy);
        recording_close(&self);
    }
}

/* Feedback for the slate alone: the agents do the same, and the realised regret is what the best expects
 * minus the reward. */
static void test_feedback(void **state) {
    (void)state;
    const char *path = inside(folder, "answered");
    draw_to(path);
    recording self = {0};
    recording_open(&self, path);
    sa_own_environment calls = play_calls(&self);
    calls.noise = NULL;
    calls.feedback = play_feedback;
    sa_experiment *npy = replay_of(path), *own = with_agents(small("h1"));
    ok(sa_experiment_own_environment(own, &calls));
    ok(sa_experiment_run(npy, NULL, NULL));
    ok(sa_experiment_run(own, NULL, NULL));
    for (size_t i = 0; i < AGENT_COUNT; i++) {
        sa_agent_result one = result_of(npy, i), other = result_of(own, i), best = result_of(own, 3);
        assert_memory_equal(one.expected_regret, other.expected_regret, RUNS * ROUNDS * sizeof(double));
        assert_memory_equal(one.reward, other.reward, RUNS * ROUNDS * sizeof(double));
        for (size_t t = 0; t < RUNS * ROUNDS; t++) /* best's expected reward is the same for all */
            assert_true(fabs(other.realised_regret[t] + other.reward[t] - best.realised_regret[t] -
                             best.reward[t]) < 1e-12);
    }
    sa_experiment_destroy(npy);

    self.short_slates = true;
    ok(sa_experiment_run(own, NULL, NULL));
    sa_agent_result best = result_of(own, 3);
    for (size_t run = 0; run < RUNS; run++) {
        double reward = 0;
        for (size_t t = 0; t < ROUNDS; t++) {
            const double *v = (double *)self.scores.data + (run * ROUNDS + t) * ARMS;
            const double *e = (double *)self.noise.data + (run * ROUNDS + t) * ARMS;
            size_t top = 0, second = 1;
            for (size_t i = 0; i < ARMS; i++)
                if (v[i] > v[top]) top = i;
            second = top == 0;
            for (size_t i = 0; i < ARMS; i++)
                if (i != top && v[i] > v[second]) second = i;
            reward += v[top] + e[top] + v[second] + e[second]; /* of three, the last is not seen */
            assert_true(fabs(best.reward[run * ROUNDS + t] - reward) < 1e-12);
        }
    }
    sa_experiment_destroy(own);
    recording_close(&self);
}

static void test_environment_fails(void **state) {
    (void)state;
    static const struct {
        const char *fails;
        double bad;
        bool answers;
        sa_status status;
        const char *words;
    } wrong[] = {
        {"contexts", 0, false, SA_CALLBACK, "run 1, round 3: your environment's contexts failed with code 9"},
        {"expected", 0, false, SA_CALLBACK, "run 1, round 3: your environment's expected failed with code 9"},
        {"noise", 0, false, SA_CALLBACK, "run 1, round 3: your environment's noise failed with code 9"},
        {"feedback", 0, true, SA_CALLBACK, "run 1, round 3: your environment's feedback failed with code 9"},
        {"contexts", NAN, false, SA_INVALID, "round 3: your environment gives arm 0 a feature 1 of nan"},
        {"expected", INFINITY, false, SA_INVALID,
         "round 3: your environment gives arm 1 an expected score of inf"},
        {"noise", NAN, false, SA_INVALID, "round 3: your environment gives arm 1 noise of nan"},
        {"feedback", -INFINITY, true, SA_INVALID, "a score of -inf"},
    };
    const char *path = inside(folder, "failing");
    draw_to(path);
    recording self = {0};
    recording_open(&self, path);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sa_own_environment calls = play_calls(&self);
        self.fails = wrong[i].fails;
        self.bad = wrong[i].bad;
        if (wrong[i].answers) {
            calls.noise = NULL;
            calls.feedback = play_feedback;
        }
        sa_experiment *experiment = small("h1");
        set(experiment, "algorithm", "random");
        ok(sa_experiment_own_environment(experiment, &calls));
        assert_says(sa_experiment_run(experiment, NULL, NULL), wrong[i].status, wrong[i].words);
        assert_true(self.begun == self.ended);
        sa_experiment_destroy(experiment);
    }
    self.fails = NULL;
    recording_close(&self);
}

static sa_status try_environment(const sa_own_environment *calls, const char *option, const char *value) {
    sa_experiment *experiment = small("h1");
    set(experiment, "algorithm", "random");
    if (option) set(experiment, option, value);
    sa_status status = sa_experiment_own_environment(experiment, calls);
    if (status == SA_OK) status = sa_experiment_check(experiment);
    sa_experiment_destroy(experiment);
    return status;
}

static void test_environment_refused(void **state) {
    (void)state;
    recording self = {0};
    sa_own_environment calls = play_calls(&self), wrong = calls;
    assert_says(try_environment(NULL, NULL, NULL), SA_INVALID, "needs contexts and expected callbacks");
    wrong.expected = NULL;
    assert_says(try_environment(&wrong, NULL, NULL), SA_INVALID, "needs contexts and expected callbacks");
    wrong = calls;
    wrong.dim = 0;
    assert_says(try_environment(&wrong, NULL, NULL), SA_INVALID, "8 arms of 0 features");
    wrong = calls;
    wrong.feedback = play_feedback;
    assert_says(try_environment(&wrong, NULL, NULL), SA_INVALID, "both noise and feedback");
    wrong.noise = NULL;
    assert_says(try_environment(&wrong, "clicks", "cascade"), SA_INVALID, "--clicks says what is seen");
    assert_says(try_environment(&wrong, "noise", "0.5"), SA_INVALID, "--noise 0.5 is not for");
    assert_says(try_environment(&calls, "rounds", "31"), SA_INVALID,
                "more than the 30 rounds of your environment");
    assert_says(try_environment(&calls, "arms", "9"), SA_INVALID,
                "--arms 9 contradicts your environment, which has 8");
    assert_says(try_environment(&calls, "dim", "9"), SA_INVALID,
                "--dim 9 contradicts your environment, which has 5");
    assert_says(try_environment(&calls, "slate", "9"), SA_INVALID,
                "--slate 9 is more than the 8 arms of your environment");
    assert_says(try_environment(&calls, "contexts", "x.npy"), SA_INVALID,
                "--contexts is for --environment npy");
    draw_to(inside(folder, "varying"));
    recording_open(&self, inside(folder, "varying")); /* a check asks for the first rounds, twice */
    assert_int_equal(try_environment(&calls, "rounds", "10"), SA_OK);
    sa_experiment *bare = small("own");
    assert_says(sa_experiment_check(bare), SA_INVALID, "--environment own is the caller's own code");
    sa_experiment_destroy(bare);

    /* fewer arms than said, only where that was said */
    calls.noise = NULL;
    self.fewer = 6;
    for (int varies = 0; varies < 2; varies++) {
        sa_experiment *experiment = small("h1");
        calls.varies = varies;
        set(experiment, "algorithm", "comblin-ucb");
        ok(sa_experiment_own_environment(experiment, &calls));
        sa_status status = sa_experiment_run(experiment, NULL, NULL);
        if (varies) {
            ok(status);
            assert_true(result_of(experiment, 0).mean == 0); /* both arms of two are the best slate */
        } else {
            assert_says(status, SA_INVALID, "2 arms in this round instead of 8");
        }
        sa_experiment_destroy(experiment);
    }
    recording_close(&self);
}

/* ---- an oracle ---- */

typedef struct top_arms {
    atomic_size_t calls;
    int code;
    double bonus; /* of a reward of its own */
} top_arms;

/* The K largest scores, best first, ties to the lower index. */
static int top_solve(void *user, const double *scores, size_t arms, const bool *excluded, size_t most,
                     size_t *slate, size_t *length) {
    top_arms *self = user;
    bool taken[ARMS] = {false};
    assert_true(arms == ARMS && most == SLATE && !excluded);
    self->calls++;
    for (size_t k = 0; k < most; k++) {
        size_t top = arms;
        for (size_t i = 0; i < arms; i++)
            if (!taken[i] && (top == arms || scores[i] > scores[top])) top = i;
        taken[slate[k] = top] = true;
    }
    *length = most;
    return self->code;
}

static double top_reward(void *user, const double *scores, size_t arms, const size_t *slate, size_t length) {
    double sum = ((top_arms *)user)->bonus;
    assert_true(arms == ARMS);
    for (size_t i = 0; i < length; i++) sum += scores[slate[i]];
    return sum;
}

static void test_oracle(void **state) {
    (void)state;
    top_arms self = {0};
    sa_oracle_callbacks calls = {.solve = top_solve, .user = &self, .alpha = 1};
    sa_experiment *plain = with_agents(small("h2")), *own = with_agents(small("h2"));
    set(own, "out", inside(folder, "oracle"));
    ok(sa_experiment_own_oracle(own, &calls));
    ok(sa_experiment_agent(own, "builtin:algorithm=cn-ucb,oracle=top-k"));
    ok(sa_experiment_run(plain, NULL, NULL));
    ok(sa_experiment_run(own, NULL, NULL));
    assert_true(self.calls ==
                3 * AGENT_COUNT * RUNS * ROUNDS); /* the slate, and the best one for two regrets */
    for (size_t i = 0; i <= AGENT_COUNT; i++) {
        sa_agent_result one = result_of(plain, i == AGENT_COUNT ? 0 : i), other = result_of(own, i);
        assert_same_curves(&one, &other);
    }
    refused(run(folder, "run %s --out %s", inside(folder, "oracle/spec.yaml"), inside(folder, "again")),
            "--oracle own is the caller's own code");

    /* alpha and a reward of its own: nobody knows the best slate then, and regret is against the oracle's */
    calls = (sa_oracle_callbacks){.solve = top_solve, .user = &self, .alpha = 0.5, .reward = top_reward};
    self.bonus = 2;
    set(own, "out", "");
    ok(sa_experiment_own_oracle(own, &calls));
    ok(sa_experiment_run(own, NULL, NULL));
    sa_agent_result best = result_of(plain, 3), half = result_of(own, 3);
    for (size_t run = 0; run < RUNS; run++) {
        double expected = half.expected_regret[(run + 1) * ROUNDS - 1],
               reward = best.reward[(run + 1) * ROUNDS - 1];
        assert_true(fabs(expected) < 1e-9);
        assert_true(fabs(half.reward[(run + 1) * ROUNDS - 1] - reward - 2 * ROUNDS) < 1e-9);
    }
    assert_non_null(strstr(half.note, "regret against the slate of the oracle own"));
    assert_string_equal(best.note, "");
    self.bonus = NAN;
    assert_says(sa_experiment_run(own, NULL, NULL), SA_INVALID, "the reward of a slate is nan");
    self.code = 4;
    set(own, "threads", "1"); /* of several the first to fail would speak, whoever that is */
    assert_says(sa_experiment_run(own, NULL, NULL), SA_CALLBACK, "your oracle failed with code 4");
    assert_non_null(strstr(sa_last_error(), "agent ucb, run 0, round 1: "));
    sa_experiment_destroy(own);
    sa_experiment_destroy(plain);

    own = small("h2");
    calls.alpha = 0;
    assert_says(sa_experiment_own_oracle(own, &calls), SA_INVALID, "alpha of your oracle is 0");
    calls.alpha = 1;
    calls.positions = true;
    assert_says(sa_experiment_own_oracle(own, &calls), SA_INVALID, "one for each position");
    calls.solve = NULL;
    assert_says(sa_experiment_own_oracle(own, &calls), SA_INVALID, "needs a solve callback");
    set(own, "oracle", "own");
    assert_says(sa_experiment_check(own), SA_INVALID, "--oracle own is the caller's own code");
    sa_experiment_destroy(own);
}

/* ---- BLAS ---- */

static void test_blas_threads(void **state) {
    (void)state;
    int before = sa_blas_threads(0);
    assert_true(before >= 1);
    assert_int_equal(sa_blas_threads(1), before);
    assert_int_equal(sa_blas_threads(0), 1);
    sa_blas_threads(before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_algorithm),
        cmocka_unit_test(test_threads_and_delay),
        cmocka_unit_test(test_algorithm_fails),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_feedback),
        cmocka_unit_test(test_environment_fails),
        cmocka_unit_test(test_environment_refused),
        cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_blas_threads),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
