/* Fields of comma-separated text: quotes, spaces, line ends, comments, and lines that are counted right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/csv.h"

/* The text's fields as "[field][field]<line>" for each row. */
static const char *fields(const char *text, char separator) {
    static char out[1000];
    size_t used = 0;
    sa_csv csv;
    assert_int_equal(sa_csv_begin(&csv, text, strlen(text), "f.csv", separator), SA_OK);
    out[0] = 0;
    while (sa_csv_row(&csv)) {
        size_t line = csv.line;
        for (bool ends = false; !ends;) {
            sa_span field;
            if (sa_csv_field(&csv, &field, &ends) != SA_OK) {
                sa_csv_clear(&csv);
                return sa_last_error();
            }
            used += (size_t)snprintf(out + used, sizeof out - used, "[%.*s]", (int)field.size, field.start);
        }
        used += (size_t)snprintf(out + used, sizeof out - used, "<%zu>", line);
    }
    sa_csv_clear(&csv);
    return out;
}

static void test_plain(void **state) {
    (void)state;
    assert_string_equal(fields("a,b\nc,d\n", ','), "[a][b]<1>[c][d]<2>");
    assert_string_equal(fields("a,b\r\nc,d", ','), "[a][b]<1>[c][d]<2>");
    assert_string_equal(fields(" a ,\tb b\t\n", ','), "[a][b b]<1>");
    assert_string_equal(fields("a,,\n,\n", ','), "[a][][]<1>[][]<2>");
    assert_string_equal(fields("a,", ','), "[a][]<1>");
    assert_string_equal(fields("\xEF\xBB\xBF"
                               "a,b",
                               ','),
                        "[a][b]<1>");
    assert_string_equal(fields("", ','), "");
    assert_string_equal(fields("a;b,c\n", ';'), "[a][b,c]<1>");
    assert_string_equal(fields("\ta\t b\t\n", '\t'), "[][a][b][]<1>");
}

static void test_passed_over(void **state) {
    (void)state;
    assert_string_equal(fields("\n  \r\n# one, two\na,b\n\n #\nc,d # e\n\n", ','), "[a][b]<4>[c][d # e]<7>");
    assert_string_equal(fields("# nothing", ','), "");
    assert_string_equal(fields("\n\n", ','), "");
    assert_string_equal(fields("\"# a\",b", ','), "[# a][b]<1>");
}

static void test_quotes(void **state) {
    (void)state;
    assert_string_equal(fields("\"a,b\",\"c\"\n", ','), "[a,b][c]<1>");
    assert_string_equal(fields("\"say \"\"no\"\"\",x\n", ','), "[say \"no\"][x]<1>");
    assert_string_equal(fields("\"\"\"\",\"\"\n", ','), "[\"][]<1>");
    assert_string_equal(fields("\"two\nlines\" , \" b \"\r\nc,d\n", ','), "[two\nlines][ b ]<1>[c][d]<3>");
    assert_string_equal(fields("5\" pipe,b\n", ','),
                        "[5\" pipe][b]<1>"); /* not at the beginning: a quote like any byte */
    assert_string_equal(fields("\"a\"", ','), "[a]<1>");
}

static void test_wrong(void **state) {
    (void)state;
    assert_string_equal(fields("a,b\nc,\"d\n\n", ','), "f.csv:2: column 2 opens a quote that nothing closes");
    assert_string_equal(fields("a,\"b\nb\"x\n", ','), "f.csv:2: column 2 has x after its closing quote");
    assert_string_equal(fields("\"a\"\"", ','), "f.csv:1: column 1 opens a quote that nothing closes");
    sa_csv csv;
    assert_int_equal(sa_csv_begin(&csv, "a\0b", 3, "f.csv", ','), SA_FORMAT);
    assert_string_equal(sa_last_error(), "f.csv is not a text file: it has bytes that are 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain), cmocka_unit_test(test_passed_over),
                                       cmocka_unit_test(test_quotes), cmocka_unit_test(test_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
