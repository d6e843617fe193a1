/* The library's options from what PUT names, and back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "settings.h"
#include "values.h"

/* ---- a list of options ---- */

/* The place of a name: where it is, or would be. */
static size_t place_of(const sv_options *self, const char *name, bool *there) {
    size_t i = 0;
    int order = 1;
    while (i < self->count && (order = strcmp(self->all[i].name, name)) < 0) i++;
    *there = i < self->count && order == 0;
    return i;
}

const sv_option *sv_options_find(const sv_options *self, const char *name) {
    bool there;
    size_t place = place_of(self, name, &there);
    return there ? &self->all[place] : NULL;
}

static void free_option(sv_option *self) {
    free(self->name);
    free(self->value);
}

bool sv_options_put(sv_options *self, const char *name, const char *value, bool quoted) {
    bool there;
    size_t place = place_of(self, name, &there);
    sv_option made = {strdup(name), strdup(value), quoted};
    sv_option *all = there ? self->all : realloc(self->all, (self->count + 1) * sizeof *all);
    if (all) self->all = all;
    if (!all || !made.name || !made.value) {
        free_option(&made);
        return false;
    }
    if (there)
        free_option(&all[place]);
    else
        memmove(all + place + 1, all + place, (self->count++ - place) * sizeof *all);
    all[place] = made;
    return true;
}

void sv_options_free(sv_options *self) {
    for (size_t i = 0; i < self->count; i++) free_option(&self->all[i]);
    free(self->all);
    *self = (sv_options){0};
}

bool sv_options_copy(const sv_options *self, sv_options *out) {
    *out = (sv_options){0};
    for (size_t i = 0; i < self->count; i++)
        if (!sv_options_put(out, self->all[i].name, self->all[i].value, self->all[i].quoted)) {
            sv_options_free(out);
            return false;
        }
    return true;
}

bool sv_options_same(const sv_options *self, const sv_options *other) {
    if (self->count != other->count) return false;
    for (size_t i = 0; i < self->count; i++) {
        const sv_option *one = &self->all[i], *two = &other->all[i];
        if (strcmp(one->name, two->name) || strcmp(one->value, two->value) || one->quoted != two->quoted)
            return false;
    }
    return true;
}

void sv_options_write(const sv_options *self, const char *but, sa_buffer *out) {
    const char *between = "{";
    for (size_t i = 0; i < self->count; i++) {
        if (!strcmp(self->all[i].name, but)) continue;
        sa_buffer_text(out, between);
        between = ",";
        sa_buffer_quote(out, self->all[i].name);
        sa_buffer_text(out, ":");
        if (self->all[i].quoted)
            sa_buffer_quote(out, self->all[i].value);
        else
            sa_buffer_text(out, self->all[i].value);
    }
    sa_buffer_text(out, *between == '{' ? "{}" : "}");
}

/* ---- those of the library ---- */

/* Options of the environment or the output make no sense here, and those that name files would reach into
 * the server's. */
static bool is_taken(const char *name, sv_refusal *why) {
    static const char *const also[] = {"dim", "seed", "rounds", NULL}, *const never[] = {
                                                                           "history", "init-weights",
                                                                           "count-pending", NULL};
    sa_option_info info;
    if (!sa_option_find(name, &info))
        return sv_refuse(why, 400, "options: %.64s is not an option; `superarm list options` shows them",
                         name);
    for (size_t i = 0; never[i]; i++)
        if (!strcmp(info.name, never[i]))
            return sv_refuse(why, 400, "options: %s is not taken by the service", name);
    if (info.scope == SA_SCOPE_AGENT) return true;
    for (size_t i = 0; also[i]; i++)
        if (!strcmp(info.name, also[i])) return true;
    return sv_refuse(why, 400, "options: %s is not an option of an agent", name);
}

bool sv_settings_takes(const char *option) {
    sv_refusal why;
    return is_taken(option, &why);
}

static bool at_most(const sa_options *options, const char *name, double most, sv_refusal *why) {
    char value[512];
    if (sa_options_get(options, name, value, sizeof value) != SA_OK) return true;
    double number = strtod(value, NULL);
    return number <= most ||
           sv_refuse(why, 400, "options: %s %s is more than %g, the service's limit", name, value, most);
}

static bool set_option(sa_options *options, const sv_option *option, sv_refusal *why) {
    if (!is_taken(option->name, why)) return false;
    if (!strcmp(option->name, "oracle") && !strcmp(option->value, "auto")) return true; /* our own word */
    sa_status status = sa_options_set(options, option->name, option->value);
    return status == SA_OK || sv_refuse_library(why, status);
}

/* A number as it is kept: whole ones as they were given, which may have more digits than a double. */
static bool put_number(sv_options *options, const char *name, const char *digits, size_t size,
                       double number) {
    sa_buffer text = {0};
    if (memchr(digits, '.', size) || memchr(digits, 'e', size) || memchr(digits, 'E', size))
        sa_buffer_number(&text, number, 0);
    else { /* JSON has no zeros in front */
        size_t sign = *digits == '-', zeros = 0;
        while (sign + zeros + 1 < size && digits[sign + zeros] == '0') zeros++;
        sa_buffer_bytes(&text, digits, sign);
        sa_buffer_bytes(&text, digits + sign + zeros, size - sign - zeros);
    }
    bool good = !text.status && sv_options_put(options, name, text.text, false);
    sa_buffer_clear(&text);
    return good;
}

bool sv_settings_put(sv_options *options, const sa_option_info *info, const char *value) {
    char *end;
    if (!strcmp(info->kind, "flag") && (!strcmp(value, "true") || !strcmp(value, "false")))
        return sv_options_put(options, info->name, value, false);
    double number = strtod(value, &end);
    bool is_number = (!strcmp(info->kind, "integer") || !strcmp(info->kind, "number")) && end != value &&
                     !*end && isfinite(number) && !value[strspn(value, "0123456789+-.eE")] && *value != '+';
    if (!is_number) return sv_options_put(options, info->name, value, true);
    return put_number(options, info->name, value, strlen(value), number);
}

/* An option of an earlier version, at the value that is all this one has? Journals have some. */
static bool is_gone(const sa_json *json, size_t given, size_t key, const char *name, sv_refusal *why) {
    char value[512] = "", preset[64];
    size_t chosen = sa_json_find(json, given, "preset"), length = strlen(name);
    const sa_json_node *node = &json->nodes[key + 1];
    sa_options *options = sa_options_new(NULL);
    if (!options) return sv_refuse(why, 503, "memory could not be had");
    if (chosen && json->nodes[chosen].kind == SA_JSON_STRING && json->nodes[chosen].size < sizeof preset) {
        preset[sa_json_unescape(json, chosen, preset)] = 0;
        sa_options_set(options, "preset", preset);
    }
    if (node->kind == SA_JSON_STRING && node->size < sizeof value)
        value[sa_json_unescape(json, key + 1, value)] = 0;
    else if (node->size < sizeof value)
        snprintf(value, sizeof value, "%.*s", (int)node->size, json->text + node->start);
    sa_status status = sa_options_set(options, name, value);
    sa_options_destroy(options);
    if (status == SA_OK) return true;
    const char *said = sa_last_error();
    if (said && !strncmp(said, name, length) && !strncmp(said + length, " is gone", 8))
        return sv_refuse(why, 400, "options: %.300s", said);
    return is_taken(name, why); /* for its sentence */
}

/* Names as the list has them, and numbers as numbers: the same options are then the same, however they were
 * written. */
static bool put_option(sv_options *into, const sa_json *json, size_t given, size_t key, sv_refusal *why) {
    sa_option_info info;
    char name[LIMIT_ID + 1], value[512], shown[SA_PRINTABLE];
    const sa_json_node *node = &json->nodes[key + 1];
    bool good = true;
    if (!sv_value_id(json, key, "options: a name", name, why)) return false;
    if (!sa_option_find(name, &info)) return is_gone(json, given, key, name, why);
    if (!is_taken(name, why)) return false;
    if (sv_options_find(into, info.name))
        return sv_refuse(why, 400, "options: %s and %s are the same", name, info.name);
    if (node->kind == SA_JSON_STRING) {
        if (node->size >= 500) return sv_refuse(why, 400, "options: %s is too long", name);
        value[sa_json_unescape(json, key + 1, value)] = 0;
        good = sv_settings_put(into, &info, value);
    } else if (node->kind == SA_JSON_NUMBER) {
        double number = sa_json_number(json, key + 1);
        if (node->size >= 500 || !isfinite(number))
            return sv_refuse(why, 400, "options: %s is %s, which is no number that can be kept", name,
                             sa_json_printable(json, key + 1, shown));
        good = put_number(into, info.name, json->text + node->start, node->size, number);
    } else if (node->kind == SA_JSON_TRUE || node->kind == SA_JSON_FALSE)
        good = sv_options_put(into, info.name, node->kind == SA_JSON_TRUE ? "true" : "false", false);
    else
        return sv_refuse(why, 400, "options: %.64s is neither a number, a string nor true or false", name);
    return good || sv_refuse(why, 503, "memory could not be had");
}

bool sv_settings_plain_options(const sa_json *json, size_t given, sv_options *out, sv_refusal *why) {
    *out = (sv_options){0};
    for (size_t key = given + 1; given && key < json->nodes[given].next; key = json->nodes[key + 1].next)
        if (!put_option(out, json, given, key, why)) return false;
    return sv_options_find(out, "oracle") ||
           sv_options_put(out, "oracle", "auto", true) || /* the one that a request's rules need */
           sv_refuse(why, 503, "memory could not be had");
}

sa_options *sv_settings_options(const sv_settings *self, sv_refusal *why) {
    const sv_option *preset = sv_options_find(&self->options, "preset");
    char slate[32];
    sa_options *options = sa_options_new(NULL);
    if (!options) {
        sv_refuse_library(why, SA_OUT_OF_MEMORY);
        return NULL;
    }
    snprintf(slate, sizeof slate, "%zu", self->slate);
    /* Decisions wait in the journal, and reach the agent with their feedback: it need not remember many. */
    if (sa_options_set(options, "slate", slate) != SA_OK ||
        sa_options_set(options, "pending-limit", "1000") != SA_OK)
        goto fail_library;
    if (preset && !set_option(options, preset, why)) goto fail;
    for (size_t i = 0; i < self->options.count; i++)
        if (!set_option(options, &self->options.all[i], why)) goto fail;
    if (!at_most(options, "dim", LIMIT_DIM, why) || !at_most(options, "hidden", LIMIT_HIDDEN, why) ||
        !at_most(options, "depth", 16, why) || !at_most(options, "sketch-size", LIMIT_HIDDEN, why))
        goto fail;
    return options;
fail_library:
    sv_refuse_library(why, SA_INVALID);
fail:
    sa_options_destroy(options);
    return NULL;
}
