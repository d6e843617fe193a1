/* For tests that write files: a folder of their own, and files of known contents. */
#ifndef TESTS_TEMPORARY_H
#define TESTS_TEMPORARY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/npy.h"

/* A fresh folder; the path stays valid. */
static inline const char *temporary_folder(void) {
    static char paths[16][64];
    static size_t next;
    char *path = paths[next++ % 16];
    strcpy(path, "/tmp/superarm-test-XXXXXX");
    assert_non_null(mkdtemp(path));
    return path;
}

/* "folder/name", valid for the next 255 calls. */
static inline const char *inside(const char *folder, const char *name) {
    static char paths[256][256];
    static size_t next;
    char path[256]; /* the folder may be one of the paths */
    assert_true(snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path);
    return memcpy(paths[next++ % 256], path, sizeof path);
}

static inline void write_text(const char *path, const char *text) {
    assert_int_equal(sa_file_write(path, text, strlen(text)), SA_OK);
}

static inline void assert_same_file(const char *one, const char *other) {
    char *a = NULL, *b = NULL;
    size_t size = 0, other_size = 0;
    if (sa_file_read(one, &a, &size) != SA_OK || sa_file_read(other, &b, &other_size) != SA_OK)
        fail_msg("%s", sa_last_error());
    if (size != other_size || memcmp(a, b, size)) fail_msg("%s and %s differ", one, other);
    sa_free(a);
    sa_free(b);
}

/* An npy file of doubles or floats, with numbers 0.01, 0.02, ... */
static inline const char *write_npy(const char *path, sa_dtype type, size_t axes, const size_t *shape) {
    size_t count = 1;
    for (size_t i = 0; i < axes; i++) count *= shape[i];
    double *numbers = calloc(count + 1, sizeof *numbers);
    float *floats = calloc(count + 1, sizeof *floats);
    for (size_t i = 0; i < count; i++) floats[i] = (float)(numbers[i] = 0.01 * (double)(i + 1));
    assert_int_equal(
        sa_npy_write(path, type, axes, shape, type == SA_FLOAT32 ? (void *)floats : (void *)numbers), SA_OK);
    free(floats);
    free(numbers);
    return path;
}

/* Changes one element of an npy file of doubles that write_npy wrote. */
static inline void poke_npy(const char *path, size_t index, double value) {
    sa_array array = {0};
    assert_int_equal(sa_npy_read(path, &array), SA_OK);
    ((double *)array.data)[index] = value;
    assert_int_equal(sa_npy_write(path, SA_FLOAT64, array.axes, array.shape, array.data), SA_OK);
    sa_array_clear(&array);
}

#endif
