/* The quantities of the paper's theorems as functions of what is known. With n = tK observations, lambda,
 * depth L, width m:
 *
 *   gamma_t   = G1 (R sqrt(log(det Z_t / det lambda I) + G2 - 2 log delta) + sqrt(lambda) S)
 *               + (lambda + n L) (rest sqrt(n / lambda) + G3),      rest = (1 - eta m lambda)^(J/2)
 *                   (Lemma 1)
 *   G1        = sqrt(1 + n^(7/6) L^4 lambda^(-7/6) w),        w = m^(-1/6) sqrt(log m)
 *   G2        = n^(5/3) L^4 lambda^(-1/6) w
 *   G3        = n^(7/6) L^(7/2) lambda^(-7/6) w (1 + sqrt(n / lambda))
 *   e_t       = gamma_(t-1) n^(1/6) L^(7/2) lambda^(-2/3) w + n^(2/3) lambda^(-2/3) w
 *       (Lemma 1)
 *   nu        = B + R sqrt(log det + 2 - 2 log delta),                  B = max(1 / (22 e sqrt(pi)), S)
 *       (Theorem 2)
 *   epsilon   = n^(2/3) L^3 lambda^(-2/3) w + rest sqrt(n L / lambda)
 *               + n^(7/6) L^4 lambda^(-7/6) w (1 + sqrt(n / lambda))
 *               + n^(7/6) L^(9/2) lambda^(-2/3) w nu
 *                   (Section 4.4)
 *
 * The constants that the paper leaves open, one a term, are 1. t and K come in nowhere but as tK. Theorem 2
 * has delta = 1 / T in nu. What `approximation` multiplies (G1 - 1 under the root, G2, the second line of
 * gamma_t, e_t, epsilon) is what a network of finite width, trained for finitely many steps, adds; a linear
 * model has none of it, and gamma_t is then that of Qin et al. 2014. */
#ifndef SA_THEORY_BOUNDS_H
#define SA_THEORY_BOUNDS_H

typedef struct sa_bounds {
    double lambda, depth, hidden;           /* lambda, L, m */
    double delta, norm_bound, sub_gaussian; /* delta, S, R */
    double approximation;
} sa_bounds;

/* (1 - eta m lambda)^(J/2): what J steps of gradient descent leave of the way to the minimum. */
double sa_bound_rest(double eta_m_lambda, double steps);
/* gamma_t after n = tK observations; log_det is log(det Z_t / det lambda I). */
double sa_bound_gamma(const sa_bounds *bounds, double n, double log_det, double rest);
/* e_t; n = tK, gamma = gamma_(t-1). */
double sa_bound_error(const sa_bounds *bounds, double n, double gamma);
double sa_bound_nu(const sa_bounds *bounds, double log_det);
/* epsilon for n = TK. */
double sa_bound_epsilon(const sa_bounds *bounds, double n, double nu, double rest);

#endif
