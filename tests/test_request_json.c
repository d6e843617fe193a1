/* Requests from JSON: items by a schema or contexts as they are, slate and exclusions with them; what is
 * wrong leaves no candidates. */
#include <math.h>

#include <superarm/superarm.h>

#include "test_file_scratch.h"
#include "test_parts.h"

static sa_schema *schema;
static sa_agent *named, *plain;
static sa_request *request;

static sa_status json(const sa_schema *by, const char *text) {
    return sa_request_json(request, by, text, strlen(text));
}

static int begin(void **state) {
    (void)state;
    static const char text[] = "context: {hour: number}\nitem: {price: number}\n";
    sa_options *options = sa_options_new(NULL);
    request = sa_request_new();
    if (sa_schema_parse(text, strlen(text), "s", &schema) ||
        sa_options_set_any(options, "algorithm", "comblin-ucb") ||
        sa_agent_create_with_schema(options, schema, &named) ||
        sa_agent_create(sa_agent_options(named), &plain))
        return 1;
    sa_options_destroy(options);
    return !request;
}

static int end(void **state) {
    (void)state;
    sa_request_destroy(request);
    sa_agent_destroy(named);
    sa_agent_destroy(plain);
    sa_schema_release(schema);
    return 0;
}

/* The slate that an agent chooses now; NULL decision: a new one. */
static void choose(sa_agent *agent, size_t slate, size_t *arms) {
    sa_decision *decision = NULL;
    assert_ok(sa_agent_select(agent, request, &decision));
    assert_int_equal(sa_decision_slate(decision), slate);
    memcpy(arms, sa_decision_arms(decision), slate * sizeof *arms);
    sa_decision_destroy(decision);
}

static void test_items(void **state) {
    (void)state;
    size_t by_name[2], by_hand[2];
    assert_ok(json(schema, "{\"context\":{\"hour\":3},\"items\":[{\"id\":\"a\",\"price\":1},{\"id\":\"b\","
                           "\"price\":5},{\"id\":\"c\"},"
                           "{\"id\":\"d\",\"price\":2}],\"slate\":2,\"exclude\":[\"b\"],\"explain\":true}"));
    choose(named, 2, by_name);
    assert_string_equal(sa_request_id(request, 2), "c");
    assert_null(sa_request_id(request, 4));
    static const double contexts[] = {3, 0, 1, 0, 3, 0, 5, 0, 3, 0, 0, 1, 3, 0, 2, 0};
    static const bool excluded[] = {false, true, false, false};
    sa_request_contexts(request, contexts, 4);
    sa_request_exclude(request, excluded);
    assert_null(sa_request_id(request, 2)); /* these have none */
    choose(plain, 2, by_hand);
    assert_memory_equal(by_name, by_hand, sizeof by_name);
    sa_request_exclude(request, NULL);
}

static void test_contexts(void **state) {
    (void)state;
    size_t by_json[3], by_hand[3];
    static const double contexts[] = {3, 0, 1, 0, 3, 0, 5, 0, 3, 0, 0, 1, 3, 0, 2, 0};
    assert_ok(
        json(NULL, "{\"contexts\":[[3,0,1,0],[3,0,5,0],[3,0,0,1],[3,0,2,0]],\"exclude\":[1],\"slate\":3}"));
    choose(named, 3, by_json);
    for (int i = 0; i < 3; i++) assert_int_not_equal(by_json[i], 1);
    sa_request_contexts(request, contexts, 4); /* and nothing is excluded any more */
    choose(plain, 3, by_hand);
    assert_int_equal(by_hand[0] == 1 || by_hand[1] == 1 || by_hand[2] == 1, 1);
    assert_ok(json(NULL, "{\"contexts\":[[3,0,1]]}"));
    sa_decision *decision = NULL;
    sa_request_slate(request, 1);
    assert_fails(sa_agent_select(named, request, &decision), SA_INVALID,
                 "candidates have 3 features, and the agent has --dim 4");
}

static void test_wrong(void **state) {
    (void)state;
    static const struct {
        bool schema;
        const char *text, *sentence;
    } cases[] = {
        {true, "{\"items\":[{\"price\":\"x\"}]}", "items[0].price is \"x\", and a number is wanted"},
        {true, "{\"contexts\":[[1]]}", "there are no items"},
        {true, "[]", "the request is a list, and an object is wanted"},
        {true, "{\"items\":[{}]", "the text ends where"},
        {true, "{\"items\":[{}],\"slate\":-1}", "slate is -1, and a whole number from 0 is wanted"},
        {true, "{\"items\":[{}],\"slate\":\"2\"}", "slate is \"2\", and a whole number"},
        {true, "{\"items\":[{}],\"exclude\":5}", "exclude is 5, and a list is wanted"},
        {true, "{\"items\":[{}],\"exclude\":[1]}",
         "exclude[0] is 1, and there are 1 candidates, counted from 0"},
        {true, "{\"items\":[{\"id\":\"a\"}],\"exclude\":[\"b\"]}",
         "exclude[0] is \"b\", and no item has this id"},
        {true, "{\"items\":[{\"id\":\"a\"}],\"exclude\":[0]}",
         "exclude[0] is 0, and the id of an item is wanted"},
        {false, "{\"items\":[{}]}", "the request has no contexts, and there is no schema for items"},
        {false, "{\"contexts\":5}", "contexts is 5, and a list of lists of numbers is wanted"},
        {false, "{\"contexts\":[]}", "contexts is empty"},
        {false, "{\"contexts\":[5]}", "contexts[0] is 5, and a list of numbers is wanted"},
        {false, "{\"contexts\":[[1,2],[3]]}", "contexts[1] has 1 numbers, and those before it have 2"},
        {false, "{\"contexts\":[[1,null]]}", "contexts[0][1] is null, and a finite number is wanted"},
        {false, "{\"contexts\":[[1e999]]}", "contexts[0][0] is 1e999, and a finite number is wanted"},
    };
    sa_decision *decision = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(json(NULL, "{\"contexts\":[[1,2,3,4]],\"slate\":1}"));
        assert_fails(json(cases[i].schema ? schema : NULL, cases[i].text), SA_INVALID, cases[i].sentence);
        assert_fails(sa_agent_select(named, request, &decision), SA_INVALID, "the request has no contexts");
    }
    assert_fails(sa_request_json(NULL, schema, "{}", 2), SA_INVALID, "needs a request and JSON");
}

/* ---- what the oracle needs ---- */

static void test_problem(void **state) {
    (void)state;
    size_t rows, columns;
    assert_ok(json(NULL,
                   "{\"contexts\":[[1],[2],[3]],\"problem\":{\"costs\":[1,2.5,3],\"capacity\":4,"
                   "\"edges\":[[70,9],[9,30],[30,70]],\"source\":9,\"target\":12345,\"topics\":[[1,2],[3,4],"
                   "[5,6]],\"eligible\":[[0,1,true]],\"reward\":\"sum\",\"matrix\":[[1,1,1]],"
                   "\"bounds\":[2],\"exactly\":true}}"));
    const sa_problem *problem = sa_request_rules(request);
    const double *costs = sa_problem_numbers(problem, "costs", &rows, &columns);
    assert_true(rows == 3 && columns == 1 && costs[0] == 1 && costs[1] == 2.5 && costs[2] == 3);
    assert_true(*sa_problem_numbers(problem, "capacity", NULL, NULL) == 4);
    const double *topics = sa_problem_numbers(problem, "topics", &rows, &columns);
    assert_true(rows == 3 && columns == 2 && topics[1] == 2 && topics[4] == 5);
    const size_t *edges = sa_problem_indices(problem, "edges", &rows, &columns);
    static const size_t numbered[] = {2, 0, 0, 1, 1, 2}; /* 9, 30, 70 from 0 on */
    assert_true(rows == 3 && columns == 2);
    assert_memory_equal(edges, numbered, sizeof numbered);
    assert_int_equal(*sa_problem_indices(problem, "source", NULL, NULL), 0);
    assert_int_equal(*sa_problem_indices(problem, "target", NULL, NULL), 3); /* behind them */
    const bool *eligible = sa_problem_flags(problem, "eligible", &rows, &columns);
    assert_true(rows == 1 && columns == 3 && !eligible[0] && eligible[1] && eligible[2]);
    assert_true(*sa_problem_flags(problem, "reward", NULL, NULL));
    assert_null(sa_problem_flags(problem, "exactly", NULL, NULL)); /* the request has it */
    assert_null(sa_problem_numbers(problem, "groups", NULL, NULL));
    assert_ok(json(NULL, "{\"contexts\":[[1],[2]]}"));
    assert_null(sa_request_rules(request));
}

static void test_wrong_problems(void **state) {
    (void)state;
    static const struct {
        const char *problem, *sentence;
    } cases[] = {
        {"5", "problem is no object"},
        {"{\"cost\":[1,2]}", "cost is not a field of a problem, which has exactly, costs, capacity"},
        {"{\"costs\":[1]}", "problem: costs is for 1 arms, and there are 2"},
        {"{\"costs\":[]}", "problem: costs is no list, or an empty one"},
        {"{\"costs\":5}", "problem: costs is no list, or an empty one"},
        {"{\"costs\":[1,\"x\"]}", "problem: costs has \"x\", and a finite number is wanted"},
        {"{\"costs\":[1,1e999]}", "problem: costs has 1e999, and a finite number is wanted"},
        {"{\"costs\":[1,1e300]}", "problem: costs has 1e+300, and 1e+15 is the most that is taken"},
        {"{\"costs\":[1,2],\"costs\":[1,2]}", "problem: costs is there twice"},
        {"{\"groups\":[0,1.5]}", "problem: groups has 1.5, and a whole number from 0 to 1e9 is wanted"},
        {"{\"groups\":[0,-1]}", "problem: groups has -1, and a whole number"},
        {"{\"groups\":[0,1000000]}", "problem: groups has 1000000: they are numbered from 0, up to 999999"},
        {"{\"topics\":[[1],[1,2]]}", "problem: the rows of topics are not of one length"},
        {"{\"topics\":[1,2]}", "problem: topics is no list of lists, or has an empty one"},
        {"{\"edges\":[[1,2,3],[1,2,3]]}", "problem: edges has rows of 3, not of 2"},
        {"{\"eligible\":[[0,2]]}", "problem: eligible has 2, and 0 or 1 is wanted"},
        {"{\"source\":1}", "problem: source and target go together"},
        {"{\"matrix\":[[1,1]]}", "problem: matrix and bounds go together"},
        {"{\"matrix\":[[1,1]],\"bounds\":[1,2]}", "problem: matrix has 1 rows, and bounds 2"},
        {"{\"reward\":\"most\"}", "problem: reward has \"most\", and click or sum is wanted"},
        {"{\"exactly\":1}", "problem: exactly is neither true nor false"},
    };
    char text[256];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "{\"contexts\":[[1],[2]],\"problem\":%s}", cases[i].problem);
        assert_fails(json(NULL, text), SA_INVALID, cases[i].sentence);
        assert_null(sa_request_rules(request));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_items), cmocka_unit_test(test_contexts),
                                       cmocka_unit_test(test_wrong), cmocka_unit_test(test_problem),
                                       cmocka_unit_test(test_wrong_problems)};
    return cmocka_run_group_tests(tests, begin, end);
}
