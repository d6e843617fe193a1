/* Logs of other programs become decision logs, and back. */
#include <math.h>

#include <superarm/superarm.h>

#include "base/npy.h"
#include "test_file_scratch.h"

static void write_file(const char *name, const char *text) {
    assert_ok(sa_file_write(scratch(name), text, strlen(text)));
}

static void assert_file(const char *name, const char *wanted) {
    char *text;
    size_t size;
    assert_ok(sa_file_read(scratch(name), &text, &size));
    assert_string_equal(text, wanted);
    sa_free(text);
}

static sa_converted converted;

static sa_status convert(const char *from, const char *to, const char *in, const char *out) {
    char in_path[512], out_path[512];
    snprintf(in_path, sizeof in_path, "%s", scratch(in));
    snprintf(out_path, sizeof out_path, "%s", scratch(out));
    return sa_convert(&(sa_conversion){.from = from, .to = to, .in = in_path, .out = out_path}, &converted);
}

/* ---- vw ---- */

#define CB_C                                                                                                 \
    "{\"GUser\":{\"id\":\"rnc\",\"major\":\"law\"},\"hour\":3,\"_multi\":[{\"TAction\":{\"topic\":"          \
    "\"Herbs\"}},"                                                                                           \
    "{\"TAction\":{\"topic\":\"Ski\",\"deep\":{\"er\":[1,2]}}}]}"

static void test_vw_cb(void **state) {
    (void)state;
    write_file(
        "cb.dsjson",
        "{\"_label_cost\":-1,\"_label_probability\":0.8,\"_label_Action\":2,\"_labelIndex\":1,\"Timestamp\":"
        "\"2019-11-12T14:22:37Z\",\"Version\":\"1\",\"EventId\":\"f5e\",\"a\":[2,1],\"c\":" CB_C
        ",\"p\":[0.8,0.2]}\n\n{\"a\":[1,2],\"p\":[1.0000001,0.2],\"c\":" CB_C "}\n{\"a\":[1,2],\"p\":[0.5");
    assert_ok(convert("vw", "log", "cb.dsjson", "log.jsonl"));
    assert_int_equal(converted.decisions, 2);
    assert_string_equal(converted.note, "the last line, 4, is cut off and was left out");
#define CB_LOG                                                                                               \
    "\"context\":{\"GUser.id\":\"rnc\",\"GUser.major\":\"law\",\"hour\":3},"                                 \
    "\"items\":[{\"TAction.topic\":\"Herbs\"},{\"TAction.topic\":\"Ski\",\"TAction.deep.er\":[1,2]}],"
    assert_file("log.jsonl",
                "{\"event\":\"f5e\",\"time\":\"2019-11-12T14:22:37Z\"," CB_LOG
                "\"slate\":[1],\"propensity\":0.8,"
                "\"prefix_propensities\":[0.8],\"position_propensities\":[0.8],\"feedback\":[1],\"Version\":"
                "\"1\",\"a\":[2,1],"
                "\"p\":[0.8,0.2]}\n{" CB_LOG "\"slate\":[0],\"propensity\":1,\"prefix_propensities\":[1],"
                "\"position_propensities\":[1],\"feedback\":null,\"a\":[1,2],\"p\":[1.0000001,0.2]}\n");
    /* and back: the same decisions */
    assert_ok(convert("log", "vw", "log.jsonl", "back.dsjson"));
    assert_ok(convert("vw", "log", "back.dsjson", "again.jsonl"));
    sa_log_reader *one, *two;
    const sa_log_entry *a, *b;
    assert_ok(sa_log_reader_open(scratch("log.jsonl"), false, &one));
    assert_ok(sa_log_reader_open(scratch("again.jsonl"), false, &two));
    for (int i = 0; i < 2; i++) {
        assert_ok(sa_log_reader_next(one, &a));
        assert_ok(sa_log_reader_next(two, &b));
        assert_int_equal(a->items_size, b->items_size);
        assert_memory_equal(a->context, b->context, a->context_size);
        assert_int_equal(a->arms[0], b->arms[0]);
        assert_true(a->propensity == b->propensity && !a->feedback == !b->feedback);
    }
    sa_log_reader_close(one);
    sa_log_reader_close(two);
}

/* Probabilities of slots are conditional on the slots before; a position's are not known. */
static void test_vw_ccb(void **state) {
    (void)state;
    write_file(
        "ccb.dsjson",
        "{\"c\":{\"_multi\":[{\"a\":1},{\"a\":2},{\"a\":3}],\"_slots\":[{\"_id\":\"s1\"},{}]},\"_outcomes\":["
        "{\"_label_cost\":0.0,\"_a\":[1,0,2],\"_p\":[0.5,0.25,0.25]},{\"_label_cost\":-2,\"_a\":[0,2],\"_p\":"
        "[0.75,"
        "0.25]}],\"Version\":\"1\"}\n");
    assert_ok(convert("vw", "log", "ccb.dsjson", "log.jsonl"));
    assert_file(
        "log.jsonl",
        "{\"items\":[{\"a\":1},{\"a\":2},{\"a\":3}],\"slate\":[1,0],\"propensity\":0.375,"
        "\"prefix_propensities\":[0.5,0.375],\"feedback\":[0,2],\"_outcomes\":["
        "{\"_label_cost\":0.0,\"_a\":[1,0,2],\"_p\":[0.5,0.25,0.25]},{\"_label_cost\":-2,\"_a\":[0,2],\"_p\":"
        "[0.75,0.25]}],\"Version\":\"1\",\"_slots\":[{\"_id\":\"s1\"},{}]}\n");
    assert_ok(convert("log", "vw", "log.jsonl", "back.dsjson"));
    assert_ok(convert("vw", "log", "back.dsjson", "again.jsonl"));
    char *text;
    size_t size;
    assert_ok(sa_file_read(scratch("log.jsonl"), &text, &size));
    assert_file("again.jsonl", text);
    sa_free(text);
    /* a log of our own: contexts go as dense features, and come back */
    write_file("own.jsonl",
               "{\"event\":\"e\",\"contexts\":[[0.5,-2],[3,4],[5,6]],\"slate\":[2,0],\"propensity\":0.125,"
               "\"prefix_propensities\":[0.5,0.125],\"feedback\":[1,null],\"run\":0}\n"
               "{\"contexts\":[[1]],\"slate\":[0],\"feedback\":[1]}\n");
    assert_ok(convert("log", "vw", "own.jsonl", "own.dsjson"));
    assert_int_equal(converted.decisions, 1);
    assert_int_equal(converted.left_out, 1); /* no propensity */
    assert_file("own.dsjson",
                "{\"_outcomes\":[{\"_label_cost\":-1,\"_a\":[2],\"_p\":[0.5]},{\"_a\":[0],\"_p\":[0.25]}],"
                "\"EventId\":\"e\",\"c\":{\"_multi\":[{\"x\":[0.5,-2]},{\"x\":[3,4]},{\"x\":[5,6]}],"
                "\"_slots\":[{},{}]},\"Version\":\"1\"}\n");
    assert_ok(convert("vw", "log", "own.dsjson", "again.jsonl"));
    assert_ok(sa_file_read(scratch("again.jsonl"), &text, &size));
    assert_non_null(strstr(
        text, "{\"event\":\"e\",\"contexts\":[[0.5,-2],[3,4],[5,6]],\"slate\":[2,0],\"propensity\":0.125,"
              "\"prefix_propensities\":[0.5,0.125],\"feedback\":[1,null],"));
    sa_free(text);
}

static void test_vw_wrong(void **state) {
    (void)state;
    static const struct {
        const char *line, *sentence;
    } cases[] = {
        {"5", "cases.dsjson:2: the line is no object"},
        {"{\"a\":[1],\"p\":[1]}", "there is no object c with the features"},
        {"{\"c\":{}}", "c has no list _multi with the actions"},
        {"{\"c\":{\"_multi\":[]}}", "c._multi is empty"},
        {"{\"c\":{\"_multi\":[5]}}", "an action of c._multi is no object"},
        {"{\"c\":{\"_multi\":[{}]},\"a\":[2],\"p\":[1]}",
         "a[0] is 2, and there are 1 actions, counted from 1"},
        {"{\"c\":{\"_multi\":[{}]},\"a\":[0],\"p\":[1]}",
         "a[0] is 0, and there are 1 actions, counted from 1"},
        {"{\"c\":{\"_multi\":[{}]},\"_label_Action\":1.5,\"p\":[1]}",
         "_label_Action is 1.5, and there are 1 actions"},
        {"{\"c\":{\"_multi\":[{}]},\"p\":[1]}", "a[0] is not there"},
        {"{\"c\":{\"_multi\":[{}]},\"a\":[1]}", "_label_probability is not there"},
        {"{\"c\":{\"_multi\":[{}]},\"a\":[1],\"p\":[0]}",
         "_label_probability is 0, and a probability above 0 is wanted"},
        {"{\"c\":{\"_multi\":[{}]},\"a\":[1],\"p\":[2]}", "_label_probability is 2, and a probability"},
        {"{\"c\":{\"_multi\":[{}]},\"a\":[1],\"p\":[1],\"_label_cost\":\"x\"}",
         "_label_cost is \"x\", and a finite number"},
        {"{\"c\":{\"_multi\":[{},{}]},\"_outcomes\":5}", "_outcomes is no list"},
        {"{\"c\":{\"_multi\":[{},{}]},\"_outcomes\":[]}", "_outcomes is empty"},
        {"{\"c\":{\"_multi\":[{},{}]},\"_outcomes\":[5]}", "an outcome of _outcomes is no object"},
        {"{\"c\":{\"_multi\":[{},{}]},\"_outcomes\":[{\"_a\":[2],\"_p\":[1]}]}",
         "_a[0] is 2, and there are 2 actions, counted from 0"},
        {"{\"c\":{\"_multi\":[{},{}]},\"_outcomes\":[{\"_a\":[0],\"_p\":[1]},{\"_a\":[0],\"_p\":[1]}]}",
         "two slots have the action 0"},
        {"{\"c\":{\"_multi\":[{\"id\":\"a\"},{\"id\":\"a\"}]},\"a\":[1],\"p\":[1]}",
         "items[0] and items[1] have the same id, a"},
    };
    char text[1024];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "{\"c\":{\"_multi\":[{}]},\"a\":[1],\"p\":[1]}\n%s\n", cases[i].line);
        write_file("cases.dsjson", text);
        sa_path_remove(scratch("none.jsonl"));
        assert_fails(convert("vw", "log", "cases.dsjson", "none.jsonl"), SA_FORMAT, cases[i].sentence);
        assert_false(sa_file_exists(scratch("none.jsonl")));
    }
}

/* ---- obp ---- */

static void write_npz(const char *name, bool slates, double first_pscore) {
    static const int64_t action[] = {1, 0, 2, 1}, slate[] = {7, 7, 9, 9}, actions = 3;
    static const double context[] = {0.5, -1, 2, 3, 4, 5, 6, 7}, items[] = {10, 20, 30},
                        reward[] = {1, 0, 0.5, 0};
    static double pscore[] = {0.25, 0.25, 0.125, 0.125}, prefix[] = {0.5, 0.25, 0.5, 0.125},
                  place[] = {0.5, 0.4, 0.5, 0.3};
    pscore[0] = first_pscore;
    sa_npz_writer *writer;
    size_t rows = 4, decisions = slates ? 2 : 4;
    assert_ok(sa_npz_begin(&writer));
    assert_ok(sa_npz_add(writer, "action", SA_INT64, 1, &rows, action));
    assert_ok(sa_npz_add(writer, "reward", SA_FLOAT64, 1, &rows, reward));
    assert_ok(sa_npz_add(writer, "pscore", SA_FLOAT64, 1, &rows, pscore));
    assert_ok(sa_npz_add(writer, "context", SA_FLOAT64, 2, (size_t[]){decisions, 2}, context));
    if (slates) {
        assert_ok(sa_npz_add(writer, "slate_id", SA_INT64, 1, &rows, slate));
        assert_ok(sa_npz_add(writer, "pscore_cascade", SA_FLOAT64, 1, &rows, prefix));
        assert_ok(sa_npz_add(writer, "pscore_item_position", SA_FLOAT64, 1, &rows, place));
        assert_ok(sa_npz_add(writer, "n_unique_action", SA_INT64, 0, NULL, &actions));
    } else {
        assert_ok(sa_npz_add(writer, "action_context", SA_FLOAT64, 2, (size_t[]){3, 1}, items));
    }
    assert_ok(sa_npz_finish(writer, scratch(name)));
}

static void test_obp(void **state) {
    (void)state;
    write_npz("in.npz", false, 0.25);
    assert_ok(convert("obp", "log", "in.npz", "log.jsonl"));
    assert_int_equal(converted.decisions, 4);
    char *text, *again;
    size_t size;
    assert_ok(sa_file_read(scratch("log.jsonl"), &text, &size));
    static const char first[] =
        "{\"event\":\"1\",\"contexts\":[[0.5,-1,10],[0.5,-1,20],[0.5,-1,30]],\"slate\":[1],"
        "\"propensity\":0.25,\"feedback\":[1]}\n";
    assert_memory_equal(text, first, strlen(first));
    /* and back, and again: the same log */
    assert_ok(convert("log", "obp", "log.jsonl", "back.npz"));
    assert_ok(convert("obp", "log", "back.npz", "again.jsonl"));
    assert_ok(sa_file_read(scratch("again.jsonl"), &again, &size));
    assert_string_equal(again, text);
    sa_free(again);
    sa_free(text);
    /* slates; without action_context an action's own features are a 1 at its place */
    write_npz("slates.npz", true, 0.25);
    assert_ok(convert("obp", "log", "slates.npz", "log.jsonl"));
    assert_int_equal(converted.decisions, 2);
    assert_ok(sa_file_read(scratch("log.jsonl"), &text, &size));
    static const char slate[] =
        "{\"event\":\"1\",\"contexts\":[[0.5,-1,1,0,0],[0.5,-1,0,1,0],[0.5,-1,0,0,1]],\"slate\":[1,0],"
        "\"propensity\":0.25,\"prefix_propensities\":[0.5,0.25],\"position_propensities\":[0.5,0.4],"
        "\"feedback\":[1,0]}\n";
    assert_memory_equal(text, slate, strlen(slate));
    assert_ok(convert("log", "obp", "log.jsonl", "back.npz"));
    assert_ok(convert("obp", "log", "back.npz", "again.jsonl"));
    assert_ok(sa_file_read(scratch("again.jsonl"), &again, &size));
    assert_string_equal(again, text);
    sa_free(again);
    sa_free(text);
    /* fields need a schema */
    write_file("named.jsonl",
               "{\"context\":{\"u\":2},\"items\":[{\"p\":3},{\"p\":5}],\"slate\":[1],\"feedback\":[1]}\n");
    assert_fails(convert("log", "obp", "named.jsonl", "x.npz"), SA_INVALID,
                 "named.jsonl:1: items have named fields");
    write_file("s.yaml", "context: {u: number}\nitem: {p: number}\n");
    char in[512], out[512], schema[512];
    snprintf(in, sizeof in, "%s", scratch("named.jsonl"));
    snprintf(out, sizeof out, "%s", scratch("named.npz"));
    snprintf(schema, sizeof schema, "%s", scratch("s.yaml"));
    assert_ok(sa_convert(&(sa_conversion){.from = "log", .to = "obp", .in = in, .out = out, .schema = schema},
                         NULL));
    assert_ok(convert("obp", "log", "named.npz", "log.jsonl"));
    assert_file("log.jsonl", "{\"event\":\"1\",\"contexts\":[[2,0,3,0],[2,0,5,0]],\"slate\":[1],"
                             "\"propensity\":null,\"feedback\":[1]}\n");
}

static void test_obp_wrong(void **state) {
    (void)state;
    write_npz("in.npz", false, 2);
    assert_fails(convert("obp", "log", "in.npz", "x.jsonl"), SA_INVALID,
                 "propensity is 2, and a probability");
    write_npz("in.npz", false, NAN);
    assert_fails(convert("obp", "log", "in.npz", "x.jsonl"), SA_FORMAT,
                 "in.npz: pscore has a number that is not finite");
    size_t rows = 2;
    static const int64_t action[] = {0, -1}, far[] = {0, 5}, actions = 2;
    static const double reward[] = {1, 2};
    for (int i = 0; i < 4; i++) {
        static const char *const sentences[] = {
            "action -1 of row 1 is no whole number", "there is the action 5, and there are 2",
            "there are no arrays action and reward", "reward has 1 rows, and action has 2"};
        sa_npz_writer *writer;
        size_t short_one = i == 3 ? 1 : 2;
        assert_ok(sa_npz_begin(&writer));
        assert_ok(sa_npz_add(writer, "action", SA_INT64, 1, &rows, i == 1 ? far : action));
        assert_ok(sa_npz_add(writer, "n_actions", SA_INT64, 0, NULL, &actions));
        if (i != 2) assert_ok(sa_npz_add(writer, "reward", SA_FLOAT64, 1, &short_one, reward));
        assert_ok(sa_npz_finish(writer, scratch("wrong.npz")));
        assert_fails(convert("obp", "log", "wrong.npz", "x.jsonl"), SA_FORMAT, sentences[i]);
    }
    write_file("log.jsonl", "{\"contexts\":[[1]],\"slate\":[0],\"feedback\":[1]}\n{\"contexts\":[[1],[2]],"
                            "\"slate\":[0],\"feedback\":[1]}\n");
    assert_fails(convert("log", "obp", "log.jsonl", "x.npz"), SA_INVALID,
                 "log.jsonl:2: 2 candidates of 1 features, and those before are 1 of 1");
    write_file("log.jsonl", "{\"contexts\":[[1]],\"slate\":[0]}\n");
    assert_fails(convert("log", "obp", "log.jsonl", "x.npz"), SA_INVALID, "none of the 1 decisions of ");
}

/* ---- csv ---- */

static sa_status convert_csv(const char *items, const char *per_item, const char *event) {
    char in[512], out[512], list[512];
    snprintf(in, sizeof in, "%s", scratch("in.csv"));
    snprintf(out, sizeof out, "%s", scratch("log.jsonl"));
    snprintf(list, sizeof list, "%s", items ? scratch(items) : "");
    return sa_convert(&(sa_conversion){.from = "csv",
                                       .to = "log",
                                       .in = in,
                                       .out = out,
                                       .items = items ? list : NULL,
                                       .per_item = per_item,
                                       .event = event},
                      &converted);
}

static void test_csv(void **state) {
    (void)state;
    write_file("items.csv", ",item_id,price,colour\n0,a,3.5,red\n1,b,,\"blue, dark\"\n");
    write_file("in.csv", "timestamp,item_id,click,propensity_score,hour,kind,aff_a,aff_b\n"
                         "2019-11-24,b,1,0.5,3,x,1,2\n"
                         "2019-11-25,a,,0.5,,7,,4\n");
    assert_ok(convert_csv("items.csv", "aff_", NULL));
    assert_file(
        "log.jsonl",
        "{\"event\":\"1\",\"time\":\"2019-11-24\",\"context\":{\"hour\":3,\"kind\":\"x\"},\"items\":[{\"id\":"
        "\"a\","
        "\"price\":3.5,"
        "\"colour\":\"red\",\"aff\":1},{\"id\":\"b\",\"colour\":\"blue, dark\",\"aff\":2}],\"slate\":[\"b\"],"
        "\"propensity\":0.5,\"feedback\":[1]}\n"
        "{\"event\":\"2\",\"time\":\"2019-11-25\",\"context\":{\"kind\":\"7\"},\"items\":[{\"id\":\"a\","
        "\"price\":3.5,"
        "\"colour\":\"red\"},{\"id\":\"b\",\"colour\":\"blue, dark\",\"aff\":4}],\"slate\":[\"a\"],"
        "\"propensity\":0.5,\"feedback\":null}\n");
    /* slates: rows of one event; items are those that were shown */
    write_file("in.csv",
               "visit,position,item,reward,position_propensity\nv1,1,a,0,0.5\nv1,2,b,1,0.25\nv2,1,c,,0.5\n");
    assert_ok(convert_csv(NULL, NULL, "visit"));
    assert_file(
        "log.jsonl",
        "{\"event\":\"v1\",\"items\":[{\"id\":\"a\"},{\"id\":\"b\"},{\"id\":\"c\"}],\"slate\":[\"a\",\"b\"],"
        "\"propensity\":null,\"position_propensities\":[0.5,0.25],\"feedback\":[0,1]}\n"
        "{\"event\":\"v2\",\"items\":[{\"id\":\"a\"},{\"id\":\"b\"},{\"id\":\"c\"}],\"slate\":[\"c\"],"
        "\"propensity\":null,\"position_propensities\":[0.5],\"feedback\":null}\n");
    assert_ok(convert("log", "csv", "log.jsonl", "out.csv"));
    assert_file("out.csv",
                "event,time,position,item,feedback,propensity,prefix_propensity,position_propensity\n"
                "v1,,1,a,0,,,0.5\nv1,,2,b,1,,,0.25\nv2,,1,c,,,,0.5\n");
    write_file("log.jsonl", "{\"event\":\"e,1\",\"context\":{\"a\":\"x\\\"y\",\"l\":[1]},\"items\":[{\"a\":1}"
                            ",{\"b\":null}],\"slate\":[1,0],"
                            "\"feedback\":[1,null]}\n{\"contexts\":[[1,2]],\"slate\":[0]}\n");
    assert_ok(convert("log", "csv", "log.jsonl", "out.csv"));
    assert_file(
        "out.csv",
        "event,time,position,item,feedback,propensity,prefix_propensity,position_propensity,a,l,item.a,b,x0,"
        "x1\n"
        "\"e,1\",,1,1,1,,,,\"x\"\"y\",[1],,,,\n\"e,1\",,2,0,,,,,\"x\"\"y\",[1],1,,,\n,,1,0,,,,,,,,,1,2\n");
}

static void test_csv_wrong(void **state) {
    (void)state;
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"", "in.csv has no header"},
        {"item,click\n", "in.csv has a header and no rows"},
        {"thing,click\na,1\n", "in.csv has no column item, item_id or action: name it with --item"},
        {"item,clicks\na,1\n", "in.csv has no column feedback, click or reward: name it with --feedback"},
        {"item,click\na\n", "in.csv:2: the row has fewer fields than the 2 columns of the header"},
        {"item,click\na,1,2\n", "in.csv:2: the row has more fields than the 2 columns of the header"},
        {"item,click\na,yes\n", "in.csv:2: click is yes, and a number is wanted"},
        {"event,item,click\ne,a,1\ne,a,1\n", "in.csv:3: item is a, and the slate has it twice"},
        {"event,item,click,propensity\ne,a,1,0.5\ne,b,1,0.4\n",
         "in.csv:3: propensity is 0.4, and the row before has another"},
        {"item,click\n,1\n", "items[0].id is \"\", and a text of 1 to 256 bytes is wanted"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_file("in.csv", cases[i].text);
        sa_status status = convert_csv(NULL, NULL, NULL);
        if ((status != SA_FORMAT && status != SA_INVALID) || !strstr(sa_last_error(), cases[i].sentence))
            fail_msg("%s: %s", cases[i].text, status ? sa_last_error() : "taken");
    }
    write_file("in.csv", "item,click\nz,1\n");
    write_file("items.csv", "item,price\na,1\n");
    assert_fails(convert_csv("items.csv", NULL, NULL), SA_FORMAT,
                 "in.csv:2: item is z, and no item has this id");
    assert_fails(convert_csv("items.csv", "aff_", NULL), SA_INVALID, "--per-item aff_: no column is that");
    assert_fails(convert_csv(NULL, NULL, "visit"), SA_INVALID, "--event visit is no column of ");
    write_file("items.csv", "id,price\na,1\n");
    assert_fails(convert_csv("items.csv", NULL, NULL), SA_INVALID, "has no column item");
}

static void test_asked_wrongly(void **state) {
    (void)state;
    assert_fails(convert("vv", "log", "a", "b"), SA_INVALID, "--from vv is not one of log, vw, obp, csv");
    assert_fails(convert("vw", NULL, "a", "b"), SA_INVALID, "--to is missing: log, vw, obp or csv");
    assert_fails(convert("vw", "log", "absent", "b"), SA_FILE, "absent cannot be opened");
    assert_fails(sa_convert(&(sa_conversion){.from = "vw", .to = "log"}, NULL), SA_INVALID,
                 "there is no file to convert");
    assert_fails(sa_convert(&(sa_conversion){.from = "vw", .to = "log", .in = "x"}, NULL), SA_INVALID,
                 "--out is missing");
    assert_fails(
        sa_convert(&(sa_conversion){.from = "vw", .to = "log", .in = "x", .out = "y", .schema = "s"}, NULL),
        SA_INVALID, "--schema is for --to obp");
    assert_fails(
        sa_convert(&(sa_conversion){.from = "vw", .to = "log", .in = "x", .out = "y", .item = "i"}, NULL),
        SA_INVALID, "columns are named for --from csv only, and i was");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vw_cb),     cmocka_unit_test(test_vw_ccb),
        cmocka_unit_test(test_vw_wrong),  cmocka_unit_test(test_obp),
        cmocka_unit_test(test_obp_wrong), cmocka_unit_test(test_csv),
        cmocka_unit_test(test_csv_wrong), cmocka_unit_test(test_asked_wrongly)};
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
