#include "exploration/place.h"

#include "base/memory.h"

/* One column, for an arm with `ahead` others ahead of it; chance (slate + 1), 0: of m, and the arm not taken
 * yet. */
static void follow(double E, size_t arms, size_t slate, size_t ahead, double *chance, double *out) {
    double left = (double)arms, r = (double)ahead;
    for (size_t m = 0; m <= slate; m++) chance[m] = m == 0;
    for (size_t k = 0; k < slate; k++, left--) {
        double taken = 0;
        for (size_t m = k < ahead ? k : ahead, first = m + 1; first-- > 0; m--) { /* downward, in place */
            double here = chance[m], before = r - (double)m, own = E / left + (m == ahead ? 1 - E : 0);
            taken += here * own;
            chance[m] = here * E * (left - 1 - before) / left;
            if (m < ahead) chance[m + 1] += here * (E * before / left + 1 - E);
        }
        out[k * (slate + 1) + ahead] = taken;
    }
}

sa_status sa_place_of_ranks(double floor, size_t arms, size_t slate, double *out) {
    double *chance;
    SA_TRY(sa_alloc_array(slate + 2, sizeof *chance, &chance));
    for (size_t i = 0; i < slate * (slate + 1); i++) out[i] = 0;
    for (size_t ahead = 0; ahead <= slate && ahead < arms; ahead++)
        follow(floor, arms, slate, ahead, chance, out);
    sa_free(chance);
    return SA_OK;
}
