/* npz files: written alike each time, opened by NumPy and from NumPy, and refused when a bit is wrong. */
#include "test_file_scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/npy.h"

/* numpy.savez(W1=arange(6, dtype='<f4').reshape(2, 3), k=array([3])) by NumPy 1.24, and
 * numpy.savez_compressed(W1=zeros((2, 3), '<f4')). */
static const unsigned char numpy_stored[524] = {
    80,  75,  3,   4,   20,  0,   0,   0,   0,   0,   0,   0,   33,  0,   79,  233, 0,   42,  152, 0,   0,
    0,   152, 0,   0,   0,   6,   0,   20,  0,   87,  49,  46,  110, 112, 121, 1,   0,   16,  0,   152, 0,
    0,   0,   0,   0,   0,   0,   152, 0,   0,   0,   0,   0,   0,   0,   147, 78,  85,  77,  80,  89,  1,
    0,   118, 0,   123, 39,  100, 101, 115, 99,  114, 39,  58,  32,  39,  60,  102, 52,  39,  44,  32,  39,
    102, 111, 114, 116, 114, 97,  110, 95,  111, 114, 100, 101, 114, 39,  58,  32,  70,  97,  108, 115, 101,
    44,  32,  39,  115, 104, 97,  112, 101, 39,  58,  32,  40,  50,  44,  32,  51,  41,  44,  32,  125, 32,
    32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,
    32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,
    32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  10,  0,   0,   0,   0,   0,
    0,   128, 63,  0,   0,   0,   64,  0,   0,   64,  64,  0,   0,   128, 64,  0,   0,   160, 64,  80,  75,
    3,   4,   20,  0,   0,   0,   0,   0,   0,   0,   33,  0,   67,  157, 49,  28,  136, 0,   0,   0,   136,
    0,   0,   0,   5,   0,   20,  0,   107, 46,  110, 112, 121, 1,   0,   16,  0,   136, 0,   0,   0,   0,
    0,   0,   0,   136, 0,   0,   0,   0,   0,   0,   0,   147, 78,  85,  77,  80,  89,  1,   0,   118, 0,
    123, 39,  100, 101, 115, 99,  114, 39,  58,  32,  39,  60,  105, 56,  39,  44,  32,  39,  102, 111, 114,
    116, 114, 97,  110, 95,  111, 114, 100, 101, 114, 39,  58,  32,  70,  97,  108, 115, 101, 44,  32,  39,
    115, 104, 97,  112, 101, 39,  58,  32,  40,  49,  44,  41,  44,  32,  125, 32,  32,  32,  32,  32,  32,
    32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,
    32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,
    32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  10,  3,   0,   0,   0,   0,   0,   0,   0,
    80,  75,  1,   2,   20,  3,   20,  0,   0,   0,   0,   0,   0,   0,   33,  0,   79,  233, 0,   42,  152,
    0,   0,   0,   152, 0,   0,   0,   6,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   128, 1,
    0,   0,   0,   0,   87,  49,  46,  110, 112, 121, 80,  75,  1,   2,   20,  3,   20,  0,   0,   0,   0,
    0,   0,   0,   33,  0,   67,  157, 49,  28,  136, 0,   0,   0,   136, 0,   0,   0,   5,   0,   0,   0,
    0,   0,   0,   0,   0,   0,   0,   0,   128, 1,   208, 0,   0,   0,   107, 46,  110, 112, 121, 80,  75,
    5,   6,   0,   0,   0,   0,   2,   0,   2,   0,   103, 0,   0,   0,   143, 1,   0,   0,   0,   0,
};

static const unsigned char numpy_deflated[203] = {
    80,  75,  3,   4,  20,  0,   0,   0,  8,   0,  0,   0,   33,  0,   120, 179, 38,  24,  73,  0,   0,
    0,   152, 0,   0,  0,   6,   0,   20, 0,   87, 49,  46,  110, 112, 121, 1,   0,   16,  0,   152, 0,
    0,   0,   0,   0,  0,   0,   73,  0,  0,   0,  0,   0,   0,   0,   155, 236, 23,  234, 27,  16,  201,
    200, 80,  198, 80, 173, 158, 146, 90, 156, 92, 164, 110, 165, 160, 110, 147, 102, 162, 174, 163, 160,
    158, 150, 95,  84, 82,  148, 152, 23, 159, 95, 148, 146, 10,  18,  119, 75,  204, 41,  78,  5,   138,
    23,  103, 36,  22, 164, 2,   249, 26, 70,  58, 10,  198, 154, 58,  10,  181, 10,  100, 3,   46,  6,
    28,  0,   0,   80, 75,  1,   2,   20, 3,   20, 0,   0,   0,   8,   0,   0,   0,   33,  0,   120, 179,
    38,  24,  73,  0,  0,   0,   152, 0,  0,   0,  6,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
    0,   128, 1,   0,  0,   0,   0,   87, 49,  46, 110, 112, 121, 80,  75,  5,   6,   0,   0,   0,   0,
    1,   0,   1,   0,  52,  0,   0,   0,  129, 0,  0,   0,   0,   0,
};

static const float weights[6] = {0, 1, 2, 3, 4, 5};
static const int64_t numbers[2] = {-1, 7};

static void write_example(const char *path) {
    sa_npz_writer *writer;
    assert_ok(sa_npz_begin(&writer));
    assert_ok(sa_npz_add(writer, "W1", SA_FLOAT32, 2, (size_t[]){2, 3}, weights));
    assert_ok(sa_npz_add(writer, "n", SA_INT64, 1, (size_t[]){2}, numbers));
    assert_ok(sa_npz_finish(writer, path));
}

static void expect_numbers(sa_npz *archive, const char *name, size_t count, const double *expected) {
    sa_array array;
    assert_ok(sa_npz_get(archive, name, &array));
    assert_int_equal(sa_array_count(&array), count);
    for (size_t i = 0; i < count; i++) assert_true(sa_array_number(&array, i) == expected[i]);
    sa_array_clear(&array);
}

static void arrays_come_back(void **state) {
    (void)state;
    sa_npz *archive;
    write_example(scratch("a.npz"));
    assert_ok(sa_npz_open(scratch("a.npz"), &archive));
    assert_true(sa_npz_is_ours(archive));
    assert_int_equal(sa_npz_count(archive), 2);
    assert_string_equal(sa_npz_name(archive, 0), "W1");
    assert_string_equal(sa_npz_name(archive, 1), "n");
    assert_null(sa_npz_name(archive, 2));
    assert_true(sa_npz_has(archive, "n"));
    assert_false(sa_npz_has(archive, "n.npy"));
    expect_numbers(archive, "n", 2, (double[]){-1, 7});
    expect_numbers(archive, "W1", 6, (double[]){0, 1, 2, 3, 4, 5});
    sa_npz_close(archive);
    sa_npz_close(NULL);
}

static void pieces_follow_one_another(void **state) {
    (void)state;
    const void *piece[] = {weights, weights, weights + 1, weights + 4};
    const size_t bytes[] = {4, 0, 12, 8};
    sa_npz_writer *writer;
    sa_npz *archive;
    assert_ok(sa_npz_begin(&writer));
    assert_ok(sa_npz_add_pieces(writer, "W1", SA_FLOAT32, 2, (size_t[]){2, 3}, 4, piece, bytes));
    assert_ok(sa_npz_add_pieces(writer, "none", SA_FLOAT32, 1, (size_t[]){0}, 0, NULL, NULL));
    assert_ok(sa_npz_add(writer, "scalar", SA_FLOAT32, 0, NULL, weights + 5));
    assert_fails(sa_npz_add_pieces(writer, "W2", SA_FLOAT32, 1, (size_t[]){5}, 4, piece, bytes), SA_INVALID,
                 "W2: its pieces have 24 bytes, and its shape needs 20");
    assert_ok(sa_npz_finish(writer, scratch("a.npz")));
    assert_ok(sa_npz_open(scratch("a.npz"), &archive));
    expect_numbers(archive, "W1", 6, (double[]){0, 1, 2, 3, 4, 5});
    expect_numbers(archive, "none", 0, NULL);
    expect_numbers(archive, "scalar", 1, (double[]){5});
    sa_npz_close(archive);
}

static void the_same_arrays_give_the_same_bytes(void **state) {
    (void)state;
    char *first, *second;
    size_t first_size, second_size;
    setenv("TZ", "UTC", 1);
    tzset();
    write_example(scratch("first.npz"));
    setenv("TZ", "Asia/Tokyo", 1); /* zip files have local times */
    tzset();
    write_example(scratch("second.npz"));
    assert_ok(sa_file_read(scratch("first.npz"), &first, &first_size));
    assert_ok(sa_file_read(scratch("second.npz"), &second, &second_size));
    assert_int_equal(first_size, second_size);
    assert_memory_equal(first, second, first_size);
    /* The date of the first entry, bytes 10 to 13: 1980-01-01 00:00, as NumPy has it. */
    assert_memory_equal(first + 10, "\0\0\x21\0", 4);
    assert_memory_equal(first + first_size - 23, "superarm crc32 ", 15);
    sa_free(first);
    sa_free(second);
}

static void wrong_arrays_are_refused(void **state) {
    (void)state;
    sa_npz_writer *writer;
    assert_ok(sa_npz_begin(&writer));
    assert_fails(sa_npz_finish(writer, scratch("a.npz")), SA_INVALID, "a.npz would have no arrays");
    assert_ok(sa_npz_begin(&writer));
    assert_ok(sa_npz_add(writer, "n", SA_INT64, 1, (size_t[]){2}, numbers));
    assert_fails(sa_npz_add(writer, "n", SA_INT64, 1, (size_t[]){2}, numbers), SA_INVALID,
                 "n: there is an array of this name");
    assert_fails(sa_npz_add(writer, "m", SA_INT64, 9, (size_t[9]){0}, numbers), SA_INVALID, "9 axes");
    assert_fails(sa_npz_add(writer, "m", SA_INT64, 1, (size_t[]){SIZE_MAX}, numbers), SA_INVALID,
                 "too large");
    sa_npz_abandon(writer);
    sa_npz_abandon(NULL);
    assert_true(sa_folder_is_empty(scratch_folder));
}

static void what_is_wanted_exactly_must_be_there(void **state) {
    (void)state;
    sa_npz *archive;
    sa_array array = {0};
    char sentence[600];
    write_example(scratch("a.npz"));
    assert_ok(sa_npz_open(scratch("a.npz"), &archive));
    assert_ok(sa_npz_get_exactly(archive, "W1", SA_FLOAT32, 2, (size_t[]){2, 3}, &array));
    sa_array_clear(&array);
    assert_ok(sa_npz_get_exactly(archive, "W1", SA_FLOAT32, 0, NULL, &array));
    sa_array_clear(&array);
    snprintf(sentence, sizeof sentence, "%s: W1 has shape (2, 3), not (3, 2)", scratch("a.npz"));
    assert_says(sa_npz_get_exactly(archive, "W1", SA_FLOAT32, 2, (size_t[]){3, 2}, &array), SA_FORMAT,
                sentence);
    snprintf(sentence, sizeof sentence, "%s: n has shape (2,), not (2, 1)", scratch("a.npz"));
    assert_says(sa_npz_get_exactly(archive, "n", SA_INT64, 2, (size_t[]){2, 1}, &array), SA_FORMAT, sentence);
    snprintf(sentence, sizeof sentence, "%s: W1 is float32, not float64", scratch("a.npz"));
    assert_says(sa_npz_get_exactly(archive, "W1", SA_FLOAT64, 2, (size_t[]){2, 3}, &array), SA_FORMAT,
                sentence);
    snprintf(sentence, sizeof sentence, "%s has no array W2", scratch("a.npz"));
    assert_says(sa_npz_get(archive, "W2", &array), SA_FORMAT, sentence);
    assert_null(array.data);
    sa_npz_close(archive);
}

/* Opens and reads all; the first failure. */
static sa_status read_everything(const char *path) {
    sa_npz *archive;
    SA_TRY(sa_npz_open(path, &archive));
    sa_status status = SA_OK;
    for (size_t i = 0; status == SA_OK && i < sa_npz_count(archive); i++) {
        sa_array array = {0};
        status = sa_npz_get(archive, sa_npz_name(archive, i), &array);
        sa_array_clear(&array);
    }
    sa_npz_close(archive);
    return status;
}

/* In place, for a file that is written again thousands of times is slow on some disks. */
static void put_byte(const char *path, size_t offset, int byte) {
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, (long)offset, SEEK_SET);
    fputc(byte, file);
    fclose(file);
}

static void a_flipped_bit_anywhere_is_refused(void **state) {
    (void)state;
    char *bytes;
    size_t size;
    const char *path = scratch("bad.npz");
    write_example(path);
    assert_ok(sa_file_read(path, &bytes, &size));
    for (size_t i = 0; i < size * 8; i++) {
        sa_npz *archive = NULL;
        put_byte(path, i / 8, bytes[i / 8] ^ 1 << i % 8);
        sa_status status = sa_npz_open(path, &archive);
        if (status == SA_OK) fail_msg("bit %zu of byte %zu", i % 8, i / 8);
        assert_int_equal(status, SA_FORMAT);
        assert_non_null(strstr(sa_last_error(), "bad.npz is damaged: its checksum is not that of its bytes"));
        put_byte(path, i / 8, bytes[i / 8]);
    }
    assert_ok(read_everything(path)); /* all is as it was */
    sa_free(bytes);
}

static void truncated_anywhere_is_refused(void **state) {
    (void)state;
    char *bytes;
    size_t size;
    const char *path = scratch("cut.npz");
    write_example(path);
    assert_ok(sa_file_read(path, &bytes, &size));
    sa_free(bytes);
    while (size--) {
        sa_npz *archive = NULL;
        assert_int_equal(truncate(path, (off_t)size), 0);
        assert_fails(sa_npz_open(path, &archive), SA_FORMAT, "cut.npz");
    }
}

static void bytes_appended_make_it_somebody_elses(void **state) {
    (void)state;
    sa_npz *archive = NULL;
    write_example(scratch("a.npz"));
    FILE *file = fopen(scratch("a.npz"), "ab");
    fputs("and more that is not ours", file);
    fclose(file);
    if (sa_npz_open(scratch("a.npz"), &archive) == SA_OK) assert_false(sa_npz_is_ours(archive));
    sa_npz_close(archive);
}

static void files_by_numpy_open(void **state) {
    (void)state;
    sa_npz *archive;
    assert_ok(sa_file_write(scratch("stored.npz"), numpy_stored, sizeof numpy_stored));
    assert_ok(sa_npz_open(scratch("stored.npz"), &archive));
    assert_false(sa_npz_is_ours(archive));
    expect_numbers(archive, "W1", 6, (double[]){0, 1, 2, 3, 4, 5});
    expect_numbers(archive, "k", 1, (double[]){3});
    sa_npz_close(archive);
    assert_ok(sa_file_write(scratch("deflated.npz"), numpy_deflated, sizeof numpy_deflated));
    assert_ok(sa_npz_open(scratch("deflated.npz"), &archive));
    expect_numbers(archive, "W1", 6, (double[6]){0});
    sa_npz_close(archive);
}

/* Without our seal some damage cannot be seen (a date, say), but the numbers have the zip's own CRC-32. */
static void damaged_files_by_numpy_never_crash(void **state) {
    (void)state;
    const unsigned char *const files[] = {numpy_stored, numpy_deflated};
    const size_t sizes[] = {sizeof numpy_stored, sizeof numpy_deflated};
    const char *path = scratch("bad.npz");
    for (int f = 0; f < 2; f++) {
        assert_ok(sa_file_write(path, files[f], sizes[f]));
        for (size_t i = 0; i < sizes[f]; i++) {
            put_byte(path, i, files[f][i] ^ 0xff);
            sa_status status = read_everything(path);
            bool in_data = f == 0 && i >= 56 && i < 56 + 152; /* W1, with its header */
            if (in_data) assert_int_equal(status, SA_FORMAT);
            put_byte(path, i, files[f][i]);
        }
        assert_ok(read_everything(path));
    }
}

/* Where the directory claims that W1 has more bytes than the file, in the entry at 129 of the deflated
 * example. */
static void a_forged_size_cannot_ask_for_memory(void **state) {
    (void)state;
    unsigned char bytes[sizeof numpy_deflated];
    memcpy(bytes, numpy_deflated, sizeof bytes);
    assert_memory_equal(bytes + 129, "PK\1\2", 4);
    bytes[129 + 27] = 0x7f; /* uncompressed: 2 GB */
    assert_ok(sa_file_write(scratch("bad.npz"), bytes, sizeof bytes));
    assert_fails(read_everything(scratch("bad.npz")), SA_FORMAT, "bad.npz: W1 is damaged: its size is wrong");
}

static void what_is_no_npz_is_refused(void **state) {
    (void)state;
    sa_npz *archive = NULL;
    assert_fails(sa_npz_open(scratch("absent.npz"), &archive), SA_FILE,
                 "absent.npz cannot be opened: No such file");
    assert_fails(sa_npz_open(scratch_folder, &archive), SA_FILE, "is not a regular file");
    assert_ok(sa_file_write(scratch("text.npz"), "this is a text, and a rather long one", 37));
    assert_fails(sa_npz_open(scratch("text.npz"), &archive), SA_FORMAT, "text.npz is no npz file");
    assert_null(archive);
}

static void a_failing_write_leaves_the_old_file(void **state) {
    (void)state;
    double *large;
    sa_npz_writer *writer;
    assert_ok(sa_alloc_array(20000, sizeof *large, &large));
    write_example(scratch("a.npz"));
    assert_ok(sa_npz_begin(&writer));
    assert_ok(sa_npz_add(writer, "large", SA_FLOAT64, 1, (size_t[]){20000}, large));
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 50000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    sa_status status = sa_npz_finish(writer, scratch("a.npz"));
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(status, SA_FILE);
    assert_non_null(strstr(sa_last_error(), "a.npz cannot be written"));
    assert_ok(read_everything(scratch("a.npz")));
    assert_ok(sa_path_remove(scratch("a.npz")));
    assert_true(sa_folder_is_empty(scratch_folder)); /* nor a temporary */
    sa_free(large);
}

static void a_pipe_is_refused(void **state) {
    (void)state;
    sa_npz_writer *writer;
    assert_int_equal(mkfifo(scratch("pipe"), 0600), 0);
    int reader = open(scratch("pipe"), O_RDWR | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_ok(sa_npz_begin(&writer));
    assert_ok(sa_npz_add(writer, "n", SA_INT64, 1, (size_t[]){2}, numbers));
    assert_fails(sa_npz_finish(writer, scratch("pipe")), SA_FILE, "pipe is not a regular file");
    close(reader);
}

#define in_scratch(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        in_scratch(arrays_come_back),
        in_scratch(pieces_follow_one_another),
        in_scratch(the_same_arrays_give_the_same_bytes),
        in_scratch(wrong_arrays_are_refused),
        in_scratch(what_is_wanted_exactly_must_be_there),
        in_scratch(a_flipped_bit_anywhere_is_refused),
        in_scratch(truncated_anywhere_is_refused),
        in_scratch(bytes_appended_make_it_somebody_elses),
        in_scratch(files_by_numpy_open),
        in_scratch(damaged_files_by_numpy_never_crash),
        in_scratch(a_forged_size_cannot_ask_for_memory),
        in_scratch(what_is_no_npz_is_refused),
        in_scratch(a_failing_write_leaves_the_old_file),
        in_scratch(a_pipe_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
