/* The companion of a saved agent: damaged numbers of it are refused, and files of older formats, which do not
 * have what is open of its estimates, get it from what they have. */
#include "test_agent_rig.h"

#include "agent/agent.h"
#include "base/npy.h"
#include "test_ridge_reference.h"

enum { DIM = RIG_DIM, ARMS = 9, SLATE = 2, DECISIONS = 60, ARRAYS = 80 };
static const double GAMMA = 1.5;

typedef struct world {
    double chosen[DECISIONS * SLATE][DIM], score[DECISIONS * SLATE];
    size_t answered;
} world;

/* An agent that has learnt from all of it, saved as a.npz. */
static void save_taught(world *w) {
    sa_agent *agent =
        rig_create("normalize=none precision=double train-every=1 gamma=1.5 widths=all companion=true");
    sa_decision *made = NULL;
    w->answered = 0;
    for (uint64_t id = 0; id < DECISIONS; id++) {
        double scores[SLATE];
        rig_select(agent, id, ARMS, SLATE, &made);
        for (size_t k = 0; k < SLATE; k++) {
            const double *x = rig_contexts(id) + sa_decision_arms(made)[k] * DIM;
            scores[k] = 2 + x[2] - 0.5 * x[1] + 0.3 * x[3] * x[3] + rig_number(id, 5000000 + k);
            memcpy(w->chosen[w->answered], x, sizeof w->chosen[0]);
            w->score[w->answered++] = scores[k];
        }
        assert_ok(sa_agent_update(agent, id, scores, NULL, SLATE));
    }
    assert_ok(sa_agent_save(agent, scratch("a.npz")));
    sa_decision_destroy(made);
    sa_agent_destroy(agent);
}

/* forged.npz is a.npz with its arrays as `change` leaves them; without those for which it says false. */
static void forge(bool (*change)(const char *name, sa_array *array, const void *how), const void *how) {
    sa_npz *archive;
    sa_npz_writer *writer;
    sa_array arrays[ARRAYS] = {0};
    assert_ok(sa_npz_open(scratch("a.npz"), &archive));
    assert_ok(sa_npz_begin(&writer));
    assert_true(sa_npz_count(archive) <= ARRAYS);
    for (size_t i = 0; i < sa_npz_count(archive); i++) {
        const char *name = sa_npz_name(archive, i);
        sa_array *array = &arrays[i];
        assert_ok(sa_npz_get(archive, name, array));
        if (!change(name, array, how)) continue;
        assert_ok(sa_npz_add(writer, name, array->type, array->axes, array->shape, array->data));
    }
    assert_ok(sa_npz_finish(writer, scratch("forged.npz")));
    for (size_t i = 0; i < ARRAYS; i++) sa_array_clear(&arrays[i]);
    sa_npz_close(archive);
}

/* ---- damaged ---- */

/* The root is packed (linalg/triangle.h): the first and the last of its diagonal, and one below it. */
enum { FIRST = 0, LAST = (DIM - 1) * 17, BELOW = 1 };
/* Of companion_numbers. */
enum { COUNT = 0, SQUARE = 3, LAMBDA = 15 };
typedef struct damage {
    const char *name;
    size_t at; /* which of its numbers */
    double value;
    const char *words;
} damage;

static bool damaged(const char *name, sa_array *array, const void *how) {
    const damage *it = how;
    if (!strcmp(name, it->name)) ((double *)array->data)[it->at] = it->value;
    return true;
}

static void numbers_that_cannot_be_are_refused(void **state) {
    (void)state;
    static world w;
    static const damage kinds[] = {{"companion_root", FIRST, NAN, "companion_root"},
                                   {"companion_root", BELOW, NAN, "the agent's companion"},
                                   {"companion_root", LAST, INFINITY, "companion_root"},
                                   {"companion_root", FIRST, 0, "companion_root"},
                                   {"companion_root", LAST, 0, "companion_root"},
                                   {"companion_root", LAST, -1, "companion_root"},
                                   {"companion_input_score", 2, NAN, "the agent's companion"},
                                   {"companion_gram", 7, NAN, "the agent's companion"},
                                   {"companion_numbers", COUNT, -1, "sums of -1 observations"},
                                   {"companion_numbers", SQUARE, -1, "squares -1"},
                                   {"companion_numbers", LAMBDA, 0, "the lambda 0"},
                                   {"companion_noise", 0, -1, "a noise of -1"},
                                   {"companion_noise", 0, NAN, "companion_noise"},
                                   {"companion_noise", 0, INFINITY, "companion_noise"}};
    save_taught(&w);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        sa_agent *agent = NULL;
        forge(damaged, &kinds[i]);
        assert_fails(sa_agent_load(scratch("forged.npz"), &agent), SA_FORMAT, kinds[i].words);
        assert_null(agent);
    }
}

/* ---- older ---- */

/* Up to which format files did not have an array, or only so many of its numbers. */
static const struct {
    const char *name;
    int64_t until;
    size_t numbers;
} lacks[] = {{"companion_root", 6, 0},   {"companion_noise", 6, 0}, {"posterior", 6, 8},
             {"rewards_outliers", 5, 0}, {"inputs_newer", 5, 0},    {"relearnt", 5, 0},
             {"companion_units", 4, 0},  {"last_", 4, 0},           {"posterior", 4, 7}};

static bool older(const char *name, sa_array *array, const void *how) {
    int64_t format = *(const int64_t *)how;
    if (!strcmp(name, "format")) *(int64_t *)array->data = format;
    if (!strcmp(name, "rewards_outliers") && format <= 5) {
        array->shape[0] -= 4;
        return true;
    }
    if (!strcmp(name, "posterior") && format <= 6)
        ((sa_posterior *)array->data)->deviation *= 7; /* by the formula of its time */
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++) {
        if (format > lacks[i].until || strncmp(name, lacks[i].name, strlen(lacks[i].name))) continue;
        if (lacks[i].numbers == 0) return false;
        array->shape[0] = lacks[i].numbers;
    }
    return true;
}

/* sqrt(w) s, and s (2 d / n)^2 for a beginning. */
static void check_unit(const sa_agent *agent, const world *w) {
    const sa_policy *policy = agent->learner->policy;
    const sa_companion_numbers *now = &policy->estimator.companion->numbers;
    double s = sqrt(agent->learner->error), share = now->network / (now->network + now->linear);
    assert_float_equal(policy->deviation / (sqrt(share) * s), 1, 1e-9);
    assert_float_equal(policy->early / (s * pow(2 * DIM / (double)w->answered, 2)), 1, 1e-9);
}

/* Every arm's score is the estimate and gamma times the deviation of the mixture, whose regression is that of
 * all feedback. f, which nobody sees, is what the estimate has beside it. */
static void check_scores(const sa_agent *agent, const world *w, const sa_decision *made,
                         const double *contexts) {
    const sa_policy *policy = agent->learner->policy;
    const sa_companion_numbers *now = &policy->estimator.companion->numbers;
    const ridge_reference seen = {
        .dim = DIM, .count = w->answered, .input = w->chosen[0], .score = w->score, .lambda = now->lambda};
    double k = now->linear + now->network, share = now->network / k,
           g = log(1 + ARMS / (double)SLATE) / log(6);
    double unit = policy->deviation + policy->early * g * g, most = 0;
    for (size_t a = 0; a < ARMS; a++) {
        double estimate = sa_decision_all_estimates(made)[a], width = sa_decision_all_widths(made)[a], r;
        double of_r = ridge_variance(&seen, contexts + a * DIM, &r);
        double f = (estimate - now->intercept - now->linear * r) / now->network;
        double variance =
            pow(unit * width, 2) + (1 - share) * of_r + share * (1 - share) * pow(k * (f - r), 2);
        double expected = estimate + GAMMA * sqrt(g * variance);
        if (!(fabs(sa_decision_all_scores(made)[a] - expected) <= 1e-6 * sqrt(variance)))
            fail_msg("arm %zu has the score %.12g, and should have %.12g", a, sa_decision_all_scores(made)[a],
                     expected);
        most = fmax(most, (1 - share) * of_r / variance);
    }
    assert_true(most > 0.2); /* the regression counts */
}

static void older_formats_get_it_from_what_they_have(void **state) {
    (void)state;
    static world w;
    save_taught(&w);
    for (int64_t format = 4; format <= 7; format++) {
        sa_agent *agent = NULL;
        sa_decision *made = NULL;
        forge(older, &format);
        assert_ok(sa_agent_load(scratch("forged.npz"), &agent));
        check_unit(agent, &w);
        rig_select(agent, DECISIONS, ARMS, SLATE, &made);
        check_scores(agent, &w, made, rig_contexts(DECISIONS));
        sa_decision_destroy(made);
        sa_agent_destroy(agent);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_that_cannot_be_are_refused),
                                       cmocka_unit_test(older_formats_get_it_from_what_they_have)};
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
