#include "settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "values.h"

static const char *const AGGREGATES[] = {"last", "sum", "max"};

/* An option's value as the text that the library reads. */
static bool option_text(const char *name, const json_t *value, char out[512], sv_refusal *why) {
    sv_text number = {0};
    if (json_is_string(value)) {
        if (json_string_length(value) >= 500) return refuse(why, 400, "options: %s is too long", name);
        strcpy(out, json_string_value(value));
    } else if (json_is_boolean(value))
        strcpy(out, json_is_true(value) ? "true" : "false");
    else if (json_is_integer(value))
        sprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value)) {
        text_number(&number, json_real_value(value));
        if (number.failed) return refuse(why, 503, "memory could not be had");
        strcpy(out, number.data);
        text_free(&number);
    } else
        return refuse(why, 400, "options: %.64s is neither a number, a string nor true or false", name);
    return true;
}

/* Options of the environment or the output make no sense here, and those that name files would reach into
 * the server's. */
static bool is_taken(const char *name, sv_refusal *why) {
    static const char *const also[] = {"dim", "seed", "rounds", NULL}, *const never[] = {
                                                                           "history", "init-weights",
                                                                           "count-pending", NULL};
    sa_option_info info;
    if (!sa_option_find(name, &info))
        return refuse(why, 400, "options: %.64s is not an option; `superarm list options` shows them", name);
    for (size_t i = 0; never[i]; i++)
        if (!strcmp(info.name, never[i]))
            return refuse(why, 400, "options: %s is not taken by the service", name);
    if (info.scope == SA_SCOPE_AGENT) return true;
    for (size_t i = 0; also[i]; i++)
        if (!strcmp(info.name, also[i])) return true;
    return refuse(why, 400, "options: %s is not an option of an agent", name);
}

bool settings_takes(const char *option) {
    sv_refusal why;
    return is_taken(option, &why);
}

static bool at_most(const sa_options *options, const char *name, double most, sv_refusal *why) {
    char value[512];
    if (sa_options_get(options, name, value, sizeof value) != SA_OK) return true;
    double number = strtod(value, NULL);
    return number <= most ||
           refuse(why, 400, "options: %s %s is more than %g, the service's limit", name, value, most);
}

static bool set_option(sa_options *options, const char *name, const json_t *value, sv_refusal *why) {
    char written[512];
    if (!is_taken(name, why) || !option_text(name, value, written, why)) return false;
    sa_status status = sa_options_set(options, name, written);
    return status == SA_OK || refuse_library(why, status);
}

sa_options *settings_options(const sv_settings *self, sv_refusal *why) {
    const char *name;
    json_t *value, *preset = json_object_get(self->options, "preset");
    char slate[32];
    sa_options *options = sa_options_new(NULL);
    if (!options) {
        refuse_library(why, SA_OUT_OF_MEMORY);
        return NULL;
    }
    snprintf(slate, sizeof slate, "%zu", self->slate);
    if (sa_options_set(options, "slate", slate) != SA_OK) goto fail_library;
    if (preset && !set_option(options, "preset", preset, why)) goto fail;
    json_object_foreach(self->options, name, value) if (!set_option(options, name, value, why)) goto fail;
    if (!at_most(options, "dim", LIMIT_DIM, why) || !at_most(options, "hidden", LIMIT_HIDDEN, why) ||
        !at_most(options, "depth", 16, why) || !at_most(options, "sketch-size", LIMIT_HIDDEN, why))
        goto fail;
    return options;
fail_library:
    refuse_library(why, SA_INVALID);
fail:
    sa_options_destroy(options);
    return NULL;
}

/* The features of an arm: --dim, or what the schema has. */
static bool find_dim(sv_settings *self, sv_refusal *why) {
    char dim[64];
    if (self->schema) {
        size_t features = sa_schema_dim(self->schema);
        json_t *given = json_object_get(self->options, "dim");
        if (given && (!json_is_integer(given) || (size_t)json_integer_value(given) != features))
            return refuse(why, 400, "options: dim is not the schema's, %zu: leave it out", features);
        if (!given && json_object_set_new(self->options, "dim", json_integer((json_int_t)features)))
            return refuse(why, 503, "memory could not be had");
    }
    if (!json_object_get(self->options, "dim"))
        return refuse(why, 400,
                      "options: dim is missing, the number of features of an arm, and so is a schema: "
                      "{\"options\": {\"dim\": 20}}");
    sa_options *options = settings_options(self, why);
    if (!options) return false;
    if (sa_options_check_read(options) != SA_OK) {
        sa_options_destroy(options);
        return refuse(why, 400, "options: %s", sa_last_error());
    }
    sa_options_get(options, "dim", dim, sizeof dim);
    self->dim = strtoull(dim, NULL, 10);
    sa_options_destroy(options);
    return true;
}

static bool read_numbers(sv_settings *self, const json_t *body, sv_refusal *why) {
    json_t *value;
    self->default_feedback = NAN;
    self->wait_seconds = 600;
    self->retention_days = 90;
    if ((value = json_object_get(body, "default_feedback")) && !json_is_null(value) &&
        !value_number(value, "default_feedback", &self->default_feedback, why))
        return false;
    if ((value = json_object_get(body, "wait_seconds")) &&
        !value_number(value, "wait_seconds", &self->wait_seconds, why))
        return false;
    if (self->wait_seconds < 0 || self->wait_seconds > 31536000)
        return refuse(why, 400, "wait_seconds %g is not between 0 and a year", self->wait_seconds);
    if ((value = json_object_get(body, "retention_days")) &&
        !value_number(value, "retention_days", &self->retention_days, why))
        return false;
    if (self->retention_days < 0 || self->retention_days > 36500)
        return refuse(why, 400, "retention_days %g is not between 0 (for ever) and 36500",
                      self->retention_days);
    self->slate = 4;
    if ((value = json_object_get(body, "slate")) &&
        !value_whole(value, "slate", 1, LIMIT_ITEMS, &self->slate, why))
        return false;
    return true;
}

static bool read_schema(sv_settings *self, const json_t *value, sv_refusal *why) {
    if (!value || json_is_null(value)) return true;
    if (!json_is_object(value)) return refuse(why, 400, "schema is no object");
    char *written = json_dumps(value, JSON_COMPACT);
    if (!written) return refuse(why, 503, "memory could not be had");
    sa_status status = sa_schema_parse(written, strlen(written), "schema", &self->schema);
    free(written);
    return status == SA_OK || refuse_library(why, status);
}

static bool read_rest(sv_settings *self, const json_t *body, sv_refusal *why) {
    json_t *value = json_object_get(body, "aggregate");
    if (value) {
        const char *word = json_string_value(value);
        size_t i = 0;
        while (i < 3 && (!word || strcmp(word, AGGREGATES[i]))) i++;
        if (i == 3) return refuse(why, 400, "aggregate is none of last, sum and max");
        self->aggregate = (sv_aggregate)i;
    }
    if (!read_schema(self, json_object_get(body, "schema"), why)) return false;
    value = json_object_get(body, "options");
    if (value && !json_is_object(value)) return refuse(why, 400, "options is no object");
    self->options = value ? json_deep_copy(value) : json_object();
    return self->options || refuse(why, 503, "memory could not be had");
}

sv_settings *settings_read(const json_t *body, bool *reset, sv_refusal *why) {
    static const char *const fields[] = {"options",          "schema",       "slate",
                                         "default_feedback", "wait_seconds", "aggregate",
                                         "retention_days",   "reset",        NULL};
    sv_settings *self = calloc(1, sizeof *self);
    if (!self) {
        refuse(why, 503, "memory could not be had");
        return NULL;
    }
    self->owners = 1;
    json_t *again = json_object_get(body, "reset");
    if (!value_fields(body, "an agent", fields, why)) goto fail;
    if (again && (!reset || !json_is_boolean(again))) {
        refuse(why, 400, "reset is neither true nor false");
        goto fail;
    }
    if (reset) *reset = json_is_true(again);
    if (!read_numbers(self, body, why) || !read_rest(self, body, why) || !find_dim(self, why)) goto fail;
    return self;
fail:
    settings_release(self);
    return NULL;
}

sv_settings *settings_read_text(const char *bytes, size_t size, sv_refusal *why) {
    json_t *body = value_parse(bytes, size, why);
    sv_settings *self = body ? settings_read(body, NULL, why) : NULL;
    json_decref(body);
    return self;
}

sv_settings *settings_with(const sv_settings *self, json_t *options) {
    sv_settings *copy = calloc(1, sizeof *copy);
    if (!copy || !options) {
        free(copy);
        json_decref(options);
        return NULL;
    }
    *copy = *self;
    copy->owners = 1;
    copy->options = options;
    if (copy->schema) sa_schema_retain(copy->schema);
    return copy;
}

void settings_retain(sv_settings *self) { atomic_fetch_add(&self->owners, 1); }

void settings_release(sv_settings *self) {
    if (!self || atomic_fetch_sub(&self->owners, 1) > 1) return;
    json_decref(self->options);
    sa_schema_release(self->schema);
    free(self);
}

void settings_write(const sv_settings *self, sv_text *out) {
    char *options = json_dumps(self->options, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    if (!options) out->failed = true;
    text_put(out, "{\"options\": %s, ", options ? options : "{}");
    free(options);
    if (self->schema) text_put(out, "\"schema\": %s, ", sa_schema_text(self->schema));
    text_put(out, "\"slate\": %zu, \"default_feedback\": ", self->slate);
    text_number(out, self->default_feedback);
    text_put(out, ", \"wait_seconds\": ");
    text_number(out, self->wait_seconds);
    text_put(out, ", \"aggregate\": \"%s\", \"retention_days\": ", AGGREGATES[self->aggregate]);
    text_number(out, self->retention_days);
    text_put(out, "}");
}

bool settings_same_schema(const sv_settings *self, const sv_settings *other) {
    if (!self->schema || !other->schema) return self->schema == other->schema;
    return !strcmp(sa_schema_text(self->schema), sa_schema_text(other->schema));
}

bool settings_same_agent(const sv_settings *self, const sv_settings *other) {
    char position[64] = "";
    const char *feedback = json_string_value(json_object_get(self->options, "feedback"));
    if (feedback) snprintf(position, sizeof position, "%s", feedback);
    if (!strcmp(position, "position") && self->slate != other->slate)
        return false; /* it has a weight a position */
    return settings_same_schema(self, other) && json_equal(self->options, other->options);
}

static bool same_number(double one, double other) { return one == other || (isnan(one) && isnan(other)); }

bool settings_same(const sv_settings *self, const sv_settings *other) {
    return settings_same_agent(self, other) && self->slate == other->slate &&
           self->aggregate == other->aggregate &&
           same_number(self->default_feedback, other->default_feedback) &&
           self->wait_seconds == other->wait_seconds && self->retention_days == other->retention_days;
}
