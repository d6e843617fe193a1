/* NumPy's npy and npz files. Reading: little-endian, C order, format versions 1 to 3. Writing: version 1.
 *
 * A bad file is SA_FORMAT with the path and what is wrong; sizes are checked against the file before anything
 * is allocated, so a forged header cannot ask for memory. */
#ifndef SA_BASE_NPY_H
#define SA_BASE_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "arrays go to and from files as they are in memory");

enum { SA_NPY_MAX_AXES = 8 };

typedef enum sa_dtype { SA_FLOAT32, SA_FLOAT64, SA_INT32, SA_INT64, SA_UINT8, SA_DTYPE_COUNT } sa_dtype;

size_t sa_dtype_size(sa_dtype type);
const char *sa_dtype_name(sa_dtype type); /* "float32", as NumPy says */

typedef struct sa_array {
    sa_dtype type;
    size_t axes;
    size_t shape[SA_NPY_MAX_AXES];
    void *data; /* owned, 64-byte aligned; freed with sa_array_clear */
} sa_array;

/* Elements of an array. */
size_t sa_array_count(const sa_array *array);
void sa_array_clear(sa_array *array); /* leaves a zeroed struct */
/* Element as a double, whatever the type. */
double sa_array_number(const sa_array *array, size_t index);

/* `name` is for the sentence. */
sa_status sa_npy_parse(const void *bytes, size_t size, const char *name, sa_array *out);
sa_status sa_npy_read(const char *path, sa_array *out);
/* Atomically. */
sa_status sa_npy_write(const char *path, sa_dtype type, size_t axes, const size_t *shape, const void *data);

/* ---- npz: a zip of npy files, stored, that numpy.load opens ---- */

typedef struct sa_npz_writer sa_npz_writer;
/* Nothing is written before sa_npz_finish, so all data given must live until then. Arrays have names without
 * ".npy". */
sa_status sa_npz_begin(sa_npz_writer **out);
sa_status sa_npz_add(sa_npz_writer *writer, const char *name, sa_dtype type, size_t axes, const size_t *shape,
                     const void *data);
/* As sa_alloc_array, memory that the writer frees: for data that must be put together first. */
sa_status sa_npz_own(sa_npz_writer *writer, size_t count, size_t size, void *out);
/* The same for data in several pieces that follow one another; the arrays `piece` and `bytes` are copied, not
 * the data. */
sa_status sa_npz_add_pieces(sa_npz_writer *writer, const char *name, sa_dtype type, size_t axes,
                            const size_t *shape, size_t pieces, const void *const *piece,
                            const size_t *bytes);
/* Writes the file atomically, with a checksum of all its bytes in the zip comment; frees the writer either
 * way. */
sa_status sa_npz_finish(sa_npz_writer *writer, const char *path);
void sa_npz_abandon(sa_npz_writer *writer); /* NULL is fine */

typedef struct sa_npz sa_npz;
/* Opens and, where our checksum is there, verifies it: a flipped byte anywhere is SA_FORMAT. Files by
 * numpy.savez open too (stored or deflated). */
sa_status sa_npz_open(const char *path, sa_npz **out);
/* Did the file have our checksum (which was then right)? What must not be damaged, such as an agent, insists
 * on it. */
bool sa_npz_is_ours(const sa_npz *archive);
void sa_npz_close(sa_npz *archive); /* NULL is fine */
bool sa_npz_has(const sa_npz *archive, const char *name);
/* Reads one array; SA_FORMAT when it is absent or damaged. */
sa_status sa_npz_get(sa_npz *archive, const char *name, sa_array *out);
/* The same, and it must have this type and shape (axes 0: any shape). */
sa_status sa_npz_get_exactly(sa_npz *archive, const char *name, sa_dtype type, size_t axes,
                             const size_t *shape, sa_array *out);
/* Arrays in the file, in its order; entries that are no npy files are not counted. */
size_t sa_npz_count(const sa_npz *archive);
const char *sa_npz_name(const sa_npz *archive, size_t index); /* without ".npy"; NULL when there is none */

/* One number, kept as an array without axes: an integer within bounds, or a finite number. SA_FORMAT
 * otherwise. */
sa_status sa_npz_get_integer(sa_npz *archive, const char *name, int64_t least, int64_t most, int64_t *out);
sa_status sa_npz_get_number(sa_npz *archive, const char *name, double *out);
/* The file's `format`. */
sa_status sa_npz_format(sa_npz *archive, int64_t *format);

/* An array of exactly this type and shape (axes 0: one number), copied to `to`. */
sa_status sa_npz_read_into(sa_npz *archive, const char *name, sa_dtype type, size_t axes, const size_t *shape,
                           void *to);

#endif
