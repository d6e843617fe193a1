#include "settings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "values.h"

static const char *const AGGREGATES[] = {"last", "sum", "max", "first"};
static const char *const MODES[] = {"online", "shadow", "apprentice"};

const char *sv_mode_name(sv_mode mode) { return MODES[mode]; }

/* The features of an arm: --dim, or what the schema has. */
static bool find_dim(sv_settings *self, sv_refusal *why) {
    char dim[64];
    if (self->schema) {
        size_t features = sa_schema_dim(self->schema);
        const sv_option *given = sv_options_find(&self->options, "dim");
        snprintf(dim, sizeof dim, "%zu", features);
        if (given && strcmp(given->value, dim))
            return sv_refuse(why, 400, "options: dim is not the schema's, %zu: leave it out", features);
        if (!given && !sv_options_put(&self->options, "dim", dim, false))
            return sv_refuse(why, 503, "memory could not be had");
    }
    if (!sv_options_find(&self->options, "dim"))
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
static bool read_range(const sa_json *body, const char *name, double wide, double out[2], sv_refusal *why) {
    size_t at = sa_json_find(body, 0, name);
    out[0] = -wide;
    out[1] = wide;
    if (!at || sv_value_is(body, at, SA_JSON_NULL)) return true;
    if (!sv_value_is(body, at, SA_JSON_ARRAY) || sa_json_count(body, at) != 2)
        return sv_refuse(why, 400, "%s is not a list of two numbers, as in [0, 1]", name);
    size_t low = at + 1, high = body->nodes[low].next;
    if (!sv_value_number(body, low, name, &out[0], why) || !sv_value_number(body, high, name, &out[1], why))
        return false;
    return out[0] < out[1] || sv_refuse(why, 400, "%s: %g is not less than %g", name, out[0], out[1]);
}

/* A number that may be missing: then `*out` stays. */
static bool read_number(const sa_json *body, const char *name, double *out, sv_refusal *why) {
    size_t at = sa_json_find(body, 0, name);
    return !at || sv_value_number(body, at, name, out, why);
}

/* `strict`: from a client, who must say what silence means. */
static bool read_numbers(sv_settings *self, const sa_json *body, const sv_settings *before, bool strict,
                         sv_refusal *why) {
    size_t at = sa_json_find(body, 0, "default_feedback");
    self->default_feedback = before ? before->default_feedback : NAN;
    self->wait_seconds = 600;
    self->retention_days = 90;
    if (!read_range(body, "reward_range", 1e9, self->reward_range, why) ||
        !read_range(body, "feature_range", 1e13, self->feature_range, why))
        return false;
    if (!at && strict && !before)
        return sv_refuse(
            why, 400,
            "default_feedback is missing, what an arm of a slate is worth that gets no feedback: 0, "
            "where it was seen and nothing came of it (clicks, sales); null, where nobody knows, and "
            "nothing is learnt of it (ratings)");
    if (at && sv_value_is(body, at, SA_JSON_NULL))
        self->default_feedback = NAN;
    else if (!read_number(body, "default_feedback", &self->default_feedback, why))
        return false;
    if (!read_number(body, "wait_seconds", &self->wait_seconds, why)) return false;
    if (self->wait_seconds < 0 || self->wait_seconds > 31536000)
        return sv_refuse(why, 400, "wait_seconds %g is not between 0 and a year", self->wait_seconds);
    if (!read_number(body, "retention_days", &self->retention_days, why)) return false;
    if (self->retention_days < 0 || self->retention_days > 36500)
        return sv_refuse(why, 400, "retention_days %g is not between 0 (for ever) and 36500",
                         self->retention_days);
    self->slate = 4;
    return !(at = sa_json_find(body, 0, "slate")) ||
           sv_value_whole(body, at, "slate", 1, LIMIT_ITEMS, &self->slate, why);
}

static bool read_schema(sv_settings *self, const sa_json *body, sv_refusal *why) {
    size_t at = sa_json_find(body, 0, "schema");
    sa_buffer written = {0};
    if (!at || sv_value_is(body, at, SA_JSON_NULL)) return true;
    if (!sv_value_is(body, at, SA_JSON_OBJECT)) return sv_refuse(why, 400, "schema is no object");
    sa_buffer_value(&written, body, at);
    sa_status status = written.status;
    if (status == SA_OK) status = sa_schema_parse(written.text, written.size, "schema", &self->schema);
    sa_buffer_clear(&written);
    return status == SA_OK || sv_refuse_library(why, status);
}

static bool read_aggregate(sv_settings *self, const sa_json *body, sv_refusal *why) {
    size_t at = sa_json_find(body, 0, "aggregate"), i = 0;
    if (!at) return true;
    while (i < 4 && !sa_json_equals(body, at, AGGREGATES[i])) i++;
    if (i == 4) return sv_refuse(why, 400, "aggregate is none of last, first, sum and max");
    self->aggregate = (sv_aggregate)i;
    return true;
}

static bool read_sides(sv_settings *self, const sa_json *body, sv_refusal *why) {
    size_t at = sa_json_find(body, 0, "mode"), i = 0;
    while (at && i < 3 && !sa_json_equals(body, at, MODES[i])) i++;
    if (i == 3) return sv_refuse(why, 400, "mode is none of online, shadow and apprentice");
    self->mode = (sv_mode)i;
    if (!sv_rewards_read(&self->rewards, body, sa_json_find(body, 0, "rewards"), why)) return false;
    if (!read_number(body, "control", &self->control, why)) return false;
    if (!read_number(body, "revise_days", &self->revise_days, why)) return false;
    if (!(self->revise_days >= 0 && self->revise_days <= 365))
        return sv_refuse(why, 400, "revise_days %g is not between 0 (never) and 365", self->revise_days);
    return (self->control >= 0 && self->control < 1) ||
           sv_refuse(why, 400, "control is %g, and a share of events is wanted: 0 or more, and below 1",
                     self->control);
}

/* Feedback of such a kind would be refused. Journals may have it, of versions that did not look. */
static bool check_rewards(const sv_settings *self, sv_refusal *why) {
    const double *range = self->reward_range;
    for (size_t i = 0; i < self->rewards.count; i++) {
        const sv_reward_kind *kind = &self->rewards.kinds[i];
        if (!(kind->weight >= range[0] && kind->weight <= range[1]))
            return sv_refuse(why, 400, "rewards: %s is %g, outside the agent's reward_range, %g to %g",
                             kind->name, kind->weight, range[0], range[1]);
    }
    return true;
}

/* A setting like the others, that is an option of the library's. */
static bool read_keep_rows(sv_settings *self, const sa_json *body, sv_refusal *why) {
    const sv_option *given = sv_options_find(&self->options, "keep-rows");
    size_t at = sa_json_find(body, 0, "keep_rows"), rows;
    char text[32];
    if (!at || sv_value_is(body, at, SA_JSON_NULL)) return true;
    if (!sv_value_whole(body, at, "keep_rows", 0, 1e12, &rows, why)) return false;
    snprintf(text, sizeof text, "%zu", rows);
    if (given && strcmp(given->value, text))
        return sv_refuse(why, 400, "keep_rows and the option keep-rows are not the same: leave one out");
    return sv_options_put(&self->options, "keep-rows", text, false) ||
           sv_refuse(why, 503, "memory could not be had");
}

static bool read_rest(sv_settings *self, const sa_json *body, sv_refusal *why) {
    if (!read_aggregate(self, body, why) || !read_sides(self, body, why) || !read_schema(self, body, why))
        return false;
    size_t options = sa_json_find(body, 0, "options");
    if (options && !sv_value_is(body, options, SA_JSON_OBJECT))
        return sv_refuse(why, 400, "options is no object");
    return sv_settings_plain_options(body, options, &self->options, why) && read_keep_rows(self, body, why);
}

/* A floor is by place. One of an agent that is there stays as it was; journals of versions that knew no other
 * say nothing, and mean the page. */
static bool find_floor(sv_settings *self, const sv_settings *before, bool journal, sv_refusal *why) {
    const sv_option *now = before ? sv_options_find(&before->options, "floor-by") : NULL,
                    *floor = sv_options_find(&self->options, "floor");
    const char *by = journal ? "page" : now ? now->value : "place";
    if (!floor || !(strtod(floor->value, NULL) > 0) || sv_options_find(&self->options, "floor-by"))
        return true;
    return sv_options_put(&self->options, "floor-by", by, true) ||
           sv_refuse(why, 503, "memory could not be had");
}

/* What is to be revised must be remembered. */
static bool find_memory(sv_settings *self, sv_refusal *why) {
    const sv_option *algorithm = sv_options_find(&self->options, "algorithm");
    const char *model = algorithm ? sa_algorithm_model(algorithm->value) : NULL;
    if (!(self->revise_days > 0)) return true;
    if (model && !strncmp(model, "partition", 9))
        return sv_refuse(why, 400,
                         "revise_days: algorithm %s cannot revise feedback: its cells have taken it in",
                         algorithm->value);
    return sv_options_find(&self->options, "pending-limit") ||
           sv_options_put(&self->options, "pending-limit", "100000", false) ||
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

sv_settings *sv_settings_read(const sa_json *body, const sv_settings *before, bool *reset, sv_refusal *why) {
    static const char *const fields[] = {
        "options",      "schema",        "slate",          "default_feedback",
        "wait_seconds", "aggregate",     "retention_days", "reset",
        "reward_range", "feature_range", "keep_rows",      "mode",
        "control",      "rewards",       "revise_days",    NULL};
    sv_settings *self = new_settings(why);
    if (!self) return NULL;
    bool given = false;
    size_t again = sa_json_find(body, 0, "reset");
    if (!sv_value_fields(body, 0, "an agent", fields, why)) goto fail;
    if (again && (!sv_value_flag(body, again, "reset", &given, why) || !reset)) {
        sv_refuse(why, 400, "reset is neither true nor false");
        goto fail;
    }
    if (reset) *reset = given;
    if (!read_numbers(self, body, before, reset, why) || !read_rest(self, body, why) ||
        (reset && !check_rewards(self, why)) || !find_floor(self, given ? NULL : before, !reset, why) ||
        !find_memory(self, why) || !find_dim(self, why))
        goto fail;
    return self;
fail:
    sv_settings_release(self);
    return NULL;
}

sv_settings *sv_settings_read_text(const char *bytes, size_t size, sv_refusal *why) {
    sa_json body = {0};
    sv_settings *self =
        sv_value_parse(&body, bytes, size, NULL, why) ? sv_settings_read(&body, NULL, NULL, why) : NULL;
    sa_json_clear(&body);
    return self;
}

/* Options of an object as they stand there, whatever they are. */
static void guess_options(const sa_json *body, sv_options *out) {
    size_t options = sa_json_find(body, 0, "options");
    sv_refusal why;
    if (!options || !sv_value_is(body, options, SA_JSON_OBJECT)) return;
    for (size_t key = options + 1; key < body->nodes[options].next; key = body->nodes[key + 1].next) {
        char name[LIMIT_ID + 1], value[LIMIT_ID + 1];
        const sa_json_node *node = &body->nodes[key + 1];
        bool quoted = node->kind == SA_JSON_STRING;
        if (!sv_value_id(body, key, "an option", name, &why)) continue;
        if (quoted && sv_value_id(body, key + 1, name, value, &why))
            sv_options_put(out, name, value, true);
        else if (node->kind < SA_JSON_STRING && node->kind > SA_JSON_NULL) {
            snprintf(value, sizeof value, "%.*s", (int)node->size, body->text + node->start);
            sv_options_put(out, name, value, false);
        }
    }
}

sv_settings *sv_settings_guess(const char *bytes, size_t size) {
    sv_refusal why = {0};
    sa_json body = {0};
    sv_settings *self = new_settings(&why);
    if (!sv_value_parse(&body, bytes, size, NULL, &why)) { /* nothing is known of it */
        sa_json_clear(&body);
        sa_json_parse(&body, "{}", 2);
    }
    if (self && body.count) {
        read_numbers(self, &body, NULL, false, &why);
        read_aggregate(self, &body, &why);
        read_sides(self, &body, &why);
        guess_options(&body, &self->options);
    }
    sa_json_clear(&body);
    return self;
}

/* Through the same gate as any other: what PUT would refuse is refused here. */
sv_settings *sv_settings_with(const sv_settings *self, const sv_options *options, sv_refusal *why) {
    sa_buffer written = {0};
    sv_settings part = {.options = *options,
                        .schema = self->schema,
                        .slate = self->slate,
                        .default_feedback = self->default_feedback,
                        .wait_seconds = self->wait_seconds,
                        .aggregate = self->aggregate,
                        .retention_days = self->retention_days,
                        .mode = self->mode,
                        .control = self->control,
                        .rewards = self->rewards,
                        .revise_days = self->revise_days,
                        .reward_range = {self->reward_range[0], self->reward_range[1]},
                        .feature_range = {self->feature_range[0], self->feature_range[1]}};
    sv_settings_write(&part, &written);
    sv_settings *made = NULL;
    if (written.status)
        sv_refuse(why, 503, "memory could not be had");
    else
        made = sv_settings_read_text(written.text, written.size, why);
    sa_buffer_clear(&written);
    return made;
}

bool sv_settings_total(const sv_settings *self) {
    const sv_option *feedback = sv_options_find(&self->options, "feedback");
    return feedback && !strcmp(feedback->value, "total");
}

int64_t sv_settings_wait(const sv_settings *self) {
    int64_t wait = (int64_t)(self->wait_seconds * 1000);
    return self->wait_seconds > 0 && !wait ? 1 : wait;
}

void sv_settings_retain(sv_settings *self) { atomic_fetch_add(&self->owners, 1); }

void sv_settings_release(sv_settings *self) {
    if (!self || atomic_fetch_sub(&self->owners, 1) > 1) return;
    sv_options_free(&self->options);
    sa_schema_release(self->schema);
    free(self);
}

void sv_settings_write(const sv_settings *self, sa_buffer *out) {
    const sv_option *rows = sv_options_find(&self->options, "keep-rows");
    bool bounded = rows && !rows->quoted && *rows->value != '-';
    sa_buffer_text(out, "{\"options\": ");
    sv_options_write(&self->options, bounded ? "keep-rows" : "", out);
    sa_buffer_text(out, ", ");
    if (self->schema) sa_buffer_format(out, "\"schema\": %s, ", sa_schema_text(self->schema));
    sa_buffer_format(out, "\"slate\": %zu, \"default_feedback\": ", self->slate);
    sa_buffer_number(out, self->default_feedback, 0);
    sa_buffer_format(out, ", \"wait_seconds\": ");
    sa_buffer_number(out, self->wait_seconds, 0);
    sa_buffer_format(out, ", \"aggregate\": \"%s\", \"retention_days\": ", AGGREGATES[self->aggregate]);
    sa_buffer_number(out, self->retention_days, 0);
    sa_buffer_format(out, ", \"reward_range\": ");
    sa_buffer_numbers(out, self->reward_range, 2, 0);
    sa_buffer_format(out, ", \"feature_range\": ");
    sa_buffer_numbers(out, self->feature_range, 2, 0);
    sa_buffer_format(out, ", \"mode\": \"%s\", \"control\": ", MODES[self->mode]);
    sa_buffer_number(out, self->control, 0);
    sa_buffer_text(out, ", \"rewards\": ");
    sv_rewards_write(&self->rewards, out);
    sa_buffer_text(out, ", \"revise_days\": ");
    sa_buffer_number(out, self->revise_days, 0);
    sa_buffer_format(out, ", \"keep_rows\": %s}", bounded ? rows->value : "null");
}

bool sv_settings_same_schema(const sv_settings *self, const sv_settings *other) {
    if (!self->schema || !other->schema) return self->schema == other->schema;
    return !strcmp(sa_schema_text(self->schema), sa_schema_text(other->schema));
}

bool sv_settings_same_agent(const sv_settings *self, const sv_settings *other) {
    const sv_option *feedback = sv_options_find(&self->options, "feedback");
    if (feedback && !strcmp(feedback->value, "position") && self->slate != other->slate)
        return false; /* it has a weight a position */
    return sv_settings_same_schema(self, other) && sv_options_same(&self->options, &other->options);
}

static bool same_number(double one, double other) { return one == other || (isnan(one) && isnan(other)); }

bool sv_settings_same_control(const sv_settings *self, const sv_settings *other) {
    return self->mode == other->mode && self->control == other->control &&
           sv_rewards_same(&self->rewards, &other->rewards);
}

bool sv_settings_same(const sv_settings *self, const sv_settings *other) {
    return sv_settings_same_agent(self, other) && self->slate == other->slate &&
           self->aggregate == other->aggregate &&
           same_number(self->default_feedback, other->default_feedback) &&
           sv_settings_same_control(self, other) && self->revise_days == other->revise_days &&
           self->wait_seconds == other->wait_seconds && self->retention_days == other->retention_days &&
           !memcmp(self->reward_range, other->reward_range, sizeof self->reward_range) &&
           !memcmp(self->feature_range, other->feature_range, sizeof self->feature_range);
}
