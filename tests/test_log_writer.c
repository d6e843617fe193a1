/* What is written can be read, and is the same; what could not be read is not written. */
#include <math.h>

#include <superarm/log.h>

#include "test_file_scratch.h"

static sa_log_writer *open_writer(void) {
    sa_log_writer *writer;
    assert_ok(sa_log_writer_open(scratch("log.jsonl"), 17, &writer));
    return writer;
}

static void test_contexts(void **state) {
    (void)state;
    static const double contexts[] = {0.1, 1.0 / 3, -2e-300, 4, 5, 6}, feedback[] = {1, NAN};
    static const size_t arms[] = {2, 0};
    sa_log_entry entry;
    sa_log_entry_clear(&entry);
    entry.event = "e\"1\n";
    entry.candidates = 3;
    entry.dim = 2;
    entry.contexts = contexts;
    entry.slate = 2;
    entry.arms = arms;
    entry.feedback = feedback;
    sa_log_writer *writer = open_writer();
    assert_ok(sa_log_writer_write(writer, &entry));
    assert_ok(sa_log_writer_finish(writer));
    char *text;
    size_t size;
    assert_ok(sa_file_read(scratch("log.jsonl"), &text, &size));
    assert_string_equal(
        text,
        "{\"event\":\"e\\\"1\\u000a\",\"contexts\":[[0.10000000000000001,0.33333333333333331],"
        "[-2.0000000000000001e-300,4],[5,6]],\"slate\":[2,0],\"propensity\":null,\"feedback\":[1,null]}\n");
    sa_free(text);
    sa_log_reader *reader;
    const sa_log_entry *read;
    assert_ok(sa_log_reader_open(scratch("log.jsonl"), false, &reader));
    assert_ok(sa_log_reader_next(reader, &read));
    assert_string_equal(read->event, entry.event);
    assert_memory_equal(read->contexts, contexts, sizeof contexts);
    assert_memory_equal(read->arms, arms, sizeof arms);
    sa_log_reader_close(reader);
}

/* Everything that a reader gives, written, is the same line again. */
static void test_round_trip(void **state) {
    (void)state;
    static const char line[] =
        "{\"event\":\"e-17\",\"time\":\"2026-11-15T12:00:00Z\",\"agent\":\"home\",\"model\":12,\"context\":{"
        "\"hour\": 3},"
        "\"items\":[{\"id\":\"p1\",\"price\":3},{\"id\":\"p9\"},{\"id\":\"p2\"}],\"slate\":[\"p9\",\"p1\"],"
        "\"propensity\":"
        "0.03125,"
        "\"prefix_propensities\":[0.5,0.03125],\"position_propensities\":[0.5,null],\"target_propensity\":0,"
        "\"target_prefix_propensities\":[1,0],\"target_position_propensities\":[0.5,0],\"feedback\":[1,null],"
        "\"final\":"
        "false,"
        "\"seq\":7,\"note\":{\"a\":[\"x\"]}}\n";
    assert_ok(sa_file_write(scratch("in.jsonl"), line, strlen(line)));
    sa_log_reader *reader;
    const sa_log_entry *entry;
    assert_ok(sa_log_reader_open(scratch("in.jsonl"), false, &reader));
    assert_ok(sa_log_reader_next(reader, &entry));
    sa_log_writer *writer = open_writer();
    assert_ok(sa_log_writer_write(writer, entry));
    assert_ok(sa_log_writer_finish(writer));
    sa_log_reader_close(reader);
    char *text;
    size_t size;
    assert_ok(sa_file_read(scratch("log.jsonl"), &text, &size));
    assert_string_equal(text, line);
    sa_free(text);
}

static void test_refused(void **state) {
    (void)state;
    static const double contexts[] = {1, 2, 3}, holes[] = {1, NAN, 3}, feedback[] = {1, NAN};
    static const size_t one[] = {1}, first[] = {0, 1}, arms[] = {2, 0}, twice[] = {1, 1}, far[] = {0, 3};
    static const char *const ids[] = {"a", "b"};
    sa_log_entry good, entry;
    sa_log_entry_clear(&good);
    good.candidates = 3, good.dim = 1, good.contexts = contexts, good.slate = 2, good.arms = arms,
    good.feedback = feedback;
    sa_log_writer *writer = open_writer();
#define REFUSED(change, words)                                                                               \
    do {                                                                                                     \
        entry = good;                                                                                        \
        change;                                                                                              \
        assert_fails(sa_log_writer_write(writer, &entry), SA_INVALID, words);                                \
    } while (0)
    REFUSED(entry.arms = twice, "slate[1] is 1, and it is in the slate twice");
    REFUSED(entry.arms = far, "slate[1] is 3, and there are 3 candidates");
    REFUSED(entry.contexts = NULL, "there are neither contexts nor items");
    REFUSED(entry.contexts = holes, "contexts[1][0] is null, and a finite number is wanted");
    REFUSED(entry.propensity = 0, "propensity is 0");
    REFUSED((entry.items = "[{}\n]", entry.items_size = 5), "has a line end in it");
    REFUSED((entry.items = "[{}, {}]", entry.items_size = 8), "there are 2 items and 3 contexts");
    REFUSED((entry.extra = "{\"slate\":[1]}", entry.extra_size = 13), "slate is there twice");
    REFUSED((entry.contexts = NULL, entry.items = "[{},{}]", entry.items_size = 7, entry.slate = 1,
             entry.arms = one, entry.feedback = NULL),
            "the entry has 3 candidates, and what is written of it 2");
    REFUSED((entry.ids = ids, entry.arms = first), "slate[0] is \"a\"");
    assert_ok(sa_log_writer_write(writer, &good));
    assert_ok(sa_log_writer_finish(writer));
    sa_log_reader *reader;
    const sa_log_entry *read;
    assert_ok(sa_log_reader_open(scratch("log.jsonl"), false, &reader));
    assert_ok(sa_log_reader_next(reader, &read));
    assert_non_null(read);
    assert_ok(sa_log_reader_next(reader, &read));
    assert_null(read); /* of all these, one line */
    sa_log_reader_close(reader);
    assert_fails(sa_log_writer_open("/nowhere/log.jsonl", 17, &writer), SA_FILE,
                 "/nowhere/log.jsonl cannot be written");
    assert_fails(sa_log_writer_open(scratch("x"), 18, &writer), SA_INVALID, "0 to 17 digits, not 18");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_contexts), cmocka_unit_test(test_round_trip),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
