/* Numbers out of parts of a text, to the last bit what strtod makes of them, and what is no number. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/span.h"

static sa_span whole(const char *text) { return (sa_span){text, strlen(text)}; }

static void check(const char *text) {
    double got = -1, wanted = strtod(text, NULL);
    char longer[200];
    if (!sa_span_to_number(whole(text), &got)) fail_msg("%s is not taken for a number", text);
    if (memcmp(&got, &wanted, sizeof got)) fail_msg("%s gives %.17g, not %.17g", text, got, wanted);
    snprintf(longer, sizeof longer, "%s7", text); /* what follows is not part of it */
    if (!sa_span_to_number((sa_span){longer, strlen(text)}, &got) || memcmp(&got, &wanted, sizeof got))
        fail_msg("%s is read beyond its end", text);
}

static void test_as_strtod(void **state) {
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "+1",
                                        "1.",
                                        ".5",
                                        "-.5",
                                        "007",
                                        "1e5",
                                        "1E+5",
                                        "1e-5",
                                        "2.5e3",
                                        "1e22",
                                        "1e23",
                                        "1e-22",
                                        "1e-23",
                                        "1e300",
                                        "1e-320",
                                        "1e0009",
                                        "1e999",
                                        "-1e999",
                                        "0.1",
                                        "0.3",
                                        "1e+05",
                                        "123456.e-3",
                                        "9007199254740992",
                                        "9007199254740993",
                                        "9007199254740995e3",
                                        "18446744073709551616",
                                        "0.00000000000000000000000000000001",
                                        "100000000000000000000000000000",
                                        "3.14159265358979323846264338327950288",
                                        "2.2250738585072014e-308",
                                        "4.9e-324"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check(texts[i]);
    uint64_t seed = 1;
    for (int i = 0; i < 100000; i++) {
        char text[64];
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        int digits = (int)(seed >> 60) + 1, exponent = (int)(seed >> 20 & 63) - 32;
        double number = (double)(int64_t)seed * pow(10, exponent);
        snprintf(text, sizeof text,
                 i % 3 == 0   ? "%.*g"
                 : i % 3 == 1 ? "%.*e"
                              : "%.*f",
                 digits, i % 3 == 2 ? (double)(int64_t)seed * 1e-15 : number);
        check(text);
    }
}

static void test_no_number(void **state) {
    (void)state;
    static const char *const texts[] = {"",      "-",   "+",    ".",  "e5",   "1e",  "1e+",
                                        "1.2.3", "--1", "1 ",   " 1", "0x1",  "1,5", "nan",
                                        "inf",   "?",   "1e5.", "1-", "1e5e", "five"};
    double number;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (sa_span_to_number(whole(texts[i]), &number)) fail_msg("\"%s\" is taken for a number", texts[i]);
    assert_false(sa_span_to_number((sa_span){"1\0", 2}, &number));
    char *ones = malloc(5000);
    memset(ones, '1', 5000);
    assert_true(sa_span_to_number((sa_span){ones, 5000}, &number) && isinf(number));
    ones[1] = '.';
    assert_true(sa_span_to_number((sa_span){ones, 5000}, &number) && number == 10.0 / 9);
    free(ones);
}

static void test_words(void **state) {
    (void)state;
    assert_true(sa_span_not_finite(whole("nan")) && sa_span_not_finite(whole("-NaN")));
    assert_true(sa_span_not_finite(whole("+Inf")) && sa_span_not_finite(whole("infinity")));
    assert_false(sa_span_not_finite(whole("")) || sa_span_not_finite(whole("-")) ||
                 sa_span_not_finite(whole("nano")));
    assert_true(sa_span_equals((sa_span){"label", 3}, "lab"));
    assert_false(sa_span_equals((sa_span){"label", 3}, "label"));
    char shown[SA_PRINTABLE];
    assert_string_equal(sa_span_printable((sa_span){"a\0b\n", 4}, shown), "a?b?");
    assert_string_equal(sa_span_printable((sa_span){"x", 0}, shown), "\"\"");
    char many[300];
    memset(many, 'm', sizeof many);
    sa_span_printable((sa_span){many, sizeof many}, shown);
    assert_string_equal(shown + strlen(shown) - 3, "...");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_strtod), cmocka_unit_test(test_no_number),
                                       cmocka_unit_test(test_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
