/* --clicks in simulations: agents hear what users did and no more, at the right time; clicks are results like
 * regret; the same bytes with any number of threads, stopped and resumed. */
#include "test_experiment_trace.h"

#include "env/clicks.h"
#include "test_parts.h"

static game_round traced[GAME_ROUNDS];

/* ---- what agents hear ---- */

static sa_clicks *model_of(const char *text) {
    sa_options *options = rig_options(text);
    sa_problem *problem = sa_problem_new();
    sa_clicks *clicks = NULL;
    assert_ok(sa_problem_set(problem, "problem", options->problem));
    assert_ok(sa_clicks_create(options, sa_problem_data(problem), &clicks));
    sa_problem_destroy(problem);
    sa_options_destroy(options);
    return clicks;
}

/* The trace has what the user of each round did with the slate, and the regret to the best slate. */
static void check_visits(const sa_clicks *clicks) {
    double noise[GAME_ARMS] = {0}, stop[GAME_ARMS];
    sa_workspace workspace = {0};
    for (size_t i = 0; i < GAME_ARMS; i++) stop[i] = 1;
    for (size_t t = 0; t < GAME_ROUNDS; t++) {
        sa_round round = {.arms = GAME_ARMS, .expected = game_scores[t], .noise = noise, .stop = stop};
        size_t best[GAME_SLATE];
        double seen[GAME_SLATE];
        assert_ok(sa_clicks_best(clicks, &round, GAME_SLATE, &workspace, best));
        sa_visit visit = sa_clicks_visit(clicks, &round, 0, t, traced[t].slate, GAME_SLATE, seen);
        sa_visit of_best = sa_clicks_visit(clicks, &round, 0, t, best, GAME_SLATE, NULL);
        for (size_t k = 0; k < GAME_SLATE; k++)
            assert_true(isnan(seen[k]) ? isnan(traced[t].feedback[k]) : traced[t].feedback[k] == seen[k]);
        double lacks = sa_clicks_expected_reward(clicks, &round, best, GAME_SLATE) -
                       sa_clicks_expected_reward(clicks, &round, traced[t].slate, GAME_SLATE);
        assert_true(lacks >= -1e-15 && traced[t].expected_regret == lacks);
        assert_true(traced[t].realised_regret == of_best.reward - visit.reward);
    }
    sa_workspace_clear(&workspace);
}

/* An agent that is told just that, after the slate of round t + delay, chooses the same slates. Returns
 * unseen arms. */
static size_t replay(const char *text, size_t delay) {
    sa_options *options = rig_options(text);
    sa_agent *agent = NULL;
    sa_decision *decision = NULL;
    sa_request *request = sa_request_new();
    size_t unseen = 0;
    assert_ok(sa_options_set_any(options, "widths", "all"));
    assert_ok(sa_agent_create(options, &agent));
    for (size_t t = 0; t < GAME_ROUNDS; t++) {
        sa_request_contexts(request, &game_contexts[t][0][0], GAME_ARMS);
        sa_request_slate(request, GAME_SLATE);
        assert_ok(sa_agent_select(agent, request, &decision));
        assert_memory_equal(traced[t].slate, sa_decision_arms(decision), sizeof traced[t].slate);
        assert_memory_equal(traced[t].score, sa_decision_all_scores(decision), sizeof traced[t].score);
        if (t < delay) continue;
        const double *feedback = traced[t - delay].feedback;
        bool observed[GAME_SLATE];
        for (size_t k = 0; k < GAME_SLATE; k++) {
            observed[k] = !isnan(feedback[k]);
            unseen += !observed[k];
        }
        assert_ok(sa_agent_update(agent, t - delay, feedback, observed, GAME_SLATE));
    }
    sa_request_destroy(request);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
    sa_options_destroy(options);
    return unseen;
}

static void agents_hear_what_users_did(void **state) {
    (void)state;
    static const char *const kinds[] = {"precision=double algorithm=cn-ucb",
                                        "precision=double preset=paper algorithm=comblin-ts"};
    static const char *const models[] = {"clicks=cascade",
                                         "clicks=cascade click-noise=gaussian leave=0.2 discounts=0.5,1,0.9",
                                         "clicks=position examination=0.4,1,0.2",
                                         "clicks=position examination=0.4,1,0.2 click-noise=gaussian"};
    static const size_t delays[] = {0, 3, GAME_ROUNDS};
    for (size_t m = 0; m < 4; m++) {
        char own[300];
        snprintf(own, sizeof own, "slate=3 noise=0 %s", models[m]);
        sa_clicks *clicks = model_of(own);
        for (size_t i = 0; i < 2; i++)
            for (size_t d = 0; d < 3; d++) {
                char text[400];
                snprintf(text, sizeof text,
                         "hidden=6 train-steps=4 train-every=3 rate=0.01 normalize=none train-warmup=0 %s %s "
                         "delay=%zu",
                         kinds[i], models[m], delays[d]);
                game_run(text, scratch("trace.jsonl"));
                game_read(scratch("trace.jsonl"), traced);
                check_visits(clicks);
                size_t unseen = replay(kinds[i], delays[d]);
                assert_true((unseen > 0) == (m < 2 && delays[d] < GAME_ROUNDS));
            }
        sa_clicks_destroy(clicks);
    }
}

/* ---- results ---- */

enum { RUNS = 3, ROUNDS = 40 };

static sa_experiment *clicking(const char *text) {
    char copy[600], *rest = copy;
    sa_experiment *experiment = sa_experiment_new();
    snprintf(
        copy, sizeof copy,
        "environment=h2 rounds=40 runs=3 arms=8 slate=3 dim=4 hidden=6 train-steps=5 threads=2 quiet=true %s",
        text);
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        char *equals = strchr(word, '=');
        *equals = 0;
        assert_ok(test_experiment_set(experiment, word, equals + 1));
    }
    test_experiment_share(experiment);
    return experiment;
}

static void best_is_best_and_clicks_are_counted(void **state) {
    (void)state;
    static const char *const models[] = {
        "clicks=position examination=0.4,1,0.2", "clicks=cascade leave=0.2 discounts=0.3,1,0.6",
        "clicks=cascade reward=sum oracle=cascade",
        "clicks=position examination=0.4,1,0.2 feedback=position oracle=assignment",
        "clicks=cascade feedback=cascade discounts=0.3,1,0.6"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        char text[200];
        snprintf(text, sizeof text, "algorithm=best,random %s", models[m]);
        sa_experiment *experiment = clicking(text);
        sa_agent_result best, random;
        assert_ok(sa_experiment_run(experiment, NULL, NULL));
        assert_ok(sa_experiment_result(experiment, 0, &best));
        assert_ok(sa_experiment_result(experiment, 1, &random));
        double clicks = 0;
        for (size_t i = 0; i < RUNS * ROUNDS; i++) {
            assert_true(best.expected_regret[i] == 0 && best.realised_regret[i] == 0);
            assert_true(best.clicks[i] ==
                        best.reward[i]); /* clicks, at most one in a cascade whose users stop */
            assert_true(fabs(random.realised_regret[i] + random.reward[i] - best.reward[i]) <
                        1e-12); /* the same users */
            if (i % ROUNDS == ROUNDS - 1) clicks += random.clicks[i] / RUNS;
        }
        assert_true(random.mean > 1 && best.clicks_mean > random.clicks_mean &&
                    random.clicks_low < random.clicks_mean);
        assert_true(fabs(random.clicks_mean - clicks) < 1e-12);
        sa_experiment_destroy(experiment);
    }
    sa_experiment *experiment = clicking("algorithm=random");
    sa_agent_result none;
    assert_ok(sa_experiment_run(experiment, NULL, NULL));
    assert_ok(sa_experiment_result(experiment, 0, &none));
    assert_null(none.clicks);
    sa_experiment_destroy(experiment);
}

static void assert_same_bytes(const char *one, const char *other) {
    char *a = NULL, *b = NULL;
    size_t size = 0, other_size = 0;
    assert_ok(sa_file_read(one, &a, &size));
    assert_ok(sa_file_read(other, &b, &other_size));
    assert_int_equal(size, other_size);
    assert_memory_equal(a, b, size);
    sa_free(a);
    sa_free(b);
}

static void assert_same_results(const char *one, const char *other) {
    static const char *const files[] = {"cn-ucb/clicks.npy", "cn-ucb/reward.npy",
                                        "cn-ucb/expected_regret.npy", "random/clicks.npy",
                                        "random/realised_regret.npy"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[2][300];
        snprintf(path[0], sizeof path[0], "%s/%s", one, files[i]);
        snprintf(path[1], sizeof path[1], "%s/%s", other, files[i]);
        assert_same_bytes(path[0], path[1]);
    }
}

#define CASCADE "algorithm=cn-ucb,random clicks=cascade leave=0.1 delay=2 "

static void run_into(const char *out, const char *more, sa_progress_call *call, sa_status wanted) {
    char text[400];
    snprintf(text, sizeof text, CASCADE "out=%s %s", out, more);
    sa_experiment *experiment = clicking(text);
    assert_int_equal(sa_experiment_run(experiment, call, NULL), wanted);
    sa_experiment_destroy(experiment);
}

static int stop_at_once(void *user, const sa_progress *progress) {
    (void)user, (void)progress;
    return 1;
}

static void threads_and_stops_do_not_show(void **state) {
    (void)state;
    char whole[200], other[200];
    snprintf(whole, sizeof whole, "%s", scratch("whole"));
    snprintf(other, sizeof other, "%s", scratch("one"));
    run_into(whole, "threads=2", NULL, SA_OK);
    run_into(other, "threads=1", NULL, SA_OK);
    assert_same_results(whole, other);
    snprintf(other, sizeof other, "%s", scratch("stopped"));
    run_into(other, "threads=1", stop_at_once, SA_INTERRUPTED);
    run_into(other, "resume=true", NULL, SA_OK);
    assert_same_results(whole, other);
    run_into(other, "resume=true", NULL, SA_OK); /* finished: read back */
    assert_same_results(whole, other);
    snprintf(other, sizeof other, "%s", scratch("again"));
    sa_experiment *experiment = sa_experiment_new();
    char spec[300];
    snprintf(spec, sizeof spec, "%s/spec.yaml", whole);
    assert_ok(sa_experiment_read(experiment, spec));
    assert_ok(sa_experiment_set(experiment, "out", other));
    assert_ok(sa_experiment_run(experiment, NULL, NULL));
    sa_experiment_destroy(experiment);
    assert_same_results(whole, other);
}

/* The clicks of a finished run are taken from its part; a part without them is done again. */
static void parts_have_clicks(void **state) {
    (void)state;
    const size_t rounds = ROUNDS, stats = 6;
    double none = 0, curve[ROUNDS], numbers[6] = {1, 0.5, 0.25, 0.125, 1e6, 0};
    char out[200], path[300];
    for (size_t i = 0; i < ROUNDS; i++) curve[i] = 7;
    snprintf(out, sizeof out, "%s", scratch("parts"));
    run_into(out, "threads=1", stop_at_once, SA_INTERRUPTED);
    for (int with = 0; with < 2; with++) {
        sa_npz_writer *writer;
        assert_ok(sa_npz_begin(&writer));
        assert_ok(sa_npz_add(writer, "expected_regret", SA_FLOAT64, 1, &rounds, curve));
        assert_ok(sa_npz_add(writer, "realised_regret", SA_FLOAT64, 1, &rounds, curve));
        assert_ok(sa_npz_add(writer, "reward", SA_FLOAT64, 1, &rounds, curve));
        if (with) assert_ok(sa_npz_add(writer, "clicks", SA_FLOAT64, 1, &rounds, curve));
        assert_ok(sa_npz_add(writer, "stats", SA_FLOAT64, 1, &stats, numbers));
        assert_ok(sa_npz_add(writer, "replay_seconds", SA_FLOAT64, 0, NULL, &none));
        assert_ok(sa_npz_add(writer, "certificate", SA_FLOAT64, 0, NULL, &none));
        snprintf(path, sizeof path, "%s/parts/random-%d.npz", out, with);
        assert_ok(sa_npz_finish(writer, path));
    }
    char text[400];
    snprintf(text, sizeof text, CASCADE "out=%s resume=true", out);
    sa_experiment *experiment = clicking(text);
    sa_agent_result result;
    assert_ok(sa_experiment_run(experiment, NULL, NULL));
    assert_ok(sa_experiment_result(experiment, 1, &result));
    for (size_t i = 0; i < ROUNDS; i++)
        assert_true(result.clicks[i] <= (double)i + 1 && result.clicks[ROUNDS + i] == 7);
    sa_experiment_destroy(experiment);
}

/* {"clicks": {"mean": ..., "sd": null, "ci95": [null, null]}} when there is one run. */
static void the_summary_has_clicks(void **state) {
    (void)state;
    char text[300];
    snprintf(text, sizeof text, CASCADE "runs=1 out=%s", scratch("single"));
    sa_experiment *experiment = clicking(text);
    sa_agent_result result;
    assert_ok(sa_experiment_run(experiment, NULL, NULL));
    assert_ok(sa_experiment_result(experiment, 1, &result));
    assert_true(isnan(result.sd) && isnan(result.low) && result.clicks_mean == result.clicks[ROUNDS - 1]);
    char path[300];
    snprintf(path, sizeof path, "%s/summary.json", scratch("single"));
    json_t *summary = json_load_file(path, 0, NULL);
    json_t *clicks = json_object_get(json_object_get(json_object_get(summary, "agents"), "random"), "clicks");
    assert_true(json_number_value(json_object_get(clicks, "mean")) == result.clicks_mean);
    assert_true(json_is_null(json_object_get(clicks, "sd")));
    assert_int_equal(json_array_size(json_object_get(clicks, "ci95")), 2);
    json_decref(summary);
    sa_experiment_destroy(experiment);
}

/* ---- bad input ---- */

static void refused(const char *text, const char *words) {
    sa_experiment *experiment = clicking(text);
    assert_fails(sa_experiment_check(experiment), SA_INVALID, words);
    sa_experiment_destroy(experiment);
}

static void bad_input_has_a_sentence(void **state) {
    (void)state;
    refused("clicks=position", "--clicks position needs --examination");
    refused("clicks=position examination=1,1", "2 numbers, and there are 3 positions");
    refused("clicks=cascade oracle=knapsack costs=1,1,1,1,1,1,1,1 capacity=2",
            "--oracle knapsack has no positions");
    refused("clicks=cascade preset=icml23 algorithm=comblin-ucb", "--linear-form published");
    refused("clicks=cascade leave=0.2 slate=20 arms=30 "
            "discounts=0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
            "do not fall");
    refused("costs=1,1,1,1,1,1,1,1", "--costs is not for --oracle top-k");
    refused("algorithm=best,random reward=sum", "--reward is not for the oracle of any agent");
    refused("discounts=1,1,1", "--discounts is not for --oracle top-k");
    sa_experiment *experiment =
        clicking("clicks=cascade discounts=1,1,1 reward=sum"); /* users look at them */
    assert_ok(sa_experiment_check(experiment));
    assert_ok(sa_experiment_set(experiment, "out", scratch("drawn")));
    assert_fails(sa_experiment_check_draw(experiment), SA_INVALID, "--clicks is for runs");
    sa_experiment_destroy(experiment);
    experiment = game_experiment("noise=0.5");
    assert_ok(sa_experiment_set(experiment, "noise-values", scratch("v.npy")));
    assert_fails(sa_experiment_check(experiment), SA_INVALID, "--noise 0.5 and --noise-values");
    assert_ok(sa_experiment_set(experiment, "noise", "0.01")); /* as a spec file spells it out */
    assert_ok(sa_experiment_check(experiment));
    sa_experiment_destroy(experiment);
}

static int setup(void **state) {
    int failed = rig_setup(state);
    if (!failed) game_write();
    return failed;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agents_hear_what_users_did),
        cmocka_unit_test(best_is_best_and_clicks_are_counted),
        cmocka_unit_test(threads_and_stops_do_not_show),
        cmocka_unit_test(parts_have_clicks),
        cmocka_unit_test(the_summary_has_clicks),
        cmocka_unit_test(bad_input_has_a_sentence),
    };
    return cmocka_run_group_tests(tests, setup, scratch_teardown);
}
