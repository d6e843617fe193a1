/* Files: read whole, written atomically (a temporary beside the target, fsync, rename). */
#ifndef SA_BASE_FILE_H
#define SA_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* The whole file; one more byte, 0, follows so that text can be used as it is. Caller frees with sa_free. */
sa_status sa_file_read(const char *path, char **data, size_t *size);
sa_status sa_file_write(const char *path, const void *data, size_t size);
bool sa_file_exists(const char *path);
/* Makes the folder and its parents; fine when it exists. SA_FILE when something else has the name. */
sa_status sa_folder_make(const char *path);
/* True for a folder that holds nothing, or that does not exist. */
bool sa_folder_is_empty(const char *path);
/* Removes a file, or a folder with all that is in it; fine when absent. */
sa_status sa_path_remove(const char *path);
/* printf into a fresh text, freed with sa_free: paths are built with it. */
__attribute__((format(printf, 2, 3))) sa_status sa_format(char **out, const char *format, ...);
/* CRC-32 (the zip one) of the bytes, continued from `crc` (0 to begin). */
uint32_t sa_crc32(uint32_t crc, const void *data, size_t size);

#endif
