/* Bytes as a file, for functions that take a path: in memory, so that a fuzzer does not wear out a disk. */
#ifndef FUZZ_MEMORY_FILE_H
#define FUZZ_MEMORY_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/npz_seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline size_t fuzz_little(const uint8_t *at, int bytes) {
    size_t value = 0;
    for (int i = bytes - 1; i >= 0; i--) value = value << 8 | at[i];
    return value;
}

/* Puts the right CRC-32 into the entry whose directory record is at `record`, where all of it lies inside the
 * file. */
static inline void repair_entry(uint8_t *bytes, size_t size, size_t record) {
    size_t length = fuzz_little(bytes + record + 20, 4), local = fuzz_little(bytes + record + 42, 4);
    if (fuzz_little(bytes + record + 10, 2) || local > size - 30) return; /* compressed, or not there */
    size_t start = local + 30 + fuzz_little(bytes + local + 26, 2) + fuzz_little(bytes + local + 28, 2);
    if (start > size || length > size - start) return;
    uint32_t crc = sa_crc32(0, bytes + start, length);
    memcpy(bytes + record + 16, &crc, 4);
    memcpy(bytes + local + 14, &crc, 4);
}

/* No fuzzer guesses a CRC-32: those of the entries of a zip file are put right, and so is our seal where
 * there is one. */
static inline void repair(uint8_t *bytes, size_t size) {
    const size_t seal = sizeof SA_SEAL_BLANK - 1, words = sizeof SA_SEAL_WORDS - 1;
    size_t end = size < 22 ? 0 : size - 22;
    while (end && memcmp(bytes + end, "PK\5\6", 4)) end--;
    if (!end) return;
    size_t record = fuzz_little(bytes + end + 16, 4);
    for (int i = 0; i < 64 && record < end && end - record >= 46 && !memcmp(bytes + record, "PK\1\2", 4);
         i++) {
        size_t names = 0;
        for (int field = 28; field <= 32; field += 2) names += fuzz_little(bytes + record + field, 2);
        repair_entry(bytes, size, record);
        record += 46 + names;
    }
    if (size < seal || memcmp(bytes + size - seal, SA_SEAL_WORDS, words)) return;
    char digits[9];
    snprintf(digits, sizeof digits, "%08x", sa_crc32(0, bytes, size - 8));
    memcpy(bytes + size - 8, digits, 8);
}

/* The bytes, repaired. A descriptor, to be closed, and a path to it; -1 when there is none to be had. */
static inline int memory_file(const uint8_t *data, size_t size, char path[32]) {
    int file = (int)syscall(SYS_memfd_create, "fuzz", 0);
    uint8_t *bytes = malloc(size + 1);
    memcpy(bytes, data, size);
    repair(bytes, size);
    bool written = file >= 0 && write(file, bytes, size) == (ssize_t)size;
    free(bytes);
    if (written) {
        snprintf(path, 32, "/proc/self/fd/%d", file);
        return file;
    }
    if (file >= 0) close(file);
    return -1;
}

#endif
