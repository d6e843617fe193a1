/* Decision logs are read line by line: every field right, every field wrong in turn, and files that are no
 * logs. */
#include <math.h>

#include <superarm/log.h>

#include "test_file_scratch.h"

static void write_log(const char *text) {
    assert_ok(sa_file_write(scratch("log.jsonl"), text, strlen(text)));
}

static sa_log_reader *open_log(const char *text, bool skip_bad) {
    sa_log_reader *reader;
    write_log(text);
    assert_ok(sa_log_reader_open(scratch("log.jsonl"), skip_bad, &reader));
    return reader;
}

static const sa_log_entry *next(sa_log_reader *reader) {
    const sa_log_entry *entry;
    assert_ok(sa_log_reader_next(reader, &entry));
    return entry;
}

static void test_items(void **state) {
    (void)state;
    sa_log_reader *reader = open_log(
        "{\"event\": \"e-17\", \"time\": \"2026-11-15T12:00:00Z\", \"agent\": \"home\", \"model\": 12, "
        "\"final\": false, "
        "\"feedback\": [1, null], \"seq\": 7, \"slate\": [\"p\\u0039\", \"p1\"], \"context\": {\"hour\": 3}, "
        "\"items\": [{\"id\": \"p1\", \"price\": 3}, {\"id\": \"p9\"}, {\"id\": \"p2\"}], \"propensity\": "
        "0.031, "
        "\"prefix_propensities\": [0.5, 0.031], \"position_propensities\": [0.5, null], \"note\": {\"a\": "
        "[\"x\"]}}\n",
        false);
    const sa_log_entry *entry = next(reader);
    assert_non_null(entry);
    assert_string_equal(entry->event, "e-17");
    assert_string_equal(entry->time, "2026-11-15T12:00:00Z");
    assert_string_equal(entry->agent, "home");
    assert_int_equal(entry->model, 12);
    assert_false(entry->final);
    assert_int_equal(entry->line, 1);
    assert_int_equal(entry->candidates, 3);
    assert_int_equal(entry->dim, 0);
    assert_null(entry->contexts);
    assert_string_equal(entry->ids[2], "p2");
    assert_memory_equal(entry->context, "{\"hour\": 3}", entry->context_size);
    assert_int_equal(entry->items[0] == '[' && entry->items[entry->items_size - 1] == ']', 1);
    assert_int_equal(entry->slate, 2);
    assert_int_equal(entry->arms[0], 1);
    assert_int_equal(entry->arms[1], 0);
    assert_true(entry->feedback[0] == 1 && isnan(entry->feedback[1]));
    assert_true(entry->propensity == 0.031 && entry->prefix_propensities[1] == 0.031);
    assert_true(entry->position_propensities[0] == 0.5 && isnan(entry->position_propensities[1]));
    assert_true(isnan(entry->target_propensity));
    assert_null(entry->target_prefix_propensities);
    static const char extra[] = "{\"seq\": 7,\"note\": {\"a\": [\"x\"]}}";
    assert_int_equal(entry->extra_size, strlen(extra));
    assert_memory_equal(entry->extra, extra, strlen(extra));
    assert_null(next(reader));
    assert_null(next(reader));
    assert_string_equal(sa_log_reader_warning(reader), "");
    sa_log_reader_close(reader);
}

static void test_contexts(void **state) {
    (void)state;
    sa_log_reader *reader =
        open_log("\xEF\xBB\xBF{\"contexts\": [[0.1, -2], [3e2, 4]], \"slate\": [1], \"propensity\": null, "
                 "\"feedback\": [0]}\r\n"
                 "\n"
                 "{\"contexts\": [[5, 6, 7]], \"slate\": [], \"target_propensity\": 0, \"model\": null}",
                 false);
    const sa_log_entry *entry = next(reader);
    assert_int_equal(entry->candidates, 2);
    assert_int_equal(entry->dim, 2);
    assert_true(entry->contexts[0] == 0.1 && entry->contexts[1] == -2 && entry->contexts[2] == 300);
    assert_null(entry->event);
    assert_null(entry->ids);
    assert_null(entry->items);
    assert_null(entry->extra);
    assert_true(entry->final && entry->model == -1 && isnan(entry->propensity));
    assert_int_equal(entry->arms[0], 1);
    entry = next(reader);
    assert_int_equal(entry->line, 3);
    assert_int_equal(entry->dim, 3);
    assert_int_equal(entry->slate, 0);
    assert_null(entry->feedback);
    assert_true(entry->target_propensity == 0);
    assert_null(next(reader));
    sa_log_counts counts;
    sa_log_reader_count(reader, &counts);
    assert_int_equal(counts.lines, 3);
    assert_int_equal(counts.decisions, 2);
    assert_int_equal(counts.bad + counts.cut_off, 0);
    char *bytes;
    size_t size;
    assert_ok(sa_file_read(scratch("log.jsonl"), &bytes, &size));
    assert_int_equal(counts.bytes, size);
    sa_free(bytes);
    sa_log_reader_close(reader);
}

/* A good line with one field replaced or added; later ones of the same name would be refused, so the base has
 * none of it. */
static const struct {
    const char *line, *sentence;
} WRONG[] = {
    {"[1]", "the line is a list, and an object is wanted"},
    {"{\"event\": 5, ITEMS, SLATE}", "event is 5, and a text is wanted"},
    {"{\"event\": \"\", ITEMS, SLATE}", "event is an empty text"},
    {"{\"event\": \"a\", \"event\": \"b\", ITEMS, SLATE}", "event is there twice"},
    {"{\"time\": 5, ITEMS, SLATE}", "time is 5, and a text is wanted"},
    {"{\"agent\": {}, ITEMS, SLATE}", "agent is {}, and a text is wanted"},
    {"{\"model\": \"x\", ITEMS, SLATE}", "model is \"x\", and a whole number from 0 is wanted"},
    {"{\"model\": 1.5, ITEMS, SLATE}", "model is 1.5, and a whole number from 0 is wanted"},
    {"{\"model\": -1, ITEMS, SLATE}", "model is -1, and a whole number from 0 is wanted"},
    {"{\"final\": 1, ITEMS, SLATE}", "final is 1, and true or false is wanted"},
    {"{\"context\": [], ITEMS, SLATE}", "context is [], and an object is wanted"},
    {"{SLATE}", "there are neither contexts nor items"},
    {"{\"items\": {}, SLATE}", "items is {}, and a list of objects is wanted"},
    {"{\"items\": [], \"slate\": []}", "items is empty"},
    {"{\"items\": [{}, 5], SLATE}", "items[1] is 5, and an object is wanted"},
    {"{\"items\": [{\"id\": \"a\"}, {\"id\": 5}], SLATE}",
     "items[1].id is 5, and a text of 1 to 256 bytes is wanted"},
    {"{\"items\": [{\"id\": \"\"}], SLATE}", "items[0].id is \"\", and a text of 1 to 256 bytes is wanted"},
    {"{\"items\": [{\"id\": \"a\"}, {\"x\": 1}], SLATE}",
     "items[1] has no id, and others have one: all have one, or none"},
    {"{\"items\": [{\"x\": 1}, {\"id\": \"a\"}], SLATE}",
     "items[1] has an id, and others have none: all have one, or none"},
    {"{\"items\": [{\"id\": \"a\"}, {\"id\": \"b\"}, {\"id\": \"a\"}], SLATE}",
     "items[0] and items[2] have the same id, a"},
    {"{\"contexts\": 5, SLATE}", "contexts is 5, and a list of lists of numbers is wanted"},
    {"{\"contexts\": [], \"slate\": []}", "contexts is empty"},
    {"{\"contexts\": [5], SLATE}", "contexts[0] is 5, and a list of numbers is wanted"},
    {"{\"contexts\": [[1], []], SLATE}", "contexts[1] is empty"},
    {"{\"contexts\": [[1, 2], [3, 4], [5]], SLATE}", "contexts[2] has 1 numbers, and those before it have 2"},
    {"{\"contexts\": [[1, 2], [3, \"x\"]], SLATE}", "contexts[1][1] is \"x\", and a finite number is wanted"},
    {"{\"contexts\": [[1, null]], SLATE}", "contexts[0][1] is null, and a finite number is wanted"},
    {"{\"contexts\": [[1, [2, 3]]], SLATE}", "contexts[0][1] is [2, 3], and a finite number is wanted"},
    {"{\"contexts\": [[1e999]], SLATE}", "contexts[0][0] is 1e999, and a finite number is wanted"},
    {"{ITEMS, \"contexts\": [[1]], SLATE}", "there are 3 items and 1 contexts"},
    {"{ITEMS}", "there is no slate"},
    {"{ITEMS, \"slate\": \"a\"}", "slate is \"a\", and a list is wanted"},
    {"{ITEMS, \"slate\": [0]}", "slate[0] is 0, and the id of an item is wanted"},
    {"{ITEMS, \"slate\": [\"a\", \"z\"]}", "slate[1] is \"z\", and no item has this id"},
    {"{ITEMS, \"slate\": [\"a\", \"b\", \"a\"]}", "slate[2] is \"a\", and it is in the slate twice"},
    {"{ITEMS, \"slate\": [\"a\", \"b\", \"c\", \"d\"]}", "slate has 4 arms, and there are 3 candidates"},
    {"{\"contexts\": [[1], [2]], \"slate\": [\"a\"]}",
     "slate[0] is \"a\", and a whole number from 0 is wanted"},
    {"{\"contexts\": [[1], [2]], \"slate\": [0.5]}", "slate[0] is 0.5, and a whole number from 0 is wanted"},
    {"{\"contexts\": [[1], [2]], \"slate\": [-1]}", "slate[0] is -1, and a whole number from 0 is wanted"},
    {"{\"contexts\": [[1], [2]], \"slate\": [2]}",
     "slate[0] is 2, and there are 2 candidates, counted from 0"},
    {"{\"contexts\": [[1], [2]], \"slate\": [1, 1]}", "slate[1] is 1, and it is in the slate twice"},
    {"{ITEMS, SLATE, \"feedback\": 1}", "feedback is 1, and a list of numbers is wanted"},
    {"{ITEMS, SLATE, \"feedback\": [1, 0, 1]}", "feedback has 3 numbers, and the slate has 2 arms"},
    {"{ITEMS, SLATE, \"feedback\": [1]}", "feedback has 1 numbers, and the slate has 2 arms"},
    {"{ITEMS, SLATE, \"feedback\": [1, \"x\"]}",
     "feedback[1] is \"x\", and a finite number or null is wanted"},
    {"{ITEMS, SLATE, \"feedback\": [1, -1e999]}",
     "feedback[1] is -1e999, and a finite number or null is wanted"},
    {"{ITEMS, SLATE, \"propensity\": 0}",
     "propensity is 0, and a probability above 0 and at most 1, or null, is wanted"},
    {"{ITEMS, SLATE, \"propensity\": 1.1}",
     "propensity is 1.1, and a probability above 0 and at most 1, or null, is wanted"},
    {"{ITEMS, SLATE, \"propensity\": \"x\"}", "propensity is \"x\", and a probability"},
    {"{ITEMS, SLATE, \"prefix_propensities\": [0.5]}",
     "prefix_propensities has 1 numbers, and the slate has 2 arms"},
    {"{ITEMS, SLATE, \"prefix_propensities\": [0.5, -1]}",
     "prefix_propensities[1] is -1, and a probability above 0"},
    {"{ITEMS, SLATE, \"position_propensities\": [2, 1]}",
     "position_propensities[0] is 2, and a probability above 0"},
    {"{ITEMS, SLATE, \"position_propensities\": {}}",
     "position_propensities is {}, and a list of numbers is wanted"},
    {"{ITEMS, SLATE, \"target_propensity\": -0.1}",
     "target_propensity is -0.1, and a probability from 0 to 1"},
    {"{ITEMS, SLATE, \"target_prefix_propensities\": [0, 2]}",
     "target_prefix_propensities[1] is 2, and a probability from 0"},
    {"{ITEMS, SLATE, \"target_position_propensities\": [true, 0]}",
     "target_position_propensities[0] is true, and a prob"},
    {"{ITEMS, SLATE, \"x\": nope}", "a value is wanted, not nope"},
    {"{ITEMS, SLATE", "the text ends where a comma or } is wanted"},
    {"{ITEMS, SLATE, \"x\": \"\xff\"}", "a text is not valid UTF-8"},
};

/* ITEMS and SLATE stand for good ones. */
static void fill_in(const char *line, char *out) {
    *out = 0;
    for (; *line; line++) {
        const char *good = !strncmp(line, "ITEMS", 5)
                               ? "\"items\": [{\"id\": \"a\"}, {\"id\": \"b\"}, {\"id\": \"c\"}]"
                           : !strncmp(line, "SLATE", 5) ? "\"slate\": [\"c\", \"a\"]"
                                                        : NULL;
        if (good)
            strcat(out, good), line += 4;
        else
            strncat(out, line, 1);
    }
}

static const char GOOD[] = "{\"contexts\": [[1], [2]], \"slate\": [0], \"feedback\": [1]}\n";

static void test_wrong(void **state) {
    (void)state;
    char line[1024], text[2048], wanted[1024];
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        const sa_log_entry *entry;
        fill_in(WRONG[i].line, line);
        snprintf(text, sizeof text, "%s%s\n%s", GOOD, line, GOOD);
        sa_log_reader *reader = open_log(text, false);
        assert_non_null(next(reader));
        snprintf(wanted, sizeof wanted, "log.jsonl:2: ");
        sa_status status = sa_log_reader_next(reader, &entry);
        if (status != SA_FORMAT) fail_msg("%s was taken", line);
        if (!strstr(sa_last_error(), wanted) || !strstr(sa_last_error(), WRONG[i].sentence))
            fail_msg("%s: \"%s\" lacks \"%s\"", line, sa_last_error(), WRONG[i].sentence);
        assert_null(entry);
        assert_int_equal(next(reader)->line, 3); /* goes on behind it */
        sa_log_reader_close(reader);

        reader = open_log(text, true);
        assert_int_equal(next(reader)->line, 1);
        assert_int_equal(next(reader)->line, 3);
        assert_null(next(reader));
        assert_non_null(strstr(sa_log_reader_warning(reader), "1 line was skipped; the first: "));
        assert_non_null(strstr(sa_log_reader_warning(reader), WRONG[i].sentence));
        sa_log_counts counts;
        sa_log_reader_count(reader, &counts);
        assert_int_equal(counts.bad, 1);
        assert_int_equal(counts.decisions, 2);
        sa_log_reader_close(reader);
    }
}

/* Wherever the last line is cut, it is left out with a warning; but for its last byte, the line end. */
static void test_cut_off(void **state) {
    (void)state;
    char text[1024];
    for (size_t size = 1; size < strlen(GOOD); size++) {
        snprintf(text, sizeof text, "%s%.*s", GOOD, (int)size, GOOD);
        sa_log_reader *reader = open_log(text, size % 2);
        bool whole = size == strlen(GOOD) - 1;
        assert_non_null(next(reader));
        assert_int_equal(!next(reader), !whole);
        assert_null(next(reader));
        const char *warning = sa_log_reader_warning(reader);
        if (whole)
            assert_string_equal(warning, "");
        else
            assert_non_null(strstr(warning, "log.jsonl: the last line, 2, is cut off and was left out"));
        sa_log_reader_close(reader);
    }
    const sa_log_entry *entry; /* wrong in another way is no cut */
    snprintf(text, sizeof text, "%s{\"slate\": [0]}", GOOD);
    sa_log_reader *reader = open_log(text, false);
    assert_non_null(next(reader));
    assert_fails(sa_log_reader_next(reader, &entry), SA_FORMAT, "log.jsonl:2: there are neither");
    sa_log_reader_close(reader);
}

static void test_no_logs(void **state) {
    (void)state;
    const sa_log_entry *entry;
    sa_log_reader *reader = NULL;
    assert_fails(sa_log_reader_open(scratch("absent"), false, &reader), SA_FILE,
                 "absent cannot be opened: No such file");
    assert_fails(sa_log_reader_open("", false, &reader), SA_INVALID, "a log has no name");
    assert_null(reader);
    assert_ok(sa_log_reader_open(scratch_folder, false, &reader));
    assert_fails(sa_log_reader_next(reader, &entry), SA_FILE, "cannot be read: Is a directory");
    sa_log_reader_close(reader);
    static const struct {
        const char *text, *sentence;
    } cases[] = {{"", "log.jsonl has no decisions"},
                 {" \n\r\n", "log.jsonl has no decisions"},
                 {"{\"event\": \"e", "log.jsonl has no decision but one that is cut off"},
                 {"5\n6\n", "log.jsonl has no line that is a decision; "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        reader = open_log(cases[i].text, true);
        assert_fails(sa_log_reader_next(reader, &entry), SA_FORMAT, cases[i].sentence);
        sa_log_reader_close(reader);
    }
    sa_log_reader_close(NULL);
}

/* Lines around the size of a block, and one that is longer than any may be: nothing is lost, and it is passed
 * over. */
static void test_long_lines(void **state) {
    (void)state;
    FILE *file = fopen(scratch("log.jsonl"), "w");
    assert_non_null(file);
    static const size_t spaces[] = {0, 262143, 262144, 600000, 5, (size_t)1 << 27, 262000};
    enum { LINES = sizeof spaces / sizeof *spaces };
    for (size_t i = 0; i < LINES; i++) {
        fprintf(file, "{\"contexts\": [[%zu]], ", i);
        for (size_t left = spaces[i]; left > 0;) {
            size_t part = left < 65536 ? left : 65536;
            fprintf(file, "%*s", (int)part, "");
            left -= part;
        }
        fprintf(file, "\"slate\": [0]}\n");
    }
    fclose(file);
    sa_log_reader *reader;
    assert_ok(sa_log_reader_open(scratch("log.jsonl"), true, &reader));
    for (size_t i = 0; i < LINES; i++) {
        if (spaces[i] > SA_LOG_LONGEST_LINE) continue;
        const sa_log_entry *entry = next(reader);
        assert_int_equal(entry->line, i + 1);
        assert_true(entry->contexts[0] == (double)i);
    }
    assert_null(next(reader));
    assert_non_null(
        strstr(sa_log_reader_warning(reader), "log.jsonl:6: the line is longer than 67108864 bytes"));
    sa_log_reader_close(reader);
}

/* A thousand items, and each found by its id; ids with escapes are the texts that they stand for. */
static void test_many_ids(void **state) {
    (void)state;
    FILE *file = fopen(scratch("log.jsonl"), "w");
    fprintf(file, "{\"items\": [");
    for (int i = 0; i < 1000; i++)
        fprintf(file, "%s{\"n\": %d, \"id\": \"\\u0070%d\"}", i ? ", " : "", i, i * 7919 % 1000);
    fprintf(file, "], \"slate\": [");
    for (int i = 0; i < 1000; i++) fprintf(file, "%s\"p%d\"", i ? "," : "", i);
    fprintf(file, "]}\n");
    fclose(file);
    sa_log_reader *reader;
    assert_ok(sa_log_reader_open(scratch("log.jsonl"), false, &reader));
    const sa_log_entry *entry = next(reader);
    assert_int_equal(entry->slate, 1000);
    for (size_t i = 0; i < 1000; i++) assert_int_equal(entry->arms[i] * 7919 % 1000, i);
    sa_log_reader_close(reader);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_items),   cmocka_unit_test(test_contexts),
                                       cmocka_unit_test(test_wrong),   cmocka_unit_test(test_cut_off),
                                       cmocka_unit_test(test_no_logs), cmocka_unit_test(test_long_lines),
                                       cmocka_unit_test(test_many_ids)};
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
