/* A fixed partition of the context cube, for CC-MAB (Chen, Xu and Lu, "Contextual Combinatorial Multi-armed
 * Bandits with Volatile Arms and Submodular Reward", NeurIPS 2018). [0, 1]^D is cut into h^D equal cubes; a
 * cube p has the number C(p) of observations in it and their mean r(p), 0 before the first. With T the
 * horizon and alpha the Hoelder exponent,
 *
 *     h = ceil(T^(1 / (3 alpha + D)))
 *     K(t) = t^z log t,   z = 2 alpha / (3 alpha + D)       and a factor --gamma
 *
 * Here alpha is 1: the scores are Lipschitz.
 *
 * In round t an arm whose cube has C(p) <= K(t) is under-explored, and is chosen before all others; the
 * others compete with r(p). There is nothing to train. Always in double precision. */
#include <math.h>

#include "base/functions.h"
#include "base/memory.h"
#include "model/model.h"
#include "model/partition_cells.h"

typedef struct partition {
    sa_model base;
    int32_t parts; /* h */
    double exponent, control;
    sa_cells cells;
} partition;

static void destroy(sa_model *model) {
    partition *self = (partition *)model;
    sa_cells_clear(&self->cells);
    sa_free(self);
}

static sa_status fork_model(sa_model *model, sa_model **out) {
    partition *copy;
    SA_TRY(sa_alloc_array(1, sizeof *copy, &copy));
    *copy = *(const partition *)model;
    sa_cells_share(&copy->cells, &((const partition *)model)->cells);
    *out = &copy->base;
    return SA_OK;
}

/* A root that is whole but for its rounding is whole. */
static int32_t count_parts(double horizon, double denominator) {
    return (int32_t)fmin(ceil(sa_pow(fmax(1, horizon), 1 / denominator) * (1 - 1e-12)), 1e9);
}

static sa_status create(const sa_model_settings *settings, sa_model **out) {
    partition *self;
    size_t dim = (size_t)settings->dim;
    double alpha = 1, denominator = 3 * alpha + (double)dim;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base = (sa_model){.kind = &sa_partition, .precision = SA_PRECISION_DOUBLE, .dim = dim};
    self->cells.dim = dim;
    self->parts = count_parts(settings->horizon, denominator);
    self->exponent = 2 * alpha / denominator;
    self->control = settings->cell_factor;
    *out = &self->base;
    return SA_OK;
}

/* key (1 + dim) of the cube that x (dim) lies in; all are of level 0. */
static const int32_t *key_of(const partition *self, const double *x, int32_t *key) {
    key[0] = 0;
    for (size_t j = 0; j < self->base.dim; j++) key[1 + j] = sa_cube_part(x[j], self->parts);
    return key;
}

static sa_status lay(const partition *self, sa_model_work *work, int32_t **key) {
    return SA_LAY(&work->outer, {key, 1 + self->base.dim, sizeof **key});
}

static sa_status evaluate(const sa_model *model, const void *inputs, size_t count, size_t positions,
                          sa_model_work *work, double *mean, sa_gradients *gradients) {
    const partition *self = (const partition *)model;
    const double *x = inputs;
    int32_t *key;
    (void)positions, (void)gradients; /* it has no parameters */
    SA_TRY(lay(self, work, &key));
    for (size_t i = 0; i < count; i++) {
        size_t cell = sa_cells_find(&self->cells, key_of(self, x + i * model->dim, key));
        mean[i] = cell == SA_NO_CELL ? 0 : self->cells.mean[cell];
    }
    return SA_OK;
}

static sa_status explore(const sa_model *model, const void *inputs, size_t count, uint64_t round,
                         sa_model_work *work, double *score, double *urgency) {
    const partition *self = (const partition *)model;
    const double *x = inputs;
    int32_t *key;
    SA_TRY(lay(self, work, &key));
    double bound = self->control * sa_pow((double)round, self->exponent) * sa_log((double)round);
    for (size_t i = 0; i < count; i++) {
        size_t cell = sa_cells_find(&self->cells, key_of(self, x + i * model->dim, key));
        score[i] = cell == SA_NO_CELL ? 0 : self->cells.mean[cell];
        if (cell != SA_NO_CELL && (double)self->cells.seen[cell] > bound) urgency[i] = 0;
    }
    return SA_OK;
}

static sa_status observe(sa_model *model, const void *inputs, const double *discounts, const double *scores,
                         size_t count, sa_model_work *work) {
    partition *self = (partition *)model;
    const double *x = inputs;
    int32_t *key;
    SA_TRY(lay(self, work, &key));
    SA_TRY(sa_cells_unshare(&self->cells));
    SA_TRY(sa_cells_reserve(&self->cells, count));
    for (size_t i = 0; i < count; i++) {
        double score;
        if (!sa_cells_undiscount(scores[i], discounts ? discounts[i] : 1, &score)) continue;
        sa_cells_observe(&self->cells, sa_cells_take(&self->cells, key_of(self, x + i * model->dim, key)),
                         score);
    }
    return SA_OK;
}

static bool fits(const void *user, const int32_t *key) {
    const partition *self = user;
    for (size_t j = 0; j < self->base.dim; j++)
        if (key[1 + j] < 0 || key[1 + j] >= self->parts) return false;
    return key[0] == 0;
}

static sa_status save(const sa_model *model, sa_npz_writer *writer) {
    return sa_cells_save(&((const partition *)model)->cells, writer);
}

static sa_status load(sa_model *model, sa_npz *archive) {
    partition *self = (partition *)model;
    return sa_cells_load(&self->cells, archive, fits, self);
}

static const sa_observing_class observing = {.observe = observe};
static const sa_exploring_class exploring = {.explore = explore};

const sa_model_class sa_partition = {
    .create = create,
    .destroy = destroy,
    .fork = fork_model,
    .evaluate = evaluate,
    .save = save,
    .load = load,
    .observing = &observing,
    .exploring = &exploring,
};
