/* Files are read whole and replaced whole; folders are made, looked into and removed. */
#include "test_file_scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void expect_content(const char *path, const char *content) {
    char *data = NULL;
    size_t size = 0;
    assert_ok(sa_file_read(path, &data, &size));
    assert_int_equal(size, strlen(content));
    assert_string_equal(data, content);
    sa_free(data);
}

static size_t entries(const char *path) {
    DIR *folder = opendir(path);
    assert_non_null(folder);
    size_t count = 0;
    while (readdir(folder)) count++;
    closedir(folder);
    return count - 2;
}

static void what_is_written_is_read(void **state) {
    (void)state;
    const char *path = scratch("text");
    assert_false(sa_file_exists(path));
    assert_ok(sa_file_write(path, "hello", 5));
    expect_content(path, "hello");
    assert_ok(sa_file_write(path, "", 0));
    expect_content(path, "");
    assert_true(sa_file_exists(path));
    assert_int_equal(entries(scratch_folder), 1); /* no temporary is left */
}

static void a_large_file_is_read_whole(void **state) {
    (void)state;
    size_t size = 3000001, got;
    char *data, *back;
    assert_ok(sa_alloc_array(size, 1, &data));
    for (size_t i = 0; i < size; i++) data[i] = (char)(i * 7 + i / 251);
    assert_ok(sa_file_write(scratch("large"), data, size));
    assert_ok(sa_file_read(scratch("large"), &back, &got));
    assert_int_equal(got, size);
    assert_memory_equal(back, data, size);
    assert_int_equal(back[size], 0);
    sa_free(data);
    sa_free(back);
}

static void what_cannot_be_read_has_a_sentence(void **state) {
    (void)state;
    char *data = NULL;
    size_t size;
    assert_fails(sa_file_read(scratch("absent"), &data, &size), SA_FILE,
                 "absent cannot be opened: No such file");
    assert_fails(sa_file_read(scratch_folder, &data, &size), SA_FILE, "cannot be read: Is a directory");
    assert_null(data);
}

/* With a limit on file sizes the write fails half-way, as on a full disk. */
static void a_failing_write_leaves_the_old_file(void **state) {
    (void)state;
    const char *path = scratch("kept");
    char *large;
    assert_ok(sa_alloc_array(100000, 1, &large));
    assert_ok(sa_file_write(path, "old", 3));
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 50000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    sa_status status = sa_file_write(path, large, 100000);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(status, SA_FILE);
    assert_non_null(strstr(sa_last_error(), "kept cannot be written: File too large"));
    expect_content(path, "old");
    assert_int_equal(entries(scratch_folder), 1);
    sa_free(large);
}

static void where_nothing_can_be_written_has_a_sentence(void **state) {
    (void)state;
    assert_fails(sa_file_write(scratch("no/such/folder"), "x", 1), SA_FILE,
                 "no/such/folder cannot be written: No such file");
    assert_fails(sa_file_write(scratch_folder, "x", 1), SA_FILE, "cannot be written: Is a directory");
}

/* A pipe of our own stands for /dev/null: were the code wrong, the test must not replace the machine's. */
static void what_is_no_regular_file_is_written_straight_to(void **state) {
    (void)state;
    assert_int_equal(mkfifo(scratch("pipe"), 0600), 0);
    int reader = open(scratch("pipe"), O_RDWR | O_NONBLOCK); /* so that the writer need not wait */
    assert_true(reader >= 0);
    assert_ok(sa_file_write(scratch("pipe"), "x", 1));
    char byte = 0;
    assert_int_equal(read(reader, &byte, 1), 1);
    assert_int_equal(byte, 'x');
    close(reader);
    struct stat about;
    assert_int_equal(lstat(scratch("pipe"), &about), 0);
    assert_true(S_ISFIFO(about.st_mode));
    assert_int_equal(entries(scratch_folder), 1);
}

static void a_link_stays_a_link_and_the_mode_stays(void **state) {
    (void)state;
    assert_ok(sa_file_write(scratch("real"), "old", 3));
    assert_int_equal(chmod(scratch("real"), 0640), 0);
    assert_int_equal(symlink("real", scratch("link")), 0);
    assert_ok(sa_file_write(scratch("link"), "new", 3));
    expect_content(scratch("real"), "new");
    struct stat about;
    assert_int_equal(lstat(scratch("link"), &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(stat(scratch("real"), &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
}

static void an_abandoned_replacement_leaves_nothing(void **state) {
    (void)state;
    sa_replacement replacement;
    assert_ok(sa_replace_begin(scratch("never"), &replacement));
    assert_ok(sa_replace_write(&replacement, "x", 1));
    assert_int_equal(entries(scratch_folder), 1);
    sa_replace_abandon(&replacement);
    assert_int_equal(entries(scratch_folder), 0);
}

static void folders_are_made_with_their_parents(void **state) {
    (void)state;
    assert_true(sa_folder_is_empty(scratch("a/b")));
    assert_ok(sa_folder_make(scratch("a/b//c/")));
    assert_ok(sa_folder_make(scratch("a/b/c")));
    assert_false(sa_folder_is_empty(scratch("a/b")));
    assert_true(sa_folder_is_empty(scratch("a/b/c")));
    assert_ok(sa_file_write(scratch("file"), "x", 1));
    assert_fails(sa_folder_make(scratch("file")), SA_FILE, "file cannot be made: Not a directory");
    assert_fails(sa_folder_make(scratch("file/below")), SA_FILE, "cannot be made");
    assert_fails(sa_folder_make(""), SA_FILE, "empty");
    assert_false(sa_folder_is_empty(scratch("file")));
}

static void removing_takes_all_below_and_follows_no_link(void **state) {
    (void)state;
    assert_ok(sa_folder_make(scratch("tree/deep/er")));
    assert_ok(sa_folder_make(scratch("outside")));
    assert_ok(sa_file_write(scratch("outside/kept"), "x", 1));
    assert_ok(sa_file_write(scratch("tree/deep/file"), "x", 1));
    assert_int_equal(symlink(scratch("outside"), scratch("tree/link")), 0);
    assert_ok(sa_path_remove(scratch("tree")));
    assert_false(sa_file_exists(scratch("tree")));
    expect_content(scratch("outside/kept"), "x");
    assert_ok(sa_path_remove(scratch("outside/kept")));
    assert_true(sa_folder_is_empty(scratch("outside")));
    assert_ok(sa_path_remove(scratch("absent")));
}

static void crc32_is_the_one_of_zip(void **state) {
    (void)state;
    assert_int_equal(sa_crc32(0, "", 0), 0);
    assert_int_equal(sa_crc32(0, "123456789", 9), 0xCBF43926);
    const char *text = "The quick brown fox jumps over the lazy dog"; /* its CRC-32 is well known too */
    for (size_t cut = 0; cut <= strlen(text); cut++) {
        uint32_t first = sa_crc32(0, text, cut);
        assert_int_equal(sa_crc32(first, text + cut, strlen(text) - cut), 0x414FA339);
    }
}

static void formatted_texts_are_as_long_as_needed(void **state) {
    (void)state;
    char *text;
    assert_ok(sa_format(&text, "%s/%03d", "folder", 7));
    assert_string_equal(text, "folder/007");
    sa_free(text);
    assert_ok(sa_format(&text, "%5000d", 1));
    assert_int_equal(strlen(text), 5000);
    sa_free(text);
}

/* ---- what a killed process leaves ---- */

static void make(const char *name) {
    assert_int_equal(close(open(scratch(name), O_CREAT | O_WRONLY, 0666)), 0);
}

static void what_a_killed_save_left_is_removed(void **state) {
    (void)state;
    static const char *const others[] = {"a.npz.12-0.tmp.bak",  "a.npz.x-0.tmp", "a.npz.12.tmp",
                                         "b.npz.12-0.tmp",      "a.npz.tmp",     "aanpz.1-1.tmp",
                                         "a.npz.12-0.tmp.Ab12C"};
    pid_t child = fork();
    if (child == 0) {
        sa_replacement replacement;
        if (sa_replace_begin(scratch("a.npz"), &replacement) != SA_OK) _exit(1);
        kill(getpid(), SIGKILL);
    }
    int how;
    assert_true(waitpid(child, &how, 0) == child && WIFSIGNALED(how));
    assert_int_equal(entries(scratch_folder), 1);
    make("a.npz.4194305-17.tmp.Ab12Cd"); /* libzip's */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) make(others[i]);
    assert_ok(sa_file_write(scratch("a.npz"), "x", 1));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(sa_file_exists(scratch(others[i])));
    assert_int_equal(entries(scratch_folder), 1 + sizeof others / sizeof *others);
}

/* Of this process or another, whoever writes at the moment is left alone; also while many do. */
static void what_is_being_written_is_not(void **state) {
    (void)state;
    sa_replacement mine;
    assert_ok(sa_replace_begin(scratch("a"), &mine));
    assert_ok(sa_file_write(scratch("a"), "first", 5));
    assert_ok(sa_replace_write(&mine, "second", 6));
    assert_ok(sa_replace_commit(&mine));
    expect_content(scratch("a"), "second");
    pid_t child[4];
    for (size_t i = 0; i < 4; i++)
        if ((child[i] = fork()) == 0) {
            sa_status status = SA_OK;
            for (int turn = 0; turn < 100 && status == SA_OK; turn++)
                status = sa_file_write(scratch("a"), "third", 5);
            _exit(status != SA_OK);
        }
    for (size_t i = 0; i < 4; i++) {
        int how;
        assert_true(waitpid(child[i], &how, 0) == child[i] && WIFEXITED(how) && WEXITSTATUS(how) == 0);
    }
    expect_content(scratch("a"), "third");
    assert_int_equal(entries(scratch_folder), 1);
}

/* A full disk is not the fault of the name. */
static void a_full_disk_has_a_status(void **state) {
    (void)state;
    assert_fails(sa_file_write("/dev/full", "x", 1), SA_DISK, "/dev/full cannot be written: No space left");
    assert_int_equal(sa_status_of_errno(EACCES), SA_FILE);
    assert_int_equal(sa_status_of_errno(ENOMEM), SA_OUT_OF_MEMORY);
}

#define in_scratch(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        in_scratch(what_is_written_is_read),
        in_scratch(a_large_file_is_read_whole),
        in_scratch(what_cannot_be_read_has_a_sentence),
        in_scratch(a_failing_write_leaves_the_old_file),
        in_scratch(where_nothing_can_be_written_has_a_sentence),
        in_scratch(what_is_no_regular_file_is_written_straight_to),
        in_scratch(a_link_stays_a_link_and_the_mode_stays),
        in_scratch(an_abandoned_replacement_leaves_nothing),
        in_scratch(folders_are_made_with_their_parents),
        in_scratch(removing_takes_all_below_and_follows_no_link),
        in_scratch(what_a_killed_save_left_is_removed),
        in_scratch(what_is_being_written_is_not),
        in_scratch(a_full_disk_has_a_status),
        cmocka_unit_test(crc32_is_the_one_of_zip),
        cmocka_unit_test(formatted_texts_are_as_long_as_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
