/* The network's parts, shared by the files mlp*_real.c.
 *
 *     h_0 = x,   z_l = W_l h_(l-1),   h_l = max(z_l, 0),   f = s W_L h_(L-1)          l = 1 ... L - 1
 *
 * s = sqrt(m) as in the paper's Eq. (2), or 1. Options add to it without changing its form:
 * a bias is one more input that is always 1 (the last column of W_l); a linear bypass adds v'x to f;
 * the symmetric initialisation takes [x, x] / sqrt(2) for x.
 *
 * Back-propagation: d f / d W_l = delta_l h_(l-1)', with delta_L = s and delta_l = (W_(l+1)' delta_(l+1)) *
 * 1[z_l > 0], so pair l of a gradient is (delta_l, h_(l-1)), and the bypass is one more pair, (1, x). */
#ifndef SA_MODEL_MLP_H
#define SA_MODEL_MLP_H

#include "linalg/real.h"
#include "model/model.h"

typedef struct REAL(mlp) {
    sa_model base;
    size_t inputs; /* of the first layer, without the bias: dim, or 2 dim when doubled */
    size_t hidden; /* m */
    size_t depth;  /* L */
    int bias;      /* sa_bias */
    bool bypass, doubled;
    double scale;   /* s */
    double divisor; /* sqrt(m): gradients for Z are divided by it */
    size_t parameters;
    real *theta;   /* (parameters): W_1', ..., W_L', v, each row-major (inputs + bias, outputs) */
    real *theta_0; /* (parameters): where they started */
    /* training */
    int optimizer, rate_rule, rate_decay;
    bool from_start; /* trainings do */
    bool regularize;
    double lambda, rate, weight_decay;
    size_t steps, batch;
} REAL(mlp);

/* Workspace. */
typedef struct REAL(mlp_work) {
    sa_gradients pass;       /* a chunk of samples on their way through the network */
    sa_gradients arms;       /* with positions: the arms of a chunk on their way through its first layer */
    real *position_z;        /* with positions, (positions, m + 1): W_1 [0, e_k], and what the bypass adds */
    real *output, *residual; /* (chunk) */
    real *gradient, *backup, *moments; /* for training: (parameters) twice, and (2 parameters) for Adam */
} REAL(mlp_work);

enum { SA_MLP_CHUNK = SA_TRAINING_CHUNK }; /* samples taken through the network at a time */

/* Has W_l a column for the bias? */
static inline bool REAL(mlp_has_bias)(const REAL(mlp) * mlp, size_t layer) {
    return mlp->bias == SA_BIAS_ALL ? layer < mlp->depth
                                    : mlp->bias == SA_BIAS_OUTPUT && layer == mlp->depth - 1;
}
/* Rows and columns of W_l, l from 0; l = depth is the bypass. */
sa_pair_shape REAL(mlp_shape)(const REAL(mlp) * mlp, size_t layer);
/* Where W_l begins in theta. */
size_t REAL(mlp_offset)(const REAL(mlp) * mlp, size_t layer);

/* to (columns, rows) = W', W (rows, columns): files, and the order of draws, have W. */
void REAL(mlp_transpose)(const real *w, size_t rows, size_t columns, real *to);

/* Draws or reads theta_0, and starts theta there. */
sa_status REAL(mlp_init)(REAL(mlp) * mlp, const sa_model_settings *settings);
sa_status REAL(mlp_redraw)(sa_model *model, const sa_model_settings *settings, uint64_t draw);

/* Lays out the workspace: for evaluating, or for training. */
sa_status REAL(mlp_lay)(const REAL(mlp) * mlp, bool training, sa_workspace *workspace, REAL(mlp_work) * work);

/* Puts inputs (count, dim), rows rows[0 .. count) of `inputs` (rows NULL: the first), into the batch's first
 * layer, and takes them through: leaves h_l in pair[l].input, and f in output (count). */
void REAL(mlp_forward)(const REAL(mlp) * mlp, const real *inputs, const size_t *rows, size_t count,
                       sa_gradients *batch, real *output);
/* The same for samples [first, first + count) of those that arms (all, features) give in each of `positions`
 * places: sample i is arm i / positions, in place i % positions. W_1 [x, e_k] = W_1 [x, 0] + W_1 [0, e_k],
 * and the first is computed once. */
void REAL(mlp_forward_positions)(const REAL(mlp) * mlp, REAL(mlp_work) * work, const real *features,
                                 size_t positions, size_t first, size_t count, sa_gradients *batch,
                                 real *output);
/* After mlp_forward: fills the deltas for start[i] df_i, start (count), or `start_all` for all when start is
 * NULL. */
void REAL(mlp_backward)(const REAL(mlp) * mlp, sa_gradients *batch, const real *start, double start_all);

sa_status REAL(mlp_train)(sa_model *model, const sa_training *training, sa_model_work *work, bool *diverged);

#endif
