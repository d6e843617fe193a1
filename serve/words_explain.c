/* Which rule kept an arm out? An arm that was not chosen has a better score than some that were. Could it
 * take the place of one of these? If all of them are pinned, or every swap would break a limit, that rule
 * kept it out: at_most before at_least before pin. If it could, another rule or exploration did. */
#include <math.h>
#include <stdlib.h>

#include "words.h"

enum { KEPT_OUT = 10 };

typedef struct slate {
    const sv_ask *ask;
    const size_t *arms;
    size_t length;
    const double *scores;
    size_t columns;
    size_t **count; /* (fields, values) arms of the slate */
} slate;

typedef enum rule { RULE_NONE, RULE_PIN, RULE_AT_LEAST, RULE_AT_MOST, RULE_OTHER, RULE_EXCLUDE } rule;

typedef struct reason {
    size_t arm;
    double score;
    rule rule;
    const sv_words_field *field; /* of a limit */
    uint32_t value;
} reason;

static double score_of(const slate *self, size_t arm, size_t place) {
    return self->columns > 1 ? self->scores[arm * self->columns + place] : self->scores[arm];
}

static double best_score(const slate *self, size_t arm) {
    double best = score_of(self, arm, 0);
    for (size_t k = 1; k < self->columns; k++) best = fmax(best, score_of(self, arm, k));
    return best;
}

/* Would the arm, in the place of another, break a limit? */
static rule limit_of(const slate *self, size_t arm, size_t other, reason *out) {
    const sv_words *words = self->ask->words;
    rule found = RULE_OTHER;
    for (size_t i = 0; words && i < words->field_count; i++) {
        const sv_words_field *field = &words->fields[i];
        uint32_t in = field->of[arm], gone = field->of[other];
        if (in == gone) continue;
        if (in != TEXTS_NONE && self->count[i][in] >= field->most[in]) {
            *out = (reason){.field = field, .value = in};
            return RULE_AT_MOST;
        }
        if (gone == TEXTS_NONE || self->count[i][gone] > field->least[gone]) continue;
        *out = (reason){.field = field, .value = gone};
        found = RULE_AT_LEAST;
    }
    return found;
}

static reason reason_of(const slate *self, size_t arm) {
    const sv_words *words = self->ask->words;
    const bool *excluded = sa_request_excluded(self->ask->request);
    reason found = {0};
    for (size_t k = 0; k < self->length && found.rule != RULE_OTHER; k++) {
        reason limit = {0};
        if (!(score_of(self, self->arms[k], k) < score_of(self, arm, k))) continue;
        rule now = words && words->pin[k] != SIZE_MAX ? RULE_PIN : limit_of(self, arm, self->arms[k], &limit);
        if (now <= found.rule) continue;
        found = limit;
        found.rule = now;
    }
    if (found.rule && excluded && excluded[arm]) found = (reason){.rule = RULE_EXCLUDE};
    found.arm = arm;
    found.score = best_score(self, arm);
    return found;
}

static void write_reason(const slate *self, const reason *why, sa_buffer *out) {
    static const char *const names[] = {"", "pin", "at_least", "at_most", "", "exclude"};
    sa_buffer_format(out, "{\"id\": ");
    sv_ask_write_arm(self->ask, why->arm, out);
    sa_buffer_format(out, ", \"score\": ");
    sa_buffer_number(out, why->score, 0);
    sa_buffer_format(out, ", \"rule\": \"%s\"",
                     why->rule == RULE_OTHER ? self->ask->rules ? "problem" : "floor" : names[why->rule]);
    if (why->field) {
        sa_buffer_format(out, ", \"field\": ");
        sa_buffer_quote(out, why->field->name);
        sa_buffer_format(out, ", \"value\": ");
        sa_buffer_quote(out, sv_texts_at(why->field->values, why->value));
        sa_buffer_format(out, ", \"limit\": %zu",
                         why->rule == RULE_AT_MOST ? why->field->most[why->value]
                                                   : why->field->least[why->value]);
    }
    sa_buffer_format(out, "}");
}

static bool count_values(slate *self) {
    const sv_words *words = self->ask->words;
    self->count = calloc(WORDS_FIELDS, sizeof *self->count);
    if (!self->count) return false;
    for (size_t i = 0; words && i < words->field_count; i++) {
        const sv_words_field *field = &words->fields[i];
        if (!(self->count[i] = calloc(field->values->count + 1, sizeof **self->count))) return false;
        for (size_t k = 0; k < self->length; k++)
            if (field->of[self->arms[k]] != TEXTS_NONE) self->count[i][field->of[self->arms[k]]]++;
    }
    return true;
}

/* The best so far, in decreasing score. */
static size_t keep_best(reason *best, size_t kept, reason found) {
    size_t at = kept < KEPT_OUT ? kept : KEPT_OUT - 1;
    if (kept == KEPT_OUT && !(found.score > best[at].score)) return kept;
    for (; at > 0 && found.score > best[at - 1].score; at--) best[at] = best[at - 1];
    best[at] = found;
    return kept < KEPT_OUT ? kept + 1 : kept;
}

void sv_words_explain(const sv_ask *ask, const size_t *arms, size_t length, const double *scores,
                      size_t columns, sa_buffer *out) {
    slate self = {ask, arms, length, scores, columns, NULL};
    bool *chosen = calloc(ask->arms, sizeof *chosen);
    reason best[KEPT_OUT];
    size_t kept = 0;
    if (!chosen || !count_values(&self)) out->status = SA_OUT_OF_MEMORY;
    for (size_t k = 0; !out->status && k < length; k++) chosen[arms[k]] = true;
    for (size_t arm = 0; !out->status && arm < ask->arms; arm++) {
        if (chosen[arm]) continue;
        reason found = reason_of(&self, arm);
        if (found.rule) kept = keep_best(best, kept, found);
    }
    sa_buffer_format(out, ", \"kept_out\": [");
    for (size_t i = 0; i < kept; i++) {
        if (i) sa_buffer_format(out, ", ");
        write_reason(&self, &best[i], out);
    }
    sa_buffer_format(out, "]");
    for (size_t i = 0; self.count && i < WORDS_FIELDS; i++) free(self.count[i]);
    free(self.count);
    free(chosen);
}
