/* Learning from a log: an agent that learnt from the log of a run chooses on as that run's agent did, and
 * what is wrong is said. */
#include <math.h>

#include <superarm/superarm.h>

#include "test_file_scratch.h"
#include "test_parts.h"

enum { ROUNDS = 60, LEARNT = 40 };

static void set_all(sa_experiment *experiment, sa_options *options, const char *text) {
    char copy[512], *rest = copy;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        char *equals = strchr(word, '=');
        *equals = 0;
        if (experiment) assert_ok(sa_experiment_set(experiment, word, equals + 1));
        if (options) assert_ok(sa_options_set_any(options, word, equals + 1));
    }
}

static sa_agent *make_agent(const char *text) {
    sa_agent *agent;
    sa_options *options = sa_options_new(NULL);
    set_all(NULL, options, text);
    assert_ok(sa_agent_create(options, &agent));
    sa_options_destroy(options);
    return agent;
}

/* Cuts the log in two: `first` lines go to a file of their own. */
static void cut(size_t first) {
    char *text, *at;
    size_t size;
    assert_ok(sa_file_read(scratch("log.jsonl"), &text, &size));
    at = text;
    for (size_t i = 0; i < first; i++) at = strchr(at, '\n') + 1;
    assert_ok(sa_file_write(scratch("first.jsonl"), text, (size_t)(at - text)));
    assert_ok(sa_file_write(scratch("rest.jsonl"), at, size - (size_t)(at - text)));
    sa_free(text);
}

/* The agent meets the rest of the log: it must choose what was chosen there, and is told what was told
 * there. */
static void meet_rest(sa_agent *agent, const char *what) {
    sa_log_reader *reader;
    const sa_log_entry *entry;
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    assert_ok(sa_log_reader_open(scratch("rest.jsonl"), false, &reader));
    for (size_t n = 0;; n++) {
        assert_ok(sa_log_reader_next(reader, &entry));
        if (!entry) {
            assert_int_equal(n, ROUNDS - LEARNT);
            break;
        }
        sa_request_contexts(request, entry->contexts, entry->candidates);
        sa_request_slate(request, entry->slate);
        assert_ok(sa_agent_select(agent, request, &decision));
        assert_int_equal(sa_decision_slate(decision), entry->slate);
        for (size_t k = 0; k < entry->slate; k++)
            if (sa_decision_arms(decision)[k] != entry->arms[k])
                fail_msg("%s: round %zu has another slate", what, LEARNT + n);
        double scores[8];
        bool observed[8];
        for (size_t k = 0; k < entry->slate; k++)
            observed[k] = !isnan(entry->feedback[k]), scores[k] = observed[k] ? entry->feedback[k] : 0;
        assert_ok(sa_agent_update(agent, sa_decision_id(decision), scores, observed, entry->slate));
    }
    sa_log_reader_close(reader);
    sa_decision_destroy(decision);
    sa_request_destroy(request);
}

static void test_goes_on(void **state) {
    (void)state;
    static const char *const agents[] = {
        "algorithm=cn-ucb hidden=8 dim=5 slate=3",
        "algorithm=cn-ts hidden=8 dim=5 slate=3",
        "algorithm=cn-ucb preset=paper hidden=8 dim=5 slate=3",
        "algorithm=cn-ts preset=icml23 hidden=8 dim=5 slate=3 precision=double",
        "algorithm=comblin-ts dim=5 slate=3",
        "algorithm=neural-linear hidden=8 dim=5 slate=3",
        "algorithm=greedy hidden=8 dim=5 slate=3 window=20",
        "algorithm=cn-ucb hidden=8 dim=5 slate=3 confidence=sketch sketch-size=8",
        "algorithm=random dim=5 slate=3",
    };
    for (size_t i = 0; i < sizeof agents / sizeof *agents; i++) {
        sa_experiment *experiment = sa_experiment_new();
        set_all(experiment, NULL, agents[i]);
        set_all(experiment, NULL, "environment=h2 rounds=60 arms=8 runs=1 threads=1");
        assert_ok(sa_experiment_set(experiment, "log", scratch("log.jsonl")));
        assert_ok(sa_experiment_run(experiment, NULL, NULL));
        sa_experiment_destroy(experiment);
        cut(LEARNT);
        sa_agent *agent = make_agent(agents[i]);
        sa_learnt learnt;
        assert_ok(sa_agent_learn_log(agent, scratch("first.jsonl"), false, NULL, NULL, NULL, &learnt));
        assert_int_equal(learnt.decisions, LEARNT);
        assert_int_equal(learnt.left_out, 0);
        assert_string_equal(learnt.note, "");
        meet_rest(agent, agents[i]);
        sa_agent_destroy(agent);
    }
}

static const char SCHEMA[] = "context: {hour: cyclic 24}\nitem: {price: number, kind: category [a, b]}\n";
#define NAMED(k, slate, feedback)                                                                            \
    "{\"context\":{\"hour\":" #k "},\"items\":[{\"id\":\"x\",\"price\":" #k                                  \
    ",\"kind\":\"a\"},{\"id\":\"y\",\"price\":2,\"kind\":\"b\","                                             \
    "\"colour\":1}],\"slate\":" slate ",\"feedback\":" feedback "}\n"

static sa_agent *make_named(void) {
    sa_schema *schema;
    sa_agent *agent;
    sa_options *options = sa_options_new(NULL);
    set_all(NULL, options, "algorithm=comblin-ucb slate=1");
    assert_ok(sa_schema_parse(SCHEMA, strlen(SCHEMA), "s", &schema));
    assert_ok(sa_agent_create_with_schema(options, schema, &agent));
    assert_ptr_equal(sa_agent_schema(agent), schema);
    assert_int_equal(sa_schema_dim(schema), 9);
    sa_schema_release(schema); /* the agent is an owner, too */
    sa_options_destroy(options);
    return agent;
}

static void write_log(const char *text) {
    assert_ok(sa_file_write(scratch("named.jsonl"), text, strlen(text)));
}

/* Named fields: the same as learning from what the schema makes of them; saved and loaded with the schema. */
static void test_named(void **state) {
    (void)state;
    sa_agent *agent = make_named(), *loaded, *by_hand = make_named();
    sa_learnt learnt;
    write_log(
        NAMED(1, "[\"x\"]", "[0.5]") NAMED(2, "[\"y\",\"x\"]", "[1,null]") NAMED(3, "[\"x\"]", "null")
            NAMED(4, "[\"x\"]",
                  "[null]") "{\"final\":false,\"items\":[{\"price\":1}],\"slate\":[0],\"feedback\":[1]}\n");
    assert_ok(sa_agent_learn_log(agent, scratch("named.jsonl"), false, NULL, NULL, NULL, &learnt));
    assert_int_equal(learnt.decisions, 2);
    assert_int_equal(learnt.left_out, 3);
    assert_int_equal(learnt.ignored, 2);
    static const char *const requests[] = {
        "{\"context\":{\"hour\":1},\"items\":[{\"price\":1,\"kind\":\"a\"},{\"price\":2,\"kind\":\"b\"}]}",
        "{\"context\":{\"hour\":2},\"items\":[{\"price\":2,\"kind\":\"a\"},{\"price\":2,\"kind\":\"b\"}]}"};
    static const size_t slates[2][2] = {{0}, {1, 0}};
    static const double scores[2][2] = {{0.5}, {1, 0}};
    static const bool observed[2] = {true, false};
    sa_request *request = sa_request_new();
    for (size_t i = 0; i < 2; i++) {
        assert_ok(sa_request_json(request, sa_agent_schema(by_hand), requests[i], strlen(requests[i])));
        sa_request_slate(request, i + 1);
        assert_ok(sa_agent_learn(by_hand, request, slates[i], scores[i], observed, i + 1));
    }
    assert_ok(sa_agent_save(agent, scratch("agent.npz")));
    assert_ok(sa_agent_save(by_hand, scratch("by_hand.npz")));
    char *one, *other;
    size_t size, other_size;
    assert_ok(sa_file_read(scratch("agent.npz"), &one, &size));
    assert_ok(sa_file_read(scratch("by_hand.npz"), &other, &other_size));
    assert_int_equal(size, other_size);
    assert_memory_equal(one, other, size);
    sa_free(one);
    sa_free(other);
    assert_ok(sa_agent_load(scratch("agent.npz"), &loaded));
    assert_string_equal(sa_schema_text(sa_agent_schema(loaded)), sa_schema_text(sa_agent_schema(agent)));
    sa_agent_destroy(loaded);
    sa_agent_destroy(by_hand);
    sa_request_destroy(request);
    sa_agent_destroy(agent);
}

static void test_other_schemas(void **state) {
    (void)state;
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"context: {hour: cyclic 24}\nitem: {price: number, kind: category [a, b], colour: hashed 8}",
         "the schema has item.colour (hashed, 9 columns), and the agent's has not; an agent keeps the "
         "schema"},
        {"context: {hour: cyclic 24}\nitem: {price: number}",
         "the schema lacks item.kind (category, 4 columns) of the agent's"},
        {"context: {hour: cyclic 24}\nitem: {kind: category [a, b], price: number}",
         "in another order or with other values"},
        {"context: {hour: cyclic 12}\nitem: {price: number, kind: category [a, b]}",
         "in another order or with other values"}};
    sa_agent *agent = make_named(), *plain = make_agent("algorithm=random dim=9");
    sa_schema *schema;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(sa_schema_parse(cases[i].text, strlen(cases[i].text), "s", &schema));
        assert_fails(sa_agent_check_schema(agent, schema), SA_INVALID, cases[i].sentence);
        assert_fails(sa_agent_check_schema(plain, schema), SA_INVALID, "the agent has no schema");
        sa_schema_release(schema);
    }
    assert_ok(sa_schema_parse(SCHEMA, strlen(SCHEMA), "s", &schema));
    assert_ok(sa_agent_check_schema(agent, schema));
    sa_options *options = sa_options_new(NULL);
    sa_agent *none = NULL;
    assert_ok(sa_options_set_any(options, "dim", "4"));
    assert_fails(sa_agent_create_with_schema(options, schema, &none), SA_INVALID,
                 "--dim 4 is not that of the schema, 9");
    assert_fails(sa_agent_create_with_schema(options, NULL, &none), SA_INVALID, "needs options, a schema");
    assert_null(none);
    sa_options_destroy(options);
    sa_schema_release(schema);
    sa_agent_destroy(plain);
    sa_agent_destroy(agent);
}

static int stop(void *user, const sa_learnt *learnt) {
    *(uint64_t *)user = learnt->decisions;
    return 1;
}

static void test_wrong(void **state) {
    (void)state;
    sa_agent *agent = make_named(), *plain = make_agent("algorithm=comblin-ucb dim=2 slate=1");
    sa_learnt learnt;
    write_log(NAMED(
        1, "[\"x\"]",
        "[0.5]") "{\"items\":[{\"price\":\"cheap\"}],\"slate\":[0],\"feedback\":[1]}\n" NAMED(2, "[\"x\"]",
                                                                                              "[1]"));
    assert_fails(sa_agent_learn_log(agent, scratch("named.jsonl"), false, NULL, NULL, NULL, &learnt),
                 SA_INVALID, "named.jsonl:2: items[0].price is \"cheap\", and a number is wanted");
    assert_int_equal(learnt.decisions, 1); /* what came before it */
    assert_ok(sa_agent_learn_log(agent, scratch("named.jsonl"), true, NULL, NULL, NULL, &learnt));
    assert_int_equal(learnt.decisions, 2);
    assert_non_null(strstr(learnt.note, "1 decision was skipped; the first: "));
    assert_fails(sa_agent_learn_log(plain, scratch("named.jsonl"), false, NULL, NULL, NULL, &learnt),
                 SA_INVALID,
                 "named.jsonl:1: items have named fields, and the agent has no schema to read them with");
    write_log("{\"contexts\":[[1,2,3]],\"slate\":[0],\"feedback\":[1]}\n");
    assert_fails(sa_agent_learn_log(plain, scratch("named.jsonl"), false, NULL, NULL, NULL, NULL), SA_INVALID,
                 "named.jsonl:1: contexts have 3 features, and the agent has --dim 2");
    assert_fails(sa_agent_learn_log(agent, scratch("named.jsonl"), false, NULL, NULL, NULL, NULL), SA_INVALID,
                 "there are no items");
    write_log("{\"contexts\":[[1,2]],\"slate\":[0]}\n");
    assert_fails(sa_agent_learn_log(plain, scratch("named.jsonl"), false, NULL, NULL, NULL, NULL), SA_INVALID,
                 "has nothing to learn from: 1 decisions are without feedback or not final");
    assert_fails(sa_agent_learn_log(plain, scratch("absent"), false, NULL, NULL, NULL, NULL), SA_FILE,
                 "absent cannot be opened");
    uint64_t stopped = 0;
    char many[64 * 100] = "";
    for (int i = 0; i < 100; i++) strcat(many, "{\"contexts\":[[1,2]],\"slate\":[0],\"feedback\":[1]}\n");
    write_log(many);
    assert_fails(sa_agent_learn_log(plain, scratch("named.jsonl"), false, NULL, stop, &stopped, NULL),
                 SA_INTERRUPTED, "named.jsonl: stopped after line 64");
    assert_int_equal(stopped, 64);
    sa_agent_destroy(plain);
    sa_agent_destroy(agent);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_goes_on), cmocka_unit_test(test_named),
                                       cmocka_unit_test(test_other_schemas), cmocka_unit_test(test_wrong)};
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
