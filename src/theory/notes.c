/* What a reader of the theory's numbers must know. */
#include <math.h>
#include <stdio.h>

#include <superarm/theory.h>

static bool is_of_other_lengths(const sa_theory_numbers *numbers) {
    return fabs(numbers->shortest - 1) > 1e-6 || fabs(numbers->longest - 1) > 1e-6;
}

bool sa_theory_note(const sa_theory_numbers *numbers, size_t index, char *out, size_t size) {
    size_t before = 0;
    if (is_of_other_lengths(numbers) && before++ == index)
        snprintf(out, size, "contexts have lengths from %.6g to %.6g, where the theorems assume 1",
                 numbers->shortest, numbers->longest);
    else if (numbers->singular && before++ == index)
        snprintf(out, size,
                 "the kernel matrix is singular: %zu of %zu contexts repeat others or depend on them; "
                 "smallest_eigenvalue, smallest_width and norm are those of the other %zu",
                 numbers->contexts - numbers->rank, numbers->contexts, numbers->rank);
    else if (isinf(numbers->norm) && before++ == index)
        snprintf(out, size,
                 "contexts that depend on each other have scores that do not: no function has them, and no "
                 "norm is enough");
    else if (!isfinite(numbers->smallest_width) && before++ == index)
        snprintf(out, size, "smallest_width is more than a double holds");
    else
        return false;
    return true;
}
