/* The trace: one JSON object a line and round. Every job writes a file of its own; they are joined at the end, so that the
 * order does not depend on which run was first. */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "experiment/experiment.h"

enum { FLUSH_SIZE = 1 << 16 };

struct sa_trace {
    sa_replacement file;
    sa_buffer buffer;
    char *label; /* in quotes */
    int digits;
};

sa_status sa_trace_begin(const char *path, const char *label, int digits, sa_trace **out) {
    sa_trace *trace;
    SA_TRY(sa_alloc_array(1, sizeof *trace, &trace));
    trace->digits = digits;
    trace->file = SA_NO_REPLACEMENT;
    sa_buffer quoted = {0};
    sa_buffer_quote(&quoted, label);
    sa_status status = quoted.status;
    trace->label = quoted.text;
    if (status == SA_OK) status = sa_replace_begin(path, &trace->file);
    if (status == SA_OK)
        *out = trace;
    else
        sa_trace_abandon(trace);
    return status;
}

void sa_trace_abandon(sa_trace *trace) {
    if (!trace) return;
    sa_replace_abandon(&trace->file);
    sa_buffer_clear(&trace->buffer);
    sa_free(trace->label);
    sa_free(trace);
}

static sa_status flush(sa_trace *trace) {
    SA_TRY(trace->buffer.status);
    sa_status status = sa_replace_write(&trace->file, trace->buffer.text, trace->buffer.size);
    trace->buffer.size = 0;
    return status;
}

/* numbers (count), or NULL: none is known */
static void add_list(sa_trace *trace, const double *numbers, size_t count) {
    sa_buffer_text(&trace->buffer, "[");
    for (size_t i = 0; i < count; i++) {
        if (i > 0) sa_buffer_text(&trace->buffer, ",");
        sa_buffer_number(&trace->buffer, numbers ? numbers[i] : NAN, trace->digits);
    }
    sa_buffer_text(&trace->buffer, "]");
}

static void add_numbers(sa_trace *trace, const char *name, const double *numbers, size_t count) {
    sa_buffer_format(&trace->buffer, ",\"%s\":", name);
    add_list(trace, numbers, count);
}

/* One number a candidate, or a list of them, one for each position. */
static void add_candidates(sa_trace *trace, const char *name, const sa_chosen *chosen, const double *numbers) {
    size_t arms = chosen->candidates, positions = chosen->positions;
    if (positions == 0) {
        add_numbers(trace, name, numbers, arms);
        return;
    }
    sa_buffer_format(&trace->buffer, ",\"%s\":[", name);
    for (size_t i = 0; i < arms; i++) {
        if (i > 0) sa_buffer_text(&trace->buffer, ",");
        add_list(trace, numbers + i * positions, positions);
    }
    sa_buffer_text(&trace->buffer, "]");
}

sa_status sa_trace_round(sa_trace *trace, uint64_t run, uint64_t round, const sa_chosen *chosen, const double *feedback,
                         double expected_regret, double realised_regret, const sa_agent_counts *epoch) {
    sa_buffer *buffer = &trace->buffer;
    size_t slate = chosen->slate;
    sa_buffer_text(buffer, "{\"agent\":");
    sa_buffer_text(buffer, trace->label);
    sa_buffer_format(buffer, ",\"run\":%" PRIu64 ",\"round\":%" PRIu64, run, round);
    add_candidates(trace, "mean", chosen, chosen->mean);
    add_candidates(trace, "width", chosen, chosen->width);
    add_candidates(trace, "score", chosen, chosen->score);
    sa_buffer_text(buffer, ",\"slate\":[");
    for (size_t i = 0; i < slate; i++) sa_buffer_format(buffer, i ? ",%zu" : "%zu", chosen->arms[i]);
    sa_buffer_text(buffer, "]");
    add_numbers(trace, "feedback", feedback, slate);
    sa_buffer_text(buffer, ",\"expected_regret\":");
    sa_buffer_number(buffer, expected_regret, trace->digits);
    sa_buffer_text(buffer, ",\"realised_regret\":");
    sa_buffer_number(buffer, realised_regret, trace->digits);
    if (epoch) sa_buffer_format(buffer, ",\"epoch\":%" PRIu64 ",\"hidden\":%" PRIu64, epoch->epoch, epoch->hidden);
    sa_buffer_text(buffer, "}\n");
    return buffer->size >= FLUSH_SIZE || buffer->status != SA_OK ? flush(trace) : SA_OK;
}

sa_status sa_trace_finish(sa_trace *trace) {
    sa_status status = flush(trace);
    if (status == SA_OK) status = sa_replace_commit(&trace->file);
    sa_trace_abandon(trace); /* what is left of it */
    return status;
}

/* ---- joining ---- */

static sa_status append(const sa_replacement *whole, const char *path) {
    char bytes[FLUSH_SIZE];
    FILE *part = fopen(path, "rbe");
    if (!part) return sa_fail_errno("opened", path);
    sa_status status = SA_OK;
    for (size_t size; status == SA_OK && (size = fread(bytes, 1, sizeof bytes, part)) > 0;)
        status = sa_replace_write(whole, bytes, size);
    if (status == SA_OK && ferror(part)) status = sa_fail_errno("read", path);
    fclose(part);
    return status;
}

sa_status sa_trace_join(const sa_work *work, const char *ending, const char *path) {
    sa_replacement whole;
    SA_TRY(sa_replace_begin(path, &whole));
    sa_status status = SA_OK;
    for (size_t p = 0; p < work->plan_count; p++)
        for (size_t agent = 0; agent < work->plans[p]->agent_count; agent++)
            for (size_t run = 0; status == SA_OK && run < work->plans[p]->runs; run++) {
                char *part;
                SA_TRY_OR_FAIL(sa_results_part(work->plans[p], agent, run, ending, &part));
                status = append(&whole, part);
                sa_free(part);
            }
    if (status == SA_OK) return sa_replace_commit(&whole);
fail:
    sa_replace_abandon(&whole);
    return status;
}
