/* A saved agent is loaded with other options: those that leave its shape alone, and no others. And one that
 * had an oracle of the caller's own chooses nothing without it. */
#include "test_agent_rig.h"

#include "oracle/oracle.h"

static void play(sa_agent *agent, size_t rounds) {
    sa_decision *decision = NULL;
    for (size_t i = 0; i < rounds; i++) {
        uint64_t id = rig_counts(agent).decisions;
        rig_select(agent, id, 8, 3, &decision);
        rig_answer(agent, id, 3);
    }
    sa_decision_destroy(decision);
}

/* "name=value name=value" */
static sa_status try_load(const char *text, sa_agent **out) {
    char copy[1024], *rest = copy;
    const char *names[16], *values[16];
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word; (word = strtok_r(rest, " ", &rest)); count++) {
        names[count] = word;
        values[count] = strchr(word, '=') + 1;
        *strchr(word, '=') = 0;
    }
    return sa_agent_load_with(scratch("a.npz"), names, values, count, out);
}

static sa_agent *load(const char *text) {
    sa_agent *agent = NULL;
    assert_ok(try_load(text, &agent));
    return agent;
}

static void save(const char *text, size_t rounds) {
    sa_agent *agent = rig_create(text);
    play(agent, rounds);
    assert_ok(sa_agent_save(agent, scratch("a.npz")));
    sa_agent_destroy(agent);
}

/* Rounds in which two agents choose different slates. */
static size_t apart(sa_agent *one, sa_agent *other, size_t rounds) {
    size_t differ = 0;
    sa_decision *mine = NULL, *theirs = NULL;
    for (size_t i = 0; i < rounds; i++) {
        uint64_t id = rig_counts(one).decisions;
        rig_select(one, id, 40, 3, &mine);
        rig_select(other, id, 40, 3, &theirs);
        differ += memcmp(sa_decision_arms(mine), sa_decision_arms(theirs), 3 * sizeof(size_t)) != 0;
    }
    sa_decision_destroy(mine);
    sa_decision_destroy(theirs);
    return differ;
}

static void two_servers_do_not_choose_alike(void **state) {
    (void)state;
    save("algorithm=cn-ts nu=1", 12);
    sa_agent *one = load("seed=7"), *other = load("seed=8"), *same = load("seed=7"), *twin = load("seed=7");
    assert_true(apart(one, other, 30) > 3);
    assert_int_equal(apart(same, twin, 30), 0);
    sa_agent_destroy(one);
    sa_agent_destroy(same);
    sa_agent_destroy(other);
    sa_agent_destroy(twin);
}

/* With an option that is looked at while choosing or training, the loaded agent is as one that had it from
 * now on: gamma, as the scores show; train-every, as the trainings do. */
static void options_hold_from_now_on(void **state) {
    (void)state;
    save("gamma=1 widths=all", 12);
    sa_agent *before = load(""), *after = load("gamma=3 train-every=1 pending-limit=2");
    sa_decision *mine = NULL, *theirs = NULL;
    rig_select(before, 99, 8, 3, &mine);
    rig_select(after, 99, 8, 3, &theirs);
    for (size_t i = 0; i < 8; i++) {
        double bonus = sa_decision_all_scores(mine)[i] - sa_decision_all_estimates(mine)[i];
        double more = sa_decision_all_scores(theirs)[i] - sa_decision_all_estimates(theirs)[i];
        assert_true(fabs(more - 3 * bonus) < 1e-9 * (1 + fabs(more)));
    }
    uint64_t trained = rig_counts(after).trainings;
    play(after, 5);
    assert_int_equal(rig_counts(after).trainings, trained + 5);
    assert_int_equal(rig_try_answer(after, 14, 3, NULL),
                     SA_UNKNOWN_DECISION); /* answered: two are kept, and one waits */
    rig_answer(after, 12, 3);
    sa_decision_destroy(mine);
    sa_decision_destroy(theirs);
    assert_ok(sa_agent_save(after, scratch("a.npz"))); /* what was given is saved */
    char text[32];
    sa_agent *again = load("");
    assert_ok(sa_options_get(sa_agent_options(again), "gamma", text, sizeof text));
    assert_string_equal(text, "3");
    sa_agent_destroy(again);
    sa_agent_destroy(before);
    sa_agent_destroy(after);
}

/* Every option that is taken leaves an agent that goes on, chooses, learns, trains and is saved. */
static void what_is_taken_goes_on(void **state) {
    (void)state;
    static const char *const kinds[] = {"",
                                        "algorithm=cn-ts discount=0.9",
                                        "algorithm=cn-ucb-d epoch-length=5",
                                        "algorithm=comblin-ucb",
                                        "train-window=4",
                                        "algorithm=cc-mab"};
    static const char *const given[] = {"first-run=3 ts-samples=3",
                                        "delta=0.2 norm-bound=2 approximation=0.5",
                                        "train=manual",
                                        "train-steps=3 train-batch=2 rate=0.02",
                                        "widths=all agent-threads=2",
                                        "pending-limit=1",
                                        "gamma=2 nu=2",
                                        "oracle=cascade"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t g = 0; g < sizeof given / sizeof *given; g++) {
            save(kinds[k], 7);
            sa_agent *agent = load(given[g]);
            play(agent, 9);
            assert_ok(sa_agent_train(agent));
            assert_ok(sa_agent_save(agent, scratch("a.npz")));
            sa_agent_destroy(agent);
            sa_agent_destroy(load(""));
        }
}

static void what_gives_the_shape_is_refused(void **state) {
    (void)state;
    static const char *const shape[] = {"hidden=7",
                                        "dim=6",
                                        "depth=3",
                                        "algorithm=cn-ts",
                                        "normalize=unit",
                                        "lambda=2",
                                        "confidence=diagonal",
                                        "precision=double",
                                        "feedback=position",
                                        "companion=false",
                                        "window=5",
                                        "discount=0.5",
                                        "preset=paper",
                                        "slate=2",
                                        "count-pending=true",
                                        "sketch-size=9",
                                        "epoch-length=9"};
    static const char *const cases[][2] = {
        {"runs=3", "--runs is not an option of an agent"},
        {"optimizer=gd", "--optimizer is not an option"}, /* a setting of the preset */
        {"gama=3", "did you mean --gamma?"},
        {"gamma=-1", "--gamma -1 is less than 0"},
        {"seed=1 seed=x", "--seed x is not a whole number"},
        {"gamma=theory", "--gamma cannot change between theory and a number"},
        {"nu=theory", "--nu cannot change between theory and a number"},
        {"history=h", "has its feedback with it"},
    };
    sa_agent *agent = NULL;
    save("", 5);
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        char sentence[128];
        snprintf(sentence, sizeof sentence, "--%.*s gives an agent its shape", (int)strcspn(shape[i], "="),
                 shape[i]);
        assert_fails(try_load(shape[i], &agent), SA_INVALID, sentence);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(try_load(cases[i][0], &agent), SA_INVALID, cases[i][1]);
    assert_int_equal(sa_agent_load_with(scratch("a.npz"), NULL, NULL, 1, &agent), SA_INVALID);
    assert_null(agent);
    save("feedback=position oracle=assignment slate=3", 3);
    assert_fails(try_load("oracle=top-k", &agent), SA_INVALID, "--oracle top-k takes one score an arm");
    assert_null(agent);
}

/* A history that was moved is found by its new name. */
static void a_moved_history_is_found(void **state) {
    (void)state;
    char text[600], given[600];
    snprintf(text, sizeof text, "history=%s", scratch("h"));
    save(text, 5);
    snprintf(given, sizeof given, "history=%s", scratch("moved"));
    assert_int_equal(rename(scratch("h"), scratch("moved")), 0);
    sa_agent *agent = NULL;
    assert_fails(try_load("", &agent), SA_FILE, "cannot be opened");
    assert_fails(try_load("history=", &agent), SA_INVALID, "must name the file");
    agent = load(given);
    play(agent, 3);
    assert_ok(sa_agent_save(agent, scratch("a.npz")));
    sa_agent_destroy(agent);
    agent = load("");
    assert_int_equal(rig_counts(agent).observations, 24);
    sa_agent_destroy(agent);
}

/* ---- an oracle of the caller's own ---- */

static int last_ones(void *user, const double *scores, size_t arms, const bool *excluded, size_t most,
                     size_t *slate, size_t *length) {
    (void)user, (void)scores, (void)excluded;
    for (size_t i = 0; i < most; i++) slate[i] = arms - 1 - i;
    *length = most;
    return 0;
}

static void without_its_oracle_it_chooses_nothing(void **state) {
    (void)state;
    const sa_oracle_callbacks own = {.solve = last_ones, .alpha = 1};
    sa_agent *agent = rig_create("");
    sa_decision *decision = NULL;
    sa_request *request = sa_request_new();
    assert_false(sa_agent_needs_oracle(agent));
    assert_ok(sa_agent_oracle(agent, &own));
    play(agent, 4);
    assert_ok(sa_agent_save(agent, scratch("a.npz")));
    sa_agent_destroy(agent);
    sa_request_contexts(request, rig_contexts(1), 8);
    sa_request_slate(request, 2);
    for (int turn = 0; turn < 2; turn++) { /* also when it was saved again without */
        agent = load("gamma=2");
        assert_true(sa_agent_needs_oracle(agent));
        assert_fails(sa_agent_select(agent, request, &decision), SA_INVALID, "sa_agent_oracle");
        assert_null(decision);
        assert_ok(sa_agent_save(agent, scratch("a.npz")));
        if (turn == 0) sa_agent_destroy(agent);
    }
    assert_ok(sa_agent_oracle(agent, &own));
    assert_false(sa_agent_needs_oracle(agent));
    assert_ok(sa_agent_select(agent, request, &decision));
    assert_true(sa_decision_arms(decision)[0] == 7 && sa_decision_arms(decision)[1] == 6);
    sa_agent_destroy(agent);
    agent = load("");
    assert_ok(sa_agent_oracle(agent, NULL)); /* back to top-k, and said so */
    assert_ok(sa_agent_select(agent, request, &decision));
    sa_agent_destroy(agent);
    agent = load("oracle=top-k");
    assert_false(sa_agent_needs_oracle(agent));
    assert_ok(sa_agent_select(agent, request, &decision));
    sa_agent_destroy(agent);
    sa_decision_destroy(decision);
    sa_request_destroy(request);
}

/* A build without CBC says so when the agent is made, not at its first choice. */
static void an_oracle_that_is_missing_is_refused_at_once(void **state) {
    (void)state;
    sa_agent *agent = NULL;
    const char *missing = sa_oracle_find("ilp")->missing;
    sa_status status = rig_try_create("oracle=ilp", &agent);
    assert_int_equal(status, missing ? SA_UNSUPPORTED : SA_OK);
    assert_true((agent == NULL) == (missing != NULL));
    if (missing) assert_string_equal(sa_last_error(), missing);
    sa_agent_destroy(agent);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_servers_do_not_choose_alike),
                                       cmocka_unit_test(options_hold_from_now_on),
                                       cmocka_unit_test(what_is_taken_goes_on),
                                       cmocka_unit_test(what_gives_the_shape_is_refused),
                                       cmocka_unit_test(a_moved_history_is_found),
                                       cmocka_unit_test(without_its_oracle_it_chooses_nothing),
                                       cmocka_unit_test(an_oracle_that_is_missing_is_refused_at_once)};
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
