/* Lines of a file, one at a time. What is read ahead is a block, and a longer line makes the block longer, up
 * to a limit: memory does not grow with the file. */
#ifndef SA_BASE_LINES_H
#define SA_BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define SA_LONGEST_LINE ((size_t)1 << 26)

typedef struct sa_lines {
    char *path;
    int file;
    char *block; /* bytes `from` to `to` of it are read, and not yet given */
    size_t room, from, to;
    bool ended;      /* nothing more to read */
    uint64_t number; /* of the line that was given last, from 1 */
    uint64_t bytes;  /* given so far */
} sa_lines;

/* Caller closes it, also after a failure. */
sa_status sa_lines_open(const char *path, sa_lines *lines);
void sa_lines_close(sa_lines *lines);
/* The next line that is not blank, without its end, valid until the next call; NULL after the last. `*whole`:
 * it has a line end. A line of more than SA_LONGEST_LINE bytes is SA_FORMAT, and the next call goes on behind
 * it. A byte order mark is passed over. */
sa_status sa_lines_next(sa_lines *lines, const char **text, size_t *size, bool *whole);

#endif
