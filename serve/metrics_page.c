#include "metrics_page.h"

#include <math.h>
#include <string.h>

#include "clock.h"
#include "cluster.h"
#include "process.h"
#include "routes.h"
#include "sides.h"

static void head(sa_buffer *out, const char *name, const char *kind, const char *help) {
    sa_buffer_format(out, "# HELP superarm_%s %s\n# TYPE superarm_%s %s\n", name, help, name, kind);
}

static void one(sa_buffer *out, const char *name, const char *kind, const char *help, double value) {
    head(out, name, kind, help);
    sa_buffer_format(out, "superarm_%s %.17g\n", name, value);
}

static const char *route_name(size_t index) {
    return index < sv_route_count() ? sv_route_at(index)->name : "none";
}

/* Several routes may have one name (the parts of the page): they are added up. */
static bool is_first(size_t index) {
    for (size_t i = 0; i < index; i++)
        if (!strcmp(route_name(i), route_name(index))) return false;
    return true;
}

static void sum_up(sv_metrics *self, size_t index, uint64_t by_class[6], uint64_t buckets[METRICS_BUCKETS],
                   double *seconds) {
    memset(by_class, 0, 6 * sizeof *by_class);
    memset(buckets, 0, METRICS_BUCKETS * sizeof *buckets);
    *seconds = 0;
    for (size_t i = index; i < METRICS_ROUTES; i++) {
        if (strcmp(route_name(i), route_name(index))) continue;
        for (int k = 0; k < 6; k++) by_class[k] += atomic_load(&self->routes[i].by_class[k]);
        for (int k = 0; k < METRICS_BUCKETS; k++) buckets[k] += atomic_load(&self->routes[i].buckets[k]);
        *seconds += (double)atomic_load(&self->routes[i].microseconds) / 1e6;
    }
}

static void write_requests(sv_metrics *self, sa_buffer *out) {
    uint64_t by_class[6], buckets[METRICS_BUCKETS];
    double seconds;
    head(out, "requests_total", "counter", "Answers by route and class of status");
    for (size_t i = 0; i < METRICS_ROUTES; i++) {
        if (!is_first(i)) continue;
        sum_up(self, i, by_class, buckets, &seconds);
        for (int k = 1; k < 6; k++)
            if (by_class[k])
                sa_buffer_format(out, "superarm_requests_total{route=\"%s\",status=\"%dxx\"} %llu\n",
                                 route_name(i), k, (unsigned long long)by_class[k]);
    }
    head(out, "request_seconds", "histogram", "From the headers to the answer");
    for (size_t i = 0; i < METRICS_ROUTES; i++) {
        uint64_t below = 0;
        if (!is_first(i)) continue;
        sum_up(self, i, by_class, buckets, &seconds);
        for (int k = 0; k < METRICS_BUCKETS; k++) {
            below += buckets[k];
            if (k < METRICS_BUCKETS - 1)
                sa_buffer_format(out, "superarm_request_seconds_bucket{route=\"%s\",le=\"%g\"} %llu\n",
                                 route_name(i), METRICS_BOUNDS[k], (unsigned long long)below);
        }
        sa_buffer_format(out, "superarm_request_seconds_bucket{route=\"%s\",le=\"+Inf\"} %llu\n",
                         route_name(i), (unsigned long long)below);
        sa_buffer_format(out, "superarm_request_seconds_sum{route=\"%s\"} %.6f\n", route_name(i), seconds);
        sa_buffer_format(out, "superarm_request_seconds_count{route=\"%s\"} %llu\n", route_name(i),
                         (unsigned long long)below);
    }
}

static void write_disk(sv_service *service, sa_buffer *out) {
    sv_store_syncs syncs;
    sv_writer_counts counts;
    sv_learner_counts learnt;
    char sentence[480];
    uint64_t below = 0;
    sv_store_syncs_read(&syncs);
    sv_writer_count(service->writer, &counts);
    sv_learner_count(service->learner, &learnt);
    head(out, "fsync_seconds", "histogram", "Calls of fsync");
    for (int i = 0; i < 24; i++) {
        below += syncs.by_power[i];
        if (i % 2)
            sa_buffer_format(out, "superarm_fsync_seconds_bucket{le=\"%g\"} %llu\n", 1e-6 * (double)(1 << i),
                             (unsigned long long)below);
    }
    sa_buffer_format(out,
                     "superarm_fsync_seconds_bucket{le=\"+Inf\"} %llu\nsuperarm_fsync_seconds_sum "
                     "%.6f\nsuperarm_fsync_seconds_count %llu\n",
                     (unsigned long long)below, syncs.seconds, (unsigned long long)below);
    one(out, "commits_total", "counter", "Groups of rows that were committed", (double)counts.commits);
    one(out, "committed_jobs_total", "counter", "Requests in those groups", (double)counts.jobs);
    one(out, "failed_commits_total", "counter", "Groups that could not be committed",
        (double)counts.failures);
    one(out, "queue", "gauge", "Requests that wait for the disk", (double)sv_writer_queue(service->writer));
    one(out, "disk_ready", "gauge", "1: the journal can be written",
        !sv_writer_trouble(service->writer, sentence));
    size_t broken = sv_agents_broken(&service->agents, NULL);
    one(out, "learner_ready", "gauge", "1: every agent learns",
        broken == 0 && !sv_learner_trouble(service->learner, sentence));
    one(out, "agents_broken", "gauge", "Agents that cannot be opened, or cannot go on", (double)broken);
    one(out, "recovering", "gauge", "Agents that have not learnt again what they had before the start",
        (double)learnt.recovering);
    one(out, "learnt_rows_total", "counter", "Journal rows that the learner took", (double)learnt.rows);
    one(out, "publications_total", "counter", "Policies published", (double)learnt.publications);
    one(out, "checkpoints_total", "counter", "Checkpoints written", (double)learnt.checkpoints);
    one(out, "failed_checkpoints_total", "counter", "Checkpoints that could not be written",
        (double)learnt.failed_checkpoints);
    one(out, "checkpoint_seconds", "gauge", "Duration of the last checkpoint", learnt.checkpoint_seconds);
}

typedef double value_of(sv_agent *agent);
static double decisions(sv_agent *a) { return (double)atomic_load(&a->decisions); }
static double feedbacks(sv_agent *a) { return (double)atomic_load(&a->feedbacks); }
static double late(sv_agent *a) { return (double)atomic_load(&a->late); }
static double waiting(sv_agent *a) { return fmax(0, (double)(int64_t)atomic_load(&a->waiting)); }
static double learnt(sv_agent *a) { return (double)atomic_load(&a->learnt); }
static double skipped(sv_agent *a) { return (double)atomic_load(&a->skipped); }
static double trainings(sv_agent *a) { return (double)a->counts.trainings; }
static double diverged(sv_agent *a) { return (double)a->counts.diverged_trainings; }
static double bytes(sv_agent *a) { return (double)a->counts.bytes; }
static double train_seconds(sv_agent *a) { return a->counts.train_seconds; }
static double version(sv_agent *a) { return a->policy ? (double)sv_policy_version(a->policy) : 0; }
static double age(sv_agent *a) { return a->policy ? sv_clock_seconds() - a->policy_time : 0; }
static double behind(sv_agent *a) { return (double)atomic_load(&a->last_seq) - version(a); }
static double feedback_rate(sv_agent *a) { /* of this run and those before it */
    double made = decisions(a), got = feedbacks(a) + (double)atomic_load(&a->feedbacks_before);
    if (!atomic_load(&a->decisions_known) || !atomic_load(&a->feedbacks_known)) return NAN;
    return made > 0 ? got / made : 0;
}
static double seconds_behind(sv_agent *a) {
    return a->behind_since > 0 && behind(a) > 0 ? sv_clock_seconds() - a->behind_since : 0;
}
static double checkpoint_age(sv_agent *a) { return sv_clock_seconds() - atomic_load(&a->checkpoint_time); }
static double unchecked(sv_agent *a) {
    return (double)atomic_load(&a->last_seq) - (double)atomic_load(&a->checkpointed);
}
static double stored(sv_agent *a) { return a->catalogue ? (double)a->catalogue->count : 0; }
static double stored_bytes(sv_agent *a) {
    return a->catalogue ? (double)sv_catalogue_memory(a->catalogue) : 0;
}
static double stored_past(sv_agent *a) { return (double)atomic_load(&a->items_past); }
static double is_broken(sv_agent *a) { return atomic_load(&a->broken); }

static const struct {
    const char *name, *kind, *help;
    value_of *value;
} OF_AGENTS[] = {
    {"decisions_total", "counter", "Decisions made", decisions},
    {"feedback_total", "counter", "Feedback taken, late ones included", feedbacks},
    {"late_feedback_total", "counter", "Feedback after its event was learnt", late},
    {"feedback_rate", "gauge",
     "Feedback a decision, from the journal's first one on, or with --store from the server's start; left "
     "out "
     "until it is counted",
     feedback_rate},
    {"events_waiting", "gauge", "Events whose wait has not ended", waiting},
    {"events_learnt_total", "counter", "Events that entered the agent", learnt},
    {"events_skipped_total", "counter", "Events that did not fit the agent", skipped},
    {"trainings_total", "counter", "Trainings", trainings},
    {"diverged_trainings_total", "counter", "Trainings that were undone", diverged},
    {"training_seconds_total", "counter", "Spent in training", train_seconds},
    {"agent_bytes", "gauge", "Memory of the agent", bytes},
    {"policy_version", "gauge", "Journal row up to which the policy has learnt", version},
    {"policy_age_seconds", "gauge", "Since the policy was published", age},
    {"rows_behind", "gauge", "Journal rows that the policy has not learnt yet", behind},
    {"seconds_behind", "gauge", "Age of the first of these rows", seconds_behind},
    {"checkpoint_age_seconds", "gauge", "Since the last checkpoint", checkpoint_age},
    {"checkpoint_rows", "gauge", "Journal rows that the last checkpoint is without", unchecked},
    {"items", "gauge", "Items of the stored catalogue", stored},
    {"items_bytes", "gauge", "Memory of the stored catalogue", stored_bytes},
    {"items_past", "gauge", "Items as they were before, which decisions of the journal may name",
     stored_past},
    {"agent_broken", "gauge", "1: it cannot be opened, or cannot go on", is_broken},
};

/* Of the events learnt since the start: the sum of each one's feedback. */
static void write_rewards(sv_agent *const *all, size_t count, sa_buffer *out) {
    head(out, "reward", "summary", "Reward of the events learnt since the start, the sum of their feedback");
    for (size_t i = 0; i < count; i++) {
        pthread_mutex_lock(&all[i]->lock);
        double sum = all[i]->reward_sum, number = (double)all[i]->reward_count;
        pthread_mutex_unlock(&all[i]->lock);
        sa_buffer_format(
            out, "superarm_reward_sum{agent=\"%s\"} %.17g\nsuperarm_reward_count{agent=\"%s\"} %.17g\n",
            all[i]->name, sum, all[i]->name, number);
    }
}

/* Since the control was set: the mean reward of each side, the difference, and how like an apprentice's
 * slates are. What is not known is left out. */
static void write_sides(sv_agent *const *all, size_t count, sa_buffer *out) {
    static const char *const bounds[] = {"low", "value", "high"};
    head(out, "side_events", "gauge", "Events learnt by side since the control was set");
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < SIDES; k++)
            if (all[i]->since.sides[k].count > 0)
                sa_buffer_format(out, "superarm_side_events{agent=\"%s\",side=\"%s\"} %.17g\n", all[i]->name,
                                 sv_side_name((sv_decision_side)k), all[i]->since.sides[k].count);
    head(out, "side_reward", "gauge", "Their mean reward");
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < SIDES; k++)
            if (all[i]->since.sides[k].count > 0)
                sa_buffer_format(out, "superarm_side_reward{agent=\"%s\",side=\"%s\"} %.17g\n", all[i]->name,
                                 sv_side_name((sv_decision_side)k), all[i]->since.sides[k].mean);
    head(
        out, "side_difference", "gauge",
        "The agent's mean reward less the control's, and an interval of it that holds at all looks together");
    for (size_t i = 0; i < count; i++) {
        const sa_side *sides = all[i]->since.sides;
        sa_difference difference = sa_side_difference(&sides[SIDE_AGENT], &sides[SIDE_CONTROL]);
        const double values[] = {difference.low, difference.value, difference.high};
        for (size_t k = 0; k < 3; k++)
            if (isfinite(values[k]))
                sa_buffer_format(out, "superarm_side_difference{agent=\"%s\",bound=\"%s\"} %.17g\n",
                                 all[i]->name, bounds[k], values[k]);
    }
}

static double agrees(sv_agent *a) {
    const sv_agreement *self = &a->since.agreement;
    return self->events ? (double)self->whole / (double)self->events : NAN;
}
static double own_estimate(sv_agent *a) {
    const sv_agreement *self = &a->since.agreement;
    return self->events ? self->estimate / (double)self->events : NAN;
}

/* A client's text as a label's value. */
static void put_label(sa_buffer *out, const char *text) {
    for (; *text; text++) {
        if (*text == '\n')
            sa_buffer_format(out, "\\n");
        else
            sa_buffer_format(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    }
}

static void write_unknown(sv_agent *const *all, size_t count, sa_buffer *out) {
    head(out, "unknown_fields_total", "counter", "Values of fields that the agent's schema does not have");
    for (size_t i = 0; i < count; i++) {
        pthread_mutex_lock(&all[i]->lock);
        for (size_t k = 0; k < all[i]->unknown.count; k++) {
            const sv_unknown_field *field = &all[i]->unknown.fields[k];
            sa_buffer_format(out, "superarm_unknown_fields_total{agent=\"%s\",field=\"", all[i]->name);
            put_label(out, field->name);
            sa_buffer_format(out, "\"} %llu\n", (unsigned long long)field->values);
        }
        pthread_mutex_unlock(&all[i]->lock);
    }
}

static const struct {
    const char *name, *help;
    value_of *value;
} OF_APPRENTICES[] = {
    {"apprentice_agrees", "Share of events in which the apprentice's slate is the one that was shown",
     agrees},
    {"apprentice_reward", "Estimated mean reward of the apprentice's slates", own_estimate},
};

static void write_apprentices(sv_agent *const *all, size_t count, sa_buffer *out) {
    for (size_t k = 0; k < 2; k++) {
        head(out, OF_APPRENTICES[k].name, "gauge", OF_APPRENTICES[k].help);
        for (size_t i = 0; i < count; i++) {
            pthread_mutex_lock(&all[i]->lock);
            double value = OF_APPRENTICES[k].value(all[i]);
            pthread_mutex_unlock(&all[i]->lock);
            if (!isnan(value))
                sa_buffer_format(out, "superarm_%s{agent=\"%s\"} %.17g\n", OF_APPRENTICES[k].name,
                                 all[i]->name, value);
        }
    }
}

static void write_agents(sv_service *service, sa_buffer *out) {
    sv_agent *all[LIMIT_AGENTS + 1];
    size_t count = sv_agents_all(&service->agents, all);
    one(out, "agents", "gauge", "Agents", (double)count);
    for (size_t k = 0; k < sizeof OF_AGENTS / sizeof *OF_AGENTS; k++) {
        head(out, OF_AGENTS[k].name, OF_AGENTS[k].kind, OF_AGENTS[k].help);
        for (size_t i = 0; i < count; i++) {
            pthread_mutex_lock(&all[i]->lock);
            double value = OF_AGENTS[k].value(all[i]);
            pthread_mutex_unlock(&all[i]->lock);
            if (isnan(value)) continue; /* it is not known yet */
            sa_buffer_format(out, "superarm_%s{agent=\"%s\"} %.17g\n", OF_AGENTS[k].name, all[i]->name,
                             value);
        }
    }
    write_rewards(all, count, out);
    write_sides(all, count, out);
    write_apprentices(all, count, out);
    write_unknown(all, count, out);
    for (size_t i = 0; i < count; i++) sv_agent_release(all[i]);
}

static void write_process(sv_service *service, sa_buffer *out) {
    sv_process_facts facts;
    sv_process_look(service->folder.path, &facts);
    const struct {
        const char *name, *help;
        double value;
    } all[] = {{"resident_bytes", "Memory of the process", facts.resident_bytes},
               {"descriptors", "Open file descriptors", facts.descriptors},
               {"descriptors_limit", "The most there can be", facts.descriptors_most},
               {"journal_bytes", "The journal's file", facts.journal_bytes},
               {"log_bytes", "Its write-ahead log, which is folded in", facts.log_bytes},
               {"folder_bytes", "All files of the folder", facts.folder_bytes},
               {"disk_free_bytes", "Room on the folder's disk", facts.free_bytes},
               {"disk_bytes", "Size of the folder's disk", facts.disk_bytes}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!isnan(all[i].value)) one(out, all[i].name, "gauge", all[i].help, all[i].value);
}

static void write_cluster(sv_service *service, sa_buffer *out) {
    sv_cluster_counts counts;
    sv_cluster_count(service->cluster, &counts);
    one(out, "servers", "gauge", "Servers that share the database", (double)counts.servers);
    one(out, "agents_learnt_here", "gauge", "Agents that this server learns", (double)counts.held);
    one(out, "agents_lagging", "gauge", "Agents whose policy here is behind their rows",
        (double)counts.lagging);
    one(out, "lag_seconds", "gauge", "Age of the oldest row that a policy here is without",
        counts.lag_seconds);
    one(out, "policy_fetched_bytes_total", "counter", "Chunks of policies that were fetched",
        (double)counts.fetched_bytes);
    one(out, "policy_bytes_total", "counter", "The same policies, whole", (double)counts.policy_bytes);
    one(out, "policy_written_bytes_total", "counter", "Chunks of policies that were written",
        (double)counts.written_bytes);
}

void sv_metrics_page_write(sv_service *service, sa_buffer *out) {
    write_requests(&service->metrics, out);
    one(out, "connections", "gauge", "Open connections", (double)atomic_load(&service->connections));
    one(out, "connections_turned_away_total", "counter", "Connections closed for want of room",
        (double)atomic_load(&service->turned_away));
    one(out, "body_bytes", "gauge", "Bodies that are being read or answered",
        (double)atomic_load(&service->body_bytes));
    one(out, "memory_bytes", "gauge", "Memory of all agents", (double)sv_memory_of_agents(&service->agents));
    one(out, "memory_limit_bytes", "gauge", "Memory that agents may have (--memory)",
        (double)service->memory.most);
    one(out, "solver_failures_total", "counter", "Solvers that broke down, or took too long",
        (double)sv_solver_failures(service->solver));
    if (service->cluster) write_cluster(service, out);
    write_disk(service, out);
    write_process(service, out);
    write_agents(service, out);
}
