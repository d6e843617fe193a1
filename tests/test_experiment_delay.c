/* --delay D in simulations: the agent hears of round t after it has chosen the slate of round t + D. Shown by
 * a replay through the agent's own calls, which comes to the same bits. */
#include "test_experiment_trace.h"
#include "test_parts.h"

static game_round traced[GAME_ROUNDS];

/* What the simulation should have done, in precision double, whose traces have all digits. */
static void replay(const char *text, size_t delay) {
    sa_options *options = rig_options(text);
    sa_agent *agent = NULL;
    sa_decision *decision = NULL;
    double feedback[GAME_ROUNDS][GAME_SLATE];
    sa_request *request = sa_request_new();
    assert_ok(sa_options_set_any(options, "widths", "all"));
    assert_ok(sa_agent_create(options, &agent));
    for (size_t t = 0; t < GAME_ROUNDS; t++) {
        sa_request_contexts(request, &game_contexts[t][0][0], GAME_ARMS);
        sa_request_slate(request, GAME_SLATE);
        assert_ok(sa_agent_select(agent, request, &decision));
        for (size_t k = 0; k < GAME_SLATE; k++) {
            size_t arm = sa_decision_arms(decision)[k];
            feedback[t][k] = game_scores[t][arm];
            if (traced[t].slate[k] != arm)
                fail_msg("%s, delay %zu: the slates of round %zu differ", text, delay, t + 1);
        }
        assert_memory_equal(traced[t].feedback, feedback[t], sizeof feedback[t]);
        assert_memory_equal(traced[t].mean, sa_decision_all_estimates(decision), sizeof traced[t].mean);
        assert_memory_equal(traced[t].score, sa_decision_all_scores(decision), sizeof traced[t].score);
        if (t >= delay) assert_ok(sa_agent_update(agent, t - delay, feedback[t - delay], NULL, GAME_SLATE));
    }
    sa_request_destroy(request);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
    sa_options_destroy(options);
}

static const char *const kinds[] = {
    "precision=double algorithm=cn-ucb",
    "precision=double algorithm=cn-ts train-warmup=5 normalize=standard",
    "precision=double preset=paper rate=theory algorithm=cn-ts1 hidden=44 count-pending=true",
    "precision=double preset=icml23 train-window=4 algorithm=cn-ucb",
    "precision=double algorithm=cn-ucb-d epoch-length=5",
    "precision=double preset=paper algorithm=comblin-ucb",
    "precision=double preset=paper algorithm=comblin-ts",
    "precision=double algorithm=cc-mab rounds=40", /* the game's rounds */
    "precision=double algorithm=acc-ucb rounds=40",
};
/* the defaults of rig_options, which the replay has */
static const char *const small =
    "hidden=6 train-steps=4 train-every=3 rate=0.01 normalize=none train-warmup=0";

static void updates_come_after_the_slate_of_round_t_plus_d(void **state) {
    (void)state;
    static const size_t delays[] = {0, 1, 3, GAME_ROUNDS - 1, GAME_ROUNDS, 1000};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t d = 0; d < sizeof delays / sizeof *delays; d++) {
            char text[400];
            snprintf(text, sizeof text, "%s %s delay=%zu", small, kinds[i], delays[d]);
            game_run(text, scratch("trace.jsonl"));
            game_read(scratch("trace.jsonl"), traced);
            replay(kinds[i], delays[d]);
        }
}

static void assert_same_bytes(const char *one, const char *other, bool same) {
    char *a, *b;
    size_t size, other_size;
    assert_ok(sa_file_read(scratch(one), &a, &size));
    assert_ok(sa_file_read(scratch(other), &b, &other_size));
    assert_int_equal(size == other_size && !memcmp(a, b, size), same);
    sa_free(a);
    sa_free(b);
}

static void no_delay_changes_no_byte_and_a_delay_does(void **state) {
    (void)state;
    game_run("preset=tuned hidden=6 algorithm=cn-ucb", scratch("plain.jsonl"));
    game_run("preset=tuned hidden=6 algorithm=cn-ucb delay=0", scratch("none.jsonl"));
    game_run("preset=tuned hidden=6 algorithm=cn-ucb delay=2", scratch("late.jsonl"));
    assert_same_bytes("plain.jsonl", "none.jsonl", true);
    assert_same_bytes("plain.jsonl", "late.jsonl", false);
}

/* Regret and reward are those of the round in which a slate was chosen, not of that in which it was
 * answered. */
static void regret_is_not_delayed(void **state) {
    (void)state;
    game_run("preset=paper hidden=6 algorithm=cn-ucb delay=5", scratch("trace.jsonl"));
    game_read(scratch("trace.jsonl"), traced);
    for (size_t t = 0; t < GAME_ROUNDS; t++) {
        double chosen = 0, best = 0, rest[GAME_ARMS];
        memcpy(rest, game_scores[t], sizeof rest);
        for (size_t k = 0; k < GAME_SLATE; k++) {
            size_t highest = 0;
            for (size_t i = 1; i < GAME_ARMS; i++)
                if (rest[i] > rest[highest]) highest = i;
            best += rest[highest];
            rest[highest] = -INFINITY;
            chosen += game_scores[t][traced[t].slate[k]];
        }
        assert_true(fabs(traced[t].expected_regret - (best - chosen)) < 1e-7);
    }
}

/* Found before the run, not when the first feedback finds its decision forgotten. */
static void a_delay_beyond_the_pending_limit_is_refused(void **state) {
    (void)state;
    sa_experiment *experiment = game_experiment("hidden=4 train-steps=1 delay=6 pending-limit=6");
    assert_fails(sa_experiment_check(experiment), SA_INVALID,
                 "--delay 6 needs a --pending-limit above it, which is 6");
    assert_ok(sa_experiment_set(experiment, "pending-limit", "7"));
    assert_ok(sa_experiment_run(experiment, NULL, NULL));
    assert_ok(sa_experiment_set(experiment, "pending-limit", "1"));
    assert_fails(sa_experiment_run(experiment, NULL, NULL), SA_INVALID, "--pending-limit");
    assert_ok(
        sa_experiment_set(experiment, "delay", "40")); /* as long as the run: no feedback comes at all */
    assert_ok(sa_experiment_run(experiment, NULL, NULL));
    assert_ok(sa_experiment_set(experiment, "delay", "0"));
    assert_ok(sa_experiment_run(experiment, NULL, NULL));
    sa_experiment_destroy(experiment);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    sa_experiment *experiment = game_experiment("hidden=4");
    assert_fails(sa_experiment_set(experiment, "delay", "-1"), SA_INVALID, "--delay -1 is less than 0");
    assert_fails(sa_experiment_set(experiment, "delay", "nan"), SA_INVALID,
                 "--delay nan is not a whole number");
    assert_fails(sa_experiment_set(experiment, "delay", "1000001"), SA_INVALID,
                 "--delay 1000001 is more than 1000000");
    assert_fails(sa_experiment_agent(experiment, "a:delay=2"), SA_INVALID, "--delay is one for all agents");
    sa_experiment_destroy(experiment);
}

static int set_up(void **state) {
    if (rig_setup(state)) return -1;
    game_write();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_come_after_the_slate_of_round_t_plus_d),
        cmocka_unit_test(no_delay_changes_no_byte_and_a_delay_does),
        cmocka_unit_test(regret_is_not_delayed),
        cmocka_unit_test(a_delay_beyond_the_pending_limit_is_refused),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_teardown);
}
