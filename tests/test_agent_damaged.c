/* Files that are no agent, or a damaged one, are refused with a status and a sentence, and no agent comes
 * out. */
#define _GNU_SOURCE /* memfd_create: thousands of files would take a disk long */
#include "test_agent_rig.h"

#include <dirent.h>

#include <sys/mman.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/npy.h"

static void expect_refusal(const char *path, sa_status expected, const char *words) {
    sa_agent *agent = (sa_agent *)1;
    assert_fails(sa_agent_load(path, &agent), expected, words);
    assert_ptr_equal(agent, (sa_agent *)1);
    if (!strstr(sa_last_error(), path)) fail_msg("\"%s\" does not name the file", sa_last_error());
}

/* A file in memory that begins with these bytes, and its path. */
static int memory_file(const char *bytes, size_t size, char path[64]) {
    int file = memfd_create("agent.npz", MFD_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), size);
    snprintf(path, 64, "/proc/self/fd/%d", file);
    return file;
}

/* A small agent with a bit of everything in it, as bytes. */
static char *saved_agent(size_t *size) {
    sa_agent *agent = rig_create("preset=icml23 dim=1 hidden=130");
    sa_decision *decision = NULL;
    for (uint64_t id = 0; id < 3; id++) {
        rig_select(agent, id, 3, 1, &decision);
        if (id != 1) rig_answer(agent, id, 1);
    }
    assert_ok(sa_agent_save(agent, scratch("a.npz")));
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
    char *bytes;
    assert_ok(sa_file_read(scratch("a.npz"), &bytes, size));
    return bytes;
}

static void every_flipped_byte_is_seen(void **state) {
    (void)state;
    size_t size;
    char *bytes = saved_agent(&size), path[64];
    int file = memory_file(bytes, size, path);
    for (size_t i = 0; i < size; i++) {
        char bad = (char)(i % 2 ? bytes[i] ^ 0xff : bytes[i] ^ (1 << i / 2 % 8));
        assert_int_equal(pwrite(file, &bad, 1, (off_t)i), 1);
        expect_refusal(path, SA_FORMAT, "is damaged");
        assert_int_equal(pwrite(file, &bytes[i], 1, (off_t)i), 1);
    }
    sa_agent *agent = NULL;
    assert_ok(sa_agent_load(path, &agent)); /* unharmed, it loads */
    sa_agent_destroy(agent);
    close(file);
    sa_free(bytes);
}

static void every_truncation_is_seen(void **state) {
    (void)state;
    size_t size;
    char *bytes = saved_agent(&size), path[64];
    int file = memory_file(bytes, size, path);
    for (size_t cut = size; cut-- > 0;) {
        assert_int_equal(ftruncate(file, (off_t)cut), 0);
        expect_refusal(path, SA_FORMAT, path);
    }
    close(file);
    sa_free(bytes);
}

static void bytes_put_behind_are_seen(void **state) {
    (void)state;
    size_t size;
    char *bytes = saved_agent(&size), path[64];
    int file = memory_file(bytes, size, path);
    for (int extra = 0; extra < 100; extra++) {
        assert_int_equal(write(file, "", 1), 1);
        expect_refusal(path, SA_FORMAT, path);
    }
    close(file);
    sa_free(bytes);
}

/* ---- well-made files with something else in them ---- */

static void write_one(const char *name, sa_dtype type, size_t axes, size_t count, const void *data,
                      const char *more) {
    sa_npz_writer *writer;
    assert_ok(sa_npz_begin(&writer));
    assert_ok(sa_npz_add(writer, name, type, axes, &count, data));
    if (more) {
        size_t length = strlen(more);
        assert_ok(sa_npz_add(writer, "options", SA_UINT8, 1, &length, more));
    }
    assert_ok(sa_npz_finish(writer, scratch("forged.npz")));
}

static void newer_files_are_refused_as_newer(void **state) {
    (void)state;
    write_one("format", SA_INT64, 0, 0, &(int64_t){8}, "gamma 1\n");
    expect_refusal(scratch("forged.npz"), SA_NEWER,
                   "format 8 is newer than 7, the newest that this version reads");
    write_one("format", SA_INT64, 0, 0, &(int64_t){3}, "gamma 1\n");
    expect_refusal(scratch("forged.npz"), SA_FORMAT,
                   "format 3 is older than 4, the oldest that this version reads");
    write_one("format", SA_INT64, 0, 0, &(int64_t){INT64_MAX}, "an option of the future\n");
    expect_refusal(scratch("forged.npz"), SA_NEWER, "format 9223372036854775807 is newer than 7");
}

static void other_files_are_refused(void **state) {
    (void)state;
    expect_refusal(scratch("absent.npz"), SA_FILE, "No such file or directory");
    expect_refusal(scratch_folder, SA_FILE, "is not a regular file");
    assert_ok(sa_file_write(scratch("empty.npz"), "", 0));
    expect_refusal(scratch("empty.npz"), SA_FORMAT, "empty.npz is no npz file");
    assert_ok(sa_npy_write(scratch("a.npy"), SA_FLOAT64, 1, (size_t[]){2}, (double[]){1, 2}));
    expect_refusal(scratch("a.npy"), SA_FORMAT, "a.npy is no npz file");
    write_one("W1", SA_FLOAT64, 1, 2, (double[]){1, 2}, NULL);
    expect_refusal(scratch("forged.npz"), SA_FORMAT, "this is not a saved agent");
    write_one("format", SA_INT64, 0, 0, &(int64_t){1}, NULL);
    expect_refusal(scratch("forged.npz"), SA_FORMAT, "this is not a saved agent");
}

static void forged_arrays_are_refused(void **state) {
    (void)state;
    static const char *const options[] = {"",
                                          "gamma",
                                          "gamma 1",
                                          "gamma -1\n",
                                          "nonsense 1\n",
                                          "rounds 5\n",
                                          "init-weights x\n",
                                          "hidden 1e9\n",
                                          "algorithm nobody\n",
                                          " \n\n"};
    write_one("format", SA_INT64, 0, 0, &(int64_t){0}, "");
    expect_refusal(scratch("forged.npz"), SA_FORMAT, "'format' is out of bounds: 0");
    write_one("format", SA_INT64, 0, 0, &(int64_t){-1}, "");
    expect_refusal(scratch("forged.npz"), SA_FORMAT, "'format' is out of bounds: -1");
    write_one("format", SA_INT64, 1, 0, NULL, "");
    expect_refusal(scratch("forged.npz"), SA_FORMAT, "'format' must be one number");
    write_one("format", SA_FLOAT64, 0, 0, &(double){1}, "");
    expect_refusal(scratch("forged.npz"), SA_FORMAT, "format is float64, not int64");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        write_one("format", SA_INT64, 0, 0, &(int64_t){3}, options[i]);
        expect_refusal(scratch("forged.npz"), SA_FORMAT, "forged.npz: ");
    }
}

/* Copies an agent's file but for one array, which is left out, emptied or filled with 0xff bytes. Sizes that
 * do not fit and numbers that cannot be are refused; what is taken for an agent must work. */
static void copy_but(const char *name, int how) {
    sa_npz *archive;
    sa_npz_writer *writer;
    sa_array arrays[80] = {0};
    assert_ok(sa_npz_open(scratch("a.npz"), &archive));
    assert_ok(sa_npz_begin(&writer));
    assert_true(sa_npz_count(archive) <= 80);
    for (size_t i = 0; i < sa_npz_count(archive); i++) {
        sa_array *array = &arrays[i];
        assert_ok(sa_npz_get(archive, sa_npz_name(archive, i), array));
        if (!strcmp(sa_npz_name(archive, i), name)) {
            if (how == 0) continue;
            if (how == 1) array->axes = 1, array->shape[0] = 0;
            if (how == 2) memset(array->data, 0xff, sa_array_count(array) * sa_dtype_size(array->type));
            if (how == 3) memset(array->data, 0x7e, sa_array_count(array) * sa_dtype_size(array->type));
        }
        assert_ok(
            sa_npz_add(writer, sa_npz_name(archive, i), array->type, array->axes, array->shape, array->data));
    }
    assert_ok(sa_npz_finish(writer, scratch("forged.npz")));
    for (size_t i = 0; i < sa_npz_count(archive); i++) sa_array_clear(&arrays[i]);
    sa_npz_close(archive);
}

/* As format 4 had it: without what came later. */
static void copy_as_4(void) {
    static const char *const later[] = {"companion_units", "companion_root", "companion_noise",
                                        "last_",           "inputs_newer",   "relearnt"};
    sa_npz *archive;
    sa_npz_writer *writer;
    sa_array arrays[80] = {0};
    assert_ok(sa_npz_open(scratch("a.npz"), &archive));
    assert_ok(sa_npz_begin(&writer));
    for (size_t i = 0; i < sa_npz_count(archive); i++) {
        const char *name = sa_npz_name(archive, i);
        bool is_later = false;
        for (size_t k = 0; k < sizeof later / sizeof *later; k++)
            is_later = is_later || !strncmp(name, later[k], strlen(later[k]));
        if (is_later) continue;
        assert_ok(sa_npz_get(archive, name, &arrays[i]));
        if (!strcmp(name, "format")) *(int64_t *)arrays[i].data = 4;
        if (!strcmp(name, "posterior")) arrays[i].shape[0] -= 2; /* two more since then */
        if (!strcmp(name, "rewards_outliers")) arrays[i].shape[0] -= 4;
        assert_ok(sa_npz_add(writer, name, arrays[i].type, arrays[i].axes, arrays[i].shape, arrays[i].data));
    }
    assert_ok(sa_npz_finish(writer, scratch("forged.npz")));
    for (size_t i = 0; i < sa_npz_count(archive); i++) sa_array_clear(&arrays[i]);
    sa_npz_close(archive);
}

/* An agent of the version before goes on, with the settings that it has, and chooses as it did once its
 * beginning is over (learn/bonus.h), which those files know nothing of. */
static void the_format_before_is_read(void **state) {
    (void)state;
    sa_agent *agent = rig_create("normalize=standard gamma=1.25"), *loaded = NULL;
    sa_decision *decision = NULL, *other = NULL;
    for (uint64_t id = 0; id < 150; id++) {
        rig_select(agent, id, 9, 2, &decision);
        rig_answer(agent, id, 2);
    }
    assert_ok(sa_agent_save(agent, scratch("a.npz")));
    copy_as_4();
    assert_ok(sa_agent_load(scratch("forged.npz"), &loaded));
    assert_true(loaded->given->gamma == 1.25);
    rig_select(agent, 150, 9, 2, &decision);
    rig_select(loaded, 150, 9, 2, &other);
    assert_memory_equal(sa_decision_arms(decision), sa_decision_arms(other), 2 * sizeof(size_t));
    for (uint64_t id = 150; id < 170; id++) {
        if (id > 150) rig_select(loaded, id, 9, 2, &other);
        rig_answer(loaded, id, 2);
    }
    sa_decision_destroy(decision);
    sa_decision_destroy(other);
    sa_agent_destroy(agent);
    sa_agent_destroy(loaded);
}

static void check_forgeries(const char *text) {
    sa_agent *agent = rig_create(text);
    sa_decision *decision = NULL;
    for (uint64_t id = 0; id < 6; id++) {
        rig_select(agent, id, 5, 2, &decision);
        if (id < 3) rig_answer(agent, id, 2);
    }
    assert_ok(sa_agent_save(agent, scratch("a.npz")));
    sa_agent_destroy(agent);
    sa_npz *archive;
    assert_ok(sa_npz_open(scratch("a.npz"), &archive));
    for (size_t i = 0; i < sa_npz_count(archive); i++)
        for (int how = 0; how < 4; how++) {
            sa_array array = {0};
            const char *name = sa_npz_name(archive, i);
            assert_ok(sa_npz_get(archive, name, &array));
            size_t count = sa_array_count(&array);
            sa_array_clear(&array);
            if (count == 0 && how > 0) continue;
            copy_but(name, how);
            agent = NULL;
            sa_status status = sa_agent_load(scratch("forged.npz"), &agent);
            if (how == 0 && status == SA_OK) fail_msg("%s: %s is not needed", text, name);
            if (status == SA_OK) { /* it must not crash, whatever it says */
                (void)!rig_try_select(agent, 9, 5, 2, &decision);
                (void)!rig_try_answer(agent, 5, 2, NULL);
                (void)!rig_try_answer(agent, sa_decision_id(decision), 2, NULL);
            } else {
                assert_true(status == SA_FORMAT || status == SA_NEWER);
                assert_non_null(strstr(sa_last_error(), "forged.npz"));
                assert_null(agent);
            }
            sa_agent_destroy(agent);
        }
    sa_npz_close(archive);
    sa_decision_destroy(decision);
}

static void sealed_forgeries_are_refused_or_harmless(void **state) {
    (void)state;
    check_forgeries("hidden=44");
    check_forgeries("hidden=2 normalize=standard");
    check_forgeries("hidden=44 discount=0.9");
    check_forgeries("hidden=2 discount=0.7");
    check_forgeries("hidden=44 window=2 train-every=1");
}

/* What the fuzzer begins with must be of the present format (tools/make-corpus writes it), or it tries
 * nothing. */
static void the_corpus_can_be_loaded(void **state) {
    (void)state;
    char folder[512], path[1024];
    snprintf(folder, sizeof folder, "%.*s/corpus/checkpoint", (int)(strrchr(__FILE__, '/') - __FILE__),
             __FILE__);
    DIR *corpus = opendir(folder);
    size_t count = 0;
    assert_non_null(corpus);
    for (struct dirent *entry; (entry = readdir(corpus));) {
        sa_agent *agent = NULL;
        if (!strstr(entry->d_name, ".npz")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        assert_ok(sa_agent_load(path, &agent));
        sa_agent_destroy(agent);
        count++;
    }
    closedir(corpus);
    assert_true(count > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flipped_byte_is_seen),
        cmocka_unit_test(every_truncation_is_seen),
        cmocka_unit_test(bytes_put_behind_are_seen),
        cmocka_unit_test(the_corpus_can_be_loaded),
        cmocka_unit_test(newer_files_are_refused_as_newer),
        cmocka_unit_test(the_format_before_is_read),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(forged_arrays_are_refused),
        cmocka_unit_test(sealed_forgeries_are_refused_or_harmless),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}
