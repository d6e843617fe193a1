/* Rows with each class as arms: contexts and worths by hand, the order of the rows, and all that can be
 * wrong. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "env/environment.h"
#include "temporary.h"
#include "test_env_refused.h"
#include "test_parts.h"

static const char *folder;

/* 10 rows: (3 i, 4 i) of length 5 i, and the classes b, a, 10, b, a, 10, ... */
static int set_up(void **state) {
    (void)state;
    folder = temporary_folder();
    char text[400] = "", line[40];
    for (int i = 1; i <= 10; i++) {
        snprintf(line, sizeof line, "%d,%s,100\n", i, i % 3 == 1 ? "b" : i % 3 ? "a" : "10");
        strcat(text, line);
    }
    write_text(inside(folder, "rows.csv"), text);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    return sa_path_remove(folder) != SA_OK;
}

static sa_options *over(const char *environment, const char *slate) {
    sa_options *options = sa_options_new(NULL);
    assert_int_equal(sa_options_set_any(options, "environment", environment), SA_OK);
    assert_int_equal(sa_options_set_any(options, "label", "2"), SA_OK);
    assert_int_equal(sa_options_set_any(options, "slate", slate), SA_OK);
    assert_int_equal(sa_options_set_any(options, "data", inside(folder, "rows.csv")), SA_OK);
    return options;
}

static sa_options *with(sa_options *options, const char *name, const char *value) {
    assert_int_equal(sa_options_set_any(options, name, value), SA_OK);
    return options;
}

static sa_environment *created(sa_options *options, sa_round *round) {
    sa_environment *environment = NULL;
    if (sa_environment_create(options, &environment) != SA_OK) fail_msg("%s", sa_last_error());
    sa_options_destroy(options);
    assert_int_equal(sa_round_init(round, environment), SA_OK);
    return environment;
}

/* The row, from 1, whose two features have this direction, and one of them at unit length. */
static int direction_of(const double *features) { return (int)(100 * features[0] / features[1] + 0.5); }
static double part_of(int row, size_t feature) { return (feature ? 100 : row) / hypot(row, 100); }

/* The row that arms arm, arm + 1 and arm + 2 are of, from 1, after a look at all that they have. */
static int row_of(const sa_round *round, size_t arm) {
    int row = direction_of(round->contexts + arm * 6);
    size_t class = row % 3 == 1 ? 2 : row % 3 ? 1 : 0; /* "10" < "a" < "b" */
    for (size_t c = 0; c < 3; c++) {
        const double *context = round->contexts + (arm + c) * 6;
        for (size_t i = 0; i < 6; i++)
            assert_true(fabs(context[i] - (i / 2 == c ? part_of(row, i % 2) : 0)) < 1e-15);
        assert_true(round->expected[arm + c] == (c == class) && round->noise[arm + c] == 0);
        assert_true(round->stop[arm + c] == 1);
    }
    return row;
}

/* Three rows a round: every row of three rounds is another one, and the fourth round begins again. */
static void test_blocks(void **state) {
    (void)state;
    sa_round round;
    sa_environment *environment = created(over("classes", "3"), &round);
    assert_true(environment->arms == 9 && environment->dim == 6 && !environment->varies);
    int seen_in_pass[11] = {0}, first[11] = {0};
    for (uint64_t run = 0; run < 3000; run++) {
        assert_int_equal(sa_environment_begin(environment, run, &round), SA_OK);
        for (uint64_t t = 0; t < 6; t++) {
            if (t % 3 == 0) memset(seen_in_pass, 0, sizeof seen_in_pass);
            assert_int_equal(sa_environment_draw(environment, run, t, &round), SA_OK);
            for (size_t r = 0; r < 3; r++) assert_int_equal(seen_in_pass[row_of(&round, 3 * r)]++, 0);
            if (t == 3) first[row_of(&round, 0)]++;
        }
    }
    /* Binomial(3000, 1/10): 6 deviations are 99; a correct program fails with less than 1e-6 */
    for (int row = 1; row <= 10; row++) assert_true(abs(first[row] - 300) < 99);
    double last[9 * 6]; /* the same round again, out of turn */
    memcpy(last, round.contexts, sizeof last);
    assert_int_equal(sa_environment_draw(environment, 2999, 0, &round), SA_OK);
    assert_true(memcmp(last, round.contexts, sizeof last) != 0);
    assert_int_equal(sa_environment_draw(environment, 2999, 5, &round), SA_OK);
    assert_memory_equal(last, round.contexts, sizeof last);
    sa_round_clear(&round);
    sa_environment_destroy(environment);
}

static void test_one_row(void **state) {
    (void)state;
    sa_round round;
    sa_environment *environment = created(with(over("classes", "2"), "arms", "3"), &round);
    assert_true(environment->arms == 3 && environment->dim == 6);
    assert_int_equal(sa_environment_begin(environment, 0, &round), SA_OK);
    assert_int_equal(sa_environment_draw(environment, 0, 0, &round), SA_OK);
    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < 6; i++) {
            double wanted = i / 2 != c ? 0 : part_of(direction_of(round.contexts), i % 2);
            assert_true(fabs(round.contexts[6 * c + i] - wanted) < 1e-15);
        }
    sa_round_clear(&round);
    sa_environment_destroy(environment);
}

static void test_joined(void **state) {
    (void)state;
    sa_round round;
    sa_environment *environment = created(over("classes-joined", "1"), &round);
    assert_true(environment->arms == 3 && environment->dim == 5);
    assert_int_equal(sa_environment_begin(environment, 0, &round), SA_OK);
    assert_int_equal(sa_environment_draw(environment, 0, 0, &round), SA_OK);
    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < 5; i++) {
            double wanted = i < 2 ? part_of(direction_of(round.contexts), i) : i - 2 == c;
            assert_true(fabs(round.contexts[5 * c + i] - wanted / sqrt(2)) < 1e-15);
        }
    assert_true(round.expected[0] + round.expected[1] + round.expected[2] == 1);
    sa_round_clear(&round);
    environment->kind->destroy(environment);
}

static void test_users(void **state) {
    (void)state;
    sa_round round;
    sa_environment *environment = created(with(over("classes", "1"), "user", "informational"), &round);
    assert_int_equal(sa_environment_begin(environment, 0, &round), SA_OK);
    assert_int_equal(sa_environment_draw(environment, 0, 0, &round), SA_OK);
    double sum = 0;
    for (size_t c = 0; c < 3; c++) {
        double score = round.expected[c] + round.noise[c];
        assert_true(round.expected[c] == 0.9 || round.expected[c] == 0.4);
        assert_true(fabs(score) < 1e-15 || fabs(score - 1) < 1e-15);
        sum += round.expected[c];
    }
    assert_true(fabs(sum - 1.7) < 1e-15);
    sa_round_clear(&round);
    sa_environment_destroy(environment);
}

static void test_wrong_options(void **state) {
    (void)state;
    const char *many = inside(folder, "many.csv"), *gaps = inside(folder, "gaps.csv");
    refused(with(over("classes", "1"), "arms", "4"), SA_INVALID,
            "--arms 4 is not a multiple of the 3 classes of --data");
    refused(over("classes", "11"), SA_INVALID, "a round of 11 rows (--slate) is more than the 10 rows of");
    refused(with(over("classes", "1"), "arms", "33"), SA_INVALID,
            "a round of 11 rows (--arms over the classes) is more than the 10 rows of");
    refused(with(over("classes", "1"), "dim", "5"), SA_INVALID, "rows.csv, whose contexts have 6");
    refused(with(over("classes-joined", "1"), "dim", "6"), SA_INVALID, "rows.csv, whose contexts have 5");
    refused(with(over("classes", "1"), "positive", "a"), SA_INVALID,
            "--positive is for --environment csv, and this is --environment classes");
    refused(with(over("classes-joined", "1"), "scores", "a.npy"), SA_INVALID,
            "--scores is for --environment npy");
    refused(with(over("classes", "1"), "data", ""), SA_INVALID, "--environment classes needs --data");
    refused(with(over("classes", "1"), "label", "4"), SA_INVALID, "--label 4 is no column of");
    write_text(gaps, "1,a\n2,?\n3,b\n");
    refused(with(over("classes", "1"), "data", gaps), SA_FORMAT, "rows without a class, \"?\" in column 2");
    write_text(gaps, "1,a\n2,\n3,b\n");
    refused(with(over("classes", "1"), "data", gaps), SA_FORMAT, "rows without a class, \"\" in column 2");
    write_text(gaps, "1,a\n2,a\n");
    refused(with(over("classes", "1"), "data", gaps), SA_INVALID, "gaps.csv has one class only, a");
    char *text = calloc(1, 20000), line[40];
    for (int i = 0; i < 1001; i++) {
        snprintf(line, sizeof line, "%d,%d\n", i, i);
        strcat(text, line);
    }
    write_text(many, text);
    refused(
        with(over("classes", "1"), "data", many), SA_INVALID,
        "many.csv has 1001 classes (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 ...), and at most 1000 are taken");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_blocks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_joined, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_users, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_options, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
