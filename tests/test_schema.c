/* Schemas are read from YAML and JSON, laid out in columns, and refused with a sentence where they are
 * wrong. */
#include <superarm/schema.h>

#include "test_file_scratch.h"

static sa_schema *parse(const char *text) {
    sa_schema *schema = NULL;
    sa_status status = sa_schema_parse(text, strlen(text), "s.yaml", &schema);
    if (status != SA_OK) fail_msg("%s", sa_last_error());
    return schema;
}

static const char EXAMPLE[] =
    "context: {country: hashed 16, device: category [phone, desktop], hour: cyclic 24}\n"
    "item:    {category: hashed 16, price: log, tags: tags 32}\n"
    "cross:   [[country, category]]        # products of the two encodings, hashed where they are long\n";

static void test_layout(void **state) {
    (void)state;
    static const sa_schema_column wanted[] = {{"context", "country", "hashed", 0, 17},
                                              {"context", "device", "category", 17, 4},
                                              {"context", "hour", "cyclic", 21, 3},
                                              {"item", "category", "hashed", 24, 17},
                                              {"item", "price", "log", 41, 2},
                                              {"item", "tags", "tags", 43, 33},
                                              {"cross", "country x category", "cross", 76, 64}};
    sa_schema *schema = parse(EXAMPLE);
    sa_schema_column column;
    for (size_t i = 0; i < 7; i++) {
        assert_true(sa_schema_column_at(schema, i, &column));
        assert_string_equal(column.part, wanted[i].part);
        assert_string_equal(column.field, wanted[i].field);
        assert_string_equal(column.kind, wanted[i].kind);
        assert_int_equal(column.start, wanted[i].start);
        assert_int_equal(column.size, wanted[i].size);
    }
    assert_false(sa_schema_column_at(schema, 7, &column));
    assert_int_equal(sa_schema_dim(schema), 140);
    assert_string_equal(sa_schema_text(schema),
                        "{\"context\":{\"country\":\"hashed 16\",\"device\":\"category [phone, "
                        "desktop]\",\"hour\":\"cyclic 24\"},"
                        "\"item\":{\"category\":\"hashed 16\",\"price\":\"log\",\"tags\":\"tags 32\"},"
                        "\"cross\":[[\"context.country\",\"item.category\"]]}");
    sa_schema_retain(schema);
    sa_schema_release(schema);
    assert_int_equal(sa_schema_dim(schema), 140); /* the other owner's */
    sa_schema_release(schema);
    sa_schema_release(NULL);
}

/* However it is written, the same schema has the same text, and its text is a schema. */
static void test_forms(void **state) {
    (void)state;
    static const char *const forms[] = {EXAMPLE,
                                        "# a comment: category [x]\n"
                                        "context:\n  country: hashed 16   # category [x, y]\n  device: "
                                        "category [ 'phone' ,\"desktop\" ]\n  hour: cyclic "
                                        "24.0\n"
                                        "item:\n  category: \"hashed 16\"\n  price: log\n  tags: tags "
                                        "32\ncross:\n- [context.country, item.category]\n",
                                        "{\"context\": {\"country\": \"hashed 16\", \"device\": \"category "
                                        "[phone, desktop]\", \"hour\": \"cyclic 24\"},"
                                        " \"item\": {\"category\": \"hashed 16\", \"price\": \"log\", "
                                        "\"tags\": \"tags 32\"}, \"cross\": [[\"country\", "
                                        "\"category\"]]}"};
    sa_schema *first = parse(forms[0]);
    for (size_t i = 0; i < 3; i++) {
        sa_schema *schema = parse(forms[i]);
        assert_string_equal(sa_schema_text(schema), sa_schema_text(first));
        sa_schema *again = parse(sa_schema_text(schema));
        assert_string_equal(sa_schema_text(again), sa_schema_text(first));
        sa_schema_release(again);
        sa_schema_release(schema);
    }
    sa_schema_release(first);
    sa_schema *odd =
        parse("item: {a: category ['x, y', \"z]\", \"q\\\"\", it''s, 'it''s', plain word], \"b c\": number}");
    sa_schema *again = parse(sa_schema_text(odd));
    assert_string_equal(sa_schema_text(again), sa_schema_text(odd));
    assert_int_equal(sa_schema_dim(odd), 6 + 1 + 1 + 2);
    sa_schema_release(again);
    sa_schema_release(odd);
}

static void test_wrong(void **state) {
    (void)state;
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"", "s.yaml is empty"},
        {"[1]", "s.yaml: a schema has context, item and cross, and this is a list"},
        {"items: {a: log}", "s.yaml: \"items\" is none of context, item and cross"},
        {"item: {a: log}\nitem: {b: log}", "s.yaml: item is there twice"},
        {"context: {a: log}", "s.yaml: the schema has no fields of items"},
        {"item: log", "s.yaml: item is a text, and fields with their kinds are wanted, as in {price: log}"},
        {"item: {a: lgo}", "s.yaml: item.a is lgo, and one of number, log, cyclic P, flag, category [a, b], "
                           "hashed B, tags B, any B is"},
        {"item: {a: any}", "a count of columns from 1 to 65536 is wanted, as in any 16"},
        {"item: {a: log, b: log}\ncross: [[a, b, 0]]",
         "s.yaml: cross of a x b has \"0\", and a count of columns"},
        {"item: {a: log, b: log}\ncross: [[a, b, 1.5]]",
         "cross of a x b has \"1.5\", and a count of columns"},
        {"{\"item\": {\"a\": \"log\", \"b\": \"log\"}, \"cross\": [[\"a\", \"b\", 65537]]}",
         "cross of a x b has 65537, and a count of columns"},
        {"item: {a: log, b: log}\ncross: [[a, b, c]]", "cross of a x b has \"c\", and a count of columns"},
        {"item: {a: [log]}", "s.yaml: item.a is a list, and a kind is wanted, as in hashed 16"},
        {"item: {a: log, a: number}", "s.yaml: item.a is there twice"},
        {"item: {'': log}", "s.yaml: a field has an empty name"},
        {"item: {a: log 5}", "s.yaml: item.a is log 5, and nothing may follow this kind"},
        {"item: {a: hashed}", "a count of columns from 1 to 65536 is wanted, as in hashed 16"},
        {"item: {a: hashed 0}", "s.yaml: item.a is 0, and a count of columns from 1 to 65536"},
        {"item: {a: tags -1}", "s.yaml: item.a is -1, and a count of columns"},
        {"item: {a: tags 65537}", "as in tags 16"},
        {"item: {a: hashed 1.5}", "s.yaml: item.a is 1.5, and a count"},
        {"item: {a: cyclic}", "a period above 0 is wanted, as in cyclic 24"},
        {"item: {a: cyclic 0}", "s.yaml: item.a is 0, and a period above 0"},
        {"item: {a: cyclic nan}", "s.yaml: item.a is nan, and a period above 0"},
        {"item: {a: category}", "a list is wanted, as in category [phone, desktop]"},
        {"item: {a: 'category phone'}", "a list is wanted, as in category [phone, desktop]"},
        {"item: {a: 'category [phone'}", "a list is wanted, as in category [phone, desktop]"},
        {"item: {a: 'category [x] y'}", "a list is wanted, as in category [phone, desktop]"},
        {"item: {a: category []}", "s.yaml: item.a has an empty value"},
        {"item: {a: category [x,,y]}", "s.yaml: item.a has an empty value"},
        {"item: {a: category [x, y, x]}", "s.yaml: item.a has x twice"},
        {"item: {a: log}\ncross: [[a, b]]", "s.yaml: cross has b, which is no field"},
        {"item: {a: log}\ncross: [[a, a]]", "s.yaml: cross has a x a: a field with itself"},
        {"item: {a: log}\ncross: [a]", "s.yaml: cross has \"a\", and pairs of fields are wanted"},
        {"item: {a: log, b: log}\ncross: [[a, b], [a, b]]", "s.yaml: cross has a x b twice"},
        {"item: {a: log}\ncross: {}", "s.yaml: cross is an object, and pairs of fields"},
        {"item: {a: log, b: log}\ncross: [[a, [b]]]",
         "s.yaml: cross has a list, and the name of a field is wanted"},
        {"context: {a: log}\nitem: {a: log, b: log}\ncross: [[a, b]]", "say context.a or item.a"},
        {"item: {a: hashed 2000, b: hashed 2000}\ncross: [[a, b]]",
         "2000 by 2000 products, which is too many"},
        {"item: {a: &x log}", "s.yaml:1: anchors are not supported"},
        {"item: {a: *x}", "s.yaml:1: aliases are not supported"},
        {"item: {a: !t log}", "s.yaml:1: tags are not supported"},
        {"item: {a: log}\n---\nitem: {a: log}", "s.yaml:2: a second document begins"},
        {"item: {a: log", "s.yaml:"},
        {"item: {[a]: log}", "s.yaml:1: a key is not a text"},
        {"[[[[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]]]]", "nests"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sa_schema *schema = NULL;
        sa_status status = sa_schema_parse(cases[i].text, strlen(cases[i].text), "s.yaml", &schema);
        if (i + 1 == sizeof cases / sizeof *cases) { /* JSON, and deep */
            assert_int_equal(status, SA_INVALID);
            continue;
        }
        if (status != SA_INVALID || !strstr(sa_last_error(), cases[i].sentence))
            fail_msg("%s: %s, where \"%s\" is wanted", cases[i].text, status ? sa_last_error() : "taken",
                     cases[i].sentence);
        assert_null(schema);
    }
    sa_schema *schema;
    assert_fails(sa_schema_load(scratch("absent.yaml"), &schema), SA_FILE, "absent.yaml cannot be opened");
    assert_fails(sa_schema_load(scratch_folder, &schema), SA_FILE, "Is a directory");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_layout), cmocka_unit_test(test_forms),
                                       cmocka_unit_test(test_wrong)};
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
