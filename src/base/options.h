/* The options as a struct, for the library's own files. */
#ifndef SA_BASE_OPTIONS_H
#define SA_BASE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options_list.h"
#include "base/status.h"
#include <superarm/options.h>

/* One enum for each list of choices. */
#define SA_CHOICE_ENUMERATOR(enumerator, name) SA_##enumerator,
#define SA_DECLARE_CHOICES(type, list) typedef enum type { list(SA_CHOICE_ENUMERATOR) type##_count } type
SA_DECLARE_CHOICES(sa_preset, SA_PRESETS);
SA_DECLARE_CHOICES(sa_precision, SA_PRECISIONS);
SA_DECLARE_CHOICES(sa_confidence_kind, SA_CONFIDENCES);
SA_DECLARE_CHOICES(sa_exact_form, SA_EXACT_FORMS);
SA_DECLARE_CHOICES(sa_widths, SA_WIDTHS);
SA_DECLARE_CHOICES(sa_oracle_kind, SA_ORACLES);
SA_DECLARE_CHOICES(sa_feedback_kind, SA_FEEDBACKS);
SA_DECLARE_CHOICES(sa_cascade_form, SA_CASCADE_FORMS);
SA_DECLARE_CHOICES(sa_user, SA_USERS);
SA_DECLARE_CHOICES(sa_init, SA_INITS);
SA_DECLARE_CHOICES(sa_output_scale, SA_OUTPUT_SCALES);
SA_DECLARE_CHOICES(sa_bias, SA_BIASES);
SA_DECLARE_CHOICES(sa_optimizer, SA_OPTIMIZERS);
SA_DECLARE_CHOICES(sa_rate_rule, SA_RATE_RULES);
SA_DECLARE_CHOICES(sa_rate_decay, SA_RATE_DECAYS);
SA_DECLARE_CHOICES(sa_normalization, SA_NORMALIZATIONS);
SA_DECLARE_CHOICES(sa_train_mode, SA_TRAIN_MODES);
SA_DECLARE_CHOICES(sa_deviation, SA_DEVIATIONS);
SA_DECLARE_CHOICES(sa_linear_form, SA_LINEAR_FORMS);
SA_DECLARE_CHOICES(sa_replay, SA_REPLAYS);
SA_DECLARE_CHOICES(sa_regret, SA_REGRETS);
SA_DECLARE_CHOICES(sa_clicks_kind, SA_CLICKS);
SA_DECLARE_CHOICES(sa_click_noise, SA_CLICK_NOISES);

enum {
#define SA_COUNT(...) +1
    SA_OPTION_TOTAL = 0 SA_OPTION_LIST(SA_COUNT, SA_COUNT, SA_COUNT, SA_COUNT, SA_COUNT)
};

struct sa_options {
#define SA_FIELD_INTEGER(field, ...) int64_t field;
#define SA_FIELD_NUMBER(field, ...) double field;
#define SA_FIELD_CHOICE(field, ...) int field; /* the enumerator */
#define SA_FIELD_FLAG(field, ...) bool field;
#define SA_FIELD_TEXT(field, ...) char *field; /* owned; "" when not set */
    SA_OPTION_LIST(SA_FIELD_INTEGER, SA_FIELD_NUMBER, SA_FIELD_CHOICE, SA_FIELD_FLAG, SA_FIELD_TEXT)
    bool given[SA_OPTION_TOTAL]; /* in the order of the list */
};

/* SA_INVALID when options contradict each other (a slate larger than the arms is for the environment to
 * say). */
sa_status sa_options_check_agent(const sa_options *options);
/* As if the option had not been given: its value stays. */
void sa_options_not_given(sa_options *options, const char *name);
/* Is an option other than the preset has it? Unlike sa_options_given, it does not tell a default from
 * the same value set by hand, as in a spec file that spells out everything. */
bool sa_options_changed(const sa_options *options, const char *name);
/* Positions that the model tells apart, each with an input of its own beside the arm's features: --slate
 * where the feedback depends on the position and nobody knows how, else 0. */
size_t sa_options_positions(const sa_options *options);
/* Is feedback learnt from with the discounts of its positions? */
bool sa_options_discounted(const sa_options *options);

#endif
