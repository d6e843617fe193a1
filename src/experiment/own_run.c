#include "experiment/own_run.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "options/options.h"

static sa_status check_code(const char *callback, int code) {
    if (code == 0) return SA_OK;
    return sa_fail(SA_CALLBACK, "its %s failed with code %d", callback, code);
}

sa_status sa_own_run_begin(sa_own_run *self, const sa_own_agent *code, sa_callback_lock *turns, uint64_t run,
                           size_t rows, size_t most, size_t candidates) {
    *self = (sa_own_run){.code = code, .turns = turns, .state = code->user, .rows = rows, .most = most};
    SA_TRY(sa_alloc_matrix(rows, most, sizeof *self->arms, &self->arms));
    SA_TRY(sa_alloc_array(candidates, sizeof *self->taken, &self->taken));
    if (!code->begin) return SA_OK;
    int result;
    SA_TAKE_TURN(turns, result = code->begin(code->user, run, &self->state));
    SA_TRY(check_code("begin", result));
    self->begun = true;
    return SA_OK;
}

void sa_own_run_end(sa_own_run *self) {
    if (self->begun && self->code->end) SA_TAKE_TURN(self->turns, self->code->end(self->state));
    sa_free(self->taken);
    sa_free(self->arms);
    *self = (sa_own_run){0};
}

/* Different arms that there are, and not too many. */
static sa_status check_arms(sa_own_run *self, const sa_own_round *round, bool exactly, const size_t *arms,
                            size_t length) {
    if (length > round->slate || (exactly && length < round->slate))
        return sa_fail(SA_INVALID, "it chose %zu arms, and %s %zu are wanted", length,
                       exactly ? "exactly" : "at most", round->slate);
    memset(self->taken, 0, round->arms * sizeof *self->taken);
    for (size_t i = 0; i < length; i++) {
        if (arms[i] >= round->arms)
            return sa_fail(SA_INVALID, "it chose arm %zu, and there are %zu", arms[i], round->arms);
        if (self->taken[arms[i]]) return sa_fail(SA_INVALID, "it chose arm %zu twice", arms[i]);
        self->taken[arms[i]] = true;
    }
    return SA_OK;
}

/* The problem's rules. */
static sa_status keep_rules(const sa_own_rules *rules, size_t *arms, size_t *length) {
    char sentence[512];
    if (rules->broken == SA_OWN_TRUST) return SA_OK;
    if (rules->broken == SA_OWN_CLIP)
        return sa_slate_clip(rules->oracle, rules->problem, rules->workspace, arms, length);
    sa_status status = sa_slate_verify(rules->oracle, rules->problem, rules->workspace, arms, *length);
    if (status != SA_INVALID) return status;
    snprintf(sentence, sizeof sentence, "%s", sa_last_error());
    return sa_fail(
        SA_INVALID,
        "%s: its slates must keep the rules of --oracle %s (--own-slates clip leaves out the arms that "
        "break one, trust takes every slate)",
        sentence, rules->oracle->name);
}

sa_status sa_own_run_select(sa_own_run *self, const sa_own_round *round, const sa_own_rules *rules,
                            sa_chosen *out) {
    size_t *arms = self->arms + round->round % self->rows * self->most, length = round->slate;
    int code;
    SA_TAKE_TURN(self->turns, code = self->code->select(self->state, round, arms, &length));
    SA_TRY(check_code("select", code));
    SA_TRY(check_arms(self, round, rules->oracle->size == SA_EXACTLY_K, arms, length));
    SA_TRY(keep_rules(rules, arms, &length));
    *out = (sa_chosen){.id = round->round, .arms = arms, .slate = length, .candidates = round->arms};
    return SA_OK;
}

sa_status sa_own_run_update(sa_own_run *self, uint64_t round, const double *scores, const bool *observed,
                            size_t length) {
    const size_t *arms = self->arms + round % self->rows * self->most;
    int code;
    if (!self->code->update) return SA_OK;
    SA_TAKE_TURN(self->turns, code = self->code->update(self->state, round, arms, scores, observed, length));
    return check_code("update", code);
}
