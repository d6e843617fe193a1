/* Folding. The counted gradients are G (columns), and G^ = D X what the sketch has in their place, so that
 * Z^ = lambda I + D A D' with A = X X'. Removing element j replaces d_j by its projection on the others,
 * sum_i t_i d_i:
 *
 *     x_i += t_i x_j,   G^ -= r x_j',   r = d_j - sum_i t_i d_i
 *
 * With V = (D'D)^-1: t_i = - V_ij / V_jj and |r|^2 = 1 / V_jj. So an element's removal loses A_jj / V_jj of
 * the energy tr(D A D'), and the one that loses least goes first. Which one that is changes with each
 * removal; V and A are not rewritten for it, only their diagonals: column j of V after k removals is V_j
 * minus a combination of the k columns before (as in a Cholesky factorisation), and x_i is its x before
 * plus F_i' times those of the k removed. That makes 4 n k operations for a removal.
 *
 * What is given up. G = G^ + R, where R gains E X_r in each fold: E = D_r - D_k F the residuals of the
 * removed elements, X_r their rows. Split the columns of R into those of gradients counted before the last
 * fold, and since. An old element has rows in the former only, a fresh one in the latter only, and before
 * this fold R is 0 in the latter. So
 *
 *     |R|^2 <= (|R before| + |E X_old|)^2 + |E X_fresh|^2        (spectral norms)
 *
 * where |E X|^2 is the largest eigenvalue of the small matrix L' E'E L, L L' = A of these elements. Nothing
 * here supposes that the projection is exact: E'E is computed from the t that were used.
 *
 * Elements are scaled to length 1 throughout, so that their sizes do not matter. */
#define SA_REAL_BITS 64

#include "confidence/sketch_fold.h"

#include <math.h>
#include <string.h>

#include "base/functions.h"
#include "base/memory.h"
#include "linalg/factors.h"
#include "linalg/products.h"

/* Added to the diagonal of the scaled D'D: t is then as good as rounding allows, about its root, for
 * dependent elements too. */
static const double JITTER = 1e-12;

static const double NEGLIGIBLE = 1e-15; /* energy, in units of lambda */

enum { MATRICES = 8, VECTORS = 7, SQUARINGS = 8 };

sa_status sa_fold_init(sa_fold *fold, size_t room, double lambda) {
    *fold = (sa_fold){.room = room, .lambda = lambda};
    double **matrix[MATRICES] = {&fold->weights, &fold->gram,  &fold->factor, &fold->inverse,
                                 &fold->energy,  &fold->given, &fold->solved, &fold->residual};
    double **vector[VECTORS] = {&fold->weight, &fold->root,   &fold->energies, &fold->leverages,
                                &fold->row[0], &fold->row[1], &fold->row[2]};
    for (size_t i = 0; i < MATRICES; i++) SA_TRY(sa_alloc_matrix(room, room, sizeof(double), matrix[i]));
    for (size_t i = 0; i < VECTORS; i++) SA_TRY(sa_alloc_array(room, sizeof(double), vector[i]));
    SA_TRY(sa_alloc_array(room, sizeof *fold->kept, &fold->kept));
    SA_TRY(sa_alloc_array(room, sizeof *fold->removed, &fold->removed));
    return sa_alloc_array(room, sizeof *fold->gone, &fold->gone);
}

double sa_fold_bytes(double room) {
    return room * room * MATRICES * sizeof(double) +
           room * (VECTORS * sizeof(double) + 2 * sizeof(size_t) + sizeof(bool));
}

void sa_fold_clear(sa_fold *fold) {
    void *arrays[] = {fold->weights,  fold->gram,      fold->factor,   fold->inverse, fold->energy,
                      fold->given,    fold->solved,    fold->residual, fold->weight,  fold->root,
                      fold->energies, fold->leverages, fold->row[0],   fold->row[1],  fold->row[2],
                      fold->kept,     fold->removed,   fold->gone};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) sa_free(arrays[i]);
    *fold = (sa_fold){0};
}

void sa_fold_add(sa_fold *fold) { fold->weight[fold->count++] = 1; }

double sa_fold_weight(const sa_fold *fold, size_t element) {
    return element < fold->old ? fold->weights[element * fold->old + element] : fold->weight[element];
}

double sa_fold_least_weight(const sa_fold *fold) {
    double least = INFINITY;
    for (size_t i = 0; i < fold->count; i++) least = fmin(least, sa_fold_weight(fold, i));
    return least;
}

void sa_fold_fade(sa_fold *fold, double by) {
    for (size_t i = 0; i < fold->old * fold->old; i++) fold->weights[i] *= by;
    for (size_t i = fold->old; i < fold->count; i++) fold->weight[i] *= by;
    fold->lost *= sqrt(by);
}

/* ---- choosing what goes ---- */

/* out (n, n) += the scaled D'D */
static void add_scaled_gram(const sa_fold *fold, double *out) {
    size_t n = fold->count;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (fold->root[i] > 0 && fold->root[j] > 0)
                out[i * n + j] += fold->gram[i * n + j] / (fold->root[i] * fold->root[j]);
}

/* fold->root, and the scaled A: fold->energy (n, n) */
static void scale_weights(sa_fold *fold) {
    size_t n = fold->count, old = fold->old;
    for (size_t i = 0; i < n; i++) fold->root[i] = sqrt(fmax(fold->gram[i * n + i], 0));
    memset(fold->energy, 0, n * n * sizeof(double));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double weight = i < old && j < old ? fold->weights[i * old + j] : i == j ? fold->weight[i] : 0;
            fold->energy[i * n + j] = weight * fold->root[i] * fold->root[j];
        }
}

/* fold->inverse (n, n) = V of the scaled elements. Uses factor. */
static sa_status invert_gram(sa_fold *fold) {
    size_t n = fold->count;
    memset(fold->inverse, 0, n * n * sizeof(double));
    add_scaled_gram(fold, fold->inverse);
    for (size_t i = 0; i < n; i++) fold->inverse[i * n + i] = 1 + JITTER;
    SA_TRY(cholesky_f64(n, fold->inverse, n));
    return cholesky_inverse_f64(n, fold->inverse, n, fold->factor);
}

/* The element that is missed least; `more`: one must go, and else only those that nobody would miss. n:
 * none. */
static size_t next_to_go(const sa_fold *fold, bool more) {
    size_t n = fold->count, best = n;
    double least = INFINITY;
    for (size_t j = 0; j < n; j++) {
        bool idle = fold->leverages[j] * JITTER > 0.25 || !(fold->energies[j] > NEGLIGIBLE * fold->lambda);
        double loss = fold->energies[j] / fold->leverages[j];
        if (fold->gone[j] || !(more || idle) || (best < n && loss >= least))
            continue; /* one goes, whatever the numbers */
        least = loss;
        best = j;
    }
    return best;
}

/* The k-th removal, of element j. given (k, n): F, what removed elements give to others; solved (k, n):
 * columns of V. */
static void remove_element(sa_fold *fold, size_t k, size_t j) {
    size_t n = fold->count;
    double *column = fold->row[0], *product = fold->row[1], *weights = fold->row[2];
    memcpy(column, fold->inverse + j * n, n * sizeof *column);
    memcpy(product, fold->energy + j * n, n * sizeof *product); /* A (e_j + F_j) */
    for (size_t l = 0; l < k; l++) {
        const double *solved = fold->solved + l * n, *energy = fold->energy + fold->removed[l] * n;
        double s = solved[j], f = fold->given[l * n + j];
        for (size_t i = 0; i < n; i++) column[i] -= s * solved[i];
        for (size_t i = 0; i < n; i++) product[i] += f * energy[i];
    }
    memcpy(weights, product, n * sizeof *weights); /* row j of A as it is by now */
    for (size_t l = 0; l < k; l++) {
        const double *given = fold->given + l * n;
        double u = product[fold->removed[l]];
        for (size_t i = 0; i < n; i++) weights[i] += u * given[i];
    }
    fold->gone[j] = true;
    fold->removed[k] = j;
    double pivot = fmax(column[j], 1e-300), root = sqrt(pivot), own = weights[j];
    double *t = fold->given + k * n, *solved = fold->solved + k * n;
    for (size_t i = 0; i < n; i++) {
        solved[i] = column[i] / root;
        t[i] = fold->gone[i] ? 0 : -column[i] / pivot;
        fold->leverages[i] -= solved[i] * solved[i];
        fold->energies[i] += t[i] * (2 * weights[i] + t[i] * own);
    }
    for (size_t l = 0; l < k; l++) {
        double *given = fold->given + l * n, f = given[j];
        for (size_t i = 0; i < n; i++) given[i] += f * t[i];
        given[j] = 0;
    }
}

/* removed elements; fold->removed, fold->given */
static size_t choose(sa_fold *fold, size_t keep) {
    size_t n = fold->count, k = 0;
    memset(fold->gone, 0, n * sizeof *fold->gone);
    for (size_t i = 0; i < n; i++) {
        fold->leverages[i] = fold->inverse[i * n + i];
        fold->energies[i] = fold->energy[i * n + i];
    }
    for (size_t j; (j = next_to_go(fold, n - k > keep)) < n; k++) remove_element(fold, k, j);
    return k;
}

/* The strongest first: a part of them then tells most. */
static void list_kept(sa_fold *fold) {
    size_t count = 0;
    for (size_t i = 0; i < fold->count; i++) {
        if (fold->gone[i]) continue;
        size_t place = count++;
        for (; place > 0 && fold->energies[fold->kept[place - 1]] < fold->energies[i]; place--)
            fold->kept[place] = fold->kept[place - 1];
        fold->kept[place] = i;
    }
}

/* ---- what is lost ---- */

/* At least the largest eigenvalue of the positive semidefinite matrix (k, k), and at most k^(1 /
 * 2^SQUARINGS) times it: the Frobenius norm of its 2^SQUARINGS-th power. Destroys both arrays. */
static double largest_eigenvalue(size_t k, double *matrix, double *square) {
    double log_norm = 0, share = 1;
    for (int step = 0;; step++) {
        double sum = 0;
        for (size_t i = 0; i < k * k; i++) sum += matrix[i] * matrix[i];
        if (sum == 0) return 0;
        log_norm += share * 0.5 * sa_log(sum);
        if (step == SQUARINGS) return sa_exp(log_norm);
        for (size_t i = 0; i < k * k; i++) matrix[i] /= sqrt(sum);
        gemm_nn_f64(k, k, k, 1, matrix, k, matrix, k, 0, square, k);
        double *swap = matrix;
        matrix = square;
        square = swap;
        share /= 2;
    }
}

/* residual (k, k) = E'E = Y D'D Y', where row l of Y is 1 at the l-th removed element and -F_l elsewhere.
 * Uses solved, inverse, factor. */
static void find_residuals(sa_fold *fold, size_t k) {
    size_t n = fold->count;
    double *y = fold->factor;
    for (size_t l = 0; l < k; l++) {
        for (size_t i = 0; i < n; i++) y[l * n + i] = -fold->given[l * n + i];
        y[l * n + fold->removed[l]] = 1;
    }
    memset(fold->inverse, 0, n * n * sizeof(double));
    add_scaled_gram(fold, fold->inverse);
    gemm_nn_f64(k, n, n, 1, y, n, fold->inverse, n, 0, fold->solved, n);
    gemm_nt_f64(k, k, n, 1, fold->solved, n, y, n, 0, fold->residual, k);
}

/* root (count, count), lower = the Cholesky factor of A for some removed elements; SA_INVALID when they
 * weigh nearly nothing */
static sa_status root_of_weights(const sa_fold *fold, const size_t *which, size_t count, double *root) {
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < count; b++)
            root[a * count + b] =
                fold->energy[fold->removed[which[a]] * fold->count + fold->removed[which[b]]];
    SA_TRY(cholesky_f64(count, root, count));
    for (size_t a = 0; a < count; a++)
        for (size_t b = a + 1; b < count; b++) root[a * count + b] = 0;
    return SA_OK;
}

/* |E X|^2 of the removed elements that are fresh, or old. Uses solved, inverse, factor. */
static double lost_part(sa_fold *fold, size_t k, bool fresh) {
    size_t n = fold->count, count = 0;
    size_t *which = fold->kept; /* not in use yet */
    double *root = fold->inverse, *part = fold->solved, *product = fold->factor, trace = 0;
    for (size_t l = 0; l < k; l++) {
        double energy = fold->energy[fold->removed[l] * n + fold->removed[l]];
        if ((fold->removed[l] >= fold->old) != fresh || !(energy > 0)) continue;
        trace += energy;
        which[count++] = l;
    }
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < count; b++) part[a * count + b] = fold->residual[which[a] * k + which[b]];
    if (root_of_weights(fold, which, count, root) != SA_OK)
        return trace * largest_eigenvalue(count, part, product);
    gemm_nn_f64(count, count, count, 1, part, count, root, count, 0, product, count);
    gemm_tn_f64(count, count, count, 1, root, count, product, count, 0, part, count);
    return largest_eigenvalue(count, part, product);
}

/* ---- folding ---- */

/* weights of the kept elements: with T = F' and U = A_rk + A_rr T' / 2, A = A_kk + T U + (T U)'. Uses
 * solved, inverse, factor. */
static void give_weights(sa_fold *fold, size_t kept, size_t k) {
    size_t n = fold->count;
    double *t = fold->inverse, *u = fold->solved, *between = fold->factor, *sum = fold->weights;
    for (size_t l = 0; l < k; l++) {
        const double *energy = fold->energy + fold->removed[l] * n;
        for (size_t i = 0; i < kept; i++) {
            t[l * kept + i] = fold->given[l * n + fold->kept[i]];
            u[l * kept + i] = energy[fold->kept[i]];
        }
        for (size_t m = 0; m < k; m++) between[l * k + m] = energy[fold->removed[m]];
    }
    gemm_nn_f64(k, kept, k, 0.5, between, k, t, kept, 1, u, kept);
    gemm_tn_f64(kept, kept, k, 1, t, kept, u, kept, 0, between, kept);
    for (size_t i = 0; i < kept; i++)
        for (size_t j = 0; j < kept; j++) {
            size_t a = fold->kept[i], b = fold->kept[j];
            double scaled = fold->energy[a * n + b] + between[i * kept + j] + between[j * kept + i];
            sum[i * kept + j] = scaled / (fold->root[a] * fold->root[b]);
        }
}

/* gram (kept, kept); rows and columns come in any order, so by way of `factor` */
static void keep_gram(sa_fold *fold, size_t kept) {
    size_t n = fold->count;
    for (size_t i = 0; i < kept; i++)
        for (size_t j = 0; j < kept; j++)
            fold->factor[i * kept + j] = fold->gram[fold->kept[i] * n + fold->kept[j]];
    memcpy(fold->gram, fold->factor, kept * kept * sizeof(double));
}

/* A Gram matrix that cannot be inverted has numbers that are not finite: what is lost is then not known. */
static size_t drop_latest(sa_fold *fold, size_t keep) {
    size_t n = fold->count, k = 0;
    memset(fold->given, 0, n * n * sizeof(double));
    memset(fold->gone, 0, n * sizeof *fold->gone);
    for (size_t i = keep; i < n; i++) fold->gone[fold->removed[k++] = i] = true;
    fold->lost = 1e100;
    return k;
}

void sa_fold_until(sa_fold *fold, size_t keep) {
    scale_weights(fold);
    size_t k = invert_gram(fold) == SA_OK ? choose(fold, keep) : drop_latest(fold, keep),
           kept = fold->count - k;
    find_residuals(fold, k);
    double old = fold->lost + sqrt(lost_part(fold, k, false)), fresh = lost_part(fold, k, true);
    fold->lost = sqrt(old * old + fresh);
    list_kept(fold);
    give_weights(fold, kept, k);
    keep_gram(fold, kept);
    fold->count = fold->old = kept;
}

/* factor (n, n) = the Cholesky factor of the matrix, which rounding may leave a little short of positive
 * definite: then its diagonal is raised until it is. SA_INVALID when not even that helps: it has numbers
 * that are not finite. */
static sa_status factor_raised(size_t n, const double *matrix, double *factor) {
    static const double raised[] = {0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2};
    for (size_t i = 0; i < sizeof raised / sizeof *raised; i++) {
        memcpy(factor, matrix, n * n * sizeof *factor);
        for (size_t j = 0; j < n; j++) factor[j * n + j] *= 1 + raised[i];
        if (cholesky_f64(n, factor, n) == SA_OK) return SA_OK;
    }
    return sa_fail(SA_INVALID,
                   "the sketch of %zu gradients cannot be factored: are features or scores too large?", n);
}

/* inverse (old, old) = A^-1 of the old elements; log det A. Uses factor. */
static sa_status invert_weights(sa_fold *fold, double *log_det) {
    size_t n = fold->old;
    *log_det = 0;
    if (n == 0) return SA_OK;
    SA_TRY(factor_raised(n, fold->weights, fold->inverse));
    for (size_t i = 0; i < n; i++) *log_det += 2 * sa_log(fold->inverse[i * n + i]);
    return cholesky_inverse_f64(n, fold->inverse, n, fold->factor);
}

sa_status sa_fold_factor(sa_fold *fold) {
    size_t n = fold->count, old = fold->old;
    SA_TRY(invert_weights(fold, &fold->log_det));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double noise = i < old ? fold->inverse[i * old + j] : i == j ? 1 / fold->weight[i] : 0;
            fold->gram[i * n + j] += fold->lambda * noise;
        }
    for (size_t i = old; i < n; i++) fold->log_det += sa_log(fold->weight[i]);
    return factor_raised(n, fold->gram, fold->factor);
}
