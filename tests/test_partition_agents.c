/* Agents with partitions: what their options mean and which are refused, memory in high dimension, files that
 * make no sense, and that they learn. */
#include "test_agent_rig.h"
#include <superarm/superarm.h>

#include "base/npy.h"
#include "test_parts.h"

/* ---- options ---- */

static void assert_value(const sa_agent *agent, const char *name, const char *wanted) {
    char value[64];
    assert_ok(test_options_get(sa_agent_options(agent), name, value, sizeof value));
    if (strcmp(value, wanted)) fail_msg("--%s is %s, not %s", name, value, wanted);
}

static sa_agent *create_plainly(const char *preset, const char *algorithm, const char *name,
                                const char *value) {
    sa_options *options = sa_options_new(preset);
    sa_agent *agent = NULL;
    assert_ok(sa_options_set_any(options, "algorithm", algorithm));
    if (name) assert_ok(sa_options_set_any(options, name, value));
    assert_ok(sa_agent_create(options, &agent));
    sa_options_destroy(options);
    return agent;
}

static void contexts_stay_put_and_rounds_are_the_horizon(void **state) {
    (void)state;
    static const char *const algorithms[] = {"cc-mab", "acc-ucb"}, *const presets[] = {"paper", "icml23",
                                                                                       "tuned"};
    for (int a = 0; a < 2; a++)
        for (int p = 0; p < 3; p++) {
            sa_agent *agent = create_plainly(presets[p], algorithms[a], "rounds", "777");
            assert_value(agent, "normalize", "none");
            assert_value(agent, "precision", "double");
            assert_value(agent, "rounds", "777");
            assert_value(agent, "gamma", p < 2 ? "1" : a ? "0.3" : "0.1");
            sa_agent_destroy(agent);
            agent = create_plainly(presets[p], algorithms[a], "normalize", "standard");
            assert_value(agent, "normalize", "standard");
            sa_agent_destroy(agent);
        }
}

/* The horizon is the agent's: it is in its file. */
static void a_loaded_agent_has_its_horizon(void **state) {
    (void)state;
    sa_agent *agent = create_plainly("tuned", "acc-ucb", "rounds", "777"), *loaded = NULL;
    assert_ok(sa_agent_save(agent, scratch("horizon.npz")));
    assert_ok(sa_agent_load(scratch("horizon.npz"), &loaded));
    assert_value(loaded, "rounds", "777");
    sa_agent_destroy(agent);
    sa_agent_destroy(loaded);
}

/* ---- memory ---- */

/* 2^1000 cubes, 1024 children of each of 100 levels of cells: memory is for those that were visited, and is
 * counted. */
static void high_dimension_costs_what_was_visited(void **state) {
    (void)state;
    enum { DIM = 1000, ARMS = 5, SLATE = 2, ROUNDS = 40 };
    static const char *const texts[] = {"algorithm=cc-mab dim=1000", "algorithm=acc-ucb dim=1000"};
    static double contexts[ARMS * DIM];
    for (int a = 0; a < 2; a++) {
        sa_agent *agent = rig_create(texts[a]);
        sa_request *request = sa_request_new();
        sa_decision *decision = NULL;
        uint64_t before = rig_counts(agent).bytes;
        for (uint64_t id = 0; id < ROUNDS; id++) {
            for (size_t i = 0; i < ARMS * DIM; i++) contexts[i] = rig_number(id, i);
            sa_request_contexts(request, contexts, ARMS);
            sa_request_slate(request, SLATE);
            assert_ok(sa_agent_select(agent, request, &decision));
            rig_answer(agent, id, SLATE);
        }
        uint64_t keys = SLATE * ROUNDS * DIM * sizeof(int32_t),
                 history = SLATE * ROUNDS * DIM * sizeof(double);
        uint64_t grown = rig_counts(agent).bytes - before;
        if (grown < keys / 2 + history || grown > 3 * (keys + history))
            fail_msg("%s: %d bytes", texts[a], (int)grown);
        sa_decision_destroy(decision);
        sa_request_destroy(request);
        sa_agent_destroy(agent);
    }
}

/* ---- files ---- */

/* The saved agent, with `number` in place of element `index` of an array. */
static void forge(const char *array_name, size_t index, double number, const char *from, const char *to) {
    sa_npz *archive;
    sa_npz_writer *writer;
    sa_array arrays[64];
    assert_ok(sa_npz_open(from, &archive));
    assert_ok(sa_npz_begin(&writer));
    size_t count = sa_npz_count(archive);
    assert_true(count <= 64);
    for (size_t i = 0; i < count; i++) {
        const char *name = sa_npz_name(archive, i);
        sa_array *array = &arrays[i];
        assert_ok(sa_npz_get(archive, name, array));
        if (!strcmp(name, array_name)) {
            assert_true(index < sa_array_count(array));
            if (array->type == SA_FLOAT64) ((double *)array->data)[index] = number;
            if (array->type == SA_INT64) ((int64_t *)array->data)[index] = (int64_t)number;
            if (array->type == SA_INT32) ((int32_t *)array->data)[index] = (int32_t)number;
            if (array->type == SA_UINT8) ((uint8_t *)array->data)[index] = (uint8_t)number;
        }
        assert_ok(sa_npz_add(writer, name, array->type, array->axes, array->shape, array->data));
    }
    assert_ok(sa_npz_finish(writer, to));
    for (size_t i = 0; i < count; i++) sa_array_clear(&arrays[i]);
    sa_npz_close(archive);
}

static void cells_that_make_no_sense_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *array;
        size_t index;
        double number;
    } forgeries[] = {{"cell_seen", 0, 0},     {"cell_seen", 1, -5},       {"cell_seen", 0, 9e18},
                     {"cell_mean", 0, NAN},   {"cell_mean", 1, INFINITY}, {"cell_split", 0, 2},
                     {"cell_key", 0, -1},     {"cell_key", 0, 1e9},       {"cell_key", 3, -1},
                     {"cell_key", 3, 1 << 20}};
    static const char *const texts[] = {"algorithm=cc-mab", "algorithm=acc-ucb"};
    for (int a = 0; a < 2; a++) {
        sa_agent *agent = rig_create(texts[a]), *loaded = NULL;
        sa_decision *decision = NULL;
        for (uint64_t id = 0; id < 30; id++) {
            rig_select(agent, id, 10, 3, &decision);
            rig_answer(agent, id, 3);
        }
        assert_ok(sa_agent_save(agent, scratch("sane.npz")));
        forge("cell_mean", 0, 0.5, scratch("sane.npz"), scratch("forged.npz"));
        assert_ok(sa_agent_load(scratch("forged.npz"), &loaded));
        sa_agent_destroy(loaded);
        loaded = NULL;
        for (size_t i = 0; i < sizeof forgeries / sizeof *forgeries; i++) {
            forge(forgeries[i].array, forgeries[i].index, forgeries[i].number, scratch("sane.npz"),
                  scratch("forged.npz"));
            assert_int_equal(sa_agent_load(scratch("forged.npz"), &loaded), SA_FORMAT);
            assert_null(loaded);
            if (!strstr(sa_last_error(), "of the partition makes no sense"))
                fail_msg("%s %zu: %s", forgeries[i].array, forgeries[i].index, sa_last_error());
        }
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
    }
}

static void a_cell_is_there_once(void **state) {
    (void)state;
    sa_agent *agent = rig_create("algorithm=cc-mab rounds=16 dim=1"), *loaded = NULL;
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    sa_request_contexts(request, (double[]){-0.5, 0.5}, 2);
    sa_request_slate(request, 2);
    assert_ok(sa_agent_select(agent, request, &decision));
    rig_answer(agent, 0, 2);
    assert_ok(sa_agent_save(agent, scratch("sane.npz")));
    forge("cell_key", 1, 0, scratch("sane.npz"), scratch("forged.npz")); /* level, part; level, part */
    sa_status status = sa_agent_load(scratch("forged.npz"), &loaded);
    if (status == SA_OK) { /* that was the cell with part 0 already */
        sa_agent_destroy(loaded);
        loaded = NULL;
        forge("cell_key", 3, 0, scratch("sane.npz"), scratch("forged.npz"));
        status = sa_agent_load(scratch("forged.npz"), &loaded);
    }
    assert_int_equal(status, SA_FORMAT);
    assert_non_null(strstr(sa_last_error(), "is there twice"));
    sa_decision_destroy(decision);
    sa_request_destroy(request);
    sa_agent_destroy(agent);
}

/* ---- learning ---- */

/* On h1 with d = 2. Draws are fixed, so this cannot fail by chance; most were far below. */
static void both_beat_random(void **state) {
    (void)state;
    static const char *const presets[] = {"paper", "tuned"};
    for (int p = 0; p < 2; p++) {
        sa_experiment *experiment = sa_experiment_new();
        static const char *const options[][2] = {{"dim", "2"},     {"rounds", "2000"},
                                                 {"runs", "2"},    {"quiet", "true"},
                                                 {"threads", "1"}, {"algorithm", "random,cc-mab,acc-ucb"}};
        assert_ok(sa_experiment_set(experiment, "preset", presets[p]));
        for (size_t i = 0; i < 6; i++) assert_ok(sa_experiment_set(experiment, options[i][0], options[i][1]));
        assert_ok(sa_experiment_run(experiment, NULL, NULL));
        double regret[3];
        for (size_t a = 0; a < 3; a++) {
            sa_agent_result result;
            assert_ok(sa_experiment_result(experiment, a, &result));
            regret[a] = result.expected_regret[1999] + result.expected_regret[3999];
        }
        sa_experiment_destroy(experiment);
        for (int a = 1; a < 3; a++)
            if (!(regret[a] < (p ? 0.35 : 0.7) * regret[0]))
                fail_msg("%s: %g of %g", presets[p], regret[a], regret[0]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_stay_put_and_rounds_are_the_horizon),
        cmocka_unit_test(a_loaded_agent_has_its_horizon),
        cmocka_unit_test(high_dimension_costs_what_was_visited),
        cmocka_unit_test(cells_that_make_no_sense_are_refused),
        cmocka_unit_test(a_cell_is_there_once),
        cmocka_unit_test(both_beat_random),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
