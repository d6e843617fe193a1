/* Options by name: what is taken, and the sentence for what is not. */
#include "test_file_scratch.h"

#include <float.h>
#include <locale.h>
#include <math.h>

#include "base/text.h"
#include "options/options.h"

static sa_options *options;

static int setup(void **state) {
    (void)state;
    options = sa_options_new("tuned");
    return options ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    sa_options_destroy(options);
    return 0;
}

static void value_is(const char *name, const char *value) {
    char text[128];
    assert_ok(sa_options_get(options, name, text, sizeof text));
    assert_string_equal(text, value);
}

/* Refused with this sentence, and nothing changes. */
static void refused(const char *name, const char *value, const char *sentence) {
    char before[128] = "", after[128] = "";
    bool known = sa_option_find(name, &(sa_option_info){0});
    if (known) assert_ok(sa_options_get(options, name, before, sizeof before));
    assert_says(sa_options_set(options, name, value), SA_INVALID, sentence);
    if (known) assert_ok(sa_options_get(options, name, after, sizeof after));
    assert_string_equal(before, after);
    assert_false(sa_options_given(options, name));
}

static void integers_are_strict(void **state) {
    (void)state;
    refused("depth", "1", "--depth 1 is less than 2");
    refused("depth", "1001", "--depth 1001 is more than 1000");
    refused("depth", "2.5", "--depth 2.5 is not a whole number");
    refused("depth", "1e1", "--depth 1e1 is not a whole number");
    refused("depth", "", "--depth \"\" is not a whole number");
    refused("depth", " 3", "--depth  3 is not a whole number");
    refused("depth", "3 ", "--depth 3  is not a whole number");
    refused("depth", "0x10", "--depth 0x10 is not a whole number");
    refused("depth", "--3", "--depth --3 is not a whole number");
    refused("depth", "three", "--depth three is not a whole number");
    refused("depth", "99999999999999999999", "--depth 99999999999999999999 is more than 1000");
    refused("depth", "-99999999999999999999", "--depth -99999999999999999999 is less than 2");
    refused("seed", "9223372036854775808", "--seed 9223372036854775808 is more than 9223372036854775807");
    refused("seed", "-1", "--seed -1 is less than 0");
    refused("slate", "0", "--slate 0 is less than 1");
    assert_ok(sa_options_set(options, "depth", "3"));
    value_is("depth", "3");
    assert_ok(sa_options_set(options, "seed", "9223372036854775807"));
    value_is("seed", "9223372036854775807");
    assert_true(options->seed == INT64_MAX);
}

static void numbers_are_strict(void **state) {
    (void)state;
    refused("regularization", "0", "--regularization 0 must be above 0");
    refused("regularization", "-2", "--regularization -2 must be above 0");
    refused("regularization", "1e-400", "--regularization 1e-400 must be above 0");
    refused("gamma", "-1", "--gamma -1 is less than 0");
    refused("gamma", "1e101", "--gamma 1e101 is more than 1e+100");
    refused("gamma", "1e999", "--gamma 1e999 is not a finite number");
    refused("gamma", "nan", "--gamma nan is not a finite number");
    refused("gamma", "-inf", "--gamma -inf is not a finite number");
    refused("gamma", "", "--gamma \"\" is not a number or theory");
    refused("gamma", "1,5", "--gamma 1,5 is not a number or theory");
    refused("gamma", " 1", "--gamma  1 is not a number or theory");
    refused("gamma", "0x1p3", "--gamma 0x1p3 is not a number or theory");
    refused("gamma", "1e", "--gamma 1e is not a number or theory");
    refused("gamma", ".", "--gamma . is not a number or theory");
    refused("gamma", "1\n2", "--gamma 1?2 is not a number or theory");
    refused("turn", "-4", "--turn -4 is less than -3.141592653589793");
    assert_ok(sa_options_set(options, "gamma", "-0"));
    value_is("gamma", "0");
    assert_ok(sa_options_set(options, "gamma", ".25"));
    assert_true(options->gamma == 0.25);
    assert_ok(sa_options_set(options, "regularization", "4.9406564584124654e-324"));
    assert_true(options->regularization == DBL_TRUE_MIN);
}

static void choices_and_flags_are_strict(void **state) {
    (void)state;
    refused("precision", "half", "--precision half is not one of single, double");
    refused("precision", "", "--precision \"\" is not one of single, double");
    refused("precision", "sing", "--precision sing is not one of single, double");
    refused("precision", "single|double", "--precision single|double is not one of single, double");
    refused("normalize", "Unit", "--normalize Unit is not one of none, unit, standard");
    refused("resume", "maybe", "--resume maybe is not true or false");
    refused("resume", "", "--resume \"\" is not true or false");
    assert_ok(sa_options_set(options, "precision", "double"));
    assert_int_equal(options->precision, SA_PRECISION_DOUBLE);
    const char *const yes[] = {"true", "yes", "1"}, *const no[] = {"false", "no", "0"};
    for (int i = 0; i < 3; i++) {
        assert_ok(sa_options_set(options, "resume", yes[i]));
        value_is("resume", "true");
        assert_ok(sa_options_set(options, "resume", no[i]));
        value_is("resume", "false");
    }
}

static void unknown_names_get_the_nearest(void **state) {
    (void)state;
    refused("frobnicate", "1", "--frobnicate is not an option");
    refused("regularisation", "1", "--regularisation is not an option; did you mean --regularization?");
    refused("lamda", "1", "--lamda is not an option; did you mean --lambda?");
    refused("gmama", "1", "--gmama is not an option; did you mean --gamma?"); /* a swap is one step */
    refused("train_every", "1", "--train_every is not an option; did you mean --train-every?");
    refused("Gamma", "1", "--Gamma is not an option; did you mean --gamma?");
    refused("", "1", "--\"\" is not an option");
    char text[64];
    assert_says(sa_options_get(options, "hiden", text, sizeof text), SA_INVALID,
                "--hiden is not an option; did you mean --hidden?");
    char name[400];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    assert_fails(sa_options_set(options, name, "1"), SA_INVALID, "nnn... is not an option");
}

static void aliases_are_the_same_option(void **state) {
    (void)state;
    refused("lambda", "0", "--lambda 0 must be above 0");
    assert_ok(sa_options_set(options, "lambda", "2"));
    value_is("regularization", "2");
    value_is("lambda", "2");
    assert_true(sa_options_given(options, "regularization"));
    assert_true(sa_options_given(options, "lambda"));
    sa_option_info info;
    assert_true(sa_option_find("lambda", &info));
    assert_string_equal(info.name, "regularization");
    assert_string_equal(info.alias, "lambda");
}

static void nothing_given_is_no_crash(void **state) {
    (void)state;
    char text[8];
    assert_fails(sa_options_set(NULL, "gamma", "1"), SA_INVALID, "NULL");
    assert_fails(sa_options_set(options, NULL, "1"), SA_INVALID, "NULL");
    assert_says(sa_options_set(options, "gamma", NULL), SA_INVALID, "--gamma needs a value");
    assert_fails(sa_options_get(options, "gamma", text, 0), SA_INVALID, "empty");
    assert_fails(sa_options_get(options, "gamma", NULL, 8), SA_INVALID, "NULL");
    assert_false(sa_options_given(options, "frobnicate"));
    assert_false(sa_options_given(options, NULL));
    assert_false(sa_options_given(NULL, "gamma"));
}

static void a_buffer_that_is_too_small_is_said(void **state) {
    (void)state;
    char text[8] = "before!";
    assert_ok(sa_options_set(options, "out", "12345678"));
    assert_says(sa_options_get(options, "out", text, sizeof text), SA_INVALID,
                "--out has 8 characters, more than fit into 8 bytes");
    assert_string_equal(text, "");
    assert_ok(sa_options_set(options, "out", "1234567"));
    assert_ok(sa_options_get(options, "out", text, sizeof text));
    assert_string_equal(text, "1234567");
    assert_ok(sa_options_set(options, "out", ""));
    value_is("out", "");
}

/* A fixed sequence of doubles of all magnitudes; each must come back exactly. */
static void printed_numbers_read_back(void **state) {
    (void)state;
    value_is("noise", "0.01");
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        double number, back;
        char text[SA_NUMBER_TEXT];
        memcpy(&number, &bits, sizeof number);
        if (!isfinite(number)) continue;
        assert_true(sa_text_to_number(sa_number_to_text(number, text), &back));
        assert_true(number == back);
    }
    assert_ok(sa_options_set(options, "gamma", "0.1"));
    value_is("gamma", "0.1");
    assert_ok(sa_options_set(options, "gamma", "0.30000000000000004"));
    value_is("gamma", "0.30000000000000004");
}

/* Where the machine has such a locale; most test machines have only C. */
static void a_decimal_comma_changes_nothing(void **state) {
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8")) skip();
    assert_ok(sa_options_set(options, "gamma", "0.5"));
    assert_true(options->gamma == 0.5);
    value_is("gamma", "0.5");
    refused("nu", "0,5", "--nu 0,5 is not a number");
    setlocale(LC_ALL, "C");
}

static void the_list_describes_every_option(void **state) {
    (void)state;
    assert_int_equal(sa_option_count(), SA_OPTION_TOTAL);
    sa_option_info info, found;
    assert_false(sa_option_at(sa_option_count(), &info));
    assert_false(sa_option_find("frobnicate", &info));
    assert_false(sa_option_find(NULL, &info));
    for (size_t i = 0; i < sa_option_count(); i++) {
        assert_true(sa_option_at(i, &info));
        assert_true(sa_option_find(info.name, &found));
        assert_ptr_equal(info.name, found.name); /* no name is there twice */
        assert_true(*info.help && !strchr(info.help, '\n'));
        bool or_theory =
            !strcmp(info.name, "gamma") || !strcmp(info.name, "nu") || !strcmp(info.name, "rate");
        assert_int_equal(info.choices != NULL, !strcmp(info.kind, "choice") || or_theory);
        assert_true(info.scope >= SA_SCOPE_AGENT && info.scope <= SA_SCOPE_OUTPUT);
        assert_false(sa_options_given(options, info.name));
    }
    assert_true(sa_option_find("precision", &info));
    assert_string_equal(info.kind, "choice");
    assert_string_equal(info.choices, "single|double");
    assert_null(info.alias);
    assert_int_equal(info.scope, SA_SCOPE_AGENT);
    assert_true(sa_option_find("rounds", &info));
    assert_string_equal(info.kind, "integer");
    assert_true(sa_option_find("noise", &info));
    assert_string_equal(info.kind, "number");
    assert_true(sa_option_find("resume", &info));
    assert_string_equal(info.kind, "flag");
    assert_true(sa_option_find("algorithm", &info));
    assert_string_equal(info.kind, "text");
}

/* gamma and nu are numbers, or `theory`, which is printed, copied and taken back as it is. */
static void two_numbers_may_be_theory(void **state) {
    (void)state;
    static const char *const names[] = {"gamma", "nu"};
    char text[SA_NUMBER_TEXT];
    for (size_t i = 0; i < 2; i++) {
        assert_ok(sa_options_set(options, names[i], "theory"));
        assert_fails(sa_options_set(options, names[i], "Theory"), SA_INVALID, "is not a number or theory");
        assert_fails(sa_options_set(options, names[i], "inf"), SA_INVALID, "is not a finite number");
        assert_fails(sa_options_set(options, names[i], "1e999"), SA_INVALID, "is not a finite number");
        assert_fails(sa_options_set(options, names[i], "-1"), SA_INVALID, "-1 is less than 0");
        sa_options *copy = sa_options_copy(options);
        assert_non_null(copy);
        assert_ok(sa_options_get(copy, names[i], text, sizeof text));
        sa_options_destroy(copy);
        assert_string_equal(text, "theory");
        assert_ok(sa_options_set(options, names[i], "0.5"));
        assert_ok(sa_options_get(options, names[i], text, sizeof text));
        assert_string_equal(text, "0.5");
    }
    assert_fails(sa_options_set(options, "noise", "theory"), SA_INVALID, "--noise theory is not a number");
}

/* Each bound of the list, from the list: the bound itself is taken, one step beyond is not. */
static void every_bound_holds(void **state) {
    (void)state;
    char text[SA_NUMBER_TEXT];
#define BOUNDS(kind, ...) BOUNDS_##kind(__VA_ARGS__)
#define BOUNDS_CHOICE(...)
#define BOUNDS_FLAG(...)
#define BOUNDS_TEXT(...)
#define BOUNDS_PATH(...)
#define BOUNDS_OF(group, list) list(BOUNDS)
#define BOUNDS_INTEGER(field, name, scope, paper, icml23, tuned, least, most, help)                          \
    snprintf(text, sizeof text, "%lld", (long long)(least));                                                 \
    assert_ok(sa_options_set(options, name, text));                                                          \
    assert_true(options->field == (least));                                                                  \
    snprintf(text, sizeof text, "%lld", (long long)(least)-1);                                               \
    assert_fails(sa_options_set(options, name, text), SA_INVALID, "is less than");                           \
    snprintf(text, sizeof text, "%llu", (unsigned long long)(most));                                         \
    assert_ok(sa_options_set(options, name, text));                                                          \
    assert_true(options->field == (most));                                                                   \
    snprintf(text, sizeof text, "%llu", (unsigned long long)(most) + 1);                                     \
    assert_fails(sa_options_set(options, name, text), SA_INVALID, "is more than");                           \
    assert_non_null(strstr(sa_last_error(), "--" name " "));
#define LOW(least) ((least) == OR_THEORY ? 0 : (least) == ABOVE_0_OR_THEORY ? ABOVE_0 : (least))
#define BOUNDS_NUMBER(field, name, scope, paper, icml23, tuned, least, most, help)                           \
    assert_ok(sa_options_set(options, name, sa_number_to_text(LOW(least), text)));                           \
    assert_true(options->field == LOW(least));                                                               \
    assert_fails(sa_options_set(options, name, sa_number_to_text(nextafter(LOW(least), -INFINITY), text)),   \
                 SA_INVALID, LOW(least) == ABOVE_0 ? "must be above 0" : "is less than");                    \
    assert_ok(sa_options_set(options, name, sa_number_to_text(most, text)));                                 \
    assert_true(options->field == (most));                                                                   \
    assert_fails(sa_options_set(options, name, sa_number_to_text(nextafter(most, INFINITY), text)),          \
                 SA_INVALID, "is more than");
    SA_OPTION_GROUPS(BOUNDS_OF)
}

static void edits_are_counted(void **state) {
    (void)state;
    assert_int_equal(sa_edit_distance("", "", 3), 0);
    assert_int_equal(sa_edit_distance("kitten", "sitting", 5), 3);
    assert_int_equal(sa_edit_distance("", "abc", 5), 3);
    assert_int_equal(sa_edit_distance("abcd", "abdc", 5), 1);
    assert_int_equal(sa_edit_distance("abc", "xyz", 1), 2);
}

#define with_options(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        with_options(integers_are_strict),
        with_options(numbers_are_strict),
        with_options(choices_and_flags_are_strict),
        with_options(unknown_names_get_the_nearest),
        with_options(aliases_are_the_same_option),
        with_options(nothing_given_is_no_crash),
        with_options(a_buffer_that_is_too_small_is_said),
        with_options(printed_numbers_read_back),
        with_options(a_decimal_comma_changes_nothing),
        with_options(the_list_describes_every_option),
        with_options(two_numbers_may_be_theory),
        with_options(every_bound_holds),
        cmocka_unit_test(edits_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
