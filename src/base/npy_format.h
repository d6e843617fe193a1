/* What the files of npy and npz share: the header of an npy file, and reading one from wherever its bytes
 * come. */
#ifndef SA_BASE_NPY_FORMAT_H
#define SA_BASE_NPY_FORMAT_H

#include "base/npy.h"

enum { SA_NPY_HEADER_ROOM = 320 }; /* the longest header we write: 8 axes of 20 digits, in steps of 64 */

/* Bytes of the elements; false when that is more than memory can have. An axis of 0 counts as 1 in the check,
 * so that a product of some of the axes cannot overflow either. */
bool sa_npy_bytes(sa_dtype type, size_t axes, const size_t *shape, size_t *bytes);
/* A version 1 header, laid out as NumPy does. */
sa_status sa_npy_header_write(sa_dtype type, size_t axes, const size_t *shape,
                              char header[SA_NPY_HEADER_ROOM], size_t *size);
/* The Python dictionary in a header: fills type, axes and shape. */
sa_status sa_npy_header_parse(const char *text, size_t size, const char *name, sa_array *out);
/* "(3, 4)" as NumPy says it. Returns `text`. */
char *sa_npy_shape_text(size_t axes, const size_t *shape, char text[SA_NPY_HEADER_ROOM]);

typedef struct sa_npy_stream {
    /* Reads exactly this many bytes, or fails with a sentence. */
    sa_status (*read)(void *user, void *buffer, size_t size);
    void *user;
    size_t size;      /* of the npy file */
    const char *name; /* for sentences */
} sa_npy_stream;

sa_status sa_npy_load(const sa_npy_stream *stream, sa_array *out);

#endif
