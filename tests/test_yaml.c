/* YAML specs: pairs in the file's order, and a sentence with file and line for what is wrong. */
#include "test_file_scratch.h"

#include "base/yaml.h"

/* Writes "label/key=value;" for each pair; key "bad" fails as an option would. */
static sa_status collect(void *user, const char *label, const char *key, const char *value) {
    char *text = user;
    size_t length = strlen(text);
    if (!strcmp(key, "bad")) return sa_fail(SA_INVALID, "--bad is not an option");
    snprintf(text + length, 4096 - length, "%s%s%s=%s;", label ? label : "", label ? "/" : "", key, value);
    return SA_OK;
}

static sa_status count(void *user, const char *label, const char *key, const char *value) {
    (void)label, (void)key, (void)value;
    ++*(size_t *)user;
    return SA_OK;
}

static sa_status parse(const char *yaml, char out[4096]) {
    out[0] = 0;
    return sa_yaml_parse(yaml, strlen(yaml), "spec.yaml", collect, out);
}

static void gives(const char *yaml, const char *expected) {
    char pairs[4096];
    assert_ok(parse(yaml, pairs));
    assert_string_equal(pairs, expected);
}

static void says(const char *yaml, const char *sentence) {
    char pairs[4096];
    assert_says(parse(yaml, pairs), SA_INVALID, sentence);
}

static void pairs_come_in_order(void **state) {
    (void)state;
    gives("rounds: 100\ngamma: 0.3\n", "rounds=100;gamma=0.3;");
    gives("# a comment\n---\nout: \"a b\" # another\nresume: true\n...\n", "out=a b;resume=true;");
    gives("{rounds: 100, gamma: 0.3}", "rounds=100;gamma=0.3;");
    gives("out: 'it''s'\ntrace: |\n  two\n  lines\n", "out=it's;trace=two\nlines\n;");
    gives("\xef\xbb\xbfout: caf\xc3\xa9\n", "out=caf\xc3\xa9;"); /* with a byte order mark */
}

static void agents_have_labels(void **state) {
    (void)state;
    gives("rounds: 5\nagents:\n  mine: {algorithm: cn-ucb, gamma: 0.3}\n  other:\n    algorithm: cn-ts\n    "
          "gamma: "
          "1\narms: 7\n",
          "rounds=5;mine/algorithm=cn-ucb;mine/gamma=0.3;other/algorithm=cn-ts;other/gamma=1;arms=7;");
    gives("agents:\n  agents: {agents: 1}\n", "agents/agents=1;");
}

static void sequences_are_joined(void **state) {
    (void)state;
    gives("algorithm: [cn-ucb, cn-ts]\n", "algorithm=cn-ucb,cn-ts;");
    gives("algorithm:\n  - cn-ucb\n  - cn-ts\nagents: {a: {x: [1]}}\n", "algorithm=cn-ucb,cn-ts;a/x=1;");
    gives("algorithm: []\nrounds: 1\n", "algorithm=;rounds=1;");
}

static void nothing_is_the_empty_text(void **state) {
    (void)state;
    gives("out:\ntrace: ~\ncontexts: null\nscores: 'null'\n", "out=;trace=;contexts=;scores=null;");
}

static void an_empty_file_is_refused(void **state) {
    (void)state;
    says("", "spec.yaml is empty; it must have options");
    says("# only a comment\n", "spec.yaml is empty; it must have options");
    says("---\n", "spec.yaml:2: the file must be a mapping of options to values");
    says("{}\n", "spec.yaml:1: the file has no options");
    says("agents: {}\n", "spec.yaml:1: agents has no agents");
    says("agents: {mine: {}}\n", "spec.yaml:1: agent mine has no options; give it its algorithm");
}

static void what_is_not_a_mapping_is_refused(void **state) {
    (void)state;
    says("just a text\n", "spec.yaml:1: the file must be a mapping of options to values");
    says("- a\n- b\n", "spec.yaml:1: the file must be a mapping of options to values");
    says("rounds: 1\nagents: 3\n", "spec.yaml:2: agents must be a mapping of labels to options");
    says("agents: [a, b]\n", "spec.yaml:1: agents must be a mapping of labels to options");
    says("agents:\n  mine: cn-ucb\n", "spec.yaml:2: agent mine must be a mapping of options");
    says("agents:\n  mine: [cn-ucb]\n", "spec.yaml:2: agent mine must be a mapping of options");
}

static void nesting_is_refused(void **state) {
    (void)state;
    says("rounds:\n  more: 1\n", "spec.yaml:2: rounds must be a value, not a mapping");
    says("agents:\n  mine:\n    gamma:\n      deep: 1\n",
         "spec.yaml:4: gamma must be a value, not a mapping");
    says("algorithm: [a, [b]]\n", "spec.yaml:1: a sequence cannot be here");
    says("algorithm: [a, {b: c}]\n", "spec.yaml:1: a mapping cannot be here");
    says("algorithm: [a, ~]\n", "spec.yaml:1: a sequence has an empty item");
    says("? [a, b]\n: 1\n", "spec.yaml:1: a sequence cannot be here");
    says("? {a: b}\n: 1\n", "spec.yaml:1: a mapping cannot be here");
}

static void duplicates_are_refused(void **state) {
    (void)state;
    says("rounds: 1\narms: 3\nrounds: 2\n", "spec.yaml:3: rounds is there twice");
    says("agents:\n  a: {x: 1}\n  a: {x: 1}\n", "spec.yaml:3: a is there twice");
    says("agents:\n  a:\n    x: 1\n    x: 1\n", "spec.yaml:4: x is there twice");
    gives("x: 0\nagents: {a: {x: 1}, b: {x: 2}}\n", "x=0;a/x=1;b/x=2;");
}

static void cleverness_is_refused(void **state) {
    (void)state;
    says("rounds: &a 1\n", "spec.yaml:1: anchors are not supported (&a)");
    says("rounds: 1\narms: &list [1]\n", "spec.yaml:2: anchors are not supported (&list)");
    says("&top\nrounds: 1\n", "spec.yaml:1: anchors are not supported (&top)");
    says("rounds: *a\n", "spec.yaml:1: aliases are not supported (*a)");
    says("rounds: !!int 3\n", "spec.yaml:1: tags are not supported (tag:yaml.org,2002:int)");
    says("a: 1\n---\nb: 2\n", "spec.yaml:2: a second document begins; there must be one");
    says("out: \"a\\0b\"\n", "spec.yaml:1: a value has a zero character");
}

static void syntax_has_a_line(void **state) {
    (void)state;
    char pairs[4096];
    assert_fails(parse("rounds: 1\n arms: 2\n", pairs), SA_INVALID, "spec.yaml:2: ");
    assert_fails(parse("rounds: [1, 2\n", pairs), SA_INVALID, "spec.yaml:2: ");
    assert_fails(parse("rounds: \"open\n", pairs), SA_INVALID, "spec.yaml:");
    assert_fails(parse("a: 1\n\tb: 2\n", pairs), SA_INVALID, "spec.yaml:");
    assert_fails(parse("out: \xff\xfe\xff\n", pairs), SA_INVALID, "spec.yaml:");
    assert_fails(parse("%YAML 9.9\n---\na: 1\n", pairs), SA_INVALID, "spec.yaml:1: ");
}

static void the_callers_sentence_gets_the_line(void **state) {
    (void)state;
    char pairs[4096];
    says("rounds: 1\nbad: 3\narms: 1\n", "spec.yaml:2: --bad is not an option");
    says("bad:\n  - 3\n  - 4\n", "spec.yaml:1: --bad is not an option");
    assert_fails(parse("rounds: 1\nbad: 3\narms: 1\n", pairs), SA_INVALID, "spec.yaml:2: ");
    assert_string_equal(pairs, "rounds=1;"); /* and the reading ends there */
}

static char *repeated(const char *start, const char *part, size_t times) {
    char *text = malloc(strlen(start) + strlen(part) * times + 1), *end = text + sprintf(text, "%s", start);
    for (size_t i = 0; i < times; i++) end += sprintf(end, "%s", part);
    return text;
}

static void deep_nesting_does_not_recurse(void **state) {
    (void)state;
    const char *const starts[] = {"a: ", "a: ", "", "agents: ", "- "}, *const parts[] = {"[", "{x: ", "[",
                                                                                         "{a: ", "- "};
    for (int i = 0; i < 5; i++) {
        char *text = repeated(starts[i], parts[i], 10000), pairs[4096];
        assert_int_equal(parse(text, pairs), SA_INVALID);
        assert_non_null(strstr(sa_last_error(), "spec.yaml:1: "));
        free(text);
    }
}

static void very_many_keys_are_refused(void **state) {
    (void)state;
    char *text = malloc(100000), *end = text;
    size_t pairs = 0;
    for (int i = 0; i < 5000; i++) end += sprintf(end, "key%d: 1\n", i);
    assert_says(sa_yaml_parse(text, (size_t)(end - text), "spec.yaml", count, &pairs), SA_INVALID,
                "spec.yaml:4097: a mapping has more than 4096 keys");
    assert_int_equal(pairs, 4096);
    free(text);
}

static void every_beginning_is_parsed_or_refused(void **state) {
    (void)state;
    const char *text =
        "rounds: 100\nagents:\n  mine: {algorithm: [a, 'b'], gamma: \"0.3\"}\n  other:\n    x: |\n      y\n";
    for (size_t cut = 0; cut <= strlen(text); cut++) {
        char *part = malloc(cut ? cut : 1), pairs[4096] = ""; /* of just that size, for the sanitizer */
        memcpy(part, text, cut);
        sa_status status = sa_yaml_parse(part, cut, "spec.yaml", collect, pairs);
        assert_true(status == SA_OK || (status == SA_INVALID && !strncmp(sa_last_error(), "spec.yaml", 9)));
        free(part);
    }
}

int main(void) {
    size_t pairs = 0;
    if (sa_yaml_parse("a: 1", 4, "spec.yaml", count, &pairs) ==
        SA_UNSUPPORTED) { /* a build without libyaml */
        printf("%s\n", sa_last_error());
        return strstr(sa_last_error(), "spec.yaml cannot be read") ? 0 : 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_come_in_order),
        cmocka_unit_test(agents_have_labels),
        cmocka_unit_test(sequences_are_joined),
        cmocka_unit_test(nothing_is_the_empty_text),
        cmocka_unit_test(an_empty_file_is_refused),
        cmocka_unit_test(what_is_not_a_mapping_is_refused),
        cmocka_unit_test(nesting_is_refused),
        cmocka_unit_test(duplicates_are_refused),
        cmocka_unit_test(cleverness_is_refused),
        cmocka_unit_test(syntax_has_a_line),
        cmocka_unit_test(the_callers_sentence_gets_the_line),
        cmocka_unit_test(deep_nesting_does_not_recurse),
        cmocka_unit_test(very_many_keys_are_refused),
        cmocka_unit_test(every_beginning_is_parsed_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
