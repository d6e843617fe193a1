/* All options, and the settings of presets: made of the lists in the folders' options.h by
 * tools/make-options-struct. Texts are owned, and "" when not set. */
/* clang-format off */
#ifndef SA_OPTIONS_STRUCT_H
#define SA_OPTIONS_STRUCT_H

struct sa_options {
    /* ---- environment ---- */

    char *environment;             /* what gives the contexts and scores: `superarm list environments` */
    int64_t rounds;                /* T, rounds of one run */
    int64_t arms;                  /* N, candidate arms a round */
    int64_t slate;                 /* K, arms to choose; positions that --feedback position knows */
    double noise;                  /* standard deviation of the noise on scores, also of npy without
                                    * --noise-values */
    double turn;                   /* h1, h2, h3: radians that the hidden vector a turns by a round */
    char *score;                   /* formula environment: the expected score, of x.a, x.b, x.c (hidden unit
                                    * vectors), x[0], t, abs(), ... */
    int64_t delay;                 /* rounds between a decision and its feedback */
    char *contexts;                /* npy environment: file of contexts, (T, N, d) or (R, T, N, d) */
    char *scores;                  /* npy environment: file of expected scores, (T, N) or (R, T, N) */
    char *noise_values;            /* npy environment: file of noise to add, shaped as the scores */
    char *data;                    /* csv, svmlight and classes environments: the file */
    char *label;                   /* csv, classes: column of the label: name (--header), number from 1 or
                                    * from -1, or last */
    char *positive;                /* csv: the label that is wanted */
    bool header;                   /* csv, classes: the first row has the names of the columns */
    char *separator;               /* csv, classes: the character between fields, or tab */
    sa_user user;                  /* csv, svmlight: the chance of a click by label or grade, and then of
                                    * stopping; single: perfect, one click */
    char *problem;                 /* oracle data, as in costs=1,2.5,3;capacity=4: `superarm list oracles`
                                    * names what each takes; in a flag and a key of its own too, --costs
                                    * 1,2.5,3 */
    sa_clicks_kind clicks;         /* what users do: nothing (every score is seen), look at positions by
                                    * chance, or scan from the top and click */
    char *examination;             /* clicks position: chance that each position is looked at, (K), as in
                                    * 0.9,0.5,0.2, or an npy file */
    double leave;                  /* clicks cascade: chance that the user leaves after an arm without a
                                    * click */
    sa_click_noise click_noise;    /* what is seen of an arm: clicks, 0 or 1, from scores clipped into [0,
                                    * 1] (h1, h3 go below); or score and noise */

    /* ---- experiment ---- */

    int64_t runs;                  /* R, independent runs */
    sa_regret show_regret;         /* the regret that tables and figures show; files have both */
    sa_own_slates own_slates;      /* a slate of your own code that breaks the problem's rules: an error,
                                    * without the arms that do, or as it is */

    /* ---- output ---- */

    int64_t threads;               /* runs at a time; 0: one for each processor that it may use */
    char *out;                     /* folder for the results */
    char *trace;                   /* file for one JSON line a round */
    char *log;                     /* file for the decision log: JSON lines that `superarm learn` reads */
    bool resume;                   /* go on with the experiment in --out, also with more runs or agents */
    char *replace;                 /* LABEL: go on with --out, and run this agent again from its first run;
                                    * LABEL,LABEL for several */
    char *shard;                   /* I/N: do the I-th of N parts of the runs (from 0), anywhere with the
                                    * same --out; `superarm report` merges */
    bool progress;                 /* show the progress line even where stderr is no terminal */
    bool quiet;                    /* show neither progress nor the table */

    /* ---- agent ---- */

    sa_preset preset;              /* a full set of options */
    char *algorithm;               /* a row of `superarm list algorithms`; run takes several: a,b */

    /* ---- model ---- */

    int64_t dim;                   /* d, features of an arm */
    int64_t seed;                  /* seed of all random numbers */
    int64_t first_run;             /* number of the first run */
    int64_t hidden;                /* m, hidden units a layer */
    int64_t depth;                 /* L, layers of weights */
    char *init_weights;            /* npz file with first weights W1 ... WL, used as they are */
    sa_normalization normalize;    /* contexts: as they are, to unit length, or standardised as data comes
                                    * (over sqrt(d)) */
    sa_precision precision;        /* arithmetic of the network and the widths */
    double regularization;         /* lambda: Z starts as lambda I */
    sa_linear_form linear_form;    /* linear agents as their papers define them, as the published code runs,
                                    * mistakes included, or with an intercept, and lambda and noise fitted */
    int64_t train_steps;           /* J, steps of one training */
    int64_t train_batch;           /* samples of one step; 0: all */
    double rate;                   /* step size eta of a training; theory: 1 / (n m L + m lambda), as in
                                    * Theorem 1 */
    sa_train_from train_from;      /* a training starts from the present weights, or, as the lemmas have it,
                                    * from the first ones */

    /* ---- learning ---- */

    sa_train_mode train;           /* by the schedule, or when asked */
    int64_t train_every;           /* answered decisions between two trainings */
    int64_t window;                /* forget what is older than the last this many answered decisions, in
                                    * training, Z and all else; 0: nothing */
    double discount;               /* forget by this factor with each answered decision, in training, Z and
                                    * all else; 1: nothing */
    bool rebuild;                  /* after each training make Z again, of the whole history's gradients at
                                    * the new weights */
    bool companion;                /* a ridge regression beside the network; feedback decides how far each
                                    * is trusted */
    int64_t epoch_length;          /* cn-ucb-d, cn-ts-d: answered decisions until the first epoch ends; the
                                    * next ends at twice as many, and so on */

    /* ---- confidence ---- */

    sa_confidence_kind confidence; /* widths sqrt(g' Z^-1 g / m) from all of Z, its diagonal, the last
                                    * layer's part, a sketch, or exact until a sketch is cheaper */
    int64_t sketch_size;           /* sketch and auto: B, gradients that stand for all that were counted */

    /* ---- exploration ---- */

    double gamma;                  /* ucb: widths added to the estimate, in units of the scores' scale;
                                    * cc-mab, acc-ucb: factor on their exploration; theory: gamma_t and e_t
                                    * of Lemma 1 */
    double nu;                     /* ts: deviation of a sample in units of sigma; theory: nu of Theorem 2
                                    * and epsilon of Section 4.4 */
    sa_bonus bonus;                /* unit of gamma and nu: the width, or a posterior deviation, with noise
                                    * and lambda from feedback */
    int64_t ts_samples;            /* ts: M, samples an arm; the highest counts */
    double floor;                  /* probability that a place gets a uniformly random feasible arm, so that
                                    * logs can be evaluated */
    sa_floor_by floor_by;          /* what the floor draws at random: the arm of each place, or the whole
                                    * page */

    /* ---- theory ---- */

    double delta;                  /* theory: probability that the bounds may fail */
    double norm_bound;             /* theory: S, a bound on the norm of the true parameter (B in Theorem 2) */
    double sub_gaussian;           /* theory: R, the noise is R-sub-Gaussian */
    double approximation;          /* theory: factor on what a network's finite width and training add to
                                    * the bounds; 0: nothing */

    /* ---- oracle ---- */

    sa_oracle_kind oracle;         /* what chooses the slate; own: code of the caller */

    /* ---- feedback ---- */

    sa_feedback_kind feedback;     /* what is seen of a slate: every score, scores that depend on the
                                    * position, those up to a click, or the total alone */
    sa_cascade_form cascade_form;  /* cascade: psi_k f predicts position k; f does, as the paper has it; or
                                    * discounts are learnt as positions are */
    char *reward_range;            /* LOW,HIGH: feedback outside is refused; unless given, nothing is learnt
                                    * from scores that are wildly off */

    /* ---- choosing ---- */

    sa_widths widths;              /* exact widths of the arms that can reach the slate (others get an upper
                                    * bound), or of all */
    int64_t agent_threads;         /* threads of one agent while it looks through many arms (top-k); the
                                    * slates are the same */

    /* ---- memory ---- */

    int64_t pending_limit;         /* decisions kept waiting for feedback; beyond it answered ones are
                                    * forgotten first, then the oldest */
    bool count_pending;            /* count chosen arms into Z when they are chosen, not when they are
                                    * answered */
    int64_t keep_rows;             /* observations kept to train with: the latest where old ones are
                                    * forgotten, else a sample of all; 0: all, -1: as many as fit in 200 MB */
    char *history;                 /* file to keep feedback in instead of memory; run puts the agent's label
                                    * and the run behind its name */

    /* ---- settings, which presets set and no user does ---- */

    sa_output_scale output_scale;  /* factor on the network's output: sqrt(m) or 1 */
    sa_init init;                  /* first weights: symmetric (Section 3.1) or uniform +-1/sqrt(fan-in) */
    bool doubled_input;            /* init symmetric: the input is [x, x] / sqrt(2), so that the first
                                    * scores are 0 */
    sa_bias bias;                  /* which units have a bias */
    sa_optimizer optimizer;        /* gradient descent on Eq. (4), or Adam with moments that start anew each
                                    * training */
    sa_rate_decay rate_decay;      /* inside each training: constant, or half a cosine to 0 */
    bool regularize;               /* Eq. (4)'s (m lambda / 2) |theta - theta_0|^2 in the loss */
    double weight_decay;           /* each step shrinks weights, but for biases, by rate times this */
    double h3_frequency;           /* h3 is cos(this x'a) */
    int64_t train_warmup;          /* train after each of the first this many answered decisions */
    int64_t train_window;          /* train on the last this many answered decisions, while Z keeps all; 0:
                                    * all */
    double score_deviation;        /* train on scores minus their mean so far, scaled to this deviation; 0:
                                    * on scores as they are */
    double epoch_hidden_growth;    /* cn-ucb-d, cn-ts-d: factor on m, the hidden units, from one epoch to
                                    * the next */
    sa_replay epoch_replay;        /* a new epoch's network is trained as the schedule would have from the
                                    * start, or once on all feedback */
    sa_deviation ts_deviation;     /* ts: a sample deviates by nu sigma, or by nu^2 sigma^2 */

    /* ---- what is no option ---- */

    bool history_anew; /* `run` begins the --history again that an earlier run left */
    bool given[SA_SETTING_TOTAL]; /* by the caller, in the order of the rows */
};

#endif
