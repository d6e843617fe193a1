/* Decisions of a log, one at a time. */
#include <inttypes.h>

#include "base/file.h"
#include "base/lines.h"
#include "base/memory.h"
#include "logs/line.h"

_Static_assert(SA_LONGEST_LINE == SA_LOG_LONGEST_LINE, "what the header says");

struct sa_log_reader {
    sa_lines lines;
    bool skip_bad;
    sa_log_counts counts;
    sa_log_line line;
    char *first_bad; /* the sentence of the first line that was skipped */
    char *warning;
};

void sa_log_reader_close(sa_log_reader *reader) {
    if (!reader) return;
    sa_lines_close(&reader->lines);
    sa_log_line_clear(&reader->line);
    sa_free(reader->first_bad);
    sa_free(reader->warning);
    sa_free(reader);
}

sa_status sa_log_reader_open(const char *path, bool skip_bad, sa_log_reader **out) {
    sa_log_reader *reader;
    if (!path || !*path) return sa_fail(SA_INVALID, "a log has no name");
    SA_TRY(sa_alloc_array(1, sizeof *reader, &reader));
    reader->skip_bad = skip_bad;
    sa_status status = sa_lines_open(path, &reader->lines);
    if (status == SA_OK)
        *out = reader;
    else
        sa_log_reader_close(reader);
    return status;
}

/* The sentence of a line that is wrong: kept where such lines are skipped. */
static sa_status bad_line(sa_log_reader *reader, sa_status status) {
    if (status != SA_FORMAT) return status;
    reader->counts.bad++;
    sa_fail_prefix(status, "%s:%" PRIu64 ": ", reader->lines.path, reader->lines.number);
    if (!reader->skip_bad) return status;
    return reader->first_bad ? SA_OK : sa_copy_text(sa_last_error(), &reader->first_bad);
}

static sa_status after_last(const sa_log_reader *reader) {
    const sa_log_counts *counts = &reader->counts;
    if (counts->decisions + counts->bad > 0) {
        if (counts->decisions > 0 || !reader->skip_bad) return SA_OK;
        return sa_fail(SA_FORMAT, "%s has no line that is a decision; %s", reader->lines.path,
                       reader->first_bad);
    }
    return sa_fail(SA_FORMAT,
                   counts->cut_off ? "%s has no decision but one that is cut off" : "%s has no decisions",
                   reader->lines.path);
}

sa_status sa_log_reader_next(sa_log_reader *reader, const sa_log_entry **entry) {
    *entry = NULL;
    for (;;) {
        const char *text;
        size_t size;
        bool whole, cut_off = false;
        sa_status status = sa_lines_next(&reader->lines, &text, &size, &whole);
        if (status == SA_OK && !text) return after_last(reader);
        if (status == SA_OK) {
            status = sa_log_line_parse(&reader->line, text, size);
            cut_off = status == SA_FORMAT && !whole && reader->line.json.cut_off;
        }
        if (status == SA_OK) {
            reader->counts.decisions++;
            reader->line.entry.line = reader->lines.number;
            *entry = &reader->line.entry;
            return SA_OK;
        }
        if (cut_off)
            reader->counts.cut_off = 1;
        else
            SA_TRY(bad_line(reader, status));
    }
}

void sa_log_reader_count(const sa_log_reader *reader, sa_log_counts *counts) {
    *counts = reader->counts;
    counts->lines = reader->lines.number;
    counts->bytes = reader->lines.bytes;
}

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
        status = sa_format(&cut, "%s: the last line, %" PRIu64 ", is cut off and was left out",
                           reader->lines.path, reader->lines.number);
    if (status == SA_OK)
        sa_format(&reader->warning, "%s%s%s", cut ? cut : "", cut && skipped ? "; " : "",
                  skipped ? skipped : "");
    sa_free(skipped);
    sa_free(cut);
    return reader->warning ? reader->warning : "";
}
