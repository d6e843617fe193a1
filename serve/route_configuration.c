/* Personalizer's configuration of a resource, in its words, and the model. A PUT of it becomes a PUT of the
 * agent with what it changes; where there is none, it is made. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "duration.h"
#include "personalizer.h"
#include "routes.h"
#include "service.h"
#include "values.h"

static const struct name {
    const char *theirs;
    int ours;
} MODES[] = {{"Online", MODE_ONLINE}, {"Apprentice", MODE_APPRENTICE}, {"LoggingOnly", MODE_SHADOW}},
  AGGREGATIONS[] = {{"earliest", AGGREGATE_FIRST},
                    {"sum", AGGREGATE_SUM},
                    {"last", AGGREGATE_LAST},
                    {"max", AGGREGATE_MAX}};

static const char *name_of(const struct name *names, size_t count, int ours) {
    for (size_t i = 0; i < count; i++)
        if (names[i].ours == ours) return names[i].theirs;
    return "";
}

/* The agent's settings, or those that it would be made with; caller releases them. */
static sv_settings *find_settings(sv_exchange *self, sv_refusal *why) {
    return self->agent ? sv_agent_settings(self->agent)
                       : sv_settings_read_text(SV_PERSONALIZER_AGENT, strlen(SV_PERSONALIZER_AGENT), why);
}

/* ---- GET ---- */

static void write_configuration(const sv_settings *settings, sa_buffer *out) {
    const sv_option *floor = sv_options_find(&settings->options, "floor");
    sa_buffer_text(out, "{\"rewardWaitTime\": \"");
    sv_duration_write(settings->wait_seconds, out);
    sa_buffer_text(out, "\", \"defaultReward\": ");
    sa_buffer_number(out, settings->default_feedback, 0);
    sa_buffer_format(out, ", \"rewardAggregation\": \"%s\", \"explorationPercentage\": %s",
                     name_of(AGGREGATIONS, 4, settings->aggregate), floor ? floor->value : "0");
    /* policies are published as they are learnt */
    sa_buffer_text(out, ", \"modelExportFrequency\": \"PT1S\", \"logRetentionDays\": ");
    sa_buffer_number(out, settings->retention_days > 0 ? settings->retention_days : -1, 0);
    sa_buffer_format(out,
                     ", \"learningMode\": \"%s\", \"logMirrorEnabled\": false, "
                     "\"isAutoOptimizationEnabled\": false}\n",
                     name_of(MODES, 3, settings->mode));
}

/* The agent of no name is there before it is made, and others are not. */
static bool is_there(const sv_exchange *self, sv_refusal *why) {
    return self->agent || !strcmp(self->name, SV_PERSONALIZER_OWN) ||
           sv_refuse(why, 404,
                     "there is no agent %s: PUT /%s/personalizer/v1.0/configurations/service makes it",
                     self->name, self->name);
}

void sv_route_configuration(sv_exchange *self) {
    sv_refusal why = {0};
    sv_settings *settings = is_there(self, &why) ? find_settings(self, &why) : NULL;
    if (settings) {
        write_configuration(settings, &self->answer);
        sv_exchange_answer(self, 200);
    } else
        sv_exchange_refuse(self, &why);
    sv_settings_release(settings);
}

void sv_route_personalizer_status(sv_exchange *self) {
    sv_refusal why = {0};
    if (!is_there(self, &why) || (self->agent && !sv_agent_is_sound(self->agent, &why))) {
        sv_exchange_refuse(self, &why);
        return;
    }
    sa_buffer_format(
        &self->answer,
        "{\"service\": \"personalizer\", \"apiStatus\": \"Valid\", \"apiStatusMessage\": \"%s\"}\n",
        self->agent ? "the agent is there" : "the first rank makes the agent");
    sv_exchange_answer(self, 200);
}

/* ---- PUT ---- */

/* A text of a few words; "" where it is not given, or null. */
static bool read_word(const sa_json *json, const char *name, char out[LIMIT_ID + 1], sv_refusal *why) {
    size_t at = sa_json_find(json, 0, name);
    *out = 0;
    return !at || sv_value_is(json, at, SA_JSON_NULL) || sv_value_id(json, at, name, out, why);
}

static bool read_name(const sa_json *json, const char *name, const struct name *names, size_t count, int *out,
                      sv_refusal *why) {
    char word[LIMIT_ID + 1];
    if (!read_word(json, name, word, why)) return false;
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(word, names[i].theirs)) continue;
        *out = names[i].ours;
        return true;
    }
    sa_buffer all = {0};
    for (size_t i = 0; i < count; i++) sa_buffer_format(&all, "%s%s", i ? ", " : "", names[i].theirs);
    if (*word) sv_refuse(why, 400, "%s %.64s is none of %s", name, word, all.status ? "its words" : all.text);
    sa_buffer_clear(&all);
    return !*word;
}

static bool read_duration(const sa_json *json, const char *name, double *out, sv_refusal *why) {
    char word[LIMIT_ID + 1];
    if (!read_word(json, name, word, why)) return false;
    return !*word || sv_duration_read(word, out) ||
           sv_refuse(why, 400, "%s %.64s is no duration such as PT10M", name, word);
}

static bool read_number(const sa_json *json, const char *name, double low, double high, double *out,
                        sv_refusal *why) {
    size_t at = sa_json_find(json, 0, name);
    if (!at || sv_value_is(json, at, SA_JSON_NULL)) return true;
    if (!sv_value_number(json, at, name, out, why)) return false;
    return (*out >= low && *out <= high) ||
           sv_refuse(why, 400, "%s %g is not between %g and %g", name, *out, low, high);
}

/* What this service does not have can be switched off, and not on. */
static bool is_off(const sa_json *json, const char *name, sv_refusal *why) {
    size_t at = sa_json_find(json, 0, name);
    return !at || sv_value_is(json, at, SA_JSON_NULL) || sv_value_is(json, at, SA_JSON_FALSE) ||
           sv_refuse(why, 400, "%s is not false, and there is no such thing here", name);
}

static bool read_floor(const sa_json *json, sv_options *options, sv_refusal *why) {
    const sv_option *now = sv_options_find(options, "floor");
    double floor = -1;
    char text[32];
    if (!read_number(json, "explorationPercentage", 0, 1, &floor, why)) return false;
    snprintf(text, sizeof text, "%.15g", floor);
    if (floor < 0 || (now && !strcmp(now->value, text))) return true;
    return sv_options_put(options, "floor", text, false) || sv_refuse(why, 503, "memory could not be had");
}

/* What is given changes the settings, whose options are their own copy. */
static bool change(sv_settings *settings, const sa_json *json, sv_refusal *why) {
    static const char *const fields[] = {"rewardWaitTime",
                                         "defaultReward",
                                         "rewardAggregation",
                                         "explorationPercentage",
                                         "modelExportFrequency",
                                         "logRetentionDays",
                                         "learningMode",
                                         "logMirrorEnabled",
                                         "logMirrorSasUri",
                                         "lastConfigurationEditDate",
                                         "isAutoOptimizationEnabled",
                                         "autoOptimizationFrequency",
                                         "autoOptimizationStartDate",
                                         NULL};
    int mode = settings->mode, aggregate = settings->aggregate;
    double days = settings->retention_days > 0 ? settings->retention_days : -1, unused;
    const double *range = settings->reward_range;
    bool good = sv_value_fields(json, 0, "a configuration", fields, why) &&
                read_duration(json, "rewardWaitTime", &settings->wait_seconds, why) &&
                read_duration(json, "modelExportFrequency", &unused, why) &&
                read_number(json, "defaultReward", range[0], range[1], &settings->default_feedback, why) &&
                read_name(json, "rewardAggregation", AGGREGATIONS, 4, &aggregate, why) &&
                read_name(json, "learningMode", MODES, 3, &mode, why) &&
                read_number(json, "logRetentionDays", -1, 36500, &days, why) &&
                is_off(json, "logMirrorEnabled", why) && is_off(json, "isAutoOptimizationEnabled", why) &&
                read_floor(json, &settings->options, why);
    settings->mode = (sv_mode)mode;
    settings->aggregate = (sv_aggregate)aggregate;
    settings->retention_days = days > 0 ? days : 0;
    return good;
}

static void shape_configuration(sv_exchange *self) {
    sv_settings *settings = sv_agent_settings(self->agent);
    sa_buffer_clear(&self->answer);
    write_configuration(settings, &self->answer);
    sv_settings_release(settings);
    self->status = 200;
}

/* The body of a PUT of the agent: its settings as they are, but for what `json` says (NULL: nothing). */
static bool write_put(sv_exchange *self, const sa_json *json, bool reset, sv_refusal *why) {
    sa_buffer body = {0};
    sv_settings *before = find_settings(self, why);
    if (!before) return false;
    sv_settings after = *before;
    bool good =
        sv_options_copy(&before->options, &after.options) || sv_refuse(why, 503, "memory could not be had");
    if (good && json) good = change(&after, json, why);
    if (good) sv_settings_write(&after, &body);
    if (good && reset) { /* one setting more */
        body.size--;
        sa_buffer_text(&body, ", \"reset\": true}");
    }
    if (good && body.status) good = sv_refuse(why, 503, "memory could not be had");
    sv_options_free(&after.options);
    sv_settings_release(before);
    if (good) {
        sa_buffer_clear(&self->body);
        self->body = body;
    } else
        sa_buffer_clear(&body);
    return good;
}

void sv_route_put_configuration(sv_exchange *self) {
    sv_refusal why = {0};
    sa_json json = {0};
    bool good = sv_value_parse(&json, self->body.text, self->body.size, NULL, &why) &&
                write_put(self, &json, false, &why);
    sa_json_clear(&json);
    self->shape = shape_configuration;
    if (good)
        sv_route_put_agent(self);
    else
        sv_exchange_refuse(self, &why);
}

/* ---- the model ---- */

static void shape_nothing(sv_exchange *self) {
    sa_buffer_clear(&self->answer);
    self->status = 204;
}

void sv_route_import_model(sv_exchange *self) {
    self->shape = shape_nothing;
    sv_route_put_model(self);
}

void sv_route_reset_model(sv_exchange *self) {
    sv_refusal why = {0};
    self->shape = shape_nothing;
    if (write_put(self, NULL, true, &why))
        sv_route_put_agent(self);
    else
        sv_exchange_refuse(self, &why);
}

/* Of the policy that decides now: a new one is made whenever something was learnt. */
void sv_route_model_properties(sv_exchange *self) {
    char text[32];
    struct tm day;
    pthread_mutex_lock(&self->agent->lock);
    double age = self->agent->policy ? sv_clock_seconds() - self->agent->policy_time : 0;
    pthread_mutex_unlock(&self->agent->lock);
    time_t then = (time_t)((double)sv_clock_milliseconds() / 1000 - age);
    gmtime_r(&then, &day);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &day);
    sa_buffer_format(&self->answer, "{\"creationTime\": \"%s\", \"lastModifiedTime\": \"%s\"}\n", text, text);
    sv_exchange_answer(self, 200);
}
