/* The answer of a decide: written when it is made, and again for a retry. */
#ifndef SERVE_ANSWER_H
#define SERVE_ANSWER_H

#include <stdint.h>
#include <superarm/json.h>

typedef struct answer {
    const char *event;
    size_t length;                                     /* of the slate */
    void (*arm)(void *user, size_t k, sa_buffer *out); /* writes the k-th, as JSON */
    void *user;
    double propensity;                  /* NaN: unknown */
    const double *prefixes, *positions; /* (length), or NULL */
    uint64_t model;
} sv_answer;

/* All but the end: other fields and the closing bracket follow. */
void sv_answer_begin(const sv_answer *self, sa_buffer *out);
void sv_answer_numbers(sa_buffer *out, const char *name, const double *values, size_t count); /* NULL: null */

#endif
