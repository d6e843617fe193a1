/* The options that models read. */
#ifndef SA_MODEL_OPTIONS_H
#define SA_MODEL_OPTIONS_H

#include "base/option_rows.h"
#include "base/reals.h"

#define SA_INITS(X) X(INIT_SYMMETRIC, "symmetric") X(INIT_UNIFORM, "uniform")
SA_DECLARE_CHOICES(sa_init, SA_INITS);
#define SA_OUTPUT_SCALES(X) X(OUTPUT_ROOT_M, "root-m") X(OUTPUT_ONE, "one")
SA_DECLARE_CHOICES(sa_output_scale, SA_OUTPUT_SCALES);
#define SA_BIASES(X) X(BIAS_NONE, "none") X(BIAS_ALL, "all") X(BIAS_OUTPUT, "output")
SA_DECLARE_CHOICES(sa_bias, SA_BIASES);
#define SA_OPTIMIZERS(X) X(OPTIMIZER_GD, "gd") X(OPTIMIZER_ADAM, "adam")
SA_DECLARE_CHOICES(sa_optimizer, SA_OPTIMIZERS);
typedef enum sa_rate_rule { SA_RATE_CONSTANT, SA_RATE_THEORY } sa_rate_rule;
#define SA_TRAIN_FROM(X) X(FROM_START, "start") X(FROM_PRESENT, "present")
SA_DECLARE_CHOICES(sa_train_from, SA_TRAIN_FROM);
#define SA_RATE_DECAYS(X) X(DECAY_NONE, "none") X(DECAY_COSINE, "cosine")
SA_DECLARE_CHOICES(sa_rate_decay, SA_RATE_DECAYS);
#define SA_NORMALIZATIONS(X)                                                                                 \
    X(NORMALIZE_NONE, "none") X(NORMALIZE_UNIT, "unit") X(NORMALIZE_STANDARD, "standard")
SA_DECLARE_CHOICES(sa_normalization, SA_NORMALIZATIONS);
#define SA_LINEAR_FORMS(X)                                                                                   \
    X(LINEAR_DEFINED, "defined") X(LINEAR_PUBLISHED, "published") X(LINEAR_FITTED, "fitted")
SA_DECLARE_CHOICES(sa_linear_form, SA_LINEAR_FORMS);

#define SA_MODEL_OPTIONS(X)                                                                                  \
    X(INTEGER, dim, "dim", ENVIRONMENT, 80, 80, 80, 1, 10000000, "d, features of an arm")                    \
    X(INTEGER, seed, "seed", EXPERIMENT, 1, 1, 1, 0, INT64_MAX, "seed of all random numbers")                \
    X(INTEGER, first_run, "first-run", EXPERIMENT, 0, 0, 0, 0, 1000000000, "number of the first run")        \
    X(INTEGER, hidden, "hidden", AGENT, 100, 100, 100, 1, 10000000, "m, hidden units a layer")               \
    X(INTEGER, depth, "depth", AGENT, 2, 2, 2, 2, 1000, "L, layers of weights")                              \
    X(PATH, init_weights, "init-weights", AGENT, "npz file with first weights W1 ... WL, used as they are")  \
    X(CHOICE, normalize, "normalize", AGENT, NORMALIZE_NONE, NORMALIZE_NONE, NORMALIZE_STANDARD,             \
      SA_NORMALIZATIONS,                                                                                     \
      "contexts: as they are, to unit length, or standardised as data comes (over sqrt(d))")                 \
    X(CHOICE, precision, "precision", AGENT, PRECISION_SINGLE, PRECISION_SINGLE, PRECISION_SINGLE,           \
      SA_PRECISIONS, "arithmetic of the network and the widths")                                             \
    X(NUMBER, regularization, "regularization", AGENT, 1, 1, 1, ABOVE_0, 1e100,                              \
      "lambda: Z starts as lambda I")                                                                        \
    X(CHOICE, linear_form, "linear-form", AGENT, LINEAR_DEFINED, LINEAR_PUBLISHED, LINEAR_FITTED,            \
      SA_LINEAR_FORMS,                                                                                       \
      "linear agents as their papers define them, as the published code runs, mistakes included, or with "   \
      "an intercept, and lambda and noise fitted")                                                           \
    X(INTEGER, train_steps, "train-steps", AGENT, 100, 100, 100, 0, 1000000000, "J, steps of one training")  \
    X(INTEGER, train_batch, "train-batch", AGENT, 0, 0, 128, 0, SA_ANY_INTEGER,                              \
      "samples of one step; 0: all")                                                                         \
    X(NUMBER, rate, "rate", AGENT, SA_BY_THEORY, 0.01, 0.01, ABOVE_0_OR_THEORY, 1e6,                         \
      "step size eta of a training; theory: 1 / (n m L + m lambda), as in Theorem 1")                        \
    X(CHOICE, train_from, "train-from", AGENT, FROM_PRESENT, FROM_PRESENT, FROM_PRESENT, SA_TRAIN_FROM,      \
      "a training starts from the present weights, or, as the lemmas have it, from the first ones")

/* What presets set. */
#define SA_MODEL_SETTINGS(X)                                                                                 \
    X(CHOICE, output_scale, "output-scale", AGENT, OUTPUT_ROOT_M, OUTPUT_ONE, OUTPUT_ONE, SA_OUTPUT_SCALES,  \
      "factor on the network's output: sqrt(m) or 1")                                                        \
    X(CHOICE, init, "init", AGENT, INIT_SYMMETRIC, INIT_UNIFORM, INIT_UNIFORM, SA_INITS,                     \
      "first weights: symmetric (Section 3.1) or uniform +-1/sqrt(fan-in)")                                  \
    X(FLAG, doubled_input, "doubled-input", AGENT, true, true, true,                                         \
      "init symmetric: the input is [x, x] / sqrt(2), so that the first scores are 0")                       \
    X(CHOICE, bias, "bias", AGENT, BIAS_NONE, BIAS_NONE, BIAS_OUTPUT, SA_BIASES, "which units have a bias")  \
    X(CHOICE, optimizer, "optimizer", AGENT, OPTIMIZER_GD, OPTIMIZER_GD, OPTIMIZER_ADAM, SA_OPTIMIZERS,      \
      "gradient descent on Eq. (4), or Adam with moments that start anew each training")                     \
    X(CHOICE, rate_decay, "rate-decay", AGENT, DECAY_NONE, DECAY_NONE, DECAY_COSINE, SA_RATE_DECAYS,         \
      "inside each training: constant, or half a cosine to 0")                                               \
    X(FLAG, regularize, "regularize", AGENT, true, false, false,                                             \
      "Eq. (4)'s (m lambda / 2) |theta - theta_0|^2 in the loss")                                            \
    X(NUMBER, weight_decay, "weight-decay", AGENT, 0, 0, 0.3, 0, 1e6,                                        \
      "each step shrinks weights, but for biases, by rate times this")

/* What a model is made of. */
typedef struct sa_model_settings {
    SA_MODEL_OPTIONS(SA_OPTION_FIELD)
    SA_MODEL_SETTINGS(SA_OPTION_FIELD)
    /* what follows from the options and the algorithm */
    size_t positions;   /* that it tells apart, each with an input of its own beside the arm's features */
    int rate_rule;      /* sa_rate_rule: eta is `rate`, or by theory with `rate` for C */
    bool bypass;        /* mlp: a linear term beside the network */
    double horizon;     /* partitions: T */
    double cell_factor; /* partitions: what --gamma multiplies */
    bool widest_term;   /* partition-tree: the index has its last term */
} sa_model_settings;

#endif
