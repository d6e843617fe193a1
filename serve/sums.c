#include "sums.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apprentice.h"
#include "clock.h"
#include "values.h"

enum { DAY = 24, HOURS_KEPT = 14 * DAY, DAYS_KEPT = 2 * 366 };
static const double TAKING_SECONDS = 0.1; /* for what other servers have counted, in one transaction */

typedef struct opened {
    int64_t agent;
    sv_hour *hour;
    bool left; /* it has what is added alone, for the server that has the rest */
    struct opened *next;
} sv_opened;

static sv_store_status drop_all(sv_sums *self, sv_store_status status) {
    while (self->first) {
        sv_opened *next = self->first->next;
        free(self->first->hour);
        free(self->first);
        self->first = next;
    }
    return status;
}

/* ---- hours become days ---- */

typedef struct day {
    int64_t first; /* hour; -1: none was found yet */
    sv_hour *sum;
    bool failed;
} sv_day;

/* The first day that still has hours. */
static bool add_hour(void *user, const sv_store_hour *row) {
    sv_day *self = user;
    int64_t first = row->hour - row->hour % DAY;
    if (self->first >= 0 && first != self->first) { /* the day is whole */
        if (self->sum) return false;
    }
    if (self->first != first) {
        free(self->sum);
        self->sum = NULL;
        self->first = first;
    }
    sv_hour *hour = sv_hour_read(row->hour, row->data);
    if (!hour) return self->failed = true, false;
    if (hour->span == DAY) { /* done before */
        free(hour);
        return true;
    }
    if (!self->sum) {
        self->sum = hour;
        return true;
    }
    sv_hour_merge(self->sum, hour);
    free(hour);
    return true;
}

static sv_store_status fold_day(sv_store *store, int64_t agent, int64_t now) {
    sv_day day = {.first = -1};
    int64_t limit = now - HOURS_KEPT;
    sa_buffer json = {0};
    sv_store_status status = sv_store_hours_delete(store, agent, 0, now - (int64_t)DAYS_KEPT * DAY);
    if (status == STORE_OK) status = sv_store_hours(store, agent, 0, limit - limit % DAY, add_hour, &day);
    if (status == STORE_OK && day.sum && !day.failed) {
        day.sum->span = DAY;
        sv_hour_write(day.sum, true, &json);
        status = json.status ? STORE_LATER : sv_store_hours_delete(store, agent, day.first, day.first + DAY);
        if (status == STORE_OK) status = sv_store_hour_put(store, agent, day.first, json.text, false);
    }
    free(day.sum);
    sa_buffer_clear(&json);
    return status;
}

/* ---- the present hour ---- */

static sv_store_status open_hour(sv_store *store, int64_t agent, sv_opened *out) {
    sv_store_hour newest;
    sv_store_status status = sv_store_hour_newest(store, agent, &newest);
    if (status != STORE_OK && status != STORE_NONE) return status;
    out->left = newest.left;
    int64_t now = newest.now / HOUR_MILLISECONDS;
    sv_hour *before = status == STORE_OK ? sv_hour_read(newest.hour, newest.data) : NULL;
    if (before && before->hour >= now && before->span == 1) {
        out->hour = before;
        return STORE_OK;
    }
    sv_hour *hour = sv_hour_new(now);
    if (hour && before) hour->since = before->since;
    free(before);
    if (!hour) return STORE_LATER;
    out->hour = hour;
    return status == STORE_OK ? fold_day(store, agent, now) : STORE_OK;
}

sv_store_status sv_sums_hour(sv_sums *self, sv_store *store, int64_t agent, sv_hour **out) {
    for (sv_opened *each = self->first; each; each = each->next)
        if (each->agent == agent) return *out = each->hour, STORE_OK;
    sv_opened *opened = calloc(1, sizeof *opened);
    sv_store_status status = opened ? open_hour(store, agent, opened) : STORE_LATER;
    if (status != STORE_OK) {
        if (opened) free(opened->hour);
        free(opened);
        return status;
    }
    opened->agent = agent;
    opened->next = self->first;
    self->first = opened;
    *out = opened->hour;
    return STORE_OK;
}

static sv_store_status write_all(sv_job *base, sv_store *store) {
    sv_sums *self = (sv_sums *)((char *)base - offsetof(sv_sums, last));
    sv_store_status status = STORE_OK;
    for (sv_opened *each = self->first; each && status == STORE_OK; each = each->next) {
        sa_buffer json = {0};
        sv_hour_write(each->hour, true, &json);
        status = json.status ? STORE_LATER
                             : sv_store_hour_put(store, each->agent, each->hour->hour, json.text, each->left);
        sa_buffer_clear(&json);
    }
    return status;
}

static void publish_all(sv_job *base, sv_store_status status) {
    sv_sums *self = (sv_sums *)((char *)base - offsetof(sv_sums, last));
    for (sv_opened *each = self->first; each && status == STORE_OK && !self->left; each = each->next) {
        sv_agent *agent = sv_agents_find_id(self->agents, each->agent);
        if (agent) sv_agent_publish_since(agent, &each->hour->since);
        sv_agent_release(agent);
    }
    drop_all(self, STORE_OK);
}

void sv_sums_begin(sv_sums *self, sv_agents *agents, bool left) {
    *self = (sv_sums){.agents = agents, .left = left, .last = {.run = write_all, .end = publish_all}};
}

void sv_sums_end(sv_sums *self) { drop_all(self, STORE_OK); }

sv_store_status sv_sums_load_one(sv_store *store, sv_agent *agent) {
    sv_store_hour newest;
    sv_store_status status = sv_store_hour_newest(store, agent->id, &newest);
    sv_hour *hour = status == STORE_OK ? sv_hour_read(newest.hour, newest.data) : NULL;
    if (hour) sv_agent_publish_since(agent, &hour->since);
    free(hour);
    return status == STORE_NONE ? STORE_OK : status;
}

sv_store_status sv_sums_load(sv_store *store, sv_agents *agents) {
    sv_agent *all[LIMIT_AGENTS + 1];
    size_t count = sv_agents_all(agents, all);
    sv_store_status status = STORE_OK;
    for (size_t i = 0; i < count; i++) {
        if (status == STORE_OK) status = sv_sums_load_one(store, all[i]);
        sv_agent_release(all[i]);
    }
    return status;
}

/* ---- what is added ---- */

sv_store_status sv_sums_decision(sv_sums *self, sv_store *store, int64_t agent, sv_decision_side side,
                                 bool explored, const sa_buffer *names) {
    sv_hour *hour;
    sv_store_status status = sv_sums_hour(self, store, agent, &hour);
    if (status != STORE_OK) return status;
    hour->sides[side].decisions++;
    hour->explored += explored || side == SIDE_CONTROL;
    for (size_t at = 0; at < names->size; at += strlen(names->text + at) + 1)
        sv_hour_show(hour, names->text + at);
    return STORE_OK;
}

sv_store_status sv_sums_activation(sv_sums *self, sv_store *store, const sv_store_decision *decision) {
    sa_buffer names = {0};
    bool explored = false;
    sv_decision_side side = decision->side;
    int64_t agent = decision->agent;
    sv_answer_names(decision->answer, &names, &explored);
    sv_store_status status =
        names.status ? STORE_LATER : sv_sums_decision(self, store, agent, side, explored, &names);
    sa_buffer_clear(&names);
    return status;
}

sv_store_status sv_sums_feedback(sv_sums *self, sv_store *store, int64_t agent, bool late) {
    sv_hour *hour;
    sv_store_status status = sv_sums_hour(self, store, agent, &hour);
    if (status != STORE_OK) return status;
    hour->feedback++;
    hour->late += late;
    return STORE_OK;
}

/* The first values of a row, NaN for what was not seen; how many. */
static size_t read_values(const sa_buffer *data, double values[HOUR_PLACES]) {
    sa_json list = {0};
    size_t count = 0;
    if (sa_json_parse(&list, data->text, data->size) == SA_OK && sv_value_is(&list, 0, SA_JSON_ARRAY))
        for (size_t at = 1; at < list.nodes[0].next && count < HOUR_PLACES; at = list.nodes[at].next)
            values[count++] = sv_value_is(&list, at, SA_JSON_NUMBER) ? sa_json_number(&list, at) : NAN;
    sa_json_clear(&list);
    return count;
}

sv_store_status sv_sums_learnt(sv_sums *self, sv_store *store, const sv_settings *settings,
                               const sv_store_decision *decision, double reward, const sa_buffer *data) {
    sv_hour *hour;
    double values[HOUR_PLACES];
    sv_comparison comparison = {0};
    size_t count = read_values(data, values);
    if (decision->side == SIDE_SHADOW)
        sv_apprentice_compare(settings, decision->answer, reward, values, count, &comparison);
    sv_decision_side side = decision->side;
    sv_store_status status = sv_sums_hour(self, store, decision->agent, &hour);
    if (status != STORE_OK) return status;
    sv_hour_learn(hour, side, reward, values, count);
    if (comparison.places) sv_hour_compare(hour, comparison.same, comparison.places, comparison.estimate);
    return STORE_OK;
}

/* The sum of a row's values. */
static double sum_of(const sa_buffer *data) {
    sa_json list = {0};
    double sum = 0;
    if (sa_json_parse(&list, data->text, data->size) == SA_OK && sv_value_is(&list, 0, SA_JSON_ARRAY))
        for (size_t at = 1; at < list.nodes[0].next; at = list.nodes[at].next)
            if (sv_value_is(&list, at, SA_JSON_NUMBER)) sum += sa_json_number(&list, at);
    sa_json_clear(&list);
    return sum;
}

sv_store_status sv_sums_revised(sv_sums *self, sv_store *store, const sv_store_decision *decision,
                                const sa_buffer *before, const sa_buffer *now) {
    sv_hour *hour;
    double old[HOUR_PLACES], new[HOUR_PLACES];
    size_t count = read_values(before, old);
    for (size_t k = read_values(now, new); k < count; k++) new[k] = NAN;
    sv_store_status status = sv_sums_hour(self, store, decision->agent, &hour);
    if (status != STORE_OK) return status;
    sv_hour_revise(hour, decision->side, decision->seq, sum_of(before), sum_of(now));
    if (count > hour->places) hour->places = count;
    for (size_t k = 0; k < count; k++) {
        hour->by_place[k].reward += (isnan(new[k]) ? 0 : new[k]) - (isnan(old[k]) ? 0 : old[k]);
        if (isnan(old[k]) && !isnan(new[k])) hour->by_place[k].seen++;
    }
    return STORE_OK;
}

sv_store_status sv_sums_row(sv_sums *self, sv_store *store, int64_t agent, sv_store_row *row) {
    sv_hour *hour;
    sv_store_status status = sv_store_row_add(store, agent, row);
    if (status != STORE_OK || !row->seq || !row->restarts) return status;
    status = sv_sums_hour(self, store, agent, &hour);
    if (status == STORE_OK) hour->since = (sv_since){.time = sv_clock_milliseconds(), .seq = row->seq};
    return status;
}

/* ---- what other servers have counted ---- */

typedef struct taking {
    sv_sums *sums;
    sv_store *store;
    sv_store_status status;
    size_t count;
} sv_taking;

static bool take_one(void *user, int64_t agent, const char *data) {
    sv_taking *self = user;
    sv_hour *hour, *left = sv_hour_read(0, data);
    self->count++;
    if (!left) { /* it goes: it must not hold up the others */
        fprintf(stderr, "superarm serve: sums of agent %lld cannot be read, and are left out\n",
                (long long)agent);
        return true;
    }
    self->status = sv_sums_hour(self->sums, self->store, agent, &hour);
    if (self->status == STORE_OK) {
        sv_since since = hour->since; /* who learns the agent alone adds to it */
        sv_hour_merge(hour, left);
        hour->since = since;
    }
    free(left);
    return self->status == STORE_OK;
}

sv_store_status sv_sums_take_left(sv_sums *self, sv_store *store) {
    sv_taking taking = {.sums = self, .store = store};
    sv_store_status status;
    double until = sv_clock_seconds() + TAKING_SECONDS;
    do {
        taking.count = 0;
        status = sv_store_hours_left(store, take_one, &taking);
        if (status == STORE_OK) status = taking.status;
    } while (status == STORE_OK && taking.count >= STORE_HOURS_LEFT && sv_clock_seconds() < until);
    return status;
}
