/* The seal of our npz files: the zip comment, which is the end of the file, says "superarm crc32 XXXXXXXX",
 * the CRC-32 of all bytes before those eight digits. It is found as the file's last bytes, not through the
 * zip's own structure, so that a damaged structure cannot hide it. */
#ifndef SA_BASE_NPZ_SEAL_H
#define SA_BASE_NPZ_SEAL_H

#include <stdbool.h>

#include "base/status.h"

#define SA_SEAL_WORDS "superarm crc32 "
#define SA_SEAL_BLANK SA_SEAL_WORDS "00000000"

/* Writes the right digits over the last eight bytes of a file that ends in SA_SEAL_BLANK. */
sa_status sa_seal_write(int file, const char *path);
/* *sealed: the file has a seal, and it is right. SA_FORMAT when it is wrong, or is a seal but for a few
 * bytes. */
sa_status sa_seal_check(int file, const char *path, bool *sealed);

#endif
