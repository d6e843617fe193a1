#include "env/formula_parse.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/functions.h"
#include "base/memory.h"
#include "base/text.h"

typedef struct reader {
    const char *text, *at;
    sa_formula formula;
    size_t capacity, height; /* height: numbers on the stack now */
    int nesting;
} reader;

/* ---- functions ---- */

static double add(double a, double b) { return a + b; }
static double subtract(double a, double b) { return a - b; }
static double multiply(double a, double b) { return a * b; }
static double divide(double a, double b) { return a / b; }
static double negate(double a) { return -a; }
static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }
static double sign(double a) { return (a > 0) - (a < 0); }
static double relu(double a) { return a > 0 ? a : 0; }
static double sigmoid(double a) { return 1 / (1 + sa_exp(-a)); }

/* Small whole powers as products: the same on every machine, as those of h2 are. */
static double power(double a, double b) {
    double product = 1;
    if (b != floor(b) || fabs(b) > 16) return sa_pow(a, b);
    for (int i = 0; i < (int)fabs(b); i++) product = i ? product * a : a;
    return b < 0 ? 1 / product : product;
}

static const struct {
    const char *name;
    double (*one)(double);
    double (*two)(double, double);
} FUNCTIONS[] = {
    {"abs", fabs, NULL},    {"sqrt", sqrt, NULL},   {"exp", sa_exp, NULL}, {"log", sa_log, NULL},
    {"sin", sa_sin, NULL},  {"cos", sa_cos, NULL},  {"tan", sa_tan, NULL}, {"tanh", sa_tanh, NULL},
    {"floor", floor, NULL}, {"sign", sign, NULL},   {"relu", relu, NULL},  {"sigmoid", sigmoid, NULL},
    {"max", NULL, larger},  {"min", NULL, smaller}, {"pow", NULL, power},
};
enum { FUNCTION_COUNT = sizeof FUNCTIONS / sizeof *FUNCTIONS };

/* ---- steps ---- */

static sa_status wrong(const reader *self, const char *at, const char *what) {
    char shown[SA_PRINTABLE];
    sa_printable(at, shown);
    if (strlen(shown) > 20) strcpy(shown + 20, "...");
    return sa_fail(SA_INVALID, "--score: at character %zu, %s: %s", (size_t)(at - self->text) + 1,
                   *at ? shown : "the end", what);
}

static sa_status push(reader *self, sa_formula_step step) {
    sa_formula *formula = &self->formula;
    if (formula->count == SA_FORMULA_STEPS)
        return sa_fail(SA_INVALID, "--score: the formula has more than %d parts", SA_FORMULA_STEPS);
    SA_TRY(sa_grow_array(&formula->steps, &self->capacity, formula->count + 1, sizeof *formula->steps));
    formula->steps[formula->count++] = step;
    if (step.kind == SA_FORMULA_TWO)
        self->height--;
    else if (step.kind != SA_FORMULA_ONE)
        self->height++;
    if (self->height > formula->depth) formula->depth = self->height;
    return SA_OK;
}

static void skip(reader *self) {
    while (*self->at == ' ' || *self->at == '\t' || *self->at == '\n') self->at++;
}

static bool take(reader *self, char c) {
    skip(self);
    if (*self->at != c) return false;
    self->at++;
    return true;
}

/* ---- atoms ---- */

static sa_status sum(reader *self);

/* "x.a" or "x[3]", behind the x. */
static sa_status context(reader *self, const char *start) {
    if (take(self, '.')) {
        skip(self);
        size_t index = (size_t)(*self->at - 'a');
        if (*self->at < 'a' || index >= SA_FORMULA_VECTORS || isalnum((unsigned char)self->at[1]))
            return wrong(self, self->at, "the hidden vectors are a, b and c");
        self->at++;
        self->formula.used[index] = 1;
        return push(self, (sa_formula_step){.kind = SA_FORMULA_PRODUCT, .index = index});
    }
    if (!take(self, '['))
        return wrong(self, start,
                     "x is a vector: x.a is a product with a hidden one, x[0] its first feature");
    size_t index = 0, digits = 0;
    for (skip(self); isdigit((unsigned char)*self->at) && digits < 9; digits++)
        index = 10 * index + (size_t)(*self->at++ - '0');
    if (digits == 0 || !take(self, ']'))
        return wrong(self, self->at, "x[ ] needs a whole number, counted from 0");
    if (index + 1 > self->formula.features) self->formula.features = index + 1;
    return push(self, (sa_formula_step){.kind = SA_FORMULA_FEATURE, .index = index});
}

static sa_status call(reader *self, size_t function, const char *start) {
    if (!take(self, '(')) return wrong(self, start, "a function needs ( ) behind it");
    SA_TRY(sum(self));
    if (FUNCTIONS[function].two) {
        if (!take(self, ','))
            return wrong(self, self->at, "this function takes two numbers, with a comma between them");
        SA_TRY(sum(self));
    }
    if (!take(self, ')')) return wrong(self, self->at, "a ) is missing");
    if (FUNCTIONS[function].two)
        return push(self, (sa_formula_step){.kind = SA_FORMULA_TWO, .two = FUNCTIONS[function].two});
    return push(self, (sa_formula_step){.kind = SA_FORMULA_ONE, .one = FUNCTIONS[function].one});
}

static sa_status word(reader *self) {
    const char *start = self->at;
    char name[16] = "";
    size_t size = 0;
    while (isalnum((unsigned char)*self->at) && size + 1 < sizeof name) name[size++] = *self->at++;
    if (!strcmp(name, "x")) return context(self, start);
    if (!strcmp(name, "t")) return push(self, (sa_formula_step){.kind = SA_FORMULA_ROUND});
    if (!strcmp(name, "pi"))
        return push(self, (sa_formula_step){.kind = SA_FORMULA_NUMBER, .number = 3.14159265358979323846});
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        if (!strcmp(name, FUNCTIONS[i].name)) return call(self, i, start);
    return wrong(self, start,
                 "there are x.a, x.b, x.c, x[0], t, pi, and abs, sqrt, exp, log, sin, cos, tan, tanh, floor, "
                 "sign, relu, "
                 "sigmoid, max, min, pow");
}

/* By hand, since strtod takes hexadecimal numbers, infinities and the locale's point. */
static sa_status number(reader *self) {
    char text[64];
    size_t size = 0;
    double value;
    const char *start = self->at;
    while (size + 1 < sizeof text && (isdigit((unsigned char)*self->at) || *self->at == '.'))
        text[size++] = *self->at++;
    if ((*self->at == 'e' || *self->at == 'E') && size + 3 < sizeof text) {
        text[size++] = *self->at++;
        if (*self->at == '-' || *self->at == '+') text[size++] = *self->at++;
        while (size + 1 < sizeof text && isdigit((unsigned char)*self->at)) text[size++] = *self->at++;
    }
    text[size] = 0;
    if (!sa_text_to_number(text, &value) || !isfinite(value))
        return wrong(self, start, "this is not a number");
    return push(self, (sa_formula_step){.kind = SA_FORMULA_NUMBER, .number = value});
}

static sa_status atom(reader *self) {
    skip(self);
    if (isdigit((unsigned char)*self->at) || *self->at == '.') return number(self);
    if (isalpha((unsigned char)*self->at)) return word(self);
    if (!take(self, '(')) return wrong(self, self->at, "a number, x.a, x[0], a function or ( is wanted here");
    SA_TRY(sum(self));
    return take(self, ')') ? SA_OK : wrong(self, self->at, "a ) is missing");
}

/* ---- operators ---- */

static sa_status unary(reader *self) {
    sa_status status;
    if (++self->nesting > SA_FORMULA_DEPTH)
        return sa_fail(SA_INVALID, "--score: the formula is nested more than %d deep", SA_FORMULA_DEPTH);
    if (take(self, '-')) {
        SA_TRY(unary(self));
        status = push(self, (sa_formula_step){.kind = SA_FORMULA_ONE, .one = negate});
    } else {
        SA_TRY(atom(self));
        status = SA_OK;
        if (take(self, '^')) {
            SA_TRY(unary(self));
            status = push(self, (sa_formula_step){.kind = SA_FORMULA_TWO, .two = power});
        }
    }
    self->nesting--;
    return status;
}

static sa_status product(reader *self) {
    SA_TRY(unary(self));
    for (;;) {
        bool times = take(self, '*');
        if (!times && !take(self, '/')) return SA_OK;
        SA_TRY(unary(self));
        SA_TRY(push(self, (sa_formula_step){.kind = SA_FORMULA_TWO, .two = times ? multiply : divide}));
    }
}

static sa_status sum(reader *self) {
    SA_TRY(product(self));
    for (;;) {
        bool plus = take(self, '+');
        if (!plus && !take(self, '-')) return SA_OK;
        SA_TRY(product(self));
        SA_TRY(push(self, (sa_formula_step){.kind = SA_FORMULA_TWO, .two = plus ? add : subtract}));
    }
}

/* ---- all of it ---- */

sa_status sa_formula_parse(const char *text, sa_formula *out) {
    reader self = {.text = text, .at = text};
    sa_status status = sum(&self);
    skip(&self);
    if (status == SA_OK && *self.at)
        status = wrong(&self, self.at, "the formula should have ended before this");
    if (status == SA_OK)
        *out = self.formula;
    else
        sa_formula_clear(&self.formula);
    return status;
}

void sa_formula_clear(sa_formula *formula) {
    sa_free(formula->steps);
    *formula = (sa_formula){0};
}

double sa_formula_value(const sa_formula *formula, const double *x, const double *products, double t,
                        double *stack) {
    double *top = stack - 1;
    for (size_t i = 0; i < formula->count; i++) {
        const sa_formula_step *step = &formula->steps[i];
        switch (step->kind) {
        case SA_FORMULA_NUMBER: *++top = step->number; break;
        case SA_FORMULA_ROUND: *++top = t; break;
        case SA_FORMULA_PRODUCT: *++top = products[step->index]; break;
        case SA_FORMULA_FEATURE: *++top = x[step->index]; break;
        case SA_FORMULA_ONE: *top = step->one(*top); break;
        case SA_FORMULA_TWO:
            top--;
            *top = step->two(top[0], top[1]);
            break;
        }
    }
    return *top;
}
