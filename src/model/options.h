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

/* What presets set. Then the cells of cc-mab and acc-ucb: partition.c and partition_tree.c explain them. */
#define SA_MODEL_SETTINGS(X)                                                                                 \
    X(CHOICE, output_scale, "output-scale", AGENT, OUTPUT_ROOT_M, OUTPUT_ONE, OUTPUT_ONE, SA_OUTPUT_SCALES,  \
      "factor on the network's output: sqrt(m) or 1")                                                        \
    X(CHOICE, init, "init", AGENT, INIT_SYMMETRIC, INIT_UNIFORM, INIT_UNIFORM, SA_INITS,                     \
      "first weights: symmetric (Section 3.1) or uniform +-1/sqrt(fan-in)")                                  \
    X(FLAG, doubled_input, "doubled-input", AGENT, true, true, true,                                         \
      "init symmetric: the input is [x, x] / sqrt(2), so that the first scores are 0")                       \
    X(CHOICE, bias, "bias", AGENT, BIAS_NONE, BIAS_NONE, BIAS_OUTPUT, SA_BIASES, "which units have a bias")  \
    X(FLAG, bypass, "bypass", AGENT, false, false, false, "a linear term beside the network")                \
    X(CHOICE, optimizer, "optimizer", AGENT, OPTIMIZER_GD, OPTIMIZER_GD, OPTIMIZER_ADAM, SA_OPTIMIZERS,      \
      "gradient descent on Eq. (4), or Adam with moments that start anew each training")                     \
    X(NUMBER, rate_constant, "rate-constant", AGENT, 1, 1, 1, ABOVE_0, 1e6,                                  \
      "rate theory: C of eta = C / (n m L + m lambda)")                                                      \
    X(CHOICE, rate_decay, "rate-decay", AGENT, DECAY_NONE, DECAY_NONE, DECAY_COSINE, SA_RATE_DECAYS,         \
      "inside each training: constant, or half a cosine to 0")                                               \
    X(FLAG, regularize, "regularize", AGENT, true, false, false,                                             \
      "Eq. (4)'s (m lambda / 2) |theta - theta_0|^2 in the loss")                                            \
    X(NUMBER, weight_decay, "weight-decay", AGENT, 0, 0, 0.3, 0, 1e6,                                        \
      "each step shrinks weights by rate times this")                                                        \
    X(NUMBER, error_decay, "error-decay", AGENT, 0, 0, 0, 0, 1e9,                                            \
      "pull of the weights to 0 in units of the squared error on new feedback: large errors mean noise")     \
    X(INTEGER, horizon, "horizon", AGENT, 0, 0, 0, 0, SA_ANY_INTEGER,                                        \
      "T of cc-mab and acc-ucb; 0: --rounds")                                                                \
    X(NUMBER, cell_factor, "cell-factor", AGENT, 1, 1, 1, 0, 1e100,                                          \
      "cc-mab: factor on t^z log t; acc-ucb: on sqrt(2 log T / C); what --gamma says")                       \
    X(NUMBER, cube_low, "cube-low", AGENT, -1, -1, -1, -1e100, 1e100,                                        \
      "cc-mab, acc-ucb: least value of a feature; what is outside counts as at the edge")                    \
    X(NUMBER, cube_high, "cube-high", AGENT, 1, 1, 1, -1e100, 1e100,                                         \
      "cc-mab, acc-ucb: largest value of a feature")                                                         \
    X(INTEGER, cc_cubes, "cc-cubes", AGENT, 0, 0, 0, 0, 1000000000,                                          \
      "cc-mab: h, parts that each feature is cut into; 0: ceil(T^(1 / (3 alpha + d)))")                      \
    X(NUMBER, cc_alpha, "cc-alpha", AGENT, 1, 1, 1, ABOVE_0, 1000,                                           \
      "cc-mab: alpha, the Hoelder exponent of the scores")                                                   \
    X(NUMBER, cc_exponent, "cc-exponent", AGENT, 0, 0, 0, 0, 1,                                              \
      "cc-mab: z, a cube seen at most t^z log t times is under-explored; 0: 2 alpha / (3 alpha + d)")        \
    X(INTEGER, acc_axes, "acc-axes", AGENT, 0, 0, 0, 0, 10000000,                                            \
      "acc-ucb: features halved when a cell splits, in turn, for N = 2^this children; 0: all, but at most "  \
      "10")                                                                                                  \
    X(NUMBER, acc_rho, "acc-rho", AGENT, 0, 0, 0, 0, 0.999999999,                                            \
      "acc-ucb: rho, diameters are v1 rho^h; 0: 2^(-axes/d)")                                                \
    X(NUMBER, acc_v1, "acc-v1", AGENT, 0, 0, 0, 0, 1e100,                                                    \
      "acc-ucb: v1; 0: the least that holds for the cells")                                                  \
    X(NUMBER, acc_v2, "acc-v2", AGENT, 0, 0, 0, 0, 1e100,                                                    \
      "acc-ucb: v2, a cell has a ball of radius v2 rho^h in it; 0: the largest that holds")                  \
    X(NUMBER, acc_diameter, "acc-diameter", AGENT, 1, 1, 0, 0, 1e100,                                        \
      "acc-ucb: factor on N (v1 / v2) v1 rho^h")

/* What a model is made of. */
typedef struct sa_model_settings {
    SA_MODEL_OPTIONS(SA_OPTION_FIELD)
    SA_MODEL_SETTINGS(SA_OPTION_FIELD)
    size_t
        positions; /* that the model tells apart, each with an input of its own beside the arm's features */
    int rate_rule; /* sa_rate_rule: eta is `rate`, or by theory with `rate` for C */
} sa_model_settings;

#endif
