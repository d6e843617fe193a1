/* Files: read whole, written atomically (a temporary beside the target, fsync, rename). */
#ifndef SA_BASE_FILE_H
#define SA_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"

/* The whole file; one more byte, 0, follows so that text can be used as it is. Caller frees with sa_free. */
sa_status sa_file_read(const char *path, char **data, size_t *size);
/* All of the new file or all of the old one, whatever happens. A device or pipe is written straight to. */
sa_status sa_file_write(const char *path, const void *data, size_t size);
bool sa_file_exists(const char *path);
/* Makes the folder and its parents; fine when it exists. SA_FILE when something else has the name. */
sa_status sa_folder_make(const char *path);
/* True for a folder that holds nothing but locks, or that does not exist. */
bool sa_folder_is_empty(const char *path);
/* Removes a file, or a folder with all that is in it (links are removed, not followed); fine when absent. */
sa_status sa_path_remove(const char *path);
/* CRC-32 (the zip one) of the bytes, continued from `crc` (0 to begin). */
uint32_t sa_crc32(uint32_t crc, const void *data, size_t size);

/* ---- writing in parts, atomically: begin, write to `file`, then commit or abandon ---- */

typedef struct sa_replacement {
    char *target;    /* where the file will be; links are resolved */
    char *temporary; /* where it is until then; NULL for a device or pipe, which is written straight to */
    int file;        /* descriptor, open for writing */
    /* descriptor of the temporary's folder, locked for others to see that there is one; -1: it could not be
     * had */
    int folder;
} sa_replacement;

#define SA_NO_REPLACEMENT ((sa_replacement){.file = -1, .folder = -1}) /* fine to abandon */

sa_status sa_replace_begin(const char *path, sa_replacement *out);
sa_status sa_replace_write(const sa_replacement *replacement, const void *data, size_t size);
/* fsync and rename; what begin made is freed either way, and the old file stays if it fails. */
sa_status sa_replace_commit(sa_replacement *replacement);
void sa_replace_abandon(sa_replacement *replacement);

/* Replaces the owned `*path` of a file that exists by its full path; any other text stays as it is. */
sa_status sa_full_path(char **path);

#endif
