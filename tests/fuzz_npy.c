/* Any bytes as an npy file and as an npz file: an array comes out, or a sentence; what comes out is
 * consistent. */
#include <stdlib.h>

#include "base/npy.h"
#include "fuzz_memory_file.h"

/* The bytes that the array says it has can be read. */
static void use(sa_array *array) {
    size_t count = sa_array_count(array);
    double sum = 0;
    if (array->axes > SA_NPY_MAX_AXES || array->type >= SA_DTYPE_COUNT) abort();
    if (count) sum = sa_array_number(array, 0) + sa_array_number(array, count - 1);
    volatile double keep = sum;
    (void)keep;
    sa_array_clear(array);
}

static void use_archive(const char *path) {
    sa_npz *archive;
    if (sa_npz_open(path, &archive) != SA_OK) {
        if (!*sa_last_error()) abort();
        return;
    }
    for (size_t i = 0; i < sa_npz_count(archive) && i < 16; i++) {
        sa_array array;
        if (!sa_npz_has(archive, sa_npz_name(archive, i))) abort();
        if (sa_npz_get(archive, sa_npz_name(archive, i), &array) == SA_OK) use(&array);
    }
    sa_npz_close(archive);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sa_array array;
    char path[32];
    if (sa_npy_parse(data, size, "fuzz", &array) == SA_OK) use(&array);
    if (size < 4 || memcmp(data, "PK", 2)) return 0;
    int file = memory_file(data, size, path);
    if (file < 0) return 0;
    use_archive(path);
    close(file);
    return 0;
}
