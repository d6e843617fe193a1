/* Agents with a sketch: what a decision says of its widths holds against an exact engine in double precision
 * that hears of the same gradients, whatever the feedback. */
#include "agent/agent.h"
#include "env/environment.h"
#include "test_agent_rig.h"
#include "test_parts.h"

enum { ARMS = 14, SLATE = 4 };

/* The exact engine beside an agent. */
static sa_confidence *exact_beside(const sa_agent *agent) {
    const sa_model *model = agent->learner->policy->estimator.model;
    sa_confidence_settings settings = sa_options_confidence(sa_agent_options(agent));
    sa_confidence *exact = NULL;
    settings.precision = SA_PRECISION_DOUBLE;
    settings.exact_form = SA_EXACT_DUAL;
    assert_ok(sa_confidence_exact.create(&settings, model->pairs, model->shape, &exact));
    return exact;
}

/* What the agent has just counted. */
static void count_beside(const sa_agent *agent, sa_confidence *exact) {
    sa_width_work work = {0};
    assert_true(agent->learner->work.gradients.count > 0);
    assert_ok(sa_confidence_count(exact, &agent->learner->work.gradients, NULL, &work));
    assert_ok(sa_confidence_regularize(exact, agent->learner->policy->lambda)); /* it moves with --bonus */
    sa_width_work_clear(&work);
}

static void check_widths(const sa_agent *agent, const sa_decision *decision, sa_confidence *exact) {
    const sa_gradients *gradients = &agent->chooser->candidates.gradients; /* of all arms */
    double truth[ARMS * SLATE], c = sa_decision_certificate(decision);
    const double *width = sa_decision_all_widths(decision);
    sa_width_work work = {0};
    assert_true(gradients->count >= ARMS && gradients->count <= ARMS * SLATE && c >= 1);
    assert_ok(exact->kind->widths(exact, gradients, NULL, gradients->count, NULL, &work, truth));
    sa_width_work_clear(&work);
    for (size_t i = 0; i < gradients->count; i++)
        assert_true(width[i] <= truth[i] * c * 1.001 && width[i] * c * 1.001 >= truth[i]);
}

static double play(const char *text, size_t rounds) {
    sa_agent *agent = rig_create(text);
    sa_confidence *exact = exact_beside(agent);
    sa_decision *decision = NULL;
    for (uint64_t round = 0; round < rounds; round++) {
        uint64_t id = rig_select(agent, round, ARMS, SLATE, &decision);
        check_widths(agent, decision, exact);
        assert_true(sa_decision_certificate(decision) == rig_counts(agent).certificate);
        rig_answer(agent, id, SLATE);
        count_beside(agent, exact);
    }
    double c = rig_counts(agent).certificate;
    sa_decision_destroy(decision);
    sa_confidence_destroy(exact);
    sa_agent_destroy(agent);
    return c;
}

static void certificates_hold(void **state) {
    (void)state;
    static const char *const kinds[] = {
        "preset=paper confidence=sketch sketch-size=8 widths=all",
        "preset=tuned confidence=sketch sketch-size=8 widths=all",
        "preset=icml23 confidence=sketch sketch-size=12 widths=all precision=double algorithm=cn-ts",
        "preset=paper confidence=auto sketch-size=1 widths=all",
        "preset=paper confidence=sketch sketch-size=8 widths=all feedback=position slate=4",
        "preset=paper confidence=sketch sketch-size=8 widths=all feedback=cascade train-every=1",
        ("preset=paper confidence=sketch sketch-size=4 widths=all algorithm=neural-ucb regularization=0.05 "
         "depth=3"),
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        double c = play(kinds[k], 40);
        print_message("%s: certificate %.3f\n", kinds[k], c);
        assert_true(c > 1);
    }
    /* a linear model has few directions, and a sketch loses nothing */
    assert_true(play("preset=paper confidence=sketch sketch-size=8 widths=all algorithm=comblin-ucb", 40) <
                1.01);
}

/* The paper's network, while it learns h2: the first 1200 gradients in a sketch of 256. */
static void widths_of_the_papers_network_are_close(void **state) {
    (void)state;
    enum { ROUNDS = 300, CANDIDATES = 20 };
    sa_agent *agent = rig_create("preset=paper environment=h2 dim=20 hidden=64 train-every=20 train-steps=60 "
                                 "rate=theory "
                                 "confidence=sketch widths=all");
    sa_confidence *exact = exact_beside(agent);
    sa_environment *environment;
    sa_round round;
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    sa_width_work work = {0};
    double least = INFINITY, most = 0;
    assert_ok(sa_environment_create(sa_agent_options(agent), &environment));
    assert_ok(sa_round_init(&round, environment));
    for (uint64_t t = 0; t < ROUNDS; t++) {
        double truth[CANDIDATES], scores[SLATE];
        sa_environment_draw(environment, 0, t, &round);
        sa_request_contexts(request, round.contexts, CANDIDATES);
        sa_request_slate(request, SLATE);
        assert_ok(sa_agent_select(agent, request, &decision));
        double c = sa_decision_certificate(decision);
        const sa_gradients *gradients = &agent->chooser->candidates.gradients;
        assert_int_equal(gradients->count, CANDIDATES);
        assert_ok(exact->kind->widths(exact, gradients, NULL, CANDIDATES, NULL, &work, truth));
        for (size_t i = 0; i < CANDIDATES; i++) {
            double ratio = sa_decision_all_widths(decision)[i] / truth[i];
            assert_true(ratio <= c * 1.001 && ratio * c * 1.001 >= 1);
            least = fmin(least, ratio);
            most = fmax(most, ratio);
        }
        const size_t *arms = sa_decision_arms(decision);
        for (size_t k = 0; k < SLATE; k++) scores[k] = round.expected[arms[k]] + round.noise[arms[k]];
        assert_ok(sa_agent_update(agent, sa_decision_id(decision), scores, NULL, SLATE));
        count_beside(agent, exact);
    }
    print_message("widths are %.4f to %.4f of the exact ones; certificate %.3f\n", least, most,
                  rig_counts(agent).certificate);
    assert_true(least > 0.98 && most < 1.2 && rig_counts(agent).certificate < 3);
    sa_decision_destroy(decision);
    sa_request_destroy(request);
    sa_round_clear(&round);
    sa_width_work_clear(&work);
    sa_environment_destroy(environment);
    sa_confidence_destroy(exact);
    sa_agent_destroy(agent);
}

static double certificate_of(const char *text) {
    sa_agent *agent = rig_create(text);
    sa_decision *decision = NULL;
    rig_select(agent, 1, ARMS, SLATE, &decision);
    double c = sa_decision_certificate(decision);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
    return c;
}

static void other_engines_say_what_they_know(void **state) {
    (void)state;
    assert_true(certificate_of("confidence=exact") == 1);
    assert_true(certificate_of("confidence=sketch") == 1); /* nothing was counted yet */
    assert_true(certificate_of("algorithm=comblin-ts") == 1);
    assert_true(isnan(certificate_of("confidence=diagonal")));
    assert_true(isnan(certificate_of("confidence=last-layer")));
    assert_true(isnan(certificate_of("algorithm=greedy")));
    assert_true(isnan(certificate_of("algorithm=random")));
}

/* Dropping arms early does not change the slate, with bounds that a sketch gives. */
static void slates_are_those_of_all_widths(void **state) {
    (void)state;
    sa_agent *some = rig_create("confidence=sketch sketch-size=40 hidden=12 widths=needed gamma=0.3");
    sa_agent *all = rig_create("confidence=sketch sketch-size=40 hidden=12 widths=all gamma=0.3");
    sa_decision *one = NULL, *other = NULL;
    for (uint64_t round = 0; round < 40; round++) {
        uint64_t id = rig_select(some, round, 300, SLATE, &one);
        rig_select(all, round, 300, SLATE, &other);
        assert_memory_equal(sa_decision_arms(one), sa_decision_arms(other), SLATE * sizeof(size_t));
        assert_memory_equal(sa_decision_widths(one), sa_decision_widths(other), SLATE * sizeof(double));
        rig_answer(some, id, SLATE);
        rig_answer(all, id, SLATE);
    }
    assert_true(rig_counts(some).certificate > 1);
    sa_decision_destroy(one);
    sa_decision_destroy(other);
    sa_agent_destroy(some);
    sa_agent_destroy(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(certificates_hold),
        cmocka_unit_test(widths_of_the_papers_network_are_close),
        cmocka_unit_test(other_engines_say_what_they_know),
        cmocka_unit_test(slates_are_those_of_all_widths),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
