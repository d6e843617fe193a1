/* JSON text as nodes: what RFC 8259 allows, and a sentence with the column for everything else. */
#include <math.h>

#include "base/json.h"
#include "test_file_scratch.h"

static sa_json json;

static sa_status parse(const char *text) { return sa_json_parse(&json, text, strlen(text)); }

static void test_nodes(void **state) {
    (void)state;
    assert_ok(parse(" {\"a\": [1, -2.5e3, []], \"b\\n\": {\"c\": null}, \"d\": true, \"e\": \"\"} "));
    assert_int_equal(sa_json_count(&json, 0), 4);
    size_t a = sa_json_find(&json, 0, "a"), b = sa_json_find(&json, 0, "b\n"),
           d = sa_json_find(&json, 0, "d");
    assert_true(a && b && d && sa_json_find(&json, 0, "e"));
    assert_int_equal(sa_json_find(&json, 0, "c"), 0); /* not of this object */
    assert_int_equal(sa_json_count(&json, a), 3);
    assert_true(sa_json_number(&json, a + 2) == -2500);
    assert_int_equal(json.nodes[a + 3].kind, SA_JSON_ARRAY);
    assert_int_equal(json.nodes[a].next, a + 4);
    assert_int_equal(json.nodes[sa_json_find(&json, b, "c")].kind, SA_JSON_NULL);
    assert_true(sa_span_equals(sa_json_span(&json, b), "{\"c\": null}"));
    assert_int_equal(json.nodes[d].kind, SA_JSON_TRUE);
    for (size_t i = 0; i < 3; i++) { /* one value of any kind is a text, too */
        static const char *const texts[] = {"17", "\"x\"", "[]"};
        assert_ok(parse(texts[i]));
        assert_int_equal(json.count, 1);
    }
}

static void test_strings(void **state) {
    (void)state;
    static const char text[] = "\"\\u00e4\\ud83d\\ude00\\\\\\\"\\/\\b\\f\\n\\r\\t \xc3\xa4\xf0\x9f\x98\x80\"";
    char plain[64];
    assert_ok(parse(text));
    size_t size = sa_json_unescape(&json, 0, plain);
    static const char wanted[] = "\xc3\xa4\xf0\x9f\x98\x80\\\"/\b\f\n\r\t \xc3\xa4\xf0\x9f\x98\x80";
    assert_int_equal(size, sizeof wanted - 1);
    assert_memory_equal(plain, wanted, size);
    assert_true(sa_json_equals(&json, 0, wanted));
    assert_false(sa_json_equals(&json, 0, "x"));
}

static void test_wrong(void **state) {
    (void)state;
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"{\"a\" 1}", "column 6: a colon is wanted, not 1}"},
        {"{a: 1}", "column 2: a key in quotes is wanted, not a: 1}"},
        {"[1 2]", "column 4: a comma or ] is wanted, not 2]"},
        {"{\"a\": 1 \"b\": 2}", "column 9: a comma or } is wanted, not \"b\": 2}"},
        {"[1,]", "column 4: a value is wanted, not ]"},
        {"{\"a\": 1,}", "column 9: a key in quotes is wanted, not }"},
        {"[1}", "column 3: a comma or ] is wanted, not }"},
        {"01", "column 1: a number begins with a needless 0"},
        {"[+1]", "column 2: a value is wanted, not +1]"},
        {"[1.]", "column 4: a digit is wanted, not ]"},
        {"[1e+]", "column 5: a digit is wanted, not ]"},
        {"[-]", "column 3: a digit is wanted, not ]"},
        {"[.5]", "column 2: a value is wanted, not .5]"},
        {"[NaN]", "column 2: a value is wanted, not NaN]"},
        {"[Infinity]", "column 2: a value is wanted, not Infinity]"},
        {"[nulL]", "column 2: a value is wanted, not nulL]"},
        {"1 2", "column 3: nothing more is wanted, not 2"},
        {"\"\\x\"", "column 2: a backslash stands before what it cannot escape"},
        {"\"\\u12g4\"", "column 2: \\u is not followed by four hexadecimal digits"},
        {"\"\\u0000\"", "column 2: a text has the character 0"},
        {"\"\\ud800x\"", "column 2: \\u is half of a pair, and its other half is not there"},
        {"\"\\udc00\"", "column 2: \\u is half of a pair, and its other half is not there"},
        {"\"a\tb\"", "column 3: a text has a control character that is not escaped"},
        {"\"\xc3(\"", "column 2: a text is not valid UTF-8"},
        {"\"\xc0\xaf\"", "column 2: a text is not valid UTF-8"},         /* longer than need be */
        {"\"\xed\xa0\x80\"", "column 2: a text is not valid UTF-8"},     /* half of a pair */
        {"\"\xf4\x90\x80\x80\"", "column 2: a text is not valid UTF-8"}, /* beyond the last character */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_says(parse(cases[i].text), SA_FORMAT, cases[i].sentence);
        assert_false(json.cut_off);
    }
}

/* Every beginning of a whole text is one that is cut off, and nothing else is wrong with it. */
static void test_cut_off(void **state) {
    (void)state;
    static const char text[] =
        "{\"a\": [1.5e+3, true, \"\\u00e4\\n\xc3\xa4\"], \"b\": {\"c\": null, \"d\": false}}";
    for (size_t size = 0; size < sizeof text - 1; size++) {
        char *exactly = malloc(size + 1); /* so that a sanitizer sees a byte too many */
        memcpy(exactly, text, size);
        assert_int_equal(sa_json_parse(&json, exactly, size), SA_FORMAT);
        if (!json.cut_off) fail_msg("%.*s: %s", (int)size, text, sa_last_error());
        free(exactly);
    }
    assert_ok(parse(text));
}

static void test_deep(void **state) {
    (void)state;
    enum { DEEP = 1000000 };
    char *text = malloc(DEEP + 1);
    memset(text, '[', DEEP);
    text[DEEP] = 0;
    assert_says(parse(text), SA_FORMAT, "column 65: the text nests more than 64 deep");
    memset(text + 64, ']', 64);
    text[128] = 0;
    assert_ok(parse(text));
    free(text);
}

static void test_numbers(void **state) {
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "0.1",
                                        "1e-320",
                                        "123456789012345678",
                                        "0.30000000000000004",
                                        "2.2250738585072011e-308",
                                        "1.7976931348623157e308",
                                        "-9.8765432109876543e-5"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_ok(parse(texts[i]));
        double got = sa_json_number(&json, 0), wanted = strtod(texts[i], NULL);
        assert_memory_equal(&got, &wanted, sizeof got);
    }
    assert_ok(parse("1e999"));
    assert_true(isinf(sa_json_number(&json, 0)));
}

static int clear(void **state) {
    (void)state;
    sa_json_clear(&json);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nodes), cmocka_unit_test(test_strings),
                                       cmocka_unit_test(test_wrong), cmocka_unit_test(test_cut_off),
                                       cmocka_unit_test(test_deep),  cmocka_unit_test(test_numbers)};
    return cmocka_run_group_tests(tests, NULL, clear);
}
