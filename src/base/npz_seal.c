#include "base/npz_seal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

enum { WORDS = sizeof SA_SEAL_WORDS - 1, DIGITS = 8, SEAL = WORDS + DIGITS };

static sa_status read_at(int file, const char *path, off_t offset, void *buffer, size_t size) {
    for (char *next = buffer; size;) {
        ssize_t got = pread(file, next, size, offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return sa_fail_errno("read", path);
        if (!got) return sa_fail(SA_FORMAT, "%s is truncated", path);
        next += got;
        offset += got;
        size -= (size_t)got;
    }
    return SA_OK;
}

/* The digits that the first `size` bytes should have after them. */
static sa_status digits_of(int file, const char *path, off_t size, char digits[DIGITS + 1]) {
    const size_t most = size < 1 << 20 ? (size_t)size : 1 << 20;
    char *buffer;
    uint32_t crc = 0;
    sa_status status = SA_OK;
    SA_TRY(sa_alloc_array(most, 1, &buffer));
    for (off_t offset = 0; status == SA_OK && offset < size;) {
        size_t part = (size_t)(size - offset) < most ? (size_t)(size - offset) : most;
        status = read_at(file, path, offset, buffer, part);
        if (status == SA_OK) crc = sa_crc32(crc, buffer, part);
        offset += (off_t)part;
    }
    sa_free(buffer);
    snprintf(digits, DIGITS + 1, "%08" PRIx32, crc);
    return status;
}

static sa_status size_of(int file, const char *path, off_t *size) {
    struct stat about;
    if (fstat(file, &about)) return sa_fail_errno("read", path);
    if (!S_ISREG(about.st_mode)) return sa_fail(SA_FILE, "%s is not a regular file", path);
    *size = about.st_size;
    return SA_OK;
}

sa_status sa_seal_write(int file, const char *path) {
    char digits[DIGITS + 1];
    off_t size = 0;
    SA_TRY(size_of(file, path, &size));
    if (size < SEAL) return sa_fail(SA_FILE, "%s is too short for its seal", path);
    SA_TRY(digits_of(file, path, size - DIGITS, digits));
    if (pwrite(file, digits, DIGITS, size - DIGITS) != DIGITS) return sa_fail_errno("written", path);
    return SA_OK;
}

sa_status sa_seal_check(int file, const char *path, bool *sealed) {
    char seal[SEAL], digits[DIGITS + 1];
    off_t size = 0;
    SA_TRY(size_of(file, path, &size));
    *sealed = false;
    if (size < SEAL) return SA_OK;
    SA_TRY(read_at(file, path, size - SEAL, seal, SEAL));
    int wrong = 0;
    for (int i = 0; i < WORDS; i++) wrong += seal[i] != SA_SEAL_WORDS[i];
    if (wrong > WORDS / 3) return SA_OK; /* somebody else's file */
    SA_TRY(digits_of(file, path, size - DIGITS, digits));
    if (memcmp(digits, seal + WORDS, DIGITS))
        return sa_fail(SA_FORMAT, "%s is damaged: its checksum is not that of its bytes", path);
    *sealed = true;
    return SA_OK;
}
