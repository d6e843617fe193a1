/* CombLinTS: scores under sampled parameters as its paper defines it, sampled scores in the published
 * form. */
#include "rng/stream.h"
#include "test_linear_reference.h"

/* score = x'theta~, theta~ = theta + nu L'^-1 z with the round's normal draws; nu = 0.6, seed 3, run 2 */
static void check_parameters(const linear_game *game, uint64_t round) {
    double theta[RIDGE_DIM], z[RIDGE_DIM], l[RIDGE_DIM][RIDGE_DIM], score[LINEAR_ARMS];
    sa_stream stream = sa_stream_at(3, SA_PURPOSE_EXPLORATION, 2, round);
    ridge_theta(&game->learnt, theta);
    ridge_factor(&game->learnt, l);
    for (size_t j = 0; j < RIDGE_DIM; j++) z[j] = sa_draw_normal(&stream, j);
    backward(l, z);
    for (size_t j = 0; j < RIDGE_DIM; j++) z[j] = theta[j] + 0.6 * z[j];
    for (size_t i = 0; i < LINEAR_ARMS; i++) {
        const double *x = game->contexts[round][i];
        score[i] = dot_product(x, z);
        near("estimate", round, sa_decision_all_estimates(game->decision)[i], dot_product(x, theta));
        near("width", round, sa_decision_all_widths(game->decision)[i], ridge_width(&game->counted, x));
        near("score", round, sa_decision_all_scores(game->decision)[i], score[i]);
    }
    check_slate(game, round, score);
}

static void parameters_are_sampled(void **state) {
    (void)state;
    const char *text = "preset=paper algorithm=comblin-ts nu=0.6 seed=3 first-run=2 regularization=0.5";
    static const char *const forms[] = {"", "precision=double hidden=44", "widths=all ts-samples=7",
                                        "count-pending=true", "ts-deviation=variance"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char whole[300];
        snprintf(whole, sizeof whole, "%s %s", text, forms[i]);
        linear_play(whole, check_parameters);
    }
}

/* One draw an arm: score = mean + d z_i, mean lagging; d = (nu sigma)^2, or nu sigma when asked for by
 * hand. */
static void check_scores(const linear_game *game, uint64_t round, bool variance) {
    double theta[RIDGE_DIM], score[LINEAR_ARMS];
    sa_stream stream = sa_stream_at(3, SA_PURPOSE_EXPLORATION, 2, round);
    ridge_theta(&game->before, theta);
    for (size_t i = 0; i < LINEAR_ARMS; i++) {
        const double *x = game->contexts[round][i];
        double deviation = 0.6 * sqrt(game->lambda) * ridge_width(&game->counted, x);
        score[i] = dot_product(x, theta) +
                   (variance ? deviation * deviation : deviation) * sa_draw_normal(&stream, i);
        near("score", round, sa_decision_all_scores(game->decision)[i], score[i]);
    }
    check_slate(game, round, score);
}

static void check_variance(const linear_game *game, uint64_t round) { check_scores(game, round, true); }
static void check_sigma(const linear_game *game, uint64_t round) { check_scores(game, round, false); }

static void published_form_samples_scores(void **state) {
    (void)state;
    const char *all =
        "algorithm=comblin-ts nu=0.6 seed=3 first-run=2 regularization=0.5 widths=all ts-samples=7";
    static const char *const presets[] = {"preset=icml23", "preset=paper linear-form=published",
                                          "preset=tuned linear-form=published"};
    char text[300];
    for (size_t i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "%s %s", presets[i], all);
        linear_play(text, check_variance);
    }
    snprintf(text, sizeof text, "preset=paper linear-form=published ts-deviation=sigma %s", all);
    linear_play(text, check_sigma);
}

/* With unit vectors for arms a round's scores are theta~ itself. Over n rounds without feedback its mean and
 * covariance are those of N(theta, nu^2 Z^-1), within 5 of the deviations of an average of n normals,
 * sqrt(C_ii / n), and of an average of n products of two, sqrt((C_ii C_jj + C_ij^2) / n). A correct program
 * fails one such check with probability 6e-7 (a little more for products, which have heavier tails); there
 * are 20, so 2e-5 in all. */
static void samples_have_their_covariance(void **state) {
    (void)state;
    enum { N = 6000 };
    static double units[RIDGE_DIM][RIDGE_DIM], drawn[N][RIDGE_DIM];
    double theta[RIDGE_DIM], l[RIDGE_DIM][RIDGE_DIM], covariance[RIDGE_DIM][RIDGE_DIM], nu = 0.6;
    linear_game game = {.agent =
                            rig_create("preset=paper algorithm=comblin-ts nu=0.6 seed=5 pending-limit=20")};
    game.learnt = ridge_of(1);
    for (uint64_t round = 0; round < 10; round++) {
        linear_select(&game, round);
        linear_answer(&game, round, NULL);
    }
    ridge_theta(&game.learnt, theta);
    ridge_factor(&game.learnt, l);
    for (size_t j = 0; j < RIDGE_DIM; j++) {
        units[j][j] = 1;
        memcpy(covariance[j], units[j], sizeof units[j]);
        forward(l, covariance[j]);
        backward(l, covariance[j]);
    }
    sa_request *request = sa_request_new();
    sa_request_contexts(request, &units[0][0], RIDGE_DIM);
    sa_request_slate(request, 1);
    for (size_t t = 0; t < N; t++) {
        assert_ok(sa_agent_select(game.agent, request, &game.decision));
        for (size_t j = 0; j < RIDGE_DIM; j++)
            drawn[t][j] = sa_decision_all_scores(game.decision)[j] - theta[j];
    }
    double furthest = 0, seen = 0;
    for (size_t i = 0; i < RIDGE_DIM; i++) {
        double mean = 0, own = nu * nu * covariance[i][i];
        for (size_t t = 0; t < N; t++) mean += drawn[t][i] / N;
        furthest = fmax(furthest, fabs(mean) / sqrt(own / N));
        for (size_t j = 0; j <= i; j++) {
            double sum = 0, expected = nu * nu * covariance[i][j], other = nu * nu * covariance[j][j];
            for (size_t t = 0; t < N; t++) sum += drawn[t][i] * drawn[t][j] / N;
            furthest = fmax(furthest, fabs(sum - expected) / sqrt((own * other + expected * expected) / N));
            if (i != j) seen = fmax(seen, fabs(expected) / sqrt(own * other / N));
        }
    }
    print_message("covariance of sampled parameters: the furthest of 20 is %.1f deviations off\n", furthest);
    assert_true(furthest < 5);
    assert_true(seen > 5); /* a covariance without its corners would be seen */
    sa_request_destroy(request);
    sa_decision_destroy(game.decision);
    sa_agent_destroy(game.agent);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_sampled),
        cmocka_unit_test(published_form_samples_scores),
        cmocka_unit_test(samples_have_their_covariance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
