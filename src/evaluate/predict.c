/* Reward models for dm, dr and cascade-dr: a regression on features for each position.
 *
 *   additive   Q(slate) = sum_k f_k([1, x_{a_k}])
 *   cascade    Q_k(a_1:k) = f_k([1, x_{a_k}, mean of x_{a_j} over j < k]), fitted from the last position back
 *              to y_k = r_k + sum_a pi(a given a_1:k) Q_{k+1}(a_1:k, a)
 *
 * The log is read again for each fit: contexts are never all in memory. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "evaluate/evaluate.h"
#include "evaluate/regression.h"

enum { MOST_KEPT = 1 << 23 }; /* numbers: 64 MB */

/* The policy's probabilities, which the first pass over the log computes and the next ones need again; an
 * agent must choose to know them. Where they are too many, only those of one decision are kept. */
typedef struct kept_chances {
    double *numbers;
    size_t room, at;
    bool complete; /* has those of all decisions */
    bool too_many;
} kept_chances;

typedef struct fitting {
    const sa_model_request *request;
    const sa_feedback_table *table;
    sa_target *target;
    sa_predictions *out;
    const sa_regression_class *kind;
    size_t folds, dim;      /* of contexts */
    const double *contexts; /* (candidates, dim) of the decision at hand */
    sa_regression **models; /* (longest) */
    bool cascade;
    size_t position;       /* that is fitted; `longest` when all are */
    double *targets;       /* (folds) */
    const double *chances; /* (slate, candidates) of the decision at hand: marginals or conditionals */
    kept_chances kept;
    double *rows;    /* (candidates, features) */
    double *shares;  /* (candidates) of the policy, that the rows have */
    double *answers; /* (candidates) */
    size_t rows_room, shares_room, answers_room;
} fitting;

static size_t features(const fitting *self) { return self->cascade ? 2 * self->dim + 1 : self->dim + 1; }

/* ---- features ---- */

static void add_arm(const fitting *self, size_t arm, double share, double *to) {
    const double *x = self->contexts + arm * self->dim;
    for (size_t j = 0; j < self->dim; j++) to[j] += share * x[j];
}

/* Everything but x of the arm itself. */
static void begin_features(const fitting *self, const sa_log_entry *entry, size_t k, double *phi) {
    memset(phi, 0, features(self) * sizeof *phi);
    phi[0] = 1;
    for (size_t j = 0; self->cascade && j < k; j++)
        add_arm(self, entry->arms[j], 1 / (double)k, phi + 1 + self->dim);
}

/* Of the arm that was taken, into the first row. */
static const double *features_taken(const fitting *self, const sa_log_entry *entry, size_t k) {
    begin_features(self, entry, k, self->rows);
    add_arm(self, entry->arms[k], 1, self->rows + 1);
    return self->rows;
}

/* Of the arms that the policy may take, with their shares; returns how many rows that is. A linear model's
 * mean needs only the mean features. `chances` sum to 1 but for rounding. */
static size_t features_next(const fitting *self, const sa_log_entry *entry, size_t k) {
    const double *chances = self->chances + k * entry->candidates;
    size_t count = 0, width = features(self);
    if (self->kind->linear) begin_features(self, entry, k, self->rows);
    for (size_t a = 0; a < entry->candidates; a++) {
        if (!(chances[a] > 0)) continue;
        if (!self->kind->linear) {
            begin_features(self, entry, k, self->rows + count * width);
            self->shares[count] = chances[a];
        }
        add_arm(self, a, self->kind->linear ? chances[a] : 1, self->rows + count * width + 1);
        count += !self->kind->linear;
    }
    if (!self->kind->linear) return count;
    self->shares[0] = 1;
    return 1;
}

/* ---- one decision ---- */

/* The mean over the first `count` rows, as a model predicts them. */
static sa_status mean_prediction(fitting *self, size_t k, size_t model, size_t count, double *mean) {
    SA_TRY(self->kind->predict(self->models[k], model, self->rows, count, self->answers));
    *mean = 0;
    for (size_t i = 0; i < count; i++) *mean += self->shares[i] * self->answers[i];
    return SA_OK;
}

static sa_status predict(fitting *self, const sa_log_entry *entry, size_t i) {
    size_t fold = i % self->folds, from = self->table->first[i];
    double slate = 0, policy = 0;
    for (size_t k = 0; k < entry->slate; k++) {
        double taken, expected;
        SA_TRY(self->kind->predict(self->models[k], fold, features_taken(self, entry, k), 1, &taken));
        SA_TRY(mean_prediction(self, k, fold, features_next(self, entry, k), &expected));
        slate += taken;
        policy += expected;
        if (!self->cascade) continue;
        self->out->taken[from + k] = taken;
        self->out->expected[from + k] = expected;
    }
    if (self->cascade) return SA_OK;
    self->out->slate[i] = slate;
    self->out->policy[i] = policy;
    return SA_OK;
}

/* Adds position k to its regression, with the next position's expectation where the reward to go is
 * wanted. */
static sa_status learn(fitting *self, const sa_log_entry *entry, size_t i, size_t k) {
    double seen = self->table->feedback[self->table->first[i] + k];
    size_t fold = i % self->folds;
    if (self->kind->takes && !self->kind->takes(self->models[k], fold)) return SA_OK;
    for (size_t model = 0; model < self->folds; model++) self->targets[model] = seen;
    if (self->cascade && k + 1 < entry->slate) {
        size_t count = features_next(self, entry, k + 1);
        for (size_t model = 0; model < self->folds; model++) {
            double next;
            if (model == fold) continue;
            SA_TRY(mean_prediction(self, k + 1, model, count, &next));
            self->targets[model] += next;
        }
    }
    return self->kind->add(self->models[k], fold, features_taken(self, entry, k), self->targets);
}

static sa_status take_contexts(fitting *self, const sa_log_entry *entry) {
    size_t dim;
    sa_status status = sa_target_contexts(self->target, entry, &self->contexts, &dim);
    if (status == SA_OK && self->dim && dim != self->dim)
        status = sa_fail(SA_INVALID, "the contexts have %zu numbers, and those before %zu", dim, self->dim);
    if (status != SA_OK) return sa_fail_prefix(status, "%s:%" PRIu64 ": ", self->request->log, entry->line);
    self->dim = dim;
    return SA_OK;
}

static sa_status make_room(fitting *self, const sa_log_entry *entry) {
    size_t arms = entry->candidates + 1;
    SA_TRY(sa_grow_array(&self->rows, &self->rows_room, arms * features(self), sizeof(double)));
    SA_TRY(sa_grow_array(&self->shares, &self->shares_room, arms, sizeof(double)));
    return sa_grow_array(&self->answers, &self->answers_room, arms, sizeof(double));
}

static sa_status take_chances(fitting *self, const sa_log_entry *entry) {
    kept_chances *kept = &self->kept;
    size_t size = entry->slate * entry->candidates;
    kept->too_many = kept->too_many || kept->at + size > MOST_KEPT;
    if (kept->too_many) kept->at = 0;
    SA_TRY(sa_grow_array(&kept->numbers, &kept->room, kept->at + size + 1, sizeof *kept->numbers));
    double *own = kept->numbers + kept->at;
    self->chances = own;
    kept->at += size;
    if (kept->complete) return SA_OK;
    return self->cascade ? sa_target_conditionals(self->target, entry, own)
                         : sa_target_marginals(self->target, entry, own);
}

static sa_status see(fitting *self, const sa_log_entry *entry, size_t i) {
    SA_TRY(make_room(self, entry));
    SA_TRY(take_chances(self, entry));
    SA_TRY(take_contexts(self, entry));
    if (self->position == self->table->longest) return predict(self, entry, i);
    if (self->cascade) return self->position < entry->slate ? learn(self, entry, i, self->position) : SA_OK;
    for (size_t k = 0; k < entry->slate; k++) SA_TRY(learn(self, entry, i, k));
    return SA_OK;
}

/* ---- passes over the log ---- */

static sa_status pass(fitting *self) {
    sa_decisions decisions;
    const sa_log_entry *entry;
    sa_status status;
    self->kept.at = 0;
    SA_TRY(sa_decisions_open(self->request->log, self->request->settings->skip_bad, &decisions));
    for (size_t i = 0;; i++) {
        SA_TRY_OR_FAIL(sa_decisions_next(&decisions, &entry));
        if (!entry) break;
        if (i == self->table->count || entry->slate != self->table->first[i + 1] - self->table->first[i]) {
            status = sa_fail(SA_FILE, "%s changed while it was read", self->request->log);
            goto fail;
        }
        SA_TRY_OR_FAIL(see(self, entry, i));
    }
    self->kept.complete = !self->kept.too_many;
    status = SA_OK;
fail:
    sa_decisions_close(&decisions);
    return status;
}

/* The contexts' dimension, from the first decision. */
static sa_status find_dim(fitting *self) {
    sa_decisions decisions;
    const sa_log_entry *entry;
    SA_TRY(sa_decisions_open(self->request->log, self->request->settings->skip_bad, &decisions));
    sa_status status = sa_decisions_next(&decisions, &entry);
    self->dim = 0;
    if (status == SA_OK && entry) status = take_contexts(self, entry);
    sa_decisions_close(&decisions);
    return status;
}

static sa_status fit(fitting *self) {
    size_t longest = self->table->longest;
    for (size_t k = 0; k < longest; k++)
        SA_TRY(
            self->kind->create(self->folds, features(self), self->request->settings->seed, &self->models[k]));
    if (self->cascade) {
        for (self->position = longest; self->position-- > 0;) {
            SA_TRY(pass(self));
            SA_TRY(self->kind->fit(self->models[self->position]));
        }
    } else {
        self->position = 0;
        SA_TRY(pass(self));
        for (size_t k = 0; k < longest; k++) SA_TRY(self->kind->fit(self->models[k]));
    }
    self->position = longest;
    return pass(self);
}

static sa_status fit_and_predict(fitting *self, bool cascade) {
    self->cascade = cascade;
    self->kept.complete = self->kept.too_many = false;
    self->targets = NULL;
    self->models = NULL;
    sa_status status;
    SA_TRY_OR_FAIL(find_dim(self));
    SA_TRY_OR_FAIL(sa_alloc_array(self->folds, sizeof(double), &self->targets));
    SA_TRY_OR_FAIL(sa_alloc_array(self->table->longest, sizeof *self->models, &self->models));
    status = fit(self);
fail:
    for (size_t k = 0; self->models && k < self->table->longest; k++) self->kind->destroy(self->models[k]);
    sa_free(self->models);
    sa_free(self->targets);
    return status;
}

sa_status sa_predict_rewards(const sa_model_request *request, const sa_feedback_table *table,
                             sa_target *target, sa_predictions *out) {
    size_t positions = table->first[table->count];
    size_t folds = request->settings->folds ? request->settings->folds : 5;
    if (folds < 2 || folds > table->count)
        return sa_fail(SA_INVALID, "--folds %zu: at least 2, and no more than the %zu decisions, are wanted",
                       folds, table->count);
    fitting self = {.request = request,
                    .table = table,
                    .target = target,
                    .out = out,
                    .kind = request->network ? &sa_regression_network : &sa_regression_ridge,
                    .folds = folds};
    SA_TRY(sa_alloc_array(request->additive ? table->count : 0, sizeof(double), &out->slate));
    SA_TRY(sa_alloc_array(request->additive ? table->count : 0, sizeof(double), &out->policy));
    SA_TRY(sa_alloc_array(request->cascade ? positions : 0, sizeof(double), &out->taken));
    SA_TRY(sa_alloc_array(request->cascade ? positions : 0, sizeof(double), &out->expected));
    sa_status status = request->additive ? fit_and_predict(&self, false) : SA_OK;
    if (status == SA_OK && request->cascade) status = fit_and_predict(&self, true);
    sa_free(self.answers);
    sa_free(self.shares);
    sa_free(self.rows);
    sa_free(self.kept.numbers);
    return status;
}
