#include "experiment/log.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text_file.h"
#include "logs/writer.h"

enum { DIGITS = 17 };

struct sa_run_log {
    sa_text_file out;
    const char *label; /* the agent's */
    uint64_t run;
    size_t dim;
};

sa_status sa_run_log_begin(const char *path, const char *label, uint64_t run, size_t dim, sa_run_log **out) {
    sa_run_log *log;
    *out = NULL;
    if (!path) return SA_OK;
    sa_status status = sa_alloc_array(1, sizeof *log, &log);
    if (status == SA_OK) {
        log->label = label;
        log->run = run;
        log->dim = dim;
        status = sa_text_file_begin(&log->out, path);
        if (status == SA_OK)
            *out = log;
        else
            sa_run_log_abandon(log);
    }
    return status;
}

void sa_run_log_abandon(sa_run_log *log) {
    if (!log) return;
    sa_text_file_abandon(&log->out);
    sa_free(log);
}

sa_status sa_run_log_round(sa_run_log *log, uint64_t round, const sa_round *drawn, const sa_chosen *chosen,
                           const double *feedback, bool totals) {
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
    if (!totals) entry.feedback = feedback;
    if (totals) entry.total = 0;
    for (size_t k = 0; totals && k < chosen->slate; k++) entry.total += isnan(feedback[k]) ? 0 : feedback[k];
    if (chosen->prefix) {
        entry.propensity = chosen->propensity;
        entry.prefix_propensities = chosen->prefix;
        entry.position_propensities = chosen->position;
    }
    entry.extra = extra;
    entry.extra_size = (size_t)snprintf(extra, sizeof extra, "{\"run\":%" PRIu64 ",\"round\":%" PRIu64 "}",
                                        log->run, round + 1);
    sa_log_line_write(&log->out.buffer, &entry, DIGITS);
    return sa_text_file_line(&log->out);
}

sa_status sa_run_log_finish(sa_run_log *log) {
    if (!log) return SA_OK;
    sa_status status = sa_text_file_commit(&log->out);
    sa_run_log_abandon(log); /* what is left of it */
    return status;
}
