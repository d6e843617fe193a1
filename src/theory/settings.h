/* What the theorems prescribe to an algorithm: the number of samples, the training, lambda and the width. T
 * rounds of K arms, TN contexts in all. Where the paper has a slip, the formula here is the mended one
 * (docs/THEORY.md). The constants that the paper leaves open are 1:
 *
 *   M       = ceil(1 - log K / log(1 - p)),   p = 1 / (4 e sqrt(pi))
 *       (Lemma 3)
 *   eta     = 1 / (T K m L + m lambda)                                              (Theorems 1 and 2, the
 *       latter inverted)
 *   J       = 2 log((lambda + T K L) sqrt(T K / lambda)) T K L / lambda     (Theorem 1, the
 *       logarithm's sign turned)
 *   J of TS = 2 log(4 T sqrt(T K L / lambda)) T K L / lambda                (Theorem 2, the same)
 *   lambda >= max(1 + 1 / T, L K)
 *       (Theorem 2)
 *   m >= max(L^(-3/2) K^(-1/2) lambda^(1/2) log(T N L^2 / delta)^(3/2),
 *              (T N)^6 L^6 log((T N)^2 L / delta) max(lambda_0^-4, 1)),
 *   m / (log m)^3 >= (T^4 K^4 L^21 lambda^-4 (1 + sqrt(T / lambda))^6 + T K L^12 / lambda
 *              + T^4 K^4 L^18 lambda^-10 (lambda + T L)^6)
 *                  (Condition 1)
 */
#ifndef SA_THEORY_SETTINGS_H
#define SA_THEORY_SETTINGS_H

typedef struct sa_horizon {
    double rounds, slate, contexts; /* T, K, TN */
    double depth, hidden, lambda;   /* L, m, lambda */
    double delta;                   /* of Condition 1 */
} sa_horizon;

double sa_setting_samples(double slate);
double sa_setting_eta(const sa_horizon *horizon);
double sa_setting_steps(const sa_horizon *horizon);
double sa_setting_steps_ts(const sa_horizon *horizon);
double sa_setting_lambda(const sa_horizon *horizon);
/* log m for the smallest m of Condition 1; infinite when lambda_0 is 0. m itself may be beyond what a double
 * holds. */
double sa_setting_log_width(const sa_horizon *horizon, double lambda_0);

#endif
