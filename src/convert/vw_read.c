/* A file of VW's dsjson, line by line. */
#include <inttypes.h>
#include <stdio.h>

#include "base/lines.h"
#include "base/memory.h"
#include "convert/vw_line.h"

typedef struct vw_source {
    sa_source base;
    sa_lines lines;
    sa_vw_line line;
    bool skip_bad;
    uint64_t decisions, skipped;
    bool cut_off;
    char first_bad[256], warning[512];
} vw_source;

static sa_status after_last(const vw_source *self) {
    if (self->decisions > 0) return SA_OK;
    return sa_fail(SA_FORMAT, "%s has no decisions%s%s", self->lines.path, *self->first_bad ? "; " : "",
                   self->first_bad);
}

static sa_status next(sa_source *source, const sa_log_entry **entry) {
    vw_source *self = (vw_source *)source;
    *entry = NULL;
    for (;;) {
        const char *text;
        size_t size;
        bool whole, parsed = false;
        sa_status status = sa_lines_next(&self->lines, &text, &size, &whole);
        if (status == SA_OK && !text) return after_last(self);
        if (status == SA_OK) status = sa_vw_line_parse(&self->line, text, size), parsed = true;
        if (status == SA_OK) {
            self->decisions++;
            self->line.entry.line = self->lines.number;
            *entry = &self->line.entry;
            return SA_OK;
        }
        if (status != SA_FORMAT) return status;
        if (parsed && !whole && self->line.json.cut_off) {
            self->cut_off = true;
            continue;
        }
        sa_fail_prefix(status, "%s:%" PRIu64 ": ", self->lines.path, self->lines.number);
        if (!self->skip_bad) return status;
        if (self->skipped++ == 0) snprintf(self->first_bad, sizeof self->first_bad, "%s", sa_last_error());
    }
}

static const char *warning(sa_source *source) {
    vw_source *self = (vw_source *)source;
    if (self->skipped)
        snprintf(self->warning, sizeof self->warning, "%" PRIu64 " line%s skipped; the first: %s",
                 self->skipped, self->skipped == 1 ? " was" : "s were", self->first_bad);
    else if (self->cut_off)
        snprintf(self->warning, sizeof self->warning,
                 "the last line, %" PRIu64 ", is cut off and was left out", self->lines.number);
    return self->warning;
}

static void close_source(sa_source *source) {
    vw_source *self = (vw_source *)source;
    sa_lines_close(&self->lines);
    sa_vw_line_clear(&self->line);
    sa_free(self);
}

sa_status sa_source_vw(const sa_conversion *conversion, sa_source **out) {
    vw_source *self;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base = (sa_source){next, warning, close_source};
    self->skip_bad = conversion->skip_bad;
    sa_status status = sa_lines_open(conversion->in, &self->lines);
    if (status == SA_OK)
        *out = &self->base;
    else
        close_source(&self->base);
    return status;
}
