/* npy files: what we write NumPy writes too, and what is wrong is refused before memory is asked for. */
#include "test_file_scratch.h"

#include <unistd.h>

#include "base/npy.h"

/* A header as NumPy 1.24 writes it: the dictionary padded to 128 bytes in all. */
static size_t numpy_header(char *out, int version, const char *dictionary) {
    size_t prefix = version == 1 ? 10 : 12, length = 128 - prefix;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (char)version;
    out[7] = 0;
    memset(out + 8, 0, 4);
    out[8] = (char)length;
    memset(out + prefix, ' ', length);
    memcpy(out + prefix, dictionary, strlen(dictionary));
    out[127] = '\n';
    return 128;
}

static sa_status parse(const char *dictionary, const char *data, size_t size, sa_array *out) {
    char bytes[256];
    size_t header = numpy_header(bytes, 1, dictionary);
    memcpy(bytes + header, data, size);
    return sa_npy_parse(bytes, header + size, "x.npy", out);
}

#define ZEROS "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"

static void every_type_and_rank_comes_back(void **state) {
    (void)state;
    const size_t shapes[][4] = {{0}, {5}, {2, 3}, {2, 3, 4}, {1, 2, 3, 4}, {0}, {3, 0, 2}};
    const size_t ranks[] = {0, 1, 2, 3, 4, 1, 3};
    unsigned char data[24 * 8];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 37 + 11);
    for (int type = 0; type < SA_DTYPE_COUNT; type++)
        for (size_t s = 0; s < sizeof ranks / sizeof *ranks; s++) {
            sa_array array = {0};
            assert_ok(sa_npy_write(scratch("a.npy"), (sa_dtype)type, ranks[s], shapes[s], data));
            assert_ok(sa_npy_read(scratch("a.npy"), &array));
            assert_int_equal(array.type, type);
            assert_int_equal(array.axes, ranks[s]);
            size_t count = 1;
            for (size_t i = 0; i < ranks[s]; i++) {
                assert_int_equal(array.shape[i], shapes[s][i]);
                count *= shapes[s][i];
            }
            assert_int_equal(sa_array_count(&array), count);
            assert_int_equal((uintptr_t)array.data % 64, 0);
            assert_memory_equal(array.data, data, count * sa_dtype_size((sa_dtype)type));
            sa_array_clear(&array);
            assert_null(array.data);
        }
}

static void we_write_what_numpy_writes(void **state) {
    (void)state;
    const float data[6] = {0, 1, 2, 3, 4, 5};
    char expected[256], *bytes;
    size_t header = numpy_header(expected, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"),
           size;
    memcpy(expected + header, data, sizeof data);
    assert_ok(sa_npy_write(scratch("a.npy"), SA_FLOAT32, 2, (size_t[]){2, 3}, data));
    assert_ok(sa_file_read(scratch("a.npy"), &bytes, &size));
    assert_int_equal(size, header + sizeof data);
    assert_memory_equal(bytes, expected, size);
    sa_free(bytes);

    numpy_header(expected, 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }");
    assert_ok(sa_npy_write(scratch("a.npy"), SA_UINT8, 1, (size_t[]){3}, "abc"));
    assert_ok(sa_file_read(scratch("a.npy"), &bytes, &size));
    assert_int_equal(size, header + 3);
    assert_memory_equal(bytes, expected, header);
    sa_free(bytes);
}

static void numbers_come_out_as_doubles(void **state) {
    (void)state;
    sa_array array;
    assert_ok(parse("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "\0\0\x80\x3f", 4, &array));
    assert_true(sa_array_number(&array, 0) == 1.0);
    sa_array_clear(&array);
    assert_ok(
        parse("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", "\0\0\0\0\0\0\xf8\x3f", 8, &array));
    assert_int_equal(array.axes, 0);
    assert_true(sa_array_number(&array, 0) == 1.5);
    sa_array_clear(&array);
    assert_ok(parse("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", "\7\0\0\0\xff\xff\xff\xff",
                    8, &array));
    assert_true(sa_array_number(&array, 1) == -1.0);
    sa_array_clear(&array);
    assert_ok(parse("{'descr': '<i8', 'fortran_order': False, 'shape': (1, 1), }",
                    "\xfe\xff\xff\xff\xff\xff\xff\xff", 8, &array));
    assert_true(sa_array_number(&array, 0) == -2.0);
    sa_array_clear(&array);
    assert_ok(parse("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", "\1\2\xff", 3, &array));
    assert_true(sa_array_number(&array, 2) == 255.0);
    sa_array_clear(&array);
}

static void versions_1_to_3_are_read(void **state) {
    (void)state;
    for (int version = 0; version <= 4; version++) {
        char bytes[140] = {0};
        numpy_header(bytes, version, "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }");
        bytes[128] = 7;
        sa_array array;
        if (version < 1 || version > 3) {
            assert_fails(sa_npy_parse(bytes, 136, "x.npy", &array), SA_FORMAT, "version");
            continue;
        }
        assert_ok(sa_npy_parse(bytes, 136, "x.npy", &array));
        assert_true(sa_array_number(&array, 0) == 7.0);
        sa_array_clear(&array);
    }
}

static void the_dictionary_may_be_written_in_other_ways(void **state) {
    (void)state;
    const char *const ways[] = {
        "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}",
        "{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(2,3)}",
        "  { 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 2 , 3 , ) , }  ",
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        sa_array array;
        assert_ok(parse(ways[i], ZEROS, 24, &array));
        assert_int_equal(array.shape[1], 3);
        sa_array_clear(&array);
    }
}

static void what_is_not_supported_is_said(void **state) {
    (void)state;
    const char *const cases[][2] = {
        {"{'descr': '>f8', 'fortran_order': False, 'shape': (2,), }",
         "x.npy: type '>f8' is big-endian; only little-endian is supported"},
        {"{'descr': '<f8', 'fortran_order': True, 'shape': (1, 2), }",
         "x.npy: the array is in Fortran order; save numpy.ascontiguousarray(it) instead"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
         "x.npy: type '|O' holds Python objects, not numbers"},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (1,), }",
         "x.npy: type '<f2' is not one of '<f4', '<f8', '<i4', '<i8', '|u1'"},
        {"{'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False, 'shape': (1,), }",
         "x.npy: arrays of records are not supported"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1), }",
         "x.npy: the array has more than 8 axes"},
    };
    sa_array array = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_says(parse(cases[i][0], ZEROS, 16, &array), SA_FORMAT, cases[i][1]);
    assert_null(array.data);
}

static void damaged_dictionaries_are_refused(void **state) {
    (void)state;
    const char *const cases[] = {
        "",
        "{}",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'more': 1}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (6)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 6}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, -3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 99999999999999999999)}",
        "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} x",
        "['descr', '<f4', 'fortran_order', False, 'shape', (2, 3)]",
    };
    sa_array array = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(parse(cases[i], ZEROS, 24, &array), SA_FORMAT, "damaged");
    assert_null(array.data);
}

static void a_forged_shape_cannot_ask_for_memory(void **state) {
    (void)state;
    const char *const cases[][2] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000, "
         "4000000000), }",
         "x.npy: shape (4000000000, 4000000000) is too large for memory"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': "
         "(18446744073709551615,), }",
         "x.npy: shape (18446744073709551615,) is too large for memory"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': "
         "(2305843009213693952,), }", /* 2^61 * 8 wraps to 0 */
         "x.npy: shape (2305843009213693952,) is too large for memory"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4000000000, "
         "4000000000), }",
         "x.npy: shape (0, 4000000000, 4000000000) is too large for memory"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }",
         "x.npy is truncated: shape (1000000000000,) needs 4000000000000 bytes, "
         "and 24 are there"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }", "x.npy has 4 bytes after its array"},
    };
    sa_array array = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_says(parse(cases[i][0], ZEROS, 24, &array), SA_FORMAT, cases[i][1]);
    assert_null(array.data);
}

/* In memory the bytes are copied to a block of just that size, so that a sanitizer sees a read beyond. */
static void truncated_anywhere_is_refused(void **state) {
    (void)state;
    const double data[2] = {1, 2};
    char *bytes;
    size_t size;
    assert_ok(sa_npy_write(scratch("a.npy"), SA_FLOAT64, 1, (size_t[]){2}, data));
    assert_ok(sa_file_read(scratch("a.npy"), &bytes, &size));
    for (size_t cut = size; cut--;) {
        char *part = malloc(cut ? cut : 1);
        sa_array array = {0};
        memcpy(part, bytes, cut);
        assert_fails(sa_npy_parse(part, cut, "x.npy", &array), SA_FORMAT, "x.npy is truncated");
        free(part);
        assert_int_equal(truncate(scratch("a.npy"), (off_t)cut), 0);
        assert_fails(sa_npy_read(scratch("a.npy"), &array), SA_FORMAT, "a.npy is truncated");
    }
    sa_free(bytes);
}

static void files_of_another_kind_are_refused(void **state) {
    (void)state;
    sa_array array;
    assert_ok(sa_file_write(scratch("text.npy"), "not an array", 12));
    assert_fails(sa_npy_read(scratch("text.npy"), &array), SA_FORMAT, "text.npy is not an npy file");
    assert_fails(sa_npy_read(scratch("absent.npy"), &array), SA_FILE, "absent.npy cannot be opened");
    assert_fails(sa_npy_read(scratch_folder, &array), SA_FILE, "Is a directory");
    char bytes[70000];
    numpy_header(bytes, 2, "");
    bytes[9] = 1, bytes[10] = 1; /* 65536 and more */
    assert_fails(sa_npy_parse(bytes, sizeof bytes, "x.npy", &array), SA_FORMAT, "too long");
}

static void wrong_arrays_are_not_written(void **state) {
    (void)state;
    size_t ones[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    assert_fails(sa_npy_write(scratch("a.npy"), SA_UINT8, 9, ones, "x"), SA_INVALID, "9 axes");
    assert_fails(sa_npy_write(scratch("a.npy"), SA_DTYPE_COUNT, 1, ones, "x"), SA_INVALID, "type");
    assert_fails(sa_npy_write(scratch("a.npy"), SA_FLOAT64, 2, (size_t[]){SIZE_MAX, 2}, "x"), SA_INVALID,
                 "too large");
    assert_fails(sa_npy_write(scratch("no/a.npy"), SA_UINT8, 1, ones, "x"), SA_FILE,
                 "no/a.npy cannot be written");
    assert_false(sa_file_exists(scratch("a.npy")));
    size_t longest[8] = {0, SIZE_MAX / 8};
    for (int i = 2; i < 8; i++) longest[i] = 1;
    sa_array array;
    assert_ok(sa_npy_write(scratch("a.npy"), SA_UINT8, 8, longest, NULL));
    assert_ok(sa_npy_read(scratch("a.npy"), &array));
    assert_int_equal(array.shape[1], SIZE_MAX / 8);
    sa_array_clear(&array);
}

#define in_scratch(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        in_scratch(every_type_and_rank_comes_back),
        in_scratch(we_write_what_numpy_writes),
        cmocka_unit_test(numbers_come_out_as_doubles),
        cmocka_unit_test(versions_1_to_3_are_read),
        cmocka_unit_test(the_dictionary_may_be_written_in_other_ways),
        cmocka_unit_test(what_is_not_supported_is_said),
        cmocka_unit_test(damaged_dictionaries_are_refused),
        cmocka_unit_test(a_forged_shape_cannot_ask_for_memory),
        in_scratch(truncated_anywhere_is_refused),
        in_scratch(files_of_another_kind_are_refused),
        in_scratch(wrong_arrays_are_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
