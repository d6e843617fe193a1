/* All options: the lists of the folders that have some, put together into one struct. The five parts do not
 * see it: they get settings of their own. */
#ifndef SA_OPTIONS_OPTIONS_H
#define SA_OPTIONS_OPTIONS_H

#include "agent/options.h"
#include "confidence/options.h"
#include "env/options.h"
#include "experiment/options.h"
#include "exploration/options.h"
#include "feedback/options.h"
#include "learn/options.h"
#include "model/options.h"
#include "oracle/options.h"
#include "past/options.h"
#include "policy/options.h"
#include "theory/options.h"

/* X(group, list): what users set, in the order of `superarm list options`. The group is what agents' options
 * are listed under; the others stand under their scope. */
#define SA_OPTION_GROUPS(X)                                                                                  \
    X("environment", SA_ENVIRONMENT_OPTIONS)                                                                 \
    X("experiment", SA_EXPERIMENT_OPTIONS)                                                                   \
    X("output", SA_OUTPUT_OPTIONS)                                                                           \
    X("agent", SA_AGENT_OPTIONS)                                                                             \
    X("model", SA_MODEL_OPTIONS)                                                                             \
    X("learning", SA_LEARN_OPTIONS)                                                                          \
    X("confidence", SA_CONFIDENCE_OPTIONS)                                                                   \
    X("exploration", SA_EXPLORATION_OPTIONS)                                                                 \
    X("theory", SA_THEORY_OPTIONS)                                                                           \
    X("oracle", SA_ORACLE_OPTIONS)                                                                           \
    X("feedback", SA_FEEDBACK_OPTIONS)                                                                       \
    X("choosing", SA_POLICY_OPTIONS)                                                                         \
    X("memory", SA_PAST_OPTIONS)

/* Settings that no user sets. */
#define SA_SETTINGS(X)                                                                                       \
    SA_MODEL_SETTINGS(X)                                                                                     \
    SA_ENVIRONMENT_SETTINGS(X)                                                                               \
    SA_LEARN_SETTINGS(X)                                                                                     \
    SA_EXPLORATION_SETTINGS(X)

enum {
#define SA_OPTION_ONE(...) +1
#define SA_OPTION_COUNT_GROUP(group, list) list(SA_OPTION_ONE)
    SA_OPTION_TOTAL = 0 SA_OPTION_GROUPS(SA_OPTION_COUNT_GROUP), /* what users set; they come first */
    SA_SETTING_TOTAL = SA_OPTION_TOTAL SA_SETTINGS(SA_OPTION_ONE)
};

#include "options/struct.h"

/* Options, then settings. */
extern const sa_option_row sa_option_rows[SA_SETTING_TOTAL];

/* By name or alias; NULL when there is none. Settings are found here, and in no call that users have. */
const sa_option_row *sa_option_row_find(const char *name);
static inline void *sa_option_field(const sa_options *options, const sa_option_row *row) {
    return (char *)options + row->offset;
}

/* The index-th of the settings that are no options, as the preset has it; false: there is none. */
bool sa_preset_setting(int preset, size_t index, const char **name, char *value, size_t size);

/* As sa_options_set, for settings too. */
sa_status sa_options_set_any(sa_options *options, const char *name, const char *value);
/* As if the option had not been given: its value stays. */
void sa_options_not_given(sa_options *options, const char *name);
/* Is an option other than the preset has it? Unlike sa_options_given, it does not tell a default from
 * the same value set by hand, as in a spec file that spells out everything. */
bool sa_options_changed(const sa_options *options, const char *name);
/* SA_INVALID when options contradict each other (a slate larger than the arms is for the environment to
 * say). */
sa_status sa_options_check_agent(const sa_options *options);

/* ---- what the parts get; exploration and bounds: options/parts.h ---- */

sa_model_settings sa_options_model(const sa_options *options);
sa_confidence_settings sa_options_confidence(const sa_options *options);
/* Positions that the model tells apart: --slate where the feedback depends on the position and nobody knows
 * how, else 0. */
size_t sa_options_positions(const sa_options *options);
/* Is feedback learnt from with the discounts of its positions? */
bool sa_options_discounted(const sa_options *options);

#endif
