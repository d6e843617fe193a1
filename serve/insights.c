#include "insights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "closing.h"
#include "insights_type.h"

static const double SECONDS = 1;

/* ---- one event ---- */

static void count_item(sv_insights *self, const char *id, double reward) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *c = id; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    size_t at = (size_t)(hash % (2 * INSIGHT_ITEMS));
    while (self->items[at].id && strcmp(self->items[at].id, id)) at = (at + 1) % (2 * INSIGHT_ITEMS);
    if (!self->items[at].id) {
        self->more_items = self->more_items || self->item_count == INSIGHT_ITEMS;
        if (self->item_count == INSIGHT_ITEMS || !(self->items[at].id = strdup(id))) return;
        self->item_count++;
    }
    self->items[at].shown.count++;
    self->items[at].shown.sum += reward;
}

/* An even sample of all, whatever their number (Vitter's algorithm R, with a generator of its own so that the
 * page does not change from look to look). */
static void keep_sample(sv_insights *self, const double *context, double answer) {
    size_t dim = self->settings->dim, at = self->sample_count;
    uint64_t mixed = (++self->sample_seen * 0x9e3779b97f4a7c15u);
    mixed = (mixed ^ mixed >> 31) * 0xbf58476d1ce4e5b9u;
    if (at == INSIGHT_SAMPLES &&
        (at = (size_t)((mixed ^ mixed >> 29) % self->sample_seen)) >= INSIGHT_SAMPLES)
        return;
    memcpy(self->samples + at * dim, context, dim * sizeof *context);
    self->answers[at] = answer;
    if (self->sample_count < INSIGHT_SAMPLES) self->sample_count++;
}

/* Of the places in order: was the arm less likely than not, given those above it? */
static void count_chances(sv_insights *self, const char *answer) {
    sa_json json = {0};
    double before = 1;
    size_t list = sa_json_parse(&json, answer, strlen(answer)) == SA_OK
                      ? sa_json_find(&json, 0, "prefix_propensities")
                      : 0;
    if (list && json.nodes[list].kind == SA_JSON_ARRAY)
        for (size_t at = list + 1; at < json.nodes[list].next; at = json.nodes[at].next) {
            double prefix = json.nodes[at].kind == SA_JSON_NUMBER ? sa_json_number(&json, at) : NAN;
            if (!(prefix > 0)) break;
            self->chances++;
            self->unlikely += prefix < 0.5 * before;
            before = prefix;
        }
    sa_json_clear(&json);
}

static void take_arms(sv_insights *self, const sv_store_row *row, const sv_ask *ask, const double *scores,
                      const bool *observed) {
    size_t arms, dim;
    const double *contexts = sa_request_candidates(ask->request, &arms, &dim);
    for (size_t k = 0; k < row->of.arm_count; k++) {
        size_t arm = row->of.arms[k];
        if (arm >= arms || dim != self->settings->dim) continue;
        const char *id = sa_request_id(ask->request, arm);
        if (observed[k] && k < INSIGHT_PLACES) {
            self->places[k].count++;
            self->places[k].sum += scores[k];
        }
        if (id) count_item(self, id, observed[k] ? scores[k] : sv_settings_total(self->settings) ? NAN : 0);
        if (observed[k]) keep_sample(self, contexts + arm * dim, scores[k]);
    }
}

static bool take_row(void *user, const sv_store_row *row) {
    sv_insights *self = user;
    sv_refusal unread = {0};
    sv_ask ask = {0};
    size_t count = row->of.arm_count;
    bool any, total = sv_settings_total(self->settings);
    if (row->kind != ROW_LEARN || !row->of.id) return true;
    double *scores = calloc(count + 1, sizeof *scores);
    bool *observed = calloc(count + 1, sizeof *observed);
    if (scores && observed &&
        sv_closing_read(row->data, row->size, scores, observed, sv_closing_count(self->settings, &row->of),
                        &any) &&
        sv_ask_read(&ask, self->settings, row->of.body, row->of.body_size, NULL, &unread)) {
        if (!self->events++) self->first = row->of.time;
        self->last = row->of.time;
        if (total) observed[0] = false; /* of no place: it is the whole slate's */
        take_arms(self, row, &ask, scores, observed);
        if (row->of.side == SIDE_AGENT) count_chances(self, row->of.answer);
    } else
        self->unread++;
    sv_ask_free(&ask);
    free(scores);
    free(observed);
    return sv_clock_seconds() < self->until;
}

/* ---- JSON ---- */

static void write_time(sa_buffer *out, const char *name, int64_t milliseconds) {
    time_t seconds = (time_t)(milliseconds / 1000);
    struct tm day;
    char date[40];
    gmtime_r(&seconds, &day);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &day);
    sa_buffer_format(out, "\"%s\": \"%s\"", name, date);
}

static void write_count(sa_buffer *out, const sv_insight_count *count) {
    sa_buffer_format(out, "\"shown\": %llu, \"mean\": ", (unsigned long long)count->count);
    sa_buffer_number(out, count->count ? count->sum / (double)count->count : NAN, 0);
}

static int by_count(const void *one, const void *other) {
    const sv_insight_item *a = one, *b = other;
    if (a->shown.count != b->shown.count) return a->shown.count < b->shown.count ? 1 : -1;
    return a->id && b->id ? strcmp(a->id, b->id) : (b->id != NULL) - (a->id != NULL);
}

static void write_items(sv_insights *self, sa_buffer *out) {
    qsort(self->items, 2 * INSIGHT_ITEMS, sizeof *self->items, by_count);
    sa_buffer_format(out, ", \"items\": {\"different\": %zu, \"more\": %s, \"most_shown\": [",
                     self->item_count, self->more_items ? "true" : "false");
    for (size_t i = 0; i < INSIGHT_SHOWN && self->items[i].id; i++) {
        sa_buffer_text(out, i ? ", {\"id\": " : "{\"id\": ");
        sa_buffer_quote(out, self->items[i].id);
        sa_buffer_text(out, ", ");
        write_count(out, &self->items[i].shown);
        sa_buffer_text(out, "}");
    }
    sa_buffer_text(out, "]}");
}

static void write_all(sv_insights *self, sa_buffer *out) {
    size_t places = INSIGHT_PLACES;
    sa_buffer_format(out, "{\"events\": %llu, \"unread\": %llu", (unsigned long long)self->events,
                     (unsigned long long)self->unread);
    if (self->events) {
        sa_buffer_text(out, ", ");
        write_time(out, "from", self->first);
        sa_buffer_text(out, ", ");
        write_time(out, "to", self->last);
    }
    while (places && !self->places[places - 1].count) places--;
    sa_buffer_text(out, ", \"places\": [");
    for (size_t k = 0; k < places; k++) {
        sa_buffer_text(out, k ? ", {" : "{");
        write_count(out, &self->places[k]);
        sa_buffer_text(out, "}");
    }
    sa_buffer_format(out, "], \"chance\": {\"places\": %llu, \"unlikely\": %llu}",
                     (unsigned long long)self->chances, (unsigned long long)self->unlikely);
    write_items(self, out);
    sa_buffer_text(out, ", \"features\": ");
    sv_insights_features(self, out);
    sa_buffer_text(out, "}");
}

static bool gather(sv_insights *self, sv_store *store, sv_agent *agent, sv_refusal *why) {
    uint64_t last = atomic_load(&agent->last_seq), from = last > INSIGHT_ROWS ? last - INSIGHT_ROWS + 1 : 1;
    self->items = calloc(2 * INSIGHT_ITEMS, sizeof *self->items);
    self->samples = calloc(INSIGHT_SAMPLES * self->settings->dim + 1, sizeof *self->samples);
    self->answers = calloc(INSIGHT_SAMPLES, sizeof *self->answers);
    if (!self->items || !self->samples || !self->answers)
        return sv_refuse(why, 503, "memory could not be had");
    self->until = sv_clock_seconds() + SECONDS;
    sv_store_status status = sv_store_rows(store, agent->id, from, INSIGHT_ROWS, take_row, self);
    return status == STORE_OK || sv_refuse(why, 503, "%s", sv_store_sentence(store));
}

bool sv_insights_write(sv_store *store, sv_agent *agent, sa_buffer *out, sv_refusal *why) {
    sv_policy *policy = NULL;
    sv_settings *settings = NULL;
    if (!sv_agent_is_sound(agent, why)) return false;
    if (!sv_agent_serving(agent, &policy, &settings))
        return sv_refuse(why, 503, "agent %s is being recovered", agent->name);
    sv_insights self = {.settings = settings, .policy = policy};
    bool good = gather(&self, store, agent, why);
    if (good) write_all(&self, out);
    for (size_t i = 0; self.items && i < 2 * INSIGHT_ITEMS; i++) free(self.items[i].id);
    free(self.items);
    free(self.samples);
    free(self.answers);
    sv_policy_release(policy);
    sv_settings_release(settings);
    return good;
}
