#include "experiment/log.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "logs/writer.h"

enum { DIGITS = 17 };

sa_status sa_run_log_round(sa_run_log *log, uint64_t round, const sa_round *drawn, const sa_chosen *chosen,
                           const double *feedback, bool totals) {
    char event[512], extra[80];
    sa_log_entry entry;
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
