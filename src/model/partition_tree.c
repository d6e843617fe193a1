/* A partition that refines itself, for ACC-UCB (Nika, Elahi and Tekin, "Contextual Combinatorial Volatile
 * Multi-armed Bandit with Adaptive Discretization", AISTATS 2020). The cube [0, 1]^D is the root of a tree
 * of cells; a cell of level h has a diameter of at most v1 rho^h and a ball of radius v2 rho^h in it, and N
 * children. A leaf x has the number C(x) of observations since it came to be, and their mean mu(x). With T
 * the horizon and p the parent of x,
 *
 *     c(x) = sqrt(2 log T / C(x)), infinite for C = 0
 * b(x) = min { mu(x) + c(x),  mu(p) + c(p) + v1 rho^(h-1) } + v1 rho^h       the root has the first term
 *         only
 *     g(x) = b(x) + N (v1 / v2) v1 rho^h                                         the index of arms in x
 *
 * and after a round's feedback each leaf it touched splits once c(x) <= v1 rho^h; its children start with
 * nothing seen.
 *
 * --gamma is a factor on c; with `tuned` g has no last term.
 *
 * Here a split halves the next features in turn, all but at most 10, so N = 2^axes. Then rho = 2^(-axes/D),
 * and v1 and v2 are the smallest and the largest that hold for these boxes at every level. A child takes
 * memory from its first observation on. Always in double precision. */
#include <math.h>

#include "base/functions.h"
#include "base/memory.h"
#include "model/model.h"
#include "model/partition_cells.h"

enum {
    FINEST = 30,   /* halvings of one feature, which then has 2^30 parts: a cell that small is never split */
    MOST_AXES = 10 /* halved in one split: with N = 2^80 the index would be nothing but its last term */
};

typedef struct tree {
    sa_model base;
    size_t axes;        /* halved in one split */
    int32_t deepest;    /* level */
    double radius;      /* c = sqrt(radius / C): 2 log T times the square of --gamma */
    double v1, rho;     /* of the diameters */
    double second_term; /* N v1^2 / v2, or 0 */
    sa_cells cells;
} tree;

/* Workspace. */
typedef struct tree_work {
    int32_t *key;    /* (1 + dim) */
    int32_t *fine;   /* (dim) a context's place along each feature, in the finest parts */
    size_t *touched; /* (observations) leaves of the feedback at hand */
} tree_work;

static sa_status lay(const tree *self, size_t observations, sa_model_work *space, tree_work *work) {
    size_t dim = self->base.dim;
    return SA_LAY(&space->outer, {&work->key, 1 + dim, sizeof *work->key},
                  {&work->fine, dim, sizeof *work->fine},
                  {&work->touched, observations, sizeof *work->touched});
}

static void destroy(sa_model *model) {
    tree *self = (tree *)model;
    sa_cells_clear(&self->cells);
    sa_free(self);
}

static sa_status fork_model(sa_model *model, sa_model **out) {
    tree *copy;
    SA_TRY(sa_alloc_array(1, sizeof *copy, &copy));
    *copy = *(const tree *)model;
    sa_cells_share(&copy->cells, &((const tree *)model)->cells);
    *out = &copy->base;
    return SA_OK;
}

/* ---- the shape of the cells ---- */

/* How often feature j was halved in cells of a level: features take turns. */
static int halvings(const tree *self, size_t level, size_t j) {
    return (int)((level * self->axes + self->base.dim - 1 - j) / self->base.dim);
}

static size_t common_divisor(size_t a, size_t b) { return b ? common_divisor(b, a % b) : a; }

/* At a level where r of the D features are halved once more than the others, the diameter over rho^h is
 * sqrt(D - r + r/4) 2^(r/D), and the radius of the largest ball 1/2 for r = 0, else 2^(r/D) / 4. */
static void measure_boxes(size_t dim, size_t axes, double *v1, double *v2) {
    size_t step = common_divisor(dim, axes);
    double d = (double)dim;
    *v1 = sqrt(d);
    *v2 = step < dim ? sa_pow(2, (double)step / d) / 4 : 0.5;
    for (size_t r = step; r < dim; r += step) {
        double longest = sqrt(d - 0.75 * (double)r) * sa_pow(2, (double)r / d);
        if (longest > *v1) *v1 = longest;
    }
}

static void shape_cells(tree *self, bool widest_term) {
    size_t dim = self->base.dim;
    self->axes = dim < MOST_AXES ? dim : MOST_AXES;
    self->deepest = (int32_t)(FINEST * dim / self->axes);
    double v2, children = sa_pow(2, (double)self->axes);
    measure_boxes(dim, self->axes, &self->v1, &v2);
    self->rho = sa_pow(2, -(double)self->axes / (double)dim);
    self->second_term = widest_term ? children * self->v1 / v2 * self->v1 : 0;
}

static sa_status create(const sa_model_settings *settings, sa_model **out) {
    tree *self;
    size_t dim = (size_t)settings->dim;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base = (sa_model){.kind = &sa_partition_tree, .precision = SA_PRECISION_DOUBLE, .dim = dim};
    self->cells.dim = dim;
    self->radius = settings->cell_factor * settings->cell_factor * 2 * sa_log(fmax(1, settings->horizon));
    shape_cells(self, settings->widest_term);
    *out = &self->base;
    return SA_OK;
}

/* ---- finding leaves ---- */

typedef struct leaf {
    size_t level, cell, parent; /* cell SA_NO_CELL: nothing seen yet; parent SA_NO_CELL: it is the root */
} leaf;

static void set_key(const tree *self, size_t level, tree_work *work) {
    work->key[0] = (int32_t)level;
    for (size_t j = 0; j < self->base.dim; j++)
        work->key[1 + j] = work->fine[j] >> (FINEST - halvings(self, level, j));
}

/* The leaf that x (dim) lies in; its key is left in work->key. */
static leaf find_leaf(const tree *self, const double *x, tree_work *work) {
    leaf found = {.cell = SA_NO_CELL, .parent = SA_NO_CELL};
    for (size_t j = 0; j < self->base.dim; j++) work->fine[j] = sa_cube_part(x[j], INT32_C(1) << FINEST);
    for (;; found.level++) {
        set_key(self, found.level, work);
        found.cell = sa_cells_find(&self->cells, work->key);
        if (found.cell == SA_NO_CELL || !self->cells.split[found.cell]) return found;
        found.parent = found.cell;
    }
}

/* ---- the index ---- */

static double confidence(const tree *self, size_t cell) {
    return sqrt(self->radius / (double)self->cells.seen[cell]);
}
static double diameter(const tree *self, double level) { return self->v1 * sa_pow(self->rho, level); }

/* Before anything is seen all arms tie, whatever the number: that of one observation of 0 is finite. */
static double upper_bound(const tree *self, leaf at) {
    double own = at.cell == SA_NO_CELL ? INFINITY : self->cells.mean[at.cell] + confidence(self, at.cell);
    if (at.parent == SA_NO_CELL) return at.cell == SA_NO_CELL ? sqrt(self->radius) : own;
    double parents =
        self->cells.mean[at.parent] + confidence(self, at.parent) + diameter(self, (double)at.level - 1);
    return own < parents ? own : parents;
}

/* A leaf's estimate; its parent's while nothing was seen in it. */
static sa_status evaluate(const sa_model *model, const void *inputs, size_t count, size_t positions,
                          sa_model_work *space, double *mean, sa_gradients *gradients) {
    const tree *self = (const tree *)model;
    const double *x = inputs;
    tree_work work;
    (void)positions, (void)gradients; /* it has no parameters */
    SA_TRY(lay(self, 0, space, &work));
    for (size_t i = 0; i < count; i++) {
        leaf at = find_leaf(self, x + i * model->dim, &work);
        size_t cell = at.cell == SA_NO_CELL ? at.parent : at.cell;
        mean[i] = cell == SA_NO_CELL ? 0 : self->cells.mean[cell];
    }
    return SA_OK;
}

static sa_status explore(const sa_model *model, const void *inputs, size_t count, uint64_t round,
                         sa_model_work *space, double *score, double *urgency) {
    const tree *self = (const tree *)model;
    const double *x = inputs;
    tree_work work;
    (void)round;
    SA_TRY(lay(self, 0, space, &work));
    for (size_t i = 0; i < count; i++) {
        leaf at = find_leaf(self, x + i * model->dim, &work);
        double shrink = sa_pow(self->rho, (double)at.level);
        score[i] = upper_bound(self, at) + self->v1 * shrink + self->second_term * shrink;
        urgency[i] = 0;
    }
    return SA_OK;
}

/* ---- learning ---- */

/* Leaves split when all feedback at hand has been counted, so that its order does not matter. */
static sa_status observe(sa_model *model, const void *inputs, const double *discounts, const double *scores,
                         size_t count, sa_model_work *space) {
    tree *self = (tree *)model;
    sa_cells *cells = &self->cells;
    const double *x = inputs;
    size_t touched = 0;
    tree_work work;
    SA_TRY(lay(self, count, space, &work));
    SA_TRY(sa_cells_unshare(cells));
    SA_TRY(sa_cells_reserve(cells, count));
    for (size_t i = 0; i < count; i++) {
        double score;
        if (!sa_cells_undiscount(scores[i], discounts ? discounts[i] : 1, &score)) continue;
        find_leaf(self, x + i * model->dim, &work);
        work.touched[touched] = sa_cells_take(cells, work.key);
        sa_cells_observe(cells, work.touched[touched++], score);
    }
    for (size_t i = 0; i < touched; i++) {
        size_t cell = work.touched[i];
        int32_t level = cells->key[cell * (1 + model->dim)];
        if (level < self->deepest && confidence(self, cell) <= diameter(self, level)) cells->split[cell] = 1;
    }
    return SA_OK;
}

/* ---- files ---- */

static bool fits(const void *user, const int32_t *key) {
    const tree *self = user;
    if (key[0] < 0 || key[0] > self->deepest) return false;
    for (size_t j = 0; j < self->base.dim; j++)
        if (key[1 + j] < 0 || key[1 + j] >> halvings(self, (size_t)key[0], j) != 0) return false;
    return true;
}

static sa_status save(const sa_model *model, sa_npz_writer *writer) {
    return sa_cells_save(&((const tree *)model)->cells, writer);
}

static sa_status load(sa_model *model, sa_npz *archive) {
    tree *self = (tree *)model;
    SA_TRY(sa_cells_load(&self->cells, archive, fits, self));
    for (size_t i = 0; i < self->cells.count; i++)
        if (self->cells.split[i] && self->cells.key[i * (1 + model->dim)] >= self->deepest)
            return sa_fail(SA_FORMAT, "cell %zu of the partition makes no sense", i);
    return SA_OK;
}

static const sa_observing_class observing = {.observe = observe};
static const sa_exploring_class exploring = {.explore = explore};

const sa_model_class sa_partition_tree = {
    .create = create,
    .destroy = destroy,
    .fork = fork_model,
    .evaluate = evaluate,
    .save = save,
    .load = load,
    .observing = &observing,
    .exploring = &exploring,
};
