/* SHA-256 of files: which input a result came of. */
#ifndef SA_BASE_SHA256_H
#define SA_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include <superarm/sha256.h>

#include "base/status.h"

enum { SA_SHA256_TEXT = 65 };

/* As 64 hexadecimal digits. */
void sa_sha256_text(const void *data, size_t size, char text[SA_SHA256_TEXT]);
sa_status sa_sha256_file(const char *path, char text[SA_SHA256_TEXT], uint64_t *bytes);

#endif
