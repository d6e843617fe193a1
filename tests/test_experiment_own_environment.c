/* The caller's own environment in an experiment. */
#include "test_experiment_own.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_feedback),
        cmocka_unit_test(test_environment_fails),
        cmocka_unit_test(test_environment_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
