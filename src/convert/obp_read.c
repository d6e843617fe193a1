/* Arrays of the Open Bandit Pipeline (obp), as numpy.savez keeps its bandit_feedback.
 *
 *   n actions, a row a decision: action, reward, pscore, context (n, c), action_context (actions, a)
 *   slates: slate_id too, rows of one slate in the order of positions; pscore is the slate's, pscore_cascade
 *       its prefixes',
 *   pscore_item_position the positions'; context has a row a slate
 *
 * An arm's context is [context, action_context], and without action_context [context, a 1 at the action's
 * place]; where the array `dim` is there (we write it), context is (n, actions x dim). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/npy.h"
#include "convert/convert.h"

typedef enum column { ACTION, REWARD, SLATE, PSCORE, CASCADE, PLACE, COLUMNS } column;
static const char *const COLUMN_NAMES[COLUMNS] = {"action", "reward",         "slate_id",
                                                  "pscore", "pscore_cascade", "pscore_item_position"};

typedef struct obp_source {
    sa_source base;
    const char *path; /* the caller's */
    sa_array columns[COLUMNS], context, action_context;
    size_t rows, next_row, decisions, actions, dim;
    double *contexts; /* (actions, dim) */
    size_t *arms;     /* (actions) */
    double *lists;    /* (3, actions): feedback, prefixes, positions */
    sa_log_entry entry;
    char event[32];
} obp_source;

static bool has(const sa_array *array) { return array->data != NULL; }

/* ---- opening ---- */

static sa_status get(sa_npz *archive, const char *name, size_t axes, sa_array *out) {
    if (!sa_npz_has(archive, name)) return SA_OK;
    SA_TRY(sa_npz_get(archive, name, out));
    if (out->axes != axes)
        return sa_fail(SA_FORMAT, "%s has %zu axes, and %zu are wanted", name, out->axes, axes);
    for (size_t i = 0; i < sa_array_count(out); i++)
        if (!isfinite(sa_array_number(out, i)))
            return sa_fail(SA_FORMAT, "%s has a number that is not finite", name);
    return SA_OK;
}

static sa_status check_rows(obp_source *self, size_t contexts) {
    for (int i = 0; i < COLUMNS; i++)
        if (has(&self->columns[i]) && self->columns[i].shape[0] != self->rows)
            return sa_fail(SA_FORMAT, "%s has %zu rows, and action has %zu", COLUMN_NAMES[i],
                           self->columns[i].shape[0], self->rows);
    if (has(&self->context) && self->context.shape[0] != contexts)
        return sa_fail(SA_FORMAT, "context has %zu rows, and there are %zu decisions", self->context.shape[0],
                       contexts);
    return SA_OK;
}

/* How many decisions there are: rows, or slates. */
static size_t count_decisions(const obp_source *self) {
    const sa_array *slate = &self->columns[SLATE];
    size_t count = 0;
    for (size_t i = 0; i < self->rows; i++)
        count += !has(slate) || i == 0 || sa_array_number(slate, i) != sa_array_number(slate, i - 1);
    return count;
}

static sa_status find_actions(obp_source *self, sa_npz *archive) {
    static const char *const names[] = {"n_actions", "n_unique_action"};
    int64_t count = 0;
    for (int i = 0; i < 2; i++)
        if (sa_npz_has(archive, names[i])) SA_TRY(sa_npz_get_integer(archive, names[i], 1, 1 << 24, &count));
    if (has(&self->action_context)) count = (int64_t)self->action_context.shape[0];
    double most = -1;
    for (size_t i = 0; i < self->rows; i++) {
        double action = sa_array_number(&self->columns[ACTION], i);
        if (!(action >= 0 && action < 1 << 24 && action == floor(action)))
            return sa_fail(SA_FORMAT, "action %g of row %zu is no whole number from 0", action, i);
        most = fmax(most, action);
    }
    if (count == 0) count = (int64_t)most + 1;
    if (most >= (double)count)
        return sa_fail(SA_FORMAT, "there is the action %g, and there are %lld, counted from 0", most,
                       (long long)count);
    self->actions = (size_t)count;
    return SA_OK;
}

static sa_status find_dim(obp_source *self, sa_npz *archive) {
    size_t shared = has(&self->context) ? self->context.shape[1] : 0;
    if (sa_npz_has(archive, "dim")) {
        int64_t dim;
        SA_TRY(sa_npz_get_integer(archive, "dim", 1, 1 << 24, &dim));
        self->dim = (size_t)dim;
        if (shared != self->actions * self->dim)
            return sa_fail(SA_FORMAT, "context has %zu columns, and %zu actions of dim %zu have %zu", shared,
                           self->actions, self->dim, self->actions * self->dim);
        sa_array_clear(&self->action_context);
        return SA_OK;
    }
    self->dim = shared + (has(&self->action_context) ? self->action_context.shape[1] : self->actions);
    return SA_OK;
}

static sa_status read_arrays(obp_source *self) {
    sa_npz *archive;
    SA_TRY(sa_npz_open(self->path, &archive));
    sa_status status = SA_OK;
    for (int i = 0; status == SA_OK && i < COLUMNS; i++)
        status = get(archive, COLUMN_NAMES[i], 1, &self->columns[i]);
    if (status == SA_OK) status = get(archive, "context", 2, &self->context);
    if (status == SA_OK) status = get(archive, "action_context", 2, &self->action_context);
    if (status == SA_OK && (!has(&self->columns[ACTION]) || !has(&self->columns[REWARD])))
        status = sa_fail(SA_FORMAT, "there are no arrays action and reward");
    if (status == SA_OK) self->rows = self->columns[ACTION].shape[0];
    if (status == SA_OK && self->rows == 0) status = sa_fail(SA_FORMAT, "action is empty");
    if (status == SA_OK) status = check_rows(self, count_decisions(self));
    if (status == SA_OK) status = find_actions(self, archive);
    if (status == SA_OK) status = find_dim(self, archive);
    sa_npz_close(archive);
    return status;
}

/* ---- reading ---- */

static void fill_contexts(obp_source *self, size_t decision) {
    size_t shared = has(&self->context) ? self->context.shape[1] : 0;
    bool whole = shared == self->actions * self->dim;
    for (size_t arm = 0; arm < self->actions; arm++)
        for (size_t j = 0; j < self->dim; j++) {
            double *to = &self->contexts[arm * self->dim + j];
            if (whole)
                *to = sa_array_number(&self->context, decision * shared + arm * self->dim + j);
            else if (j < shared)
                *to = sa_array_number(&self->context, decision * shared + j);
            else if (has(&self->action_context))
                *to = sa_array_number(&self->action_context, arm * (self->dim - shared) + j - shared);
            else
                *to = j - shared == arm;
        }
}

static sa_status next(sa_source *source, const sa_log_entry **entry) {
    obp_source *self = (obp_source *)source;
    sa_log_entry *out = &self->entry;
    const sa_array *columns = self->columns;
    size_t first = self->next_row, slate = 0, most = self->actions;
    *entry = NULL;
    if (first == self->rows) return SA_OK;
    sa_log_entry_clear(out);
    do {
        size_t row = first + slate;
        if (slate == most)
            return sa_fail(SA_FORMAT, "%s: a slate has more rows than there are actions", self->path);
        self->arms[slate] = (size_t)sa_array_number(&columns[ACTION], row);
        self->lists[slate] = sa_array_number(&columns[REWARD], row);
        if (has(&columns[CASCADE])) self->lists[most + slate] = sa_array_number(&columns[CASCADE], row);
        if (has(&columns[PLACE])) self->lists[2 * most + slate] = sa_array_number(&columns[PLACE], row);
        slate++;
    } while (has(&columns[SLATE]) && first + slate < self->rows &&
             sa_array_number(&columns[SLATE], first + slate) == sa_array_number(&columns[SLATE], first));
    fill_contexts(self, self->decisions++);
    snprintf(self->event, sizeof self->event, "%zu", self->decisions);
    self->next_row += slate;
    *out =
        (sa_log_entry){.line = self->decisions,
                       .total = NAN,
                       .event = self->event,
                       .model = -1,
                       .final = true,
                       .candidates = most,
                       .dim = self->dim,
                       .contexts = self->contexts,
                       .slate = slate,
                       .arms = self->arms,
                       .feedback = self->lists,
                       .propensity = has(&columns[PSCORE]) ? sa_array_number(&columns[PSCORE], first) : NAN,
                       .target_propensity = NAN,
                       .prefix_propensities = has(&columns[CASCADE]) ? self->lists + most : NULL,
                       .position_propensities = has(&columns[PLACE]) ? self->lists + 2 * most : NULL};
    *entry = out;
    return SA_OK;
}

static const char *warning(sa_source *source) {
    (void)source;
    return "";
}

static void close_source(sa_source *source) {
    obp_source *self = (obp_source *)source;
    for (int i = 0; i < COLUMNS; i++) sa_array_clear(&self->columns[i]);
    sa_array_clear(&self->context);
    sa_array_clear(&self->action_context);
    sa_free(self->contexts);
    sa_free(self->arms);
    sa_free(self->lists);
    sa_free(self);
}

sa_status sa_source_obp(const sa_conversion *conversion, sa_source **out) {
    obp_source *self;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base = (sa_source){next, warning, close_source};
    self->path = conversion->in;
    sa_status status = read_arrays(self);
    if (status == SA_FORMAT) sa_fail_prefix(status, "%s: ", self->path);
    if (status == SA_OK)
        status = sa_alloc_matrix(self->actions, self->dim, sizeof *self->contexts, &self->contexts);
    if (status == SA_OK) status = sa_alloc_array(self->actions, sizeof *self->arms, &self->arms);
    if (status == SA_OK) status = sa_alloc_matrix(3, self->actions, sizeof *self->lists, &self->lists);
    if (status == SA_OK)
        *out = &self->base;
    else
        close_source(&self->base);
    return status;
}
