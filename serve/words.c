#include "words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

void sv_words_free(sv_words *self) {
    if (!self) return;
    for (size_t i = 0; i < self->field_count; i++) {
        sv_words_field *field = &self->fields[i];
        sv_texts_free(&field->own);
        free(field->name);
        free(field->of);
        free(field->most);
        free(field->least);
        free(field->open);
        free(field->pinned);
    }
    free(self->pin);
    free(self->groups);
    free(self->capacities);
    free(self->minimums);
    free(self->eligible);
    free(self->matrix);
    free(self->bounds);
    free(self);
}

static bool fail_memory(sv_refusal *why) { return sv_refuse(why, 503, "memory could not be had"); }

/* ---- pins ---- */

/* "0", "1"...: a place of the page. */
static bool read_place(const sv_words *self, const sa_json *json, size_t key, size_t *place,
                       sv_refusal *why) {
    const sa_json_node *node = &json->nodes[key];
    char shown[SA_PRINTABLE];
    size_t number = 0;
    bool good = node->size > 0 && node->size < 8 && (node->size == 1 || json->text[node->start] != '0');
    for (size_t i = 0; good && i < node->size; i++) {
        char digit = json->text[node->start + i];
        good = digit >= '0' && digit <= '9';
        number = 10 * number + (size_t)(digit - '0');
    }
    if (!good)
        return sv_refuse(why, 400, "pin has %s, and a place of the slate is wanted, from \"0\" on",
                         sa_json_printable(json, key, shown));
    if (number >= self->places)
        return sv_refuse(why, 400, "pin has place %zu, and the slate has %zu places, counted from 0", number,
                         self->places);
    *place = number;
    return true;
}

static bool read_pins(sv_words *self, const sv_ask *ask, size_t object, sv_refusal *why) {
    const sa_json *json = &ask->json;
    if (!object) return true;
    if (!sv_value_is(json, object, SA_JSON_OBJECT))
        return sv_refuse(why, 400, "pin is no object of places and arms, as in {\"0\": \"p7\"}");
    size_t count = sa_json_count(json, object), place = 0, arm = 0;
    if (count > self->places)
        return sv_refuse(why, 400, "pin has %zu arms, and the slate has %zu places", count, self->places);
    for (size_t key = object + 1; key < json->nodes[object].next; key = json->nodes[key + 1].next) {
        if (!read_place(self, json, key, &place, why)) return false;
        if (sa_request_arm(ask->request, json, key + 1, "pin", &arm) != SA_OK)
            return sv_refuse_library(why, SA_INVALID);
        if (!sv_words_allow(self, arm))
            return sv_refuse(why, 400, "pin: the arm of place %zu is excluded", place);
        for (size_t other = 0; other < self->places; other++)
            if (self->pin[other] == arm)
                return sv_refuse(why, 400, "pin: places %zu and %zu have the same arm",
                                 other < place ? other : place, other < place ? place : other);
        self->pin[place] = arm;
        self->pins++;
    }
    return true;
}

/* ---- fields ---- */

static bool has_column(const sv_settings *settings, const char *name) {
    sa_schema_column column;
    for (size_t i = 0; sa_schema_column_at(settings->schema, i, &column); i++)
        if (!strcmp(column.part, "item") && !strcmp(column.field, name)) return true;
    return false;
}

/* The values that the request's own items have. */
static bool read_items(sv_words_field *field, const sv_ask *ask, sv_refusal *why) {
    const sa_json *json = &ask->json;
    size_t items = sa_json_find(json, 0, "items"), arm = 0;
    sa_buffer text = {0};
    bool good = true;
    for (size_t at = items + 1; good && at < json->nodes[items].next; at = json->nodes[at].next, arm++) {
        size_t value = sa_json_find(json, at, field->name);
        field->of[arm] = TEXTS_NONE;
        if (!value || sv_value_is(json, value, SA_JSON_NULL)) continue;
        text.size = 0;
        if (!sv_value_text(json, value, &text))
            good = sv_refuse(why, 400, "items[%zu].%.64s is %s, and a rule is for fields with one value", arm,
                             field->name, sa_json_kind_name(json, value));
        else if (text.status ||
                 (field->of[arm] = sv_texts_add(&field->own, text.text, text.size)) == TEXTS_NONE)
            good = fail_memory(why);
    }
    sa_buffer_clear(&text);
    field->values = &field->own;
    return good;
}

/* Those of the stored items. */
static bool read_stored(sv_words_field *field, const sv_ask *ask, sv_refusal *why) {
    const sv_column *column = sv_catalogue_column(ask->catalogue, field->name);
    field->values = column ? &column->values : &field->own;
    for (size_t arm = 0; arm < ask->arms; arm++) {
        field->of[arm] = column ? column->of[ask->stored[arm]] : TEXTS_NONE;
        if (field->of[arm] != TEXTS_NONE && *sv_texts_at(field->values, field->of[arm]) == 1)
            return sv_refuse(why, 400,
                             "%.64s of item %.64s has several values, and a rule is for fields with one",
                             field->name, ask->names[arm]);
    }
    return true;
}

static bool read_values(sv_words_field *field, const sv_ask *ask, const sv_settings *settings,
                        const char *rule, sv_refusal *why) {
    if (!(ask->catalogue ? read_stored(field, ask, why) : read_items(field, ask, why))) return false;
    if (field->values->count || has_column(settings, field->name)) return true;
    return sv_refuse(why, 400, "%s has %.64s, which is a field of no item", rule, field->name);
}

static bool make_field(sv_words *self, sv_words_field *field, const sv_ask *ask, const sv_settings *settings,
                       const char *rule, sv_refusal *why) {
    field->of = calloc(self->arms, sizeof *field->of);
    if (!field->name || !field->of) return fail_memory(why);
    if (!read_values(field, ask, settings, rule, why)) return false;
    size_t count = field->values->count;
    field->most = calloc(count + 1, sizeof *field->most);
    field->least = calloc(count + 1, sizeof *field->least);
    field->open = calloc(count + 1, sizeof *field->open);
    field->pinned = calloc(count + 1, sizeof *field->pinned);
    if (!field->most || !field->least || !field->open || !field->pinned) return fail_memory(why);
    for (size_t v = 0; v < count; v++) field->most[v] = SIZE_MAX;
    for (size_t arm = 0; arm < self->arms; arm++)
        if (field->of[arm] != TEXTS_NONE) field->open[field->of[arm]] += sv_words_allow(self, arm);
    for (size_t k = 0; k < self->places; k++)
        if (self->pin[k] != SIZE_MAX && field->of[self->pin[k]] != TEXTS_NONE)
            field->pinned[field->of[self->pin[k]]]++;
    return true;
}

/* The field of this name, read when it is met first. */
static sv_words_field *field_of(sv_words *self, const sv_ask *ask, const sv_settings *settings, size_t key,
                                const char *rule, sv_refusal *why) {
    sa_buffer name = {0};
    if (!sv_value_text(&ask->json, key, &name) || name.status) {
        fail_memory(why);
        return NULL;
    }
    for (size_t i = 0; i < self->field_count; i++)
        if (!strcmp(self->fields[i].name, name.text)) {
            sa_buffer_clear(&name);
            return &self->fields[i];
        }
    if (self->field_count == WORDS_FIELDS) {
        sa_buffer_clear(&name);
        sv_refuse(why, 400, "%s: rules are for %d fields at most", rule, WORDS_FIELDS);
        return NULL;
    }
    sv_words_field *field = &self->fields[self->field_count++];
    field->name = strdup(name.text);
    sa_buffer_clear(&name);
    return make_field(self, field, ask, settings, rule, why) ? field : NULL;
}

/* ---- at_most, at_least ---- */

static void limit(sv_words_field *field, uint32_t value, bool least, size_t number) {
    if (least && number > field->least[value]) field->least[value] = number;
    if (!least && number < field->most[value]) field->most[value] = number;
}

static bool read_number(const sa_json *json, size_t at, const char *rule, const sv_words_field *field,
                        size_t *out, sv_refusal *why) {
    char name[100];
    snprintf(name, sizeof name, "%s.%.64s", rule, field->name);
    return sv_value_whole(json, at, name, 0, LIMIT_ITEMS, out, why);
}

/* {"shoes": 1}: of these values alone. */
static bool read_named(sv_words_field *field, const sa_json *json, size_t object, const char *rule,
                       bool least, sv_refusal *why) {
    for (size_t key = object + 1; key < json->nodes[object].next; key = json->nodes[key + 1].next) {
        sa_buffer text = {0};
        size_t number;
        bool good = read_number(json, key + 1, rule, field, &number, why);
        if (good && (!sv_value_text(json, key, &text) || text.status)) good = fail_memory(why);
        uint32_t value = good ? sv_texts_find(field->values, text.text, text.size) : TEXTS_NONE;
        if (good && value != TEXTS_NONE) limit(field, value, least, number);
        if (good && value == TEXTS_NONE && least && number)
            good = sv_refuse(why, 400, "%s: no item has %.64s %.64s, of which %zu are to be in the slate",
                             rule, field->name, text.text, number);
        sa_buffer_clear(&text);
        if (!good) return false;
    }
    return true;
}

static bool read_limits(sv_words *self, const sv_ask *ask, const sv_settings *settings, const char *rule,
                        sv_refusal *why) {
    const sa_json *json = &ask->json;
    size_t object = sa_json_find(json, 0, rule), number;
    bool least = !strcmp(rule, "at_least");
    if (!object) return true;
    if (!sv_value_is(json, object, SA_JSON_OBJECT))
        return sv_refuse(why, 400, "%s is no object of fields, as in {\"category\": 2}", rule);
    if (!settings->schema)
        return sv_refuse(why, 400, "%s is for fields of items, and this agent has no schema", rule);
    for (size_t key = object + 1; key < json->nodes[object].next; key = json->nodes[key + 1].next) {
        sv_words_field *field = field_of(self, ask, settings, key, rule, why);
        if (!field) return false;
        if (sv_value_is(json, key + 1, SA_JSON_OBJECT)) {
            if (!read_named(field, json, key + 1, rule, least, why)) return false;
            continue;
        }
        if (!read_number(json, key + 1, rule, field, &number, why)) return false;
        for (uint32_t v = 0; v < field->values->count; v++)
            if (!least || field->open[v]) limit(field, v, least, number);
    }
    return true;
}

/* Both ways of saying it would be two rules of one kind. */
static bool check_problem(const sv_words *self, const sa_problem *problem, sv_refusal *why) {
    const char *other = NULL;
    if (self->field_count && sa_problem_indices(problem, "groups", NULL, NULL)) other = "groups";
    if (self->pins && sa_problem_flags(problem, "eligible", NULL, NULL)) other = "eligible";
    if (self->field_count > 1 && sa_problem_numbers(problem, "matrix", NULL, NULL)) other = "matrix";
    return !other ||
           sv_refuse(why, 400,
                     "problem has %s, which pin, at_most and at_least are made into: say it one way", other);
}

/* ---- all of it ---- */

static bool read_words(sv_words *self, sv_ask *ask, const sv_settings *settings, sv_refusal *why) {
    size_t at = sa_json_find(&ask->json, 0, "exactly");
    if (at && !sv_value_flag(&ask->json, at, "exactly", &self->exactly, why)) return false;
    self->excluded = sa_request_excluded(ask->request);
    self->pin = calloc(self->places, sizeof *self->pin);
    if (!self->pin) return fail_memory(why);
    for (size_t k = 0; k < self->places; k++) self->pin[k] = SIZE_MAX;
    return read_pins(self, ask, sa_json_find(&ask->json, 0, "pin"), why) &&
           read_limits(self, ask, settings, "at_most", why) &&
           read_limits(self, ask, settings, "at_least", why) && sv_words_fit(self, why);
}

bool sv_words_read(sv_ask *ask, const sv_settings *settings, sv_refusal *why) {
    static const char *const rules[] = {"pin", "at_most", "at_least", "exactly", NULL};
    size_t given = 0;
    for (size_t i = 0; rules[i]; i++) given += sa_json_find(&ask->json, 0, rules[i]) > 0;
    if (!given) return true;
    if (ask->arms * ask->slate > LIMIT_NUMBERS)
        return sv_refuse(why, 400, "rules for %zu of %zu arms are too many: at most %d, multiplied",
                         ask->slate, ask->arms, LIMIT_NUMBERS);
    sv_words *self = ask->words = calloc(1, sizeof *self);
    if (!self) return fail_memory(why);
    self->arms = ask->arms;
    self->places = ask->slate;
    if (!read_words(self, ask, settings, why)) return false;
    ask->slate = self->places;
    sa_request_slate(ask->request, ask->slate);
    if (self->exactly) sa_request_exactly(ask->request, true);
    if (!self->pins && !self->field_count) return true;
    if (ask->problem && !check_problem(self, ask->problem, why)) return false;
    if (!ask->problem) {
        ask->problem = ask->own_problem = sa_problem_new();
        if (!ask->problem) return fail_memory(why);
        sa_request_problem(ask->request, ask->problem);
    }
    return sv_words_put(self, ask->problem, why);
}
