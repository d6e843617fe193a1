/* Reading npz files: ours, sealed, and those of numpy.savez and numpy.savez_compressed. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/npy_format.h"
#include "base/npz_seal.h"

typedef struct member {
    char *name; /* without ".npy" */
    zip_uint64_t index;
} member;

struct sa_npz {
    char *path;
    zip_t *zip;
    zip_uint64_t file_size;
    bool ours;
    member *members;
    size_t count, capacity;
};

void sa_npz_close(sa_npz *archive) {
    if (!archive) return;
    for (size_t i = 0; i < archive->count; i++) sa_free(archive->members[i].name);
    sa_free(archive->members);
    if (archive->zip) zip_discard(archive->zip);
    sa_free(archive->path);
    sa_free(archive);
}

static sa_status open_zip(sa_npz *archive, int *file) {
    struct stat about;
    if (fstat(*file, &about)) return sa_fail_errno("read", archive->path);
    archive->file_size = (zip_uint64_t)about.st_size;
    int code;
    if (lseek(*file, 0, SEEK_SET) < 0) return sa_fail_errno("read", archive->path);
    archive->zip = zip_fdopen(*file, 0, &code);
    if (archive->zip) {
        *file = -1; /* libzip has it now */
        return SA_OK;
    }
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    sa_status status = sa_fail(SA_FORMAT, "%s is no npz file: %s", archive->path, zip_error_strerror(&error));
    zip_error_fini(&error);
    return status;
}

static sa_status list_members(sa_npz *archive) {
    zip_int64_t entries = zip_get_num_entries(archive->zip, 0);
    for (zip_int64_t i = 0; i < entries; i++) {
        const char *name = zip_get_name(archive->zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        size_t length = name ? strlen(name) : 0;
        if (length < 4 || strcmp(name + length - 4, ".npy")) continue;
        SA_TRY(sa_grow_array(&archive->members, &archive->capacity, archive->count + 1, sizeof(member)));
        member *fresh = &archive->members[archive->count];
        SA_TRY(sa_copy_text(name, &fresh->name));
        fresh->name[length - 4] = 0;
        fresh->index = (zip_uint64_t)i;
        archive->count++;
    }
    return SA_OK;
}

sa_status sa_npz_open(const char *path, sa_npz **out) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return sa_fail_errno("opened", path);
    sa_npz *archive = NULL;
    sa_status status;
    SA_TRY_OR_FAIL(sa_alloc_array(1, sizeof *archive, &archive));
    SA_TRY_OR_FAIL(sa_copy_text(path, &archive->path));
    SA_TRY_OR_FAIL(sa_seal_check(file, path, &archive->ours));
    SA_TRY_OR_FAIL(open_zip(archive, &file));
    SA_TRY_OR_FAIL(list_members(archive));
    *out = archive;
    return SA_OK;
fail:
    sa_npz_close(archive);
    if (file >= 0) close(file);
    return status;
}

bool sa_npz_is_ours(const sa_npz *archive) { return archive->ours; }

size_t sa_npz_count(const sa_npz *archive) { return archive->count; }

const char *sa_npz_name(const sa_npz *archive, size_t index) {
    return index < archive->count ? archive->members[index].name : NULL;
}

static const member *find(const sa_npz *archive, const char *name) {
    for (size_t i = 0; i < archive->count; i++)
        if (!strcmp(archive->members[i].name, name)) return &archive->members[i];
    return NULL;
}

bool sa_npz_has(const sa_npz *archive, const char *name) { return find(archive, name) != NULL; }

/* ---- one array ---- */

typedef struct zip_reader {
    zip_file_t *file;
    const char *name;
} zip_reader;

static sa_status damaged(const zip_reader *reader) {
    return sa_fail(SA_FORMAT, "%s is damaged: %s", reader->name, zip_file_strerror(reader->file));
}

static sa_status read_zip(void *user, void *buffer, size_t size) {
    const zip_reader *reader = user;
    for (char *next = buffer; size;) {
        zip_int64_t got = zip_fread(reader->file, next, size);
        if (got < 0) return damaged(reader);
        if (!got) return sa_fail(SA_FORMAT, "%s is truncated", reader->name);
        next += got;
        size -= (size_t)got;
    }
    return SA_OK;
}

/* Can that many bytes come out of what the file has? A forged size must not ask for memory. Deflate makes at
 * most 1032 bytes of one. */
static sa_status check_claim(const sa_npz *archive, const char *name, const zip_stat_t *about) {
    const zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    if ((about->valid & wanted) != wanted || about->comp_size > archive->file_size)
        return sa_fail(SA_FORMAT, "%s is damaged: its size is wrong", name);
    if (about->comp_method != ZIP_CM_STORE && about->comp_method != ZIP_CM_DEFLATE)
        return sa_fail(SA_FORMAT, "%s: compression method %d is not supported", name, about->comp_method);
    zip_uint64_t most = about->comp_size;
    if (about->comp_method == ZIP_CM_DEFLATE && __builtin_mul_overflow(most, 1032, &most)) most = PTRDIFF_MAX;
    if (about->size > most) return sa_fail(SA_FORMAT, "%s is damaged: its size is wrong", name);
    return SA_OK;
}

static sa_status load_member(sa_npz *archive, const member *m, const char *name, sa_array *out) {
    zip_stat_t about;
    if (zip_stat_index(archive->zip, m->index, 0, &about))
        return sa_fail(SA_FORMAT, "%s is damaged: %s", name, zip_strerror(archive->zip));
    SA_TRY(check_claim(archive, name, &about));
    zip_reader reader = {zip_fopen_index(archive->zip, m->index, 0), name};
    if (!reader.file) return sa_fail(SA_FORMAT, "%s is damaged: %s", name, zip_strerror(archive->zip));
    sa_array array = {0};
    sa_status status = sa_npy_load(&(sa_npy_stream){read_zip, &reader, about.size, name}, &array);
    char more;
    if (status == SA_OK && zip_fread(reader.file, &more, 1)) { /* at the end libzip compares the CRC */
        status = damaged(&reader);
        sa_array_clear(&array);
    }
    zip_fclose(reader.file);
    if (status == SA_OK) *out = array;
    return status;
}

sa_status sa_npz_get(sa_npz *archive, const char *name, sa_array *out) {
    const member *m = find(archive, name);
    if (!m) return sa_fail(SA_FORMAT, "%s has no array %s", archive->path, name);
    char *label;
    SA_TRY(sa_format(&label, "%s: %s", archive->path, name));
    sa_status status = load_member(archive, m, label, out);
    sa_free(label);
    return status;
}

sa_status sa_npz_get_exactly(sa_npz *archive, const char *name, sa_dtype type, size_t axes,
                             const size_t *shape, sa_array *out) {
    sa_array array;
    char found[SA_NPY_HEADER_ROOM], wanted[SA_NPY_HEADER_ROOM];
    SA_TRY(sa_npz_get(archive, name, &array));
    bool fits = !axes || (array.axes == axes && !memcmp(array.shape, shape, axes * sizeof *shape));
    if (array.type == type && fits) {
        *out = array;
        return SA_OK;
    }
    sa_status status;
    if (array.type != type)
        status = sa_fail(SA_FORMAT, "%s: %s is %s, not %s", archive->path, name, sa_dtype_name(array.type),
                         sa_dtype_name(type));
    else
        status = sa_fail(SA_FORMAT, "%s: %s has shape %s, not %s", archive->path, name,
                         sa_npy_shape_text(array.axes, array.shape, found),
                         sa_npy_shape_text(axes, shape, wanted));
    sa_array_clear(&array);
    return status;
}
