/* The caller's own algorithm in an experiment. */
#include "test_experiment_own.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_algorithm),
        cmocka_unit_test(test_threads_and_delay),
        cmocka_unit_test(test_algorithm_fails),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
