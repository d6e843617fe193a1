/* A fixed partition of the context cube, for CC-MAB (Chen, Xu and Lu, "Contextual Combinatorial Multi-armed Bandits with
 * Volatile Arms and Submodular Reward", NeurIPS 2018). [0, 1]^D is cut into h^D equal cubes; a cube p has the number C(p) of
 * observations in it and their mean r(p), 0 before the first. With T the horizon and alpha the Hoelder exponent,
 *
 *     h = ceil(T^(1 / (3 alpha + D)))                       --cc-cubes
 *     K(t) = t^z log t,   z = 2 alpha / (3 alpha + D)       --cc-exponent, and a factor --cc-control
 *
 * In round t an arm whose cube has C(p) <= K(t) is under-explored, and is chosen before all others; the others compete with
 * r(p). There is nothing to train. Always in double precision. */
#include <math.h>

#include "base/memory.h"
#include "model/model.h"
#include "model/partition_cells.h"

typedef struct partition {
    sa_model base;
    sa_cube cube;
    int32_t parts; /* h */
    double exponent, control;
    sa_cells cells;
    int32_t *key; /* (1 + dim) workspace */
} partition;

static void destroy(sa_model *model) {
    partition *self = (partition *)model;
    sa_cells_clear(&self->cells);
    sa_free(self->key);
    sa_free(self);
}

/* --cc-cubes, or ceil(T^(1 / denominator)), where a root that is whole but for its rounding is whole. */
static int32_t count_parts(const sa_options *options, double denominator) {
    double root = pow(fmax(1, (double)options->horizon), 1 / denominator);
    return (int32_t)(options->cc_cubes ? (double)options->cc_cubes : fmin(ceil(root * (1 - 1e-12)), 1e9));
}

static sa_status create(const sa_options *options, sa_model **out) {
    partition *self;
    sa_status status;
    size_t dim = (size_t)options->dim;
    double denominator = 3 * options->cc_alpha + (double)dim;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base = (sa_model){.kind = &sa_partition, .precision = SA_PRECISION_DOUBLE, .dim = dim};
    self->cells.dim = dim;
    self->parts = count_parts(options, denominator);
    self->exponent = options->cc_exponent > 0 ? options->cc_exponent : 2 * options->cc_alpha / denominator;
    self->control = options->cc_control;
    SA_TRY_OR_FAIL(sa_cube_from(options, &self->cube));
    SA_TRY_OR_FAIL(sa_alloc_array(1 + dim, sizeof *self->key, &self->key));
    *out = &self->base;
    return SA_OK;
fail:
    destroy(&self->base);
    return status;
}

/* The key of the cube that x (dim) lies in; all are of level 0. */
static const int32_t *key_of(const partition *self, const double *x) {
    for (size_t j = 0; j < self->base.dim; j++) self->key[1 + j] = sa_cube_part(&self->cube, x[j], self->parts);
    return self->key;
}

static sa_status evaluate(sa_model *model, const void *inputs, size_t count, double *mean, sa_gradients *gradients) {
    const partition *self = (const partition *)model;
    const double *x = inputs;
    (void)gradients; /* it has no parameters */
    for (size_t i = 0; i < count; i++) {
        size_t cell = sa_cells_find(&self->cells, key_of(self, x + i * model->dim));
        mean[i] = cell == SA_NO_CELL ? 0 : self->cells.mean[cell];
    }
    return SA_OK;
}

static void explore(sa_model *model, const void *inputs, size_t count, uint64_t round, double *score, double *urgency) {
    const partition *self = (const partition *)model;
    const double *x = inputs;
    double bound = self->control * pow((double)round, self->exponent) * log((double)round);
    for (size_t i = 0; i < count; i++) {
        size_t cell = sa_cells_find(&self->cells, key_of(self, x + i * model->dim));
        score[i] = cell == SA_NO_CELL ? 0 : self->cells.mean[cell];
        if (cell != SA_NO_CELL && (double)self->cells.seen[cell] > bound) urgency[i] = 0;
    }
}

static sa_status reserve(sa_model *model, size_t count) { return sa_cells_reserve(&((partition *)model)->cells, count); }

static void observe(sa_model *model, const void *inputs, const double *discounts, const double *scores, size_t count) {
    partition *self = (partition *)model;
    const double *x = inputs;
    for (size_t i = 0; i < count; i++) {
        double score;
        if (!sa_cells_undiscount(scores[i], discounts ? discounts[i] : 1, &score)) continue;
        sa_cells_observe(&self->cells, sa_cells_take(&self->cells, key_of(self, x + i * model->dim)), score);
    }
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

static size_t bytes(const sa_model *model) {
    return sizeof(partition) + (1 + model->dim) * sizeof(int32_t) + sa_cells_bytes(&((const partition *)model)->cells);
}

const sa_model_class sa_partition = {
    .create = create,
    .destroy = destroy,
    .evaluate = evaluate,
    .reserve = reserve,
    .observe = observe,
    .explore = explore,
    .save = save,
    .load = load,
    .bytes = bytes,
};
