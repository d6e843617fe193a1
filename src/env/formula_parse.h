/* Formulas for scores: from text to a small program for a stack of numbers.
 *
 *   sum     = product { ("+" | "-") product }
 *   product = unary { ("*" | "/") unary }
 *   unary   = "-" unary | power
 *   power   = atom [ "^" unary ]
 *   atom    = number | "pi" | "t" | "x.a" | "x.b" | "x.c" | "x[" index "]" | function "(" sum { "," sum } ")"
 *           | "(" sum ")"
 *
 * x is the arm's context; a, b and c are the hidden vectors; indices count from 0; t is the round, from 1. */
#ifndef SA_ENV_FORMULA_PARSE_H
#define SA_ENV_FORMULA_PARSE_H

#include <stddef.h>

#include "base/status.h"

enum { SA_FORMULA_STEPS = 1000, SA_FORMULA_DEPTH = 64, SA_FORMULA_VECTORS = 3 };

typedef enum sa_formula_kind {
    SA_FORMULA_NUMBER,  /* pushes `number` */
    SA_FORMULA_ROUND,   /* pushes t */
    SA_FORMULA_PRODUCT, /* pushes x.a, x.b or x.c */
    SA_FORMULA_FEATURE, /* pushes x[index] */
    SA_FORMULA_ONE,     /* replaces the top by a function of it */
    SA_FORMULA_TWO,     /* replaces the two on top by a function of them */
} sa_formula_kind;

typedef struct sa_formula_step {
    sa_formula_kind kind;
    double number;
    size_t index; /* of the feature, or of the hidden vector */
    double (*one)(double);
    double (*two)(double, double);
} sa_formula_step;

typedef struct sa_formula {
    sa_formula_step *steps; /* (count) */
    size_t count;
    size_t depth;                           /* numbers on the stack, at most */
    size_t features;                        /* 1 + the largest index; 0: none */
    unsigned char used[SA_FORMULA_VECTORS]; /* which of a, b, c */
} sa_formula;

/* SA_INVALID with the place, counted from 1, and what is wrong there. */
sa_status sa_formula_parse(const char *text, sa_formula *out);
void sa_formula_clear(sa_formula *formula);
/* The score of a context x, with its products with a, b and c; stack (depth). */
double sa_formula_value(const sa_formula *formula, const double *x, const double *products, double t,
                        double *stack);

#endif
