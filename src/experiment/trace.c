#include "experiment/trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "results/parts.h"

sa_status sa_trace_begin(sa_trace *trace, const char *path, const char *label, int digits) {
    sa_buffer quoted = {0};
    sa_buffer_quote(&quoted, label);
    *trace = (sa_trace){.out = SA_NO_TEXT_FILE, .label = quoted.text, .digits = digits};
    return quoted.status == SA_OK ? sa_text_file_begin(&trace->out, path) : quoted.status;
}

void sa_trace_clear(sa_trace *trace) {
    sa_text_file_abandon(&trace->out);
    sa_free(trace->label);
}

/* numbers (count), or NULL: none is known */
static void add_list(sa_trace *trace, const double *numbers, size_t count) {
    sa_buffer_text(&trace->out.buffer, "[");
    for (size_t i = 0; i < count; i++) {
        if (i > 0) sa_buffer_text(&trace->out.buffer, ",");
        sa_buffer_number(&trace->out.buffer, numbers ? numbers[i] : NAN, trace->digits);
    }
    sa_buffer_text(&trace->out.buffer, "]");
}

static void add_numbers(sa_trace *trace, const char *name, const double *numbers, size_t count) {
    sa_buffer_format(&trace->out.buffer, ",\"%s\":", name);
    add_list(trace, numbers, count);
}

static void add_number(sa_trace *trace, const char *name, double number) {
    sa_buffer_format(&trace->out.buffer, ",\"%s\":", name);
    sa_buffer_number(&trace->out.buffer, number, trace->digits);
}

/* One number a candidate, or a list of them, one for each position. */
static void add_candidates(sa_trace *trace, const char *name, const sa_chosen *chosen,
                           const double *numbers) {
    size_t arms = chosen->candidates, positions = chosen->positions;
    if (positions == 0) {
        add_numbers(trace, name, numbers, arms);
        return;
    }
    sa_buffer_format(&trace->out.buffer, ",\"%s\":[", name);
    for (size_t i = 0; i < arms; i++) {
        if (i > 0) sa_buffer_text(&trace->out.buffer, ",");
        add_list(trace, numbers + i * positions, positions);
    }
    sa_buffer_text(&trace->out.buffer, "]");
}

sa_status sa_trace_round(sa_trace *trace, uint64_t run, uint64_t round, const sa_chosen *chosen,
                         const double *feedback, double expected_regret, double realised_regret,
                         const sa_mixture *mixture, const sa_agent_counts *epoch) {
    sa_buffer *buffer = &trace->out.buffer;
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
    add_number(trace, "expected_regret", expected_regret);
    add_number(trace, "realised_regret", realised_regret);
    if (!isnan(mixture->b)) {
        add_number(trace, "a", mixture->a);
        add_number(trace, "b", mixture->b);
        add_number(trace, "c", mixture->c);
        add_number(trace, "unit", mixture->unit);
    }
    if (epoch)
        sa_buffer_format(buffer, ",\"epoch\":%" PRIu64 ",\"hidden\":%" PRIu64, epoch->epoch, epoch->hidden);
    sa_buffer_text(buffer, "}\n");
    return sa_text_file_line(&trace->out);
}

/* ---- joining ---- */

static sa_status append(const sa_replacement *whole, const char *path) {
    char bytes[1 << 16];
    FILE *part = fopen(path, "rbe");
    if (!part) return sa_fail_errno("opened", path);
    sa_status status = SA_OK;
    for (size_t size; status == SA_OK && (size = fread(bytes, 1, sizeof bytes, part)) > 0;)
        status = sa_replace_write(whole, bytes, size);
    if (status == SA_OK && ferror(part)) status = sa_fail_errno("read", path);
    fclose(part);
    return status;
}

sa_status sa_trace_join(const sa_results *results, const char *parts, const char *ending, const char *path) {
    sa_replacement whole;
    SA_TRY(sa_replace_begin(path, &whole));
    sa_status status = SA_OK;
    for (size_t i = 0; i < results->agent_count; i++)
        for (size_t run = 0; status == SA_OK && run < results->wanted; run++) {
            char *part;
            SA_TRY_OR_FAIL(
                sa_part_path(parts, results->agents[i].label, results->first_run + run, ending, &part));
            status = append(&whole, part);
            sa_free(part);
        }
    if (status == SA_OK) return sa_replace_commit(&whole);
fail:
    sa_replace_abandon(&whole);
    return status;
}
