/* exp, log, cos... with the same bits on every machine, compiler and C library.
 *
 * The C library's are not: they differ between libraries, between its versions, and with the instructions
 * that a processor has. These use +, -, *, /, which IEEE 754 rounds in one way, whole numbers, and tables
 * (functions_tables.h, which tools/make-function-tables writes); no fused operation, so that a processor
 * needs none. The compiler must not fuse either (-ffp-contract=off), and doubles must be doubles (no x87).
 *
 * Errors are below 0.51 units in the last place (sa_erfc: 0.53; tests/test_functions.c compares with MPFR),
 * so nearly always the nearest double is returned, and always where the exact result is one. Special values
 * are those of C's annex F: sa_log(0) = -inf, sa_pow(x, 0) = 1, NaN for NaN... errno and the flags are
 * nobody's business. */
#ifndef SA_BASE_FUNCTIONS_H
#define SA_BASE_FUNCTIONS_H

double sa_exp(double x);
double sa_expm1(double x);
double sa_log(double x);
double sa_log1p(double x);
double sa_log10(double x);
double sa_pow(double x, double y);
double sa_sin(double x);
double sa_cos(double x);
double sa_tan(double x);
double sa_tanh(double x);
double sa_atan(double x);
double sa_atan2(double y, double x);
double sa_erfc(double x);

#endif
