/* What PUT says about an agent: the library's options, and how its events are treated. Immutable once
 * read, and counted. */
#ifndef SERVE_SETTINGS_H
#define SERVE_SETTINGS_H

#include <stdatomic.h>
#include <superarm/json.h>

#include "refusal.h"
#include "rewards.h"

typedef enum aggregate { AGGREGATE_LAST, AGGREGATE_SUM, AGGREGATE_MAX, AGGREGATE_FIRST } sv_aggregate;

/* Who chooses what is shown: the agent; or the shop, while the agent learns from it, and, as an
 * apprentice, is compared with it. */
typedef enum mode { MODE_ONLINE, MODE_SHADOW, MODE_APPRENTICE } sv_mode;
const char *sv_mode_name(sv_mode mode);

/* An option as it was given. */
typedef struct option {
    char *name, *value;
    bool quoted; /* JSON has its value as a string */
} sv_option;

typedef struct options {
    sv_option *all; /* (count) by name */
    size_t count;
} sv_options;

/* NULL: it is not there. */
const sv_option *sv_options_find(const sv_options *self, const char *name);
/* Sets an option, whose value is copied; false when memory is short. */
bool sv_options_put(sv_options *self, const char *name, const char *value, bool quoted);
bool sv_options_copy(const sv_options *self, sv_options *out);
void sv_options_free(sv_options *self);
bool sv_options_same(const sv_options *self, const sv_options *other);
/* All but one, "": none, as a JSON object. */
void sv_options_write(const sv_options *self, const char *but, sa_buffer *out);

typedef struct settings {
    atomic_int owners;
    sv_options options;
    sa_schema *schema; /* NULL: contexts come as vectors */
    size_t dim;
    size_t slate;            /* K unless a request says otherwise */
    double default_feedback; /* NaN: an arm without feedback was not seen */
    double wait_seconds;     /* 0: until the first feedback */
    sv_aggregate aggregate;
    double retention_days;                    /* 0: for ever */
    double reward_range[2], feature_range[2]; /* what is outside is refused */
    sv_mode mode;
    sv_rewards rewards;
    double revise_days; /* for so long feedback revises what its event taught; 0: never */
    double control;     /* share of events that get the baseline, or a uniform slate, below 1 */
} sv_settings;

/* From PUT's body, to an agent that has `before` (NULL: a new one). NULL with a refusal. */
sv_settings *sv_settings_read(const sa_json *body, const sv_settings *before, bool *reset, sv_refusal *why);
/* From the journal. */
sv_settings *sv_settings_read_text(const char *bytes, size_t size, sv_refusal *why);
/* What can be read of settings that cannot be opened: no schema, and dim 0. NULL when memory is short. */
sv_settings *sv_settings_guess(const char *bytes, size_t size);
/* The same but for the options. NULL with a refusal. */
sv_settings *sv_settings_with(const sv_settings *self, const sv_options *options, sv_refusal *why);
/* Sets an option from the library's text: a number becomes a number, and so on. false when memory is
 * short. */
bool sv_settings_put(sv_options *options, const sa_option_info *info, const char *value);
/* Has a page one number, and not one an item? */
bool sv_settings_total(const sv_settings *self);
/* How long an event waits, in milliseconds; 0: for its feedback. */
int64_t sv_settings_wait(const sv_settings *self);
void sv_settings_retain(sv_settings *self);
void sv_settings_release(sv_settings *self); /* NULL is fine */
/* As JSON that sv_settings_read takes. */
void sv_settings_write(const sv_settings *self, sa_buffer *out);
/* The library's options; caller destroys. NULL with a refusal. */
sa_options *sv_settings_options(const sv_settings *self, sv_refusal *why);
/* The options of an object of JSON, 0: none, as they are kept; false with a refusal. */
bool sv_settings_plain_options(const sa_json *json, size_t given, sv_options *out, sv_refusal *why);
/* Is it an option that PUT takes? */
bool sv_settings_takes(const char *option);
/* Would an agent of the one be another agent than one of the other? */
bool sv_settings_same_agent(const sv_settings *self, const sv_settings *other);
bool sv_settings_same_schema(const sv_settings *self, const sv_settings *other);
/* Do they share out events, and value them, alike? */
bool sv_settings_same_control(const sv_settings *self, const sv_settings *other);
/* The same options and schema and also the rest. */
bool sv_settings_same(const sv_settings *self, const sv_settings *other);

#endif
