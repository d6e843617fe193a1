#include "settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "values.h"

static const char *const AGGREGATES[] = {"last", "sum", "max"};

/* The features of an arm: --dim, or what the schema has. */
static bool find_dim(sv_settings *self, sv_refusal *why) {
    char dim[64];
    if (self->schema) {
        size_t features = sa_schema_dim(self->schema);
        const json_t *given = json_object_get(self->options, "dim");
        if (given && (!json_is_integer(given) || (size_t)json_integer_value(given) != features))
            return sv_refuse(why, 400, "options: dim is not the schema's, %zu: leave it out", features);
        if (!given && json_object_set_new(self->options, "dim", json_integer((json_int_t)features)))
            return sv_refuse(why, 503, "memory could not be had");
    }
    if (!json_object_get(self->options, "dim"))
        return sv_refuse(why, 400,
                         "options: dim is missing, the number of features of an arm, and so is a schema: "
                         "{\"options\": {\"dim\": 20}}");
    sa_options *options = sv_settings_options(self, why);
    if (!options) return false;
    if (sa_options_check_read(options) != SA_OK) {
        sa_options_destroy(options);
        return sv_refuse(why, 400, "options: %s", sa_last_error());
    }
    sa_options_get(options, "dim", dim, sizeof dim);
    self->dim = strtoull(dim, NULL, 10);
    sa_options_destroy(options);
    return true;
}

/* [low, high]; where it is not given, so far to either side. */
static bool read_range(const json_t *body, const char *name, double wide, double out[2], sv_refusal *why) {
    const json_t *value = json_object_get(body, name);
    out[0] = -wide;
    out[1] = wide;
    if (!value || json_is_null(value)) return true;
    if (json_array_size(value) != 2)
        return sv_refuse(why, 400, "%s is not a list of two numbers, as in [0, 1]", name);
    for (size_t i = 0; i < 2; i++)
        if (!sv_value_number(json_array_get(value, i), name, &out[i], why)) return false;
    return out[0] < out[1] || sv_refuse(why, 400, "%s: %g is not less than %g", name, out[0], out[1]);
}

/* `strict`: from a client, who must say what silence means. */
static bool read_numbers(sv_settings *self, const json_t *body, const sv_settings *before, bool strict,
                         sv_refusal *why) {
    json_t *value;
    self->default_feedback = before ? before->default_feedback : NAN;
    self->wait_seconds = 600;
    self->retention_days = 90;
    if (!read_range(body, "reward_range", 1e9, self->reward_range, why) ||
        !read_range(body, "feature_range", 1e13, self->feature_range, why))
        return false;
    if (!json_object_get(body, "default_feedback") && strict && !before)
        return sv_refuse(
            why, 400,
            "default_feedback is missing, what an arm of a slate is worth that gets no feedback: 0, "
            "where it was seen and nothing came of it (clicks, sales); null, where nobody knows, and "
            "nothing is learnt of it (ratings)");
    if ((value = json_object_get(body, "default_feedback")) && json_is_null(value))
        self->default_feedback = NAN;
    else if (value && !sv_value_number(value, "default_feedback", &self->default_feedback, why))
        return false;
    if ((value = json_object_get(body, "wait_seconds")) &&
        !sv_value_number(value, "wait_seconds", &self->wait_seconds, why))
        return false;
    if (self->wait_seconds < 0 || self->wait_seconds > 31536000)
        return sv_refuse(why, 400, "wait_seconds %g is not between 0 and a year", self->wait_seconds);
    if ((value = json_object_get(body, "retention_days")) &&
        !sv_value_number(value, "retention_days", &self->retention_days, why))
        return false;
    if (self->retention_days < 0 || self->retention_days > 36500)
        return sv_refuse(why, 400, "retention_days %g is not between 0 (for ever) and 36500",
                         self->retention_days);
    self->slate = 4;
    if ((value = json_object_get(body, "slate")) &&
        !sv_value_whole(value, "slate", 1, LIMIT_ITEMS, &self->slate, why))
        return false;
    return true;
}

static bool read_schema(sv_settings *self, const json_t *value, sv_refusal *why) {
    if (!value || json_is_null(value)) return true;
    if (!json_is_object(value)) return sv_refuse(why, 400, "schema is no object");
    char *written = json_dumps(value, JSON_COMPACT);
    if (!written) return sv_refuse(why, 503, "memory could not be had");
    sa_status status = sa_schema_parse(written, strlen(written), "schema", &self->schema);
    free(written);
    return status == SA_OK || sv_refuse_library(why, status);
}

static bool read_aggregate(sv_settings *self, const json_t *body, sv_refusal *why) {
    const json_t *value = json_object_get(body, "aggregate");
    const char *word = json_string_value(value);
    size_t i = 0;
    if (!value) return true;
    while (i < 3 && (!word || strcmp(word, AGGREGATES[i]))) i++;
    if (i == 3) return sv_refuse(why, 400, "aggregate is none of last, sum and max");
    self->aggregate = (sv_aggregate)i;
    return true;
}

/* A setting like the others, that is an option of the library's. */
static bool read_keep_rows(sv_settings *self, const json_t *value, sv_refusal *why) {
    const json_t *given = json_object_get(self->options, "keep-rows");
    size_t rows;
    if (!value || json_is_null(value)) return true;
    if (!sv_value_whole(value, "keep_rows", 0, 1e12, &rows, why)) return false;
    if (given && json_integer_value(given) != (json_int_t)rows)
        return sv_refuse(why, 400, "keep_rows and the option keep-rows are not the same: leave one out");
    return json_object_set_new(self->options, "keep-rows", json_integer((json_int_t)rows)) == 0 ||
           sv_refuse(why, 503, "memory could not be had");
}

static bool read_rest(sv_settings *self, const json_t *body, sv_refusal *why) {
    if (!read_aggregate(self, body, why)) return false;
    if (!read_schema(self, json_object_get(body, "schema"), why)) return false;
    const json_t *value = json_object_get(body, "options");
    if (value && !json_is_object(value)) return sv_refuse(why, 400, "options is no object");
    self->options = sv_settings_plain_options(value, why);
    return self->options && read_keep_rows(self, json_object_get(body, "keep_rows"), why);
}

/* A floor is by place. One of an agent that is there stays as it was; journals of versions that knew no other
 * say nothing, and mean the page. */
static bool find_floor(sv_settings *self, const sv_settings *before, bool journal, sv_refusal *why) {
    const json_t *now = before ? json_object_get(before->options, "floor-by") : NULL;
    const char *by = journal ? "page" : now ? json_string_value(now) : "place";
    if (!(json_number_value(json_object_get(self->options, "floor")) > 0) ||
        json_object_get(self->options, "floor-by"))
        return true;
    return !json_object_set_new(self->options, "floor-by", json_string(by)) ||
           sv_refuse(why, 503, "memory could not be had");
}

static sv_settings *new_settings(sv_refusal *why) {
    sv_settings *self = calloc(1, sizeof *self);
    if (self)
        self->owners = 1;
    else
        sv_refuse(why, 503, "memory could not be had");
    return self;
}

sv_settings *sv_settings_read(const json_t *body, const sv_settings *before, bool *reset, sv_refusal *why) {
    static const char *const fields[] = {
        "options",        "schema", "slate",        "default_feedback", "wait_seconds", "aggregate",
        "retention_days", "reset",  "reward_range", "feature_range",    "keep_rows",    NULL};
    sv_settings *self = new_settings(why);
    if (!self) return NULL;
    json_t *again = json_object_get(body, "reset");
    if (!sv_value_fields(body, "an agent", fields, why)) goto fail;
    if (again && (!reset || !json_is_boolean(again))) {
        sv_refuse(why, 400, "reset is neither true nor false");
        goto fail;
    }
    if (reset) *reset = json_is_true(again);
    if (!read_numbers(self, body, before, reset, why) || !read_rest(self, body, why) ||
        !find_floor(self, json_is_true(again) ? NULL : before, !reset, why) || !find_dim(self, why))
        goto fail;
    return self;
fail:
    sv_settings_release(self);
    return NULL;
}

sv_settings *sv_settings_read_text(const char *bytes, size_t size, sv_refusal *why) {
    json_t *body = sv_value_parse(bytes, size, why);
    sv_settings *self = body ? sv_settings_read(body, NULL, NULL, why) : NULL;
    json_decref(body);
    return self;
}

sv_settings *sv_settings_guess(const char *bytes, size_t size) {
    sv_refusal why = {0};
    sv_settings *self = new_settings(&why);
    json_t *body = sv_value_parse(bytes, size, &why), *options = json_object_get(body, "options");
    if (self) {
        read_numbers(self, body, NULL, false, &why);
        read_aggregate(self, body, &why);
        self->options = json_is_object(options) ? json_deep_copy(options) : json_object();
    }
    json_decref(body);
    if (self && self->options) return self;
    sv_settings_release(self);
    return NULL;
}

/* Through the same gate as any other: what PUT would refuse is refused here. */
sv_settings *sv_settings_with(const sv_settings *self, json_t *options, sv_refusal *why) {
    sv_text written = {0};
    sv_settings part = {.options = options,
                        .schema = self->schema,
                        .slate = self->slate,
                        .default_feedback = self->default_feedback,
                        .wait_seconds = self->wait_seconds,
                        .aggregate = self->aggregate,
                        .retention_days = self->retention_days,
                        .reward_range = {self->reward_range[0], self->reward_range[1]},
                        .feature_range = {self->feature_range[0], self->feature_range[1]}};
    if (options) sv_settings_write(&part, &written);
    sv_settings *made = NULL;
    if (!options || written.failed)
        sv_refuse(why, 503, "memory could not be had");
    else
        made = sv_settings_read_text(written.data, written.size, why);
    text_free(&written);
    json_decref(options);
    return made;
}

void sv_settings_retain(sv_settings *self) { atomic_fetch_add(&self->owners, 1); }

void sv_settings_release(sv_settings *self) {
    if (!self || atomic_fetch_sub(&self->owners, 1) > 1) return;
    json_decref(self->options);
    sa_schema_release(self->schema);
    free(self);
}

void sv_settings_write(const sv_settings *self, sv_text *out) {
    json_t *others = json_copy(self->options), *rows = json_object_get(self->options, "keep-rows");
    bool bounded = json_is_integer(rows) && json_integer_value(rows) >= 0;
    if (others && bounded) json_object_del(others, "keep-rows");
    char *options = json_dumps(others, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    if (!options) out->failed = true;
    text_put(out, "{\"options\": %s, ", options ? options : "{}");
    free(options);
    json_decref(others);
    if (self->schema) text_put(out, "\"schema\": %s, ", sa_schema_text(self->schema));
    text_put(out, "\"slate\": %zu, \"default_feedback\": ", self->slate);
    text_number(out, self->default_feedback);
    text_put(out, ", \"wait_seconds\": ");
    text_number(out, self->wait_seconds);
    text_put(out, ", \"aggregate\": \"%s\", \"retention_days\": ", AGGREGATES[self->aggregate]);
    text_number(out, self->retention_days);
    text_put(out, ", \"reward_range\": ");
    text_numbers(out, self->reward_range, 2);
    text_put(out, ", \"feature_range\": ");
    text_numbers(out, self->feature_range, 2);
    if (bounded)
        text_put(out, ", \"keep_rows\": %" JSON_INTEGER_FORMAT "}", json_integer_value(rows));
    else
        text_put(out, ", \"keep_rows\": null}");
}

bool sv_settings_same_schema(const sv_settings *self, const sv_settings *other) {
    if (!self->schema || !other->schema) return self->schema == other->schema;
    return !strcmp(sa_schema_text(self->schema), sa_schema_text(other->schema));
}

bool sv_settings_same_agent(const sv_settings *self, const sv_settings *other) {
    char position[64] = "";
    const char *feedback = json_string_value(json_object_get(self->options, "feedback"));
    if (feedback) snprintf(position, sizeof position, "%s", feedback);
    if (!strcmp(position, "position") && self->slate != other->slate)
        return false; /* it has a weight a position */
    return sv_settings_same_schema(self, other) && json_equal(self->options, other->options);
}

static bool same_number(double one, double other) { return one == other || (isnan(one) && isnan(other)); }

bool sv_settings_same(const sv_settings *self, const sv_settings *other) {
    return sv_settings_same_agent(self, other) && self->slate == other->slate &&
           self->aggregate == other->aggregate &&
           same_number(self->default_feedback, other->default_feedback) &&
           self->wait_seconds == other->wait_seconds && self->retention_days == other->retention_days &&
           !memcmp(self->reward_range, other->reward_range, sizeof self->reward_range) &&
           !memcmp(self->feature_range, other->feature_range, sizeof self->feature_range);
}
