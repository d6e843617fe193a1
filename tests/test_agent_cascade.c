/* Cascade feedback: the score of position k is psi_k v, and what lies behind the chosen arm was not looked
 * at. Against ridge regression with rows psi_k x, a dense Z of psi_k g, and descent on the differences of 1/2
 * sum (psi_k f - y)^2. */
#include "test_feedback_reference.h"

#include "feedback/feedback.h"

/* ---- what was looked at ---- */

static void the_scores_tell_what_was_seen(void **state) {
    (void)state;
    static const struct {
        double scores[4];
        int observed[4]; /* the first is -1: NULL */
        size_t count, positions[4], end;
    } cases[] = {
        {{0, 0, 0, 0}, {-1}, 4, {0, 1, 2, 3}, 4},
        {{0, 0, 1, 0}, {-1}, 3, {0, 1, 2}, 3},
        {{0.1, 1, 1, 1}, {-1}, 1, {0}, 1},
        {{-1, 0, 0, 0.5}, {-1}, 4, {0, 1, 2, 3}, 4}, /* noise below 0 is no choice */
        {{0, 1, NAN, NAN}, {-1}, 2, {0, 1}, 2},
        {{0, 1, 0, 0}, {1, 1, 1, 0}, 3, {0, 1, 2}, 2}, /* the caller knows better */
        {{0, 0, 0, 0}, {1, 1, 0, 0}, 2, {0, 1}, 4},    /* left without a choice; the rest may come */
        {{NAN, 1, 0, 0}, {0, 1, 0, 0}, 1, {1}, 2},
        {{1, 0, 0, 0}, {0, 0, 0, 0}, 0, {0}, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool observed[4];
        size_t positions[4];
        for (size_t k = 0; k < 4; k++) observed[k] = cases[i].observed[k] > 0;
        sa_observed seen =
            sa_feedback_of(SA_FEEDBACK_CASCADE)
                ->observe(4, cases[i].scores, cases[i].observed[0] < 0 ? NULL : observed, positions);
        assert_int_equal(seen.count, cases[i].count);
        assert_int_equal(seen.end, cases[i].end);
        assert_memory_equal(positions, cases[i].positions, seen.count * sizeof *positions);
    }
}

/* A click, or NULL, settles a decision; positions before the click may still come. */
static void a_click_ends_the_scan(void **state) {
    (void)state;
    sa_agent *agent = rig_create("feedback=cascade");
    sa_decision *decision = NULL;
    for (uint64_t id = 0; id < 4; id++) rig_select(agent, id, ARMS, 4, &decision);
    assert_ok(sa_agent_update(agent, 0, (double[]){0, 1, NAN, NAN}, NULL, 4));
    assert_true(rig_counts(agent).observations == 2 && rig_counts(agent).counted == 2 &&
                rig_counts(agent).pending == 3);
    assert_fails(sa_agent_update(agent, 0, (double[]){0, 0, 0, 0}, (bool[]){false, false, true, false}, 4),
                 SA_ALREADY_ANSWERED, "decision 0 was answered before");
    assert_ok(sa_agent_update(agent, 1, (double[]){0, 0, 0, 0}, NULL, 4));
    assert_true(rig_counts(agent).observations == 6 && rig_counts(agent).pending == 2);
    /* in parts: the click first, then what came before it */
    assert_ok(sa_agent_update(agent, 2, (double[]){0, 0, 1, 0}, (bool[]){false, true, true, false}, 4));
    assert_true(rig_counts(agent).observations == 8 && rig_counts(agent).pending == 2);
    assert_fails(sa_agent_update(agent, 2, (double[]){0, 0, 0, 0}, (bool[]){true, false, false, true}, 4),
                 SA_ALREADY_ANSWERED, "answered before");
    assert_ok(sa_agent_update(agent, 2, (double[]){0, 0, 0, 0}, (bool[]){true, false, false, false}, 4));
    assert_true(rig_counts(agent).observations == 9 && rig_counts(agent).pending == 1);
    /* without a click the rest is awaited */
    assert_ok(sa_agent_update(agent, 3, (double[]){0, 0, 0, 0}, (bool[]){true, true, false, false}, 4));
    assert_true(rig_counts(agent).observations == 11 && rig_counts(agent).pending == 1);
    assert_fails(sa_agent_update(agent, 3, (double[]){0, 0, NAN, 0}, (bool[]){false, false, true, true}, 4),
                 SA_INVALID, "of decision 3 is nan");
    assert_ok(sa_agent_update(agent, 3, (double[]){0, 0, 0, 0}, (bool[]){false, false, true, true}, 4));
    assert_true(rig_counts(agent).observations == 13 && rig_counts(agent).pending == 0);
    assert_true(rig_counts(agent).answered == 4);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* ---- what it teaches ---- */

typedef struct cascade_game {
    sa_agent *agent;
    sa_decision *decision;
    sa_request *request;
    sa_problem *problem;
    double discounts[PLACES];
} cascade_game;

static cascade_game game_of(const char *text) {
    cascade_game game = {.agent = rig_create(text), .request = sa_request_new(), .problem = sa_problem_new()};
    sa_request_slate(game.request, PLACES);
    sa_request_problem(game.request, game.problem);
    return game;
}

static void game_clear(cascade_game *game) {
    sa_problem_destroy(game->problem);
    sa_request_destroy(game->request);
    sa_decision_destroy(game->decision);
    sa_agent_destroy(game->agent);
}

/* Discounts change from round to round; every fourth has none. A discount of 0 is among them. */
static sa_status game_try_select(cascade_game *game, uint64_t round) {
    bool none = round % 4 == 3;
    for (size_t k = 0; k < PLACES; k++) game->discounts[k] = none ? 1 : fabs(rig_number(round, 90 + k));
    if (!none && round % 5 == 2) game->discounts[1] = 0;
    sa_problem_discounts(game->problem, none ? NULL : game->discounts, PLACES);
    sa_request_contexts(game->request, rig_contexts(round), ARMS);
    return sa_agent_select(game->agent, game->request, &game->decision);
}

/* Means and widths of all arms; what was chosen goes to `chosen`. */
static void check_decision(const witness *w, const cascade_game *game, const double *contexts, double gamma,
                           double tolerance, observation *chosen) {
    assert_int_equal(sa_decision_positions(game->decision), 0);
    for (size_t i = 0; i < ARMS; i++) {
        const double *x = contexts + i * RIG_DIM;
        double mean = w->centre + w->scale * witness_score(w, w->theta, x), width = witness_width(w, x);
        near("mean", sa_decision_all_estimates(game->decision)[i], mean, tolerance);
        near("width", sa_decision_all_widths(game->decision)[i], width, tolerance);
        if (gamma >= 0)
            near("score", sa_decision_all_scores(game->decision)[i], mean + gamma * w->scale * width,
                 tolerance);
    }
    for (size_t k = 0; k < PLACES; k++) {
        witness_input(w, contexts + sa_decision_arms(game->decision)[k] * RIG_DIM, k, chosen[k].x);
        chosen[k].psi = game->discounts[k];
    }
}

/* The first position with a score above 0, or all: the scores of this decision. */
static size_t answer(cascade_game *game, uint64_t id, double scores[PLACES]) {
    size_t seen = 0;
    for (size_t k = 0; k < PLACES; k++) scores[k] = rig_number(id, 2000000 + k) - 0.3;
    while (seen < PLACES && scores[seen++] <= 0) continue;
    for (size_t k = seen; k < PLACES; k++) scores[k] = NAN;
    assert_ok(sa_agent_update(game->agent, id, scores, NULL, PLACES));
    return seen;
}

/* CascadeLinUCB, and its kin: rows psi x and scores y, or with `literal` rows x. */
static void check_linear(const char *form, double gamma, bool literal) {
    static witness w;
    observation chosen[PLACES];
    char text[300];
    snprintf(text, sizeof text, "preset=paper feedback=cascade cascade-form=%s regularization=0.5 %s",
             literal ? "literal" : "discounted", form);
    cascade_game game = game_of(text);
    w = witness_of(RIG_DIM, true, 0.5);
    for (uint64_t round = 0; round < 40; round++) {
        double scores[PLACES];
        assert_ok(game_try_select(&game, round));
        check_decision(&w, &game, rig_contexts(round), gamma, 1e-11, chosen);
        size_t seen = answer(&game, round, scores);
        for (size_t k = 0; k < seen; k++) {
            chosen[k].y = scores[k];
            if (literal) chosen[k].psi = 1;
            witness_count(&w, chosen[k].x, chosen[k].psi);
            w.seen[w.count++] = chosen[k];
        }
        witness_regress(&w);
        assert_true(rig_counts(game.agent).observations == w.count);
    }
    assert_true(w.count > 50 && w.count < 110); /* some scans ended early */
    game_clear(&game);
}

static void linear_models_regress_on_discounted_rows(void **state) {
    (void)state;
    check_linear("algorithm=comblin-ucb gamma=0.4 widths=all", 0.4, false);
    check_linear("algorithm=comblin-ucb gamma=0.4 widths=all", 0.4, false);
    check_linear("algorithm=comblin-ts nu=0.6", -1, false);
    check_linear("algorithm=c2ucb widths=all", -1, false);
    check_linear("algorithm=comblin-ucb gamma=0.4 widths=all", 0.4, true);
}

/* Answers come a round late: gradients and discounts are those of the selection. */
static void check_network(const char *form, bool literal, bool centred) {
    enum { ROUNDS = 14 };
    static witness w;
    static observation chosen[ROUNDS][PLACES];
    static double gradient[ROUNDS][PLACES][MOST];
    char text[400];
    snprintf(text, sizeof text,
             PLAIN "feedback=cascade regularization=0.5 gamma=0.7 train-every=1 train-steps=1 %s", form);
    cascade_game game = game_of(text);
    w = witness_of(RIG_DIM, false, 0.5);
    witness_read(&w, game.agent);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        double scores[PLACES], weighted = 0, weight = 0, squares = 0, told = 0;
        assert_ok(game_try_select(&game, round));
        check_decision(&w, &game, rig_contexts(round), 0.7, 1e-8, chosen[round]);
        for (size_t k = 0; k < PLACES; k++) witness_gradient(&w, chosen[round][k].x, gradient[round][k]);
        if (round == 0) continue;
        size_t seen = answer(&game, round - 1, scores);
        for (size_t k = 0; k < seen; k++) {
            observation *o = &chosen[round - 1][k];
            o->y = scores[k];
            if (literal) o->psi = 1;
            witness_count(&w, gradient[round - 1][k], o->psi);
            w.seen[w.count++] = *o;
        }
        for (size_t i = 0; i < w.count; i++) {
            weighted += w.seen[i].psi * w.seen[i].y;
            weight += w.seen[i].psi * w.seen[i].psi;
        }
        if (centred) { /* the constant v that predicts all y = psi v best, and how far y is from that */
            w.centre = weighted / weight;
            for (size_t i = 0; i < w.count; i++) {
                if (w.seen[i].psi == 0) continue;
                squares += pow(w.seen[i].y - w.seen[i].psi * w.centre, 2);
                told++;
            }
            w.scale = told > 1 ? sqrt(squares / told) / 0.5 : 1;
        }
        witness_step(&w, 0.01);
        witness trained = w;
        witness_read(&trained, game.agent);
        for (size_t i = 0; i < w.parameters; i++) near("weight", trained.theta[i], w.theta[i], 1e-8);
        memcpy(w.theta, trained.theta, sizeof w.theta); /* differences do not add up */
    }
    assert_true(rig_counts(game.agent).counted == w.count);
    game_clear(&game);
}

static void networks_are_trained_on_discounted_scores(void **state) {
    (void)state;
    check_network("", false, false);
    check_network("score-deviation=0.5", false, true);
    check_network("cascade-form=literal", true, false);
    check_network("cascade-form=literal score-deviation=0.5", true, true);
}

/* Arms of one cell share the mean of y / psi: (0 / 1 + 0.5 / 0.5) / 2; where psi is 0 or nearly, there is no
 * y / psi. */
static void cells_average_what_discounts_leave(void **state) {
    (void)state;
    static const char *const texts[] = {"feedback=cascade algorithm=cc-mab",
                                        "feedback=cascade algorithm=acc-ucb"};
    double contexts[ARMS * RIG_DIM];
    for (size_t i = 0; i < ARMS * RIG_DIM; i++) contexts[i] = 0.5;
    for (size_t i = 0; i < 4; i++) {
        cascade_game game = game_of(texts[i / 2]);
        sa_problem_discounts(game.problem, (double[PLACES]){1, 0.5, i % 2 ? 1e-310 : 0}, PLACES);
        sa_request_contexts(game.request, contexts, ARMS);
        assert_ok(sa_agent_select(game.agent, game.request, &game.decision));
        assert_ok(sa_agent_update(game.agent, 0, (double[]){0, 0.5, 7}, (bool[]){true, true, true}, PLACES));
        assert_ok(sa_agent_select(game.agent, game.request, &game.decision));
        for (size_t j = 0; j < ARMS; j++)
            near("mean", sa_decision_all_estimates(game.decision)[j], 0.5, 1e-15);
        game_clear(&game);
    }
}

/* A position with a discount of 0 teaches nothing, whatever is said of it. */
static void a_discount_of_0_teaches_nothing(void **state) {
    (void)state;
    static const char *const forms[] = {"algorithm=comblin-ucb", "train-every=1",
                                        "train-every=1 algorithm=cn-ts"};
    for (size_t f = 0; f < 3; f++) {
        char text[200];
        snprintf(text, sizeof text, "feedback=cascade score-deviation=1 %s", forms[f]);
        sa_agent *agent = rig_create(text);
        double discounts[2] = {0, 0};
        sa_problem *problem = sa_problem_new();
        sa_problem_discounts(problem, discounts, 2);
        sa_request *request = sa_request_new();
        sa_request_contexts(request, rig_contexts(0), ARMS);
        sa_request_slate(request, 2);
        sa_request_problem(request, problem);
        sa_decision *decision = NULL;
        assert_ok(sa_agent_select(agent, request, &decision));
        assert_ok(sa_agent_update(agent, 0, (double[]){-5, 7}, NULL, 2));
        assert_true(rig_counts(agent).log_det == 0);
        sa_agent_counts counts = rig_counts(agent);
        assert_true(counts.diverged_trainings == 0 && counts.pending == 0);
        assert_ok(sa_agent_select(agent, request, &decision));
        for (size_t i = 0; i < ARMS; i++) assert_true(fabs(sa_decision_all_estimates(decision)[i]) < 2);
        sa_request_destroy(request);
        sa_problem_destroy(problem);
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
    }
}

/* ---- files ---- */

/* Discounts of pending decisions and of the history are saved: two agents, one of them saved and loaded in
 * between, go on bit for bit. */
static void saved_agents_keep_their_discounts(void **state) {
    (void)state;
    static const char *const forms[] = {
        "feedback=cascade hidden=44 score-deviation=1", "feedback=cascade algorithm=comblin-ts",
        "feedback=cascade algorithm=cn-ts-d epoch-length=4",
        "feedback=cascade cascade-form=unknown algorithm=cn-ucb-d epoch-length=4 slate=3 "
        "epoch-replay=schedule",
        "feedback=cascade count-pending=true optimizer=adam train-batch=4"};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        cascade_game one = game_of(forms[f]), other = game_of(forms[f]);
        for (uint64_t round = 0; round < 24; round++) {
            double scores[PLACES];
            assert_ok(game_try_select(&one, round));
            assert_ok(game_try_select(&other, round));
            rig_assert_same_decision(one.decision, other.decision);
            if (round % 3 == 1) {
                sa_agent *loaded = NULL;
                assert_ok(sa_agent_save(one.agent, scratch("a.npz")));
                assert_ok(sa_agent_load(scratch("a.npz"), &loaded));
                sa_agent_destroy(one.agent);
                one.agent = loaded;
            }
            if (round < 2) continue;
            answer(&one, round - 2, scores);
            answer(&other, round - 2, scores);
            rig_assert_same_counts(one.agent, other.agent);
        }
        game_clear(&one);
        game_clear(&other);
    }
}

/* ---- bad input ---- */

static void wrong_discounts_are_refused(void **state) {
    (void)state;
    static const struct {
        double discounts[4];
        size_t count;
        const char *sentence;
    } cases[] = {
        {{1, 0.5, 1.5}, 3, "--discounts: entry 2 is 1.5, and must be from 0 to 1"},
        {{1, -0.5, 1}, 3, "--discounts: entry 1 is -0.5, and must be from 0 to 1"},
        {{NAN, 0.5, 1}, 3, "--discounts: entry 0 is nan, and must be a finite number"},
        {{1, 0.5}, 2, "--discounts: 2 entries, and there are 3 positions (--slate)"},
        {{1, 0.5, 0.2, 0.1}, 4, "--discounts: 4 entries, and there are 3 positions (--slate)"},
    };
    static const char *const oracles[] = {"", "oracle=cascade", "oracle=assignment"};
    for (size_t o = 0; o < 3; o++) {
        char text[100];
        snprintf(text, sizeof text, "feedback=cascade %s", oracles[o]);
        cascade_game game = game_of(text);
        sa_request_contexts(game.request, rig_contexts(0), ARMS);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            sa_problem_discounts(game.problem, cases[i].discounts, cases[i].count);
            assert_says(sa_agent_select(game.agent, game.request, &game.decision), SA_INVALID,
                        cases[i].sentence);
        }
        assert_true(rig_counts(game.agent).decisions == 0);
        game_clear(&game);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scores_tell_what_was_seen),
        cmocka_unit_test(a_click_ends_the_scan),
        cmocka_unit_test(linear_models_regress_on_discounted_rows),
        cmocka_unit_test(networks_are_trained_on_discounted_scores),
        cmocka_unit_test(cells_average_what_discounts_leave),
        cmocka_unit_test(a_discount_of_0_teaches_nothing),
        cmocka_unit_test(saved_agents_keep_their_discounts),
        cmocka_unit_test(wrong_discounts_are_refused),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
