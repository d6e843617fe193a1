/* What exact widths cost the naive way (naive.h): seconds a round, and what a run of 2000 rounds would
 * take. */
#include "naive.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>

enum { WARM_UP = 1, AUTHORS_ROUNDS = 3, IN_PLACE_ROUNDS = 6, ARMS = 20, HORIZON = 2000 };

static void print_row(const char *name, int rounds, double seconds) {
    printf("%-34s %6d %14.3f %14.0f\n", name, rounds, seconds, seconds * HORIZON);
}

int main(void) {
    static float authors[AUTHORS_ROUNDS * ARMS], in_place[IN_PLACE_ROUNDS * ARMS];
    openblas_set_num_threads(1);
    double authors_seconds =
        naive_seconds(NAIVE_AUTHORS, &naive_paper_size, WARM_UP, AUTHORS_ROUNDS, authors);
    double in_place_seconds =
        naive_seconds(NAIVE_IN_PLACE, &naive_paper_size, WARM_UP, IN_PLACE_ROUNDS, in_place);
    if (authors_seconds < 0 || in_place_seconds < 0) {
        fprintf(stderr, "bench_naive: the p x p matrices of p = %zu take 1.3 GB, which could not be had\n",
                naive_paper_size.parameters);
        return 1;
    }
    double difference = 0;
    for (size_t i = 0; i < AUTHORS_ROUNDS * ARMS; i++)
        difference = fmax(difference, fabs(in_place[i] - authors[i]) / authors[i]);

    printf(
        "The naive way: p = %zu (d 80, m 100, L 2), N 20, K 4, single precision, one thread, no training\n",
        naive_paper_size.parameters);
    printf("%-34s %6s %14s %14s\n", "", "rounds", "seconds/round", "seconds/2000");
    print_row("as the authors' code does it", AUTHORS_ROUNDS, authors_seconds);
    print_row("the same in place with BLAS", IN_PLACE_ROUNDS, in_place_seconds);
    printf("(the squared widths of the two agree to %.1e)\n", difference);
    return difference < 1e-3 ? 0 : 1;
}
