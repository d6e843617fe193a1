/* Requests are encoded column by column as the schema says; hashing is pinned, since files depend on it. */
#include <math.h>

#include <superarm/schema.h>

#include "test_file_scratch.h"

static sa_schema *schema;
static sa_encoding *encoding;

static void use(const char *text) {
    sa_schema_release(schema);
    schema = NULL;
    if (sa_schema_parse(text, strlen(text), "s", &schema) != SA_OK) fail_msg("%s", sa_last_error());
}

static sa_status encode(const char *json) { return sa_schema_encode(schema, json, strlen(json), encoding); }

/* The row of an arm is these numbers, ended by NAN. */
static void assert_row(size_t arm, const double *wanted) {
    size_t dim = sa_schema_dim(schema);
    const double *row = sa_encoding_contexts(encoding) + arm * dim;
    for (size_t i = 0; i < dim; i++)
        if (!(fabs(row[i] - wanted[i]) < 1e-15))
            fail_msg("arm %zu, column %zu: %.17g, not %.17g", arm, i, row[i], wanted[i]);
    assert_true(isnan(wanted[dim]));
}
#define ROW(arm, ...) assert_row(arm, (const double[]){__VA_ARGS__, NAN})

/* From another implementation; these never change. */
static void test_hash(void **state) {
    (void)state;
    static const struct {
        const char *field, *value;
        uint64_t hash;
    } known[] = {{"", "", UINT64_C(0xb9034ad37056f5fb)},
                 {"country", "de", UINT64_C(0x66550284c90238c3)},
                 {"country", "fr", UINT64_C(0x5ff9e4679c2cc3ad)},
                 {"tags", "sale", UINT64_C(0xc49f44b5b88d01e4)},
                 {"price", "3", UINT64_C(0x4ce1e254ff161072)},
                 {"gr\xc3\xb6\xc3\x9f"
                  "e",
                  "\xc3\xa4", UINT64_C(0x6fa6f38d975b3830)},
                 {"country x category", "0", UINT64_C(0x6cbab749b3f01e90)}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(sa_schema_hash(known[i].field, known[i].value) == known[i].hash);
}

static void test_kinds(void **state) {
    (void)state;
    use("item: {n: number, l: log, c: cyclic 4, f: flag, k: category [a, b]}");
    assert_ok(encode(
        "{\"items\": [{\"n\": -2.5, \"l\": 3, \"c\": 1, \"f\": true, \"k\": \"b\"},"
        " {\"k\": \"z\", \"f\": 0, \"c\": -2, \"l\": 0, \"n\": 0}, {\"n\": null}, {\"f\": false, \"k\": "
        "true, \"c\": 7}]}"));
    assert_int_equal(sa_encoding_arms(encoding), 4);
    assert_null(sa_encoding_ids(encoding));
    ROW(0, -2.5, 0, log(4), 0, cos(M_PI / 2), 1, 0, 1, 0, 0, 1, 0, 0);
    ROW(1, 0, 0, 0, 0, -1, sin(-M_PI), 0, 0, 0, 0, 0, 1, 0);
    ROW(2, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1);
    ROW(3, 0, 1, 0, 1, cos(1.5 * M_PI), -1, 0, 0, 0, 0, 0, 1, 0);
}

static void test_hashed(void **state) {
    (void)state;
    use("context: {country: hashed 16}\nitem: {tags: tags 4}");
    assert_ok(encode("{\"context\": {\"country\": \"de\"}, \"items\": ["
                     "{\"id\": \"x\", \"tags\": [\"a\", \"b\", \"c\"]}, {\"id\": \"y\", \"tags\": []}, "
                     "{\"id\": \"z\"}]}"));
    double third = 1 / sqrt(3); /* a: -column 0, b: -column 3, c: +column 2 */
    ROW(0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -third, 0, third, -third, 0);
    ROW(1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    ROW(2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
    assert_string_equal(sa_encoding_ids(encoding)[2], "z");
    /* what names the same thing is placed the same: escapes, whole numbers */
    use("item: {price: hashed 16, country: hashed 16}");
    assert_ok(encode(
        "{\"items\": [{\"price\": 3, \"country\": \"de\"}, {\"price\": 3.0, \"country\": \"\\u0064e\"},"
        " {\"price\": \"3\", \"country\": \"d\\u0065\"}]}"));
    size_t dim = sa_schema_dim(schema);
    const double *rows = sa_encoding_contexts(encoding);
    assert_memory_equal(rows, rows + dim, dim * sizeof *rows);
    assert_memory_equal(rows, rows + 2 * dim, dim * sizeof *rows);
    assert_true(rows[2] == 1 && rows[17 + 3] == 1);
}

static void test_cross(void **state) {
    (void)state;
    use("context: {c: category [a, b]}\nitem: {x: number, k: category [u, v]}\ncross: [[c, x], [k, c]]");
    assert_ok(
        encode("{\"context\": {\"c\": \"b\"}, \"items\": [{\"x\": 2.5, \"k\": \"u\"}, {\"k\": \"v\"}]}"));
    ROW(0, 0, 1, 0, 0, 2.5, 0, 1, 0, 0, 0, /* c x */ 0, 2.5, 0, /* k c */ 0, 1, 0, 0, 0, 0, 0, 0, 0);
    ROW(1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0);
    /* long ones: the product of columns i and j has number 16 i + j, and goes where the hash of that says */
    use("context: {country: hashed 16}\nitem: {category: hashed 16}\ncross: [[country, category]]");
    static const char *const values[] = {"shoes", "hats", "coats", "bags"};
    for (size_t n = 0; n < 4; n++) {
        char json[128], number[16];
        snprintf(json, sizeof json,
                 "{\"context\": {\"country\": \"de\"}, \"items\": [{\"category\": \"%s\"}]}", values[n]);
        assert_ok(encode(json));
        uint64_t left = sa_schema_hash("country", "de"), right = sa_schema_hash("category", values[n]);
        snprintf(number, sizeof number, "%d", (int)(16 * (left % 16) + right % 16));
        uint64_t product = sa_schema_hash("country x category", number);
        int sign = ((left >> 63) + (right >> 63) + (product >> 63)) % 2 ? -1 : 1;
        const double *cross = sa_encoding_contexts(encoding) + 34;
        for (size_t i = 0; i < 64; i++) assert_true(cross[i] == (i == product % 64 ? sign : 0));
    }
}

static void test_ignored(void **state) {
    (void)state;
    sa_encoding *fresh = sa_encoding_new();
    use("item: {x: number}");
    static const char json[] = "{\"context\": {\"hour\": 3}, \"items\": [{\"id\": \"a\", \"x\": 1, \"y\": "
                               "[{}]}, {\"id\": \"b\", \"y\": 1}]}";
    assert_ok(sa_schema_encode(schema, json, strlen(json), fresh));
    assert_int_equal(sa_encoding_ignored(fresh), 3);
    assert_string_equal(sa_encoding_ignored_name(fresh), "context.hour");
    sa_encoding_destroy(fresh);
    sa_encoding_destroy(NULL);
}

static void test_wrong(void **state) {
    (void)state;
    use("context: {hour: cyclic 24, ok: flag}\nitem: {price: log, n: number, k: category [a], h: hashed 8, "
        "t: tags 8, y: any 8}");
    static const struct {
        const char *json, *sentence;
    } cases[] = {
        {"{\"items\": [{}, {}, {}, {\"price\": \"abc\"}]}",
         "items[3].price is \"abc\", and a number from 0 is wanted"},
        {"{\"items\": [{\"price\": -1}]}", "items[0].price is -1, and a number from 0 is wanted"},
        {"{\"items\": [{\"price\": 1e999}]}", "items[0].price is 1e999, and a number from 0 is wanted"},
        {"{\"items\": [{\"n\": true}]}", "items[0].n is true, and a number is wanted"},
        {"{\"items\": [{\"n\": [1]}]}", "items[0].n is [1], and a number is wanted"},
        {"{\"items\": [{\"k\": []}]}", "items[0].k is [], and a text, a number, true or false is wanted"},
        {"{\"items\": [{\"h\": {}}]}", "items[0].h is {}, and a text, a number, true or false is wanted"},
        {"{\"items\": [{\"t\": \"a\"}]}", "items[0].t is \"a\", and a list of texts is wanted"},
        {"{\"items\": [{\"y\": {\"a\": [0, 1e999]}}]}",
         "items[0].y is {\"a\": [0, 1e999]}, and what has no numbers that are not finite is wanted"},
        {"{\"items\": [{\"t\": [[]]}]}", "items[0].t is [[]], and a list of texts is wanted"},
        {"{\"items\": [{\"n\": 1, \"n\": 2}]}", "items[0].n is 2, and it is there twice"},
        {"{\"context\": {\"hour\": \"3\"}, \"items\": [{}]}",
         "context.hour is \"3\", and a number is wanted"},
        {"{\"context\": {\"ok\": 2}, \"items\": [{}]}", "context.ok is 2, and true or false is wanted"},
        {"{\"context\": 5, \"items\": [{}]}", "context is 5, and an object is wanted"},
        {"{\"context\": {}}", "there are no items"},
        {"{\"items\": []}", "items is empty"},
        {"{\"items\": [5]}", "items[0] is 5, and an object is wanted"},
        {"{\"items\": [{\"id\": \"a\"}, {\"id\": \"a\"}]}", "items[0] and items[1] have the same id, a"},
        {"[]", "the request is a list, and an object is wanted"},
        {"{\"items\": [{}]", "the text ends where a comma or } is wanted"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_fails(encode(cases[i].json), SA_INVALID, cases[i].sentence);
        assert_int_equal(sa_encoding_arms(encoding), 0);
    }
    assert_ok(encode("{\"context\": null, \"items\": [{}]}"));
}

static int begin(void **state) {
    (void)state;
    encoding = sa_encoding_new();
    return !encoding;
}

static int end(void **state) {
    (void)state;
    sa_schema_release(schema);
    sa_encoding_destroy(encoding);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hash),    cmocka_unit_test(test_kinds),
                                       cmocka_unit_test(test_hashed),  cmocka_unit_test(test_cross),
                                       cmocka_unit_test(test_ignored), cmocka_unit_test(test_wrong)};
    return cmocka_run_group_tests(tests, begin, end);
}
