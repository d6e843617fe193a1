/* CC-MAB against an example worked out by hand, and against plain arrays over all cubes. */
#include "test_partition_rig.h"
#include <superarm/superarm.h>

/* ---- by hand ---- d = 1, two cubes: L = [-1, 0) and R = [0, 1]. alpha = 1, so z = 2 / (3 + 1) = 1/2, and
 * K(t) = sqrt(t) log t:
 *
 *     t     1    2      3      4      5      6      7
 *     K(t)  0    0.980  1.903  2.773  3.599  4.389  5.148 */
static const double L = -0.5, R = 0.25;

/* Scores below 2 are estimates, those above are of arms to explore: 2 arms lift them to more than 4. */
static void urgent(const sa_decision *decision, size_t arm, bool wanted) {
    double score = sa_decision_all_scores(decision)[arm];
    if (wanted ? score <= 4 : score >= 2)
        fail_msg("decision %d: arm %zu has %g", (int)sa_decision_id(decision), arm, score);
}

static void two_cubes_by_hand(void **state) {
    (void)state;
    sa_agent *agent = rig_create("preset=paper algorithm=cc-mab dim=1 rounds=16");
    sa_decision *decision = NULL;
    line_round(agent, (double[]){L}, 1, 1, 0.25, &decision); /* t = 1: C(L) = 0 <= 0, then 1 */
    assert_true(sa_decision_scores(decision)[0] > 2 && sa_decision_estimates(decision)[0] == 0);
    line_round(agent, (double[]){L, R}, 2, 1, 0.75,
               &decision); /* t = 2: 1 > 0.980, so L is known, and R is not */
    urgent(decision, 0, false);
    urgent(decision, 1, true);
    assert_true(sa_decision_arms(decision)[0] == 1 && sa_decision_all_scores(decision)[0] == 0.25);
    line_round(agent, (double[]){L, R - 0.5}, 2, 2, 0.35,
               &decision); /* t = 3: both in L, and 1 <= 1.903; C(L) = 3 */
    urgent(decision, 0, true);
    urgent(decision, 1, true);
    line_round(agent, (double[]){L, R}, 2, 1, 0.85, &decision); /* t = 4: 3 > 2.773; 1 <= 2.773. C(R) = 2 */
    urgent(decision, 0, false);
    urgent(decision, 1, true);
    assert_true(fabs(sa_decision_all_estimates(decision)[0] - 0.95 / 3) <
                1e-15);                                         /* (0.25 + 0.35 + 0.35) / 3 */
    line_round(agent, (double[]){L, R}, 2, 1, 0.35, &decision); /* t = 5: 3 and 2 <= 3.599 */
    urgent(decision, 0, true);
    urgent(decision, 1, true);
    line_round(agent, (double[]){R, R, R, R}, 4, 4, 0.8, &decision); /* t = 6: C(R) = 6 or 7 with round 5's */
    line_round(agent, (double[]){R, L}, 2, 1, 0.3, &decision);       /* t = 7: 6 > 5.148; C(L) is 3 or 4 */
    urgent(decision, 0, false);
    urgent(decision, 1, true);
    assert_int_equal(sa_decision_arms(decision)[0], 1); /* explored, though R's estimate is higher */
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* At the edges, and beyond them: a feature outside the cube counts as at its edge. */
static void edges_and_what_is_outside(void **state) {
    (void)state;
    sa_agent *agent = rig_create("algorithm=cc-mab dim=1 rounds=256 gamma=0");
    sa_decision *decision = NULL;
    static const double in_order[] = {-0.875, -0.5, 0.125, 0.875},
                        probes[] = {-1e300, -1, -0.51, -0.5, -0.01, 0, 0.49, 0.5, 1, 1e300};
    static const double wanted[] = {1, 1, 1, 2, 2, 3, 3, 4, 4, 4};
    for (size_t i = 0; i < 4; i++) line_round(agent, &in_order[i], 1, 1, (double)i + 1, &decision);
    line_round(agent, probes, 10, 1, 4, &decision);
    line_check(decision, wanted, 10);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* ---- plain arrays ---- */

enum { MOST_CUBES = 1000 };

typedef struct reference {
    size_t dim, parts;
    double exponent, control, seen[MOST_CUBES], sum[MOST_CUBES];
    const double *topics; /* (arms, 2) for the submodular oracle; else NULL */
} reference;

static size_t cube_of(const reference *self, const double *x) {
    size_t cube = 0;
    for (size_t j = 0; j < self->dim; j++) {
        size_t part = 0;
        while (part + 1 < self->parts && (x[j] + 1) / 2 >= (double)(part + 1) / (double)self->parts) part++;
        cube = cube * self->parts + part;
    }
    return cube;
}

static void learn(void *user, size_t count, const double *const *contexts, const double *scores) {
    reference *self = user;
    for (size_t i = 0; i < count; i++) {
        self->seen[cube_of(self, contexts[i])]++;
        self->sum[cube_of(self, contexts[i])] += scores[i];
    }
}

/* Rank 1: to explore, in the order of the round's draws (seed 3, run 2); the lifted scores are
 * (2 N + draw) max(1, |largest estimate of the others|). */
static void ranks(const reference *self, const game_round *round, uint64_t t, double *mean, double *score,
                  int *rank, double *draw) {
    sa_stream stream = sa_stream_at(3, SA_PURPOSE_EXPLORATION, 2, t - 1);
    double largest = 1;
    for (size_t i = 0; i < GAME_ARMS; i++) {
        size_t cube = cube_of(self, round->contexts + i * self->dim);
        mean[i] = self->seen[cube] > 0 ? self->sum[cube] / self->seen[cube] : 0;
        rank[i] = self->seen[cube] <= self->control * pow((double)t, self->exponent) * log((double)t);
        draw[i] = sa_draw_uniform(&stream, i);
        if (!rank[i] && fabs(mean[i]) > largest) largest = fabs(mean[i]);
    }
    for (size_t i = 0; i < GAME_ARMS; i++) score[i] = rank[i] ? largest * (2 * GAME_ARMS + draw[i]) : mean[i];
}

static void expect(void *user, const game_round *round, uint64_t t, double *mean, double *score,
                   size_t *slate) {
    int rank[GAME_ARMS];
    double draw[GAME_ARMS], order[GAME_ARMS];
    ranks(user, round, t, mean, score, rank, draw);
    for (size_t i = 0; i < GAME_ARMS; i++) order[i] = rank[i] ? draw[i] : mean[i];
    best_slate(round, rank, order, draw, slate);
}

static void slates_are_those_of_plain_arrays(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t dim, parts;
        double exponent, control;
    } games[] = {
        {"dim=1 rounds=81", 1, 3, 0.5, 1},
        {"dim=2 rounds=300", 2, 4, 0.4, 1}, /* ceil(300^(1/5)) = ceil(3.13) */
        {"dim=2 rounds=32", 2, 2, 0.4, 1},  /* 32^(1/5) = 2 */
        {"dim=2 rounds=33", 2, 3, 0.4, 1},
        {"dim=2 rounds=243", 2, 3, 0.4, 1}, /* 243^(1/5) = 3 */
        {"dim=3 rounds=64 gamma=0.25", 3, 2, 1.0 / 3, 0.25},
        {"dim=3 rounds=1000000", 3, 10, 1.0 / 3, 1},
        {"dim=2 rounds=1 gamma=0", 2, 1, 0.4, 0},
    };
    for (size_t i = 0; i < sizeof games / sizeof *games; i++)
        for (int outside = 0; outside < 2; outside++) {
            char text[200];
            snprintf(text, sizeof text, "preset=paper algorithm=cc-mab seed=3 first-run=2 %s", games[i].text);
            static reference plain;
            plain = (reference){games[i].dim, games[i].parts, games[i].exponent, games[i].control, {0}, {0},
                                NULL};
            game_play(&(game){games[i].dim, outside ? 1.5 : 1, NULL, expect, learn, &plain}, text);
        }
}

/* ---- the paper's greedy: the under-explored first, then what adds most to them, by estimates ---- */

static double covered(const double *topics, const double *value, const size_t *slate, size_t count) {
    double sum = 0;
    for (size_t topic = 0; topic < 2; topic++) {
        double most = 0;
        for (size_t k = 0; k < count; k++) most = fmax(most, value[slate[k]] * topics[2 * slate[k] + topic]);
        sum += most;
    }
    return sum;
}

static void expect_submodular(void *user, const game_round *round, uint64_t t, double *mean, double *score,
                              size_t *slate) {
    const reference *self = user;
    int rank[GAME_ARMS];
    double draw[GAME_ARMS];
    bool taken[GAME_ARMS];
    ranks(self, round, t, mean, score, rank, draw);
    for (size_t i = 0; i < GAME_ARMS; i++) {
        score[i] = fmax(mean[i], 0); /* its domain; and no lift */
        taken[i] = round->excluded[i];
    }
    for (size_t k = 0; k < GAME_SLATE; k++) {
        size_t best = GAME_ARMS;
        double most = 0;
        bool exploring = false;
        for (size_t i = 0; i < GAME_ARMS; i++) exploring = exploring || (rank[i] && !taken[i]);
        for (size_t i = 0; i < GAME_ARMS; i++) {
            if (taken[i] || (exploring && !rank[i])) continue;
            slate[k] = i;
            double gain = exploring ? draw[i] : covered(self->topics, score, slate, k + 1);
            if (best == GAME_ARMS || gain > most + 1e-12) {
                best = i;
                most = gain;
            }
        }
        taken[slate[k] = best] = true;
    }
}

static void greedy_goes_on_from_the_under_explored(void **state) {
    (void)state;
    double topics[GAME_ARMS * 2];
    for (size_t i = 0; i < GAME_ARMS * 2; i++) topics[i] = fabs(rig_number(77, i));
    sa_problem *problem = sa_problem_new();
    sa_problem_topics(problem, topics, GAME_ARMS, 2);
    static reference plain;
    for (int i = 0; i < 3; i++) {
        char text[200];
        static const double controls[] = {1, 0.3, 0.02};
        snprintf(text, sizeof text,
                 "algorithm=cc-mab seed=3 first-run=2 dim=2 rounds=1000 oracle=submodular gamma=%g",
                 controls[i]);
        plain = (reference){2, 4, 0.4, controls[i], {0}, {0}, topics};
        game_play(&(game){2, 1, problem, expect_submodular, learn, &plain}, text);
    }
    sa_problem_destroy(problem);
}

/* While nothing is known the slates are those of `random`: the same draws decide. */
static void all_under_explored_is_random(void **state) {
    (void)state;
    sa_agent *agent = rig_create("algorithm=cc-mab gamma=1e9 seed=5"),
             *random = rig_create("algorithm=random seed=5");
    sa_decision *one = NULL, *other = NULL;
    for (uint64_t id = 0; id < 50; id++) {
        rig_select(agent, id, 20, 4, &one);
        rig_select(random, id, 20, 4, &other);
        assert_memory_equal(sa_decision_arms(one), sa_decision_arms(other), 4 * sizeof(size_t));
        rig_answer(agent, id, 4);
    }
    sa_decision_destroy(one);
    sa_decision_destroy(other);
    sa_agent_destroy(agent);
    sa_agent_destroy(random);
}

/* With other oracles an arm to explore is worth more than any number of others. */
static void other_oracles_see_lifted_scores(void **state) {
    (void)state;
    enum { ARMS = 6 };
    sa_agent *agent = rig_create("algorithm=cc-mab dim=1 rounds=16 oracle=knapsack");
    sa_request *request = sa_request_new();
    sa_problem *problem = sa_problem_new();
    sa_decision *decision = NULL;
    static const double contexts[ARMS] = {0.1, 0.2, 0.3, 0.4, 0.5, -0.5}, costs[ARMS] = {1, 1, 1, 1, 1, 5};
    sa_problem_costs(problem, costs, ARMS);
    sa_problem_capacity(problem, 5);
    sa_request_contexts(request, contexts, 5); /* all in one cube, which is then known */
    sa_problem_costs(problem, costs, 5);
    sa_request_problem(request, problem);
    for (uint64_t id = 0; id < 4; id++) {
        assert_ok(sa_agent_select(agent, request, &decision));
        double answers[ARMS] = {100, 100, 100, 100, 100, 100};
        assert_ok(sa_agent_update(agent, id, answers, NULL, sa_decision_slate(decision)));
    }
    sa_problem_costs(problem, costs, ARMS);
    sa_request_contexts(request, contexts, ARMS);
    assert_ok(sa_agent_select(agent, request, &decision));
    assert_int_equal(sa_decision_slate(decision), 1); /* instead of five arms worth 100 each */
    assert_int_equal(sa_decision_arms(decision)[0], 5);
    sa_decision_destroy(decision);
    sa_problem_destroy(problem);
    sa_request_destroy(request);
    sa_agent_destroy(agent);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_cubes_by_hand),
        cmocka_unit_test(edges_and_what_is_outside),
        cmocka_unit_test(slates_are_those_of_plain_arrays),
        cmocka_unit_test(greedy_goes_on_from_the_under_explored),
        cmocka_unit_test(all_under_explored_is_random),
        cmocka_unit_test(other_oracles_see_lifted_scores),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
