/* The options of learning: when to train, what to forget, and epochs. */
#ifndef SA_LEARN_OPTIONS_H
#define SA_LEARN_OPTIONS_H

#include "base/option_rows.h"

#define SA_TRAIN_MODES(X) X(TRAIN_AUTO, "auto") X(TRAIN_MANUAL, "manual")
SA_DECLARE_CHOICES(sa_train_mode, SA_TRAIN_MODES);
#define SA_REPLAYS(X) X(REPLAY_SCHEDULE, "schedule") X(REPLAY_LAST, "last")
SA_DECLARE_CHOICES(sa_replay, SA_REPLAYS);

#define SA_LEARN_OPTIONS(X)                                                                                  \
    X(CHOICE, train, "train", AGENT, TRAIN_AUTO, TRAIN_AUTO, TRAIN_AUTO, SA_TRAIN_MODES,                     \
      "by the schedule, or when asked")                                                                      \
    X(INTEGER, train_every, "train-every", AGENT, 10, 10, 10, 1, SA_ANY_INTEGER,                             \
      "answered decisions between two trainings")                                                            \
    X(INTEGER, window, "window", AGENT, 0, 0, 0, 0, SA_ANY_INTEGER,                                          \
      "forget what is older than the last this many answered decisions, in training, Z and all else; 0: "    \
      "nothing")                                                                                             \
    X(NUMBER, discount, "discount", AGENT, 1, 1, 1, ABOVE_0, 1,                                              \
      "forget by this factor with each answered decision, in training, Z and all else; 1: nothing")          \
    X(FLAG, rebuild, "rebuild", AGENT, false, false, false,                                                  \
      "after each training make Z again, of the whole history's gradients at the new weights")               \
    X(FLAG, companion, "companion", AGENT, false, false, true,                                               \
      "a ridge regression beside the network; feedback decides how far each is trusted")                     \
    X(INTEGER, epoch_length, "epoch-length", AGENT, 100, 100, 100, 1, SA_ANY_INTEGER,                        \
      "cn-ucb-d, cn-ts-d: answered decisions until the first epoch ends; the next ends at twice as many, "   \
      "and so on")

#define SA_LEARN_SETTINGS(X)                                                                                 \
    X(INTEGER, train_warmup, "train-warmup", AGENT, 0, 0, 100, 0, SA_ANY_INTEGER,                            \
      "train after each of the first this many answered decisions")                                          \
    X(INTEGER, train_window, "train-window", AGENT, 0, 101, 0, 0, SA_ANY_INTEGER,                            \
      "train on the last this many answered decisions, while Z keeps all; 0: all")                           \
    X(NUMBER, score_deviation, "score-deviation", AGENT, 0, 0, 0.04, 0, 1e6,                                 \
      "train on scores minus their mean so far, scaled to this deviation; 0: on scores as they are")         \
    X(NUMBER, epoch_hidden_growth, "epoch-hidden-growth", AGENT, 1.2, 1.2, 1, ABOVE_0, 1e6,                  \
      "cn-ucb-d, cn-ts-d: factor on m, the hidden units, from one epoch to the next")                        \
    X(CHOICE, epoch_replay, "epoch-replay", AGENT, REPLAY_SCHEDULE, REPLAY_SCHEDULE, REPLAY_LAST,            \
      SA_REPLAYS,                                                                                            \
      "a new epoch's network is trained as the schedule would have from the start, or once on all feedback")

#endif
