/* Queries and documents of an svmlight file: by hand, drawn, and all that can be wrong with a line. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "env/environment.h"
#include "env/svmlight_file.h"
#include "rng/stream.h"
#include "temporary.h"
#include "test_env_refused.h"
#include "test_parts.h"

/* Two queries; document i has i as its first feature, so that it can be told. */
static const char LETOR[] = "# grades 0 to 2\r\n"
                            "2 qid:7 1:1 3:0.5 # docid = GX1\r\n"
                            "0 qid:7\t1:2 2:-1e1\r\n"
                            "\r\n"
                            "1 qid:12 1:3\r\n"
                            "0.0 qid:12 1:4 3:4#close\r\n"
                            "2 qid:12 1:5 2:1";

static void test_by_hand(void **state) {
    (void)state;
    static const double wanted[5][3] = {{1, 0, 0.5}, {2, -10, 0}, {3, 0, 0}, {4, 0, 4}, {5, 1, 0}};
    static const uint8_t grades[5] = {2, 0, 1, 0, 2};
    sa_svmlight file;
    if (sa_svmlight_parse(LETOR, strlen(LETOR), "f.txt", &file) != SA_OK) fail_msg("%s", sa_last_error());
    assert_true(file.queries == 2 && file.documents == 5 && file.dim == 3 && file.features == 9);
    assert_true(file.most == 3 && file.least == 2 && file.largest_grade == 2);
    assert_true(file.query[0] == 0 && file.query[1] == 2 && file.query[2] == 5);
    assert_memory_equal(file.grade, grades, 5);
    for (size_t i = 0; i < 5; i++) {
        double features[3];
        sa_svmlight_row(&file, i, features);
        assert_memory_equal(features, wanted[i], sizeof features);
    }
    sa_svmlight_clear(&file);
}

static void refuse_text(const char *text, const char *sentence) {
    sa_svmlight file;
    assert_int_equal(sa_svmlight_parse(text, strlen(text), "f.txt", &file), SA_FORMAT);
    assert_null(file.value);
    if (strcmp(sa_last_error(), sentence)) fail_msg("\"%s\" is not \"%s\"", sa_last_error(), sentence);
}

static void test_wrong_lines(void **state) {
    (void)state;
    refuse_text("", "f.txt has no documents");
    refuse_text("# only words\n", "f.txt has no documents");
    refuse_text("1 qid:1\n", "f.txt has no features");
    refuse_text("0 1:2 2:3\n", "f.txt:1: there is no qid behind the grade; a round is a query with its "
                               "documents, so each line needs one, as "
                               "in 2 qid:7 1:0.5");
    refuse_text("0 qid:1 1:2\n1\n", "f.txt:2: there is no qid behind the grade; a round is a query with its "
                                    "documents, so each line needs one, as "
                                    "in 2 qid:7 1:0.5");
    refuse_text("-1 qid:1 1:2\n", "f.txt:1: grade -1 is not a whole number from 0 to 4");
    refuse_text("5 qid:1 1:2\n", "f.txt:1: grade 5 is not a whole number from 0 to 4");
    refuse_text("1.5 qid:1 1:2\n", "f.txt:1: grade 1.5 is not a whole number from 0 to 4");
    refuse_text("nan qid:1 1:2\n", "f.txt:1: grade nan is not a whole number from 0 to 4");
    refuse_text("1 qid:a 1:2\n", "f.txt:1: qid:a is not a whole number");
    refuse_text("1 qid:99999999999999999999 1:2\n",
                "f.txt:1: qid:99999999999999999999 is not a whole number");
    refuse_text("1 qid:1 0:2\n", "f.txt:1: feature 0:2 has an index below 1, where they begin");
    refuse_text("1 qid:1 -1:2\n", "f.txt:1: feature -1:2 has an index below 1, where they begin");
    refuse_text("1 qid:1 10000001:2\n",
                "f.txt:1: feature 10000001:2 has an index above 10000000, the largest");
    refuse_text("1 qid:1 1:2\n1 qid:1 2:1 2:2\n",
                "f.txt:2: feature 2:2 does not have a larger index than the one before it");
    refuse_text("1 qid:1 3:2 2:2\n",
                "f.txt:1: feature 2:2 does not have a larger index than the one before it");
    refuse_text("1 qid:1 3:nan\n", "f.txt:1: feature 3:nan is not finite");
    refuse_text("1 qid:1 3:-Inf\n", "f.txt:1: feature 3:-Inf is not finite");
    refuse_text("1 qid:1 3:1e999\n", "f.txt:1: feature 3:1e999 is not finite");
    refuse_text("1 qid:1 3:1.2.3\n", "f.txt:1: feature 3:1.2.3 does not end in a number");
    refuse_text("1 qid:1 3:\n", "f.txt:1: feature 3: does not end in a number");
    refuse_text("1 qid:1 a:1\n", "f.txt:1: feature a:1 does not begin with a whole number");
    refuse_text("1 qid:1 3\n", "f.txt:1: 3 is not a feature, such as 3:0.5");
    refuse_text("1 qid:1 qid:1\n", "f.txt:1: feature qid:1 does not begin with a whole number");
    refuse_text("1 qid:1 1:1\n1 qid:2 1:1\n1 qid:3 1:1\n1 qid:1 1:2\n",
                "f.txt:4: qid:1 was there before, from line 1 on; documents of a query stand together");
    sa_svmlight file;
    assert_int_equal(sa_svmlight_parse("1 qid:1 1:1\0", 12, "f.txt", &file), SA_FORMAT);
}

/* ---- the environment ---- */

static const char *folder;

static int set_up(void **state) {
    (void)state;
    folder = temporary_folder();
    write_text(inside(folder, "letor.txt"), LETOR);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    return sa_path_remove(folder) != SA_OK;
}

static sa_options *over(const char *name, const char *value) {
    sa_options *options = sa_options_new(NULL);
    assert_int_equal(sa_options_set_any(options, "environment", "svmlight"), SA_OK);
    assert_int_equal(sa_options_set_any(options, "data", inside(folder, "letor.txt")), SA_OK);
    if (name) assert_int_equal(sa_options_set_any(options, name, value), SA_OK);
    return options;
}

static sa_environment *created(sa_options *options) {
    sa_environment *environment = NULL;
    if (sa_environment_create(options, &environment) != SA_OK) fail_msg("%s", sa_last_error());
    sa_options_destroy(options);
    return environment;
}

/* A document of LETOR, from 1, by its direction: contexts are of unit length. */
static int document_of(const double *x) {
    assert_true(fabs(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] - 1) < 1e-14);
    if (x[1] != 0) return x[1] < 0 ? 2 : 5;
    return x[2] == 0 ? 3 : fabs(x[2] / x[0] - 1) < 1e-9 ? 4 : 1;
}

static void test_draws(void **state) {
    (void)state;
    static const double click[3] = {0.05, 0.5, 0.95},
                        stop[3] = {0.2, 0.5, 0.9}; /* three grades, navigational */
    static const int grades[6] = {-1, 2, 0, 1, 0, 2};
    sa_environment *environment = created(over("user", "navigational"));
    assert_true(environment->arms == 3 && environment->dim == 3 && environment->varies &&
                environment->noise == 0);
    sa_round round;
    assert_int_equal(sa_round_init(&round, environment), SA_OK);
    int second = 0, first_arm[6] = {0};
    double clicks[6] = {0}, looks[6] = {0};
    for (uint64_t t = 0; t < 3000; t++) {
        sa_environment_draw(environment, 1, t, &round);
        sa_stream stream =
            sa_stream_at(1, SA_PURPOSE_CONTEXTS, 1, t); /* the address of the query is part of every result */
        assert_true(round.arms == (sa_draw_below(&stream, 0, 2) ? 3 : 2));
        double sum = 0;
        for (size_t i = 0; i < round.arms; i++) {
            int document = document_of(round.contexts + 3 * i);
            sum += document;
            assert_true(round.expected[i] == click[grades[document]] &&
                        round.stop[i] == stop[grades[document]]);
            double score = round.expected[i] + round.noise[i];
            assert_true(score == 0 || score == 1);
            clicks[document] += score;
            looks[document]++;
        }
        assert_true(round.arms == 2 ? sum == 3 : round.arms == 3 && sum == 12);
        second += round.arms == 3;
        first_arm[document_of(round.contexts)]++;
    }
    /* Binomial(3000, 1/2), and (3000, 1/4), (3000, 1/6) for who is first: within 6 deviations */
    assert_true(abs(second - 1500) < 165);
    for (int i = 1; i <= 5; i++) {
        assert_true(abs(first_arm[i] - (i < 3 ? 750 : 500)) < 143);
        assert_true(fabs(clicks[i] / looks[i] - click[grades[i]]) < 0.08);
    }
    sa_round_clear(&round);
    sa_environment_destroy(environment);
}

/* Click and stop probabilities by the largest grade, as the literature has them. */
static void test_users(void **state) {
    (void)state;
    static const char *const users[] = {"perfect", "navigational", "informational", "single"};
    static const double five[4][2][5] = {{{0, 0.2, 0.4, 0.8, 1}, {0}},
                                         {{0.05, 0.3, 0.5, 0.7, 0.95}, {0.2, 0.3, 0.5, 0.7, 0.9}},
                                         {{0.4, 0.6, 0.7, 0.8, 0.9}, {0.1, 0.2, 0.3, 0.4, 0.5}},
                                         {{0, 0.2, 0.4, 0.8, 1}, {1, 1, 1, 1, 1}}};
    static const double three[4][2][3] = {{{0, 0.5, 1}, {0}},
                                          {{0.05, 0.5, 0.95}, {0.2, 0.5, 0.9}},
                                          {{0.4, 0.7, 0.9}, {0.1, 0.3, 0.5}},
                                          {{0, 0.5, 1}, {1, 1, 1}}};
    static const double two[4][2][2] = {
        {{0, 1}, {0}}, {{0.05, 0.95}, {0.2, 0.9}}, {{0.4, 0.9}, {0.1, 0.5}}, {{0, 1}, {1, 1}}};
    for (int user = 0; user < 4; user++)
        for (int largest = 1; largest <= 4; largest++) {
            char text[200] = "", line[40];
            for (int grade = 0; grade <= largest; grade++) {
                snprintf(line, sizeof line, "%d qid:1 1:%d 2:1\n", grade, grade);
                strcat(text, line);
            }
            write_text(inside(folder, "grades.txt"), text);
            sa_options *options = over("data", inside(folder, "grades.txt"));
            assert_int_equal(sa_options_set_any(options, "user", users[user]), SA_OK);
            sa_environment *environment = created(options);
            sa_round round;
            assert_int_equal(sa_round_init(&round, environment), SA_OK);
            assert_false(environment->varies);
            sa_environment_draw(environment, 0, 0, &round);
            for (size_t i = 0; i < round.arms; i++) {
                int grade = (int)(round.contexts[2 * i] / round.contexts[2 * i + 1] + 0.5);
                const double *click = largest > 2    ? five[user][0]
                                      : largest == 2 ? three[user][0]
                                                     : two[user][0];
                const double *stop = largest > 2    ? five[user][1]
                                     : largest == 2 ? three[user][1]
                                                    : two[user][1];
                assert_true(round.expected[i] == click[grade] && round.stop[i] == stop[grade]);
            }
            sa_round_clear(&round);
            sa_environment_destroy(environment);
        }
}

static void test_wrong_options(void **state) {
    (void)state;
    refused(over("data", ""), SA_INVALID, "--environment svmlight needs --data");
    refused(over("data", inside(folder, "none.txt")), SA_FILE, "--data: ");
    refused(over("arms", "20"), SA_INVALID, "letor.txt, whose largest query has 3");
    refused(over("dim", "2"), SA_INVALID, "letor.txt, whose largest index is 3");
    refused(over("positive", "4"), SA_INVALID,
            "--positive is for --environment csv, and this is --environment svmlight");
    refused(over("header", "true"), SA_INVALID, "--header is for --environment csv");
    sa_environment_destroy(created(over("arms", "3")));
    sa_environment *environment = created(over("noise", "0.5"));
    assert_true(environment->noise == 0.5);
    sa_environment_destroy(environment);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_wrong_lines),
        cmocka_unit_test_setup_teardown(test_draws, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_users, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_options, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
