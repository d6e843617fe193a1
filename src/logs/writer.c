/* Decisions to lines. A line is written only when a reader would take it. */
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text_file.h"
#include "logs/line.h"
#include "logs/writer.h"

struct sa_log_writer {
    sa_text_file out;
    sa_log_line check;
    int digits;
};

sa_status sa_log_writer_open(const char *path, int digits, sa_log_writer **out) {
    sa_log_writer *writer;
    if (digits < 0 || digits > 17)
        return sa_fail(SA_INVALID, "numbers of a log have 0 to 17 digits, not %d", digits);
    SA_TRY(sa_alloc_array(1, sizeof *writer, &writer));
    writer->digits = digits;
    sa_status status = sa_text_file_begin(&writer->out, path);
    if (status == SA_OK)
        *out = writer;
    else
        sa_log_writer_abandon(writer);
    return status;
}

void sa_log_writer_abandon(sa_log_writer *writer) {
    if (!writer) return;
    sa_text_file_abandon(&writer->out);
    sa_log_line_clear(&writer->check);
    sa_free(writer);
}

/* ---- one line ---- */

static void add_name(sa_buffer *buffer, const char *name) {
    sa_buffer_text(buffer, buffer->size > 0 && buffer->text[buffer->size - 1] == '{' ? "\"" : ",\"");
    sa_buffer_text(buffer, name);
    sa_buffer_text(buffer, "\":");
}

static void add_text(sa_buffer *buffer, const char *name, const char *text) {
    if (!text) return;
    add_name(buffer, name);
    sa_buffer_quote(buffer, text);
}

static void add_list(sa_buffer *buffer, const double *numbers, size_t count, int digits) {
    sa_buffer_text(buffer, "[");
    for (size_t i = 0; i < count; i++) {
        if (i > 0) sa_buffer_text(buffer, ",");
        sa_buffer_number(buffer, numbers[i], digits);
    }
    sa_buffer_text(buffer, "]");
}

static void add_numbers(sa_buffer *buffer, const char *name, const double *numbers, size_t count,
                        int digits) {
    if (!numbers) return;
    add_name(buffer, name);
    add_list(buffer, numbers, count, digits);
}

static void add_json(sa_buffer *buffer, const char *name, const char *json, size_t size) {
    if (!json) return;
    add_name(buffer, name);
    sa_buffer_bytes(buffer, json, size);
}

static void add_candidates(sa_buffer *buffer, const sa_log_entry *entry, int digits) {
    add_json(buffer, "context", entry->context, entry->context_size);
    add_json(buffer, "items", entry->items, entry->items_size);
    if (!entry->contexts) return;
    add_name(buffer, "contexts");
    sa_buffer_text(buffer, "[");
    for (size_t i = 0; i < entry->candidates; i++) {
        if (i > 0) sa_buffer_text(buffer, ",");
        add_list(buffer, entry->contexts + i * entry->dim, entry->dim, digits);
    }
    sa_buffer_text(buffer, "]");
}

static void add_slate(sa_buffer *buffer, const sa_log_entry *entry) {
    add_name(buffer, "slate");
    sa_buffer_text(buffer, "[");
    for (size_t i = 0; entry->arms && i < entry->slate; i++) {
        size_t arm = entry->arms[i];
        if (i > 0) sa_buffer_text(buffer, ",");
        if (entry->ids && arm < entry->candidates)
            sa_buffer_quote(buffer, entry->ids[arm]);
        else
            sa_buffer_format(buffer, "%zu", arm);
    }
    sa_buffer_text(buffer, "]");
}

void sa_log_line_write(sa_buffer *buffer, const sa_log_entry *entry, int digits) {
    size_t slate = entry->slate;
    sa_buffer_text(buffer, "{");
    add_text(buffer, "event", entry->event);
    add_text(buffer, "time", entry->time);
    add_text(buffer, "agent", entry->agent);
    if (entry->model >= 0) {
        add_name(buffer, "model");
        sa_buffer_format(buffer, "%" PRId64, entry->model);
    }
    add_candidates(buffer, entry, digits);
    add_slate(buffer, entry);
    add_name(buffer, "propensity");
    sa_buffer_number(buffer, entry->propensity, digits);
    add_numbers(buffer, "prefix_propensities", entry->prefix_propensities, slate, digits);
    add_numbers(buffer, "position_propensities", entry->position_propensities, slate, digits);
    if (entry->target_propensity == entry->target_propensity) { /* not NaN */
        add_name(buffer, "target_propensity");
        sa_buffer_number(buffer, entry->target_propensity, digits);
    }
    add_numbers(buffer, "target_prefix_propensities", entry->target_prefix_propensities, slate, digits);
    add_numbers(buffer, "target_position_propensities", entry->target_position_propensities, slate, digits);
    add_name(buffer, "feedback");
    if (entry->feedback)
        add_list(buffer, entry->feedback, slate, digits);
    else
        sa_buffer_text(buffer, "null");
    if (entry->total == entry->total) { /* not NaN */
        add_name(buffer, "total");
        sa_buffer_number(buffer, entry->total, digits);
    }
    if (!entry->final) sa_buffer_text(buffer, ",\"final\":false");
    if (entry->extra && entry->extra_size > 2) { /* an object: its pairs, without the braces */
        sa_buffer_text(buffer, ",");
        sa_buffer_bytes(buffer, entry->extra + 1, entry->extra_size - 2);
    }
    sa_buffer_text(buffer, "}\n");
}

/* ---- the file ---- */

/* Whatever the caller's JSON has in it, one line must come out, and the one that was meant. */
static sa_status check_line(sa_log_writer *writer, const sa_log_entry *entry, const char *text, size_t size) {
    const sa_log_entry *read = &writer->check.entry;
    if (memchr(text, '\n', size)) return sa_fail(SA_INVALID, "the JSON of an entry has a line end in it");
    SA_TRY(sa_log_line_parse(&writer->check, text, size));
    if (read->candidates != entry->candidates || read->slate != entry->slate || !read->ids != !entry->ids)
        return sa_fail(SA_INVALID, "the entry has %zu candidates, and what is written of it %zu",
                       entry->candidates, read->candidates);
    return SA_OK;
}

sa_status sa_log_writer_write(sa_log_writer *writer, const sa_log_entry *entry) {
    sa_buffer *buffer = &writer->out.buffer;
    SA_TRY(buffer->status);
    size_t before = buffer->size;
    sa_log_line_write(buffer, entry, writer->digits);
    SA_TRY(buffer->status);
    sa_status status = check_line(writer, entry, buffer->text + before, buffer->size - before - 1);
    if (status != SA_OK) {
        buffer->size = before;
        return status == SA_FORMAT ? SA_INVALID : status;
    }
    return sa_text_file_line(&writer->out);
}

sa_status sa_log_writer_finish(sa_log_writer *writer) {
    sa_status status = sa_text_file_commit(&writer->out);
    sa_log_writer_abandon(writer); /* what is left of it */
    return status;
}
