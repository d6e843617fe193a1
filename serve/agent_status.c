/* An agent as GET and the page show it. */
#include <math.h>

#include "agents.h"
#include "clock.h"

/* Rates over the bucket before this one and what there is of this one. */
static void write_rates(sv_agent *self, sa_buffer *out) {
    int64_t now = sv_clock_milliseconds(), number = now / 1000 / SERIES_SECONDS;
    double decisions = 0, feedbacks = 0,
           seconds = (double)(now - (number - 1) * SERIES_SECONDS * 1000) / 1000;
    for (int64_t i = number > 0 ? number - 1 : 0; i <= number; i++) {
        const sv_bucket *at = &self->series[i % SERIES_BUCKETS];
        if (at->number != i) continue;
        decisions += (double)at->decisions;
        feedbacks += (double)at->feedbacks;
    }
    sa_buffer_format(out, "\"rates\": {\"decisions_per_second\": %.3g, \"feedback_per_second\": %.3g}",
                     decisions / seconds, feedbacks / seconds);
}

/* Oldest first: [[seconds since 1970, decisions, feedback, learnt, mean feedback or null], ...]. */
static void write_series(sv_agent *self, sa_buffer *out) {
    int64_t number = sv_clock_milliseconds() / 1000 / SERIES_SECONDS;
    sa_buffer_format(out, ", \"series\": {\"seconds\": %d, \"rows\": [", SERIES_SECONDS);
    bool first = true;
    for (int64_t i = number < SERIES_BUCKETS ? 0 : number - SERIES_BUCKETS + 1; i <= number; i++) {
        const sv_bucket *at = &self->series[i % SERIES_BUCKETS];
        if (at->number != i) continue;
        sa_buffer_format(out, "%s[%lld, %llu, %llu, %llu, ", first ? "" : ", ", (long long)i * SERIES_SECONDS,
                         (unsigned long long)at->decisions, (unsigned long long)at->feedbacks,
                         (unsigned long long)at->learnt);
        sa_buffer_number(out, at->learnt ? at->reward / (double)at->learnt : NAN, 0);
        sa_buffer_format(out, "]");
        first = false;
    }
    sa_buffer_format(out, "]}, \"recent\": [");
    first = true;
    for (size_t i = 1; i <= RECENT; i++) {
        const char *json = self->recent[(self->recent_next + RECENT - i) % RECENT].json.text;
        if (!json) break;
        sa_buffer_format(out, "%s%s", first ? "" : ", ", json);
        first = false;
    }
    sa_buffer_format(out, "]");
}

/* After a start, what the journal has is counted while others are counted on: 0 stands for less than that. */
static unsigned long long get(atomic_uint_fast64_t *counter) {
    int64_t value = (int64_t)atomic_load(counter);
    return value > 0 ? (unsigned long long)value : 0;
}

void sv_agent_write(sv_agent *self, bool all, sa_buffer *out) {
    sa_buffer_format(out, "{\"name\": ");
    sa_buffer_quote(out, self->name);
    pthread_mutex_lock(&self->lock);
    const sa_agent_counts *counts = &self->counts;
    sa_buffer_format(out, ", \"settings\": ");
    sv_settings_write(self->settings, out);
    if (atomic_load(&self->broken)) {
        sa_buffer_format(out, ", \"broken\": ");
        sa_buffer_quote(out, self->why);
    }
    sa_buffer_format(out, ", \"model\": ");
    if (self->policy)
        sa_buffer_format(out, "%llu, \"model_age_seconds\": %.1f",
                         (unsigned long long)sv_policy_version(self->policy),
                         sv_clock_seconds() - self->policy_time);
    else
        sa_buffer_format(out, "null");
    sa_buffer_format(
        out,
        ", \"counts\": {\"decisions\": %llu, \"waiting\": %llu, \"held\": %llu, \"learnt\": %llu, "
        "\"feedback\": %llu, "
        "\"late\": %llu, \"retries\": %llu, \"skipped\": %llu, \"observations\": %llu, \"trainings\": %llu, "
        "\"diverged_trainings\": %llu, \"bytes\": %llu}, \"seq\": %llu, ",
        get(&self->decisions), get(&self->waiting), get(&self->held), get(&self->learnt),
        get(&self->feedbacks) + get(&self->feedbacks_before), get(&self->late) + get(&self->late_before),
        get(&self->retries), get(&self->skipped), (unsigned long long)counts->observations,
        (unsigned long long)counts->trainings, (unsigned long long)counts->diverged_trainings,
        (unsigned long long)counts->bytes, get(&self->last_seq));
    write_rates(self, out);
    sa_buffer_format(out, ", \"sides\": ");
    sv_since_write(&self->since, out);
    if (self->catalogue)
        sa_buffer_format(
            out, ", \"catalogue\": {\"version\": %llu, \"items\": %zu, \"bytes\": %zu, \"past\": %llu}",
            (unsigned long long)self->catalogue->version, self->catalogue->count, self->catalogue->bytes,
            get(&self->items_past));
    if (self->unknown.count) {
        sa_buffer_format(out, ", \"unknown_fields\": ");
        sv_unknown_write(&self->unknown, out);
    }
    if (all) write_series(self, out);
    pthread_mutex_unlock(&self->lock);
    sa_buffer_format(out, "}");
}
