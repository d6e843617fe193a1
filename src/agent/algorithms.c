#include "agent/algorithms.h"

#include <stdio.h>
#include <string.h>

#include "options/parts.h"
#include <superarm/agent.h>

/* ---- what an algorithm has otherwise than the preset, where nothing was set by hand ---- */

static const double FITTED_GAMMA = 1, FITTED_NU = 0.1; /* posterior deviations */

/* Its widths are those of the regression, which is on the last layer. */
static sa_status neural_linear_defaults(const sa_algorithm *row, sa_options *options) {
    if (sa_options_given(options, "linear-form") && options->linear_form != SA_LINEAR_DEFINED)
        return sa_fail(SA_INVALID, "--algorithm neural-linear has --linear-form defined alone: leave it out");
    options->linear_form = SA_LINEAR_DEFINED; /* no published code has it */
    if (sa_options_given(options, "confidence") && options->confidence != SA_CONFIDENCE_LAST_LAYER)
        return sa_fail(
            SA_INVALID,
            "--algorithm neural-linear is defined by --confidence last-layer: leave --confidence out");
    options->confidence = SA_CONFIDENCE_LAST_LAYER;
    if (options->preset != SA_PRESET_TUNED) return SA_OK;
    /* tuned trains on scores of deviation 0.04: the regression's prior and noise are of that size */
    if (!sa_options_given(options, "regularization")) options->regularization = row->tuned.lambda;
    if (!sa_options_given(options, "nu")) options->nu = row->tuned.nu;
    return SA_OK;
}

/* tuned fits the linear models of comblin-ucb and comblin-ts (model/ridge.c), with a gamma and a nu that were
 * chosen as those of networks were. Theory speaks of a lambda and of noise that are known: what it takes from
 * tuned is as in paper. */
static sa_status linear_defaults(const sa_algorithm *row, sa_options *options) {
    const sa_exploration_class *rule = sa_exploration_find(row->exploration);
    bool theory = sa_options_by_theory(options, rule), given = sa_options_given(options, "linear-form");
    /* no published code has c2ucb */
    if (rule->always_by_theory && !given && options->linear_form == SA_LINEAR_PUBLISHED)
        options->linear_form = SA_LINEAR_DEFINED;
    /* the published code passes the variance as the deviation */
    if (options->linear_form == SA_LINEAR_PUBLISHED && !sa_options_given(options, "ts-deviation"))
        options->ts_deviation = SA_DEVIATION_VARIANCE;
    if (options->linear_form == SA_LINEAR_FITTED && theory && given)
        return sa_fail(SA_INVALID, "--linear-form fitted does not go with a gamma or nu by theory, as of %s",
                       options->algorithm);
    if (options->linear_form == SA_LINEAR_FITTED && theory) options->linear_form = SA_LINEAR_DEFINED;
    bool fitted = options->linear_form == SA_LINEAR_FITTED;
    if (options->preset != SA_PRESET_TUNED && !fitted) return SA_OK;
    sa_options *paper = sa_options_new("paper");
    if (!paper) return SA_OUT_OF_MEMORY;
    if (rule->reads_gamma && !sa_options_given(options, "gamma"))
        options->gamma = fitted ? FITTED_GAMMA : paper->gamma;
    if (rule->reads_nu && !sa_options_given(options, "nu")) options->nu = fitted ? FITTED_NU : paper->nu;
    if (!fitted && !sa_options_given(options, "normalize")) options->normalize = paper->normalize;
    if (!sa_options_given(options, "confidence")) options->confidence = paper->confidence;
    sa_options_destroy(paper);
    return SA_OK;
}

/* Cells must not move under the contexts, as they would where those are standardised as data comes. */
static sa_status cells_defaults(const sa_algorithm *row, sa_options *options) {
    bool tuned = options->preset == SA_PRESET_TUNED;
    if (tuned && !sa_options_given(options, "normalize")) options->normalize = SA_NORMALIZE_NONE;
    if (tuned && !sa_options_given(options, "gamma")) options->gamma = row->tuned.gamma;
    return SA_OK;
}

/* ---- the table ---- */

static const sa_family NETWORK = {.model = "mlp", .network = true};
static const sa_family NEURAL_LINEAR = {
    .model = "neural-linear", .network = true, .regression = true, .defaults = neural_linear_defaults};
static const sa_family LINEAR = {
    .model = "linear", .linear = true, .regression = true, .defaults = linear_defaults};
static const sa_family CUBES = {.model = "partition", .cells = true, .defaults = cells_defaults};
static const sa_family TREE = {.model = "partition-tree", .cells = true, .defaults = cells_defaults};
static const sa_family NO_MODEL = {.model = NULL};

static const sa_algorithm algorithms[] = {
    {.name = "cn-ucb",
     .family = &NETWORK,
     .confidence = true,
     .exploration = "ucb",
     .summary = "neural, upper confidence bounds: the paper's Algorithm 1 with --preset paper; tuned is not "
                "the paper's any more"},
    {.name = "cn-ts",
     .family = &NETWORK,
     .confidence = true,
     .exploration = "ts",
     .summary = "neural, Thompson sampling, the best of M samples: Algorithm 2, likewise"},
    {.name = "cn-ts1",
     .family = &NETWORK,
     .confidence = true,
     .exploration = "ts",
     .ts_samples = 1,
     .summary = "neural, Thompson sampling with one sample an arm"},
    {.name = "cn-ucb-d",
     .family = &NETWORK,
     .confidence = true,
     .exploration = "ucb",
     .doubling = true,
     .summary = "cn-ucb for an unknown horizon: a new network whenever the rounds have doubled"},
    {.name = "cn-ts-d",
     .family = &NETWORK,
     .confidence = true,
     .exploration = "ts",
     .doubling = true,
     .summary = "cn-ts for an unknown horizon, likewise"},
    {.name = "neural-ucb",
     .family = &NETWORK,
     .confidence = true,
     .exploration = "ucb",
     .summary =
         "neural, upper confidence bounds, K = 1 (Zhou et al. 2020); with larger slates, and in tuned with "
         "any, it is cn-ucb; its paper trains with --train-from start"},
    {.name = "neural-ts",
     .family = &NETWORK,
     .confidence = true,
     .exploration = "ts",
     .ts_samples = 1,
     .summary = "neural, Thompson sampling, K = 1 (Zhang et al. 2021); with larger slates, and in tuned "
                "with any, it is cn-ts1"},
    {.name = "neural-linear",
     .family = &NEURAL_LINEAR,
     .confidence = true,
     .exploration = "parameter-ts",
     .tuned = {.lambda = 0.001, .nu = 0.005, .bypass = true}, /* the regression has the inputs, too */
     .summary = "neural features, Thompson sampling of a linear regression on them (Riquelme et al. 2018)"},
    {.name = "comblin-ucb",
     .family = &LINEAR,
     .confidence = true,
     .exploration = "ucb",
     .summary =
         "linear, upper confidence bounds (Wen et al. 2015); tuned fits an intercept, lambda and the noise"},
    {.name = "comblin-ts",
     .family = &LINEAR,
     .confidence = true,
     .exploration = "parameter-ts",
     .summary = "linear, Thompson sampling of the parameters (Wen et al. 2015); tuned likewise"},
    {.name = "c2ucb",
     .family = &LINEAR,
     .confidence = true,
     .exploration = "theory-ucb",
     .summary = "linear, upper confidence bounds with gamma_t from theory (Qin et al. 2014)"},
    {.name = "cc-mab",
     .family = &CUBES,
     .exploration = "by-model",
     .tuned = {.gamma = 0.1},
     .summary = "fixed cubes of contexts, the under-explored first, then greedy (Chen et al. 2018)"},
    {.name = "acc-ucb",
     .family = &TREE,
     .exploration = "by-model",
     .tuned = {.gamma = 0.3},
     .summary = "cells of contexts that split as they fill, upper confidence bounds (Nika et al. 2020)"},
    {.name = "greedy",
     .family = &NETWORK,
     .exploration = "greedy",
     .summary = "reference: neural, no exploration"},
    {.name = "random",
     .family = &NO_MODEL,
     .exploration = "uniform",
     .summary = "reference: a slate drawn uniformly"},
    {.name = "best",
     .family = &NO_MODEL,
     .exploration = "known",
     .summary = "reference: knows the expected scores"},
};

enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

bool sa_algorithm_at(size_t index, const char **name, const char **summary) {
    if (index >= ALGORITHMS) return false;
    *name = algorithms[index].name;
    *summary = algorithms[index].summary;
    return true;
}

const sa_algorithm *sa_algorithm_row(const char *name) {
    for (size_t i = 0; name && i < ALGORITHMS; i++)
        if (strcmp(algorithms[i].name, name) == 0) return &algorithms[i];
    return NULL;
}

const char *sa_algorithm_model(const char *name) {
    const sa_algorithm *row = sa_algorithm_row(name);
    return row ? row->family->model : NULL;
}

bool sa_algorithm_has_epochs(const char *name) {
    const sa_algorithm *row = sa_algorithm_row(name);
    return row && row->doubling;
}

bool sa_algorithm_knows(const char *name) {
    const sa_algorithm *row = sa_algorithm_row(name);
    return row && sa_exploration_find(row->exploration)->from == SA_SCORES_FROM_CALLER;
}

bool sa_algorithm_is_linear(const char *name) {
    const sa_algorithm *row = sa_algorithm_row(name);
    return row && row->family->linear;
}

sa_model_settings sa_algorithm_shape(const sa_algorithm *row, const sa_options *options) {
    sa_model_settings shape = sa_options_model(options);
    bool tuned = options->preset == SA_PRESET_TUNED;
    shape.bypass = tuned && row->tuned.bypass;
    shape.widest_term = !tuned;
    return shape;
}

sa_status sa_algorithm_defaults(sa_options *options) {
    const sa_algorithm *row = sa_algorithm_row(options->algorithm);
    if (sa_options_positions(options) && !sa_options_given(options, "oracle"))
        options->oracle = SA_ORACLE_ASSIGNMENT;
    bool theory = sa_options_by_theory(options, NULL);   /* it speaks of all of Z */
    bool total = options->feedback == SA_FEEDBACK_TOTAL; /* no sketch counts it */
    if ((theory || total) && !sa_options_given(options, "confidence"))
        options->confidence = SA_CONFIDENCE_EXACT;
    return row && row->family->defaults ? row->family->defaults(row, options) : SA_OK;
}

sa_status sa_algorithm_find(const char *name, const sa_algorithm **out) {
    char known[512] = "";
    *out = sa_algorithm_row(name);
    if (*out) return SA_OK;
    if (name && strcmp(name, "own") == 0)
        return sa_fail(SA_INVALID,
                       "--algorithm own is the caller's own code, which options alone cannot bring back: "
                       "sa_experiment_own_agent does, or superarm.run in Python");
    for (size_t i = 0; i < ALGORITHMS; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", algorithms[i].name);
    }
    return sa_fail(SA_INVALID, "--algorithm %s is not one of %s", name, known);
}
