/* Lines of a log, one at a time. What is read ahead is a block, and a longer line makes the block longer. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "logs/line.h"

enum { BLOCK = 1 << 18 };

struct sa_log_reader {
    char *path;
    bool skip_bad;
    int file;
    char *block; /* bytes `from` to `to` of it are read, and not yet used */
    size_t room, from, to;
    bool ended; /* nothing more to read */
    sa_log_counts counts;
    sa_log_line line;
    char *first_bad; /* the sentence of the first line that was skipped */
    char *warning;
};

void sa_log_reader_close(sa_log_reader *reader) {
    if (!reader) return;
    if (reader->file >= 0) close(reader->file);
    sa_log_line_clear(&reader->line);
    sa_free(reader->block);
    sa_free(reader->first_bad);
    sa_free(reader->warning);
    sa_free(reader->path);
    sa_free(reader);
}

sa_status sa_log_reader_open(const char *path, bool skip_bad, sa_log_reader **out) {
    sa_log_reader *reader;
    if (!path || !*path) return sa_fail(SA_INVALID, "a log has no name");
    SA_TRY(sa_alloc_array(1, sizeof *reader, &reader));
    reader->skip_bad = skip_bad;
    reader->file = -1;
    sa_status status;
    SA_TRY_OR_FAIL(sa_copy_text(path, &reader->path));
    SA_TRY_OR_FAIL(sa_grow_array(&reader->block, &reader->room, BLOCK, 1));
    reader->file = open(path, O_RDONLY | O_CLOEXEC);
    if (reader->file < 0) {
        status = sa_fail_errno("opened", path);
        goto fail;
    }
    *out = reader;
    return SA_OK;
fail:
    sa_log_reader_close(reader);
    return status;
}

/* Reads more, behind what is there. */
static sa_status fill(sa_log_reader *reader) {
    if (reader->from > 0) {
        memmove(reader->block, reader->block + reader->from, reader->to - reader->from);
        reader->to -= reader->from;
        reader->from = 0;
    }
    if (reader->to == reader->room) SA_TRY(sa_grow_array(&reader->block, &reader->room, reader->room + BLOCK, 1));
    ssize_t got;
    do got = read(reader->file, reader->block + reader->to, reader->room - reader->to);
    while (got < 0 && errno == EINTR);
    if (got < 0) return sa_fail_errno("read", reader->path);
    reader->ended = got == 0;
    reader->to += (size_t)got;
    return SA_OK;
}

/* Passes over a line that is too long, of which no byte is kept. */
static sa_status pass_over(sa_log_reader *reader) {
    for (;;) {
        const char *stop = memchr(reader->block + reader->from, '\n', reader->to - reader->from);
        if (stop) {
            size_t size = (size_t)(stop - reader->block) + 1 - reader->from;
            reader->counts.bytes += size;
            reader->from += size;
            break;
        }
        reader->counts.bytes += reader->to - reader->from;
        reader->from = reader->to = 0;
        if (reader->ended) break;
        SA_TRY(fill(reader));
    }
    return sa_fail(SA_FORMAT, "the line is longer than %zu bytes", SA_LOG_LONGEST_LINE);
}

/* The next line, without its end; `*size` SIZE_MAX after the last. `*whole`: it has a line end. */
static sa_status next_line(sa_log_reader *reader, const char **text, size_t *size, bool *whole) {
    const char *stop = NULL;
    size_t looked = 0; /* bytes that have no line end */
    *size = SIZE_MAX;
    while (!(stop = memchr(reader->block + reader->from + looked, '\n', reader->to - reader->from - looked)) &&
           !reader->ended) {
        looked = reader->to - reader->from;
        if (looked > SA_LOG_LONGEST_LINE) {
            reader->counts.lines++;
            return pass_over(reader);
        }
        SA_TRY(fill(reader));
    }
    if (!stop && reader->from == reader->to) return SA_OK;
    *text = reader->block + reader->from;
    *whole = stop != NULL;
    *size = (stop ? (size_t)(stop - reader->block) : reader->to) - reader->from;
    reader->counts.lines++;
    reader->counts.bytes += *size + *whole;
    reader->from += *size + *whole;
    if (*size > SA_LOG_LONGEST_LINE) return sa_fail(SA_FORMAT, "the line is longer than %zu bytes", SA_LOG_LONGEST_LINE);
    return SA_OK;
}

static bool is_blank(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r') return false;
    return true;
}

/* The sentence of a line that is wrong: kept where such lines are skipped. */
static sa_status bad_line(sa_log_reader *reader, sa_status status) {
    if (status != SA_FORMAT) return status;
    reader->counts.bad++;
    sa_fail_prefix(status, "%s:%" PRIu64 ": ", reader->path, reader->counts.lines);
    if (!reader->skip_bad) return status;
    return reader->first_bad ? SA_OK : sa_copy_text(sa_last_error(), &reader->first_bad);
}

static sa_status after_last(const sa_log_reader *reader) {
    const sa_log_counts *counts = &reader->counts;
    if (counts->decisions + counts->bad > 0) {
        if (counts->decisions > 0 || !reader->skip_bad) return SA_OK;
        return sa_fail(SA_FORMAT, "%s has no line that is a decision; %s", reader->path, reader->first_bad);
    }
    return sa_fail(SA_FORMAT, counts->cut_off ? "%s has no decision but one that is cut off" : "%s has no decisions",
                   reader->path);
}

sa_status sa_log_reader_next(sa_log_reader *reader, const sa_log_entry **entry) {
    *entry = NULL;
    for (;;) {
        const char *text = "";
        size_t size;
        bool whole;
        sa_status status = next_line(reader, &text, &size, &whole);
        if (status == SA_OK && size == SIZE_MAX) return after_last(reader);
        if (status == SA_OK && reader->counts.lines == 1 && size >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3))
            text += 3, size -= 3; /* a byte order mark */
        if (status == SA_OK && is_blank(text, size)) continue;
        bool parsed = status == SA_OK;
        if (parsed) status = sa_log_line_parse(&reader->line, text, size);
        if (status == SA_OK) {
            reader->counts.decisions++;
            reader->line.entry.line = reader->counts.lines;
            *entry = &reader->line.entry;
            return SA_OK;
        }
        if (status == SA_FORMAT && parsed && !whole && reader->line.json.cut_off)
            reader->counts.cut_off = 1;
        else
            SA_TRY(bad_line(reader, status));
    }
}

void sa_log_reader_count(const sa_log_reader *reader, sa_log_counts *counts) { *counts = reader->counts; }

const char *sa_log_reader_warning(sa_log_reader *reader) {
    const sa_log_counts *counts = &reader->counts;
    char *skipped = NULL, *cut = NULL;
    sa_status status = SA_OK;
    sa_free(reader->warning);
    reader->warning = NULL;
    if (reader->first_bad && counts->bad > 0)
        status = sa_format(&skipped, "%" PRIu64 " line%s skipped; the first: %s", counts->bad,
                           counts->bad == 1 ? " was" : "s were", reader->first_bad);
    if (status == SA_OK && counts->cut_off)
        status =
            sa_format(&cut, "%s: the last line, %" PRIu64 ", is cut off and was left out", reader->path, counts->lines);
    if (status == SA_OK)
        sa_format(&reader->warning, "%s%s%s", cut ? cut : "", cut && skipped ? "; " : "", skipped ? skipped : "");
    sa_free(skipped);
    sa_free(cut);
    return reader->warning ? reader->warning : "";
}
