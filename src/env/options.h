/* The options of environments, and of what users do with a slate. */
#ifndef SA_ENV_OPTIONS_H
#define SA_ENV_OPTIONS_H

#include "base/option_rows.h"
#include "base/reals.h"

#define SA_USERS(X)                                                                                          \
    X(USER_SINGLE, "single")                                                                                 \
    X(USER_PERFECT, "perfect") X(USER_NAVIGATIONAL, "navigational") X(USER_INFORMATIONAL, "informational")
SA_DECLARE_CHOICES(sa_user, SA_USERS);
#define SA_CLICKS(X) X(CLICKS_NONE, "none") X(CLICKS_POSITION, "position") X(CLICKS_CASCADE, "cascade")
SA_DECLARE_CHOICES(sa_clicks_kind, SA_CLICKS);
#define SA_CLICK_NOISES(X) X(CLICK_BERNOULLI, "bernoulli") X(CLICK_GAUSSIAN, "gaussian")
SA_DECLARE_CHOICES(sa_click_noise, SA_CLICK_NOISES);

#define SA_ENVIRONMENT_OPTIONS(X)                                                                            \
    X(TEXT, environment, "environment", ENVIRONMENT, "h1",                                                   \
      "what gives the contexts and scores: `superarm list environments`")                                    \
    X(INTEGER, rounds, "rounds", ENVIRONMENT, 2000, 2000, 2000, 1, 100000000, "T, rounds of one run")        \
    X(INTEGER, arms, "arms", ENVIRONMENT, 20, 20, 20, 1, 100000000, "N, candidate arms a round")             \
    X(INTEGER, slate, "slate", ENVIRONMENT, 4, 4, 4, 1, 100000000,                                           \
      "K, arms to choose; positions that --feedback position knows")                                         \
    X(NUMBER, noise, "noise", ENVIRONMENT, 0.01, 0.01, 0.01, 0, 1e100,                                       \
      "standard deviation of the noise on scores, also of npy without --noise-values")                       \
    X(NUMBER, turn, "turn", ENVIRONMENT, 0, 0, 0, -SA_PI, SA_PI,                                             \
      "h1, h2, h3: radians that the hidden vector a turns by a round")                                       \
    X(TEXT, score, "score", ENVIRONMENT, "",                                                                 \
      "formula environment: the expected score, of x.a, x.b, x.c (hidden unit vectors), x[0], t, abs(), "    \
      "...")                                                                                                 \
    X(INTEGER, delay, "delay", ENVIRONMENT, 0, 0, 0, 0, 1000000,                                             \
      "rounds between a decision and its feedback")                                                          \
    X(PATH, contexts, "contexts", ENVIRONMENT,                                                               \
      "npy environment: file of contexts, (T, N, d) or (R, T, N, d)")                                        \
    X(PATH, scores, "scores", ENVIRONMENT, "npy environment: file of expected scores, (T, N) or (R, T, N)")  \
    X(PATH, noise_values, "noise-values", ENVIRONMENT,                                                       \
      "npy environment: file of noise to add, shaped as the scores")                                         \
    X(PATH, data, "data", ENVIRONMENT, "csv, svmlight and classes environments: the file")                   \
    X(TEXT, label, "label", ENVIRONMENT, "last",                                                             \
      "csv, classes: column of the label: name (--header), number from 1 or from -1, or last")               \
    X(TEXT, positive, "positive", ENVIRONMENT, "", "csv: the label that is wanted")                          \
    X(FLAG, header, "header", ENVIRONMENT, false, false, false,                                              \
      "csv, classes: the first row has the names of the columns")                                            \
    X(TEXT, separator, "separator", ENVIRONMENT, ",", "csv, classes: the character between fields, or tab")  \
    X(CHOICE, user, "user", ENVIRONMENT, USER_SINGLE, USER_SINGLE, USER_SINGLE, SA_USERS,                    \
      "csv, svmlight: the chance of a click by label or grade, and then of stopping; single: perfect, one "  \
      "click")                                                                                               \
    X(TEXT, problem, "problem", ENVIRONMENT, "",                                                             \
      "oracle data, as in costs=1,2.5,3;capacity=4: `superarm list oracles` names what each takes; in a "    \
      "flag and a key of its own too, --costs 1,2.5,3")                                                      \
    X(CHOICE, clicks, "clicks", ENVIRONMENT, CLICKS_NONE, CLICKS_NONE, CLICKS_NONE, SA_CLICKS,               \
      "what users do: nothing (every score is seen), look at positions by chance, or scan from the top and " \
      "click")                                                                                               \
    X(PATH, examination, "examination", ENVIRONMENT,                                                         \
      "clicks position: chance that each position is looked at, (K), as in 0.9,0.5,0.2, or an npy file")     \
    X(NUMBER, leave, "leave", ENVIRONMENT, 0, 0, 0, 0, 1,                                                    \
      "clicks cascade: chance that the user leaves after an arm without a click")                            \
    X(CHOICE, click_noise, "click-noise", ENVIRONMENT, CLICK_BERNOULLI, CLICK_BERNOULLI, CLICK_BERNOULLI,    \
      SA_CLICK_NOISES,                                                                                       \
      "what is seen of an arm: clicks, 0 or 1, from scores clipped into [0, 1] (h1, h3 go below); or score " \
      "and noise")

#define SA_ENVIRONMENT_SETTINGS(X)                                                                           \
    X(NUMBER, h3_frequency, "h3-frequency", ENVIRONMENT, SA_PI, 3.14, SA_PI, ABOVE_0, 1e6,                   \
      "h3 is cos(this x'a)")

#endif
