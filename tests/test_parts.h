/* What the parts are made of, from options: for tests that make parts without an agent. */
#ifndef TEST_PARTS_H
#define TEST_PARTS_H

#include "options/parts.h"
#include <superarm/experiment.h>

struct test_model_settings {
    sa_model_settings of;
};
struct test_confidence_settings {
    sa_confidence_settings of;
};

/* They live as long as the block that names them. */
#define MODEL_OF(options) (&(struct test_model_settings){sa_options_model(options)}.of)
#define CONFIDENCE_OF(options) (&(struct test_confidence_settings){sa_options_confidence(options)}.of)

/* The value as text, of settings too. */
static inline sa_status test_options_get(const sa_options *options, const char *name, char *text,
                                         size_t size) {
    const sa_option_row *row = sa_option_row_find(name);
    return row ? sa_option_print(row, sa_option_field(options, row), text, size) : SA_INVALID;
}

/* An option, oracle data, or a setting that no user sets. */
static inline sa_status test_experiment_set(sa_experiment *experiment, const char *name, const char *value) {
    sa_option_info info;
    bool setting = sa_option_row_find(name) && !sa_option_find(name, &info);
    return setting ? sa_options_set_any((sa_options *)(size_t)sa_experiment_options(experiment), name, value)
                   : sa_experiment_set(experiment, name, value);
}

/* The small sizes that a test has for all its agents are as if the preset had them: not every agent reads
 * them. */
static inline void test_experiment_share(sa_experiment *experiment) {
    static const char *const small[] = {"hidden",    "train-steps",  "train-every",        "rate",
                                        "normalize", "epoch-length", "epoch-hidden-growth"};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        sa_options_not_given((sa_options *)(size_t)sa_experiment_options(experiment), small[i]);
}

#endif
