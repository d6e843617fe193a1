/* An hour as the journal has it, and as the page gets it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hours.h"
#include "sides.h"
#include "values.h"

#define COUNT(value) (unsigned long long)(value)

/* ---- writing ---- */

static void write_number(sa_buffer *out, const char *before, double value) {
    sa_buffer_text(out, before);
    sa_buffer_number(out, value, 0);
}

static void write_agreement(const sv_agreement *self, sa_buffer *out) {
    sa_buffer_format(out, "{\"events\": %llu, \"whole\": %llu, \"by_place\": [", COUNT(self->events),
                     COUNT(self->whole));
    for (size_t k = 0; k < self->places; k++)
        sa_buffer_format(out, "%s%llu", k ? ", " : "", COUNT(self->by_place[k]));
    write_number(out, "], \"estimate\": ", self->estimate);
    sa_buffer_text(out, "}");
}

static void write_side(const sa_side *self, sa_buffer *out) {
    const double all[] = {self->count, self->mean, self->squares, self->least, self->most};
    sa_buffer_numbers(out, all, 5, 0);
}

static void write_kept(const sv_since *self, sa_buffer *out) {
    sa_buffer_format(out, ", \"since\": {\"time\": %lld, \"seq\": %llu, \"sides\": [", (long long)self->time,
                     COUNT(self->seq));
    for (size_t i = 0; i < SIDES; i++) {
        if (i) sa_buffer_text(out, ", ");
        write_side(&self->sides[i], out);
    }
    sa_buffer_text(out, "], \"agreement\": ");
    write_agreement(&self->agreement, out);
    sa_buffer_text(out, "}");
}

static void write_sides(const sv_hour *self, sa_buffer *out) {
    const char *between = "";
    sa_buffer_text(out, "\"sides\": {");
    for (size_t i = 0; i < SIDES; i++) {
        if (!self->sides[i].decisions && !self->sides[i].learnt && self->sides[i].reward == 0) continue;
        sa_buffer_format(out, "%s\"%s\": {\"decisions\": %llu, \"learnt\": %llu", between,
                         sv_side_name((sv_decision_side)i), COUNT(self->sides[i].decisions),
                         COUNT(self->sides[i].learnt));
        write_number(out, ", \"reward\": ", self->sides[i].reward);
        sa_buffer_text(out, "}");
        between = ", ";
    }
    sa_buffer_text(out, "}");
}

void sv_hour_write(const sv_hour *self, bool all, sa_buffer *out) {
    sa_buffer_format(out, "{\"hours\": %d, ", self->span);
    write_sides(self, out);
    sa_buffer_format(out,
                     ", \"feedback\": %llu, \"late\": %llu, \"revised\": %llu, \"explored\": %llu, "
                     "\"places\": [",
                     COUNT(self->feedback), COUNT(self->late), COUNT(self->revised), COUNT(self->explored));
    for (size_t k = 0; k < self->places; k++) {
        sa_buffer_format(out, "%s[%llu", k ? ", " : "", COUNT(self->by_place[k].seen));
        write_number(out, ", ", self->by_place[k].reward);
        sa_buffer_text(out, "]");
    }
    sa_buffer_text(out, "], \"items\": [");
    for (size_t i = 0; i < self->item_count; i++) {
        sa_buffer_text(out, i ? ", [" : "[");
        sa_buffer_quote(out, self->items[i].id);
        sa_buffer_format(out, ", %llu, %llu]", COUNT(self->items[i].count), COUNT(self->items[i].error));
    }
    sa_buffer_text(out, "]");
    if (self->agreement.events) {
        sa_buffer_text(out, ", \"agreement\": ");
        write_agreement(&self->agreement, out);
    }
    if (all) write_kept(&self->since, out);
    sa_buffer_text(out, "}");
}

/* ---- reading ---- */

static double number_of(const sa_json *json, size_t object, const char *name) {
    size_t at = sa_json_find(json, object, name);
    return at && sv_value_is(json, at, SA_JSON_NUMBER) ? sa_json_number(json, at) : 0;
}

static uint64_t count_of(const sa_json *json, size_t object, const char *name) {
    double number = number_of(json, object, name);
    return number >= 0 && number < 0x1p62 ? (uint64_t)number : 0;
}

/* The numbers of a list, at most `most`; how many. */
static size_t read_list(const sa_json *json, size_t list, double *out, size_t most) {
    size_t count = 0;
    if (!list || !sv_value_is(json, list, SA_JSON_ARRAY)) return 0;
    for (size_t at = list + 1; at < json->nodes[list].next && count < most; at = json->nodes[at].next)
        out[count++] = sv_value_is(json, at, SA_JSON_NUMBER) ? sa_json_number(json, at) : 0;
    return count;
}

static void read_agreement(sv_agreement *self, const sa_json *json, size_t object) {
    double places[HOUR_PLACES];
    if (!object) return;
    self->events = count_of(json, object, "events");
    self->whole = count_of(json, object, "whole");
    self->estimate = number_of(json, object, "estimate");
    self->places = read_list(json, sa_json_find(json, object, "by_place"), places, HOUR_PLACES);
    for (size_t k = 0; k < self->places; k++) self->by_place[k] = (uint64_t)places[k];
}

static void read_since(sv_since *self, const sa_json *json, size_t object) {
    if (!object) return;
    size_t list = sa_json_find(json, object, "sides"), i = 0;
    self->time = (int64_t)count_of(json, object, "time");
    self->seq = count_of(json, object, "seq");
    for (size_t at = list + 1; list && at < json->nodes[list].next && i < SIDES; at = json->nodes[at].next) {
        double all[5] = {0};
        if (read_list(json, at, all, 5) == 5)
            self->sides[i] = (sa_side){all[0], all[1], all[2], all[3], all[4]};
        i++;
    }
    read_agreement(&self->agreement, json, sa_json_find(json, object, "agreement"));
}

static void read_sides(sv_hour *self, const sa_json *json, size_t object) {
    for (size_t i = 0; object && i < SIDES; i++) {
        size_t side = sa_json_find(json, object, sv_side_name((sv_decision_side)i));
        if (!side) continue;
        self->sides[i].decisions = count_of(json, side, "decisions");
        self->sides[i].learnt = count_of(json, side, "learnt");
        self->sides[i].reward = number_of(json, side, "reward");
    }
}

static void read_places(sv_hour *self, const sa_json *json, size_t list) {
    for (size_t at = list + 1; list && at < json->nodes[list].next && self->places < HOUR_PLACES;
         at = json->nodes[at].next) {
        double pair[2] = {0};
        read_list(json, at, pair, 2);
        self->by_place[self->places].seen = (uint64_t)pair[0];
        self->by_place[self->places++].reward = pair[1];
    }
}

static void read_items(sv_hour *self, const sa_json *json, size_t list) {
    for (size_t at = list + 1; list && at < json->nodes[list].next && self->item_count < HOUR_ITEMS;
         at = json->nodes[at].next) {
        sv_shown_item *item = &self->items[self->item_count];
        double numbers[3] = {0};
        sv_refusal unused;
        if (read_list(json, at, numbers, 3) < 3 || !sv_value_id(json, at + 1, "an item", item->id, &unused))
            continue;
        item->count = (uint64_t)numbers[1];
        item->error = (uint64_t)numbers[2];
        self->item_count++;
    }
}

sv_hour *sv_hour_read(int64_t hour, const char *text) {
    sa_json json = {0};
    sv_hour *self = sv_hour_new(hour);
    if (self && (sa_json_parse(&json, text, strlen(text)) != SA_OK || json.nodes[0].kind != SA_JSON_OBJECT)) {
        free(self);
        self = NULL;
    }
    if (self) {
        self->span = count_of(&json, 0, "hours") == 24 ? 24 : 1;
        read_sides(self, &json, sa_json_find(&json, 0, "sides"));
        self->feedback = count_of(&json, 0, "feedback");
        self->late = count_of(&json, 0, "late");
        self->revised = count_of(&json, 0, "revised");
        self->explored = count_of(&json, 0, "explored");
        read_places(self, &json, sa_json_find(&json, 0, "places"));
        read_items(self, &json, sa_json_find(&json, 0, "items"));
        read_agreement(&self->agreement, &json, sa_json_find(&json, 0, "agreement"));
        read_since(&self->since, &json, sa_json_find(&json, 0, "since"));
    }
    sa_json_clear(&json);
    return self;
}

/* ---- since the control was set ---- */

static void write_mean(const char *name, const sa_side *side, sa_buffer *out) {
    sa_buffer_format(out, ", \"%s\": {\"events\": %.0f", name, side->count);
    write_number(out, ", \"reward\": ", side->count > 0 ? side->mean : NAN);
    sa_buffer_text(out, "}");
}

static void write_share(sa_buffer *out, const char *before, uint64_t part, uint64_t all) {
    write_number(out, before, all ? (double)part / (double)all : NAN);
}

void sv_since_write(const sv_since *self, sa_buffer *out) {
    const sv_agreement *agreement = &self->agreement;
    sa_buffer_text(out, "{\"since\": ");
    write_number(out, "", self->time ? (double)self->time / 1000 : NAN);
    for (size_t i = 0; i < SIDES; i++)
        if (i <= SIDE_CONTROL || self->sides[i].count > 0)
            write_mean(sv_side_name((sv_decision_side)i), &self->sides[i], out);
    sa_difference difference = sa_side_difference(&self->sides[SIDE_AGENT], &self->sides[SIDE_CONTROL]);
    write_number(out, ", \"difference\": {\"value\": ", difference.value);
    write_number(out, ", \"low\": ", difference.low);
    write_number(out, ", \"high\": ", difference.high);
    write_number(out, ", \"standard_error\": ", difference.standard_error);
    sa_buffer_text(out, "}");
    if (agreement->events) {
        sa_buffer_format(out, ", \"apprentice\": {\"events\": %llu", COUNT(agreement->events));
        write_share(out, ", \"agrees\": ", agreement->whole, agreement->events);
        sa_buffer_text(out, ", \"agrees_by_place\": [");
        for (size_t k = 0; k < agreement->places; k++)
            write_share(out, k ? ", " : "", agreement->by_place[k], agreement->events);
        write_number(out, "], \"estimate\": ", agreement->estimate / (double)agreement->events);
        sa_buffer_text(out, "}");
    }
    sa_buffer_text(out, "}");
}
