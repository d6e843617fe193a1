#include <stdlib.h>

#include "words.h"

static bool fail_memory(sv_refusal *why) { return sv_refuse(why, 503, "memory could not be had"); }

/* ---- can they be kept? ---- */

static size_t least_of(size_t one, size_t other) { return one < other ? one : other; }

/* One value's limits; `*wanted`: arms that places without a pin have to take. */
static bool check_value(const sv_words_field *field, uint32_t v, size_t *wanted, sv_refusal *why) {
    const char *value = sv_texts_at(field->values, v);
    size_t least = field->least[v], most = field->most[v], pinned = field->pinned[v];
    if (least > most)
        return sv_refuse(why, 400, "at_least asks for %zu of %.64s %.64s, and at_most allows %zu", least,
                         field->name, value, most);
    if (least > field->open[v])
        return sv_refuse(why, 400, "at_least asks for %zu of %.64s %.64s, and %zu can be chosen", least,
                         field->name, value, field->open[v]);
    if (pinned > most)
        return sv_refuse(why, 400, "pin has %zu of %.64s %.64s, and at_most allows %zu", pinned, field->name,
                         value, most);
    if (least > pinned) *wanted += least - pinned;
    return true;
}

/* `*room`: how many arms can be chosen, at most. */
static bool check_field(const sv_words *self, const sv_words_field *field, size_t *room, sv_refusal *why) {
    size_t wanted = 0, fits = 0;
    for (uint32_t v = 0; v < field->values->count; v++) {
        if (!check_value(field, v, &wanted, why)) return false;
        fits += least_of(field->most[v], field->open[v]);
    }
    for (size_t arm = 0; arm < self->arms; arm++)
        fits += field->of[arm] == TEXTS_NONE && sv_words_allow(self, arm);
    if (wanted > self->places - self->pins)
        return sv_refuse(why, 400, "at_least asks for %zu arms by %.64s%s, and %zu of %zu places are left",
                         wanted, field->name, self->pins ? " beside those of pin" : "",
                         self->places - self->pins, self->places);
    *room = least_of(*room, fits);
    return true;
}

bool sv_words_fit(sv_words *self, sv_refusal *why) {
    size_t room = 0;
    for (size_t arm = 0; arm < self->arms; arm++) room += sv_words_allow(self, arm);
    for (size_t i = 0; i < self->field_count; i++)
        if (!check_field(self, &self->fields[i], &room, why)) return false;
    if (room >= self->places) return true;
    if (self->exactly || !room)
        return sv_refuse(why, 400, "the rules leave room for %zu arms, and %zu are asked for", room,
                         self->places);
    for (size_t k = room; k < self->places; k++)
        if (self->pin[k] != SIZE_MAX)
            return sv_refuse(why, 400, "pin has place %zu, and the rules leave room for %zu arms", k, room);
    self->places = room;
    for (size_t i = 0; i < self->field_count; i++) /* fewer places than at_least asks for? */
        if (!check_field(self, &self->fields[i], &room, why)) return false;
    return true;
}

/* ---- for the library ---- */

static void put_pins(sv_words *self, sa_problem *problem) {
    for (size_t k = 0; k < self->places; k++)
        for (size_t arm = 0; arm < self->arms; arm++)
            self->eligible[k * self->arms + arm] = self->pin[k] == SIZE_MAX || self->pin[k] == arm;
    sa_problem_eligible(problem, self->eligible, self->places, self->arms);
}

static void put_groups(sv_words *self, const sv_words_field *field, sa_problem *problem) {
    size_t count = field->values->count;
    bool most = false, least = false;
    for (size_t arm = 0; arm < self->arms; arm++)
        self->groups[arm] = field->of[arm] == TEXTS_NONE ? count : field->of[arm];
    for (size_t v = 0; v <= count; v++) {
        self->capacities[v] = v < count ? least_of(field->most[v], self->arms) : self->arms;
        self->minimums[v] = v < count ? field->least[v] : 0;
        most = most || self->capacities[v] < self->arms;
        least = least || self->minimums[v];
    }
    if (!most && !least) return;
    sa_problem_groups(problem, self->groups, self->arms);
    sa_problem_capacities(problem, self->capacities, count + 1);
    if (least) sa_problem_minimums(problem, self->minimums, count + 1);
}

static bool binds(const sv_words *self, const sv_words_field *field, uint32_t v, bool least) {
    return least ? field->least[v] > 0 : field->most[v] < least_of(field->open[v], self->places);
}

/* Fields after the first. */
static bool put_matrix(sv_words *self, sa_problem *problem, sv_refusal *why) {
    size_t rows = 0, row = 0;
    for (size_t i = 1; i < self->field_count; i++)
        for (uint32_t v = 0; v < self->fields[i].values->count; v++)
            rows += (size_t)binds(self, &self->fields[i], v, false) + binds(self, &self->fields[i], v, true);
    if (!rows) return true;
    if (rows * self->arms > LIMIT_NUMBERS)
        return sv_refuse(why, 400, "rules for %zu values of %zu arms are too many: at most %d, multiplied",
                         rows, self->arms, LIMIT_NUMBERS);
    self->matrix = calloc(rows * self->arms, sizeof *self->matrix);
    self->bounds = calloc(rows, sizeof *self->bounds);
    if (!self->matrix || !self->bounds) return fail_memory(why);
    for (size_t i = 1; i < self->field_count; i++)
        for (uint32_t v = 0; v < self->fields[i].values->count; v++)
            for (int least = 0; least < 2; least++) {
                const sv_words_field *field = &self->fields[i];
                if (!binds(self, field, v, least)) continue;
                self->bounds[row] = least ? -(double)field->least[v] : (double)field->most[v];
                for (size_t arm = 0; arm < self->arms; arm++)
                    if (field->of[arm] == v) self->matrix[row * self->arms + arm] = least ? -1 : 1;
                row++;
            }
    sa_problem_constraints(problem, self->matrix, self->bounds, rows, self->arms);
    return true;
}

bool sv_words_put(sv_words *self, sa_problem *problem, sv_refusal *why) {
    size_t groups = self->field_count ? self->fields[0].values->count + 1 : 0;
    self->groups = calloc(self->arms, sizeof *self->groups);
    self->capacities = calloc(groups + 1, sizeof *self->capacities);
    self->minimums = calloc(groups + 1, sizeof *self->minimums);
    self->eligible = calloc(self->pins ? self->places * self->arms : 1, sizeof *self->eligible);
    if (!self->groups || !self->capacities || !self->minimums || !self->eligible) return fail_memory(why);
    if (self->pins) put_pins(self, problem);
    if (self->field_count) put_groups(self, &self->fields[0], problem);
    return put_matrix(self, problem, why);
}

/* ---- a slate of somebody else ---- */

static bool keeps_field(const sv_words_field *field, const size_t *arms, size_t count, sv_refusal *why) {
    for (uint32_t v = 0; v < field->values->count; v++) {
        size_t has = 0;
        if (field->most[v] == SIZE_MAX && !field->least[v]) continue;
        for (size_t k = 0; k < count; k++) has += field->of[arms[k]] == v;
        if (has > field->most[v])
            return sv_refuse(why, 400, "it has %zu of %.64s %.64s, and at_most allows %zu", has, field->name,
                             sv_texts_at(field->values, v), field->most[v]);
        if (has < field->least[v])
            return sv_refuse(why, 400, "it has %zu of %.64s %.64s, and at_least asks for %zu", has,
                             field->name, sv_texts_at(field->values, v), field->least[v]);
    }
    return true;
}

bool sv_words_keep(const sv_ask *ask, const size_t *arms, size_t count, sv_refusal *why) {
    const bool *excluded = sa_request_excluded(ask->request);
    const sv_words *self = ask->words;
    for (size_t k = 0; k < count; k++)
        if (excluded && excluded[arms[k]]) return sv_refuse(why, 400, "its arm at place %zu is excluded", k);
    for (size_t k = 0; self && k < self->places; k++)
        if (self->pin[k] != SIZE_MAX && (k >= count || self->pin[k] != arms[k]))
            return sv_refuse(why, 400, "its arm at place %zu is not the one of pin", k);
    for (size_t i = 0; self && i < self->field_count; i++)
        if (!keeps_field(&self->fields[i], arms, count, why)) return false;
    return true;
}
