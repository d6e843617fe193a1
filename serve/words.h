/* Rules in words: a decide's "pin", "at_most", "at_least" and "exactly", made into what the library's oracles
 * take. Docs: SERVICE.md.
 *
 *   pin       places take their arm alone                                          eligible
 *   at_most   so many arms of each value of a field, or of the values named        groups, capacities
 *   at_least  likewise                                                             groups, minimums
 *   the same of further fields                                                     rows of a matrix */
#ifndef SERVE_WORDS_H
#define SERVE_WORDS_H

#include "ask.h"
#include "texts.h"

enum { WORDS_FIELDS = 8 };

typedef struct words_field {
    char *name;
    const sv_texts *values;
    sv_texts own;          /* the values, where nobody else has them */
    uint32_t *of;          /* (arms) number of the value; TEXTS_NONE: it has none */
    size_t *most, *least;  /* (values) SIZE_MAX and 0: not said */
    size_t *open, *pinned; /* (values) arms that are not excluded, and that have a place */
} sv_words_field;

typedef struct words {
    size_t arms, places;
    bool exactly; /* as many arms as asked for, or none */
    size_t *pin;  /* (places) arm, or SIZE_MAX */
    size_t pins;
    const bool *excluded; /* (arms) or NULL; of the request */
    sv_words_field fields[WORDS_FIELDS];
    size_t field_count;
    /* what the problem borrows */
    size_t *groups, *capacities, *minimums;
    bool *eligible;
    double *matrix, *bounds;
} sv_words;

/* Reads the rules of a request that has been read otherwise, and puts them into its problem, which is made
 * where it has none. The slate gets shorter where rules leave room for fewer arms, unless "exactly" is
 * asked for. false with 400 for what is wrong and for rules that no slate keeps. */
bool sv_words_read(sv_ask *ask, const sv_settings *settings, sv_refusal *why);
void sv_words_free(sv_words *self); /* NULL is fine */
/* Does a slate keep them, "exclude" included? false with 400 and the rule that it breaks. */
bool sv_words_keep(const sv_ask *ask, const size_t *arms, size_t count, sv_refusal *why);

static inline bool sv_words_allow(const sv_words *self, size_t arm) {
    return !self->excluded || !self->excluded[arm];
}

/* Does the oracle have to know? */
static inline bool sv_words_rule(const sv_words *self) { return self && (self->pins || self->field_count); }

/* ---- for words.c ---- */

/* Fewer places, where rules leave room for fewer arms; false with 400 where no slate keeps them. */
bool sv_words_fit(sv_words *self, sv_refusal *why);
/* The problem borrows what it is given. */
bool sv_words_put(sv_words *self, sa_problem *problem, sv_refusal *why);

/* ---- what kept an arm out ---- */

/* Adds , "kept_out": [...] to an answer: arms with a better score than one that was chosen, best first, and
 * the rule that kept them out; ten at most. scores (arms, columns) of the decision, columns 1 or the slate's
 * length. */
void sv_words_explain(const sv_ask *ask, const size_t *slate, size_t length, const double *scores,
                      size_t columns, sa_buffer *out);

#endif
