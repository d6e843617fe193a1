/* Rows of a csv file as arms: the features of each kind of column by hand, what is drawn, and all that can be
 * wrong. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "env/csv_pool.h"
#include "env/environment.h"
#include "rng/stream.h"
#include "temporary.h"
#include "test_env_refused.h"
#include "test_parts.h"

static const sa_csv_format PLAIN = {.separator = ',', .label = "last"};

static sa_csv_pool parsed(const char *text, sa_csv_format format) {
    sa_csv_pool pool;
    if (sa_csv_pool_parse(text, strlen(text), "f.csv", &format, &pool) != SA_OK)
        fail_msg("%s", sa_last_error());
    return pool;
}

static void expect_row(const sa_csv_pool *pool, size_t row, const double *wanted) {
    double features[20];
    sa_csv_pool_row(pool, row, features);
    for (size_t i = 0; i < pool->dim; i++)
        if (features[i] != wanted[i])
            fail_msg("row %zu has %g as feature %zu, not %g", row, features[i], i, wanted[i]);
}

static bool has_label(const sa_csv_pool *pool, size_t row, const char *label) {
    return !strcmp(pool->labels.text[pool->label[row]], label);
}

/* ---- the table ---- */

static void test_kinds_of_columns(void **state) {
    (void)state;
    /* a number; a number with gaps; values, out of order, one of them "?" */
    sa_csv_pool pool = parsed("1.5, 7,red,yes\n-2,?,blue,no\n1e2,,?,yes\n0,3,red,no", PLAIN);
    assert_int_equal(pool.rows, 4);
    assert_int_equal(pool.dim, 1 + 2 + 3);
    /*                                     number  gap?  ?  blue red */
    expect_row(&pool, 0, (const double[]){1.5, 7, 0, 0, 0, 1});
    expect_row(&pool, 1, (const double[]){-2, 0, 1, 0, 1, 0});
    expect_row(&pool, 2, (const double[]){100, 0, 1, 1, 0, 0});
    expect_row(&pool, 3, (const double[]){0, 3, 0, 0, 0, 1});
    for (size_t row = 0; row < 4; row++) assert_true(has_label(&pool, row, row % 2 ? "no" : "yes"));
    sa_csv_pool_clear(&pool);
}

static void test_columns_of_one_value(void **state) {
    (void)state;
    sa_csv_pool pool = parsed("?,a,1,yes\n?,a,1,no\n", PLAIN); /* nothing but gaps is a value, too */
    assert_int_equal(pool.dim, 3);
    expect_row(&pool, 1, (const double[]){1, 1, 1});
    sa_csv_pool_clear(&pool);
    pool = parsed("1,yes\nnan,no\nx,no\n", PLAIN); /* among values, nan is one */
    assert_int_equal(pool.dim, 3);
    expect_row(&pool, 0, (const double[]){1, 0, 0});
    expect_row(&pool, 1, (const double[]){0, 1, 0});
    sa_csv_pool_clear(&pool);
}

static void test_many_values(void **state) {
    (void)state;
    char *text = calloc(1, 40000), line[40];
    for (int i = 0; i < 900; i++) {
        snprintf(line, sizeof line, "v%d,%d,%s\n", (i * 7) % 450, i, i % 2 ? "yes" : "no");
        strcat(text, line);
    }
    sa_csv_pool pool = parsed(text, PLAIN);
    assert_int_equal(pool.dim, 451);
    double *features = calloc(pool.dim, sizeof *features);
    for (size_t row = 0; row < 900; row++) {
        double sum = 0, other[451];
        sa_csv_pool_row(&pool, row, features);
        sa_csv_pool_row(&pool, (row + 450) % 900, other); /* has the same value */
        for (size_t i = 0; i < 450; i++) sum += features[i];
        assert_true(sum == 1 && !memcmp(features, other, 450 * sizeof *other) &&
                    features[450] == (double)row);
    }
    sa_csv_pool_clear(&pool);
    free(features);
    free(text);
}

static void test_labels(void **state) {
    (void)state;
    const char *text = "kind,x,y,last\nyes,1,2,3\nno,4,5,6\n";
    sa_csv_format format = {.separator = ',', .header = true};
    for (int way = 0; way < 3; way++) {
        format.label = way == 0 ? "kind" : way == 1 ? "1" : "-4";
        sa_csv_pool pool = parsed(text, format);
        expect_row(&pool, 1, (const double[]){4, 5, 6});
        assert_true(has_label(&pool, 0, "yes") && has_label(&pool, 1, "no") && pool.label_column == 0);
        sa_csv_pool_clear(&pool);
    }
    for (int way = 0; way < 3; way++) {
        format.label = way == 0 ? "y" : way == 1 ? "3" : "-2";
        sa_csv_pool pool = parsed(text, format);
        expect_row(&pool, 0, (const double[]){0, 1, 1, 3});
        assert_true(has_label(&pool, 0, "2") && has_label(&pool, 1, "5") && pool.label_column == 2);
        sa_csv_pool_clear(&pool);
    }
    format = (sa_csv_format){.separator = '\t', .label = "last"};
    sa_csv_pool pool = parsed("# tabs\n\n1\t\"two words\"\r\n2\tone\r\n", format);
    assert_true(pool.rows == 2 && pool.dim == 1 && has_label(&pool, 0, "two words") &&
                has_label(&pool, 1, "one"));
    sa_csv_pool_clear(&pool);
}

static void refuse_text(const char *text, sa_csv_format format, const char *sentence) {
    sa_csv_pool pool;
    sa_status status = sa_csv_pool_parse(text, strlen(text), "f.csv", &format, &pool);
    assert_true(status == SA_FORMAT || status == SA_INVALID);
    assert_null(pool.cells);
    if (strcmp(sa_last_error(), sentence)) fail_msg("\"%s\" is not \"%s\"", sa_last_error(), sentence);
}

static void test_wrong_files(void **state) {
    (void)state;
    sa_csv_format named = PLAIN;
    named.header = true;
    refuse_text("", PLAIN, "f.csv has no rows");
    refuse_text("# a\n\n", PLAIN, "f.csv has no rows");
    refuse_text("a,b\n", named, "f.csv has no rows below its header");
    refuse_text("a;b\n1;yes\n", named,
                "f.csv has one column only, and a label and a feature are two: is --separator , right?");
    refuse_text("1,2,yes\n\n1,yes\n", PLAIN, "f.csv:3: 2 fields, where the first row has 3");
    refuse_text("a,b,c\n1,2,3,yes\n", named, "f.csv:2: 4 fields, where the first row has 3");
    refuse_text("1,2,yes\n3,NaN,no\n", PLAIN,
                "f.csv:2: column 2 has NaN among its numbers; a missing one is written as ?");
    refuse_text("1,2,yes\n1e999,3,no\n", PLAIN,
                "f.csv:2: column 1 has 1e999 among its numbers; a missing one is written as ?");
    refuse_text(
        "x,kind\n1,yes\n2,no\n", PLAIN,
        "f.csv:1: column 1 has x, and numbers in all other rows: a first row of names needs --header");
    refuse_text("1,\"yes\n2,no\n", PLAIN, "f.csv:1: column 2 opens a quote that nothing closes");
}

static void test_wrong_labels(void **state) {
    (void)state;
    const char *text = "x,y,kind\n1,2,yes\n3,4,no\n";
    sa_csv_format format = PLAIN;
    format.header = true;
    format.label = "class";
    refuse_text(text, format,
                "--label class is no column of f.csv: a name in its first row, a number from 1 to 3, from -1 "
                "for the last to "
                "-3, or last is one");
    format.header = false;
    format.label = "4";
    refuse_text(text, format,
                "--label 4 is no column of f.csv: without --header a number from 1 to 3, from -1 for the "
                "last to -3, or last "
                "is one");
    static const char *const others[] = {"0", "-4", "", "99999999999999999999", "kind"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        sa_csv_pool pool;
        format.label = others[i];
        assert_int_equal(sa_csv_pool_parse(text, strlen(text), "f.csv", &format, &pool), SA_INVALID);
    }
    format = PLAIN;
    format.header = true;
    format.label = "x";
    refuse_text("x,x,y\n1,2,3\n", format, "--label x is the name of 2 columns of f.csv: give its number");
}

static void test_too_many_values(void **state) {
    (void)state;
    char *text = calloc(1, 60000), line[40];
    strcat(text, "id,n,kind\n");
    for (int i = 0; i < 1001; i++) {
        snprintf(line, sizeof line, i == 5 ? "%d.%d.0,1,yes\n" : "%d.%d,1,yes\n", i, i);
        strcat(text, line);
    }
    sa_csv_format format = PLAIN;
    format.header = true;
    refuse_text(text, format,
                "f.csv:7: column 1 has 5.5.0, which is no number, and more than 1000 different values, too "
                "many for an input "
                "each");
    free(text);
}

/* ---- the environment ---- */

static const char *folder;

static int set_up(void **state) {
    (void)state;
    folder = temporary_folder();
    char text[4000] = "", line[40];
    for (int i = 0; i < 50; i++) {
        snprintf(line, sizeof line, "%d,%d,%s\n", i, i ? 100 : 0, i % 3 ? "no" : "yes");
        strcat(text, line);
    }
    write_text(inside(folder, "rows.csv"), text);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    return sa_path_remove(folder) != SA_OK;
}

/* The row of a context, which has its direction. */
static int row_of(const double *context) { return (int)(100 * context[0] / fmax(context[1], 1e-9) + 0.5); }

static sa_options *over(const char *name, const char *value) {
    static const char *const pairs[][2] = {
        {"environment", "csv"}, {"positive", "yes"}, {"arms", "12"}, {"rounds", "40"}};
    sa_options *options = sa_options_new(NULL);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(sa_options_set_any(options, pairs[i][0], pairs[i][1]), SA_OK);
    assert_int_equal(sa_options_set_any(options, "data", inside(folder, "rows.csv")), SA_OK);
    if (name) assert_int_equal(sa_options_set_any(options, name, value), SA_OK);
    return options;
}

static sa_environment *created(sa_options *options) {
    sa_environment *environment = NULL;
    if (sa_environment_create(options, &environment) != SA_OK) fail_msg("%s", sa_last_error());
    sa_options_destroy(options);
    return environment;
}

static void test_draws(void **state) {
    (void)state;
    sa_environment *environment = created(over(NULL, NULL));
    assert_true(environment->rounds == 40 && environment->arms == 12 && environment->dim == 2 &&
                !environment->varies);
    assert_true(environment->noise == 0);
    sa_round round, again;
    assert_int_equal(sa_round_init(&round, environment), SA_OK);
    assert_int_equal(sa_round_init(&again, environment), SA_OK);
    int drawn[50] = {0}, first[50] = {0}, rounds = 2000;
    for (int t = 0; t < rounds; t++) {
        bool seen[50] = {false};
        sa_environment_draw(environment, 3, (uint64_t)t, &round);
        for (size_t i = 0; i < 12; i++) {
            int row = row_of(round.contexts + 2 * i);
            assert_true(row >= 0 && row < 50 && !seen[row]);
            assert_true(round.expected[i] == (row % 3 == 0) && round.noise[i] == 0 && round.stop[i] == 1);
            seen[row] = true;
            drawn[row]++;
        }
        first[row_of(round.contexts)]++;
        bool wanted[50] = {false}; /* Floyd's sample, whose addresses are part of every result */
        sa_stream stream = sa_stream_at(1, SA_PURPOSE_CONTEXTS, 3, (uint64_t)t);
        for (size_t i = 0; i < 12; i++) {
            uint64_t row = sa_draw_below(&stream, i, 39 + i);
            wanted[wanted[row] ? 38 + i : row] = true;
        }
        assert_memory_equal(seen, wanted, sizeof seen);
    }
    /* Binomial(2000, 12/50) and (2000, 1/50): 6 deviations are 115 and 38; a correct program fails with less
     * than 1e-6 */
    for (int row = 0; row < 50; row++) assert_true(abs(drawn[row] - 480) < 115 && abs(first[row] - 40) < 38);
    sa_environment_draw(environment, 3, 7, &round);
    sa_environment_draw(environment, 4, 7, &again);
    assert_true(memcmp(round.contexts, again.contexts, 24 * sizeof(double)) != 0);
    sa_environment_draw(environment, 3, 7, &again);
    assert_true(memcmp(round.contexts, again.contexts, 24 * sizeof(double)) == 0);
    sa_round_clear(&round);
    sa_round_clear(&again);
    sa_environment_destroy(environment);
}

/* A label is the wanted one when it is the same number in other digits. */
static void test_labels_that_are_numbers(void **state) {
    (void)state;
    const char *path = inside(folder, "numbers.csv");
    write_text(path, "1,9,5\n2,9,5.0\n3,9,50\n4,9,5x\n");
    sa_options *options = over("data", path);
    assert_int_equal(sa_options_set_any(options, "positive", "5.00"), SA_OK);
    assert_int_equal(sa_options_set_any(options, "arms", "4"), SA_OK);
    sa_environment *environment = created(options);
    sa_round round;
    assert_int_equal(sa_round_init(&round, environment), SA_OK);
    sa_environment_draw(environment, 0, 0, &round);
    for (size_t i = 0; i < 4; i++)
        assert_true(round.expected[i] == (9 * round.contexts[2 * i] / round.contexts[2 * i + 1] < 2.5));
    sa_round_clear(&round);
    sa_environment_destroy(environment);
}

static void test_unit_rows(void **state) {
    (void)state;
    sa_environment *environment = created(over("arms", "50")); /* all rows, each once */
    sa_round round;
    assert_int_equal(sa_round_init(&round, environment), SA_OK);
    sa_environment_draw(environment, 0, 0, &round);
    int zeros = 0, positives = 0;
    for (size_t i = 0; i < 50; i++) {
        const double *row = round.contexts + 2 * i;
        bool zero = row[0] == 0 && row[1] == 0; /* has no length, and stays */
        zeros += zero;
        positives += round.expected[i] == 1;
        double length = hypot(row_of(row), 100);
        assert_true(zero ||
                    (fabs(row[0] - row_of(row) / length) < 1e-15 && fabs(row[1] - 100 / length) < 1e-15));
    }
    assert_true(zeros == 1 && positives == 17);
    sa_round_clear(&round);
    sa_environment_destroy(environment);
}

/* Navigational users. */
static void test_users(void **state) {
    (void)state;
    sa_options *options = over("user", "navigational");
    sa_environment *environment = created(options);
    sa_round round;
    assert_int_equal(sa_round_init(&round, environment), SA_OK);
    sa_environment_draw(environment, 0, 0, &round);
    for (size_t i = 0; i < 12; i++) {
        bool wanted = row_of(round.contexts + 2 * i) % 3 == 0;
        assert_true(round.expected[i] == (wanted ? 0.95 : 0.05));
        assert_true(round.stop[i] == (wanted ? 0.9 : 0.2));
    }
    sa_round_clear(&round);
    sa_environment_destroy(environment);
}

static void test_wrong_options(void **state) {
    (void)state;
    refused(over("arms", "51"), SA_INVALID, "--arms 51 is more than the 50 rows of --data");
    refused(over("dim", "3"), SA_INVALID, "rows.csv, whose rows have 2");
    refused(over("data", ""), SA_INVALID, "--environment csv needs --data");
    refused(over("data", inside(folder, "none.csv")), SA_FILE, "--data: ");
    refused(over("data", folder), SA_FILE, "--data: ");
    write_text(inside(folder, "huge.csv"), "1,yes\n");
    assert_int_equal(truncate(inside(folder, "huge.csv"), (off_t)1 << 42),
                     0); /* a hole, of more than any machine's memory */
    refused(over("data", inside(folder, "huge.csv")), SA_OUT_OF_MEMORY,
            "huge.csv: no memory for 4398046511106 elements");
    refused(over("separator", ";;"), SA_INVALID, "--separator ;; is neither");
    refused(over("separator", ""), SA_INVALID, "--separator \"\" is neither");
    refused(over("separator", "\""), SA_INVALID, "--separator \" is neither");
    refused(over("positive", "maybe"), SA_INVALID, "--positive maybe is the label of no row: column 3 of ");
    refused(over("positive", "maybe"), SA_INVALID, "rows.csv has yes, no");
    refused(over("positive", ""), SA_INVALID,
            "--environment csv needs --positive, the label that is wanted: column 3 of ");
    refused(over("environment", "h1"), SA_INVALID,
            "--data is for --environment csv, classes, classes-joined and svmlight, and this is "
            "--environment h1");
    refused(over("contexts", "x.npy"), SA_INVALID, "--contexts is for --environment npy");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_of_columns),
        cmocka_unit_test(test_columns_of_one_value),
        cmocka_unit_test(test_many_values),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_wrong_files),
        cmocka_unit_test(test_wrong_labels),
        cmocka_unit_test(test_too_many_values),
        cmocka_unit_test_setup_teardown(test_draws, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_labels_that_are_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unit_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_users, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_options, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
