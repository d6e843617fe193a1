/* What an experiment is made of: who wins among preset, spec, flags and an agent's own options; labels; spec
 * files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "experiment/work.h"
#include "results/agents.h"
#include "results/spec_file.h"
#include "temporary.h"
#include "test_parts.h"

static const char *folder;
static sa_experiment *experiment;

static int set_up(void **state) {
    (void)state;
    folder = temporary_folder();
    experiment = sa_experiment_new();
    return !experiment;
}

static int tear_down(void **state) {
    (void)state;
    sa_experiment_destroy(experiment);
    return sa_path_remove(folder) != SA_OK;
}

static void fine(sa_status status) {
    if (status != SA_OK) fail_msg("%s", sa_last_error());
}

static void wrong(sa_status status, const char *words) {
    assert_int_equal(status, SA_INVALID);
    if (!strstr(sa_last_error(), words)) fail_msg("\"%s\" lacks \"%s\"", sa_last_error(), words);
}

static const char *value(const sa_options *options, const char *name) {
    static char text[8][256];
    static size_t next;
    char *out = text[next++ % 8];
    assert_int_equal(test_options_get(options, name, out, 256), SA_OK);
    return out;
}

static const char *spec(const char *text) {
    const char *path = inside(folder, "spec.yaml");
    write_text(path, text);
    return path;
}

/* preset < spec < flags < the agent's own, in whatever order they come. */
static void test_precedence(void **state) {
    (void)state;
    sa_agent_runs *agents;
    size_t count;
    fine(sa_experiment_agent(experiment, "own:gamma=4,algorithm=cn-ts"));
    fine(sa_experiment_agent(experiment, "other:algorithm=cn-ucb,preset=icml23"));
    fine(sa_experiment_read(experiment, spec("gamma: 2\nnu: 2\nhidden: 20\npreset: paper\n")));
    fine(sa_experiment_set(experiment, "gamma", "3"));
    fine(sa_spec_resolve(&experiment->spec, experiment->spec.options, SA_EVERY_GROUP, &agents, &count));
    assert_int_equal(count, 2);
    assert_string_equal(agents[0].label, "own");
    assert_string_equal(value(agents[0].options, "gamma"), "4");
    assert_string_equal(value(agents[0].options, "nu"), "2");
    assert_string_equal(value(agents[0].options, "init"), "symmetric"); /* paper */
    assert_string_equal(value(agents[0].options, "algorithm"), "cn-ts");
    assert_string_equal(value(agents[1].options, "gamma"), "3");
    assert_string_equal(value(agents[1].options, "hidden"), "20");
    assert_string_equal(value(agents[1].options, "init"), "uniform"); /* its own preset */
    assert_string_equal(value(agents[1].options, "show-regret"),
                        "expected"); /* but not for what is one for all */
    sa_agents_destroy(agents, count);
}

static void test_lists(void **state) {
    (void)state;
    sa_agent_runs *agents;
    size_t count;
    fine(sa_spec_resolve(&experiment->spec, experiment->spec.options, SA_EVERY_GROUP, &agents, &count));
    assert_int_equal(count, 1);
    assert_string_equal(agents[0].label, "cn-ucb");
    sa_agents_destroy(agents, count);
    fine(sa_experiment_set(experiment, "algorithm", "random, best"));
    fine(sa_experiment_agent(experiment, "third:algorithm=cn-ts"));
    fine(sa_spec_resolve(&experiment->spec, experiment->spec.options, SA_EVERY_GROUP, &agents, &count));
    assert_int_equal(count, 3);
    assert_string_equal(agents[0].label, "random");
    assert_string_equal(agents[1].label, "best");
    assert_string_equal(value(agents[1].options, "algorithm"), "best");
    assert_string_equal(agents[2].label, "third");
    sa_agents_destroy(agents, count);
    const char *const lists[] = {"random,", ",random", "random,,best", "", "random,random"};
    for (size_t i = 0; i < 5; i++) {
        fine(sa_experiment_set(experiment, "algorithm", lists[i]));
        wrong(sa_spec_resolve(&experiment->spec, experiment->spec.options, SA_EVERY_GROUP, &agents, &count),
              i < 4 ? "empty name" : "two agents");
    }
    fine(sa_experiment_agent(experiment, "which:gamma=1"));
    fine(sa_experiment_set(experiment, "algorithm", "random,best"));
    wrong(sa_spec_resolve(&experiment->spec, experiment->spec.options, SA_EVERY_GROUP, &agents, &count),
          "agent which");
}

static void test_labels(void **state) {
    (void)state;
    char longest[300];
    memset(longest, 'a', sizeof longest);
    strcpy(longest + 250, ":gamma=1");
    wrong(sa_experiment_agent(experiment, ":gamma=1"), "must not be empty");
    wrong(sa_experiment_agent(experiment, "a/b:gamma=1"), "'/'");
    wrong(sa_experiment_agent(experiment, "..:gamma=1"), "'..'");
    wrong(sa_experiment_agent(experiment, "a..b:gamma=1"), "'..'");
    wrong(sa_experiment_agent(experiment, ".:gamma=1"), "'.'");
    wrong(sa_experiment_agent(experiment, "parts:gamma=1"), "parts");
    wrong(sa_experiment_agent(experiment, "summary.json:gamma=1"), "summary.json");
    wrong(sa_experiment_agent(experiment, "a\nb:gamma=1"), "control characters");
    wrong(sa_experiment_agent(experiment, "a\xff:gamma=1"), "UTF-8");
    wrong(sa_experiment_agent(experiment, longest), "at most 200 bytes");
    fine(sa_experiment_agent(experiment, "gr\xc3\xbc\xc3\x9f 'a':gamma=1"));
    fine(sa_experiment_agent(experiment, "twice:gamma=1"));
    wrong(sa_experiment_agent(experiment, "twice:gamma=2"), "two agents are labelled twice");
    assert_int_equal(experiment->spec.agent_count, 2);
}

static void test_own_options(void **state) {
    (void)state;
    wrong(sa_experiment_agent(experiment, "a"), "--agent a is not of the form");
    wrong(sa_experiment_agent(experiment, "a:gamma"), "gamma is not an option as in");
    wrong(sa_experiment_agent(experiment, "a:gamma=1,,nu=1"), "is not an option as in");
    wrong(sa_experiment_agent(experiment, "a:=1"), "is not an option as in");
    wrong(sa_experiment_agent(experiment, "a:gama=1"), "did you mean --gamma?");
    wrong(sa_experiment_agent(experiment, "a:gamma=-1"), "agent a: --gamma -1");
    wrong(sa_experiment_agent(experiment, "a:rounds=10"), "--rounds is one for all agents");
    wrong(sa_experiment_agent(experiment, "a:seed=10"), "--seed is one for all agents");
    wrong(sa_experiment_agent(experiment, "a:out=x"), "--out is one for all agents");
    assert_int_equal(experiment->spec.agent_count, 0);
    fine(sa_experiment_agent(experiment, "a:"));
    fine(sa_experiment_agent(experiment, "b:lambda=2"));
    fine(
        sa_experiment_agent_set(experiment, "c: d", "init-weights", "a,b.npz")); /* nothing in it is a sign */
    fine(sa_experiment_agent_set(experiment, "c: d", "gamma", "2"));
    fine(sa_experiment_agent_set(experiment, "b", "gamma", "5"));
    wrong(sa_experiment_agent_set(experiment, "e", "gamma", "-1"), "agent e: --gamma -1");
    wrong(sa_experiment_agent_set(experiment, "b", "seed", "1"), "agent b: --seed is one for all agents");
    wrong(sa_experiment_agent_set(experiment, "", "gamma", "1"), "must not be empty");
    assert_int_equal(experiment->spec.agent_count, 3);
    assert_string_equal(value(experiment->spec.agents[1].own, "gamma"), "5");
    assert_string_equal(experiment->spec.agents[2].label, "c: d");
    assert_string_equal(value(experiment->spec.agents[2].own, "init-weights"), "a,b.npz");
    assert_string_equal(value(experiment->spec.agents[2].own, "gamma"), "2");
}

static void test_spec_errors_change_nothing(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"gamma: 5\nrounds: nope\n", "spec.yaml:2: --rounds nope"},
        {"gamma: 5\nroundz: 4\n", "spec.yaml:2: --roundz is not an option"},
        {"gamma: 5\nagents:\n  a: {gamma: 2}\n  b/c: {gamma: 1}\n", "spec.yaml:4: agent b/c"},
        {"gamma: 5\nagents:\n  a:\n    rounds: 2\n", "spec.yaml:4: agent a: --rounds is one for all"},
        {"gamma: 5\nagents:\n  a:\n    algorithm: [cn-ucb, cn-ts]\n", "one algorithm"},
        {"gamma: 5\nagents:\n  there: {gamma: 2}\n", "two agents are labelled there"},
    };
    fine(sa_experiment_agent(experiment, "there:gamma=1"));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        wrong(sa_experiment_read(experiment, spec(bad[i].text)), bad[i].words);
        assert_string_equal(value(experiment->spec.options, "gamma"), "1");
        assert_int_equal(experiment->spec.agent_count, 1);
    }
    assert_int_equal(sa_experiment_read(experiment, inside(folder, "absent.yaml")), SA_FILE);
    assert_int_not_equal(sa_experiment_read(experiment, spec("gamma: [1\n")), SA_OK);
    assert_int_equal(experiment->spec.agent_count, 1);
}

static void test_spec_agents(void **state) {
    (void)state;
    fine(sa_experiment_read(
        experiment, spec("algorithm: [cn-ucb, random]\n"
                         "agents:\n  shy: {algorithm: cn-ucb, gamma: 0.1}\n  plain: {algorithm: best}\n")));
    assert_string_equal(value(experiment->spec.options, "algorithm"), "cn-ucb,random");
    assert_int_equal(experiment->spec.agent_count, 2);
    assert_string_equal(experiment->spec.agents[0].label, "shy");
    assert_string_equal(value(experiment->spec.agents[0].own, "gamma"), "0.1");
    assert_string_equal(experiment->spec.agents[1].label, "plain");
}

/* Agents of a spec make room for others, of the same labels too; an agent that names no algorithm has the
 * spec's. */
static void test_cleared_agents(void **state) {
    (void)state;
    fine(sa_experiment_read(experiment,
                            spec("algorithm: best\ngamma: 2\nagents:\n  shy: {algorithm: random}\n")));
    sa_experiment_clear_agents(experiment);
    fine(sa_experiment_agent_set(experiment, "shy", "nu", "3"));
    sa_agent_runs *agents;
    size_t count;
    fine(sa_spec_resolve(&experiment->spec, experiment->spec.options, SA_EVERY_GROUP, &agents, &count));
    assert_int_equal(count, 1);
    assert_string_equal(agents[0].label, "shy");
    assert_string_equal(value(agents[0].options, "algorithm"), "best");
    assert_string_equal(value(agents[0].options, "gamma"), "2");
    sa_agents_destroy(agents, count);
}

/* spec.yaml, read again, is the same experiment; a changed option is named, and agents are added to those
 * that are there. */
static void test_written_spec(void **state) {
    (void)state;
    const char *out = inside(folder, "written"), *path = inside(folder, "written/spec.yaml");
    assert_int_equal(sa_folder_make(out), SA_OK);
    fine(sa_experiment_set(experiment, "environment", "h2"));
    fine(sa_experiment_set(experiment, "rounds", "7"));
    fine(sa_experiment_set(experiment, "dim", "4"));
    fine(sa_experiment_set(experiment, "preset", "icml23"));
    fine(sa_experiment_set(experiment, "algorithm", "random"));
    fine(sa_experiment_agent(experiment, "\"q\" \\ #1:algorithm=cn-ts,preset=paper,nu=0.1"));
    fine(sa_experiment_agent(experiment, "plain:"));
    fine(sa_experiment_check(experiment));
    fine(sa_spec_write(&experiment->work->results, path));
    sa_experiment *again = sa_experiment_new();
    fine(sa_experiment_read(again, path));
    fine(sa_experiment_set(again, "out", out));
    fine(sa_experiment_set(again, "resume", "true"));
    fine(sa_experiment_check(again));
    sa_plan *plan = again->work->plans[0];
    assert_int_equal(plan->agent_count, 3);
    assert_string_equal(plan->agents[1].label, "\"q\" \\ #1");
    assert_string_equal(value(plan->agents[1].options, "init"), "symmetric");
    fine(sa_experiment_set(again, "noise", "0.02"));
    wrong(sa_experiment_check(again), "--noise is 0.02 here and 0.01 in");
    fine(sa_experiment_set(again, "noise", "0.01"));
    fine(sa_experiment_set(again, "ts-samples", "3"));
    wrong(sa_experiment_check(again), "agent random: --ts-samples is 3 here and 10 in");
    fine(sa_experiment_set(again, "ts-samples", "10"));
    sa_experiment_clear_agents(again);
    fine(sa_experiment_agent(again, "more:algorithm=best"));
    fine(sa_experiment_set(again, "first-run", "5"));
    fine(sa_experiment_check(again));
    plan = again->work->plans[0];
    assert_int_equal(plan->agent_count, 4);
    assert_string_equal(plan->agents[3].label, "more");
    assert_int_equal(plan->first_run, 0);
    assert_int_equal(plan->runs, 25);
    fine(sa_experiment_set(again, "first-run", "21"));
    wrong(sa_experiment_check(again), "has runs 0 to 19, and 21 to 40 would leave out those between");
    sa_experiment_destroy(again);
}

/* Every agent in every cell; cells with other environments are plans of their own. */
static void test_grid(void **state) {
    (void)state;
    fine(sa_experiment_set(experiment, "dim", "4"));
    fine(sa_experiment_set(experiment, "rounds", "7"));
    fine(sa_experiment_grid(experiment, "lambda", "0.5"));
    fine(sa_experiment_grid(experiment, "regularization", "2"));
    fine(sa_experiment_grid(experiment, "noise", "0"));
    fine(sa_experiment_grid(experiment, "noise", "1"));
    fine(sa_experiment_grid(experiment, "seed", "3"));
    fine(sa_experiment_check(experiment));
    assert_int_equal(experiment->work->plan_count, 2);
    const sa_plan *plan = experiment->work->plans[1];
    assert_int_equal(plan->agent_count, 2);
    assert_string_equal(plan->agents[1].label, "regularization=2,noise=1,seed=3");
    assert_string_equal(value(plan->agents[1].options, "regularization"), "2");
    assert_string_equal(value(plan->agents[1].options, "noise"), "1");
    assert_true(plan->environment->noise == 1);
    fine(sa_experiment_set(experiment, "algorithm", "cn-ucb,random"));
    fine(sa_experiment_check(experiment));
    assert_string_equal(experiment->work->plans[0]->agents[1].label,
                        "random,regularization=0.5,noise=0,seed=3");
    wrong(sa_experiment_grid(experiment, "noise", "1"), "--noise has the value 1 twice");
    wrong(sa_experiment_grid(experiment, "noise", "-1"), "--noise -1 is less than 0");
    wrong(sa_experiment_grid(experiment, "runs", "3"), "--runs is one for all cells");
    wrong(sa_experiment_grid(experiment, "out", "x"), "--out is one for all cells");
    wrong(sa_experiment_grid(experiment, "gama", "3"), "did you mean --gamma?");
    wrong(sa_experiment_grid(experiment, "algorithm", "cn-ucb,cn-ts"), "a cell has one algorithm");
    fine(sa_experiment_agent(experiment, "own:algorithm=cn-ucb,lambda=3"));
    wrong(sa_experiment_check(experiment),
          "--regularization is in the grid, and agent own has a value of its own");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_precedence, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lists, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_labels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_own_options, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_spec_errors_change_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_spec_agents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cleared_agents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_written_spec, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_grid, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
