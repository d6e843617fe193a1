/* The library's options from what PUT names, and back. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "settings.h"

/* An option's value as the text that the library reads. */
static bool option_text(const char *name, const json_t *value, char out[512], sv_refusal *why) {
    sv_text number = {0};
    if (json_is_string(value)) {
        if (json_string_length(value) >= 500) return sv_refuse(why, 400, "options: %s is too long", name);
        strcpy(out, json_string_value(value));
    } else if (json_is_boolean(value))
        strcpy(out, json_is_true(value) ? "true" : "false");
    else if (json_is_integer(value))
        sprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value)) {
        text_number(&number, json_real_value(value));
        if (number.failed) return sv_refuse(why, 503, "memory could not be had");
        strcpy(out, number.data);
        text_free(&number);
    } else
        return sv_refuse(why, 400, "options: %.64s is neither a number, a string nor true or false", name);
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

static bool set_option(sa_options *options, const char *name, const json_t *value, sv_refusal *why) {
    char written[512];
    if (!is_taken(name, why) || !option_text(name, value, written, why)) return false;
    if (!strcmp(name, "oracle") && !strcmp(written, "auto")) return true; /* the service's own word */
    sa_status status = sa_options_set(options, name, written);
    return status == SA_OK || sv_refuse_library(why, status);
}

/* Names as the list has them, and numbers as numbers: the same options are then the same JSON, however they
 * were written. */
static bool put_option(json_t *into, const char *name, const json_t *value, sv_refusal *why) {
    sa_option_info info;
    if (!is_taken(name, why)) return false;
    sa_option_find(name, &info);
    if (json_object_get(into, info.name))
        return sv_refuse(why, 400, "options: %s and %s are the same", name, info.name);
    json_t *plain =
        json_is_string(value) ? sv_settings_value(&info, json_string_value(value)) : json_deep_copy(value);
    return json_object_set_new(into, info.name, plain) == 0 || sv_refuse(why, 503, "memory could not be had");
}

json_t *sv_settings_plain_options(const json_t *given, sv_refusal *why) {
    const char *name;
    json_t *value, *plain = json_object();
    if (!plain) sv_refuse(why, 503, "memory could not be had");
    json_object_foreach((json_t *)given, name, value) if (plain && !put_option(plain, name, value, why)) {
        json_decref(plain);
        plain = NULL;
    }
    if (plain && !json_object_get(plain, "oracle"))
        json_object_set_new(plain, "oracle", json_string("auto")); /* the one that a request's rules need */
    return plain;
}

json_t *sv_settings_value(const sa_option_info *info, const char *value) {
    char *end;
    if (!strcmp(info->kind, "flag") && (!strcmp(value, "true") || !strcmp(value, "false")))
        return json_boolean(!strcmp(value, "true"));
    if (strcmp(info->kind, "integer") && strcmp(info->kind, "number")) return json_string(value);
    long long whole = strtoll(value, &end, 10);
    if (end != value && !*end && whole != LLONG_MAX && whole != LLONG_MIN) return json_integer(whole);
    double number = strtod(value, &end);
    return end != value && !*end && isfinite(number) ? json_real(number) : json_string(value);
}

sa_options *sv_settings_options(const sv_settings *self, sv_refusal *why) {
    const char *name;
    json_t *value, *preset = json_object_get(self->options, "preset");
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
    if (preset && !set_option(options, "preset", preset, why)) goto fail;
    json_object_foreach(self->options, name, value) if (!set_option(options, name, value, why)) goto fail;
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
