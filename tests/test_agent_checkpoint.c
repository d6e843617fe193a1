/* Saved at any moment and loaded, an agent goes on bit for bit; saving changes nothing and gives the same
 * bytes twice. */
#include "test_agent_rig.h"

#include <unistd.h>

#include "base/npy.h"

static const char *const kinds[] = {
    "",
    "hidden=44", /* wide enough for the n x n side */
    "hidden=44 precision=double",
    "precision=double",
    "hidden=44 count-pending=true",
    "hidden=56", /* changes from dual to primal on the way */
    "hidden=44 normalize=standard score-deviation=1",
    "normalize=unit precision=double",
    "algorithm=cn-ts",
    "algorithm=cn-ts1 depth=3 hidden=4",
    "preset=paper hidden=6",
    "preset=icml23 hidden=6 train-window=4 algorithm=cn-ts",
    "algorithm=cn-ucb-d epoch-length=5 epoch-hidden-growth=1.3 hidden=44",
    "algorithm=cn-ts-d epoch-length=4 epoch-replay=schedule count-pending=true normalize=standard",
    "algorithm=cn-ucb-d epoch-length=6 train=manual precision=double depth=3",
    "algorithm=comblin-ucb",
    "algorithm=comblin-ts count-pending=true",
    "algorithm=c2ucb normalize=standard",
    "algorithm=comblin-ucb linear-form=published",
    "algorithm=comblin-ts linear-form=published",
    "algorithm=neural-ts confidence=diagonal",
    "algorithm=comblin-ucb confidence=diagonal",
    "confidence=last-layer",
    "confidence=sketch sketch-size=5",
    "confidence=sketch sketch-size=20 precision=double count-pending=true algorithm=cn-ts",
    "confidence=sketch sketch-size=8 rebuild=true",
    "confidence=auto sketch-size=1",
    "algorithm=comblin-ucb confidence=sketch sketch-size=3",
    "algorithm=cn-ucb-d epoch-length=5 confidence=sketch sketch-size=6",
    "confidence=last-layer hidden=44 precision=double",
    "algorithm=cc-mab rounds=200",
    "algorithm=acc-ucb normalize=standard",
    "preset=paper algorithm=acc-ucb rounds=500",
    "algorithm=neural-linear",
    "preset=paper algorithm=neural-linear hidden=6 count-pending=true precision=double",
    "confidence=exact rebuild=true normalize=standard",
    "confidence=diagonal rebuild=true count-pending=true",
    "algorithm=greedy",
    "algorithm=random normalize=standard",
    "algorithm=best",
    "pending-limit=4",
    "train=manual",
    "train-batch=4 optimizer=adam train-every=1",
    "preset=icml23 optimizer=gd rate=1e6", /* every training diverges */
    "feedback=position slate=3 hidden=44",
    "feedback=position slate=5 preset=paper hidden=6 count-pending=true",
    "feedback=position slate=3 algorithm=comblin-ts normalize=standard",
    "feedback=cascade algorithm=cn-ts hidden=44",
    "feedback=cascade cascade-form=literal algorithm=c2ucb",
    "feedback=cascade cascade-form=unknown slate=3 algorithm=cn-ts",
    "feedback=position slate=3 algorithm=cn-ucb-d epoch-length=5 count-pending=true",
    "feedback=cascade algorithm=cn-ts-d epoch-length=5 epoch-replay=schedule",
    "feedback=cascade cascade-form=unknown slate=3 rebuild=true count-pending=true",
    "feedback=position slate=3 algorithm=neural-linear",
    "feedback=cascade algorithm=acc-ucb",
    "gamma=theory confidence=last-layer rebuild=true",
    "window=6 hidden=44 normalize=standard",
    "window=5 count-pending=true precision=double",
    "window=7 algorithm=comblin-ucb",
    "window=4 algorithm=neural-linear",
    "window=5 confidence=diagonal feedback=cascade algorithm=cn-ts",
    "discount=0.9 hidden=44",
    "discount=0.93 precision=double train-batch=4",
    "discount=0.8 algorithm=comblin-ts",
    "discount=0.9 algorithm=c2ucb linear-form=published",
    "discount=0.85 algorithm=neural-linear",
    "discount=0.9 confidence=diagonal count-pending=true",
    "discount=0.5 confidence=last-layer feedback=cascade slate=3 train-window=3",
    "discount=0.9 rebuild=true train-batch=2 feedback=position slate=3",
    "algorithm=cn-ts-d nu=theory epoch-length=5 confidence=diagonal",
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static sa_agent *load(const char *path) {
    sa_agent *agent = NULL;
    assert_ok(sa_agent_load(path, &agent));
    return agent;
}

static void assert_same_files(const char *one_path, const char *other_path) {
    char *one, *other;
    size_t one_size, other_size;
    assert_ok(sa_file_read(one_path, &one, &one_size));
    assert_ok(sa_file_read(other_path, &other, &other_size));
    assert_int_equal(one_size, other_size);
    assert_memory_equal(one, other, one_size);
    sa_free(one);
    sa_free(other);
}

/* Goes on from here with the agent, with one that was saved and loaded, and with a twin that was never
 * saved. */
static void check_moment(sa_agent *agent, sa_agent *twin, uint64_t round, size_t rounds) {
    assert_ok(sa_agent_save(agent, scratch("a.npz")));
    assert_ok(sa_agent_save(agent, scratch("again.npz")));
    assert_same_files(scratch("a.npz"), scratch("again.npz"));
    sa_agent *loaded = load(scratch("a.npz"));
    rig_assert_same_counts(agent, loaded);
    assert_ok(sa_agent_save(loaded, scratch("loaded.npz")));
    assert_same_files(scratch("a.npz"), scratch("loaded.npz"));
    rig_go_on_alike(twin, loaded, round, rounds);
    sa_agent_destroy(loaded);
}

/* Brings an agent to a moment: rounds in which all is answered, then decisions that wait, some answered in
 * part. */
static sa_agent *bring(const char *kind, uint64_t answered, uint64_t waiting) {
    sa_agent *agent = rig_create(kind);
    sa_decision *decision = NULL;
    uint64_t id;
    for (id = 0; id < answered; id++) {
        rig_select(agent, id, 6 + id % 4, 3, &decision);
        rig_answer(agent, id, 3);
    }
    for (; id < answered + waiting; id++) {
        rig_select(agent, id, 6 + id % 4, 3, &decision);
        if (id % 3 == 1) assert_ok(rig_try_answer(agent, id, 3, (bool[]){false, true, false}));
    }
    sa_decision_destroy(decision);
    return agent;
}

static void loaded_agents_go_on_bit_for_bit(void **state) {
    (void)state;
    static const uint64_t moments[][2] = {{0, 0}, {0, 1}, {1, 0}, {7, 1}, {10, 0}, {12, 5}};
    for (size_t k = 0; k < KINDS; k++)
        for (size_t m = 0; m < sizeof moments / sizeof *moments; m++) {
            sa_agent *agent = bring(kinds[k], moments[m][0], moments[m][1]);
            sa_agent *twin = bring(kinds[k], moments[m][0], moments[m][1]);
            check_moment(agent, twin, moments[m][0] + moments[m][1], 50);
            sa_agent_destroy(agent);
            sa_agent_destroy(twin);
        }
}

/* The feedback that was pending when the agent was saved comes afterwards; the last solve, which it may use,
 * was saved too. */
static void pending_decisions_are_answered_after_the_restart(void **state) {
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        if (strstr(kinds[k], "pending-limit") || strstr(kinds[k], "cascade"))
            continue; /* a click settles what follows */
        for (uint64_t waiting = 1; waiting < 5; waiting += 3) {
            sa_agent *agent = bring(kinds[k], 9, waiting);
            assert_ok(sa_agent_save(agent, scratch("a.npz")));
            sa_agent *loaded = load(scratch("a.npz"));
            for (uint64_t id = 9 + waiting; id-- > 9;) {
                bool rest[3] = {true, id % 3 != 1, true}, done[3] = {false, true, false};
                if (id % 3 == 1)
                    assert_fails(rig_try_answer(loaded, id, 3, done), SA_ALREADY_ANSWERED, "answered before");
                assert_ok(rig_try_answer(agent, id, 3, rest));
                assert_ok(rig_try_answer(loaded, id, 3, rest));
                rig_assert_same_counts(agent, loaded);
            }
            assert_fails(rig_try_answer(loaded, 2, 3, NULL), SA_ALREADY_ANSWERED, "answered before");
            assert_ok(sa_agent_train(agent));
            assert_ok(sa_agent_train(loaded));
            rig_go_on_alike(agent, loaded, 9 + waiting, 20);
            sa_agent_destroy(agent);
            sa_agent_destroy(loaded);
        }
    }
}

/* Saved after every call, an agent is as one that never was. */
static void saving_changes_nothing(void **state) {
    (void)state;
    static const char *const some[] = {"hidden=44", "normalize=standard", "algorithm=cn-ts"};
    for (size_t k = 0; k < 3; k++) {
        sa_agent *agent = rig_create(some[k]), *twin = rig_create(some[k]);
        sa_decision *one = NULL, *other = NULL;
        for (uint64_t id = 0; id < 12; id++) {
            assert_ok(sa_agent_save(agent, scratch("a.npz")));
            rig_select(agent, id, 8, 3, &one);
            assert_ok(sa_agent_save(agent, scratch("a.npz")));
            rig_select(twin, id, 8, 3, &other);
            rig_assert_same_decision(one, other);
            rig_answer(agent, id, 3);
            rig_answer(twin, id, 3);
        }
        rig_go_on_alike(agent, twin, 12, 10);
        sa_decision_destroy(one);
        sa_decision_destroy(other);
        sa_agent_destroy(agent);
        sa_agent_destroy(twin);
    }
}

/* The same contexts again and again: rho falls, and the widths go over to double precision. */
static void check_precision_guard(const char *hidden) {
    char text[200];
    snprintf(text, sizeof text, "%s regularization=1e-4 train=manual", hidden);
    sa_agent *agent = rig_create(text), *twin = rig_create(text);
    sa_decision *one = NULL, *other = NULL;
    uint64_t id = 0;
    for (; id < 400 && !rig_counts(agent).widths_in_double; id++) {
        rig_select(agent, 1, 6, 3, &one);
        rig_select(twin, 1, 6, 3, &other);
        rig_answer(agent, id, 3);
        rig_answer(twin, id, 3);
    }
    assert_true(rig_counts(agent).widths_in_double);
    assert_true(id > 1);
    rig_assert_same_counts(agent, twin);
    rig_select(agent, 1, 6, 3, &one);
    rig_select(twin, 1, 6, 3, &other);
    check_moment(agent, twin, id + 1, 50);
    sa_decision_destroy(one);
    sa_decision_destroy(other);
    sa_agent_destroy(agent);
    sa_agent_destroy(twin);
}

static void after_the_switch_to_double(void **state) {
    (void)state;
    check_precision_guard("hidden=44");
    check_precision_guard("hidden=6");
}

static void the_changed_side_is_kept(void **state) {
    (void)state;
    sa_agent *agent = bring("hidden=56", 0, 0), *twin = bring("hidden=56", 0, 0);
    assert_false(rig_counts(agent).widths_from_primal);
    sa_decision *one = NULL, *other = NULL;
    uint64_t id = 0;
    for (; id < 400 && !rig_counts(agent).widths_from_primal; id++) {
        rig_select(agent, id, 30, 8, &one);
        rig_select(twin, id, 30, 8, &other);
        rig_answer(agent, id, 8);
        rig_answer(twin, id, 8);
    }
    assert_true(rig_counts(agent).widths_from_primal);
    check_moment(agent, twin, id, 20);
    sa_decision_destroy(one);
    sa_decision_destroy(other);
    sa_agent_destroy(agent);
    sa_agent_destroy(twin);
}

/* Given first weights are in the file, not its name; with them a symmetric network may have an odd width. */
static void first_weights_are_in_the_file(void **state) {
    (void)state;
    double w1[7 * 2 * RIG_DIM], w2[7];
    for (size_t i = 0; i < 7 * 2 * RIG_DIM; i++) w1[i] = rig_number(1, i);
    for (size_t i = 0; i < 7; i++) w2[i] = rig_number(2, i);
    sa_npz_writer *writer;
    assert_ok(sa_npz_begin(&writer));
    assert_ok(sa_npz_add(writer, "W1", SA_FLOAT64, 2, (size_t[]){7, 2 * RIG_DIM}, w1));
    assert_ok(sa_npz_add(writer, "W2", SA_FLOAT64, 2, (size_t[]){1, 7}, w2));
    assert_ok(sa_npz_finish(writer, scratch("weights.npz")));
    char text[700];
    snprintf(text, sizeof text, "preset=paper hidden=7 init-weights=%s", scratch("weights.npz"));
    sa_agent *agent = bring(text, 5, 1), *twin = bring(text, 5, 1);
    assert_ok(sa_path_remove(scratch("weights.npz")));
    check_moment(agent, twin, 6, 20);
    sa_agent_destroy(agent);
    sa_agent_destroy(twin);
}

/* ---- the file ---- */

static void expect_array(sa_npz *archive, const char *name, sa_dtype type, size_t axes, size_t rows,
                         size_t columns) {
    sa_array array = {0};
    assert_ok(sa_npz_get_exactly(archive, name, type, axes, (size_t[]){rows, columns}, &array));
    sa_array_clear(&array);
}

static void the_file_is_plain(void **state) {
    (void)state;
    sa_agent *agent = bring("preset=icml23 hidden=44", 9, 1);
    sa_npz *archive;
    int64_t number;
    assert_ok(sa_agent_save(agent, scratch("a.npz")));
    assert_ok(sa_npz_open(scratch("a.npz"), &archive));
    assert_true(sa_npz_is_ours(archive));
    assert_ok(sa_npz_get_integer(archive, "format", 7, 7, &number));
    expect_array(archive, "W1", SA_FLOAT32, 2, 44, RIG_DIM);
    expect_array(archive, "W2", SA_FLOAT32, 2, 1, 44);
    expect_array(archive, "initial_W1", SA_FLOAT32, 2, 44, RIG_DIM);
    expect_array(archive, "history_contexts", SA_FLOAT32, 2, 27, RIG_DIM);
    expect_array(archive, "history_scores", SA_FLOAT64, 1, 27, 0);
    expect_array(archive, "pending_contexts", SA_FLOAT32, 2, 3, RIG_DIM);
    assert_ok(sa_npz_get_integer(archive, "exact_counted", 27, 27, &number));
    assert_ok(sa_npz_get_integer(archive, "trainings", 3, 3, &number));
    sa_npz_close(archive);
    sa_agent_destroy(agent);
}

/* A file that lacks an option is not of this version. */
static void files_without_an_option_are_refused(void **state) {
    (void)state;
    enum { ARRAYS = 80 };
    sa_agent *agent = bring("", 9, 2), *loaded = NULL;
    sa_npz *archive;
    sa_npz_writer *writer;
    sa_array array[ARRAYS] = {0};
    assert_ok(sa_agent_save(agent, scratch("a.npz")));
    assert_ok(sa_npz_open(scratch("a.npz"), &archive));
    assert_ok(sa_npz_begin(&writer));
    assert_true(sa_npz_count(archive) < ARRAYS);
    for (size_t i = 0; i < sa_npz_count(archive); i++) {
        const char *name = sa_npz_name(archive, i);
        assert_ok(sa_npz_get(archive, name, &array[i]));
        if (!strcmp(name, "options")) {
            char *text = array[i].data, *line = NULL, kept[20000] = "";
            for (char *rest = text; (line = strtok_r(rest, "\n", &rest));)
                if (strncmp(line, "cascade-form ", 13)) strcat(strcat(kept, line), "\n");
            assert_true(strlen(kept) < array[i].shape[0]);
            array[i].shape[0] = strlen(kept);
            memcpy(array[i].data, kept, strlen(kept));
        }
        assert_ok(sa_npz_add(writer, name, array[i].type, array[i].axes, array[i].shape, array[i].data));
    }
    assert_ok(sa_npz_finish(writer, scratch("old.npz")));
    sa_npz_close(archive);
    for (size_t i = 0; i < ARRAYS; i++) sa_array_clear(&array[i]);
    assert_fails(sa_agent_load(scratch("old.npz"), &loaded), SA_FORMAT,
                 "the option 'cascade-form' is missing");
    assert_null(loaded);
    sa_agent_destroy(agent);
}

static void options_come_back(void **state) {
    (void)state;
    sa_agent *agent =
        rig_create("gamma=0.1 regularization=0.30000000000000004 rate=1e-300 seed=9223372036854775807 "
                   "algorithm=cn-ts train-window=1000000000000");
    assert_ok(sa_agent_save(agent, scratch("a.npz")));
    sa_agent *loaded = load(scratch("a.npz"));
    sa_option_info info;
    for (size_t i = 0; sa_option_at(i, &info); i++) {
        char one[300], other[300];
        if (info.scope != SA_SCOPE_AGENT && strcmp(info.name, "dim") && strcmp(info.name, "seed")) continue;
        assert_ok(sa_options_get(sa_agent_options(agent), info.name, one, sizeof one));
        assert_ok(sa_options_get(sa_agent_options(loaded), info.name, other, sizeof other));
        assert_string_equal(one, other);
    }
    sa_agent_destroy(agent);
    sa_agent_destroy(loaded);
}

static void a_failing_save_leaves_the_old_file(void **state) {
    (void)state;
    sa_agent *agent = bring("", 3, 1);
    assert_ok(sa_agent_save(agent, scratch("a.npz")));
    assert_ok(sa_agent_save(agent, scratch("copy.npz")));
    assert_fails(sa_agent_save(agent, scratch("absent/a.npz")), SA_FILE,
                 "absent/a.npz cannot be written: No such file");
    assert_fails(sa_agent_save(agent, scratch_folder), SA_FILE, scratch_folder);
    assert_fails(sa_agent_save(agent, "/dev/null"), SA_FILE, "/dev/null is not a regular file");
    assert_same_files(scratch("a.npz"), scratch("copy.npz"));
    sa_agent_destroy(agent);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loaded_agents_go_on_bit_for_bit),
        cmocka_unit_test(pending_decisions_are_answered_after_the_restart),
        cmocka_unit_test(saving_changes_nothing),
        cmocka_unit_test(after_the_switch_to_double),
        cmocka_unit_test(the_changed_side_is_kept),
        cmocka_unit_test(first_weights_are_in_the_file),
        cmocka_unit_test(the_file_is_plain),
        cmocka_unit_test(files_without_an_option_are_refused),
        cmocka_unit_test(options_come_back),
        cmocka_unit_test(a_failing_save_leaves_the_old_file),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
