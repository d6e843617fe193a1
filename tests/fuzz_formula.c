/* Any bytes as a formula: a program that keeps to its stack comes out, or a sentence that names the
 * option. */
#include <stdlib.h>

#include "env/formula_parse.h"
#include "fuzz_memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    sa_formula formula;
    memcpy(text, data, size);
    text[size] = 0;
    if (sa_formula_parse(text, &formula) == SA_OK) {
        bool few = formula.features < 1000000; /* an environment compares them with its dim */
        double *x = calloc(few ? formula.features + 1 : 1, sizeof *x),
               *stack = calloc(formula.depth, sizeof *stack);
        const double products[SA_FORMULA_VECTORS] = {0.5, -0.25, 0.125};
        if (formula.depth == 0) abort();
        if (few) sa_formula_value(&formula, x, products, 1, stack);
        free(stack);
        free(x);
        sa_formula_clear(&formula);
    } else if (strncmp(sa_last_error(), "--score: ", 9)) {
        abort();
    }
    free(text);
    return 0;
}
