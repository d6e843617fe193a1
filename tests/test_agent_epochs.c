/* Epochs of cn-ucb-d and cn-ts-d, against a network, a matrix Z and gradient descent written out here without
 * any of the library's numerics: f = W2 relu(W1 x), and g its gradient. */
#include "test_agent_rig.h"

#include "base/npy.h"
#include "test_elimination.h"
#include "test_parts.h"

enum { WIDEST = 12, MOST_P = WIDEST * (RIG_DIM + 1), ARMS = 7, SLATE = 2, MOST_DECISIONS = 64 };

#define PLAIN "preset=icml23 widths=all precision=double hidden=4 algorithm=cn-ucb-d epoch-hidden-growth=1.5 "

/* ---- the witness ---- */

typedef struct network {
    size_t m;
    double w1[WIDEST][RIG_DIM], w2[WIDEST];
} network;

/* The weights as they are now, or as they were drawn (prefix "initial_"), from the agent's file. */
static network weights_of(const sa_agent *agent, const char *prefix) {
    network net = {.m = rig_counts(agent).hidden};
    char name[32];
    sa_npz *archive;
    assert_true(net.m <= WIDEST);
    assert_ok(sa_agent_save(agent, scratch("weights.npz")));
    assert_ok(sa_npz_open(scratch("weights.npz"), &archive));
    snprintf(name, sizeof name, "%sW1", prefix);
    assert_ok(sa_npz_read_into(archive, name, SA_FLOAT64, 2, (size_t[]){net.m, RIG_DIM}, net.w1));
    snprintf(name, sizeof name, "%sW2", prefix);
    assert_ok(sa_npz_read_into(archive, name, SA_FLOAT64, 2, (size_t[]){1, net.m}, net.w2));
    sa_npz_close(archive);
    return net;
}

/* f(x), and d f / d (W1, W2) in g. */
static double forward(const network *net, const double *x, double g[MOST_P]) {
    double f = 0;
    for (size_t i = 0; i < net->m; i++) {
        double z = 0;
        for (size_t j = 0; j < RIG_DIM; j++) z += net->w1[i][j] * x[j];
        double h = z > 0 ? z : 0;
        f += net->w2[i] * h;
        for (size_t j = 0; j < RIG_DIM; j++) g[i * RIG_DIM + j] = z > 0 ? net->w2[i] * x[j] : 0;
        g[net->m * RIG_DIM + i] = h;
    }
    return f;
}

typedef struct square {
    size_t m, p;
    double z[MOST_P][MOST_P];
} square;

static square matrix_of(size_t m, double lambda) {
    square matrix = {.m = m, .p = m * (RIG_DIM + 1)};
    for (size_t i = 0; i < matrix.p; i++) matrix.z[i][i] = lambda;
    return matrix;
}

static void matrix_count(square *matrix, const network *net, const double *x) {
    double g[MOST_P];
    forward(net, x, g);
    for (size_t i = 0; i < matrix->p; i++)
        for (size_t j = 0; j < matrix->p; j++) matrix->z[i][j] += g[i] * g[j] / (double)matrix->m;
}

/* sqrt(g' Z^-1 g / m) by elimination */
static double width_of(const square *matrix, const double g[MOST_P]) {
    static double a[MOST_P * (MOST_P + 1)];
    double sum = 0;
    size_t p = matrix->p;
    for (size_t i = 0; i < p; i++) {
        memcpy(a + i * (p + 1), matrix->z[i], p * sizeof(double));
        a[i * (p + 1) + p] = g[i];
    }
    eliminate(p, a);
    for (size_t i = 0; i < p; i++) sum += g[i] * a[i * (p + 1) + p];
    return sqrt(sum / (double)matrix->m);
}

static void assert_near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-9 * (1 + fabs(expected))))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* What was chosen and answered, in order. */
typedef struct diary {
    size_t count;
    double x[MOST_DECISIONS * SLATE][RIG_DIM], score[MOST_DECISIONS * SLATE];
} diary;

static void note(diary *book, const sa_decision *decision, uint64_t seed, size_t place) {
    const double *contexts = rig_contexts(seed);
    memcpy(book->x[book->count], contexts + sa_decision_arms(decision)[place] * RIG_DIM, sizeof book->x[0]);
    book->score[book->count++] = rig_number(sa_decision_id(decision), 2000000 + place);
}

/* `steps` of gradient descent on 1/2 sum (f - v)^2 over the first `count` */
static void descend(network *net, const diary *book, size_t count, size_t steps, double rate) {
    for (size_t step = 0; step < steps; step++) {
        double sum[MOST_P] = {0}, g[MOST_P];
        for (size_t k = 0; k < count; k++) {
            double residual = forward(net, book->x[k], g) - book->score[k];
            for (size_t i = 0; i < net->m * (RIG_DIM + 1); i++) sum[i] += residual * g[i];
        }
        for (size_t i = 0; i < net->m; i++) {
            for (size_t j = 0; j < RIG_DIM; j++) net->w1[i][j] -= rate * sum[i * RIG_DIM + j];
            net->w2[i] -= rate * sum[net->m * RIG_DIM + i];
        }
    }
}

/* ---- rounds ---- */

static void play(sa_agent *agent, uint64_t seed, diary *book, sa_decision **decision) {
    uint64_t id = rig_select(agent, seed, ARMS, SLATE, decision);
    for (size_t i = 0; i < SLATE; i++) note(book, *decision, seed, i);
    rig_answer(agent, id, SLATE);
}

/* The next decision has the means of this network and the widths of this Z. It is answered, and Z counts
 * it. */
static void check_round(sa_agent *agent, const network *net, square *matrix, uint64_t seed) {
    sa_decision *decision = NULL;
    double g[MOST_P];
    uint64_t id = rig_select(agent, seed, ARMS, SLATE, &decision);
    const double *contexts = rig_contexts(seed);
    for (size_t i = 0; i < ARMS; i++) {
        assert_near(sa_decision_all_estimates(decision)[i], forward(net, contexts + i * RIG_DIM, g));
        assert_near(sa_decision_all_widths(decision)[i], width_of(matrix, g));
    }
    for (size_t i = 0; i < SLATE; i++)
        matrix_count(matrix, net, contexts + sa_decision_arms(decision)[i] * RIG_DIM);
    rig_answer(agent, id, SLATE);
    sa_decision_destroy(decision);
}

static double number_in_force(const sa_agent *agent, const char *name) {
    char text[64];
    assert_ok(test_options_get(sa_agent_options(agent), name, text, sizeof text));
    return strtod(text, NULL);
}

/* ---- tests ---- */

/* Epoch n ends when 3 2^n decisions are answered, and its options follow the rule: worked out by hand. */
static void epochs_double_and_follow_the_rule(void **state) {
    (void)state;
    static const size_t end[] = {3, 6, 12, 24, 48}, hidden[] = {4, 6, 10, 14, 20};
    sa_agent *agent =
        rig_create("algorithm=cn-ucb-d hidden=4 epoch-length=3 epoch-hidden-growth=1.5 regularization=2 "
                   "gamma=1 rate=1e-3");
    sa_decision *decision = NULL;
    size_t epoch = 0;
    for (size_t answered = 0; answered < 47; answered++) {
        if (answered == end[epoch]) epoch++;
        assert_int_equal(rig_counts(agent).epoch, epoch);
        assert_int_equal(rig_counts(agent).hidden, hidden[epoch]);
        assert_near(number_in_force(agent, "hidden"), (double)hidden[epoch]);
        assert_near(number_in_force(agent, "gamma"), 1); /* nothing else grows */
        assert_int_equal(rig_counts(agent).counted, 3 * answered);
        rig_answer(agent, rig_select(agent, answered, 9, 3, &decision), 3);
    }
    assert_true(rig_counts(agent).replay_seconds > 0);
    sa_agent_destroy(agent);
    sa_decision_destroy(decision);
}

/* Before its first epoch ends, cn-ucb-d is cn-ucb. */
static void the_first_epoch_is_plain(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"algorithm=cn-ucb", "algorithm=cn-ucb-d"},
        {"algorithm=cn-ts count-pending=true", "algorithm=cn-ts-d count-pending=true"}};
    for (size_t i = 0; i < 2; i++) {
        sa_agent *plain = rig_create(names[i][0]), *epochs = rig_create(names[i][1]);
        rig_go_on_alike(plain, epochs, 0, 99);
        assert_int_equal(rig_counts(epochs).epoch, 0);
        sa_agent_destroy(plain);
        sa_agent_destroy(epochs);
    }
    assert_true(sa_algorithm_has_epochs("cn-ts-d"));
    assert_false(sa_algorithm_has_epochs("cn-ts") || sa_algorithm_has_epochs("nobody") ||
                 sa_algorithm_has_epochs(NULL));
}

/* --epoch-replay last: all gradients of Z are those of the history at the new parameters. */
static void widths_after_the_change_equal_a_dense_solve(void **state) {
    (void)state;
    {
        sa_agent *agent = rig_create(PLAIN "epoch-replay=last epoch-length=9 train-every=100");
        sa_decision *decision = NULL;
        diary book = {0};
        for (uint64_t seed = 0; seed < 18; seed++) {
            if (book.count == 9 * SLATE) { /* mid-epoch there are more to come */
                network net = weights_of(agent, ""), drawn = weights_of(agent, "initial_");
                descend(&drawn, &book, book.count, 1000, 0.01);
                for (size_t i = 0; i < net.m; i++) assert_near(net.w2[i], drawn.w2[i]);
            }
            play(agent, seed, &book, &decision);
        }
        assert_int_equal(rig_counts(agent).epoch, 2);
        network net = weights_of(agent, "");
        assert_int_equal(net.m, 10);
        square matrix = matrix_of(net.m, 1);
        for (size_t k = 0; k < book.count; k++) matrix_count(&matrix, &net, book.x[k]);
        for (uint64_t seed = 18; seed < 24; seed++) check_round(agent, &net, &matrix, seed);
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
    }
}

/* --epoch-replay schedule: the loop of the paper's Update, one decision after another from the first weights
 * on. */
static void the_schedule_is_replayed_one_by_one(void **state) {
    (void)state;
    sa_agent *agent =
        rig_create(PLAIN "epoch-replay=schedule epoch-length=11 train-every=3 train-steps=4 rate=0.01");
    sa_decision *decision = NULL;
    diary book = {0};
    for (uint64_t seed = 0; seed < 11; seed++) play(agent, seed, &book, &decision);
    assert_int_equal(rig_counts(agent).epoch, 1);
    network net = weights_of(agent, "initial_"), now = weights_of(agent, "");
    square matrix = matrix_of(net.m, 1);
    for (size_t t = 0; t < 11; t++) {
        for (size_t i = 0; i < SLATE; i++) matrix_count(&matrix, &net, book.x[t * SLATE + i]);
        if (t % 3 == 0) descend(&net, &book, (t + 1) * SLATE, 4, 0.01);
    }
    for (size_t i = 0; i < net.m; i++) {
        assert_near(now.w2[i], net.w2[i]);
        for (size_t j = 0; j < RIG_DIM; j++) assert_near(now.w1[i][j], net.w1[i][j]);
    }
    check_round(agent, &net, &matrix, 50); /* the 12th, which does not train */
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* Each epoch's network is drawn from a stream of its own. */
static void networks_are_drawn_afresh(void **state) {
    (void)state;
    const char *text =
        "preset=icml23 precision=double hidden=4 algorithm=cn-ts-d epoch-hidden-growth=1 epoch-length=2";
    sa_agent *agent = rig_create(text), *twin = rig_create(text);
    sa_decision *decision = NULL;
    diary book = {0};
    network drawn[4];
    for (uint64_t seed = 0; seed < 9; seed++) {
        drawn[rig_counts(agent).epoch] = weights_of(agent, "initial_");
        play(agent, seed, &book, &decision);
        play(twin, seed, &book, &decision);
    }
    for (size_t a = 0; a < 4; a++)
        for (size_t b = 0; b < a; b++)
            assert_memory_not_equal(drawn[a].w1, drawn[b].w1, sizeof drawn[a].w1[0]);
    rig_go_on_alike(agent, twin, 9, 30); /* and the same each time */
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
    sa_agent_destroy(twin);
}

#define LATE PLAIN "epoch-replay=last epoch-length=4 train-every=100 "

/* Feedback that comes after the change-over for decisions made before it, one of them answered in part: Z
 * gets their gradients at the new network, when they are answered, or with --count-pending at once. */
static void late_feedback_across_the_change(void **state) {
    (void)state;
    for (int at_selection = 0; at_selection < 2; at_selection++) {
        sa_agent *agent = rig_create(at_selection ? LATE "count-pending=true" : LATE);
        sa_decision *decision = NULL;
        diary book = {0}, waiting = {0};
        uint64_t late = rig_select(agent, 100, ARMS, SLATE, &decision);
        for (size_t i = 0; i < SLATE; i++) note(&waiting, decision, 100, i);
        uint64_t part = rig_select(agent, 101, ARMS, SLATE, &decision);
        note(&book, decision, 101, 1);
        note(&waiting, decision, 101, 0);
        assert_ok(rig_try_answer(agent, part, SLATE, (bool[]){false, true}));
        for (uint64_t seed = 0; seed < 3; seed++) play(agent, seed, &book, &decision);
        assert_int_equal(rig_counts(agent).epoch, 1);
        assert_int_equal(rig_counts(agent).counted, book.count + (at_selection ? waiting.count : 0));
        network net = weights_of(agent, "");
        square matrix = matrix_of(net.m, 1);
        for (size_t k = 0; k < book.count; k++) matrix_count(&matrix, &net, book.x[k]);
        if (at_selection)
            for (size_t k = 0; k < waiting.count; k++) matrix_count(&matrix, &net, waiting.x[k]);
        check_round(agent, &net, &matrix, 60);
        if (!at_selection)
            rig_select(agent, 100, ARMS, SLATE, &decision); /* named as `part` was, and not to be mistaken */
        assert_fails(rig_try_answer(agent, part, SLATE, NULL), SA_ALREADY_ANSWERED, "answered before");
        assert_ok(rig_try_answer(agent, part, SLATE, (bool[]){true, false}));
        rig_answer(agent, late, SLATE);
        if (!at_selection)
            for (size_t k = 0; k < waiting.count; k++) matrix_count(&matrix, &net, waiting.x[k]);
        check_round(agent, &net, &matrix, 61);
        assert_int_equal(rig_counts(agent).observations, book.count + waiting.count + 2 * SLATE);
        assert_int_equal(rig_counts(agent).pending, !at_selection);
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
    }
}

/* With --train manual no update changes over: that is done with the next training, to the epoch that is
 * due. */
static void manual_training_changes_over(void **state) {
    (void)state;
    sa_agent *agent = rig_create("algorithm=cn-ucb-d epoch-length=2 train=manual");
    sa_decision *decision = NULL;
    for (uint64_t seed = 0; seed < 9; seed++)
        rig_answer(agent, rig_select(agent, seed, ARMS, SLATE, &decision), SLATE);
    assert_int_equal(rig_counts(agent).epoch, 0);
    assert_int_equal(rig_counts(agent).trainings, 0);
    assert_ok(sa_agent_train(agent));
    assert_int_equal(rig_counts(agent).epoch, 3); /* 2, 4, 8: until 16 are answered */
    assert_int_equal(rig_counts(agent).trainings, 1);
    assert_int_equal(rig_counts(agent).counted, 9 * SLATE);
    assert_ok(sa_agent_train(agent));
    assert_int_equal(rig_counts(agent).epoch, 3);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* The companion's regression in the agent's file: count, mean of the inputs, theta in the caller's scores. */
typedef struct regression {
    double count, lambda, mean[RIG_DIM], theta[RIG_DIM];
} regression;

static regression companion_of(const sa_agent *agent) {
    enum { NUMBERS = 19, LAMBDA = 15 };
    regression out = {0};
    double numbers[NUMBERS];
    sa_npz *archive;
    assert_ok(sa_agent_save(agent, scratch("companion.npz")));
    assert_ok(sa_npz_open(scratch("companion.npz"), &archive));
    assert_ok(sa_npz_read_into(archive, "companion_numbers", SA_FLOAT64, 1, (size_t[]){NUMBERS}, numbers));
    assert_ok(
        sa_npz_read_into(archive, "companion_input_mean", SA_FLOAT64, 1, (size_t[]){RIG_DIM}, out.mean));
    assert_ok(sa_npz_read_into(archive, "companion_theta", SA_FLOAT64, 1, (size_t[]){RIG_DIM}, out.theta));
    sa_npz_close(archive);
    out.count = numbers[0];
    out.lambda = numbers[LAMBDA];
    return out;
}

/* (X'X + lambda I) theta = X'y, of all feedback in the book less its means */
static void check_regression(const sa_agent *agent, const diary *book) {
    regression found = companion_of(agent);
    double mean[RIG_DIM] = {0}, score = 0, n = (double)book->count;
    assert_true(found.count == n);
    for (size_t k = 0; k < book->count; k++) {
        for (size_t j = 0; j < RIG_DIM; j++) mean[j] += book->x[k][j] / n;
        score += book->score[k] / n;
    }
    assert_true(found.theta[0] != 0);
    for (size_t j = 0; j < RIG_DIM; j++) {
        double left = found.lambda * found.theta[j];
        assert_near(found.mean[j], mean[j]);
        for (size_t k = 0; k < book->count; k++) {
            double rest = score - book->score[k];
            for (size_t i = 0; i < RIG_DIM; i++) rest += (book->x[k][i] - mean[i]) * found.theta[i];
            left += (book->x[k][j] - mean[j]) * rest;
        }
        assert_near(left, 0);
    }
}

/* Across a change-over the companion has heard all feedback once, whatever the new network was trained on. */
static void the_companion_hears_everything_once(void **state) {
    (void)state;
    static const char *const kinds[] = {"epoch-replay=schedule", "epoch-replay=last", "train=manual"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "algorithm=cn-ucb-d companion=true precision=double epoch-length=11 train-every=4 %s",
                 kinds[i]);
        sa_agent *agent = rig_create(text);
        sa_decision *decision = NULL;
        diary book = {0};
        for (uint64_t seed = 0; seed < 25; seed++) {
            uint64_t id = rig_select(agent, seed, ARMS, SLATE, &decision);
            double scores[SLATE];
            for (size_t k = 0; k < SLATE; k++) {
                note(&book, decision, seed, k);
                const double *x = book.x[book.count - 1];
                book.score[book.count - 1] = scores[k] = 3 + 40 * x[0] - 20 * x[1]; /* worth a regression */
            }
            assert_ok(sa_agent_update(agent, id, scores, NULL, SLATE));
            bool manual = strstr(text, "manual") && seed % 4 == 0;
            if (manual) assert_ok(sa_agent_train(agent));
            bool trains = strstr(text, "manual") ? manual : seed % 4 == 0 || seed == 10 || seed == 21;
            if (trains && seed >= 8) check_regression(agent, &book);
        }
        assert_int_equal(rig_counts(agent).epoch, 2);
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
    }
}

/* Every engine and precision changes over; what was saved in the middle goes on alike. */
static void engines_change_over(void **state) {
    (void)state;
    static const char *const engines[] = {"confidence=diagonal", "confidence=last-layer", "hidden=60",
                                          "hidden=44 normalize=standard", "depth=3 regularization=1e-6"};
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        char text[128];
        snprintf(text, sizeof text, "algorithm=cn-ts-d epoch-length=7 epoch-hidden-growth=1.3 %s",
                 engines[i]);
        sa_agent *agent = rig_create(text), *loaded = NULL;
        sa_decision *decision = NULL;
        for (uint64_t seed = 0; seed < 20; seed++)
            rig_answer(agent, rig_select(agent, seed, 9, 3, &decision), 3);
        assert_ok(sa_agent_save(agent, scratch("middle.npz")));
        assert_ok(sa_agent_load(scratch("middle.npz"), &loaded));
        rig_go_on_alike(agent, loaded, 20, 40);
        assert_int_equal(rig_counts(loaded).epoch, 4); /* with 60 answered, past 7 2^3 */
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
        sa_agent_destroy(loaded);
    }
}

/* Gradients whose squares single precision cannot hold are counted in double, though the new engine has seen
 * no width of theirs. */
static void huge_features(void **state) {
    (void)state;
    sa_agent *agent = rig_create("preset=icml23 algorithm=cn-ucb-d epoch-length=4 hidden=44 widths=all");
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    double contexts[ARMS * RIG_DIM];
    for (uint64_t seed = 0; seed < 9; seed++) {
        for (size_t i = 0; i < ARMS * RIG_DIM; i++) contexts[i] = 1e17 * rig_number(seed, i);
        sa_request_contexts(request, contexts, ARMS);
        sa_request_slate(request, SLATE);
        assert_ok(sa_agent_select(agent, request, &decision));
        for (size_t i = 0; i < ARMS; i++) assert_true(isfinite(sa_decision_all_widths(decision)[i]));
        rig_answer(agent, sa_decision_id(decision), SLATE);
        assert_true(isfinite(rig_counts(agent).log_det) && rig_counts(agent).widths_in_double);
    }
    assert_int_equal(rig_counts(agent).epoch, 2);
    sa_request_destroy(request);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* A next network that no memory holds: the feedback is refused, and nothing is changed. */
static void a_network_too_large(void **state) {
    (void)state;
    const char *text = "algorithm=cn-ucb-d epoch-length=3 epoch-hidden-growth=1e6 depth=3";
    sa_agent *agent = rig_create(text), *twin = rig_create(text);
    sa_decision *decision = NULL;
    for (uint64_t seed = 0; seed < 3; seed++) {
        uint64_t id = rig_select(agent, seed, ARMS, SLATE, &decision);
        rig_select(twin, seed, ARMS, SLATE, &decision);
        if (seed < 2) rig_answer(agent, id, SLATE);
        if (seed < 2) rig_answer(twin, id, SLATE);
    }
    assert_fails(rig_try_answer(agent, 2, SLATE, NULL), SA_OUT_OF_MEMORY, "epoch 1 cannot begin");
    assert_int_equal(rig_try_answer(agent, 2, SLATE, (bool[]){false, true}), SA_OUT_OF_MEMORY);
    rig_assert_same_counts(agent, twin);
    assert_ok(sa_agent_save(agent, scratch("a.npz")));
    assert_ok(sa_agent_save(twin, scratch("b.npz")));
    sa_agent *loaded = NULL;
    assert_ok(sa_agent_load(scratch("a.npz"), &loaded));
    rig_assert_same_counts(loaded, twin);
    sa_agent_destroy(loaded);
    sa_agent_destroy(agent);
    sa_agent_destroy(twin);
    sa_decision_destroy(decision);
}

static void bad_options(void **state) {
    (void)state;
    sa_options *options = sa_options_new(NULL);
    assert_fails(sa_options_set_any(options, "epoch-length", "0"), SA_INVALID, "--epoch-length");
    assert_fails(sa_options_set_any(options, "epoch-hidden-growth", "0"), SA_INVALID,
                 "--epoch-hidden-growth");
    assert_fails(sa_options_set_any(options, "epoch-replay", "never"), SA_INVALID, "schedule");
    sa_options_destroy(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(epochs_double_and_follow_the_rule),
        cmocka_unit_test(the_first_epoch_is_plain),
        cmocka_unit_test(widths_after_the_change_equal_a_dense_solve),
        cmocka_unit_test(the_schedule_is_replayed_one_by_one),
        cmocka_unit_test(networks_are_drawn_afresh),
        cmocka_unit_test(late_feedback_across_the_change),
        cmocka_unit_test(manual_training_changes_over),
        cmocka_unit_test(the_companion_hears_everything_once),
        cmocka_unit_test(engines_change_over),
        cmocka_unit_test(huge_features),
        cmocka_unit_test(a_network_too_large),
        cmocka_unit_test(bad_options),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
