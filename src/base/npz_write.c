/* Writing npz files. The bytes depend on the arrays only: nothing is compressed, and all dates are the first
 * of 1980. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/npy_format.h"
#include "base/npz_seal.h"

typedef struct entry {
    char *name;   /* with ".npy" */
    char *header; /* SA_NPY_HEADER_ROOM bytes; the first fragment */
    zip_buffer_fragment_t *fragments;
    size_t count;
} entry;

struct sa_npz_writer {
    entry *entries;
    size_t count, capacity;
    void **owned;
    size_t owns, owned_capacity;
};

sa_status sa_npz_begin(sa_npz_writer **out) { return sa_alloc_array(1, sizeof **out, out); }

static void clear_entry(entry *e) {
    sa_free(e->name);
    sa_free(e->header);
    sa_free(e->fragments);
}

void sa_npz_abandon(sa_npz_writer *writer) {
    if (!writer) return;
    for (size_t i = 0; i < writer->count; i++) clear_entry(&writer->entries[i]);
    for (size_t i = 0; i < writer->owns; i++) sa_free(writer->owned[i]);
    sa_free(writer->owned);
    sa_free(writer->entries);
    sa_free(writer);
}

sa_status sa_npz_own(sa_npz_writer *writer, size_t count, size_t size, void *out) {
    void *memory;
    SA_TRY(sa_grow_array(&writer->owned, &writer->owned_capacity, writer->owns + 1, sizeof memory));
    SA_TRY(sa_alloc_array(count, size, &memory));
    writer->owned[writer->owns++] = memory;
    memcpy(out, &memory, sizeof memory);
    return SA_OK;
}

static sa_status check_pieces(const char *name, size_t needed, size_t pieces, const size_t *bytes) {
    size_t given = 0;
    for (size_t i = 0; i < pieces; i++)
        if (__builtin_add_overflow(given, bytes[i], &given))
            return sa_fail(SA_INVALID, "%s: its pieces are too large", name);
    if (given == needed) return SA_OK;
    return sa_fail(SA_INVALID, "%s: its pieces have %zu bytes, and its shape needs %zu", name, given, needed);
}

sa_status sa_npz_add_pieces(sa_npz_writer *writer, const char *name, sa_dtype type, size_t axes,
                            const size_t *shape, size_t pieces, const void *const *piece,
                            const size_t *bytes) {
    entry fresh = {0};
    size_t header_size, needed;
    sa_status status;
    SA_TRY_OR_FAIL(sa_format(&fresh.name, "%s.npy", name));
    for (size_t i = 0; i < writer->count; i++)
        if (!strcmp(writer->entries[i].name, fresh.name)) {
            status = sa_fail(SA_INVALID, "%s: there is an array of this name already", name);
            goto fail;
        }
    SA_TRY_OR_FAIL(sa_alloc_array(SA_NPY_HEADER_ROOM, 1, &fresh.header));
    SA_TRY_OR_FAIL(sa_npy_header_write(type, axes, shape, fresh.header, &header_size));
    sa_npy_bytes(type, axes, shape, &needed);
    SA_TRY_OR_FAIL(check_pieces(name, needed, pieces, bytes));
    SA_TRY_OR_FAIL(sa_alloc_array(pieces + 1, sizeof *fresh.fragments, &fresh.fragments));
    fresh.fragments[fresh.count++] = (zip_buffer_fragment_t){(zip_uint8_t *)fresh.header, header_size};
    for (size_t i = 0; i < pieces; i++)
        if (bytes[i])
            fresh.fragments[fresh.count++] = (zip_buffer_fragment_t){(zip_uint8_t *)piece[i], bytes[i]};
    SA_TRY_OR_FAIL(sa_grow_array(&writer->entries, &writer->capacity, writer->count + 1, sizeof fresh));
    writer->entries[writer->count++] = fresh;
    return SA_OK;
fail:
    clear_entry(&fresh);
    return status;
}

sa_status sa_npz_add(sa_npz_writer *writer, const char *name, sa_dtype type, size_t axes, const size_t *shape,
                     const void *data) {
    size_t bytes;
    if (axes > SA_NPY_MAX_AXES || !sa_npy_bytes(type, axes, shape, &bytes))
        bytes = 0; /* refused in a moment */
    return sa_npz_add_pieces(writer, name, type, axes, shape, 1, &data, &bytes);
}

static sa_status add_to_zip(zip_t *zip, const entry *e) {
    enum { FIRST_OF_1980 = 1 << 5 | 1 };
    zip_source_t *source = zip_source_buffer_fragment_create(e->fragments, e->count, 0, zip_get_error(zip));
    if (!source) return SA_FILE;
    zip_int64_t index = zip_file_add(zip, e->name, source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        zip_source_free(source);
        return SA_FILE;
    }
    if (zip_set_file_compression(zip, (zip_uint64_t)index, ZIP_CM_STORE, 0)) return SA_FILE;
    if (zip_file_set_dostime(zip, (zip_uint64_t)index, 0, FIRST_OF_1980, 0)) return SA_FILE;
    return SA_OK;
}

static sa_status write_zip(const sa_npz_writer *writer, const char *path, const char *target) {
    int code;
    zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (!zip) {
        zip_error_t error;
        zip_error_init_with_code(&error, code);
        sa_status status = sa_fail(SA_FILE, "%s cannot be written: %s", target, zip_error_strerror(&error));
        zip_error_fini(&error);
        return status;
    }
    sa_status status = SA_OK;
    for (size_t i = 0; status == SA_OK && i < writer->count; i++)
        status = add_to_zip(zip, &writer->entries[i]);
    if (status == SA_OK && zip_set_archive_comment(zip, SA_SEAL_BLANK, sizeof SA_SEAL_BLANK - 1))
        status = SA_FILE;
    if (status == SA_OK && !zip_close(zip)) return SA_OK;
    zip_error_t *error = zip_get_error(zip);
    bool is_system = zip_error_system_type(error) == ZIP_ET_SYS;
    status = sa_fail(is_system ? sa_status_of_errno(zip_error_code_system(error)) : SA_FILE,
                     "%s cannot be written: %s", target, zip_strerror(zip));
    zip_discard(zip);
    return status;
}

/* libzip replaces the file by one of its own, so the descriptor must be got again. */
static sa_status seal(sa_replacement *replacement) {
    close(replacement->file);
    replacement->file = open(replacement->temporary, O_RDWR | O_CLOEXEC);
    if (replacement->file < 0) return sa_fail_errno("written", replacement->target);
    return sa_seal_write(replacement->file, replacement->target);
}

static sa_status write_file(const sa_npz_writer *writer, const char *path) {
    if (!writer->count) return sa_fail(SA_INVALID, "%s would have no arrays", path);
    sa_replacement replacement;
    SA_TRY(sa_replace_begin(path, &replacement));
    sa_status status;
    if (!replacement.temporary)
        status = sa_fail(SA_FILE, "%s is not a regular file", path);
    else
        status = write_zip(writer, replacement.temporary, replacement.target);
    if (status == SA_OK) status = seal(&replacement);
    if (status == SA_OK) return sa_replace_commit(&replacement);
    sa_replace_abandon(&replacement);
    return status;
}

sa_status sa_npz_finish(sa_npz_writer *writer, const char *path) {
    sa_status status = write_file(writer, path);
    sa_npz_abandon(writer);
    return status;
}
