/* Click models: the expected reward against a walk through everything a user can do, the best slate against
 * all slates, what users do against the probabilities, and bad options. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "env/clicks.h"
#include "rng/stream.h"
#include "spec/problem_option.h"
#include "temporary.h"
#include "test_parts.h"

enum { ARMS = 6, MOST_SLATE = 4 };

static double expected[ARMS], noise[ARMS], stop[ARMS];
static sa_round drawn = {.arms = ARMS, .expected = expected, .noise = noise, .stop = stop};

static sa_options *options_of(const char *pairs) {
    sa_options *options = sa_options_new(NULL);
    char copy[400], *save = NULL;
    snprintf(copy, sizeof copy, "%s", pairs);
    for (char *pair = strtok_r(copy, " ", &save); pair; pair = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(pair, '=');
        *equals = 0;
        assert_int_equal(sa_spec_set(options, pair, equals + 1), SA_OK);
    }
    return options;
}

/* The model that the options ask for, with --discounts and --reward as `run` reads them. */
static sa_status make(const char *pairs, sa_clicks **out) {
    sa_options *options = options_of(pairs);
    sa_problem *problem = sa_problem_new();
    assert_int_equal(sa_problem_set(problem, "problem", options->problem), SA_OK);
    sa_status status = sa_clicks_create(options, sa_problem_data(problem), out);
    sa_problem_destroy(problem);
    sa_options_destroy(options);
    return status;
}

static sa_clicks *made(const char *pairs) {
    sa_clicks *clicks = NULL;
    if (make(pairs, &clicks) != SA_OK) fail_msg("%s: %s", pairs, sa_last_error());
    return clicks;
}

/* ---- the expected reward, by walking through all that can happen ---- */

static double attraction(size_t arm) { return fmin(fmax(expected[arm], 0), 1); }

/* What a user at position k, who has clicked `clicked` times, gives in the mean. */
static double walk(const sa_clicks *clicks, const size_t *slate, size_t length, size_t k, unsigned clicked) {
    if (k == length) return clicks->sum ? clicked : clicked > 0;
    double ends = clicks->sum ? clicked : clicked > 0, click = clicks->weights[k] * attraction(slate[k]);
    double after_click = stop[slate[k]] * (clicks->sum ? clicked + 1 : 1) +
                         (1 - stop[slate[k]]) * walk(clicks, slate, length, k + 1, clicked + 1);
    double after_none =
        clicks->leave * ends + (1 - clicks->leave) * walk(clicks, slate, length, k + 1, clicked);
    return click * after_click + (1 - click) * after_none;
}

static double expected_reward(const sa_clicks *clicks, const size_t *slate, size_t length) {
    if (clicks->kind == SA_CLICKS_CASCADE) return walk(clicks, slate, length, 0, 0);
    double sum = 0;
    for (size_t k = 0; k < length; k++)
        sum += clicks->weights[k] * (clicks->bernoulli ? attraction(slate[k]) : expected[slate[k]]);
    return sum;
}

/* The largest over all slates in order; `slate` up to `at` is given. */
static double largest(const sa_clicks *clicks, size_t *slate, size_t at, size_t length) {
    if (at == length) {
        double reward = expected_reward(clicks, slate, length);
        assert_true(fabs(sa_clicks_expected_reward(clicks, &drawn, slate, length) - reward) < 1e-12);
        return reward;
    }
    double best = -INFINITY;
    for (size_t arm = 0; arm < drawn.arms; arm++) {
        bool taken = false;
        for (size_t k = 0; k < at; k++) taken = taken || slate[k] == arm;
        if (taken) continue;
        slate[at] = arm;
        best = fmax(best, largest(clicks, slate, at + 1, length));
    }
    return best;
}

/* Scores from -0.4 to 1.3, some of them the same, some 0 and 1; stops of 0 to 1 where asked for. */
static void draw_round(uint64_t number, bool stops) {
    sa_stream stream = sa_stream_at(5, SA_PURPOSE_CONTEXTS, 0, number);
    double uniform[3 * ARMS];
    sa_draw_uniforms(&stream, 0, 3 * ARMS, uniform);
    for (size_t i = 0; i < ARMS; i++) {
        expected[i] = number % 3 == 0   ? uniform[i]
                      : number % 3 == 1 ? 1.7 * uniform[i] - 0.4
                                        : floor(4 * uniform[i]) / 3;
        stop[i] = !stops ? 1 : number % 2 ? uniform[ARMS + i] : floor(3 * uniform[ARMS + i]) / 2;
        noise[i] = uniform[2 * ARMS + i] - 0.5;
    }
}

static const struct {
    const char *options;
    bool stops;
} MODELS[] = {
    {"slate=4 clicks=position examination=0.4,1,0.2,0.7", false},
    {"slate=4 clicks=position examination=0.4,1,0.2,0.7 click-noise=gaussian", false},
    {"slate=3 clicks=position examination=1,0,1", true},
    {"slate=4 clicks=cascade", false},
    {"slate=4 clicks=cascade click-noise=gaussian", true},
    {"slate=4 clicks=cascade leave=0.3", true},
    {"slate=4 clicks=cascade leave=1", false},
    {"slate=4 clicks=cascade discounts=0.5,1,0.3,0.8", true},
    {"slate=4 clicks=cascade discounts=1,0.8,0.8,0.1 leave=0.4", true},
    {"slate=4 clicks=cascade discounts=0.5,1,0.3,0.8 leave=0.15", true},
    {"slate=4 clicks=cascade discounts=0.2,0.4,0.7,1 leave=0.5", false},
    {"slate=4 clicks=cascade discounts=0,0.9,0,1 leave=0.1", false},
    {"slate=4 clicks=cascade reward=sum", false},
    {"slate=4 clicks=cascade reward=sum", true},
    {"slate=4 clicks=cascade reward=sum leave=0.2", true},
    {"slate=4 clicks=cascade reward=sum leave=0.2 discounts=0.7,0.7,0.7,0.7", true},
    {"slate=4 clicks=cascade reward=sum leave=0.2 discounts=0.7,0.9,0.1,0.7", false},
    {"slate=1 clicks=cascade reward=sum leave=1", true},
};

static void best_is_best_of_all_slates(void **state) {
    (void)state;
    for (size_t m = 0; m < sizeof MODELS / sizeof *MODELS; m++) {
        sa_clicks *clicks = made(MODELS[m].options);
        sa_workspace workspace = {0};
        for (uint64_t number = 0; number < 60; number++) {
            size_t slate[ARMS], tried[ARMS];
            draw_round(number, MODELS[m].stops);
            drawn.arms = number % 5 == 4 ? 3 : ARMS; /* also fewer arms than positions */
            size_t length = clicks->slate < drawn.arms ? clicks->slate : drawn.arms;
            if (sa_clicks_best(clicks, &drawn, length, &workspace, slate) != SA_OK)
                fail_msg("%s", sa_last_error());
            for (size_t k = 0; k < length; k++)
                for (size_t j = 0; j < k; j++) assert_true(slate[k] < drawn.arms && slate[k] != slate[j]);
            double found = sa_clicks_expected_reward(clicks, &drawn, slate, length);
            double best = largest(clicks, tried, 0, length);
            if (fabs(found - best) > 1e-12)
                fail_msg("%s, round %d: %.17g, and %.17g can be had", MODELS[m].options, (int)number, found,
                         best);
        }
        drawn.arms = ARMS;
        sa_workspace_clear(&workspace);
        sa_clicks_destroy(clicks);
    }
}

/* ---- what users do ---- */

enum { USERS = 40000 };

/* Frequencies over many users against the expectation: five deviations, so that a right program fails once in
 * a million. */
static void rewards_of_users_have_the_expected_mean(void **state) {
    (void)state;
    static const size_t slate[MOST_SLATE] = {4, 0, 3, 1};
    for (size_t m = 0; m < sizeof MODELS / sizeof *MODELS; m++) {
        sa_clicks *clicks = made(MODELS[m].options);
        draw_round(9 + m, MODELS[m].stops);
        double sum = 0, squares = 0;
        for (uint64_t user = 0; user < USERS; user++) {
            for (size_t i = 0; i < ARMS; i++) noise[i] = user % 2 ? -0.1 : 0.1;
            sa_visit visit =
                sa_clicks_visit(clicks, &drawn, user / 1000, user % 1000, slate, clicks->slate, NULL);
            sum += visit.reward;
            squares += visit.reward * visit.reward;
        }
        double mean = sum / USERS, deviation = sqrt(fmax(0, squares / USERS - mean * mean) / USERS);
        double wanted = expected_reward(clicks, slate, clicks->slate);
        if (fabs(mean - wanted) > 5 * deviation + 1e-9)
            fail_msg("%s: users give %g, and %g is expected", MODELS[m].options, mean, wanted);
        sa_clicks_destroy(clicks);
    }
}

/* The chance that position k is reached, and clicked when it is, in a cascade with everything in it. */
static void positions_are_reached_and_clicked_as_often_as_they_should(void **state) {
    (void)state;
    sa_clicks *clicks = made("slate=4 clicks=cascade leave=0.2 discounts=0.9,0.5,1,0.7");
    static const size_t slate[MOST_SLATE] = {2, 5, 0, 1};
    double reached[MOST_SLATE] = {0}, clicked[MOST_SLATE] = {0}, chance = 1;
    const double scores[ARMS] = {0.6, 0.5, 0.4, 0, 0, 0.8}, stops[ARMS] = {1, 0.5, 0.25, 1, 1, 0.7};
    memcpy(expected, scores, sizeof scores);
    memcpy(stop, stops, sizeof stops);
    for (uint64_t user = 0; user < USERS; user++) {
        double seen[MOST_SLATE];
        sa_visit visit = sa_clicks_visit(clicks, &drawn, 3, user, slate, MOST_SLATE, seen);
        bool gone = false;
        double count = 0;
        for (size_t k = 0; k < MOST_SLATE; k++) {
            if (gone) assert_true(isnan(seen[k])); /* who has left does not come back */
            gone = isnan(seen[k]);
            reached[k] += !gone;
            clicked[k] += seen[k] == 1;
            count += seen[k] == 1;
            assert_true(gone || seen[k] == 0 || seen[k] == 1);
        }
        assert_true(!isnan(seen[0]) && visit.clicks == count && visit.reward == (count > 0));
    }
    for (size_t k = 0; k < MOST_SLATE; k++) {
        double click = clicks->weights[k] * scores[slate[k]];
        assert_true(fabs(reached[k] / USERS - chance) < 5 * sqrt(chance * (1 - chance) / USERS) + 1e-12);
        assert_true(fabs(clicked[k] / reached[k] - click) < 5 * sqrt(click * (1 - click) / reached[k]));
        chance *= click * (1 - stops[slate[k]]) + (1 - click) * (1 - 0.2);
    }
    sa_clicks_destroy(clicks);
}

/* The user of a round is the same whatever is shown: who clicks an arm somewhere would click it in any
 * position that is looked at for sure, and a slate in another order has the same arms clicked. */
static void the_user_is_the_same_for_every_slate(void **state) {
    (void)state;
    sa_clicks *clicks = made("slate=3 clicks=position examination=1,1,1"),
              *other_seed = made("slate=3 clicks=position examination=1,1,1 seed=2");
    draw_round(3, false);
    size_t different = 0;
    for (uint64_t number = 0; number < 200; number++) {
        static const size_t one[] = {0, 1, 2}, other[] = {2, 0, 5};
        double a[3], b[3], again[3], elsewhere[3];
        sa_clicks_visit(clicks, &drawn, 1, number, one, 3, a);
        sa_clicks_visit(clicks, &drawn, 1, number, other, 3, b);
        sa_clicks_visit(clicks, &drawn, 1, number, one, 3, again);
        sa_clicks_visit(other_seed, &drawn, 1, number, one, 3, elsewhere);
        assert_true(a[0] == b[1] && a[2] == b[0]);
        assert_memory_equal(a, again, sizeof a);
        different += memcmp(a, elsewhere, sizeof a) != 0;
    }
    assert_true(different > 20);
    sa_clicks_destroy(other_seed);
    sa_clicks_destroy(clicks);
}

static void gaussian_feedback_is_the_weighted_score_and_noise(void **state) {
    (void)state;
    sa_clicks *clicks = made("slate=4 clicks=position examination=0.4,1,0.2,0.7 click-noise=gaussian");
    static const size_t slate[MOST_SLATE] = {4, 0, 3, 1};
    double seen[MOST_SLATE], sum = 0;
    draw_round(4, false);
    sa_visit visit = sa_clicks_visit(clicks, &drawn, 0, 0, slate, MOST_SLATE, seen);
    for (size_t k = 0; k < MOST_SLATE; k++) {
        assert_true(fabs(seen[k] - (clicks->weights[k] * expected[slate[k]] + noise[slate[k]])) < 1e-15);
        sum += seen[k];
    }
    assert_true(fabs(visit.reward - sum) < 1e-15 && visit.clicks <= 4);
    sa_clicks_destroy(clicks);
}

/* ---- bad input ---- */

static void refused(const char *pairs, const char *words) {
    sa_clicks *clicks = NULL;
    assert_int_equal(make(pairs, &clicks), SA_INVALID);
    assert_null(clicks);
    if (!strstr(sa_last_error(), words)) fail_msg("%s: \"%s\" lacks \"%s\"", pairs, sa_last_error(), words);
}

static void bad_options_have_a_sentence(void **state) {
    (void)state;
    sa_clicks *clicks = NULL;
    assert_int_equal(make("slate=4", &clicks), SA_OK);
    assert_null(clicks); /* every score is seen */
    refused("slate=4 clicks=position", "--clicks position needs --examination");
    refused("slate=4 clicks=position examination=0.4,1,0.2",
            "--examination: 3 numbers, and there are 4 positions");
    refused("slate=4 clicks=position examination=0.4,1.5,0.2,1",
            "--examination: number 2 is 1.5, and must be from 0 to 1");
    refused("slate=4 clicks=position examination=0.4,-1,0.2,1", "number 2 is -1");
    refused("slate=4 clicks=position examination=0.4,,0.2,1",
            "--examination: 0.4,,0.2,1 is neither a list of numbers");
    refused("slate=2 clicks=position examination=1,nan", "neither a list of numbers");
    refused("slate=4 clicks=cascade examination=1,1,1,1", "--examination is for --clicks position");
    refused("slate=4 examination=1,1,1,1", "--examination is for --clicks position");
    refused("slate=4 leave=0.5", "--leave 0.5 is for --clicks cascade");
    refused("slate=4 clicks=position examination=1,1,1,1 leave=0.5", "--leave 0.5 is for --clicks cascade");
    refused("slate=4 click-noise=gaussian", "--click-noise is for --clicks position or cascade");
    refused("slate=4 clicks=cascade noise=0.5", "--noise is not for clicks of 0 and 1");
    refused("slate=4 clicks=cascade discounts=1,1", "--discounts: 2 numbers, and there are 4 positions");
}

static void examination_comes_from_a_file_too(void **state) {
    (void)state;
    const char *folder = temporary_folder();
    char pairs[200];
    float chi[3] = {0.5f, 1, 0.25f};
    assert_int_equal(sa_npy_write(inside(folder, "chi.npy"), SA_FLOAT32, 1, (size_t[]){3}, chi), SA_OK);
    snprintf(pairs, sizeof pairs, "slate=3 clicks=position examination=%s", inside(folder, "chi.npy"));
    sa_clicks *clicks = made(pairs);
    for (size_t k = 0; k < 3; k++) assert_true(clicks->weights[k] == chi[k]);
    sa_clicks_destroy(clicks);
    snprintf(pairs, sizeof pairs, "slate=3 clicks=position examination=%s", inside(folder, "absent.npy"));
    assert_int_not_equal(make(pairs, &clicks), SA_OK);
    assert_non_null(strstr(sa_last_error(), "--examination: "));
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

static void what_nobody_can_solve_is_refused(void **state) {
    (void)state;
    sa_workspace workspace = {0};
    size_t slate[20];
    sa_clicks *clicks = made("slate=4 clicks=cascade reward=sum discounts=1,0.5,1,1");
    draw_round(1, true);
    assert_int_equal(sa_clicks_best(clicks, &drawn, 4, &workspace, slate), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "--reward sum with --discounts"));
    sa_clicks_destroy(clicks);
    double scores[20], stops[20];
    for (size_t i = 0; i < 20; i++) {
        scores[i] = 0.04 * (double)i;
        stops[i] = 1;
    }
    sa_round many = {.arms = 20, .expected = scores, .stop = stops};
    clicks = made("slate=17 clicks=cascade leave=0.1 discounts=0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1");
    assert_int_equal(sa_clicks_best(clicks, &many, 17, &workspace, slate), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "--leave 0.1 with --discounts that do not fall"));
    sa_clicks_destroy(clicks);
    clicks = made("slate=17 clicks=cascade leave=0.1 discounts=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0.5");
    assert_int_equal(sa_clicks_best(clicks, &many, 17, &workspace, slate), SA_OK);
    assert_int_equal(slate[0], 19);
    sa_clicks_destroy(clicks);
    sa_workspace_clear(&workspace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(best_is_best_of_all_slates),
        cmocka_unit_test(rewards_of_users_have_the_expected_mean),
        cmocka_unit_test(positions_are_reached_and_clicked_as_often_as_they_should),
        cmocka_unit_test(the_user_is_the_same_for_every_slate),
        cmocka_unit_test(gaussian_feedback_is_the_weighted_score_and_noise),
        cmocka_unit_test(bad_options_have_a_sentence),
        cmocka_unit_test(examination_comes_from_a_file_too),
        cmocka_unit_test(what_nobody_can_solve_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
