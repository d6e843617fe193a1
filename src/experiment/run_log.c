/* The decision log of a run: what an agent saw, chose and was told, as `superarm learn` reads it. */
#include <inttypes.h>
#include <stdio.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "experiment/experiment.h"
#include "logs/writer.h"

enum { FLUSH_SIZE = 1 << 16, DIGITS = 17 };

struct sa_run_log {
    sa_replacement file;
    sa_buffer buffer;
    const char *label; /* of the plan's */
    uint64_t run;
    size_t dim;
};

sa_status sa_run_log_begin(const sa_plan *plan, size_t agent, size_t run, sa_run_log **out) {
    sa_run_log *log;
    char *path;
    *out = NULL;
    if (!*plan->options->log) return SA_OK;
    SA_TRY(sa_results_part(plan, agent, run, "log", &path));
    sa_status status = sa_alloc_array(1, sizeof *log, &log);
    if (status == SA_OK) {
        log->file.file = -1;
        log->label = plan->agents[agent].label;
        log->run = plan->first_run + run;
        log->dim = plan->environment->dim;
        status = sa_replace_begin(path, &log->file);
        if (status == SA_OK)
            *out = log;
        else
            sa_run_log_abandon(log);
    }
    sa_free(path);
    return status;
}

void sa_run_log_abandon(sa_run_log *log) {
    if (!log) return;
    sa_replace_abandon(&log->file);
    sa_buffer_clear(&log->buffer);
    sa_free(log);
}

static sa_status flush(sa_run_log *log) {
    SA_TRY(log->buffer.status);
    sa_status status = sa_replace_write(&log->file, log->buffer.text, log->buffer.size);
    log->buffer.size = 0;
    return status;
}

sa_status sa_run_log_round(sa_run_log *log, uint64_t round, const sa_round *drawn, const sa_chosen *chosen,
                           const double *feedback) {
    char event[512], extra[80];
    sa_log_entry entry;
    if (!log) return SA_OK;
    sa_log_entry_clear(&entry);
    snprintf(event, sizeof event, "%.400s-%" PRIu64 "-%" PRIu64, log->label, log->run, round + 1);
    entry.event = event;
    entry.agent = log->label;
    entry.candidates = drawn->arms;
    entry.dim = log->dim;
    entry.contexts = drawn->contexts;
    entry.slate = chosen->slate;
    entry.arms = chosen->arms;
    entry.feedback = feedback;
    entry.extra = extra;
    entry.extra_size =
        (size_t)snprintf(extra, sizeof extra, "{\"run\":%" PRIu64 ",\"round\":%" PRIu64 "}", log->run, round + 1);
    sa_log_line_write(&log->buffer, &entry, DIGITS);
    return log->buffer.size >= FLUSH_SIZE || log->buffer.status != SA_OK ? flush(log) : SA_OK;
}

sa_status sa_run_log_finish(sa_run_log *log) {
    if (!log) return SA_OK;
    sa_status status = flush(log);
    if (status == SA_OK) status = sa_replace_commit(&log->file);
    sa_run_log_abandon(log); /* what is left of it */
    return status;
}
