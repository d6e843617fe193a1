/* Feedback models in simulations: traces with a list for each arm, discounts for the agent whatever its
 * oracle, and users and agents of the same model. */
#include "test_experiment_trace.h"

/* matrix (GAME_ARMS, GAME_SLATE) of one line */
static void matrix_of(json_t *line, const char *name, double matrix[GAME_ARMS][GAME_SLATE]) {
    json_t *lists = json_object_get(line, name);
    assert_int_equal(json_array_size(lists), GAME_ARMS);
    for (size_t i = 0; i < GAME_ARMS; i++) {
        json_t *list = json_array_get(lists, i);
        assert_true(json_is_array(list));
        assert_int_equal(json_array_size(list), GAME_SLATE);
        for (size_t k = 0; k < GAME_SLATE; k++)
            matrix[i][k] =
                json_is_null(json_array_get(list, k)) ? NAN : json_number_value(json_array_get(list, k));
    }
}

static double best_reward(double score[GAME_ARMS][GAME_SLATE]) {
    double best = -INFINITY;
    for (size_t a = 0; a < GAME_ARMS; a++)
        for (size_t b = 0; b < GAME_ARMS; b++)
            for (size_t c = 0; c < GAME_ARMS; c++)
                if (a != b && a != c && b != c) best = fmax(best, score[a][0] + score[b][1] + score[c][2]);
    return best;
}

/* score = mean + gamma width for each arm in each position, and the slate is the best assignment. */
static void check_trace(const char *text, double gamma, bool widths) {
    char line[8192];
    size_t rounds = 0;
    game_run(text, scratch("trace.jsonl"));
    FILE *file = fopen(scratch("trace.jsonl"), "re");
    assert_non_null(file);
    for (; fgets(line, sizeof line, file); rounds++) {
        json_t *object = json_loads(line, 0, NULL);
        double mean[GAME_ARMS][GAME_SLATE], width[GAME_ARMS][GAME_SLATE], score[GAME_ARMS][GAME_SLATE],
            reward = 0;
        assert_non_null(object);
        matrix_of(object, "mean", mean);
        matrix_of(object, "width", width);
        matrix_of(object, "score", score);
        for (size_t i = 0; i < GAME_ARMS; i++)
            for (size_t k = 0; k < GAME_SLATE; k++) {
                assert_true(isnan(width[i][k]) == !widths);
                if (gamma >= 0) assert_true(fabs(score[i][k] - mean[i][k] - gamma * width[i][k]) < 1e-12);
            }
        json_t *slate = json_object_get(object, "slate");
        assert_int_equal(json_array_size(slate), GAME_SLATE);
        for (size_t k = 0; k < GAME_SLATE; k++)
            reward += score[json_integer_value(json_array_get(slate, k))][k];
        assert_true(fabs(reward - best_reward(score)) < 1e-12);
        json_decref(object);
    }
    fclose(file);
    assert_int_equal(rounds, GAME_ROUNDS);
}

static void traces_have_a_list_for_each_arm(void **state) {
    (void)state;
    check_trace("feedback=position preset=icml23 hidden=5 train-steps=5 precision=double gamma=0.3", 0.3,
                true);
    check_trace("feedback=position algorithm=comblin-ucb linear-form=defined gamma=0.3", 0.3, true);
    check_trace("feedback=position algorithm=comblin-ts", -1, true);
    check_trace("feedback=position algorithm=random", -1, false);
    check_trace("feedback=cascade cascade-form=unknown algorithm=comblin-ucb linear-form=defined gamma=0.3 "
                "discounts=1,0.5,0.2 "
                "clicks=cascade "
                "reward=sum",
                0.3, true);
}

/* The reference plays the best slate whatever the feedback. */
static void best_has_no_regret(void **state) {
    (void)state;
    static const char *const texts[] = {
        "algorithm=best feedback=position",
        "algorithm=best feedback=position clicks=position examination=0.4,1,0.2",
        "algorithm=best feedback=cascade clicks=cascade discounts=1,0.5,0.2"};
    for (size_t i = 0; i < 3; i++) {
        sa_experiment *experiment = game_experiment(texts[i]);
        assert_ok(sa_experiment_set(experiment, "out", scratch("out")));
        assert_ok(sa_experiment_run(experiment, NULL, NULL));
        sa_experiment_destroy(experiment);
        sa_array curve = {0};
        assert_ok(sa_npy_read(scratch("out/best/expected_regret.npy"), &curve));
        assert_true(fabs(sa_array_number(&curve, GAME_ROUNDS - 1)) < 1e-12);
        sa_array_clear(&curve);
        assert_ok(sa_path_remove(scratch("out")));
    }
}

static void wrong_combinations_are_refused(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"feedback=position oracle=top-k",
         "--oracle top-k takes one score an arm, and --feedback position gives one"},
        {"feedback=position algorithm=cc-mab", "--algorithm cc-mab cannot tell positions apart"},
        {"feedback=cascade cascade-form=literal discounts=1,0.5,0.2", "--discounts is not for"},
        {"feedback=cascade discounts=1,0.5",
         "--discounts 1,0.5: 2 entries, and there are 3 positions (--slate)"},
        {"feedback=cascade discounts=1,0.5,2", "--discounts 1,0.5,2: entry 2 is 2, and must be from 0 to 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sa_experiment *experiment = game_experiment(cases[i][0]);
        assert_fails(sa_experiment_check(experiment), SA_INVALID, cases[i][1]);
        sa_experiment_destroy(experiment);
    }
    sa_experiment *experiment = game_experiment("feedback=cascade discounts=1,0.5,0.2 algorithm=comblin-ucb");
    assert_ok(sa_experiment_run(experiment, NULL, NULL));
    sa_experiment_destroy(experiment);
}

static int setup(void **state) {
    int status = rig_setup(state);
    if (status == 0) game_write();
    return status;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_have_a_list_for_each_arm),
        cmocka_unit_test(best_has_no_regret),
        cmocka_unit_test(wrong_combinations_are_refused),
    };
    return cmocka_run_group_tests(tests, setup, scratch_teardown);
}
