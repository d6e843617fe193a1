/* Formulas: the paper's scores as formulas are the paper's, bit for bit; others are what C says of the same
 * draws; and what is wrong is said with its place. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "env/environment.h"
#include "env/formula_parse.h"
#include "rng/stream.h"
#include "test_parts.h"

enum { ARMS = 7, DIM = 5, ROUNDS = 3 };

static sa_options *options_with(const char *environment, const char *score) {
    sa_options *options = sa_options_new(NULL);
    const char *const set[][2] = {
        {"environment", environment}, {"arms", "7"}, {"dim", "5"}, {"rounds", "3"}, {"seed", "9"}};
    for (size_t i = 0; i < 5; i++) assert_int_equal(sa_options_set_any(options, set[i][0], set[i][1]), SA_OK);
    if (score) assert_int_equal(sa_options_set_any(options, "score", score), SA_OK);
    return options;
}

static sa_environment *environment_of(const char *name, const char *score) {
    sa_options *options = options_with(name, score);
    sa_environment *environment = NULL;
    if (sa_environment_create(options, &environment) != SA_OK) fail_msg("%s: %s", name, sa_last_error());
    sa_options_destroy(options);
    return environment;
}

static void draw(const char *name, const char *score, uint64_t run, uint64_t round, sa_round *out) {
    sa_environment *environment = environment_of(name, score);
    assert_int_equal(sa_round_init(out, environment), SA_OK);
    assert_int_equal(sa_environment_draw(environment, run, round, out), SA_OK);
    sa_environment_destroy(environment);
}

static void test_the_papers(void **state) {
    (void)state;
    static const char *const cases[][2] = {{"h1", "x.a"},
                                           {"h2", "(x.a)^2"},
                                           {"h2", "x.a * x.a"},
                                           {"h3", "cos(pi * x.a)"},
                                           {"h3", " cos ( 3.141592653589793 * ( x . a ) ) "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t round = 0; round < ROUNDS; round++) {
            sa_round theirs, ours;
            draw(cases[i][0], NULL, 4, round, &theirs);
            draw("formula", cases[i][1], 4, round, &ours);
            assert_memory_equal(theirs.contexts, ours.contexts, ARMS * DIM * sizeof(double));
            assert_memory_equal(theirs.expected, ours.expected, ARMS * sizeof(double));
            assert_memory_equal(theirs.noise, ours.noise, ARMS * sizeof(double));
            sa_round_clear(&theirs);
            sa_round_clear(&ours);
        }
}

/* The same in C: x, the products with a, b, c, and t. */
static double mixed(const double *x, const double *p, double t) {
    (void)x, (void)t;
    return p[0] * p[1] + 0.1 * fabs(p[0]);
}
static double features(const double *x, const double *p, double t) {
    (void)p, (void)t;
    return x[0] - x[4] / 2 - 3;
}
static double nested(const double *x, const double *p, double t) {
    (void)x;
    double inner = exp(-p[2]) > 1.5 ? exp(-p[2]) : 1.5;
    return -tanh(inner) + sin(t) * (p[1] < 0 ? p[1] : 0);
}
static double powers(const double *x, const double *p, double t) {
    (void)t;
    return -(x[1] * x[1]) + pow(2, 9) - pow(fabs(p[0]), 0.5) + 1 / (x[2] * x[2] * x[2]);
}
static double rest(const double *x, const double *p, double t) {
    (void)t;
    return floor(10 * x[0]) + ((p[0] > 0) - (p[0] < 0)) + (x[3] > 0 ? x[3] : 0) + 1 / (1 + exp(-p[1])) +
           log(2) + sqrt(3) + tan(0.5) - 2e-3;
}

static void test_others(void **state) {
    (void)state;
    static const struct {
        const char *score;
        double (*in_c)(const double *x, const double *p, double t);
    } cases[] = {
        {"(x.a)*(x.b) + 0.1*abs(x.a)", mixed},
        {"x[0] - x[4] / 2 - 3", features},
        {"-tanh(max(exp(-x.c), 1.5)) + sin(t)*min(x.b, 0)", nested},
        {"-x[1]^2 + 2^3^2 - pow(abs(x.a), .5) + x[2]^-3", powers},
        {"floor(10*x[0]) + sign(x.a) + relu(x[3]) + sigmoid(x.b) + log(2) + sqrt(3) + tan(0.5) - 2e-3", rest},
    };
    double hidden[3 * DIM];
    sa_stream stream = sa_stream_at(9, SA_PURPOSE_PARAMETER, 0, 0);
    sa_draw_sphere(&stream, 0, 3, DIM, hidden);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t round = 0; round < ROUNDS; round++) {
            sa_round drawn;
            draw("formula", cases[i].score, 2, round, &drawn);
            for (size_t arm = 0; arm < ARMS; arm++) {
                const double *x = drawn.contexts + arm * DIM;
                double p[3] = {0};
                for (size_t k = 0; k < 3 * DIM; k++) p[k / DIM] += x[k % DIM] * hidden[k];
                double wanted = cases[i].in_c(x, p, (double)round + 1);
                if (!(fabs(drawn.expected[arm] - wanted) <= 1e-12 * fmax(1, fabs(wanted))))
                    fail_msg("%s: %.17g and not %.17g", cases[i].score, drawn.expected[arm], wanted);
            }
            sa_round_clear(&drawn);
        }
}

static void test_wrong(void **state) {
    (void)state;
    char deep[400], longest[5000] = "1";
    memset(deep, '(', 200);
    strcpy(deep + 200, "1");
    for (int i = 0; i < 600; i++) strcat(longest, "+1");
    const char *const cases[][2] = {
        {"", "needs --score"},
        {"x", "at character 1, x: x is a vector"},
        {"x.d", "at character 3, d: the hidden vectors are a, b and c"},
        {"x.ab", "at character 3, ab: the hidden vectors"},
        {"1 + x[5]", "has x[5], and with --dim 5 there are x[0] to x[4]"},
        {"x[a]", "at character 3, a]: x[ ] needs a whole number"},
        {"x[1", "at character 4, the end: x[ ] needs"},
        {"(x.a", "at character 5, the end: a ) is missing"},
        {"x.a)", "at character 4, ): the formula should have ended"},
        {"2 x.a", "at character 3, x.a: the formula should have ended"},
        {"x.a +", "at character 6, the end: a number"},
        {"*2", "at character 1, *2: a number"},
        {"max(1)", "at character 6, ): this function takes two"},
        {"cos 3", "at character 1, cos 3: a function needs"},
        {"foo(1)", "at character 1, foo(1): there are x.a"},
        {"y.a", "there are x.a"},
        {"1e999", "this is not a number"},
        {"1.2.3", "this is not a number"},
        {"1e", "this is not a number"},
        {"log(-1)", "gives arm 0 of round 1 a score of nan"},
        {"1/0", "a score of infinity"},
        {deep, "nested more than 64 deep"},
        {longest, "more than 1000 parts"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sa_options *options = options_with("formula", cases[i][0]);
        sa_environment *environment = NULL;
        assert_int_equal(sa_environment_create(options, &environment), SA_INVALID);
        assert_null(environment);
        if (!strstr(sa_last_error(), cases[i][1])) fail_msg("%.40s: %s", cases[i][0], sa_last_error());
        sa_options_destroy(options);
    }
    sa_options *options = options_with("h1", "x.a");
    sa_environment *environment = NULL;
    assert_int_equal(sa_environment_create(options, &environment), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "--score is for --environment formula"));
    sa_options_destroy(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_papers), cmocka_unit_test(test_others),
                                       cmocka_unit_test(test_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
