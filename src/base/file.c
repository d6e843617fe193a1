#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/platform.h"
#include "base/temporary.h"

/* ---- reading ---- */

/* Reads to the end; a file may grow or shrink meanwhile, and a pipe has no size. */
static sa_status read_all(int file, const char *path, size_t expected, size_t most, char **data,
                          size_t *size) {
    char *bytes = NULL;
    size_t capacity = 0, used = 0;
    sa_status status;
    SA_TRY_OR_FAIL(
        sa_grow_array(&bytes, &capacity, expected + 2, 1)); /* the last byte, and one to see the end with */
    for (;;) {
        SA_TRY_OR_FAIL(sa_grow_array(&bytes, &capacity, used + 2, 1));
        ssize_t got = read(file, bytes + used, capacity - used - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            status = sa_fail_errno("read", path);
            goto fail;
        }
        if (!got) break;
        used += (size_t)got;
        if (used > most) {
            status = sa_fail(SA_FILE, "%s gives more than %zu bytes", path, most);
            goto fail;
        }
    }
    bytes[used] = 0;
    *data = bytes;
    *size = used;
    return SA_OK;
fail:
    sa_free(bytes);
    return status;
}

sa_status sa_file_read(const char *path, char **data, size_t *size) {
    const size_t most_of_pipe = (size_t)1 << 30; /* /dev/zero must not eat all memory */
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return sa_fail_errno("opened", path);
    struct stat about;
    sa_status status;
    if (fstat(file, &about))
        status = sa_fail_errno("read", path);
    else if (S_ISREG(about.st_mode))
        status = read_all(file, path, (size_t)about.st_size, PTRDIFF_MAX, data, size);
    else
        status = read_all(file, path, 0, most_of_pipe, data, size);
    close(file);
    return status;
}

bool sa_file_exists(const char *path) {
    struct stat about;
    return !stat(path, &about);
}

/* ---- writing ---- */

static void forget(sa_replacement *replacement) {
    sa_free(replacement->target);
    sa_free(replacement->temporary);
    *replacement = SA_NO_REPLACEMENT;
}

sa_status sa_replace_begin(const char *path, sa_replacement *out) {
    sa_replacement fresh = SA_NO_REPLACEMENT;
    struct stat about;
    bool exists = !stat(path, &about);
    char *resolved = exists ? realpath(path, NULL) : NULL; /* a link stays a link */
    sa_status status = sa_copy_text(resolved ? resolved : path, &fresh.target);
    free(resolved);
    if (status != SA_OK) goto fail;
    if (exists && !S_ISREG(about.st_mode)) { /* renaming over /dev/null would be a disaster */
        fresh.file = open(path, O_WRONLY | O_CLOEXEC);
        if (fresh.file < 0) {
            status = sa_fail_errno("written", path);
            goto fail;
        }
    } else {
        mode_t mode = exists ? about.st_mode & 0777 : 0666;
        fresh.folder = sa_temporary_folder(fresh.target);
        SA_TRY_OR_FAIL(sa_temporary_open(fresh.target, mode, &fresh.temporary, &fresh.file));
    }
    *out = fresh;
    return SA_OK;
fail:
    sa_replace_abandon(&fresh);
    return status;
}

sa_status sa_replace_write(const sa_replacement *replacement, const void *data, size_t size) {
    const char *from = data;
    while (size) {
        ssize_t put = write(replacement->file, from, size);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return sa_fail_errno("written", replacement->target);
        from += put;
        size -= (size_t)put;
    }
    return SA_OK;
}

void sa_replace_abandon(sa_replacement *replacement) {
    if (replacement->file >= 0) close(replacement->file);
    if (replacement->temporary) unlink(replacement->temporary);
    if (replacement->folder >= 0) close(replacement->folder); /* and the lock with it */
    forget(replacement);
}

sa_status sa_replace_commit(sa_replacement *replacement) {
    sa_status status = SA_OK;
    if (replacement->temporary && sa_sync_file(replacement->file))
        status = sa_fail_errno("written", replacement->target);
    if (close(replacement->file) && status == SA_OK) status = sa_fail_errno("written", replacement->target);
    replacement->file = -1;
    if (status == SA_OK && replacement->temporary) {
        if (rename(replacement->temporary, replacement->target)) {
            status = sa_fail_errno("written", replacement->target);
        } else {
            if (replacement->folder >= 0)
                sa_sync_file(replacement->folder); /* the new name; some file systems cannot */
            sa_free(replacement->temporary);
            replacement->temporary = NULL;
        }
    }
    sa_replace_abandon(replacement);
    return status;
}

sa_status sa_file_write(const char *path, const void *data, size_t size) {
    sa_replacement replacement;
    SA_TRY(sa_replace_begin(path, &replacement));
    sa_status status = sa_replace_write(&replacement, data, size);
    if (status == SA_OK) return sa_replace_commit(&replacement);
    sa_replace_abandon(&replacement);
    return status;
}

/* ---- texts and checksums ---- */

/* Slicing by 8: table[k][b] is the remainder of byte b followed by k zero bytes, so that eight bytes go at
 * once. */
uint32_t sa_crc32(uint32_t crc, const void *data, size_t size) {
    uint32_t table[8][256];
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t remainder = byte;
        for (int bit = 0; bit < 8; bit++)
            remainder = (remainder >> 1) ^ (UINT32_C(0xEDB88320) & (0u - (remainder & 1)));
        table[0][byte] = remainder;
    }
    for (int k = 1; k < 8; k++)
        for (int byte = 0; byte < 256; byte++)
            table[k][byte] = (table[k - 1][byte] >> 8) ^ table[0][table[k - 1][byte] & 255];

    const unsigned char *next = data;
    crc = ~crc;
    for (; size >= 8; size -= 8, next += 8) {
        uint64_t word;
        memcpy(&word, next, 8); /* little-endian: npy.h asserts it */
        word ^= crc;
        crc = table[7][word & 255] ^ table[6][word >> 8 & 255] ^ table[5][word >> 16 & 255] ^
              table[4][word >> 24 & 255] ^ table[3][word >> 32 & 255] ^ table[2][word >> 40 & 255] ^
              table[1][word >> 48 & 255] ^ table[0][word >> 56];
    }
    for (; size; size--) crc = (crc >> 8) ^ table[0][(crc ^ *next++) & 255];
    return ~crc;
}

sa_status sa_full_path(char **path) {
    char *resolved = **path ? realpath(*path, NULL) : NULL, *copy;
    if (!resolved) return SA_OK;
    sa_status status = sa_copy_text(resolved, &copy);
    free(resolved);
    SA_TRY(status);
    sa_free(*path);
    *path = copy;
    return SA_OK;
}
