/* CombLinUCB and C2UCB round by round against ridge regression in plain loops: estimates, widths, scores and
 * slates, with feedback late and in parts, in double precision whatever --precision says. */
#include "test_linear_reference.h"

/* R = 0.3, delta = 0.05, S = 1.5 as in the test below */
static double gamma_by_theory(const linear_game *game) {
    double ratio = ridge_log_det(&game->counted) - RIDGE_DIM * log(game->lambda);
    return 0.3 * sqrt(ratio + 2 * log(1 / 0.05)) + sqrt(game->lambda) * 1.5;
}

static void check(const linear_game *game, uint64_t round, const ridge *estimate, double gamma) {
    double theta[RIDGE_DIM], score[LINEAR_ARMS];
    ridge_theta(estimate, theta);
    for (size_t i = 0; i < LINEAR_ARMS; i++) {
        const double *x = game->contexts[round][i];
        double mean = dot_product(x, theta), width = ridge_width(&game->counted, x);
        score[i] = mean + gamma * width;
        near("estimate", round, sa_decision_all_estimates(game->decision)[i], mean);
        near("width", round, sa_decision_all_widths(game->decision)[i], width);
        near("score", round, sa_decision_all_scores(game->decision)[i], score[i]);
    }
    check_slate(game, round, score);
}

static void check_defined(const linear_game *game, uint64_t round) { check(game, round, &game->learnt, 0.7); }
static void check_lagging(const linear_game *game, uint64_t round) { check(game, round, &game->before, 0.7); }
static void check_theory(const linear_game *game, uint64_t round) {
    check(game, round, &game->learnt, gamma_by_theory(game));
}

static void check_theory_lagging(const linear_game *game, uint64_t round) {
    check(game, round, &game->before, gamma_by_theory(game));
}

static void comblin_ucb_is_ridge_regression(void **state) {
    (void)state;
    static const char *const forms[] = {"", "hidden=44", "", "count-pending=true", "train=manual"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (int precision = 0; precision < 2; precision++) {
            char text[300];
            snprintf(
                text, sizeof text,
                "preset=paper algorithm=comblin-ucb gamma=0.7 regularization=0.5 widths=all precision=%s %s",
                precision ? "double" : "single", forms[i]);
            linear_play(text, check_defined);
        }
}

static void precision_is_double_whatever_is_asked(void **state) {
    (void)state;
    static const char *const names[] = {"comblin-ucb", "comblin-ts", "c2ucb"};
    for (size_t i = 0; i < 3; i++) {
        char text[100], value[32];
        snprintf(text, sizeof text, "preset=paper precision=single algorithm=%s", names[i]);
        sa_agent *agent = rig_create(text);
        assert_ok(sa_options_get(sa_agent_options(agent), "precision", value, sizeof value));
        assert_string_equal(value, "double");
        assert_true(rig_counts(agent).widths_in_double);
        sa_agent_destroy(agent);
    }
}

/* The estimate of the published form is that of all feedback but the newest; its widths are those of all. It
 * starts at 0, which is where `before` starts. */
static void published_estimates_lag_one_update(void **state) {
    (void)state;
    linear_play(
        "preset=paper linear-form=published algorithm=comblin-ucb gamma=0.7 regularization=0.5 widths=all",
        check_lagging);
    linear_play("preset=icml23 algorithm=comblin-ucb gamma=0.7 regularization=2 widths=all", check_lagging);
    linear_play(
        "preset=icml23 linear-form=defined algorithm=comblin-ucb gamma=0.7 regularization=2 widths=all",
        check_defined);
}

static void c2ucb_takes_gamma_from_theory(void **state) {
    (void)state;
    const char *text =
        "preset=paper algorithm=c2ucb sub-gaussian=0.3 delta=0.05 norm-bound=1.5 gamma=9 widths=all";
    static const char *const forms[] = {"regularization=0.5", "regularization=3 hidden=44",
                                        "count-pending=true"};
    char whole[300];
    for (size_t i = 0; i < 3; i++) {
        snprintf(whole, sizeof whole, "%s %s", text, forms[i]);
        linear_play(whole, check_theory);
    }
    snprintf(whole, sizeof whole, "%s linear-form=published", text);
    linear_play(whole, check_theory_lagging);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comblin_ucb_is_ridge_regression),
        cmocka_unit_test(precision_is_double_whatever_is_asked),
        cmocka_unit_test(published_estimates_lag_one_update),
        cmocka_unit_test(c2ucb_takes_gamma_from_theory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
