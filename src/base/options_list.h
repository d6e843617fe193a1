/* The list of all options. It yields the struct, the parser, the presets, the flags, the YAML keys and the
 * help.
 *
 *   INTEGER(field, name, scope, paper, icml23, tuned, least, most, help)
 *   NUMBER (field, name, scope, paper, icml23, tuned, least, most, help)   ABOVE_0 as least: more than 0;
 *                                                                          OR_THEORY: 0 or more, or the word
 *                                                                              theory
 *   CHOICE (field, name, scope, paper, icml23, tuned, choices, help)       choices: one of the lists below
 *   FLAG   (field, name, scope, paper, icml23, tuned, help)
 *   TEXT   (field, name, scope, value, help)                               the same in every preset */
#ifndef SA_BASE_OPTIONS_LIST_H
#define SA_BASE_OPTIONS_LIST_H

#include <float.h>
#include <math.h>
#include <stdint.h>

#define ABOVE_0 DBL_TRUE_MIN
#define OR_THEORY (-DBL_TRUE_MIN)
#define SA_BY_THEORY HUGE_VAL /* the value of an option that is `theory` */
#define SA_PI 3.14159265358979323846

/* Choices: X(ENUMERATOR, "name"). */
#define SA_PRESETS(X) X(PRESET_PAPER, "paper") X(PRESET_ICML23, "icml23") X(PRESET_TUNED, "tuned")
#define SA_PRECISIONS(X) X(PRECISION_SINGLE, "single") X(PRECISION_DOUBLE, "double")
#define SA_CONFIDENCES(X)                                                                                    \
    X(CONFIDENCE_EXACT, "exact")                                                                             \
    X(CONFIDENCE_DIAGONAL, "diagonal")                                                                       \
    X(CONFIDENCE_LAST_LAYER, "last-layer") X(CONFIDENCE_SKETCH, "sketch") X(CONFIDENCE_AUTO, "auto")
#define SA_EXACT_FORMS(X) X(EXACT_AUTO, "auto") X(EXACT_DUAL, "dual") X(EXACT_PRIMAL, "primal")
#define SA_WIDTHS(X) X(WIDTHS_NEEDED, "needed") X(WIDTHS_ALL, "all")
/* clang-format off */
#define SA_ORACLES(X)                                                                                        \
    X(ORACLE_TOP_K, "top-k") X(ORACLE_ASSIGNMENT, "assignment") X(ORACLE_CASCADE, "cascade")                 \
    X(ORACLE_KNAPSACK, "knapsack") X(ORACLE_MATROID, "matroid") X(ORACLE_SHORTEST_PATH, "shortest-path")     \
    X(ORACLE_MATCHING, "matching") X(ORACLE_ASSORTMENT, "assortment") X(ORACLE_SUBMODULAR, "submodular")     \
    X(ORACLE_ILP, "ilp") X(ORACLE_OWN, "own")
/* clang-format on */
/* clang-format off */
#define SA_FEEDBACKS(X)                                                                                      \
    X(FEEDBACK_SEMI_BANDIT, "semi-bandit") X(FEEDBACK_DOCUMENT, "document")                                  \
    X(FEEDBACK_POSITION, "position") X(FEEDBACK_CASCADE, "cascade")
/* clang-format on */
#define SA_CASCADE_FORMS(X)                                                                                  \
    X(CASCADE_DISCOUNTED, "discounted") X(CASCADE_LITERAL, "literal") X(CASCADE_UNKNOWN, "unknown")
/* clang-format off */
#define SA_USERS(X)                                                                                          \
    X(USER_SINGLE, "single") X(USER_PERFECT, "perfect") X(USER_NAVIGATIONAL, "navigational")                 \
    X(USER_INFORMATIONAL, "informational")
/* clang-format on */
#define SA_INITS(X) X(INIT_SYMMETRIC, "symmetric") X(INIT_UNIFORM, "uniform")
#define SA_OUTPUT_SCALES(X) X(OUTPUT_ROOT_M, "root-m") X(OUTPUT_ONE, "one")
#define SA_BIASES(X) X(BIAS_NONE, "none") X(BIAS_ALL, "all") X(BIAS_OUTPUT, "output")
#define SA_OPTIMIZERS(X) X(OPTIMIZER_GD, "gd") X(OPTIMIZER_ADAM, "adam")
#define SA_RATE_RULES(X) X(RATE_CONSTANT, "constant") X(RATE_THEORY, "theory")
#define SA_RATE_DECAYS(X) X(DECAY_NONE, "none") X(DECAY_COSINE, "cosine")
#define SA_NORMALIZATIONS(X)                                                                                 \
    X(NORMALIZE_NONE, "none") X(NORMALIZE_UNIT, "unit") X(NORMALIZE_STANDARD, "standard")
#define SA_TRAIN_MODES(X) X(TRAIN_AUTO, "auto") X(TRAIN_MANUAL, "manual")
#define SA_DEVIATIONS(X) X(DEVIATION_SIGMA, "sigma") X(DEVIATION_VARIANCE, "variance")
#define SA_LINEAR_FORMS(X)                                                                                   \
    X(LINEAR_DEFINED, "defined") X(LINEAR_PUBLISHED, "published") X(LINEAR_FITTED, "fitted")
#define SA_REPLAYS(X) X(REPLAY_SCHEDULE, "schedule") X(REPLAY_LAST, "last")
#define SA_REGRETS(X) X(REGRET_EXPECTED, "expected") X(REGRET_REALISED, "realised")
#define SA_CLICKS(X) X(CLICKS_NONE, "none") X(CLICKS_POSITION, "position") X(CLICKS_CASCADE, "cascade")
#define SA_CLICK_NOISES(X) X(CLICK_BERNOULLI, "bernoulli") X(CLICK_GAUSSIAN, "gaussian")

#define SA_ANY_INTEGER INT64_C(1000000000000)

#define SA_OPTION_LIST(INTEGER, NUMBER, CHOICE, FLAG, TEXT)                                                  \
    /* the experiment */                                                                                     \
    TEXT(environment, "environment", ENVIRONMENT, "h1",                                                      \
         "what gives the contexts and scores: `superarm list environments`")                                 \
    INTEGER(rounds, "rounds", ENVIRONMENT, 2000, 2000, 2000, 1, 100000000, "T, rounds of one run")           \
    INTEGER(arms, "arms", ENVIRONMENT, 20, 20, 20, 1, 100000000, "N, candidate arms a round")                \
    INTEGER(slate, "slate", ENVIRONMENT, 4, 4, 4, 1, 100000000,                                              \
            "K, arms to choose; positions that --feedback position knows")                                   \
    INTEGER(dim, "dim", ENVIRONMENT, 80, 80, 80, 1, 10000000, "d, features of an arm")                       \
    NUMBER(noise, "noise", ENVIRONMENT, 0.01, 0.01, 0.01, 0, 1e100,                                          \
           "standard deviation of the noise on scores, also of npy without --noise-values")                  \
    NUMBER(h3_frequency, "h3-frequency", ENVIRONMENT, SA_PI, 3.14, SA_PI, ABOVE_0, 1e6,                      \
           "h3 is cos(this x'a)")                                                                            \
    NUMBER(turn, "turn", ENVIRONMENT, 0, 0, 0, -SA_PI, SA_PI,                                                \
           "h1, h2, h3: radians that the hidden vector a turns by a round")                                  \
    TEXT(score, "score", ENVIRONMENT, "",                                                                    \
         "formula environment: the expected score, of x.a, x.b, x.c (hidden unit vectors), x[0], t, abs(), " \
         "...")                                                                                              \
    INTEGER(delay, "delay", ENVIRONMENT, 0, 0, 0, 0, 1000000, "rounds between a decision and its feedback")  \
    TEXT(contexts, "contexts", ENVIRONMENT, "",                                                              \
         "npy environment: file of contexts, (T, N, d) or (R, T, N, d)")                                     \
    TEXT(scores, "scores", ENVIRONMENT, "", "npy environment: file of expected scores, (T, N) or (R, T, N)") \
    TEXT(noise_values, "noise-values", ENVIRONMENT, "",                                                      \
         "npy environment: file of noise to add, shaped as the scores")                                      \
    FLAG(shared_scores, "shared-scores", ENVIRONMENT, false, false, false,                                   \
         "npy environment: (T, N) scores hold for every run, though contexts are (R, T, N, d)")              \
    TEXT(data, "data", ENVIRONMENT, "", "csv and svmlight environments: the file")                           \
    FLAG(unit_rows, "unit-rows", ENVIRONMENT, true, true, true,                                              \
         "csv, svmlight: contexts are rows of unit length")                                                  \
    TEXT(label, "label", ENVIRONMENT, "last",                                                                \
         "csv: column of the label: name (--header), number from 1 or from -1, or last")                     \
    TEXT(positive, "positive", ENVIRONMENT, "", "csv: the label that is wanted")                             \
    NUMBER(flip, "flip", ENVIRONMENT, 0, 0, 0, 0, 1,                                                         \
           "csv: probability that a score is the opposite of what the label says")                           \
    FLAG(header, "header", ENVIRONMENT, false, false, false,                                                 \
         "csv: the first row has the names of the columns")                                                  \
    TEXT(separator, "separator", ENVIRONMENT, ",", "csv: the character between fields, or tab")              \
    CHOICE(user, "user", ENVIRONMENT, USER_SINGLE, USER_SINGLE, USER_SINGLE, SA_USERS,                       \
           "csv, svmlight: the chance of a click by label or grade, and then of stopping; single: perfect, " \
           "one click")                                                                                      \
    TEXT(costs, "costs", ENVIRONMENT, "", "oracle data: the arms' costs, (N), as in 1,2.5,3 or an npy file") \
    TEXT(capacity, "capacity", ENVIRONMENT, "", "oracle data: what costs may add up to")                     \
    TEXT(groups, "groups", ENVIRONMENT, "", "oracle data: the arms' groups, (N), a list or an npy file")     \
    TEXT(capacities, "capacities", ENVIRONMENT, "",                                                          \
         "oracle data: the most arms of each group, a list or an npy file")                                  \
    TEXT(minimums, "minimums", ENVIRONMENT, "",                                                              \
         "oracle data: the least arms of each group, a list or an npy file")                                 \
    TEXT(exclusions, "exclusions", ENVIRONMENT, "",                                                          \
         "oracle data: npy file of pairs of arms, at most one chosen, (pairs, 2)")                           \
    TEXT(eligible, "eligible", ENVIRONMENT, "",                                                              \
         "oracle data: npy file of which arms each position takes, (K, N), 0 or 1")                          \
    TEXT(edges, "edges", ENVIRONMENT, "", "oracle data: npy file of the two nodes of each arm, (N, 2)")      \
    TEXT(source, "source", ENVIRONMENT, "", "oracle data: the node where paths start")                       \
    TEXT(target, "target", ENVIRONMENT, "", "oracle data: the node where they end")                          \
    TEXT(revenues, "revenues", ENVIRONMENT, "", "oracle data: revenues, (N), a list or an npy file")         \
    TEXT(topics, "topics", ENVIRONMENT, "",                                                                  \
         "oracle data: npy file of how well arms cover topics, (N, topics)")                                 \
    TEXT(matrix, "matrix", ENVIRONMENT, "", "oracle data: npy file of A in A x <= b, (rows, N)")             \
    TEXT(bounds, "bounds", ENVIRONMENT, "", "oracle data: b, (rows), a list or an npy file")                 \
    TEXT(seconds, "seconds", ENVIRONMENT, "",                                                                \
         "oracle data: how long CBC may search for the best slate, 1 unless given")                          \
    TEXT(discounts, "discounts", ENVIRONMENT, "",                                                            \
         "oracle data, clicks cascade, feedback cascade: psi of each position, (K), a list or npy file")     \
    TEXT(cascade_reward, "reward", ENVIRONMENT, "",                                                          \
         "oracle data, and clicks cascade: what earns, any click (click) or each (sum)")                     \
    FLAG(exactly, "exactly", ENVIRONMENT, false, false, false,                                               \
         "oracle data: exactly K arms, also where some may be left out")                                     \
    CHOICE(clicks, "clicks", ENVIRONMENT, CLICKS_NONE, CLICKS_NONE, CLICKS_NONE, SA_CLICKS,                  \
           "what users do: nothing (every score is seen), look at positions by chance, or scan from the "    \
           "top and click")                                                                                  \
    TEXT(examination, "examination", ENVIRONMENT, "",                                                        \
         "clicks position: chance that each position is looked at, (K), as in 0.9,0.5,0.2, or an npy file")  \
    NUMBER(leave, "leave", ENVIRONMENT, 0, 0, 0, 0, 1,                                                       \
           "clicks cascade: chance that the user leaves after an arm without a click")                       \
    CHOICE(click_noise, "click-noise", ENVIRONMENT, CLICK_BERNOULLI, CLICK_BERNOULLI, CLICK_BERNOULLI,       \
           SA_CLICK_NOISES,                                                                                  \
           "what is seen of an arm: clicks, 0 or 1, from scores clipped into [0, 1] (h1, h3 go below); or "  \
           "score and noise")                                                                                \
    INTEGER(runs, "runs", EXPERIMENT, 20, 20, 20, 1, 1000000, "R, independent runs")                         \
    INTEGER(first_run, "first-run", EXPERIMENT, 0, 0, 0, 0, 1000000000, "number of the first run")           \
    INTEGER(seed, "seed", EXPERIMENT, 1, 1, 1, 0, INT64_MAX, "seed of all random numbers")                   \
    CHOICE(show_regret, "show-regret", EXPERIMENT, REGRET_EXPECTED, REGRET_REALISED, REGRET_EXPECTED,        \
           SA_REGRETS, "the regret that tables and figures show; files have both")                           \
    INTEGER(threads, "threads", OUTPUT, 0, 0, 0, 0, 4096,                                                    \
            "runs at a time; 0: one for each processor that it may use")                                     \
    TEXT(out, "out", OUTPUT, "", "folder for the results")                                                   \
    TEXT(trace, "trace", OUTPUT, "", "file for one JSON line a round")                                       \
    TEXT(log, "log", OUTPUT, "", "file for the decision log: JSON lines that `superarm learn` reads")        \
    FLAG(resume, "resume", OUTPUT, false, false, false,                                                      \
         "go on with the experiment in --out, also with more runs or agents")                                \
    TEXT(shard, "shard", OUTPUT, "",                                                                         \
         "I/N: do the I-th of N parts of the runs (from 0), anywhere with the same --out; `superarm "        \
         "report` merges")                                                                                   \
    FLAG(progress, "progress", OUTPUT, false, false, false,                                                  \
         "show the progress line even where stderr is no terminal")                                          \
    FLAG(quiet, "quiet", OUTPUT, false, false, false, "show neither progress nor the table")                 \
    /* the agent: five parts */                                                                              \
    CHOICE(preset, "preset", AGENT, PRESET_PAPER, PRESET_ICML23, PRESET_TUNED, SA_PRESETS,                   \
           "a full set of options")                                                                          \
    TEXT(algorithm, "algorithm", AGENT, "cn-ucb",                                                            \
         "a row of `superarm list algorithms`; run takes several: a,b")                                      \
    INTEGER(hidden, "hidden", AGENT, 100, 100, 100, 1, 10000000, "m, hidden units a layer")                  \
    INTEGER(depth, "depth", AGENT, 2, 2, 2, 2, 1000, "L, layers of weights")                                 \
    CHOICE(output_scale, "output-scale", AGENT, OUTPUT_ROOT_M, OUTPUT_ONE, OUTPUT_ONE, SA_OUTPUT_SCALES,     \
           "factor on the network's output: sqrt(m) or 1")                                                   \
    CHOICE(init, "init", AGENT, INIT_SYMMETRIC, INIT_UNIFORM, INIT_UNIFORM, SA_INITS,                        \
           "first weights: symmetric (Section 3.1; doubles the input) or uniform +-1/sqrt(fan-in)")          \
    CHOICE(bias, "bias", AGENT, BIAS_NONE, BIAS_NONE, BIAS_OUTPUT, SA_BIASES, "which units have a bias")     \
    FLAG(bypass, "bypass", AGENT, false, false, true, "a linear term beside the network")                    \
    NUMBER(init_gain, "init-gain", AGENT, 1, 1, 1, ABOVE_0, 1e6, "factor on the first weights")              \
    TEXT(init_weights, "init-weights", AGENT, "", "npz file with first weights W1 ... WL, used as they are") \
    CHOICE(normalize, "normalize", AGENT, NORMALIZE_NONE, NORMALIZE_NONE, NORMALIZE_STANDARD,                \
           SA_NORMALIZATIONS,                                                                                \
           "contexts: as they are, to unit length, or standardised as data comes (over sqrt(d))")            \
    CHOICE(precision, "precision", AGENT, PRECISION_SINGLE, PRECISION_SINGLE, PRECISION_SINGLE,              \
           SA_PRECISIONS, "arithmetic of the network and the widths")                                        \
    CHOICE(train, "train", AGENT, TRAIN_AUTO, TRAIN_AUTO, TRAIN_AUTO, SA_TRAIN_MODES,                        \
           "by the schedule, or when asked")                                                                 \
    INTEGER(train_every, "train-every", AGENT, 10, 10, 10, 1, SA_ANY_INTEGER,                                \
            "answered decisions between two trainings")                                                      \
    INTEGER(train_warmup, "train-warmup", AGENT, 0, 0, 100, 0, SA_ANY_INTEGER,                               \
            "train after each of the first this many answered decisions")                                    \
    INTEGER(train_window, "train-window", AGENT, 0, 101, 0, 0, SA_ANY_INTEGER,                               \
            "train on the last this many answered decisions, while Z keeps all; 0: all")                     \
    INTEGER(window, "window", AGENT, 0, 0, 0, 0, SA_ANY_INTEGER,                                             \
            "forget what is older than the last this many answered decisions, in training, Z and all else; " \
            "0: nothing")                                                                                    \
    NUMBER(discount, "discount", AGENT, 1, 1, 1, ABOVE_0, 1,                                                 \
           "forget by this factor with each answered decision, in training, Z and all else; 1: nothing")     \
    INTEGER(train_steps, "train-steps", AGENT, 100, 100, 100, 0, 1000000000, "J, steps of one training")     \
    INTEGER(train_sample, "train-sample", AGENT, 0, 0, 0, 0, SA_ANY_INTEGER,                                 \
            "observations of one training, drawn anew from all feedback when there are more; 0: all")        \
    INTEGER(train_batch, "train-batch", AGENT, 0, 0, 128, 0, SA_ANY_INTEGER, "samples of one step; 0: all")  \
    CHOICE(optimizer, "optimizer", AGENT, OPTIMIZER_GD, OPTIMIZER_GD, OPTIMIZER_ADAM, SA_OPTIMIZERS,         \
           "gradient descent on Eq. (4), or Adam with moments that start anew each training")                \
    NUMBER(rate, "rate", AGENT, 1, 0.01, 0.01, ABOVE_0, 1e6,                                                 \
           "step size eta; with --rate-rule theory the constant C")                                          \
    CHOICE(rate_rule, "rate-rule", AGENT, RATE_THEORY, RATE_CONSTANT, RATE_CONSTANT, SA_RATE_RULES,          \
           "eta is --rate, or C / (n m L + m lambda)")                                                       \
    CHOICE(rate_decay, "rate-decay", AGENT, DECAY_NONE, DECAY_NONE, DECAY_COSINE, SA_RATE_DECAYS,            \
           "inside each training: constant, or half a cosine to 0")                                          \
    FLAG(regularize, "regularize", AGENT, true, false, false,                                                \
         "Eq. (4)'s (m lambda / 2) |theta - theta_0|^2 in the loss")                                         \
    NUMBER(weight_decay, "weight-decay", AGENT, 0, 0, 0.3, 0, 1e6,                                           \
           "each step shrinks weights by rate times this")                                                   \
    NUMBER(                                                                                                  \
        error_decay, "error-decay", AGENT, 0, 0, 150, 0, 1e9,                                                \
        "pull of the weights to 0 in units of the squared error on new feedback: large errors mean noise")   \
    FLAG(companion, "companion", AGENT, false, false, true,                                                  \
         "a ridge regression beside the network; feedback decides how far each is trusted, and how boldly "  \
         "to explore")                                                                                       \
    FLAG(centre, "centre", AGENT, false, false, true, "train on scores minus their mean so far")             \
    FLAG(scale, "scale", AGENT, false, false, true, "train on scores scaled to the deviation --scale-to")    \
    NUMBER(scale_to, "scale-to", AGENT, 1, 1, 0.04, ABOVE_0, 1e6,                                            \
           "with --scale: the standard deviation of scores trained on")                                      \
    CHOICE(confidence, "confidence", AGENT, CONFIDENCE_EXACT, CONFIDENCE_EXACT, CONFIDENCE_EXACT,            \
           SA_CONFIDENCES,                                                                                   \
           "widths sqrt(g' Z^-1 g / m) from all of Z, its diagonal, the last layer's part, a sketch, or "    \
           "exact until a "                                                                                  \
           "sketch is cheaper")                                                                              \
    TEXT(reward_range, "reward-range", AGENT, "",                                                            \
         "LOW,HIGH: feedback outside is refused; unless given, nothing is learnt from scores that are "      \
         "wildly off")                                                                                       \
    INTEGER(sketch_size, "sketch-size", AGENT, 256, 256, 256, 1, 1000000,                                    \
            "sketch and auto: B, gradients that stand for all that were counted")                            \
    FLAG(rebuild, "rebuild", AGENT, false, false, false,                                                     \
         "after each training make Z anew, of the whole history's gradients at the new weights")             \
    CHOICE(exact_form, "exact-form", AGENT, EXACT_AUTO, EXACT_AUTO, EXACT_AUTO, SA_EXACT_FORMS,              \
           "exact widths from the n x n or the p x p side; the answer is the same")                          \
    CHOICE(widths, "widths", AGENT, WIDTHS_NEEDED, WIDTHS_NEEDED, WIDTHS_NEEDED, SA_WIDTHS,                  \
           "exact widths of the arms that can reach the slate (others get an upper bound), or of all")       \
    NUMBER(regularization, "regularization", AGENT, 1, 1, 1, ABOVE_0, 1e100, "lambda: Z starts as lambda I") \
    NUMBER(gamma, "gamma", AGENT, 1, 1, 1, OR_THEORY, 1e100,                                                 \
           "ucb: widths added to the estimate, in units of the scores' scale; theory: gamma_t and e_t of "   \
           "Lemma 1")                                                                                        \
    NUMBER(                                                                                                  \
        nu, "nu", AGENT, 1, 1, 0.15, OR_THEORY, 1e100,                                                       \
        "ts: deviation of a sample in units of sigma; theory: nu of Theorem 2 and epsilon of Section 4.4")   \
    NUMBER(floor, "floor", AGENT, 0, 0, 0, 0, 1,                                                             \
           "probability that the slate is a uniformly random feasible one, so that logs can be evaluated")   \
    INTEGER(ts_samples, "ts-samples", AGENT, 10, 10, 10, 1, 1000000,                                         \
            "ts: M, samples an arm; the highest counts")                                                     \
    CHOICE(ts_deviation, "ts-deviation", AGENT, DEVIATION_SIGMA, DEVIATION_VARIANCE, DEVIATION_SIGMA,        \
           SA_DEVIATIONS, "ts: a sample deviates by nu sigma, or by nu^2 sigma^2")                           \
    NUMBER(offset, "offset", AGENT, 0, 0, 0, -1e100, 1e100, "e_t: added to the scores of ucb and ts")        \
    CHOICE(linear_form, "linear-form", AGENT, LINEAR_DEFINED, LINEAR_PUBLISHED, LINEAR_FITTED,               \
           SA_LINEAR_FORMS,                                                                                  \
           "linear agents as their papers define them, as the published code runs, mistakes included, or "   \
           "with an intercept, and lambda and noise fitted")                                                 \
    NUMBER(delta, "delta", AGENT, 0.1, 0.1, 0.1, ABOVE_0, 0.999999,                                          \
           "theory: probability that the bounds may fail")                                                   \
    NUMBER(norm_bound, "norm-bound", AGENT, 1, 1, 1, 0, 1e100,                                               \
           "theory: S, a bound on the norm of the true parameter (B in Theorem 2)")                          \
    NUMBER(sub_gaussian, "sub-gaussian", AGENT, 1, 1, 1, 0, 1e100, "theory: R, the noise is R-sub-Gaussian") \
    NUMBER(approximation, "approximation", AGENT, 1, 1, 1, 0, 1e100,                                         \
           "theory: factor on what a network's finite width and training add to the bounds; 0: nothing")     \
    NUMBER(c_1, "c-1", AGENT, 1, 1, 1, 0, 1e100, "theory: C_1 of gamma_t (Lemma 1)")                         \
    NUMBER(c_gamma_1, "c-gamma-1", AGENT, 1, 1, 1, 0, 1e100, "theory: C_Gamma,1 of gamma_t")                 \
    NUMBER(c_gamma_2, "c-gamma-2", AGENT, 1, 1, 1, 0, 1e100, "theory: C_Gamma,2 of gamma_t")                 \
    NUMBER(c_gamma_3, "c-gamma-3", AGENT, 1, 1, 1, 0, 1e100, "theory: C_Gamma,3 of gamma_t")                 \
    NUMBER(c_3, "c-3", AGENT, 1, 1, 1, 0, 1e100, "theory: C_3 of e_t (Lemma 1)")                             \
    NUMBER(c_4, "c-4", AGENT, 1, 1, 1, 0, 1e100, "theory: C_4 of e_t")                                       \
    NUMBER(c_epsilon_1, "c-epsilon-1", AGENT, 1, 1, 1, 0, 1e100, "theory: C_epsilon,1 (Section 4.4)")        \
    NUMBER(c_epsilon_2, "c-epsilon-2", AGENT, 1, 1, 1, 0, 1e100, "theory: C_epsilon,2")                      \
    NUMBER(c_epsilon_3, "c-epsilon-3", AGENT, 1, 1, 1, 0, 1e100, "theory: C_epsilon,3")                      \
    NUMBER(c_epsilon_4, "c-epsilon-4", AGENT, 1, 1, 1, 0, 1e100, "theory: C_epsilon,4")                      \
    NUMBER(c_bar_2, "c-bar-2", AGENT, 1, 1, 1, 0, 1e100,                                                     \
           "superarm theory: C_2, lambda is at least C_2 L K (Theorems 1 and 2)")                            \
    NUMBER(c_bar_3, "c-bar-3", AGENT, 1, 1, 1, 0, 1e100,                                                     \
           "superarm theory: C_3 of J, the steps of one training")                                           \
    NUMBER(c_width, "c-width", AGENT, 1, 1, 1, 0, 1e100,                                                     \
           "superarm theory: C of Condition 1, the smallest width")                                          \
    INTEGER(horizon, "horizon", AGENT, 0, 0, 0, 0, SA_ANY_INTEGER, "T of cc-mab and acc-ucb; 0: --rounds")   \
    NUMBER(cube_low, "cube-low", AGENT, -1, -1, -1, -1e100, 1e100,                                           \
           "cc-mab, acc-ucb: least value of a feature; what is outside counts as at the edge")               \
    NUMBER(cube_high, "cube-high", AGENT, 1, 1, 1, -1e100, 1e100,                                            \
           "cc-mab, acc-ucb: largest value of a feature")                                                    \
    INTEGER(cc_cubes, "cc-cubes", AGENT, 0, 0, 0, 0, 1000000000,                                             \
            "cc-mab: h, parts that each feature is cut into; 0: ceil(T^(1 / (3 alpha + d)))")                \
    NUMBER(cc_alpha, "cc-alpha", AGENT, 1, 1, 1, ABOVE_0, 1000,                                              \
           "cc-mab: alpha, the Hoelder exponent of the scores")                                              \
    NUMBER(cc_exponent, "cc-exponent", AGENT, 0, 0, 0, 0, 1,                                                 \
           "cc-mab: z, a cube seen at most t^z log t times is under-explored; 0: 2 alpha / (3 alpha + d)")   \
    NUMBER(cc_control, "cc-control", AGENT, 1, 1, 0.1, 0, 1e100, "cc-mab: factor on t^z log t")              \
    INTEGER(acc_axes, "acc-axes", AGENT, 0, 0, 0, 0, 10000000,                                               \
            "acc-ucb: features halved when a cell splits, in turn, for N = 2^this children; 0: all, but at " \
            "most 10")                                                                                       \
    NUMBER(acc_rho, "acc-rho", AGENT, 0, 0, 0, 0, 0.999999999,                                               \
           "acc-ucb: rho, diameters are v1 rho^h; 0: 2^(-axes/d)")                                           \
    NUMBER(acc_v1, "acc-v1", AGENT, 0, 0, 0, 0, 1e100, "acc-ucb: v1; 0: the least that holds for the cells") \
    NUMBER(acc_v2, "acc-v2", AGENT, 0, 0, 0, 0, 1e100,                                                       \
           "acc-ucb: v2, a cell has a ball of radius v2 rho^h in it; 0: the largest that holds")             \
    NUMBER(acc_confidence, "acc-confidence", AGENT, 1, 1, 0.3, 0, 1e100,                                     \
           "acc-ucb: factor on sqrt(2 log T / C)")                                                           \
    NUMBER(acc_diameter, "acc-diameter", AGENT, 1, 1, 0, 0, 1e100,                                           \
           "acc-ucb: factor on N (v1 / v2) v1 rho^h")                                                        \
    CHOICE(oracle, "oracle", AGENT, ORACLE_TOP_K, ORACLE_TOP_K, ORACLE_TOP_K, SA_ORACLES,                    \
           "what chooses the slate; own: code of the caller")                                                \
    CHOICE(feedback, "feedback", AGENT, FEEDBACK_SEMI_BANDIT, FEEDBACK_SEMI_BANDIT, FEEDBACK_SEMI_BANDIT,    \
           SA_FEEDBACKS,                                                                                     \
           "what is seen of a slate: every score, scores that hang on the position, or those up to a click") \
    CHOICE(cascade_form, "cascade-form", AGENT, CASCADE_LITERAL, CASCADE_DISCOUNTED, CASCADE_DISCOUNTED,     \
           SA_CASCADE_FORMS,                                                                                 \
           "cascade: psi_k f predicts position k; f does, as the paper has it; or discounts are learnt as "  \
           "positions are")                                                                                  \
    FLAG(count_pending, "count-pending", AGENT, false, false, false,                                         \
         "count chosen arms into Z when they are chosen, not when they are answered")                        \
    INTEGER(agent_threads, "agent-threads", AGENT, 1, 1, 1, 1, 64,                                           \
            "threads of one agent while it looks through many arms (top-k); the slates are the same")        \
    TEXT(history, "history", AGENT, "",                                                                      \
         "file to keep feedback in instead of memory; run puts the agent's label and the run behind its "    \
         "name")                                                                                             \
    FLAG(history_new, "history-new", AGENT, false, false, false,                                             \
         "begin the --history again that an agent left which was never saved; run always does")              \
    INTEGER(                                                                                                 \
        pending_limit, "pending-limit", AGENT, 10000, 10000, 10000, 1, 100000000,                            \
        "decisions kept waiting for feedback; beyond it answered ones are forgotten first, then the oldest") \
    /* epochs of cn-ucb-d and cn-ts-d */                                                                     \
    INTEGER(epoch_length, "epoch-length", AGENT, 100, 100, 100, 1, SA_ANY_INTEGER,                           \
            "cn-ucb-d, cn-ts-d: answered decisions until the first epoch ends; the next ends at twice as "   \
            "many, and so on")                                                                               \
    CHOICE(epoch_replay, "epoch-replay", AGENT, REPLAY_SCHEDULE, REPLAY_SCHEDULE, REPLAY_LAST, SA_REPLAYS,   \
           "a new epoch's network is trained as the schedule would have from the start, or once on all "     \
           "feedback")                                                                                       \
    INTEGER(epoch_replay_steps, "epoch-replay-steps", AGENT, 1000, 1000, 1000, 1, 1000000000,                \
            "epoch-replay last: steps of that one training")                                                 \
    NUMBER(epoch_hidden_growth, "epoch-hidden-growth", AGENT, 1.2, 1.2, 1, ABOVE_0, 1e6,                     \
           "factor on m, the hidden units, from one epoch to the next")                                      \
    NUMBER(epoch_regularization_growth, "epoch-regularization-growth", AGENT, 1, 1, 1, ABOVE_0, 1e6,         \
           "factor on lambda from one epoch to the next")                                                    \
    NUMBER(epoch_rate_growth, "epoch-rate-growth", AGENT, 1, 1, 1, ABOVE_0, 1e6,                             \
           "factor on the step size from one epoch to the next")                                             \
    NUMBER(epoch_steps_growth, "epoch-steps-growth", AGENT, 1, 1, 1, ABOVE_0, 1e6,                           \
           "factor on J, the steps of one training, from one epoch to the next")                             \
    NUMBER(epoch_exploration_growth, "epoch-exploration-growth", AGENT, 1, 1, 1, ABOVE_0, 1e6,               \
           "factor on gamma and nu from one epoch to the next, where they are numbers")

/* Other names for an option: X(alias, name). */
#define SA_OPTION_ALIASES(X) X("lambda", "regularization") X("normalise", "normalize") X("center", "centre")

#endif
