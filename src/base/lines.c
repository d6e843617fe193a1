#include "base/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

enum { BLOCK = 1 << 18 };

sa_status sa_lines_open(const char *path, sa_lines *lines) {
    *lines = (sa_lines){.file = -1};
    SA_TRY(sa_copy_text(path, &lines->path));
    SA_TRY(sa_grow_array(&lines->block, &lines->room, BLOCK, 1));
    lines->file = open(path, O_RDONLY | O_CLOEXEC);
    return lines->file < 0 ? sa_fail_errno("opened", path) : SA_OK;
}

void sa_lines_close(sa_lines *lines) {
    if (lines->file >= 0) close(lines->file);
    sa_free(lines->block);
    sa_free(lines->path);
    *lines = (sa_lines){.file = -1};
}

/* Reads more, behind what is there. */
static sa_status fill(sa_lines *lines) {
    if (lines->from > 0) {
        memmove(lines->block, lines->block + lines->from, lines->to - lines->from);
        lines->to -= lines->from;
        lines->from = 0;
    }
    if (lines->to == lines->room) SA_TRY(sa_grow_array(&lines->block, &lines->room, lines->room + BLOCK, 1));
    ssize_t got;
    do got = read(lines->file, lines->block + lines->to, lines->room - lines->to);
    while (got < 0 && errno == EINTR);
    if (got < 0) return sa_fail_errno("read", lines->path);
    lines->ended = got == 0;
    lines->to += (size_t)got;
    return SA_OK;
}

static sa_status too_long(void) {
    return sa_fail(SA_FORMAT, "the line is longer than %zu bytes", SA_LONGEST_LINE);
}

/* Passes over a line that is too long, of which no byte is kept. */
static sa_status pass_over(sa_lines *lines) {
    for (;;) {
        const char *stop = memchr(lines->block + lines->from, '\n', lines->to - lines->from);
        size_t size = (stop ? (size_t)(stop - lines->block) + 1 : lines->to) - lines->from;
        lines->bytes += size;
        lines->from += size;
        if (stop || lines->ended) return too_long();
        SA_TRY(fill(lines));
    }
}

/* A line, blank or not. */
static sa_status next_line(sa_lines *lines, const char **text, size_t *size, bool *whole) {
    const char *stop;
    size_t looked = 0; /* bytes that have no line end */
    *text = NULL;
    while (!(stop = memchr(lines->block + lines->from + looked, '\n', lines->to - lines->from - looked)) &&
           !lines->ended) {
        looked = lines->to - lines->from;
        if (looked > SA_LONGEST_LINE) {
            lines->number++;
            return pass_over(lines);
        }
        SA_TRY(fill(lines));
    }
    if (!stop && lines->from == lines->to) return SA_OK;
    size_t start = lines->from;
    *whole = stop != NULL;
    *size = (stop ? (size_t)(stop - lines->block) : lines->to) - start;
    lines->number++;
    lines->bytes += *size + *whole;
    lines->from += *size + *whole;
    if (*size > SA_LONGEST_LINE) return too_long();
    *text = lines->block + start;
    return SA_OK;
}

static bool is_blank(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r') return false;
    return true;
}

sa_status sa_lines_next(sa_lines *lines, const char **text, size_t *size, bool *whole) {
    do {
        SA_TRY(next_line(lines, text, size, whole));
        if (*text && lines->number == 1 && *size >= 3 && !memcmp(*text, "\xEF\xBB\xBF", 3))
            *text += 3, *size -= 3;
    } while (*text && is_blank(*text, *size));
    return SA_OK;
}
