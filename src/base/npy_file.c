#include "base/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/npy_format.h"

size_t sa_array_count(const sa_array *array) {
    size_t count = 1;
    for (size_t i = 0; i < array->axes; i++) count *= array->shape[i]; /* checked when the array was read */
    return count;
}

void sa_array_clear(sa_array *array) {
    sa_free(array->data);
    *array = (sa_array){0};
}

double sa_array_number(const sa_array *array, size_t index) {
    switch (array->type) {
    case SA_FLOAT32: return ((const float *)array->data)[index];
    case SA_FLOAT64: return ((const double *)array->data)[index];
    case SA_INT32: return ((const int32_t *)array->data)[index];
    case SA_INT64: return (double)((const int64_t *)array->data)[index];
    case SA_UINT8: return ((const uint8_t *)array->data)[index];
    default: return 0;
    }
}

/* ---- reading ---- */

static sa_status truncated(const char *name) { return sa_fail(SA_FORMAT, "%s is truncated", name); }

/* The part before the dictionary: magic, version, and the dictionary's length in 2 bytes (version 1) or 4. */
static sa_status load_preamble(const sa_npy_stream *stream, size_t *preamble, size_t *length) {
    enum { LONGEST = 65535 };
    unsigned char start[12];
    if (stream->size < 8) return truncated(stream->name);
    SA_TRY(stream->read(stream->user, start, 8));
    if (memcmp(start, "\x93NUMPY", 6)) return sa_fail(SA_FORMAT, "%s is not an npy file", stream->name);
    if (start[6] < 1 || start[6] > 3 || start[7])
        return sa_fail(SA_FORMAT, "%s: version %d.%d of the npy format is not supported", stream->name,
                       start[6], start[7]);
    *preamble = start[6] == 1 ? 10 : 12;
    if (stream->size < *preamble) return truncated(stream->name);
    SA_TRY(stream->read(stream->user, start + 8, *preamble - 8));
    *length = start[8] | (size_t)start[9] << 8;
    if (start[6] > 1) *length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    if (*length > stream->size - *preamble) return truncated(stream->name);
    if (*length > LONGEST)
        return sa_fail(SA_FORMAT, "%s: a header of %zu bytes is too long", stream->name, *length);
    return SA_OK;
}

/* The shape must account for every byte that the file has left, so that only then memory is asked for. */
static sa_status check_size(const char *name, const sa_array *array, size_t left, size_t *bytes) {
    char shape[SA_NPY_HEADER_ROOM];
    bool possible = sa_npy_bytes(array->type, array->axes, array->shape, bytes);
    if (possible && *bytes == left) return SA_OK;
    sa_npy_shape_text(array->axes, array->shape, shape);
    if (!possible) return sa_fail(SA_FORMAT, "%s: shape %s is too large for memory", name, shape);
    if (*bytes > left)
        return sa_fail(SA_FORMAT, "%s is truncated: shape %s needs %zu bytes, and %zu are there", name, shape,
                       *bytes, left);
    return sa_fail(SA_FORMAT, "%s has %zu bytes after its array", name, left - *bytes);
}

sa_status sa_npy_load(const sa_npy_stream *stream, sa_array *out) {
    size_t preamble = 0, length = 0, bytes = 0;
    sa_array array;
    char *header;
    SA_TRY(load_preamble(stream, &preamble, &length));
    SA_TRY(sa_alloc_array(length, 1, &header));
    sa_status status = stream->read(stream->user, header, length);
    if (status == SA_OK) status = sa_npy_header_parse(header, length, stream->name, &array);
    sa_free(header);
    if (status != SA_OK) return status;
    SA_TRY(check_size(stream->name, &array, stream->size - preamble - length, &bytes));
    SA_TRY(sa_alloc_array(bytes, 1, &array.data));
    status = stream->read(stream->user, array.data, bytes);
    if (status != SA_OK)
        sa_array_clear(&array);
    else
        *out = array;
    return status;
}

static sa_status read_memory(void *user, void *buffer, size_t size) {
    const char **next = user; /* sa_npy_load asks for no more than the stream's size */
    if (size) memcpy(buffer, *next, size);
    *next += size;
    return SA_OK;
}

sa_status sa_npy_parse(const void *bytes, size_t size, const char *name, sa_array *out) {
    const char *next = bytes;
    return sa_npy_load(&(sa_npy_stream){read_memory, &next, size, name}, out);
}

typedef struct open_file {
    int descriptor;
    const char *path;
} open_file;

static sa_status read_file(void *user, void *buffer, size_t size) {
    const open_file *file = user;
    char *next = buffer;
    while (size) {
        ssize_t got = read(file->descriptor, next, size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return sa_fail_errno("read", file->path);
        if (!got) return truncated(file->path);
        next += got;
        size -= (size_t)got;
    }
    return SA_OK;
}

static sa_status read_pipe(const char *path, sa_array *out) {
    char *bytes;
    size_t size;
    SA_TRY(sa_file_read(path, &bytes, &size));
    sa_status status = sa_npy_parse(bytes, size, path, out);
    sa_free(bytes);
    return status;
}

sa_status sa_npy_read(const char *path, sa_array *out) {
    struct stat about;
    if (!stat(path, &about) && !S_ISREG(about.st_mode))
        return read_pipe(path, out); /* no size: all is read first */
    open_file file = {open(path, O_RDONLY | O_CLOEXEC), path};
    if (file.descriptor < 0) return sa_fail_errno("opened", path);
    sa_status status;
    if (fstat(file.descriptor, &about))
        status = sa_fail_errno("read", path);
    else
        status = sa_npy_load(&(sa_npy_stream){read_file, &file, (size_t)about.st_size, path}, out);
    close(file.descriptor);
    return status;
}

sa_status sa_npy_write(const char *path, sa_dtype type, size_t axes, const size_t *shape, const void *data) {
    char header[SA_NPY_HEADER_ROOM];
    size_t size, bytes;
    sa_replacement replacement;
    SA_TRY(sa_npy_header_write(type, axes, shape, header, &size));
    sa_npy_bytes(type, axes, shape, &bytes);
    SA_TRY(sa_replace_begin(path, &replacement));
    sa_status status = sa_replace_write(&replacement, header, size);
    if (status == SA_OK) status = sa_replace_write(&replacement, data, bytes);
    if (status == SA_OK) return sa_replace_commit(&replacement);
    sa_replace_abandon(&replacement);
    return status;
}
