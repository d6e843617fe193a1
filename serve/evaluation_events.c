/* An agent's events of a time span as two decision logs: what teaches, and what judges. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "evaluation_files.h"
#include "log_lines.h"

enum {
    EVENTS_MOST = 1000000,
    LINES_A_QUERY = 256, /* a query that is open for long would keep the log from being folded in */
    BYTES_A_QUERY = 1 << 20,
    ROWS_A_QUERY = 4096
};

typedef struct gathering {
    sv_evaluation_span *span;
    sa_buffer lines;
    size_t rows, count;
    uint64_t next; /* seq */
} sv_gathering;

static bool take_row(void *user, const sv_store_row *row) {
    sv_gathering *self = user;
    const sv_store_decision *of = &row->of;
    self->next = row->seq + 1;
    self->rows++;
    if (row->kind == ROW_LEARN && of->id && of->time >= self->span->from && of->time < self->span->to) {
        sv_log_line_learnt(&self->lines, self->span->name, row);
        self->count++;
    }
    return self->count < LINES_A_QUERY && self->lines.size < BYTES_A_QUERY && self->rows < ROWS_A_QUERY &&
           !self->lines.status;
}

/* One query's lines into the file; `more`: there may be others. */
static bool write_page(sv_store *store, sv_gathering *self, FILE *file, bool *more, sv_refusal *why) {
    self->lines.size = self->rows = self->count = 0;
    sv_store_status status =
        sv_store_rows(store, self->span->agent, self->next, (size_t)1 << 40, take_row, self);
    *more = self->rows > 0;
    if (status != STORE_OK) return sv_refuse(why, 503, "%s", sv_store_sentence(store));
    if (self->lines.status) return sv_refuse(why, 503, "memory could not be had");
    if (self->lines.size && fwrite(self->lines.text, 1, self->lines.size, file) != self->lines.size)
        return sv_refuse(why, 503, "the disk has no room for the events of the span");
    self->span->judged_by += self->count;
    if (self->span->judged_by > EVENTS_MOST)
        return sv_refuse(why, 409, "the span has more than %d events: choose a shorter one", EVENTS_MOST);
    if ((double)ftell(file) > self->span->room)
        return sv_refuse(why, 409, "the events of the span take more than %.0f MB: choose a shorter one",
                         self->span->room / 1048576);
    return true;
}

/* All of them, from the agent's last reset on. */
static bool write_all(sv_store *store, sv_evaluation_span *span, FILE *file, sv_refusal *why) {
    sv_gathering self = {.span = span};
    bool more = true, good = true;
    sv_store_status status = sv_store_row_reset(store, span->agent, 1, false, &self.next);
    if (status == STORE_NONE) self.next = 1; /* retention took it */
    if (status != STORE_OK && status != STORE_NONE)
        good = sv_refuse(why, 503, "%s", sv_store_sentence(store));
    while (good && more)
        good = atomic_load(span->stop) ? sv_refuse(why, 409, "it was stopped")
                                       : write_page(store, &self, file, &more, why);
    sa_buffer_clear(&self.lines);
    return good;
}

/* The lines behind the first `count` go into the other file. */
static bool split(FILE *from, FILE *to, uint64_t count) {
    char block[1 << 16];
    size_t size;
    long at = 0, end = -1;
    rewind(from);
    while ((size = fread(block, 1, sizeof block, from))) {
        size_t i = 0;
        for (; end < 0 && i < size; i++)
            if (block[i] == '\n' && --count == 0) end = at + (long)i + 1;
        if (end >= 0 && fwrite(block + i, 1, size - i, to) != size - i) return false;
        at += (long)size;
    }
    return end >= 0 && !ferror(from) && !fflush(from) && !ftruncate(fileno(from), end);
}

static FILE *open_file(const char *begin, sv_evaluation_file which, sa_buffer *path) {
    sv_evaluation_path(begin, which, path);
    return path->status ? NULL : fopen(path->text, "wb+");
}

bool sv_evaluation_events(sv_store *store, const char *begin, sv_evaluation_span *span, sv_refusal *why) {
    sa_buffer path = {0};
    FILE *past = open_file(begin, EVALUATION_PAST, &path), *later = open_file(begin, EVALUATION_LATER, &path);
    bool good = (past && later) || sv_refuse(why, 503, "the disk takes no file");
    span->learnt_from = span->judged_by = 0;
    if (good) good = write_all(store, span, past, why);
    uint64_t all = span->judged_by;
    span->learnt_from = (uint64_t)((double)all * span->split + 0.5);
    span->judged_by = all - span->learnt_from;
    if (good && (span->learnt_from < 1 || span->judged_by < 2))
        good =
            sv_refuse(why, 409,
                      "the span has %llu events that were learnt, which are too few to learn from one part "
                      "of them and to judge by the others",
                      (unsigned long long)all);
    if (good)
        good = split(past, later, span->learnt_from) ||
               sv_refuse(why, 503, "the disk has no room for the events of the span");
    if (past && fclose(past)) good = good && sv_refuse(why, 503, "the disk takes no file");
    if (later && fclose(later)) good = good && sv_refuse(why, 503, "the disk takes no file");
    sa_buffer_clear(&path);
    return good;
}
