/* What the parts get of the options. */
#include "options/parts.h"

#include <math.h>

sa_status sa_options_check_agent(const sa_options *options) {
    /* given weights are used as they are, so they need not come in mirrored halves */
    if (options->init == SA_INIT_SYMMETRIC && options->hidden % 2 && !*options->init_weights)
        return sa_fail(SA_INVALID,
                       "--hidden %lld is odd, but the first weights of --preset paper need an even number",
                       (long long)options->hidden);
    size_t inputs = (size_t)options->dim + sa_options_positions(options);
    if (options->init == SA_INIT_SYMMETRIC && !options->doubled_input && inputs % 2 &&
        !*options->init_weights)
        return sa_fail(
            SA_INVALID,
            "there are %zu inputs, an odd number, and the first weights of --preset section5 come in two "
            "halves, of which each sees half of them",
            inputs);
    return SA_OK;
}

size_t sa_options_positions(const sa_options *options) {
    bool unknown = options->feedback == SA_FEEDBACK_CASCADE && options->cascade_form == SA_CASCADE_UNKNOWN;
    return unknown || options->feedback == SA_FEEDBACK_POSITION ? (size_t)options->slate : 0;
}

bool sa_options_discounted(const sa_options *options) {
    return options->feedback == SA_FEEDBACK_CASCADE && options->cascade_form == SA_CASCADE_DISCOUNTED;
}

#define COPY(kind, name, ...) .name = options->name,

sa_model_settings sa_options_model(const sa_options *options) {
    sa_model_settings settings = {SA_MODEL_OPTIONS(COPY) SA_MODEL_SETTINGS(COPY)};
    settings.positions = sa_options_positions(options);
    settings.rate_rule = options->rate == SA_BY_THEORY ? SA_RATE_THEORY : SA_RATE_CONSTANT;
    if (settings.rate_rule == SA_RATE_THEORY) settings.rate = 1;
    settings.horizon = (double)options->rounds;
    settings.cell_factor = options->gamma == SA_BY_THEORY ? 1 : options->gamma; /* 1 is what papers prove */
    return settings;
}

sa_confidence_settings sa_options_confidence(const sa_options *options) {
    return (sa_confidence_settings){.confidence = options->confidence,
                                    .precision = options->precision,
                                    .sketch_size = options->sketch_size,
                                    .regularization = options->regularization,
                                    .discount = options->discount,
                                    .totals = options->feedback == SA_FEEDBACK_TOTAL,
                                    .algorithm = options->algorithm};
}

sa_bounds sa_options_bounds(const sa_options *options) {
    return (sa_bounds){
        .lambda = options->regularization,
        .depth = (double)options->depth,
        .hidden = (double)options->hidden,
        .delta = options->delta,
        .norm_bound = options->norm_bound,
        .sub_gaussian = options->sub_gaussian,
        .approximation = options->approximation,
    };
}

/* The published code's linear Thompson sampling samples scores, once an arm, where its paper samples
 * parameters. */
static bool samples_scores(const sa_exploration_class *kind, const sa_options *options) {
    return kind->from == SA_SCORES_FROM_PARAMETERS && options->linear_form == SA_LINEAR_PUBLISHED;
}

/* The lemmas are about plain gradient descent on Eq. (4): other trainings get no credit for their steps. */
static bool descends_plainly(const sa_options *options) {
    return options->optimizer == SA_OPTIMIZER_GD && options->regularize &&
           options->rate_decay == SA_DECAY_NONE && options->train_batch == 0 && options->train_window == 0 &&
           options->window == 0 && options->discount == 1;
}

bool sa_options_by_theory(const sa_options *options, const sa_exploration_class *rule) {
    return (rule && rule->always_by_theory) ||
           ((!rule || rule->reads_gamma) && options->gamma == SA_BY_THEORY) ||
           ((!rule || rule->reads_nu) && options->nu == SA_BY_THEORY);
}

sa_exploration sa_options_exploration(const sa_exploration_class *kind, size_t samples,
                                      const sa_options *options) {
    bool by_theory = sa_options_by_theory(options, kind);
    if (samples_scores(kind, options)) {
        kind = sa_exploration_find("ts");
        samples = 1;
    }
    return (sa_exploration){
        .kind = kind,
        .gamma = options->gamma,
        .nu = options->nu,
        .root_lambda = sqrt(options->regularization),
        .samples = samples ? samples : (size_t)options->ts_samples,
        .variance_for_deviation = options->ts_deviation == SA_DEVIATION_VARIANCE,
        .by_theory = by_theory,
        .bounds = sa_options_bounds(options),
        .rate = sa_options_model(options).rate,
        .steps = descends_plainly(options) ? (double)options->train_steps : 0,
        .rate_falls = options->rate == SA_BY_THEORY,
    };
}
